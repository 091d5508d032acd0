//! The bell wakes the sender of messages. The store rings it after each commit that queued a message.

use crossbeam_channel::{Receiver, Sender, bounded};

/// Remembers one ring while nobody listens.
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
        // A full channel is a bell that rings already.
        _ = self.ring.try_send(());
    }

    pub(crate) fn receiver(&self) -> &Receiver<()> {
        &self.rung
    }
}
