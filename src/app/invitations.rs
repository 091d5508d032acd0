//! Colleagues, invited by an admin: with the code of a mail or of a paper they choose a username and a password, and have an
//! account of the role that the invitation names. Whoever may do more than a member here then sets up a second factor, as at
//! every first sign-in of such an account.

use super::{Change, Outcome, RankedActor, change, claims};
use crate::auth::message_quota;
use crate::domain::audit::{ActorId, Detail, Subject};
use crate::domain::recovery_code;
use crate::domain::role::Role;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::keys::random;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::invitations::{self, Invitation};
use crate::store::tables::outbox::{self, Channel};
use crate::store::tables::{account_claims, audit, members};
use serde_json::json;

const DAY_SECONDS: i64 = 86_400;
/// How long a mailed code is good, in days: it lies in a mailbox.
const MAILED_DAYS: i64 = 3;
/// How long a code on paper is good, in days.
const PRINTED_DAYS: i64 = 7;
/// Invitations that may be open at once.
const OPEN_MAX: i64 = 50;
/// The roles that somebody can be invited to, in the order in which they are offered. An instructor has an account of a
/// member: the right to sign comes from the logbook and the tunnel's list, and no invitation gives it.
pub(crate) const ROLES: [(Role, &str); 3] =
    [(Role::Desk, "invite.desk"), (Role::Admin, "invite.admin"), (Role::Member, "invite.instructor")];

/// Who is invited.
#[derive(Debug)]
pub(crate) struct Invitee<'a> {
    pub(crate) name: &'a str,
    /// Empty: the code is printed.
    pub(crate) email: &'a str,
    pub(crate) role: Role,
    pub(crate) language: Language,
    /// By which the same form sent twice is known.
    pub(crate) form_number: i64,
}

/// Why nobody is invited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    /// This member has the address: an account is given a role, not a second one made.
    HasAccount(i64),
    /// No mail leaves the house: whoever sees the messages at the desk would have the account.
    NoMail,
    /// As many are open as may be.
    TooMany,
    /// As many mails went there as may.
    TooManyMails,
}

/// An invitation that was made.
#[derive(Debug)]
pub(crate) enum Invited {
    /// The code is on its way by mail.
    Mailed,
    /// The code, to be printed now: nobody can read it later. With the end, in Unix seconds.
    Printed(String, i64),
}

/// Invites a colleague: by mail where there is an address, else by a code on paper. An invitation to the same address before
/// is dead. The same form sent again is the same invitation; on paper it has a new code. Audited, without the person. An
/// admin's with an account: 403 for others.
pub(crate) fn invite(cx: &Change, invitee: &Invitee) -> Result<Result<Invited, Denial>, Failure> {
    cx.check_admin()?;
    let invited_by = cx.own()?.member_id;
    if !ROLES.iter().any(|(role, _)| *role == invitee.role) {
        return Err(Failure::not_allowed());
    }
    if let Some(known) = invitations::find_by_form(cx.tx, invitee.form_number)? {
        if !invitee.email.is_empty() {
            return Ok(Ok(Invited::Mailed));
        }
        invitations::delete(cx.tx, known)?;
    }
    if let Some(denial) = find_denial(cx, invitee)? {
        return Ok(Err(denial));
    }
    invitations::delete_to(cx.tx, invitee.email)?;
    let days = if invitee.email.is_empty() { PRINTED_DAYS } else { MAILED_DAYS };
    let (code, ends_at) = (recovery_code::from_bytes(random()), cx.now() + days * DAY_SECONDS);
    let code_hash = claims::hash(cx.site, &code).ok_or_else(Failure::broken)?;
    let new = invitations::NewInvitation {
        code_hash: &code_hash,
        form_number: invitee.form_number,
        name: invitee.name,
        email: invitee.email,
        role: invitee.role,
        language: invitee.language.tag(),
        invited_by,
        ends_at,
    };
    let invitation_id = invitations::insert(cx.tx, &new)?;
    let detail = Detail::none().number("invitation_id", invitation_id).word("role", invitee.role.name());
    cx.record("staff.invited", &Subject::Site, &detail)?;
    if invitee.email.is_empty() {
        return Ok(Ok(Invited::Printed(code, ends_at)));
    }
    post(cx, invitee, &code)?;
    Ok(Ok(Invited::Mailed))
}

