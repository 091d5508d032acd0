//! Wakes the sender of messages after each commit that queued one.

use crossbeam_channel::{Receiver, Sender, bounded};

/// The senders that are woken: one for mails and one for short messages.
pub(crate) const SENDERS: usize = 2;

/// A signal to each sender, which is remembered while that sender does not wait.
#[derive(Clone)]
pub(crate) struct OutboxSignal([(Sender<()>, Receiver<()>); SENDERS]);

impl Default for OutboxSignal {
    fn default() -> OutboxSignal {
        OutboxSignal(std::array::from_fn(|_| bounded(1)))
    }
}

impl OutboxSignal {
    pub(crate) fn notify(&self) {
        for (ring, _) in &self.0 {
            // A full channel: the signal is pending already.
            _ = ring.try_send(());
        }
    }

    pub(crate) fn receiver(&self, sender: usize) -> &Receiver<()> {
        &self.0[sender % SENDERS].1
    }
}
