//! Invitations of colleagues by an admin. With a mailed or printed code, the invited person chooses a username and a
//! password, and gets an account with the role of the invitation. A role above member requires a second factor at the
//! first sign-in.

use super::{Change, Outcome, RankedActor, change, claims, notice};
use crate::auth::limits::messages;
use crate::domain::audit::{ActorId, Detail, Subject};
use crate::domain::ids::{InvitationId, MemberId};
use crate::domain::recovery_code;
use crate::domain::role::Role;
use crate::domain::screen_name;
use crate::http::call::Call;
use crate::http::failure::{Failure, Stop};
use crate::i18n::language::Language;
use crate::keys::random;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::invitations::{self, Invitation};
use crate::store::tables::outbox::{self, Channel};
use crate::store::tables::{audit, languages, members};
use serde_json::json;

const DAY_SECONDS: i64 = 86_400;
/// Lifetime of a mailed code, in days: the code lies in a mailbox.
const MAILED_DAYS: i64 = 3;
/// Lifetime of a printed code, in days.
const PRINTED_DAYS: i64 = 7;
/// The greatest number of open invitations.
const OPEN_MAX: i64 = 50;
/// The roles that an invitation can name, in the order in which they are offered. An instructor has a member's account:
/// the right to sign comes from the logbook and the tunnel's list, not from an invitation.
pub(crate) const ROLES: [(Role, &str); 3] =
    [(Role::Desk, "invite.desk"), (Role::Admin, "invite.admin"), (Role::Member, "invite.instructor")];

/// The invited person.
#[derive(Debug)]
pub(crate) struct Invitee<'a> {
    pub(crate) name: &'a str,
    /// Empty: the code is printed.
    pub(crate) email: &'a str,
    pub(crate) role: Role,
    pub(crate) language: Language,
    /// Identifies the form, so that a form that is sent twice makes one invitation.
    pub(crate) form_number: i64,
}

/// Why an invitation is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    /// This member has confirmed the address: an admin changes the role of the account instead.
    HasAccount(MemberId),
    /// The site sends no mail to the outside: a clerk who reads the messages at the desk could take over the account.
    NoMail,
    /// The form was sent before with other content: that invitation stands.
    SentBefore,
    /// The greatest number of invitations is open.
    TooMany,
    /// The message quota of the address is used up.
    TooManyMails,
}

/// An invitation that was made.
#[derive(Debug)]
pub(crate) enum Invited {
    /// The code is on its way by mail.
    Mailed,
    /// The code, to be printed now, because only its hash is stored; and its end in Unix seconds.
    Printed(String, Moment),
}

/// Invites a colleague: by mail where there is an address, otherwise by a printed code. An earlier invitation to the
/// same address becomes invalid. The same form sent again yields the same invitation, on paper with a new code; with other content it is refused. Audited
/// without personal data. 403 unless the actor is an admin with an account.
pub(crate) fn invite(cx: &Change, invitee: &Invitee) -> Result<Invited, Stop<Denial>> {
    cx.check_admin()?;
    let invited_by = cx.own()?.member_id;
    if !ROLES.iter().any(|(role, _)| *role == invitee.role) {
        return Err(Failure::not_allowed().into());
    }
    if let Some(known) = invitations::find_by_form(cx.tx, invitee.form_number)? {
        if !invitations::is_for(cx.tx, known, invitee.name, invitee.email, invitee.role)? {
            return Err(Stop::Denied(Denial::SentBefore));
        }
        if !invitee.email.is_empty() {
            return Ok(Invited::Mailed);
        }
        invitations::delete(cx.tx, known)?;
    }
    if let Some(denial) = check_and_count_mail(cx, invitee)? {
        return Err(Stop::Denied(denial));
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
        invited_by: Some(invited_by),
        ends_at,
    };
    let invitation_id = invitations::insert(cx.tx, &new)?;
    let detail = Detail::none().number("invitation_id", invitation_id).word("role", invitee.role.name());
    cx.record("staff.invited", &Subject::Site, &detail)?;
    if invitee.role.is_above_member() {
        notice::tell_admins(cx, notice::STAFF_CHANGED)?;
    }
    if invitee.email.is_empty() {
        return Ok(Invited::Printed(code, ends_at));
    }
    post(cx, invitee, &code)?;
    Ok(Invited::Mailed)
}