fn find_denial(cx: &Change, invitee: &Invitee) -> Result<Option<Denial>, Failure> {
    if invitations::count(cx.tx)? >= OPEN_MAX {
        return Ok(Some(Denial::TooMany));
    }
    if invitee.email.is_empty() {
        return Ok(None);
    }
    if !cx.site.delivers(Channel::Email) {
        return Ok(Some(Denial::NoMail));
    }
    // Also an address that nobody has confirmed: it is the same person, or somebody who must be asked.
    if let Some(owner) = account_claims::list_with_email(cx.tx, invitee.email, 1)?.first() {
        return Ok(Some(Denial::HasAccount(owner.member_id)));
    }
    Ok((!message_quota::take_for_site_address(cx.site, cx.tx, invitee.email)?).then_some(Denial::TooManyMails))
}

fn post(cx: &Change, invitee: &Invitee, code: &str) -> Result<(), Failure> {
    let message = outbox::NewMessage {
        channel: Channel::Email,
        member_id: None,
        recipient: invitee.email,
        language: invitee.language.tag(),
        template: outbox::INVITATION,
        values: &json!({ "token": code, "days": MAILED_DAYS, "name": invitee.name }),
    };
    outbox::insert(cx.tx, &cx.site.keys, &message)?;
    Ok(())
}

/// Withdraws an invitation: its code opens nothing any more. Audited. An admin's: 403 for others.
pub(crate) fn withdraw(cx: &Change, invitation_id: i64) -> Result<Outcome, Failure> {
    cx.check_admin()?;
    if invitations::delete(cx.tx, invitation_id)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("staff.invitation_withdrawn", &Subject::Site, &Detail::none().number("invitation_id", invitation_id))?;
    Ok(Outcome::Done)
}

/// The invitation of a code as it was typed: one that is not over, and that an admin gave who is one still.
pub(crate) fn find(site: &Site, tx: &Read, typed: &str, now: i64) -> Result<Option<Invitation>, Failure> {
    let Some(hash) = claims::hash(site, typed) else { return Ok(None) };
    Ok(invitations::find_by_code(tx, &hash, now)?)
}

/// Makes the account of an invitation, with a username and a password, whose hash is made before the transaction. A code
/// that was mailed confirms the address. The code is used up. Audited. `false`: the code is not good, or somebody has
/// confirmed the address meanwhile. 409 where somebody has the username.
pub(crate) fn accept(
    site: &Site,
    call: &Call,
    typed: &str,
    username: &str,
    password_hash: &str,
) -> Result<bool, Failure> {
    let nobody_yet = RankedActor::outside(ActorId::Job("invitation"), call);
    change(site, nobody_yet, call.language(), |cx| {
        let Some(invitation) = find(site, cx.tx, typed, cx.now())? else { return Ok(false) };
        let is_mailed = !invitation.email.is_empty();
        if is_mailed && members::find_by_confirmed_email(cx.tx, &invitation.email)?.is_some() {
            return Ok(false);
        }
        let new = members::NewMember {
            username,
            screen_name: &invitation.name,
            real_name: &invitation.name,
            email: &invitation.email,
            tunnel_id: Some(site.tunnel_id),
            role: invitation.role.name(),
            password_hash: Some(password_hash),
            ..members::NewMember::default()
        };
        let member_id = members::insert(cx.tx, &new)?;
        members::set_language(cx.tx, member_id, &invitation.language)?;
        if is_mailed {
            members::confirm_email(cx.tx, member_id)?;
        }
        invitations::delete(cx.tx, invitation.invitation_id)?;
        let detail = Detail::none().number("invitation_id", invitation.invitation_id);
        let detail = detail.number("invited_by", invitation.invited_by).word("role", invitation.role.name());
        let actor = call.actor(member_id);
        audit::insert(cx.tx, &actor, "staff.joined", &Subject::Member(member_id), &detail)?;
        Ok(true)
    })
}
