//! Limits on the messages that requests cause: to one member, to one address or number, and by the whole site. Each message
//! costs money or a recipient's patience, and anyone can request one.
//!
//! Messages to anonymous requests are counted apart from those to authenticated ones. Passcodes for signing in are counted
//! apart from all other messages, also to the same address: only the password causes them, so that neither requests for
//! recoveries nor another member who names the address can keep a member from signing in. Of the site's messages in a day
//! at most half go to anonymous requests, from however many addresses these come.

use crate::domain::email;
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::tables::members::Profile;
use crate::store::tables::outbox::Channel;
use crate::store::tables::passcodes;
use crate::store::{Read, Write};

const HOUR_SECONDS: i64 = 3600;
const DAY_SECONDS: i64 = 24 * HOUR_SECONDS;
const PER_HOUR_MAX: i64 = 5;
const PER_DAY_MAX: i64 = 10;
/// Mails about changed credentials to one member; of short messages about them there are as many as of passcodes.
const EVENTS_PER_DAY_MAX: i64 = 30;
/// Mails that forward the contact form's messages to the site's own address.
const TO_SITE_ADDRESS_PER_DAY_MAX: i64 = 200;
/// Anonymous requests get this fraction (1/n) of the site's messages in a day.
const ANONYMOUS_SHARE_DIVISOR: i64 = 2;

/// The kind of request that causes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Without credentials: a sign-up, a recovery, a new link for an old one.
    Anonymous,
    /// A member who has a session. The address may be anybody's.
    Authenticated,
    /// A member who knew the password, and whose confirmed address gets the passcode.
    SignIn,
    /// A change of the member's credentials, of which the member is notified.
    SecurityEvent,
}

impl Cause {
    const ALL: [Cause; 4] = [Cause::Anonymous, Cause::Authenticated, Cause::SignIn, Cause::SecurityEvent];

    fn name(self) -> &'static [u8] {
        match self {
            Cause::Anonymous => b"stranger",
            Cause::Authenticated => b"proven",
            Cause::SignIn => b"sign-in",
            Cause::SecurityEvent => b"event",
        }
    }
}

/// The limit that a message exceeds, with the moment of the next free message in Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitReached {
    /// The member's. Only the authenticated member is told.
    Member(i64),
    /// The address's or number's. No caller is told, because others may have caused it.
    Recipient,
    /// The site's, or the anonymous share of it.
    Site(i64),
}

/// The state of the site's daily quota of one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DailyQuota {
    /// Messages are sent.
    Available,
    /// The anonymous share is used up; members and staff still get messages.
    AnonymousUsedUp,
    /// The quota is used up.
    UsedUp,
}

/// The messages that one counter allows within some seconds.
struct Limit {
    key: [u8; 32],
    messages: i64,
    seconds: i64,
}

/// Counts one message. `Err`: a limit is reached, nothing was counted, and the message must not be sent.
pub(crate) fn take(
    site: &Site,
    tx: &Write,
    cause: Cause,
    member_id: i64,
    channel: Channel,
    recipient: &str,
) -> Result<Result<(), LimitReached>, Failure> {
    let member = member_key(site, cause, member_id, channel);
    let (of_recipient, of_address) = (recipient_key(site, cause, recipient), address_key(site, cause, recipient));
    let of_site = of_site(site, cause, channel);
    let per_day =
        if (cause, channel) == (Cause::SecurityEvent, Channel::Email) { EVENTS_PER_DAY_MAX } else { PER_DAY_MAX };
    let per_hour = if cause == Cause::SecurityEvent { per_day } else { PER_HOUR_MAX };
    let room = |limits: &[Limit]| full_until(tx, tx.now(), limits);
    if let Some(until) = room(&[hourly(member, per_hour), daily(member, per_day)])? {
        return Ok(Err(LimitReached::Member(until)));
    }
    if room(&[hourly(of_address, per_hour), daily(of_recipient, per_day)])?.is_some() {
        return Ok(Err(LimitReached::Recipient));
    }
    if let Some(until) = room(&of_site)? {
        return Ok(Err(LimitReached::Site(until)));
    }
    for key in [member, of_recipient, of_address].into_iter().chain(of_site.iter().map(|limit| limit.key)) {
        passcodes::insert_send(tx, &key)?;
    }
    Ok(Ok(()))
}

/// Counts one mail that an anonymous request causes to an address of the site itself. `false`: a limit is reached, and
/// nothing was counted.
pub fn take_for_site_address(site: &Site, tx: &Write, recipient: &str) -> Result<bool, Failure> {
    let of_address = site.keys.hash(Purpose::PasscodeAddress, &[b"house", email::canonical(recipient).as_bytes()]);
    let mut limits = of_site(site, Cause::Anonymous, Channel::Email);
    limits.push(daily(of_address, TO_SITE_ADDRESS_PER_DAY_MAX));
    if full_until(tx, tx.now(), &limits)?.is_some() {
        return Ok(false);
    }
    for limit in limits {
        passcodes::insert_send(tx, &limit.key)?;
    }
    Ok(true)
}

