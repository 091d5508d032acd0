//! One attempt to send a message, and why it failed.

use super::placeholders;
use super::render::RenderedMessage;
use crate::moment::Moment;

const ERROR_CHARS_MAX: usize = 300;

/// One attempt to send a message.
pub(super) struct Delivery<'a> {
    /// The id of the message, the same at every attempt, so that the receiving server can recognise a repeat.
    pub id: &'a str,
    pub recipient: &'a str,
    pub message: &'a RenderedMessage,
    /// Unix seconds.
    pub written_at: Moment,
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

/// A server's error text as one line of limited length.
pub(super) fn error_line(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    placeholders::one_line(&text).chars().take(ERROR_CHARS_MAX).collect()
}
