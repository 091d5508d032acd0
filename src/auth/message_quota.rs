//! Limits on the messages that requests cause: to one member, to one address or number, and by the whole site. Each message
//! costs money or a recipient's patience, and anyone can request one.
//!
//! Each [`Cause`] has counters of its own, so that what others do in a member's name does not keep the member out: sign-ups
//! with the address leave its recoveries, recoveries leave the passcodes for signing in, and recoveries from elsewhere leave
//! those at the member's own device. Of a day's messages of strangers one network gets less than all, so that something is left
//! for the owner elsewhere. Passcodes that anybody can ask for share one counter of an hour for each address. Of the site's
//! messages in a day at most half go to anonymous requests, from however many addresses these come, and half of these to sign-ups
//! and the contact form, so that recoveries go on. Messages of the staff count, and are never refused for the site's count: an
//! admin's invitation does not wait for strangers.

use super::limits;
use crate::domain::email;
use crate::http::call::Network;
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::tables::members::Profile;
use crate::store::tables::outbox::Channel;
use crate::store::tables::passcodes;
use crate::store::{Read, Write};
use std::net::{IpAddr, Ipv4Addr};

const HOUR_SECONDS: i64 = 3600;
const DAY_SECONDS: i64 = 24 * HOUR_SECONDS;
const PER_HOUR_MAX: i64 = limits::MESSAGES_IN_HOUR.fixed();
const PER_DAY_MAX: i64 = limits::MESSAGES.fixed();
/// The messages of a day that strangers in one network cause.
const PER_DAY_OF_NETWORK_MAX: i64 = limits::MESSAGES_OF_NETWORK.fixed();
/// Mails about changed credentials to one member; of short messages about them there are as many as of passcodes.
const EVENTS_PER_DAY_MAX: i64 = limits::EVENT_MAILS.fixed();
/// Mails that forward the contact form's messages to the site's own address.
const TO_SITE_ADDRESS_PER_DAY_MAX: i64 = limits::SITE_MAILS.fixed();
/// Anonymous requests get this fraction (1/n) of the site's messages in a day, and sign-ups with the contact form this one.
const ANONYMOUS_SHARE_DIVISOR: i64 = 2;
const SIGN_UP_SHARE_DIVISOR: i64 = 4;

/// The kind of request that causes a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// A sign-up from this network. The address may be anybody's.
    SignUp(Network),
    /// A new confirmation link for an old one, which only the mailbox's owner has.
    NewLink,
    /// A recovery from this network. The name may be anybody's.
    Recovery(Network),
    /// A recovery at a device on which the member signed in before.
    RecoveryAtOwnDevice,
    /// A member who has a session. The address may be anybody's.
    Authenticated,
    /// The desk, an admin or the machine's owner.
    Staff,
    /// A member who knew the password, and whose confirmed address gets the passcode.
    SignIn,
    /// A change of the member's credentials, of which the member is notified.
    SecurityEvent,
}

impl Cause {
    /// Every cause; those of strangers in no particular network.
    fn all() -> [Cause; 8] {
        let network = Network::from(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        [
            Cause::SignUp(network),
            Cause::NewLink,
            Cause::Recovery(network),
            Cause::RecoveryAtOwnDevice,
            Cause::Authenticated,
            Cause::Staff,
            Cause::SignIn,
            Cause::SecurityEvent,
        ]
    }

    fn name(self) -> &'static [u8] {
        match self {
            Cause::SignUp(_) => b"sign-up",
            Cause::NewLink => b"new link",
            Cause::Recovery(_) => b"recovery",
            Cause::RecoveryAtOwnDevice => b"recovery at own device",
            Cause::Authenticated => b"proven",
            Cause::Staff => b"staff",
            Cause::SignIn => b"sign-in",
            Cause::SecurityEvent => b"event",
        }
    }

    /// The network of a stranger.
    fn network(self) -> Option<Network> {
        match self {
            Cause::SignUp(network) | Cause::Recovery(network) => Some(network),
            _ => None,
        }
    }

