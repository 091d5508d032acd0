//! Accounts: ban and reinstate, change the role, confirm the e-mail address, clear rate limits.

use super::{Change, Outcome, RankedActor, change, events, notice};
use crate::auth::limits::proofs::{self, ClearedLimits};
use crate::domain::audit::{Actor, Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::ops::erasure::{self, Leaving};
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::events::Event;
use crate::store::tables::members::NewMember;
use crate::store::tables::{
    account_claims, bans, email_tokens, invitations, kiosks, members, notices, passcodes, pins, sessions, undos,
};

/// Bans an account: ends all its sessions and credentials, and deletes every invitation and pairing code that it issued.
/// Audited. 403 where the actor may not serve the account.
///
/// The booking PIN stays until the ban is lifted and opens nothing meanwhile: a partner learns by the right PIN that the
/// member is banned, and not that the PIN is wrong.
pub(crate) fn ban(cx: &Change, member_id: MemberId) -> Result<Outcome, Failure> {
    if cx.served(member_id)?.banned {
        return Ok(Outcome::Unchanged);
    }
    sessions::end_all_but_pin(cx.tx, member_id, None)?;
    pins::forget_outdated(cx.tx, member_id)?;
    delete_issued(cx, member_id)?;
    bans::set(cx.tx, member_id, Some(cx.now()))?;
    done(cx, "member.banned", member_id)
}

/// Lifts the ban of an account and removes its booking PIN; the owner signs in again. Audited. 403 unless the actor is an
/// admin.
pub(crate) fn lift_ban(cx: &Change, member_id: MemberId) -> Result<Outcome, Failure> {
    cx.check_admin()?;
    if !cx.served(member_id)?.banned {
        return Ok(Outcome::Unchanged);
    }
    pins::clear(cx.tx, member_id)?;
    bans::set(cx.tx, member_id, None)?;
    done(cx, "member.unbanned", member_id)
}

/// Why an account is banned, and to which second, that of a day, in Unix seconds.
#[derive(Debug, Default)]
pub(crate) struct Ban {
    pub(crate) reason: String,
    /// `None`: until a member of the staff lifts the ban.
    pub(crate) until: Option<Moment>,
}

/// Bans an account as [`ban`] does, with a reason and an end. 422 where the account is banned already for another reason or
/// until another day: somebody else was first, and an admin lifts that ban.
pub(crate) fn ban_with(cx: &Change, member_id: MemberId, terms: &Ban) -> Result<Outcome, Failure> {
    if terms.until.is_some_and(|until| until < cx.now()) {
        return Err(Failure::field("until", Text::new("card.ban_past")));
    }
    let known = bans::find(cx.tx, member_id)?;
    if known.is_some_and(|known| known.ban_reason == terms.reason && known.banned_until == terms.until) {
        return Ok(Outcome::Unchanged);
    }
    if ban(cx, member_id)? == Outcome::Unchanged {
        return Err(Failure::field("reason", Text::new("card.banned_before")));
    }
    bans::set_terms(cx.tx, member_id, terms.until, &terms.reason)?;
    Ok(Outcome::Done)
}

/// Lifts every ban whose end has passed. Audited. Returns the number of lifted bans.
pub(crate) fn lift_ended_bans(site: &Site) -> Result<usize, Failure> {
    let ended = site.store.read(|tx| Ok(bans::list_ended(tx, site.clock.earliest())?))?;
    if ended.is_empty() {
        return Ok(0);
    }
    let job = RankedActor::owner(&Actor::job("bans"));
    change(site, job, Language::default(), |cx| {
        ended.iter().try_for_each(|member_id| lift_ban(cx, *member_id).map(drop))?;
        Ok(ended.len())
    })
}

/// Sets the role of an account. Audited; the member is notified. 403 unless the actor is an admin, and for the actor's
/// own account.
///
/// The lifetime of a session depends on the role, so every session ends, even where the role does not change. The PIN,
/// every passcode, and every link that was mailed to confirm an address or to undo a change are invalidated too: the desk
/// may know those of a member, but must not know those of a colleague. Invitations and pairing codes that the account
/// issued are deleted.
pub(crate) fn set_role(cx: &Change, member_id: MemberId, role: Role) -> Result<(), Failure> {
    cx.check_admin()?;
    let before = cx.served(member_id)?.role;
    sessions::end_credentials(cx.tx, member_id, None)?;
    delete_unused_codes(cx.tx, member_id)?;
    delete_issued(cx, member_id)?;
    members::set_role(cx.tx, member_id, role)?;
    notices::insert(cx.tx, member_id, "notice.role_changed", &format!(r#"{{"role":"{}"}}"#, role.name()))?;
    cx.record("member.role_set", &Subject::Member(member_id), &Detail::none().word("role", role.name()))?;
    if before == role { Ok(()) } else { notice::tell_admins(cx, notice::STAFF_CHANGED) }
}

/// Marks the e-mail address of an account as confirmed. Audited. 404 where the account has no address, 409 where
/// another member has confirmed the same address, 403 where the actor may not change how the account is opened.
pub(crate) fn confirm_email(cx: &Change, member_id: MemberId) -> Result<Outcome, Failure> {
    let account = cx.served_with_access(member_id)?;
    if account.email.is_empty() {
        return Err(Failure::not_found());
    }
    if account.email_confirmed {
        return Ok(Outcome::Unchanged);
    }
    members::confirm_email(cx.tx, member_id)?;
    done(cx, "member.confirmed", member_id)
}

/// Clears every sign-in delay of an account, and unlocks its PIN and its passcodes. Audited, even where nothing was
/// limited, because the failed attempts so far are forgotten.
pub(crate) fn unlock(cx: &Change, member_id: MemberId) -> Result<ClearedLimits, Failure> {
    let account = cx.served(member_id)?;
    let lifted = proofs::clear_account_limits(cx.site, cx.tx, account.member_id)?;
    cx.record("member.unlocked", &Subject::Member(member_id), &Detail::none())?;
    Ok(lifted)
}

/// Erases a member from the database, with the accounts that were joined into this one. The caller has already searched the texts of other members that mention the
/// member. Audited. 403 for an account with a staff role: the role is removed first.
pub(crate) fn erase(cx: &Change, leaving: &Leaving) -> Result<(), Failure> {
    let account = members::find_account_by_id(cx.tx, leaving.person.member_id)?.ok_or_else(Failure::not_found)?;
    if account.role != Role::Member {
        return Err(Failure::not_allowed());
    }
    for member_id in leaving.numbers() {
        cx.record("member.erased", &Subject::Member(member_id), &Detail::none())?;
        events::tell_member(cx.tx, Event::MemberErased, member_id, &serde_json::json!({}))?;
    }
    erasure::forget(cx.site, cx.tx, leaving, cx.now())
}

/// Deletes every code and link of an account that was mailed or printed and not used yet: passcodes, codes that claim the
/// account, links that confirm an address or undo a change. The desk may read those of a member, and must not have read
/// those of a colleague or a signer.
pub(crate) fn delete_unused_codes(tx: &Write, member_id: MemberId) -> Result<(), Failure> {
    account_claims::delete_of_member(tx, member_id)?;
    passcodes::delete_of_member(tx, member_id)?;
    email_tokens::delete_of_member(tx, member_id)?;
    undos::delete_of_member(tx, member_id)?;
    Ok(())
}

/// Deletes what an account issued for others and was not used yet: invitations, and codes that pair a kiosk.
pub(super) fn delete_issued(cx: &Change, member_id: MemberId) -> Result<(), Failure> {
    invitations::delete_of_inviter(cx.tx, member_id)?;
    kiosks::delete_pairings_of(cx.tx, member_id)?;
    Ok(())
}

fn done(cx: &Change, action: &'static str, member_id: MemberId) -> Result<Outcome, Failure> {
    cx.record(action, &Subject::Member(member_id), &Detail::none())?;
    Ok(Outcome::Done)
}

/// Adds an account with the password that its owner was given. Audited.
pub(crate) fn add(cx: &Change, new: &NewMember, role: Role, confirmed: bool) -> Result<MemberId, Failure> {
    let member_id = members::insert(cx.tx, &NewMember { role: role.name(), ..*new })?;
    if confirmed {
        members::confirm_email(cx.tx, member_id)?;
    }
    let detail = Detail::none().word("role", role.name()).flag("confirmed", confirmed);
    cx.record("member.added", &Subject::Member(member_id), &detail)?;
    Ok(member_id)
}
