//! The table of limits on guessing and pacing: what is limited, by whom, how much, for how long, and the answer beyond it.
//! `packaging/README.md` prints it. Rates are counted in memory, see `rates`; the other kinds are counted in the database, see `counted`.
//! Which counts an attempt or a message concerns is said by `proofs`, `booking_pins` and `messages`.

pub mod booking_pins;
pub(crate) mod counted;
pub mod messages;
pub mod proofs;
mod rates;

pub use rates::RateLimiter;

use crate::config::Limits;
use crate::domain::ids::{KioskId, MemberId, PartnerId};
use crate::domain::role::Role;
use crate::http::call::{Call, Network, PrincipalId};
use crate::http::failure::Failure;
use crate::site::Site;
use rates::Size;
use std::time::Duration;

const MINUTE: i64 = 60;
const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;

/// One row of the table.
#[derive(Debug, Clone, Copy)]
pub struct Limit {
    /// What is limited.
    pub what: &'static str,
    /// Whose count it is.
    pub by: &'static str,
    /// How much is free.
    pub amount: Amount,
    /// What follows beyond it, and for how long.
    pub over: Over,
    /// The answer beyond it.
    pub answer: &'static str,
}

/// How much is free.
#[derive(Debug, Clone, Copy)]
pub enum Amount {
    /// This much.
    Fixed(i64),
    /// By a setting, with its name.
    Setting(&'static str, fn(&Limits) -> i64),
    /// By the pace that was agreed with the partner.
    OfPartner,
}

/// What follows beyond the free amount. Times are in seconds.
#[derive(Debug, Clone, Copy)]
pub enum Over {
    /// The amount refills evenly within this time.
    Refills(i64),
    /// The amount is free within any span of this time.
    Within(i64),
    /// Delays of 1, 2, 4, … seconds up to this one; the count is halved every 15 minutes.
    Delays(i64),
    /// A pause of this time.
    Pauses(i64),
    /// A pause; of the count one is forgiven at an even pace.
    Drains {
        /// The time in which one is forgiven.
        forgiven: i64,
        /// The time of the pause.
        pause: i64,
    },
    /// What was guessed at ends.
    Ends,
}

/// Declares the rows, and the table of all.
macro_rules! limits {
    ($($name:ident = $what:literal by $by:literal: $amount:expr, $over:expr, $answer:expr;)*) => {
        $(pub(crate) const $name: Limit = Limit { what: $what, by: $by, amount: $amount, over: $over, answer: $answer };)*
        /// The table.
        pub const ALL: &[Limit] = &[$($name),*];
    };
}

/// The setting of this name.
macro_rules! setting {
    ($name:ident) => {
        Setting(concat!("limits.", stringify!($name)), |limits| limits.$name)
    };
}

use Amount::{Fixed, OfPartner, Setting};
use Over::{Delays, Drains, Ends, Pauses, Refills, Within};

const TOO_FAST: &str = "429";
const AS_WRONG: &str = "as to a wrong one";
const NOT_SENT: &str = "not sent; 429 where it tells nobody of others";

limits! {
    ACCOUNT_FROM_ADDRESS = "wrong proofs under one name" by "network": Fixed(5), Delays(15 * MINUTE), TOO_FAST;
    ACCOUNT_FROM_DEVICE = "wrong proofs under one name" by "known device": Fixed(5), Delays(15 * MINUTE), TOO_FAST;
    ACCOUNT = "wrong proofs of one account" by "all but its devices": Fixed(20), Delays(MINUTE), AS_WRONG;
    ADDRESS = "wrong proofs" by "network; devices of one member; kiosk": setting!(sign_in_misses_per_address), Delays(MINUTE), TOO_FAST;
    ACCOUNT_AT_KIOSK = "wrong PINs of one member" by "kiosk": Fixed(5), Delays(5 * MINUTE), AS_WRONG;
    PAIRINGS = "wrong pairing codes" by "network": Fixed(10), Delays(MINUTE), "a page that says so";
    SECOND_STEPS = "second steps that nobody finishes" by "account, but for its devices": Fixed(10), Within(10 * MINUTE), TOO_FAST;
    STEP_TRIES = "codes for one second step" by "step": Fixed(5), Ends, AS_WRONG;
    PASSCODE_TRIES = "tries of one passcode" by "passcode": Fixed(5), Ends, AS_WRONG;
    SWITCH_PINS = "wrong PINs to resume a clerk's session" by "session": Fixed(5), Ends, "a full sign-in";
    BOOKING_PINS = "wrong PINs of one member in a row" by "all partners": Fixed(5), Pauses(15 * MINUTE), AS_WRONG;
    PARTNER_PINS = "wrong PINs over all members" by "partner": Fixed(30), Drains { forgiven: MINUTE, pause: 15 * MINUTE }, AS_WRONG;
    STANDBY_TOKENS = "wrong tokens of a standby" by "network": Fixed(300), Refills(MINUTE), TOO_FAST;
    PARTNER = "requests" by "partner": OfPartner, Refills(MINUTE), TOO_FAST;
    RECORDS = "records of customers" by "partner": Fixed(600), Refills(MINUTE), TOO_FAST;
    CALLBACKS = "callbacks" by "sender": Fixed(6_000), Refills(MINUTE), TOO_FAST;
    SIGN_UPS = "sign-ups" by "network": setting!(signups_per_hour_per_address), Refills(HOUR), TOO_FAST;
    SIGN_UPS_AT_KIOSK = "sign-ups" by "kiosk": Fixed(60), Refills(HOUR), TOO_FAST;
    CARDS = "cards read" by "kiosk": Fixed(30), Refills(MINUTE), TOO_FAST;
    KIOSK_POSTS = "forms and taps before sign-in" by "kiosk": Fixed(3_000), Refills(HOUR), TOO_FAST;
    CONFIRMATIONS = "confirmation links used or renewed" by "network": setting!(signups_per_hour_per_address), Refills(HOUR), TOO_FAST;
    PASSKEYS = "passkey challenges" by "network": setting!(passkey_questions_per_minute_per_address), Refills(MINUTE), TOO_FAST;
    RECOVERIES = "requests about a lost password or username" by "network": setting!(recoveries_per_hour_per_address), Refills(HOUR), TOO_FAST;
    CONTACTS = "messages of the contact form" by "network": setting!(contacts_per_hour_per_address), Refills(HOUR), TOO_FAST;
    ALL_CONTACTS = "messages of the contact form" by "all": Setting("1,000, or the hour of one network", |l| l.contacts_per_hour_per_address.max(1_000)), Refills(DAY), TOO_FAST;
    CHANGES = "changes" by "member or clerk": setting!(changes_per_day_per_member), Refills(DAY), TOO_FAST;
    LEAVINGS = "requests to leave" by "member": Fixed(5), Refills(DAY), TOO_FAST;
    REQUESTS = "requests, pages and reads among them" by "member or clerk; kiosk": Fixed(60_000), Refills(MINUTE), TOO_FAST;
    DOCUMENTS = "pictures and documents" by "member": Fixed(120), Refills(HOUR), TOO_FAST;
    KEYS = "outcomes kept under idempotency keys" by "member, partner or sender": Fixed(5_000), Refills(DAY), TOO_FAST;
    KEYS_OF_NETWORK = "outcomes kept under idempotency keys" by "network of strangers": Fixed(600), Refills(HOUR), TOO_FAST;
    KEYS_OF_STRANGERS = "outcomes kept under idempotency keys" by "all strangers": Fixed(6_000), Refills(HOUR), TOO_FAST;
    KEY_KILOBYTES = "kilobytes of these outcomes" by "member, partner or sender; all strangers": Fixed(32 * 1024), Refills(DAY), TOO_FAST;
    MESSAGE_REQUESTS = "requests that may send a message" by "network": setting!(messages_per_day_per_address), Refills(DAY), TOO_FAST;
    PASSCODE_REQUESTS = "requests for a passcode under one name" by "device or network": Fixed(5), Within(HOUR), TOO_FAST;
    MESSAGES_IN_HOUR = "messages of one cause" by "member; address": Fixed(5), Within(HOUR), NOT_SENT;
    MESSAGES = "messages of one cause" by "member; address": Fixed(10), Within(DAY), NOT_SENT;
    MESSAGES_OF_NETWORK = "messages of one cause to one address" by "network of strangers": Fixed(8), Within(DAY), NOT_SENT;
    EVENT_MAILS = "mails about changed credentials" by "member": Fixed(30), Within(DAY), NOT_SENT;
    SITE_MAILS = "forwarded messages and invitations" by "address": Fixed(200), Within(DAY), NOT_SENT;
    PASSCODES_OF_ANYBODY = "passcodes that anybody may cause" by "address": Fixed(20), Within(DAY), NOT_SENT;
    ALL_MAILS = "mails" by "all": setting!(mails_per_day), Within(DAY), NOT_SENT;
    MAILS_OF_STRANGERS = "mails" by "all strangers": Setting("half of `limits.mails_per_day`", |l| l.mails_per_day / 2), Within(DAY), NOT_SENT;
    MAILS_OF_SIGN_UPS = "mails" by "all sign-ups and the contact form": Setting("a quarter of `limits.mails_per_day`", |l| (l.mails_per_day / 4).max(1)), Within(DAY), NOT_SENT;
    ALL_SMS = "short messages" by "all": setting!(sms_per_day), Within(DAY), NOT_SENT;
    SMS_OF_STRANGERS = "short messages" by "all strangers": Setting("half of `limits.sms_per_day`", |l| l.sms_per_day / 2), Within(DAY), NOT_SENT;
}

impl Limit {
    /// The amount, where no setting says it.
    pub(crate) const fn fixed(&self) -> i64 {
        match self.amount {
            Fixed(amount) => amount,
            Setting(..) | OfPartner => 0,
        }
    }