/// The state of the daily quota of a channel.
pub fn daily_quota(site: &Site, tx: &Read, channel: Channel) -> Result<DailyQuota, Failure> {
    let is_full = |limit: Limit| full_until(tx, site.now(), &[limit]).map(|until| until.is_some());
    if is_full(whole_site(site, channel))? {
        return Ok(DailyQuota::UsedUp);
    }
    Ok(if is_full(anonymous_share(site, channel))? { DailyQuota::AnonymousUsedUp } else { DailyQuota::Available })
}

/// Clears the counters of a member's messages. Returns whether a limit was reached.
pub(crate) fn forget(site: &Site, tx: &Write, profile: &Profile) -> Result<bool, Failure> {
    let mut used_up = false;
    for cause in Cause::ALL {
        let members = [Channel::Email, Channel::Sms].map(|channel| member_key(site, cause, profile.member_id, channel));
        let recipients = [&profile.email, &profile.phone].map(|address| recipient_key(site, cause, address));
        let addresses = [&profile.email, &profile.phone].map(|address| address_key(site, cause, address));
        for key in members.into_iter().chain(recipients).chain(addresses) {
            used_up |= full_until(tx, tx.now(), &[hourly(key, PER_HOUR_MAX), daily(key, PER_DAY_MAX)])?.is_some();
            passcodes::forget_sends(tx, &key)?;
        }
    }
    Ok(used_up)
}

/// The moment at which all of these limits have room again; `None`: they have.
fn full_until(tx: &Read, now: i64, limits: &[Limit]) -> Result<Option<i64>, Failure> {
    let mut latest = None;
    for limit in limits {
        let until = passcodes::full_until(tx, &limit.key, limit.messages, limit.seconds, now)?;
        latest = latest.max(until);
    }
    Ok(latest)
}

fn hourly(key: [u8; 32], messages: i64) -> Limit {
    Limit { key, messages, seconds: HOUR_SECONDS }
}

fn daily(key: [u8; 32], messages: i64) -> Limit {
    Limit { key, messages, seconds: DAY_SECONDS }
}

/// The limits of the whole site that a message counts under.
fn of_site(site: &Site, cause: Cause, channel: Channel) -> Vec<Limit> {
    let part = (cause == Cause::Anonymous).then(|| anonymous_share(site, channel));
    std::iter::once(whole_site(site, channel)).chain(part).collect()
}

fn whole_site(site: &Site, channel: Channel) -> Limit {
    daily(site_key(site, b"site", channel), site_limit(site, channel))
}

fn anonymous_share(site: &Site, channel: Channel) -> Limit {
    let messages = site_limit(site, channel) / ANONYMOUS_SHARE_DIVISOR;
    daily(site_key(site, b"strangers at the site", channel), messages)
}

fn site_limit(site: &Site, channel: Channel) -> i64 {
    match channel {
        Channel::Email => site.config.limits.mails_per_day,
        Channel::Sms => site.config.limits.sms_per_day,
    }
}

/// Security events are counted apart from passcodes.
fn member_key(site: &Site, cause: Cause, member_id: i64, channel: Channel) -> [u8; 32] {
    let channel = if cause == Cause::SecurityEvent { channel.name() } else { "" };
    let parts = [b"member", cause.name(), &member_id.to_be_bytes(), channel.as_bytes()];
    site.keys.hash(Purpose::PasscodeAddress, &parts)
}

/// The hourly counter of an address or number: one for passcodes for signing in, one for security events, and one for all
/// other messages.
fn address_key(site: &Site, cause: Cause, recipient: &str) -> [u8; 32] {
    let kind: &[u8] = match cause {
        Cause::SignIn => b"sign-ins to",
        Cause::SecurityEvent => b"events to",
        Cause::Anonymous | Cause::Authenticated => b"messages to",
    };
    site.keys.hash(Purpose::PasscodeAddress, &[kind, email::canonical(recipient).as_bytes()])
}

/// The daily counter of an address or number, one for each cause.
fn recipient_key(site: &Site, cause: Cause, recipient: &str) -> [u8; 32] {
    site.keys.hash(Purpose::PasscodeAddress, &[b"recipient", cause.name(), email::canonical(recipient).as_bytes()])
}

fn site_key(site: &Site, whose: &[u8], channel: Channel) -> [u8; 32] {
    site.keys.hash(Purpose::PasscodeAddress, &[whose, channel.name().as_bytes()])
}