/// Invites the first admin of a new site by a code that is good once, for a day, and as long as no admin can sign in: a part of
/// making the site, whose row in the audit log stands for both. Only the owner of the machine does.
pub(crate) fn invite_first_admin(cx: &Change) -> Result<String, Failure> {
    cx.check_admin()?;
    let (code, ends_at) = (recovery_code::from_bytes(random()), cx.now() + DAY_SECONDS);
    let code_hash = claims::hash(cx.site, &code).ok_or_else(Failure::broken)?;
    let new = invitations::NewInvitation {
        code_hash: &code_hash,
        form_number: i64::from_be_bytes(random()) & i64::MAX,
        name: "",
        email: "",
        role: Role::Admin,
        language: cx.language.tag(),
        invited_by: None,
        ends_at,
    };
    invitations::insert(cx.tx, &new)?;
    Ok(code)
}

/// Why the invitation is refused; `None`: it is not, and its mail is counted against the quota of the address.
fn check_and_count_mail(cx: &Change, invitee: &Invitee) -> Result<Option<Denial>, Failure> {
    if invitations::count(cx.tx)? >= OPEN_MAX {
        return Ok(Some(Denial::TooMany));
    }
    if invitee.email.is_empty() {
        return Ok(None);
    }
    if !cx.site.delivers(Channel::Email) {
        return Ok(Some(Denial::NoMail));
    }
    // An address that nobody confirmed is no hindrance: anybody may have signed up with it, and the mail goes to its owner.
    if let Some(owner) = members::find_by_confirmed_email(cx.tx, invitee.email)? {
        return Ok(Some(Denial::HasAccount(owner)));
    }
    Ok((!messages::take_for_invitation(cx.site, cx.tx, invitee.email)?).then_some(Denial::TooManyMails))
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

/// Withdraws an invitation: its code becomes invalid. Audited. 403 unless the actor is an admin.
pub(crate) fn withdraw(cx: &Change, invitation_id: InvitationId) -> Result<Outcome, Failure> {
    cx.check_admin()?;
    if invitations::delete(cx.tx, invitation_id)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("staff.invitation_withdrawn", &Subject::Site, &Detail::none().number("invitation_id", invitation_id))?;
    Ok(Outcome::Done)
}

/// The invitation of a typed code, if it has not expired and the inviting admin is still an admin.
pub(crate) fn find(site: &Site, tx: &Read, typed: &str, now: Moment) -> Result<Option<Invitation>, Failure> {
    let Some(hash) = claims::hash(site, typed) else { return Ok(None) };
    Ok(invitations::find_by_code(tx, &hash, now)?)
}

/// Whether a typed code is that of the first admin, and void because the site has an admin.
pub(crate) fn is_spare(site: &Site, tx: &Read, typed: &str, now: Moment) -> Result<bool, Failure> {
    let Some(hash) = claims::hash(site, typed) else { return Ok(false) };
    Ok(invitations::is_spare(tx, &hash, now)?)
}

/// Creates the account of an invitation, with a username and a password; the password hash is made before the
/// transaction. A mailed code confirms the address. The code is deleted. Audited. `false`: the code is invalid, or
/// another member has confirmed the address meanwhile. 409 where the username is taken.
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
            screen_name: screen_name::derived(&invitation.name),
            real_name: &invitation.name,
            email: &invitation.email,
            tunnel_id: Some(site.tunnel_id),
            role: invitation.role.name(),
            password_hash: Some(password_hash),
            ..members::NewMember::default()
        };
        let member_id = members::insert(cx.tx, &new)?;
        languages::follow(cx.tx, member_id, &invitation.language)?;
        if is_mailed {
            members::confirm_email(cx.tx, member_id)?;
        }
        invitations::delete(cx.tx, invitation.invitation_id)?;
        let detail = Detail::none().number("invitation_id", invitation.invitation_id);
        let detail = detail
            .number("invited_by", invitation.invited_by.unwrap_or_default().0)
            .word("role", invitation.role.name());
        let actor = call.actor(member_id);
        audit::insert(cx.tx, &actor, "staff.joined", &Subject::Member(member_id), &detail)?;
        Ok(true)
    })
}
