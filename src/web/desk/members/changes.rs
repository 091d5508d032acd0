//! Changes of a member's account by the desk. Staff may change accounts of members, and only admins those of staff. Nobody
//! changes their own account here.

use super::PART;
use super::card::{self as card_page, BanForm, CardForm, NoteForm, Refused};
use crate::app::accounts::Ban;
use crate::app::card::NOTE_CHARS_MAX;
use crate::app::{self, Change, accounts, card, cards, credentials};
use crate::auth::Clerk;
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members;
use crate::web::{Form, Frame, field_error_text, path_id, read_form, show};
use askama::Template;
use http::StatusCode;

/// Longest text that a card reader types.
const CARD_CHARS_MAX: usize = 64;
/// Longest reason of a ban.
const REASON_CHARS_MAX: usize = 300;

#[derive(Template)]
#[template(path = "desk/member_pin.html", config = "assets/templates/askama.toml")]
struct PinPage {
    frame: Frame,
    member_id: MemberId,
    name: String,
    /// Six digits.
    pin: String,
}

/// `POST /desk/members/{member_id}/pin`: replaces the booking PIN and shows the new one once.
pub(crate) fn reset_pin(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let frame = Frame::of(site, call, clerk, PART)?;
    let number = read_form(call, Form::number)?;
    let renewed = change(site, call, clerk, |cx, member_id| {
        let subject = cx.served(member_id)?;
        if !cx.is_first_sending(number)? {
            return Ok(None);
        }
        let pin = credentials::renew_pin(cx, &subject)?;
        let profile = members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
        let name = profile.display_name().to_owned();
        Ok(Some((member_id, pin, name)))
    })?;
    let Some((member_id, pin, name)) = renewed else { return back(call, "before") };
    Ok(show(StatusCode::OK, call.language(), &PinPage { frame, member_id, name, pin }))
}

/// `POST /desk/members/{member_id}/sessions`: ends all sessions of the member.
pub(crate) fn end_sessions(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    change(site, call, clerk, |cx, member_id| credentials::end_sessions(cx, &cx.served(member_id)?, None))?;
    back(call, "sessions")
}

/// `POST /desk/members/{member_id}/second-factor`: turns the second factor off and notifies the member.
pub(crate) fn reset_second_factor(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    change(site, call, clerk, |cx, member_id| {
        credentials::turn_off_second_factor(cx, &cx.served_with_access(member_id)?, None)
    })?;
    back(call, "factor")
}

/// `POST /desk/members/{member_id}/email`: confirms the e-mail address on behalf of the member.
pub(crate) fn confirm_email(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    _ = change(site, call, clerk, accounts::confirm_email)?;
    back(call, "email")
}

/// `POST /desk/members/{member_id}/ban`: bans the member, with a reason and, if given, until a day; ends all sessions.
pub(crate) fn ban(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (reason, typed) = read_form(call, |form| (form.line("reason", REASON_CHARS_MAX), form.line("until", 40)))?;
    let zone = site.time_zone()?;
    let past = || Failure::field("until", Text::new("card.ban_past"));
    let until = match typed.is_empty() {
        true => Ok(None),
        false => zone.start_of_date(&typed).map(|day| Some(zone.end_of_day(day, 0))).ok_or_else(past),
    };
    let banned = until.and_then(|until| {
        let ban = Ban { reason: reason.clone(), until };
        change(site, call, clerk, |cx, member_id| accounts::ban_with(cx, member_id, &ban))
    });
    match banned {
        Ok(_) => back(call, "banned"),
        Err(failure) => {
            let problem = Some(field_error_text(failure, call.language())?);
            let refused = Refused::Ban(BanForm { reason, until: typed, problem });
            card_page::page(site, call, clerk, path_id(call, 0)?, Some(refused))
        }
    }
}

/// `POST /desk/members/{member_id}/note`: replaces the staff note; an empty text removes it.
pub(crate) fn set_note(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let (text, seen) = read_form(call, |form| (form.lines("text", NOTE_CHARS_MAX), form.seen()))?;
    match change(site, call, clerk, |cx, member_id| card::set_note(cx, member_id, &text, &seen)) {
        Ok(_) => Ok(reply::see_other(&format!("{PART}/{}?done=note", call.param(0)))),
        Err(failure) => {
            let problem = field_error_text(failure, call.language())?;
            card_page::page(
                site,
                call,
                clerk,
                path_id(call, 0)?,
                Some(Refused::Note(NoteForm { text, problem: Some(problem) })),
            )
        }
    }
}

/// `POST /desk/members/{member_id}/card`: assigns a card or wristband to the member.
pub(crate) fn tie_card(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let typed = read_card(call)?;
    match change(site, call, clerk, |cx, member_id| cards::tie(cx, member_id, &typed)) {
        Ok(_) => Ok(reply::see_other(&format!("{PART}/{}?done=card", call.param(0)))),
        Err(failure) => {
            let problem = field_error_text(failure, call.language())?;
            let refused = Refused::Card(CardForm { number: typed, problem: Some(problem) });
            card_page::page(site, call, clerk, path_id(call, 0)?, Some(refused))
        }
    }
}

/// `POST /desk/members/{member_id}/card/untie`: removes a card or wristband from the member.
pub(crate) fn untie_card(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let number = read_card(call)?;
    _ = change(site, call, clerk, |cx, member_id| cards::untie(cx, member_id, &number))?;
    Ok(reply::see_other(&format!("{PART}/{}?done=no-card", call.param(0))))
}

fn read_card(call: &Call) -> Result<String, Failure> {
    read_form(call, |form| form.required("card", fields::line(CARD_CHARS_MAX)))
}

/// `POST /desk/members/{member_id}/ban/lift`: admins only.
pub(crate) fn lift_ban(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    _ = change(site, call, clerk, accounts::lift_ban)?;
    back(call, "lifted")
}

/// Runs an effect on the member that the path names.
fn change<T>(
    site: &Site,
    call: &Call,
    clerk: &Clerk,
    effect: impl FnOnce(&Change, MemberId) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let member_id = path_id(call, 0)?;
    app::change(site, clerk, call.language(), |cx| effect(cx, member_id))
}

fn back(call: &Call, done: &str) -> Answer {
    Ok(reply::see_other(&format!("/desk/members/{}?tab=security&done={done}", call.param(0))))
}
