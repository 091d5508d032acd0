//! Who carries messages out of the house, and what can come of it.

use super::letter::Letter;
use super::mail::Mailer;
use super::sms::Gateway;

const ERROR_CHARS_MAX: usize = 300;

pub(super) enum Carrier {
    Mail(Box<Mailer>),
    Sms(Gateway),
}

/// What is carried.
pub(super) struct Parcel<'a> {
    /// The same at every try, so that a system that looks can tell a repeat.
    pub id: &'a str,
    pub recipient: &'a str,
    pub letter: &'a Letter,
    /// Unix seconds.
    pub written_at: i64,
}

/// Why a message was not taken.
#[derive(Debug, PartialEq)]
pub(super) enum Trouble {
    /// This one never will be.
    Refused(String),
    /// This one perhaps later.
    Later(String),
    /// None will be, until the server answers or the settings are right. `offered`: it happened while this message was
    /// on its way, and may be its fault.
    Unreachable { error: String, offered: bool },
}

impl Carrier {
    pub(super) fn carry(&mut self, parcel: &Parcel) -> Result<(), Trouble> {
        match self {
            Carrier::Mail(mailer) => mailer.carry(parcel),
            Carrier::Sms(gateway) => gateway.carry(parcel),
        }
    }

    /// Lets go of connections until there is something to carry again.
    pub(super) fn rest(&mut self) {
        if let Carrier::Mail(mailer) = self {
            mailer.hang_up();
        }
    }
}

/// What a server said, fit for a row and a screen.
pub(super) fn shown(error: impl std::fmt::Display) -> String {
    let text = error.to_string();
    super::places::one_line(&text).chars().take(ERROR_CHARS_MAX).collect()
}
