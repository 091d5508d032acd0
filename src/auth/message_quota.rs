//! How many messages people can have the site send: to one member, to one address or number, and in all. Each message costs
//! money or a stranger's patience, and whoever asks for it may be anybody.
//!
//! What strangers cause in a day is counted apart from what a password or a session stood behind: nobody uses up, by asking
//! for recoveries, a day's passcodes by which a member signs in. Of what the site sends in a day strangers get half at most,
//! from however many addresses they ask.

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
/// Messages about changed credentials to one member by mail; by short message there are as many as passcodes.
const EVENTS_PER_DAY_MAX: i64 = 30;
/// Mails that forward the contact form's messages to the site's own address.
const TO_SITE_ADDRESS_PER_DAY_MAX: i64 = 200;
/// Strangers have one part in so many of what the site sends in a day.
const ANONYMOUS_SHARE_DIVISOR: i64 = 2;

/// Who causes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// Anybody: a sign-up, a recovery, a new link for an old one.
    Anonymous,
    /// A member who knew the password or has a session.
    Authenticated,
    /// A change of the member's credentials, about which the member hears.
    SecurityEvent,
}

impl Cause {
    const ALL: [Cause; 3] = [Cause::Anonymous, Cause::Authenticated, Cause::SecurityEvent];

    fn name(self) -> &'static [u8] {
        match self {
            Cause::Anonymous => b"stranger",
            Cause::Authenticated => b"proven",
            Cause::SecurityEvent => b"event",
        }
    }
}

/// Whose share of messages is used up, and when there is room again, in Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitReached {
    /// The member's: told to whoever proved to be that member.
    Member(i64),
    /// The address's or number's, which others may have used up: told to nobody.
    Recipient,
    /// The site's, or the strangers' part of it.
    Site(i64),
}

/// How far the site's messages of a day by one channel are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DailyQuota {
    /// There is room for everybody.
    Available,
    /// Strangers have had their part; members and staff get theirs.
    AnonymousUsedUp,
    /// Nothing goes out any more.
    UsedUp,
}

/// The messages that one counter allows within some seconds.
struct Limit {
    key: [u8; 32],
    messages: i64,
    seconds: i64,
}

/// Counts one message, unless a share is used up: then nothing is counted and nothing may be sent.
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
    let room = |limits: &[Limit]| full_until(tx, limits);
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

/// Counts one mail of a stranger's to an address of the site's own; whether there was room for it.
pub fn take_for_site_address(site: &Site, tx: &Write, recipient: &str) -> Result<bool, Failure> {
    let of_address = site.keys.hash(Purpose::PasscodeAddress, &[b"house", recipient.to_lowercase().as_bytes()]);
    let mut limits = of_site(site, Cause::Anonymous, Channel::Email);
    limits.push(daily(of_address, TO_SITE_ADDRESS_PER_DAY_MAX));
    if full_until(tx, &limits)?.is_some() {
        return Ok(false);
    }
    for limit in limits {
        passcodes::insert_send(tx, &limit.key)?;
    }
    Ok(true)
}

/// How much of what may go out by this channel in a day is used up.
pub fn daily_quota(site: &Site, tx: &Read, channel: Channel) -> Result<DailyQuota, Failure> {
    let is_full = |limit: &Limit| {
        let until = passcodes::full_until(tx, &limit.key, limit.messages, limit.seconds, site.now())?;
        Ok::<_, Failure>(until.is_some())
    };
    if is_full(&all(site, channel))? {
        return Ok(DailyQuota::UsedUp);
    }
    Ok(if is_full(&anonymous_share(site, channel))? { DailyQuota::AnonymousUsedUp } else { DailyQuota::Available })
}

/// Forgets what went to the member. Whether a share was used up.
pub(crate) fn forget(site: &Site, tx: &Write, profile: &Profile) -> Result<bool, Failure> {
    let mut used_up = false;
    for cause in Cause::ALL {
        let members = [Channel::Email, Channel::Sms].map(|channel| member_key(site, cause, profile.member_id, channel));
        let recipients = [&profile.email, &profile.phone].map(|address| recipient_key(site, cause, address));
        let addresses = [&profile.email, &profile.phone].map(|address| address_key(site, cause, address));
        for key in members.into_iter().chain(recipients).chain(addresses) {
            used_up |= full_until(tx, &[hourly(key, PER_HOUR_MAX), daily(key, PER_DAY_MAX)])?.is_some();
            passcodes::forget_sends(tx, &key)?;
        }
    }
    Ok(used_up)
}

fn full_until(tx: &Write, limits: &[Limit]) -> Result<Option<i64>, Failure> {
    let mut latest = None;
    for limit in limits {
        let until = passcodes::full_until(tx, &limit.key, limit.messages, limit.seconds, tx.now())?;
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

/// The site's limits that a message of this cause counts under.
fn of_site(site: &Site, cause: Cause, channel: Channel) -> Vec<Limit> {
    let part = (cause == Cause::Anonymous).then(|| anonymous_share(site, channel));
    std::iter::once(all(site, channel)).chain(part).collect()
}

fn all(site: &Site, channel: Channel) -> Limit {
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

/// Events by mail do not use up what there is for passcodes.
fn member_key(site: &Site, cause: Cause, member_id: i64, channel: Channel) -> [u8; 32] {
    let channel = if cause == Cause::SecurityEvent { channel.name() } else { "" };
    let parts = [b"member", cause.name(), &member_id.to_be_bytes(), channel.as_bytes()];
    site.keys.hash(Purpose::PasscodeAddress, &parts)
}

/// Five an hour go to one address or number, whoever asked for them; what tells of changes is counted for itself.
fn address_key(site: &Site, cause: Cause, recipient: &str) -> [u8; 32] {
    let kind: &[u8] = if cause == Cause::SecurityEvent { b"events to" } else { b"messages to" };
    site.keys.hash(Purpose::PasscodeAddress, &[kind, recipient.to_lowercase().as_bytes()])
}

/// A day's share is counted apart by its cause.
fn recipient_key(site: &Site, cause: Cause, recipient: &str) -> [u8; 32] {
    site.keys.hash(Purpose::PasscodeAddress, &[b"recipient", cause.name(), recipient.to_lowercase().as_bytes()])
}

fn site_key(site: &Site, whose: &[u8], channel: Channel) -> [u8; 32] {
    site.keys.hash(Purpose::PasscodeAddress, &[whose, channel.name().as_bytes()])
}
