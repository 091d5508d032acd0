//! Staff accounts and their roles. For admins.

use super::PART;
use super::invitation_view::{self, InvitationInput, Open};
use crate::app::invitations::ROLES;
use crate::app::{self, accounts};
use crate::auth::Clerk;
use crate::domain::ids::MemberId;
use crate::domain::role::Role;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::tables::members;
use crate::store::tables::outbox::Channel;
use crate::web::desk::members::lookup::{Lookup, find_member};
use crate::web::{Frame, form_status, read_form, show as shown};
use askama::Template;

const DONE: [(&str, &str); 3] =
    [("role", "site.done_role"), ("invited", "invite.done_invited"), ("withdrawn", "invite.done_withdrawn")];

#[derive(Template)]
#[template(path = "desk/staff.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    staff: Vec<User>,
    /// Name, word, and whether it is chosen.
    roles: Vec<(&'static str, String, bool)>,
    typed: String,
    problem: Option<String>,
    invitations: Vec<Open>,
    invite: InvitationInput,
    /// Roles that an invitation can offer.
    offered: Vec<(&'static str, String)>,
    languages: Vec<(&'static str, &'static str, bool)>,
    /// Whether the site sends mail.
    mails: bool,
}

struct User {
    member_id: MemberId,
    name: String,
    username: String,
    role: String,
    banned: bool,
    /// Whether the account is the clerk's own.
    own: bool,
}

pub(crate) fn role_key(role: Role) -> &'static str {
    ["site.role_member", "site.role_desk", "site.role_admin", "site.role_sync"][role as usize]
}

/// `GET /desk/site/users`
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, (String::new(), Role::Desk), None, InvitationInput::blank(call.language()))
}

/// The page with an invitation that was refused.
pub(super) fn page_with_invitation(site: &Site, call: &Call, clerk: &Clerk, invite: InvitationInput) -> Answer {
    page(site, call, clerk, (String::new(), Role::Desk), None, invite)
}

fn page(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    (typed, chosen): (String, Role),
    problem: Option<&'static str>,
    invite: InvitationInput,
) -> Answer {
    let frame = Frame::after_action(site, call, clerk, PART, &DONE)?;
    let zone = site.time_zone()?;
    let (found, open) =
        site.store.read(|tx| Ok((members::list_with_role(tx)?, invitation_view::list(site, tx, call, &zone)?)))?;
    let user = |one: members::Profile| User {
        member_id: one.member_id,
        own: one.member_id == clerk.id(),
        name: if one.real_name.is_empty() { one.username.clone() } else { one.real_name },
        username: one.username,
        role: call.say(role_key(one.role)),
        banned: one.banned_at.is_some(),
    };
    let is_refused = problem.is_some() || invite.problem.is_some();
    let status = form_status(is_refused);
    let page = Page {
        frame,
        staff: found.into_iter().map(user).collect(),
        roles: Role::ALL.iter().map(|role| (role.name(), call.say(role_key(*role)), *role == chosen)).collect(),
        typed,
        problem: problem.map(|key| call.say(key)),
        invitations: open,
        offered: ROLES.iter().map(|(role, key)| (role.name(), call.say(key))).collect(),
        languages: Language::ALL.map(|one| (one.tag(), one.name(), one.tag() == invite.language.tag())).into(),
        mails: site.delivers(Channel::Email),
        invite,
    };
    Ok(shown(status, call.language(), &page))
}

/// `POST /desk/site/users`: changes the role of an account and ends its sessions.
pub(crate) fn set_role(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (typed, role) = read_form(call, |form| (form.line("member", 254), form.line("role", 20)))?;
    let role = Role::parse(&role);
    let outcome = app::change(site, clerk, call.language(), |cx| {
        let (member_id, role) = match (find_member(cx.tx, &typed)?, role) {
            (Lookup::One(member_id), Some(role)) => (member_id, role),
            (Lookup::Two, _) => return Ok(Some("desk.member_two")),
            (Lookup::Nobody, _) | (_, None) => return Ok(Some("site.nobody")),
        };
        if member_id == clerk.id() {
            return Ok(Some("site.own_role"));
        }
        let account = members::find_account_by_id(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
        // Anybody may have signed up with the address of a colleague.
        if role.is_above_member() && typed.contains('@') && !account.email_confirmed {
            return Ok(Some("site.address_unconfirmed"));
        }
        accounts::set_role(cx, member_id, role).map(|()| None)
    })?;
    match outcome {
        None => Ok(reply::see_other(&format!("{PART}/users?done=role"))),
        Some(key) => {
            let sent = (typed, role.unwrap_or(Role::Desk));
            page(site, call, clerk, sent, Some(key), InvitationInput::blank(call.language()))
        }
    }
}