    /// How long the limit lasts.
    pub(crate) const fn seconds(&self) -> i64 {
        match self.over {
            Refills(seconds) | Within(seconds) | Delays(seconds) | Pauses(seconds) => seconds,
            Drains { pause, .. } => pause,
            Ends => 0,
        }
    }

    pub(crate) fn amount(&self, site: &Site) -> i64 {
        match self.amount {
            Setting(_, value) => value(&site.config.limits),
            Fixed(_) | OfPartner => self.fixed(),
        }
    }

    /// Counts one request; 429 with the seconds until the next one is allowed.
    pub(crate) fn take(&self, site: &Site, whose: impl Into<Whose>) -> Result<(), Failure> {
        self.take_several(site, whose, 1)
    }

    /// Counts a request that costs as much as several.
    pub(crate) fn take_several(&self, site: &Site, whose: impl Into<Whose>, requests: i64) -> Result<(), Failure> {
        self.take_of(site, whose, self.amount(site), requests)
    }

    /// Counts requests against an amount that the caller knows.
    pub(crate) fn take_of(
        &self,
        site: &Site,
        whose: impl Into<Whose>,
        amount: i64,
        requests: i64,
    ) -> Result<(), Failure> {
        let size = Size { requests: amount, seconds: self.seconds() };
        site.state::<RateLimiter>().take(self.key(whose), size, requests)
    }

