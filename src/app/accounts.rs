//! Accounts: closed and opened again, another role, an address confirmed, delays lifted.

use super::{Change, Outcome, RankedActor, change};
use crate::auth::counters::{self, ClearedLimits};
use crate::domain::audit::{Actor, Detail, Subject};
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::ops::erasure::{self, Leaving};
use crate::site::Site;
use crate::store::tables::{bans, invitations, members, notices, sessions};

/// Closes an account: every session and credential of it ends, and every invitation that it gave. Audited. 403 where the actor may not serve the account.
pub(crate) fn ban(cx: &Change, member_id: i64) -> Result<Outcome, Failure> {
    if cx.served(member_id)?.banned {
        return Ok(Outcome::Unchanged);
    }
    sessions::end_credentials(cx.tx, member_id, None)?;
    invitations::delete_of_inviter(cx.tx, member_id)?;
    bans::set(cx.tx, member_id, Some(cx.now()))?;
    done(cx, "member.banned", member_id)
}

/// Opens a closed account again; the owner signs in anew. Audited. An admin's: 403 for others.
pub(crate) fn lift_ban(cx: &Change, member_id: i64) -> Result<Outcome, Failure> {
    cx.check_admin()?;
    if !cx.served(member_id)?.banned {
        return Ok(Outcome::Unchanged);
    }
    bans::set(cx.tx, member_id, None)?;
    done(cx, "member.unbanned", member_id)
}

/// Why an account is banned, and until when in Unix seconds.
#[derive(Debug, Default)]
pub(crate) struct Ban {
    pub(crate) reason: String,
    /// `None`: until somebody lifts it.
    pub(crate) until: Option<i64>,
}

/// Closes an account as [`ban`] does, with a reason and an end. Of an account that is closed already both are replaced.
pub(crate) fn ban_with(cx: &Change, member_id: i64, terms: &Ban) -> Result<Outcome, Failure> {
    if terms.until.is_some_and(|until| until <= cx.now()) {
        return Err(Failure::field("until", Text::new("card.ban_past")));
    }
    let known = bans::find(cx.tx, member_id)?;
    if known.is_some_and(|known| known.ban_reason == terms.reason && known.banned_until == terms.until) {
        return Ok(Outcome::Unchanged);
    }
    if ban(cx, member_id)? == Outcome::Unchanged {
        cx.record("member.banned", &Subject::Member(member_id), &Detail::none().flag("again", true))?;
    }
    bans::set_terms(cx.tx, member_id, terms.until, &terms.reason)?;
    Ok(Outcome::Done)
}

/// Lifts every ban whose end has come. Audited. Returns how many.
pub(crate) fn lift_ended_bans(site: &Site) -> Result<usize, Failure> {
    let now = site.now();
    let ended = site.store.read(|tx| Ok(bans::list_ended(tx, now)?))?;
    if ended.is_empty() {
        return Ok(0);
    }
    let job = RankedActor::owner(&Actor::job("bans"));
    change(site, job, Language::default(), |cx| {
        ended.iter().try_for_each(|member_id| lift_ban(cx, *member_id).map(drop))?;
        Ok(ended.len())
    })
}

/// Gives an account a role. Audited; the member is told. An admin's: 403 for others, and for the own account.
///
/// The lifetime of a session goes with the role, so every session ends, also where the role was the same. So do the PIN and
/// every passcode: the desk may know those of a member, and must not know those of somebody who works here. Invitations that
/// the account gave end with its role.
pub(crate) fn set_role(cx: &Change, member_id: i64, role: Role) -> Result<(), Failure> {
    cx.check_admin()?;
    cx.served(member_id)?;
    sessions::end_credentials(cx.tx, member_id, None)?;
    invitations::delete_of_inviter(cx.tx, member_id)?;
    members::set_role(cx.tx, member_id, role)?;
    notices::insert(cx.tx, member_id, "notice.role_changed", &format!(r#"{{"role":"{}"}}"#, role.name()))?;
    cx.record("member.role_set", &Subject::Member(member_id), &Detail::none().word("role", role.name()))
}

/// Counts the e-mail address of an account as confirmed. Audited. 404 where the account has no address, 409 where another
/// member has confirmed the same one.
pub(crate) fn confirm_email(cx: &Change, member_id: i64) -> Result<Outcome, Failure> {
    let account = cx.served(member_id)?;
    if account.email.is_empty() {
        return Err(Failure::not_found());
    }
    if account.email_confirmed {
        return Ok(Outcome::Unchanged);
    }
    members::confirm_email(cx.tx, member_id)?;
    done(cx, "member.confirmed", member_id)
}

/// Lifts every delay on an account, and has its PIN and its passcodes go on. Audited, also where nothing was in the way:
/// the failed attempts so far are forgotten.
pub(crate) fn unlock(cx: &Change, member_id: i64) -> Result<ClearedLimits, Failure> {
    let account = cx.served(member_id)?;
    let lifted = counters::clear_account_limits(cx.site, cx.tx, account.member_id)?;
    cx.record("member.unlocked", &Subject::Member(member_id), &Detail::none())?;
    Ok(lifted)
}

/// Takes a member out of the rows of the site; the texts of others that speak of the member were looked for before. Audited.
/// 403 for an account of somebody who works here: the role is taken first.
pub(crate) fn erase(cx: &Change, leaving: &Leaving) -> Result<(), Failure> {
    let account = members::find_account_by_id(cx.tx, leaving.member_id)?.ok_or_else(Failure::not_found)?;
    if account.role != Role::Member {
        return Err(Failure::not_allowed());
    }
    cx.record("member.erased", &Subject::Member(leaving.member_id), &Detail::none())?;
    erasure::forget(cx.site, cx.tx, leaving, cx.now())
}

fn done(cx: &Change, action: &'static str, member_id: i64) -> Result<Outcome, Failure> {
    cx.record(action, &Subject::Member(member_id), &Detail::none())?;
    Ok(Outcome::Done)
}