    /// Whether the request counts under the anonymous share of the site's messages.
    fn is_anonymous(self) -> bool {
        matches!(self, Cause::SignUp(_) | Cause::NewLink | Cause::Recovery(_))
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

/// The messages that one counter allows.
struct Counter {
    key: Vec<u8>,
    /// `None`: as many as in a day.
    per_hour: Option<i64>,
    per_day: i64,
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
    let of_member = match cause {
        Cause::Authenticated | Cause::Staff | Cause::SignIn | Cause::SecurityEvent => {
            counters(site, cause, channel, &member_key(site, cause, member_id, channel))
        }
        // One address or number alone: a member has no other, and a stranger's requests by mail leave those by telephone.
        Cause::SignUp(_) | Cause::NewLink | Cause::Recovery(_) | Cause::RecoveryAtOwnDevice => Vec::new(),
    };
    let mut of_address = counters(site, cause, channel, &address_key(site, cause, recipient));
    if matches!(cause, Cause::Recovery(_) | Cause::Authenticated | Cause::Staff) {
        of_address.push(passcodes_of_anybody(site, recipient));
    }
    let of_site = shares(site, cause, channel);
    if let Some(until) = full_until(tx, tx.now(), &of_member)? {
        return Ok(Err(LimitReached::Member(until)));
    }
    if full_until(tx, tx.now(), &of_address)?.is_some() {
        return Ok(Err(LimitReached::Recipient));
    }
    if cause != Cause::Staff
        && let Some(until) = full_until(tx, tx.now(), &of_site)?
    {
        return Ok(Err(LimitReached::Site(until)));
    }
    for counter in of_member.iter().chain(&of_address).chain(&of_site) {
        passcodes::insert_send(tx, &counter.key)?;
    }
    Ok(Ok(()))
}

/// The counters of a member or an address: of all messages of the cause, and of those from a stranger's network.
fn counters(site: &Site, cause: Cause, channel: Channel, key: &[u8]) -> Vec<Counter> {
    let (per_hour, per_day) = match (cause, channel) {
        (Cause::SecurityEvent, Channel::Email) => (None, EVENTS_PER_DAY_MAX),
        (Cause::SecurityEvent, Channel::Sms) => (None, PER_DAY_MAX),
        _ => (Some(PER_HOUR_MAX), PER_DAY_MAX),
    };
    let all = Counter { key: key.to_vec(), per_hour, per_day };
    let of_network = cause.network().map(|network| Counter {
        key: passcodes::part_key(key, &network_key(site, network)),
        per_hour: None,
        per_day: PER_DAY_OF_NETWORK_MAX,
    });
    std::iter::once(all).chain(of_network).collect()
}

/// The counters of the site that a message of this cause counts in.
fn shares(site: &Site, cause: Cause, channel: Channel) -> Vec<Counter> {
    let mut shares = vec![whole_site(site, channel)];
    if cause.is_anonymous() {
        shares.push(anonymous_share(site, channel));
    }
    if matches!(cause, Cause::SignUp(_) | Cause::NewLink) {
        shares.push(sign_up_share(site, channel));
    }
    shares
}

/// The passcodes to an address for which neither a password nor a device of the member is needed: recoveries, and those that any
/// member asks for.
fn passcodes_of_anybody(site: &Site, recipient: &str) -> Counter {
    let key = hash(site, &[b"passcodes of anybody", email::canonical(recipient).as_bytes()]).to_vec();
    Counter { key, per_hour: Some(PER_HOUR_MAX), per_day: 2 * PER_DAY_MAX }
}

/// Counts one mail that an anonymous request causes to an address of the site itself. `false`: a limit is reached, and
/// nothing was counted.
pub fn take_for_site_address(site: &Site, tx: &Write, recipient: &str) -> Result<bool, Failure> {
    let mut counters = vec![to_one_address(site, recipient), whole_site(site, Channel::Email)];
    counters.extend([anonymous_share(site, Channel::Email), sign_up_share(site, Channel::Email)]);
    if full_until(tx, tx.now(), &counters)?.is_some() {
        return Ok(false);
    }
    for counter in counters {
        passcodes::insert_send(tx, &counter.key)?;
    }
    Ok(true)
}

/// Counts one mail by which an admin invites somebody. `false`: the address has had too many, and nothing was counted.
pub(crate) fn take_for_invitation(site: &Site, tx: &Write, recipient: &str) -> Result<bool, Failure> {
    let to_invitee = to_one_address(site, recipient);
    if full_until(tx, tx.now(), std::slice::from_ref(&to_invitee))?.is_some() {
        return Ok(false);
    }
    for counter in [to_invitee, whole_site(site, Channel::Email)] {
        passcodes::insert_send(tx, &counter.key)?;
    }
    Ok(true)
}

fn to_one_address(site: &Site, recipient: &str) -> Counter {
    let key = hash(site, &[b"house", email::canonical(recipient).as_bytes()]).to_vec();
    Counter { key, per_hour: None, per_day: TO_SITE_ADDRESS_PER_DAY_MAX }
}

/// The state of the daily quota of a channel.
pub fn daily_quota(site: &Site, tx: &Read, channel: Channel) -> Result<DailyQuota, Failure> {
    let is_full = |counter: Counter| full_until(tx, site.now(), &[counter]).map(|until| until.is_some());
    if is_full(whole_site(site, channel))? {
        return Ok(DailyQuota::UsedUp);
    }
    Ok(if is_full(anonymous_share(site, channel))? { DailyQuota::AnonymousUsedUp } else { DailyQuota::Available })
}

/// Clears the counters of a member's messages. Returns whether a limit was reached.
pub(crate) fn forget(site: &Site, tx: &Write, profile: &Profile) -> Result<bool, Failure> {
    let mut used_up = false;
    for cause in Cause::all() {
        let members = [Channel::Email, Channel::Sms].map(|channel| member_key(site, cause, profile.member_id, channel));
        let addresses = [&profile.email, &profile.phone].map(|address| address_key(site, cause, address));
        for key in members.into_iter().chain(addresses) {
            let all = Counter { key: key.to_vec(), per_hour: Some(PER_HOUR_MAX), per_day: PER_DAY_MAX };
            used_up |= full_until(tx, tx.now(), &[all])?.is_some()
                || passcodes::is_part_full(tx, &key, PER_DAY_OF_NETWORK_MAX, DAY_SECONDS)?;
            passcodes::forget_sends(tx, &key)?;
        }
    }
    for address in [&profile.email, &profile.phone] {
        let counter = passcodes_of_anybody(site, address);
        used_up |= full_until(tx, tx.now(), std::slice::from_ref(&counter))?.is_some();
        passcodes::forget_sends(tx, &counter.key)?;
    }
    Ok(used_up)
}

/// The moment at which all of these counters have room again; `None`: they have.
fn full_until(tx: &Read, now: i64, counters: &[Counter]) -> Result<Option<i64>, Failure> {
    let mut latest = None;
    for counter in counters {
        let hour = counter.per_hour.map(|messages| (messages, HOUR_SECONDS));
        for (messages, seconds) in hour.into_iter().chain([(counter.per_day, DAY_SECONDS)]) {
            latest = latest.max(passcodes::full_until(tx, &counter.key, messages, seconds, now)?);
        }
    }
    Ok(latest)
}

fn whole_site(site: &Site, channel: Channel) -> Counter {
    of_site(site, b"site", channel, site_limit(site, channel))
}

fn anonymous_share(site: &Site, channel: Channel) -> Counter {
    of_site(site, b"strangers at the site", channel, site_limit(site, channel) / ANONYMOUS_SHARE_DIVISOR)
}

fn sign_up_share(site: &Site, channel: Channel) -> Counter {
    of_site(site, b"sign-ups at the site", channel, (site_limit(site, channel) / SIGN_UP_SHARE_DIVISOR).max(1))
}

fn of_site(site: &Site, whose: &[u8], channel: Channel, per_day: i64) -> Counter {
    Counter { key: hash(site, &[whose, channel.name().as_bytes()]).to_vec(), per_hour: None, per_day }
}

fn site_limit(site: &Site, channel: Channel) -> i64 {
    match channel {
        Channel::Email => limits::ALL_MAILS.amount(site),
        Channel::Sms => limits::ALL_SMS.amount(site),
    }
}

/// Security events by mail and by short message are counted apart.
fn member_key(site: &Site, cause: Cause, member_id: i64, channel: Channel) -> [u8; 32] {
    let channel = if cause == Cause::SecurityEvent { channel.name() } else { "" };
    hash(site, &[b"member", cause.name(), &member_id.to_be_bytes(), channel.as_bytes()])
}

fn address_key(site: &Site, cause: Cause, recipient: &str) -> [u8; 32] {
    hash(site, &[b"recipient", cause.name(), email::canonical(recipient).as_bytes()])
}

/// The place of the callers in a network, for a counter of its own.
pub(crate) fn network_key(site: &Site, network: Network) -> [u8; 32] {
    hash(site, &[b"network", network.to_string().as_bytes()])
}

fn hash(site: &Site, parts: &[&[u8]]) -> [u8; 32] {
    site.keys.hash(Purpose::PasscodeAddress, parts)
}
