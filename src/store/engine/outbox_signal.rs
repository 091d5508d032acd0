//! Wakes the sender of messages after each commit that queued one.

use crossbeam_channel::{Receiver, Sender, bounded};

/// A signal that is remembered while no receiver waits.
#[derive(Clone)]
pub(crate) struct OutboxSignal {
    ring: Sender<()>,
    rung: Receiver<()>,
}

impl Default for OutboxSignal {
    fn default() -> OutboxSignal {
        let (ring, rung) = bounded(1);
        OutboxSignal { ring, rung }
    }
}

impl OutboxSignal {
    pub(crate) fn notify(&self) {
        // A full channel: the signal is pending already.
        _ = self.ring.try_send(());
    }

    pub(crate) fn receiver(&self) -> &Receiver<()> {
        &self.rung
    }
}
