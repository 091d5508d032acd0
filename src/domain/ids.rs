//! The numbers of rows, each of a type of its own: the number of a member does not pass for the number of a booking.

use crate::keys::Part;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Debug, Display};
use std::num::ParseIntError;
use std::str::FromStr;

/// Declares the type of a table's numbers. It is read, written and shown as the number alone.
macro_rules! id {
    ($(#[doc = $doc:expr])* $name:ident) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Display::fmt(&self.0, f)
            }
        }

        impl Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                Debug::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = ParseIntError;

            fn from_str(text: &str) -> Result<$name, ParseIntError> {
                text.parse().map($name)
            }
        }

        impl From<i64> for $name {
            fn from(number: i64) -> $name {
                $name(number)
            }
        }

        impl From<$name> for i64 {
            fn from(id: $name) -> i64 {
                id.0
            }
        }

        impl From<$name> for Part<'_> {
            fn from(id: $name) -> Self {
                id.0.into()
            }
        }
    };
}

id! {
    /// The number of a member.
    MemberId
}

id! {
    /// The number of a logbook's entry.
    EntryId
}

id! {
    /// The number of a booking.
    BookingId
}

id! {
    /// The number of a partner.
    PartnerId
}

id! {
    /// The number of a payment.
    PaymentId
}

id! {
    /// The number of a kiosk.
    KioskId
}

id! {
    /// The number of a webhook.
    HookId
}

id! {
    /// The number of a tunnel.
    TunnelId
}

id! {
    /// The number of a message of the outbox.
    MessageId
}

id! {
    /// The number of a signed waiver.
    SignatureId
}

id! {
    /// The number of a message of the contact form.
    ContactId
}

id! {
    /// The number of a passkey.
    PasskeyId
}

id! {
    /// The number of a join of two accounts.
    JoinId
}

id! {
    /// The number of an invitation of a colleague.
    InvitationId
}

id! {
    /// The number of a change of an import or of settings that can be undone.
    ChangeId
}

id! {
    /// The number of a callback of a third party.
    CallbackId
}

id! {
    /// The number of a picture of the safety brief.
    PictureId
}

id! {
    /// The number of a notice to a member.
    NoticeId
}

id! {
    /// The number of a guardianship.
    GuardianshipId
}
