//! Passcodes: six digits to an address of the member's, good for ten minutes, five tries and one use.

use super::device;
use super::limits::messages::{self, Cause, Quota};
use crate::domain::ids::MemberId;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::keys::{Purpose, random};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::outbox::{self, Channel};
use crate::store::tables::passcodes;
use serde_json::json;
use std::time::Duration;
use subtle::ConstantTimeEq;

const CODES: u64 = 1_000_000;
pub(crate) const LIFE_SECONDS: i64 = 10 * 60;
const TRIES_MAX: i64 = super::limits::PASSCODE_TRIES.fixed();
/// A number that no member has.
const NO_MEMBER: MemberId = MemberId(0);
const HOUR_SECONDS: i64 = 3600;

/// The purpose of a passcode; one of each purpose is live at a time, and none serves for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Use {
    SignIn,
    RecoverPassword,
    RecoverUsername,
    VerifyEmail,
    VerifyPhone,
}

impl Use {
    /// Also the name of the message's template.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Use::SignIn => "passcode_sign_in",
            Use::RecoverPassword => "passcode_recover_password",
            Use::RecoverUsername => "passcode_recover_username",
            Use::VerifyEmail => "passcode_verify_email",
            Use::VerifyPhone => "passcode_verify_phone",
        }
    }
}

/// The recipient of a passcode.
#[derive(Debug)]
pub(crate) struct Target<'a> {
    pub member_id: MemberId,
    pub channel: Channel,
    /// An e-mail address, or a telephone number in E.164.
    pub address: &'a str,
    pub language: Language,
    pub cause: Cause,
}

/// The caller who asks for a recovery passcode.
pub(crate) struct Asker {
    /// The device, if any member signed in on it before, else the network.
    place: [u8; 32],
    pub cause: Cause,
}

impl Asker {
    /// `member_id`: the member whose passcode the call asks for, or a number of nobody, at the same cost.
    pub(crate) fn of(site: &Site, call: &Call, tx: &Write, member_id: MemberId) -> Result<Asker, Failure> {
        let cause = Cause::Recovery(call.network());
        Ok(match device::find(call, tx, member_id, tx.now())? {
            Some(device) if device.by_member => Asker { place: device.hash, cause: Cause::RecoveryAtOwnDevice },
            Some(device) => Asker { place: device.hash, cause },
            None => Asker { place: messages::network_key(site, call.network()), cause },
        })
    }
}

/// Queues a new passcode for sending, which replaces the older one of the same use. Where a limit is reached the older
/// passcode stays valid.
pub(crate) fn send(site: &Site, tx: &Write, usage: Use, target: &Target) -> Result<Quota, Failure> {
    let quota = messages::take(site, tx, target.cause, target.member_id, target.channel, target.address)?;
    if quota.is_counted() {
        queue(site, tx, usage, target)?;
    }
    Ok(quota)
}

/// Does the work of [`send`] without an effect, in place of a passcode that is not sent: otherwise the time would tell whether
/// one was, while the server is busy. `target`: any member, who is not concerned.
pub(crate) fn imitate_send(site: &Site, tx: &Write, usage: Use, target: &Target) -> Result<(), Failure> {
    tx.undone(|| {
        _ = messages::take(site, tx, target.cause, NO_MEMBER, target.channel, target.address)?;
        queue(site, tx, usage, target)
    })
}

fn queue(site: &Site, tx: &Write, usage: Use, target: &Target) -> Result<(), Failure> {
    let code = format!("{:06}", u64::from_be_bytes(random::<8>()) % CODES);
    let code_hash = hash(site, target.member_id, usage, &code);
    passcodes::insert(tx, target.member_id, usage.name(), &code_hash, target.address, tx.now() + LIFE_SECONDS)?;
    let message = outbox::NewMessage {
        channel: target.channel,
        member_id: Some(target.member_id),
        recipient: target.address,
        language: target.language.tag(),
        template: usage.name(),
        values: &json!({ "passcode": code }),
    };
    outbox::insert(tx, &site.keys, &message)?;
    Ok(())
}

