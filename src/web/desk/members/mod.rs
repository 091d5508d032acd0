//! *Members*: who is looked for, found while it is being typed; and everything about one of them.

pub(crate) mod card;
pub(crate) mod changes;
pub(crate) mod edit;
pub(crate) mod lines;
pub(crate) mod look;
pub(crate) mod opening;
pub(crate) mod papers;
mod person;
pub(crate) mod record;
mod security;
mod standing;
pub(crate) mod time;
mod timeline;
pub(crate) mod waiver;
pub(crate) mod waiver_phone;
pub(crate) mod waiver_print;
mod years;

use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::web::{Frame, asked, show};
use askama::Template;
use http::StatusCode;
use look::Hit;

const PART: &str = "/desk/members";

#[derive(Template)]
#[template(path = "desk/members.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    typed: String,
    hits: Vec<Hit>,
    said: String,
}

/// The list alone, for the script that asks while somebody types.
#[derive(Template)]
#[template(path = "desk/members_found.html", config = "assets/templates/askama.toml")]
struct Found {
    frame: Frame,
    hits: Vec<Hit>,
    said: String,
}

/// `GET /desk/members`: whoever fits `q`, the nearest first; without it the newest members. `part=found` is the list alone.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let typed = asked(call, "q");
    let found = look::up(site, &typed)?;
    let language = call.language();
    let said = said(language, &typed, &found);
    if asked(call, "part") == "found" {
        let frame = Frame::bare(language);
        return Ok(show(StatusCode::OK, language, &Found { frame, hits: found.hits, said }));
    }
    let frame = Frame::of(site, call, clerk, PART)?;
    Ok(show(StatusCode::OK, language, &Page { frame, typed, hits: found.hits, said }))
}

/// How many were found, in words.
pub(crate) fn said(language: Language, typed: &str, found: &look::Hits) -> String {
    let said = match (typed.is_empty(), found.hits.len()) {
        (true, _) => Text::new("desk.newest_members"),
        (false, 0) => Text::new("desk.found_nobody"),
        (false, count) if found.more => Text::new("desk.found_many").with("count", count),
        (false, count) => Text::new("desk.found").with("count", count),
    };
    language.say(&said)
}
