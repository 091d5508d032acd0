//! The clerk's own account: password, second factor, recovery codes, PIN, passkeys and sessions.

pub(crate) mod factor;
pub(crate) mod passkeys;
pub(crate) mod password;

use crate::app::{self, credentials};
use crate::auth::Clerk;
use crate::domain::ids::PasskeyId;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::second_factors::{self, Kind};
use crate::store::tables::{members, passkeys as keys, pins, sessions};
use crate::web::badge::Badge;
use crate::web::{Form, Frame, form_status, read_form, show};
use askama::Template;

pub(crate) const PATH: &str = "/desk/account";
/// Passkeys that are shown; no account has more.
const KEYS_SHOWN_MAX: i64 = 100;
const DONE: [(&str, &str); 6] = [
    ("before", "desk.done_before"),
    ("password", "account.done_password"),
    ("passkey", "account.done_passkey"),
    ("removed", "account.done_removed"),
    ("sessions", "account.done_sessions"),
    ("proven", "account.done_proven"),
];

#[derive(Template)]
#[template(path = "desk/account.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    username: String,
    /// Whether the clerk proved their identity recently, so that credentials may be changed.
    proven: bool,
    factor: Badge,
    has_factor: bool,
    codes_left: i64,
    has_pin: bool,
    passkeys: Vec<Key>,
    sessions: usize,
    /// A new PIN, shown once.
    pin: Option<String>,
    problem: Option<Problem>,
}

struct Key {
    passkey_id: PasskeyId,
    name: String,
    used: String,
}

/// A problem, and the part of the page that it belongs to.
pub(crate) struct Problem {
    pub(crate) part: &'static str,
    pub(crate) text: String,
    /// What was typed, where the form shows it again.
    pub(crate) typed: String,
}

impl Page {
    fn problem_in(&self, part: &str) -> Option<&str> {
        self.problem.as_ref().filter(|problem| problem.part == part).map(|problem| problem.text.as_str())
    }

    /// What was typed into the refused form of this part.
    fn typed_in(&self, part: &str) -> &str {
        self.problem.as_ref().filter(|problem| problem.part == part).map_or("", |problem| &problem.typed)
    }
}

/// `GET /desk/account`
pub(crate) fn show_page(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, None, None)
}

/// The page, with a problem or with a new PIN.
pub(crate) fn page(site: &Site, call: &Call, clerk: &Clerk, problem: Option<Problem>, pin: Option<String>) -> Answer {
    let frame = Frame::after_action(site, call, clerk, PATH, &DONE)?;
    let (zone, now, language) = (site.time_zone()?, site.now(), call.language());
    let page = site.store.read(|tx| {
        let profile = members::find(tx, clerk.id())?.ok_or_else(Failure::not_signed_in)?;
        let kind = second_factors::find(tx, clerk.id(), now)?.kind;
        let used = |at: Option<Moment>| match at {
            Some(at) => when::moment(language, &zone, at),
            None => frame.say("desk.never_used"),
        };
        let list = keys::list(tx, clerk.id(), KEYS_SHOWN_MAX, 0)?.into_iter();
        Ok(Page {
            username: profile.username,
            proven: clerk.check_proven(now).is_ok(),
            factor: match kind {
                Some(Kind::Totp) => Badge::new("good", frame.say("desk.factor_app")),
                Some(Kind::Passcode) => Badge::new("good", frame.say("desk.factor_passcode")),
                None => Badge::new("plain", frame.say("desk.factor_none")),
            },
            has_factor: kind.is_some(),
            codes_left: second_factors::count_recovery_codes(tx, clerk.id())?,
            has_pin: pins::find(tx, clerk.id())?.is_some(),
            passkeys: list
                .map(|key| Key { passkey_id: key.passkey_id, used: used(key.used_at), name: key.name })
                .collect(),
            sessions: sessions::list_of_member(tx, clerk.id(), now)?.len().saturating_sub(1),
            pin,
            problem,
            frame,
        })
    })?;
    let status = form_status(page.problem.is_some());
    Ok(show(status, language, &page))
}

/// The page with a problem; 422.
pub(crate) fn refuse(site: &Site, call: &Call, clerk: &Clerk, part: &'static str, text: String) -> Answer {
    page(site, call, clerk, Some(Problem { part, text, typed: String::new() }), None)
}

/// `POST /desk/account/pin`: makes a new PIN, for the change of clerk and for bookings, and shows it once.
pub(crate) fn renew_pin(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let number = read_form(call, Form::number)?;
    let pin = app::change(site, clerk, call.language(), |cx| match cx.is_first_sending(number)? {
        true => credentials::renew_pin(cx, &cx.own()?).map(Some),
        false => Ok(None),
    })?;
    match pin {
        Some(pin) => page(site, call, clerk, None, Some(pin)),
        None => Ok(reply::see_other(&format!("{PATH}?done=before"))),
    }
}

/// `POST /desk/account/sessions`: ends all other sessions.
pub(crate) fn end_sessions(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    app::change(site, clerk, call.language(), |cx| credentials::end_sessions(cx, &cx.own()?, Some(clerk.session())))?;
    Ok(reply::see_other(&format!("{PATH}?done=sessions")))
}
