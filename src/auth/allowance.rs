//! How many messages people can have the site send: to one member, to one address or number, and in all. Each message costs
//! money or a stranger's patience, and whoever asks for it may be anybody.
//!
//! What strangers cause in a day is counted apart from what a password or a session stood behind: nobody uses up, by asking
//! for recoveries, a day's passcodes by which a member signs in.

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
/// Words about changed credentials to one member, by mail; by short message as many as passcodes.
const EVENTS_PER_DAY_MAX: i64 = 30;
/// What strangers write in the contact form, by mail to whoever reads it for the site.
const TO_THE_HOUSE_PER_DAY_MAX: i64 = 200;

/// Who causes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// Anybody: a sign-up, a recovery, a new link for an old one.
    Stranger,
    /// Whoever knew the password or has a session.
    Proven,
    /// A change of the member's credentials, about which the member hears.
    Event,
}

impl Cause {
    const ALL: [Cause; 3] = [Cause::Stranger, Cause::Proven, Cause::Event];

    fn name(self) -> &'static [u8] {
        match self {
            Cause::Stranger => b"stranger",
            Cause::Proven => b"proven",
            Cause::Event => b"event",
        }
    }
}

/// Whose share of messages is used up, and when there is room again, in Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    /// The member's: told to whoever proved to be that member.
    Member(i64),
    /// The address's or number's, which others may have used up: told to nobody.
    Recipient,
    /// The site's.
    Site(i64),
}

/// What one counter allows within some seconds.
struct Limit {
    key: [u8; 32],
    messages: i64,
    seconds: i64,
}

/// Counts one message, unless a share is used up: then nothing is counted and nothing may be sent.
pub fn take(
    site: &Site,
    tx: &Write,
    cause: Cause,
    member_id: i64,
    channel: Channel,
    recipient: &str,
) -> Result<Result<(), Over>, Failure> {
    let member = member_key(site, cause, member_id, channel);
    let (of_recipient, of_address) = (recipient_key(site, cause, recipient), address_key(site, cause, recipient));
    let of_site = site_key(site, channel);
    let per_day = if (cause, channel) == (Cause::Event, Channel::Email) { EVENTS_PER_DAY_MAX } else { PER_DAY_MAX };
    let per_hour = if cause == Cause::Event { per_day } else { PER_HOUR_MAX };
    let room = |limits: &[Limit]| full_until(tx, limits);
    if let Some(until) = room(&[hourly(member, per_hour), daily(member, per_day)])? {
        return Ok(Err(Over::Member(until)));
    }
    if room(&[hourly(of_address, per_hour), daily(of_recipient, per_day)])?.is_some() {
        return Ok(Err(Over::Recipient));
    }
    if let Some(until) = room(&[daily(of_site, site_limit(site, channel))])? {
        return Ok(Err(Over::Site(until)));
    }
    for key in [member, of_recipient, of_address, of_site] {
        passcodes::insert_send(tx, &key)?;
    }
    Ok(Ok(()))
}

/// Counts one mail of a stranger's to an address of the site's own; whether there was room for it.
pub fn take_for_house(site: &Site, tx: &Write, recipient: &str) -> Result<bool, Failure> {
    let of_house = site.keys.hash(Purpose::PasscodeAddress, &[b"house", recipient.to_lowercase().as_bytes()]);
    let of_site = site_key(site, Channel::Email);
    let limits = [daily(of_house, TO_THE_HOUSE_PER_DAY_MAX), daily(of_site, site_limit(site, Channel::Email))];
    if full_until(tx, &limits)?.is_some() {
        return Ok(false);
    }
    for limit in limits {
        passcodes::insert_send(tx, &limit.key)?;
    }
    Ok(true)
}

/// Whether nothing goes out by this channel any more today.
pub fn is_used_up(site: &Site, tx: &Read, channel: Channel) -> Result<bool, Failure> {
    let limit = daily(site_key(site, channel), site_limit(site, channel));
    Ok(passcodes::full_until(tx, &limit.key, limit.messages, limit.seconds, site.now())?.is_some())
}

/// Forgets what went to the member. Whether a share was used up.
pub fn forget(site: &Site, tx: &Write, profile: &Profile) -> Result<bool, Failure> {
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

fn site_limit(site: &Site, channel: Channel) -> i64 {
    match channel {
        Channel::Email => site.config.limits.mails_per_day,
        Channel::Sms => site.config.limits.sms_per_day,
    }
}

/// Events by mail do not use up what there is for passcodes.
fn member_key(site: &Site, cause: Cause, member_id: i64, channel: Channel) -> [u8; 32] {
    let channel = if cause == Cause::Event { channel.name() } else { "" };
    let parts = [b"member", cause.name(), &member_id.to_be_bytes(), channel.as_bytes()];
    site.keys.hash(Purpose::PasscodeAddress, &parts)
}

/// Five an hour go to one address or number, whoever asked for them; what tells of changes is counted for itself.
fn address_key(site: &Site, cause: Cause, recipient: &str) -> [u8; 32] {
    let kind: &[u8] = if cause == Cause::Event { b"events to" } else { b"messages to" };
    site.keys.hash(Purpose::PasscodeAddress, &[kind, recipient.to_lowercase().as_bytes()])
}

/// A day's share is counted apart by its cause.
fn recipient_key(site: &Site, cause: Cause, recipient: &str) -> [u8; 32] {
    site.keys.hash(Purpose::PasscodeAddress, &[b"recipient", cause.name(), recipient.to_lowercase().as_bytes()])
}

fn site_key(site: &Site, channel: Channel) -> [u8; 32] {
    site.keys.hash(Purpose::PasscodeAddress, &[b"site", channel.name().as_bytes()])
}
