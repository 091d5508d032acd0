//! Accounts that the desk or a kiosk created, claimed by their owners: with a mailed, printed or shown code, the owner chooses a username
//! and a password.

use super::{Change, RankedActor, change, language_on_paper};
use crate::auth::limits::messages::{self, Cause};
use crate::auth::second_factor;
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::recovery_code;
use crate::domain::role::Role;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::keys::{Purpose, random};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::account_claims::{self, Claim};
use crate::store::tables::members;
use crate::store::tables::outbox::{self, Channel};
use serde_json::json;

const DAY_SECONDS: i64 = 86_400;
/// Lifetime of a mailed code, in days.
const MAILED_DAYS: i64 = 7;
/// Lifetime of a printed code, in days.
const PRINTED_DAYS: i64 = 30;
/// Lifetime of a code that a kiosk shows.
const KIOSK_SECONDS: i64 = 120;
/// The longest visit of a kiosk in which an account counts as new.
const VISIT_SECONDS: i64 = 600;

/// A printed code.
#[derive(Debug)]
pub(crate) struct PrintedCode {
    /// `abcd-efgh-jkmn`.
    pub(crate) code: String,
    /// Unix seconds.
    pub(crate) ends_at: Moment,
    /// The language of the member.
    pub(crate) language: Language,
}

/// The keyed hash of a typed code; `None` where the text is not shaped like a code.
pub(crate) fn hash(site: &Site, code: &str) -> Option<[u8; 32]> {
    let code = recovery_code::normalise(code)?;
    Some(site.keys.hash(Purpose::AccountClaim, &[code.as_bytes()]))
}

fn insert(cx: &Change, member_id: MemberId, email: &str, seconds: i64) -> Result<(String, Moment), Failure> {
    let (code, ends_at) = (recovery_code::from_bytes(random()), cx.now() + seconds);
    let hash = hash(cx.site, &code).ok_or_else(Failure::broken)?;
    account_claims::insert(cx.tx, &hash, member_id, email, ends_at)?;
    Ok((code, ends_at))
}

/// Mails a code to a newly registered member. `cause` says who supplied the address. No mail is sent where a message
/// quota is used up, or where another member has confirmed the address.
pub(crate) fn mail(
    cx: &Change,
    member_id: MemberId,
    email: &str,
    language: Language,
    cause: Cause,
) -> Result<(), Failure> {
    if members::find_by_confirmed_email(cx.tx, email)?.is_some()
        || !messages::take(cx.site, cx.tx, cause, member_id, Channel::Email, email)?.is_counted()
    {
        return Ok(());
    }
    let (code, _) = insert(cx, member_id, email, MAILED_DAYS * DAY_SECONDS)?;
    let message = outbox::NewMessage {
        channel: Channel::Email,
        member_id: Some(member_id),
        recipient: email,
        language: language.tag(),
        template: "welcome",
        values: &json!({ "token": code, "days": MAILED_DAYS }),
    };
    outbox::insert(cx.tx, &cx.site.keys, &message)?;
    Ok(())
}

/// Creates a printed code; a code that was printed before becomes invalid. Audited. 403 where the actor may not
/// change how the account is opened, or where the account has a credential and thus has its owner already.
pub(crate) fn print(cx: &Change, member_id: MemberId) -> Result<PrintedCode, Failure> {
    cx.check_staff()?;
    let account = cx.served_with_access(member_id)?;
    if account.banned || account.role != Role::Member {
        return Err(Failure::not_allowed());
    }
    if !account_claims::is_unclaimed(cx.tx, member_id)? {
        return Err(Failure::not_allowed().saying(Text::new("claim.has_owner")));
    }
    account_claims::delete_printed(cx.tx, member_id)?;
    let (code, ends_at) = insert(cx, member_id, "", PRINTED_DAYS * DAY_SECONDS)?;
    cx.record("member.code_printed", &Subject::Member(member_id), &Detail::none())?;
    Ok(PrintedCode { code, ends_at, language: language_on_paper(cx.site, cx.tx, member_id, cx.language)? })
}

/// A code that a kiosk shows to the guest who has just signed up there, to go on on the own telephone: once, within two minutes.
/// Returns it with its end. `None` where the account was not made in this visit, or has its owner's credentials already.
pub(crate) fn show_at_kiosk(cx: &Change, member_id: MemberId) -> Result<Option<(String, Moment)>, Failure> {
    let made_at = members::find(cx.tx, member_id)?.map_or(Moment(0), |profile| profile.join_date);
    let is_new = cx.now() - made_at <= VISIT_SECONDS;
    if !is_new || !account_claims::is_unclaimed(cx.tx, member_id)? || second_factor::is_on(cx.tx, member_id)? {
        return Ok(None);
    }
    account_claims::delete_printed(cx.tx, member_id)?;
    insert(cx, member_id, "", KIOSK_SECONDS).map(Some)
}

/// The claim of a typed code, if the code is valid.
pub(crate) fn find(site: &Site, tx: &Read, typed: &str, now: Moment) -> Result<Option<Claim>, Failure> {
    let Some(hash) = hash(site, typed) else { return Ok(None) };
    Ok(account_claims::find(tx, &hash, now)?)
}

/// Hands an account over to the owner of a code, with a username and a password; `password_hash` is made before the
/// transaction. A mailed code confirms the address. Every code of the account is deleted. Audited. `false`: the code is
/// invalid. 409 where the username is taken.
pub(crate) fn take(
    site: &Site,
    call: &Call,
    typed: &str,
    username: &str,
    password_hash: &str,
) -> Result<bool, Failure> {
    let Some(claim) = site.store.read(|tx| find(site, tx, typed, site.now()))? else { return Ok(false) };
    let owner = RankedActor::account(claim.member_id, Role::Member, &call.actor(claim.member_id));
    change(site, owner, call.language(), |cx| {
        // Another request may have used the code meanwhile.
        let Some(claim) = find(site, cx.tx, typed, cx.now())? else { return Ok(false) };
        members::set_username(cx.tx, claim.member_id, username)?;
        members::set_password(cx.tx, claim.member_id, password_hash)?;
        account_claims::delete_of_member(cx.tx, claim.member_id)?;
        if !claim.email.is_empty() && members::find_by_confirmed_email(cx.tx, &claim.email)?.is_none() {
            members::confirm_email(cx.tx, claim.member_id)?;
        }
        cx.record("member.claimed", &Subject::Member(claim.member_id), &Detail::none())?;
        Ok(true)
    })
}
