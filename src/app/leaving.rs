//! Leaving: a member asks for the erasure of the own account, has a week to take that back, and is then erased by a job. Meanwhile
//! no earlier credential opens anything, and a sign-in leads to the page that takes it back.

use super::{Change, Outcome, RankedActor, SubjectAccount, accounts, change};
use crate::auth::limits::LEAVINGS;
use crate::auth::security_event;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::ops::erasure::{self, Leaving};
use crate::site::Site;
use crate::store::tables::leavings;
use crate::store::tables::sessions::{self, TokenHash};
use crate::store::tables::{members, notices};

/// Asks for the erasure of the actor's account in a week. Ends every other session and credential that was handed out, and tells
/// every confirmed address. Audited. 403 for the last admin, without whom nobody could appoint another.
pub(crate) fn ask(cx: &Change, kept: &TokenHash) -> Result<Outcome, Failure> {
    let account = cx.own()?;
    if account.leaves {
        return Ok(Outcome::Unchanged);
    }
    check_not_last_admin(cx, account.member_id)?;
    // Each tells every address, at the site's cost.
    LEAVINGS.take(cx.site, account.member_id)?;
    leavings::set(cx.tx, account.member_id)?;
    sessions::end_credentials(cx.tx, account.member_id, Some(kept))?;
    accounts::delete_issued(cx, account.member_id)?;
    let leaves_at = cx.now() + leavings::WEEK_SECONDS;
    security_event::record_leaving(cx.site, cx.tx, account.member_id, leaves_at, cx.language, cx.actor)?;
    Ok(Outcome::Done)
}

fn check_not_last_admin(cx: &Change, member_id: MemberId) -> Result<(), Failure> {
    match leavings::is_last_admin(cx.tx, member_id)? {
        true => Err(Failure::not_allowed().saying(Text::new("leaving.last_admin"))),
        false => Ok(()),
    }
}

/// Takes back what the actor asked for. Audited.
pub(crate) fn stop(cx: &Change) -> Result<Outcome, Failure> {
    let account = cx.own()?;
    stay(cx, &account)
}

fn stay(cx: &Change, account: &SubjectAccount) -> Result<Outcome, Failure> {
    if leavings::stop(cx.tx, account.member_id)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    notices::insert(cx.tx, account.member_id, "notice.leaving_stopped", "{}")?;
    cx.record("member.leaving_stopped", &Subject::Member(account.member_id), &Detail::none())?;
    Ok(Outcome::Done)
}

/// Erases every member whose week is over, the others also where one cannot be. Returns how many.
pub(crate) fn carry_out_due(site: &Site) -> Result<usize, Failure> {
    let due = site.store.read(|tx| Ok(leavings::list_due(tx, site.clock.earliest())?))?;
    site.store.release();
    let job = RankedActor::owner(&Actor::job("leaving"));
    let mut failed = None;
    for member_id in &due {
        let erased = erasure::find_mentions(site, *member_id, &mut |_, _, _| ())
            .and_then(|leaving| change(site, job.clone(), Language::default(), |cx| carry_out(cx, &leaving)));
        if let Err(failure) = erased {
            failed = Some(failure);
        }
    }
    failed.map_or(Ok(due.len()), Err)
}

/// Erases one member, unless that was taken back meanwhile. The last admin stays.
fn carry_out(cx: &Change, leaving: &Leaving) -> Result<(), Failure> {
    let member_id = leaving.person.member_id;
    let account = members::find_account_by_id(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
    if leavings::find(cx.tx, member_id)?.is_none_or(|leaves_at| leaves_at > cx.site.clock.earliest()) {
        return Ok(());
    }
    if leavings::is_last_admin(cx.tx, member_id)? {
        return stay(cx, &SubjectAccount(account)).map(drop);
    }
    if account.role != Role::Member {
        members::set_role(cx.tx, member_id, Role::Member)?;
        let detail = Detail::none().word("role", Role::Member.name());
        cx.record("member.role_set", &Subject::Member(member_id), &detail)?;
    }
    accounts::erase(cx, leaving)
}
