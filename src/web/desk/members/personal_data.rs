//! A member's personal data: handing it out, and erasing the person. For admins.

use super::PART;
use super::heading::{self, Heading};
use crate::app::{self, accounts, notice, own_data};
use crate::auth::{Clerk, count_document};
use crate::domain::audit::{Detail, Subject};
use crate::domain::role::Role;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::ops::erasure;
use crate::site::Site;
use crate::store::queries::erasure as erasures;
use crate::store::tables::members;
use crate::web::{Frame, form_status, path_id, read_form, show as shown};
use askama::Template;

#[derive(Template)]
#[template(path = "desk/personal_data.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    heading: Heading,
    username: String,
    /// Whether the account has a role, which is taken away before the person is erased.
    is_staff: bool,
    problem: Option<String>,
}

/// `GET /desk/members/{member_id}/data`
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None)
}

fn page(site: &Site, call: &Call, clerk: &Clerk, problem: Option<String>) -> Answer {
    let member_id = path_id(call, 0)?;
    let frame = Frame::of(site, call, clerk, PART)?;
    let (heading, account) = site.store.read(|tx| {
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?;
        Ok((heading::read(site, tx, call, member_id)?, account))
    })?;
    let page = Page { is_staff: account.role != Role::Member, username: account.username, heading, problem, frame };
    Ok(shown(form_status(page.problem.is_some()), call.language(), &page))
}

/// `POST /desk/members/{member_id}/data/export`: everything that the site holds about the member, as JSON. Audited.
pub(crate) fn export(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    count_document(site, clerk.id(), clerk.role())?;
    app::change(site, clerk, call.language(), |cx| {
        cx.check_admin()?;
        cx.served(member_id)?;
        cx.record("member.exported", &Subject::Member(member_id), &Detail::none())
    })?;
    let whole = own_data::of_member(site, member_id)?;
    let text = serde_json::to_string_pretty(&whole).map_err(|e| Failure::broken().because(e))? + "\n";
    Ok(reply::file("application/json", "attachment", &format!("member-{member_id}.json"), text))
}

/// `POST /desk/members/{member_id}/data/erase`: erases the person. A job takes the bytes out of the file within minutes.
pub(crate) fn erase(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let typed = read_form(call, |form| form.line("username", 254))?;
    let (account, erased) = site.store.read(|tx| {
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?;
        Ok((account, erasures::find(tx, member_id)?))
    })?;
    if erased.is_none() {
        if account.role != Role::Member {
            return page(site, call, clerk, Some(call.say("erase.staff")));
        }
        if typed != account.username {
            return page(site, call, clerk, Some(call.say("erase.other_name")));
        }
        let leaving = erasure::find_mentions(site, member_id, &mut |_, _, _| ())?;
        app::change(site, clerk, call.language(), |cx| {
            cx.check_admin()?;
            accounts::erase(cx, &leaving)?;
            notice::tell_admins(cx, "notice.person_erased")
        })?;
    }
    Ok(reply::see_other("/desk/members?done=erased"))
}