/// Queues a passcode for a signed-in member: 429 with the seconds until the next one. The recipient's limit is not
/// reported, because others may have used it up.
pub(crate) fn send_or_refuse(site: &Site, tx: &Write, usage: Use, target: &Target) -> Result<(), Failure> {
    match send(site, tx, usage, target)? {
        Quota::OfRecipientUsedUp => Ok(()),
        quota => check_counted(tx, quota),
    }
}

/// 429 for a message over a limit.
pub(crate) fn check_counted(tx: &Write, quota: Quota) -> Result<(), Failure> {
    match quota {
        Quota::Counted => Ok(()),
        Quota::OfMemberUsedUp(until) | Quota::OfSiteUsedUp(until) => Err(too_many(tx, until)),
        Quota::OfRecipientUsedUp => Err(too_many(tx, tx.now() + HOUR_SECONDS)),
    }
}

/// Counts a request for a passcode under the typed name; 429 where [`messages::take_request`] allows no more.
pub(crate) fn count_request(site: &Site, tx: &Write, name: &str, asker: &Asker) -> Result<(), Failure> {
    let full = messages::take_request(site, tx, name, &asker.place)?;
    full.map_or(Ok(()), |until| Err(too_many(tx, until)))
}

fn too_many(tx: &Write, until: Moment) -> Failure {
    let seconds = u64::try_from(until - tx.now()).unwrap_or_default();
    Failure::passcode_too_many().retry_after(Duration::from_secs(seconds))
}

/// Counts a try of the live passcode without comparing it, where another part of the same proof was wrong.
pub(crate) fn spend_try(tx: &Write, member_id: MemberId, usage: Use) -> Result<(), Failure> {
    if let Some(live) = passcodes::find(tx, member_id, usage.name(), tx.now())? {
        count_try(tx, member_id, usage, live.tries)?;
    }
    Ok(())
}

/// Counts a wrong try; the last one deletes the passcode.
fn count_try(tx: &Write, member_id: MemberId, usage: Use, tries: i64) -> Result<(), Failure> {
    if tries + 1 >= TRIES_MAX {
        passcodes::delete(tx, member_id, usage.name())?;
    } else {
        passcodes::count_try(tx, member_id, usage.name())?;
    }
    Ok(())
}

/// Uses up the live passcode, where this is its code, and returns the address that it was sent to. A wrong code costs a
/// try, and the last try the passcode.
pub(crate) fn take(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    usage: Use,
    code: &str,
) -> Result<Option<String>, Failure> {
    take_if(site, tx, member_id, usage, code, |_| true)
}

/// As [`take`], for a caller who names the address too: a wrong address counts as a wrong code.
pub(crate) fn take_sent_to(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    usage: Use,
    code: &str,
    address: &str,
) -> Result<Option<String>, Failure> {
    take_if(site, tx, member_id, usage, code, |target| target.eq_ignore_ascii_case(address))
}

fn take_if(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    usage: Use,
    code: &str,
    counts: impl Fn(&str) -> bool,
) -> Result<Option<String>, Failure> {
    let Some(live) = passcodes::find(tx, member_id, usage.name(), tx.now())? else { return Ok(None) };
    let right = bool::from(live.code_hash.ct_eq(&hash(site, member_id, usage, code)));
    if right && counts(&live.target) {
        passcodes::delete(tx, member_id, usage.name())?;
        return Ok(Some(live.target));
    }
    count_try(tx, member_id, usage, live.tries)?;
    Ok(None)
}

fn hash(site: &Site, member_id: MemberId, usage: Use, code: &str) -> [u8; 32] {
    site.keys.hash(Purpose::Passcode, &[&member_id.0.to_be_bytes(), usage.name().as_bytes(), code.as_bytes()])
}
