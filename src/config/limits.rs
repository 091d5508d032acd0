//! The settings of limits: how much of the server one caller may take, and how much all may.

use super::Settings;

/// How much of the server one caller may take, and how much all may.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Connections that may be open; one more is answered with 503.
    pub connections_max: usize,
    /// Connections of one address that may be open.
    pub connections_per_address_max: usize,
    /// Threads for requests that write, at most.
    pub pool_threads: usize,
    /// Requests that wait for a thread; one more is answered with 503.
    pub queue_max: usize,
    /// Failed sign-ins from one address before its answers are delayed.
    pub sign_in_misses_per_address: i64,
    /// Accounts that one address makes.
    pub signups_per_hour_per_address: i64,
    /// Passkey challenges that one address gets.
    pub passkey_questions_per_minute_per_address: i64,
    /// Messages of the contact form from one address.
    pub contacts_per_hour_per_address: i64,
    /// Requests of one address about a lost password or username.
    pub recoveries_per_hour_per_address: i64,
    /// Requests of one address that may cause a message to a member or an address.
    pub messages_per_day_per_address: i64,
    /// Passcodes and confirmation links by mail in all; at most half of them to callers who are not signed in.
    pub mails_per_day: i64,
    /// Passcodes by short message in all; at most half of them to callers who are not signed in.
    pub sms_per_day: i64,
    /// Requests of one member that change something.
    pub changes_per_day_per_member: i64,
}

impl Settings {
    pub(super) fn limits(&mut self) -> Limits {
        Limits {
            connections_max: self.whole("limits.connections_max", 1, 100_000) as usize,
            connections_per_address_max: self.whole("limits.connections_per_address_max", 1, 100_000) as usize,
            pool_threads: self.whole("limits.pool_threads", 1, 512) as usize,
            queue_max: self.whole("limits.queue_max", 1, 100_000) as usize,
            sign_in_misses_per_address: self.whole("limits.sign_in_misses_per_address", 5, 1_000_000),
            signups_per_hour_per_address: self.whole("limits.signups_per_hour_per_address", 1, 1_000_000),
            passkey_questions_per_minute_per_address: self.whole(
                "limits.passkey_questions_per_minute_per_address",
                1,
                1_000_000,
            ),
            contacts_per_hour_per_address: self.whole("limits.contacts_per_hour_per_address", 1, 1_000_000),
            recoveries_per_hour_per_address: self.whole("limits.recoveries_per_hour_per_address", 1, 1_000_000),
            messages_per_day_per_address: self.whole("limits.messages_per_day_per_address", 1, 1_000_000),
            mails_per_day: self.whole("limits.mails_per_day", 0, 1_000_000),
            sms_per_day: self.whole("limits.sms_per_day", 0, 1_000_000),
            changes_per_day_per_member: self.whole("limits.changes_per_day_per_member", 1, 1_000_000),
        }
    }
}
