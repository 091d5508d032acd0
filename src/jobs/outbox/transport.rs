//! The transports of messages: mail and SMS.

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
    /// The id of the message, the same at every attempt, so that the receiving server can recognise a repeat.
    pub id: &'a str,
    pub recipient: &'a str,
    pub message: &'a RenderedMessage,
    /// Unix seconds.
    pub written_at: i64,
}

/// Why a message was not accepted.
#[derive(Debug, PartialEq)]
pub(super) enum Trouble {
    /// The message is refused for good.
    Refused(String),
    /// The message may be accepted later.
    Later(String),
    /// No message can be sent until the server answers or the settings are corrected. `offered`: the server had already
    /// received this message, which may be the cause.
    Unreachable { error: String, offered: bool },
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

/// A server's error text as one line of limited length.
pub(super) fn error_line(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    super::placeholders::one_line(&text).chars().take(ERROR_CHARS_MAX).collect()
}