    /// How many requests are left now, and the seconds until all are. `None`: none was counted yet.
    pub(crate) fn find_left(&self, site: &Site, whose: impl Into<Whose>) -> Option<(i64, u64)> {
        site.state::<RateLimiter>().find_left(self.key(whose))
    }

    /// What is limited and its count, without any caller of them both.
    fn key(&self, whose: impl Into<Whose>) -> Key {
        (self.what, self.by, whose.into())
    }
}

/// Whose requests one bucket counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Whose {
    All,
    Network(Network),
    /// The number of a member, a partner or a kiosk.
    Number(i64),
    Principal(PrincipalId),
}

impl From<Network> for Whose {
    fn from(network: Network) -> Whose {
        Whose::Network(network)
    }
}

impl From<PartnerId> for Whose {
    fn from(partner_id: PartnerId) -> Whose {
        Whose::Number(partner_id.0)
    }
}

impl From<KioskId> for Whose {
    fn from(kiosk_id: KioskId) -> Whose {
        Whose::Number(kiosk_id.0)
    }
}

impl From<MemberId> for Whose {
    fn from(member_id: MemberId) -> Whose {
        Whose::Number(member_id.0)
    }
}

impl From<PrincipalId> for Whose {
    fn from(principal: PrincipalId) -> Whose {
        Whose::Principal(principal)
    }
}

