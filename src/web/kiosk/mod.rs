//! The kiosk: a screen on site at which members help themselves, with gloves on and other people behind them. Nothing
//! of a person stays on it: addresses and titles name nobody, pages are kept by nobody, and without a touch it begins anew.

pub(crate) mod away;
pub(crate) mod book;
pub(crate) mod brief;
pub(crate) mod certificates;
pub(crate) mod family;
pub(crate) mod home;
pub(crate) mod join;
pub(crate) mod kept;
pub(crate) mod photo;
pub(crate) mod progression;
pub(crate) mod sign_in;
pub(crate) mod sign_off;
pub(crate) mod start;
pub(crate) mod time;
pub(crate) mod waiver;
pub(crate) mod wards;

use super::{Frame, refused, show};
use crate::app::Actor;
use crate::auth::Guest;
use crate::auth::kiosk::IDLE_SECONDS;
use crate::domain::role::Role;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::tables::members;
use askama::Template;
use http::StatusCode;

/// The frame around every page of a kiosk.
pub(crate) struct Screen {
    frame: Frame,
    /// Who is signed in.
    pub guest: Option<String>,
}

impl Screen {
    /// Before anybody signed in.
    fn outside(site: &Site, call: &Call) -> Result<Screen, Failure> {
        Ok(Screen { frame: Frame::outside(site, call)?, guest: None })
    }

    /// With a member before it.
    fn of(site: &Site, call: &Call, guest: &Guest) -> Result<Screen, Failure> {
        let profile = site.store.read(|tx| Ok(members::find(tx, guest.member_id())?))?;
        let name = profile.map(|p| if p.screen_name.is_empty() { p.username } else { p.screen_name });
        Ok(Screen { guest: name, ..Screen::outside(site, call)? })
    }

    pub(crate) fn tag(&self) -> &'static str {
        self.frame.tag()
    }

    pub(crate) fn site_name(&self) -> &str {
        &self.frame.site_name
    }

    pub(crate) fn say(&self, key: &'static str) -> String {
        self.frame.say(key)
    }

    pub(crate) fn tell(&self, text: &Text) -> String {
        self.frame.tell(text)
    }

    pub(crate) fn asset(&self, name: &str) -> String {
        self.frame.asset(name)
    }

    /// Seconds without a touch until the screen is wiped.
    pub(crate) fn idle_seconds(&self) -> i64 {
        IDLE_SECONDS
    }

    /// The seconds to go stand in the text by themselves, so that a script can count them.
    pub(crate) fn ending(&self) -> [String; 2] {
        let text = self.frame.tell(&Text::new("kiosk.ends_in").with("seconds", '\u{0}'));
        let (before, after) = text.split_once('\u{0}').unwrap_or((&text, ""));
        [before, after].map(str::to_owned)
    }
}

#[derive(Template)]
#[template(path = "kiosk/refusal.html", config = "assets/templates/askama.toml")]
struct Refusal {
    screen: Screen,
    message: String,
    problems: Vec<String>,
}

/// A failure as a page of the kiosk.
pub(crate) fn refusal(failure: &Failure, frame: Frame, request_id: &str) -> Reply {
    let language = frame.language();
    let screen = Screen { frame, guest: None };
    let page =
        Refusal { screen, message: super::said(failure, language), problems: super::mistakes(failure, language) };
    refused(failure, language, request_id, &page)
}

/// The guest as the one who makes a change: as a member, whatever else the guest is here.
fn actor(call: &Call, guest: &Guest) -> Actor {
    Actor::account(guest.member_id(), Role::Member, &call.by(guest.member_id()))
}

/// The text of a failure that the guest caused; every other failure is returned.
pub(crate) fn words(failure: Failure, language: Language) -> Result<String, Failure> {
    if !failure.status().is_client_error() {
        return Err(failure);
    }
    let problems: Vec<String> = failure.problems().iter().map(|problem| language.say(&problem.text)).collect();
    Ok(if problems.is_empty() { language.say(failure.text()) } else { problems.join(" ") })
}

/// 200, or 422 for a page with a problem on it.
fn status(problem: Option<&String>) -> StatusCode {
    if problem.is_some() { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK }
}
