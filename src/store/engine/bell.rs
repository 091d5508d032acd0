//! The bell wakes the sender of messages. The store rings it after each commit that queued a message.

use crossbeam_channel::{Receiver, Sender, bounded};

/// Remembers one ring while nobody listens.
#[derive(Clone)]
pub(crate) struct Bell {
    ring: Sender<()>,
    rung: Receiver<()>,
}

impl Default for Bell {
    fn default() -> Bell {
        let (ring, rung) = bounded(1);
        Bell { ring, rung }
    }
}

impl Bell {
    pub(crate) fn ring(&self) {
        // A full channel is a bell that rings already.
        _ = self.ring.try_send(());
    }

    pub(crate) fn rung(&self) -> &Receiver<()> {
        &self.rung
    }
}