type Key = (&'static str, &'static str, Whose);

/// The 429 to an attempt that was not read.
pub(crate) fn too_soon(seconds: i64) -> Failure {
    Failure::too_fast().retry_after(Duration::from_secs(seconds.max(1) as u64))
}

/// Counts one request of a signed-in member or clerk, or one call of a third party; 429 above the limit. Changes are counted
/// apart. Signing out is not counted.
pub(crate) fn count_request(site: &Site, call: &Call) -> Result<(), Failure> {
    match call.principal.get() {
        PrincipalId::Member(_) | PrincipalId::Booking(_) if call.row.when_full && !call.reads() => Ok(()),
        PrincipalId::Member(member_id) | PrincipalId::Booking(member_id) => {
            REQUESTS.take(site, PrincipalId::Member(member_id))?;
            if call.reads() { Ok(()) } else { CHANGES.take(site, member_id) }
        }
        sender @ PrincipalId::Sender(_) => CALLBACKS.take(site, sender),
        PrincipalId::Anyone | PrincipalId::Partner(_) => Ok(()),
    }
}

/// Counts one picture or document for a signed-in member; 429 above the hourly limit. Staff are not limited, because they
/// make documents for members.
pub(crate) fn count_document(site: &Site, member_id: MemberId, role: Role) -> Result<(), Failure> {
    if role.is_staff() { Ok(()) } else { DOCUMENTS.take(site, member_id) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(seconds: i64) -> String {
        match seconds {
            DAY => "a day".to_owned(),
            HOUR => "an hour".to_owned(),
            MINUTE => "a minute".to_owned(),
            _ => format!("{} minutes", seconds / MINUTE),
        }
    }

    fn thousands(number: i64) -> String {
        if number < 1_000 { number.to_string() } else { format!("{},{:03}", number / 1_000, number % 1_000) }
    }

    /// A row as the technician's book has it.
    fn line(limit: &Limit) -> String {
        let amount = match limit.amount {
            Fixed(amount) => thousands(amount),
            Setting(name, _) if name.starts_with("limits.") => format!("`{name}`"),
            Setting(name, _) => name.to_owned(),
            OfPartner => "its own pace".to_owned(),
        };
        let over = match limit.over {
            Refills(seconds) => format!("refills within {}", span(seconds)),
            Within(seconds) => format!("in {}", span(seconds)),
            Delays(seconds) => format!("delays from 1 s to {}", span(seconds)),
            Pauses(seconds) => format!("a pause of {}", span(seconds)),
            Drains { forgiven, pause } => format!("a pause of {}; one is forgiven in {}", span(pause), span(forgiven)),
            Ends => "it ends".to_owned(),
        };
        format!("| {} | {} | {amount} | {over} | {} |\n", limit.what, limit.by, limit.answer)
    }

    #[test]
    fn the_technician_s_book_prints_the_table() {
        let table: String = ALL.iter().map(line).collect();
        let book = include_str!("../../../packaging/README.md");
        assert!(
            book.contains(&format!("|---|---|---|---|---|\n{table}\n")),
            "packaging/README.md has another table than\n{table}"
        );
    }

    #[test]
    fn no_two_limits_of_a_rate_share_a_bucket() {
        let rates = ALL.iter().filter(|limit| matches!(limit.over, Refills(_)));
        let mut keys: Vec<_> = rates.map(|limit| (limit.what, limit.by)).collect();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), count);
    }
}
