//! The guest's progression, as a picture and as text.

use super::{Screen, show};
use crate::app::logbook::progression;
use crate::auth::Guest;
use crate::domain::catalogue::names;
use crate::domain::progression::State;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "kiosk/progression.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    steps: Vec<LevelView>,
}

/// A level that is held or open.
struct LevelView {
    name: &'static str,
    tone: &'static str,
    state: String,
    signed: String,
}

/// `GET /kiosk/progression`
pub(crate) fn show_page(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let mut shown = Vec::new();
    for step in site.store.read(|tx| progression::steps(site, tx, guest.member_id()))? {
        let (tone, key) = match step.state {
            State::Held(_) => ("good", "progression.held"),
            State::Lapsed(_) => ("bad", "progression.lapsed"),
            State::Open => ("plain", "progression.open"),
            State::Next | State::Later => continue,
        };
        let signed = Text::new("progression.signed").with("signed", step.signed()).with("required", step.required());
        let signed = if step.state == State::Open { call.language().say(&signed) } else { String::new() };
        shown.push(LevelView {
            name: names::say(call.language(), &step.level.name),
            tone,
            state: call.say(key),
            signed,
        });
    }
    let page = Page { screen: Screen::of(site, call, guest)?, steps: shown };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// `GET /kiosk/progression.svg`: the map, vertical with `tall`; not cached.
pub(crate) fn picture(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let tall = call.query().has("tall");
    let map = progression::map_svg(site, guest.member_id(), call.language(), tall)?;
    let picture = reply::picture("image/svg+xml", map);
    Ok(picture.unstored())
}
