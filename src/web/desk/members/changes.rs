//! What the desk changes about a member's account. Whoever works here may help members; only an admin touches the
//! accounts of those who work here, and nobody the own one, which its owner changes in the app.

use super::PART;
use crate::api::profile::pin;
use crate::auth::{Clerk, account, second_factor};
use crate::domain::audit::Detail;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members::{self, Account};
use crate::store::tables::sessions;
use crate::web::{Frame, called, record, show};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "desk/member_pin.html", config = "assets/templates/askama.toml")]
struct PinPage {
    frame: Frame,
    member_id: i64,
    name: String,
    /// Six digits.
    pin: String,
}

/// `POST /desk/members/{member_id}/pin`: a new booking PIN, shown this once; the old one is dead.
pub fn reset_pin(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let frame = Frame::of(site, call, clerk, PART)?;
    let (member_id, pin, name) = change(site, call, clerk, Some("member.pin_renewed"), |tx, account| {
        let profile = members::find(tx, account.member_id)?.ok_or_else(Failure::not_found)?;
        let name = called(&profile.real_name, &profile.screen_name, &profile.username).to_owned();
        Ok((account.member_id, pin::renew(site, tx, account.member_id)?, name))
    })?;
    Ok(show(StatusCode::OK, call.language(), &PinPage { frame, member_id, name, pin }))
}

/// `POST /desk/members/{member_id}/sessions`: the member is signed out everywhere.
pub fn end_sessions(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    change(site, call, clerk, Some("member.sessions_ended"), |tx, account| {
        Ok(sessions::delete_of_member(tx, account.member_id, None)?)
    })?;
    back(call, "sessions")
}

/// `POST /desk/members/{member_id}/second-factor`: none is due any more, and the member is told.
pub fn reset_second_factor(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    change(site, call, clerk, None, |tx, account| {
        let language = members::find_correspondence(tx, account.member_id)?;
        let language = language.and_then(|(_, tag)| Language::find(&tag)).unwrap_or_default();
        // Recorded there, as whoever turns one off.
        second_factor::turn_off(site, tx, account.member_id, None, language, clerk.by())
    })?;
    back(call, "factor")
}

/// `POST /desk/members/{member_id}/email`: the desk saw that the address is the member's.
pub fn confirm_email(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    change(site, call, clerk, Some("member.confirmed"), |tx, account| match account.email.is_empty() {
        true => Err(Failure::not_found()),
        false => members::confirm_email(tx, account.member_id),
    })?;
    back(call, "email")
}

/// `POST /desk/members/{member_id}/ban`: the account is closed, and nothing of it stays signed in.
pub fn ban(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    change(site, call, clerk, Some("member.banned"), |tx, account| account::ban(tx, account.member_id))?;
    back(call, "banned")
}

/// `POST /desk/members/{member_id}/ban/lift`: by an admin.
pub fn lift_ban(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    clerk.check_admin()?;
    change(site, call, clerk, Some("member.unbanned"), |tx, account| account::lift_ban(tx, account.member_id))?;
    back(call, "lifted")
}

/// Every change of an account by the desk goes through here, with who makes it and whose it is.
fn change<T>(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    deed: Option<&'static str>,
    effect: impl FnOnce(&Write, &Account) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    site.store.write(site.now(), |tx| {
        let account = members::find_account_by_id(tx, member_id)?.ok_or_else(Failure::not_found)?;
        clerk.check_may_serve(&account)?;
        let value = effect(tx, &account)?;
        if let Some(deed) = deed {
            record(tx, clerk, deed, member_id, &Detail::none())?;
        }
        Ok(value)
    })
}

fn back(call: &Call, deed: &str) -> Answer {
    Ok(reply::see_other(&format!("/desk/members/{}?tab=security&done={deed}", call.param(0))))
}
