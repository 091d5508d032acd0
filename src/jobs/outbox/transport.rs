//! Who carries messages out of the house, and what can come of it.

use super::mail::Mailer;
use super::render::RenderedMessage;
use super::sms::Gateway;

const ERROR_CHARS_MAX: usize = 300;

pub(super) enum Transport {
    Mail(Box<Mailer>),
    Sms(Gateway),
}

/// One attempt to send a message.
pub(super) struct Delivery<'a> {
    /// The message's id, the same at every attempt, so that the receiving server can recognise a repeat.
    pub id: &'a str,
    pub recipient: &'a str,
    pub letter: &'a RenderedMessage,
    /// Unix seconds.
    pub written_at: i64,
}

/// Why a message was not taken.
#[derive(Debug, PartialEq)]
pub(super) enum Trouble {
    /// The message is refused for good.
    Refused(String),
    /// The message may be accepted later.
    Later(String),
    /// None will be, until the server answers or the settings are right. `offered`: it happened while this message was
    /// on its way, and may be its fault.
    Unreachable { error: String, offered: bool },
}

impl Transport {
    pub(super) fn carry(&mut self, delivery: &Delivery) -> Result<(), Trouble> {
        match self {
            Transport::Mail(mailer) => mailer.carry(delivery),
            Transport::Sms(gateway) => gateway.carry(delivery),
        }
    }

    /// Lets go of connections until there is something to carry again.
    pub(super) fn rest(&mut self) {
        if let Transport::Mail(mailer) = self {
            mailer.hang_up();
        }
    }
}

/// A server's error text, cut to fit a row and a screen.
pub(super) fn shown(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    super::placeholders::one_line(&text).chars().take(ERROR_CHARS_MAX).collect()
}
