//! The transports of messages: mail and SMS.

use super::delivery::{Delivery, Trouble};
use super::mail::Mailer;
use super::sms::Gateway;

pub(super) enum Transport {
    Mail(Box<Mailer>),
    Sms(Gateway),
}

impl Transport {
    pub(super) fn send(&mut self, delivery: &Delivery) -> Result<(), Trouble> {
        match self {
            Transport::Mail(mailer) => mailer.send(delivery),
            Transport::Sms(gateway) => gateway.send(delivery),
        }
    }

    /// Closes idle connections.
    pub(super) fn disconnect(&mut self) {
        if let Transport::Mail(mailer) = self {
            mailer.disconnect();
        }
    }
}
