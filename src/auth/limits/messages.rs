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

use super::counted::{self, Counter};
use crate::domain::email;
use crate::domain::ids::MemberId;
use crate::http::call::Network;
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::members::Profile;
use crate::store::tables::outbox::Channel;
use crate::store::{Read, Write};
use std::net::{IpAddr, Ipv4Addr};

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

/// Whether a message may be sent. Times are the moments of the next free message, in Unix seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Quota {
    /// The message was counted, and is to be sent.
    Counted,
    /// The member's is used up. Only the authenticated member is told.
    OfMemberUsedUp(Moment),
    /// The address's or number's is used up. No caller is told, because others may have caused it.
    OfRecipientUsedUp,
    /// The site's is used up, or the anonymous share of it.
    OfSiteUsedUp(Moment),
}

impl Quota {
    pub(crate) fn is_counted(self) -> bool {
        self == Quota::Counted
    }
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

/// Counts one message. Where a limit is reached nothing is counted, and the message must not be sent.
pub(crate) fn take(
    site: &Site,
    tx: &Write,
    cause: Cause,
    member_id: MemberId,
    channel: Channel,
    recipient: &str,
) -> Result<Quota, Failure> {
    let of_member = match cause {
        Cause::Authenticated | Cause::Staff | Cause::SignIn | Cause::SecurityEvent => {
            with_part(site, cause, of_member(site, cause, member_id, channel))
        }
        // One address or number alone: a member has no other, and a stranger's requests by mail leave those by telephone.
        Cause::SignUp(_) | Cause::NewLink | Cause::Recovery(_) | Cause::RecoveryAtOwnDevice => Vec::new(),
    };
    let mut of_address = with_part(site, cause, of_address(site, cause, recipient, channel));
    if matches!(cause, Cause::Recovery(_) | Cause::Authenticated | Cause::Staff) {
        of_address.push(passcodes_of_anybody(site, recipient));
    }
    let of_site = shares(site, cause, channel);
    if let Some(until) = counted::full_until(tx, tx.now(), &of_member)? {
        return Ok(Quota::OfMemberUsedUp(until));
    }
    if counted::full_until(tx, tx.now(), &of_address)?.is_some() {
        return Ok(Quota::OfRecipientUsedUp);
    }
    if cause != Cause::Staff
        && let Some(until) = counted::full_until(tx, tx.now(), &of_site)?
    {
        return Ok(Quota::OfSiteUsedUp(until));
    }
    for counter in of_member.iter().chain(&of_address).chain(&of_site) {
        counter.count(tx)?;
    }
    Ok(Quota::Counted)
}

/// The counter of all messages of a cause, and that of those from a stranger's network.
fn with_part(site: &Site, cause: Cause, all: Counter) -> Vec<Counter> {
    let part = |network| all.part(site, super::MESSAGES_OF_NETWORK, &network_key(site, network));
    let part = cause.network().map(part);
    std::iter::once(all).chain(part).collect()
}

/// The counters of the site that a message of this cause counts in.
fn shares(site: &Site, cause: Cause, channel: Channel) -> Vec<Counter> {
    let mut shares = vec![all_of_site(site, channel)];
    if cause.is_anonymous() {
        shares.push(of_strangers(site, channel));
    }
    if matches!(cause, Cause::SignUp(_) | Cause::NewLink) {
        shares.push(of_sign_ups(site));
    }
    shares
}

/// The passcodes to an address for which neither a password nor a device of the member is needed: recoveries, and those that any
/// member asks for.
fn passcodes_of_anybody(site: &Site, recipient: &str) -> Counter {
    let address = email::canonical(recipient);
    let counter = Counter::new(site, super::MESSAGES_IN_HOUR, &[b"passcodes of anybody", address.as_bytes()]);
    counter.and(site, super::PASSCODES_OF_ANYBODY)
}

/// Counts one mail that an anonymous request causes to an address of the site itself. `false`: a limit is reached, and
/// nothing was counted.
pub fn take_for_site_address(site: &Site, tx: &Write, recipient: &str) -> Result<bool, Failure> {
    let channel = Channel::Email;
    let shares = [all_of_site(site, channel), of_strangers(site, channel), of_sign_ups(site)];
    let all: Vec<Counter> = std::iter::once(to_one_address(site, recipient)).chain(shares).collect();
    Ok(counted::take(tx, &all)?.is_none())
}

/// Counts one mail by which an admin invites somebody. `false`: the address has had too many, and nothing was counted.
pub(crate) fn take_for_invitation(site: &Site, tx: &Write, recipient: &str) -> Result<bool, Failure> {
    let is_sent = counted::take(tx, &[to_one_address(site, recipient)])?.is_none();
    if is_sent {
        all_of_site(site, Channel::Email).count(tx)?;
    }
    Ok(is_sent)
}

fn to_one_address(site: &Site, recipient: &str) -> Counter {
    Counter::new(site, super::SITE_MAILS, &[b"house", email::canonical(recipient).as_bytes()])
}

/// The state of the daily quota of a channel.
pub fn daily_quota(site: &Site, tx: &Read, channel: Channel) -> Result<DailyQuota, Failure> {
    if all_of_site(site, channel).full_until(tx, site.now())?.is_some() {
        return Ok(DailyQuota::UsedUp);
    }
    let is_full = of_strangers(site, channel).full_until(tx, site.now())?.is_some();
    Ok(if is_full { DailyQuota::AnonymousUsedUp } else { DailyQuota::Available })
}

/// Counts a request for a passcode under the typed name, in whatever spelling, known or not. `Some`: the name has had as many an
/// hour from this place as an address gets, so that an unknown name is refused exactly when a known one is; one more is allowed
/// at this moment. Requests from elsewhere do not count: whoever knows the name could keep its owner from asking.
pub(crate) fn take_request(site: &Site, tx: &Write, name: &str, place: &[u8; 32]) -> Result<Option<Moment>, Failure> {
    counted::take(tx, &[under_name(site, name).part(site, super::PASSCODE_REQUESTS, place)])
}

/// Clears the counters of a member's messages, and of the passcodes that were requested under the member's names. Returns whether
/// a limit was reached.
pub(crate) fn forget(site: &Site, tx: &Write, profile: &Profile) -> Result<bool, Failure> {
    let channels = [(Channel::Email, &profile.email), (Channel::Sms, &profile.phone)];
    let mut all: Vec<Counter> = [&profile.email, &profile.phone].map(|to| passcodes_of_anybody(site, to)).into();
    for (cause, (channel, address)) in Cause::all().into_iter().flat_map(|cause| channels.map(|to| (cause, to))) {
        all.extend([of_member(site, cause, profile.member_id, channel), of_address(site, cause, address, channel)]);
    }
    let mut used_up = false;
    for counter in all {
        used_up |= counter.full_until(tx, tx.now())?.is_some()
            || counter.is_part_full(site, tx, super::MESSAGES_OF_NETWORK)?;
        counter.forget(tx)?;
    }
    for name in [&profile.username, &profile.email] {
        let counter = under_name(site, name);
        used_up |= counter.is_part_full(site, tx, super::PASSCODE_REQUESTS)?;
        counter.forget(tx)?;
    }
    Ok(used_up)
}

fn all_of_site(site: &Site, channel: Channel) -> Counter {
    let limit = match channel {
        Channel::Email => super::ALL_MAILS,
        Channel::Sms => super::ALL_SMS,
    };
    Counter::new(site, limit, &[b"site", channel.name().as_bytes()])
}

fn of_strangers(site: &Site, channel: Channel) -> Counter {
    let limit = match channel {
        Channel::Email => super::MAILS_OF_STRANGERS,
        Channel::Sms => super::SMS_OF_STRANGERS,
    };
    Counter::new(site, limit, &[b"strangers at the site", channel.name().as_bytes()])
}

/// Sign-ups and the contact form write mails alone.
fn of_sign_ups(site: &Site) -> Counter {
    Counter::new(site, super::MAILS_OF_SIGN_UPS, &[b"sign-ups at the site"])
}

/// The messages of a cause to one member. Security events by mail and by short message are counted apart.
fn of_member(site: &Site, cause: Cause, member_id: MemberId, channel: Channel) -> Counter {
    let apart = if cause == Cause::SecurityEvent { channel.name() } else { "" };
    of_cause(site, cause, channel, &[b"member", cause.name(), &member_id.0.to_be_bytes(), apart.as_bytes()])
}

/// The messages of a cause to one address or number.
fn of_address(site: &Site, cause: Cause, recipient: &str, channel: Channel) -> Counter {
    of_cause(site, cause, channel, &[b"recipient", cause.name(), email::canonical(recipient).as_bytes()])
}

fn of_cause(site: &Site, cause: Cause, channel: Channel, whose: &[&[u8]]) -> Counter {
    match (cause, channel) {
        (Cause::SecurityEvent, Channel::Email) => Counter::new(site, super::EVENT_MAILS, whose),
        (Cause::SecurityEvent, Channel::Sms) => Counter::new(site, super::MESSAGES, whose),
        _ => Counter::new(site, super::MESSAGES_IN_HOUR, whose).and(site, super::MESSAGES),
    }
}

/// The requests for passcodes under a name, by the place of the caller.
fn under_name(site: &Site, name: &str) -> Counter {
    Counter::new(site, super::PASSCODE_REQUESTS, &[b"name", email::canonical(name).as_bytes()])
}

/// The place of the callers in a network, for a counter of its own.
pub(crate) fn network_key(site: &Site, network: Network) -> [u8; 32] {
    site.keys.hash(Purpose::Throttle, &[b"network", network.to_string().as_bytes()])
}
