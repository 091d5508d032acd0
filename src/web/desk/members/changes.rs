//! The desk's changes of a member's account. Staff may change accounts of members; only an admin changes those of
//! staff, and nobody changes the own account here: its owner does so in the app.

use super::PART;
use crate::app::accounts::Ban;
use crate::app::card::NOTE_CHARS_MAX;
use crate::app::{self, Change, accounts, card, cards, credentials};
use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members;
use crate::web::{Frame, called, form, show};
use askama::Template;
use http::StatusCode;

/// What a reader types for one card.
const CARD_CHARS_MAX: usize = 64;
/// Of a ban: a line.
const REASON_CHARS_MAX: usize = 300;

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
pub(crate) fn reset_pin(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let frame = Frame::of(site, call, clerk, PART)?;
    let (member_id, pin, name) = change(site, call, clerk, |cx, member_id| {
        let pin = credentials::renew_pin(cx, &cx.served(member_id)?)?;
        let profile = members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
        let name = called(&profile.real_name, &profile.screen_name, &profile.username).to_owned();
        Ok((member_id, pin, name))
    })?;
    Ok(show(StatusCode::OK, call.language(), &PinPage { frame, member_id, name, pin }))
}

/// `POST /desk/members/{member_id}/sessions`: the member is signed out everywhere.
pub(crate) fn end_sessions(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    change(site, call, clerk, |cx, member_id| credentials::end_sessions(cx, &cx.served(member_id)?, None))?;
    back(call, "sessions")
}

/// `POST /desk/members/{member_id}/second-factor`: none is due any more, and the member is told.
pub(crate) fn reset_second_factor(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    change(site, call, clerk, |cx, member_id| credentials::turn_off_second_factor(cx, &cx.served(member_id)?, None))?;
    back(call, "factor")
}

/// `POST /desk/members/{member_id}/email`: the desk saw that the address is the member's.
pub(crate) fn confirm_email(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    _ = change(site, call, clerk, accounts::confirm_email)?;
    back(call, "email")
}

/// `POST /desk/members/{member_id}/ban`: the account is closed, and nothing of it stays signed in; with the reason, and with
/// the day on which it is open again, if there is one.
pub(crate) fn ban(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut body = form(call)?;
    let reason = body.optional("reason", fields::line(REASON_CHARS_MAX));
    let until = body.optional("until", fields::line(40));
    let ok = body.finish()?;
    let (reason, until) = (reason.get(&ok).unwrap_or_default(), until.get(&ok));
    let zone = site.time_zone()?;
    let past = || Failure::field("until", Text::new("card.ban_past"));
    let until = until.map(|date| zone.start_of(&date).ok_or_else(past)).transpose()?;
    let terms = Ban { reason, until };
    _ = change(site, call, clerk, |cx, member_id| accounts::ban_with(cx, member_id, &terms))?;
    back(call, "banned")
}

/// `POST /desk/members/{member_id}/note`: what colleagues should know; an empty one takes it away.
pub(crate) fn set_note(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut body = form(call)?;
    let text = body.optional("text", fields::lines(NOTE_CHARS_MAX));
    let ok = body.finish()?;
    let text = text.get(&ok).unwrap_or_default();
    _ = change(site, call, clerk, |cx, member_id| card::set_note(cx, member_id, &text))?;
    Ok(reply::see_other(&format!("{PART}/{}?done=note", call.param(0))))
}

/// `POST /desk/members/{member_id}/card`: what a reader typed is the member's card.
pub(crate) fn tie_card(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let typed = read_card(call)?;
    _ = change(site, call, clerk, |cx, member_id| cards::tie(cx, member_id, &typed))?;
    Ok(reply::see_other(&format!("{PART}/{}?done=card", call.param(0))))
}

/// `POST /desk/members/{member_id}/card/untie`: lost, or somebody else's from now on.
pub(crate) fn untie_card(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let number = read_card(call)?;
    _ = change(site, call, clerk, |cx, member_id| cards::untie(cx, member_id, &number))?;
    Ok(reply::see_other(&format!("{PART}/{}?done=no-card", call.param(0))))
}

fn read_card(call: &Call) -> Result<String, Failure> {
    let mut body = form(call)?;
    let typed = body.required("card", fields::line(CARD_CHARS_MAX));
    let ok = body.finish()?;
    Ok(typed.get(&ok))
}

/// `POST /desk/members/{member_id}/ban/lift`: by an admin.
pub(crate) fn lift_ban(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    _ = change(site, call, clerk, accounts::lift_ban)?;
    back(call, "lifted")
}

/// Runs an effect on the account that the path names.
fn change<T>(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    effect: impl FnOnce(&Change, i64) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    app::change(site, clerk, call.language(), |cx| effect(cx, member_id))
}

fn back(call: &Call, deed: &str) -> Answer {
    Ok(reply::see_other(&format!("/desk/members/{}?tab=security&done={deed}", call.param(0))))
}
