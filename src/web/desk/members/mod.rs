//! *Members*: the search, and the pages about one member.

pub(crate) mod card;
pub(crate) mod certificates;
pub(crate) mod changes;
pub(crate) mod edit;
pub(crate) mod guardians;
mod heading;
pub(crate) mod join;
pub(crate) mod list_import;
pub(crate) mod list_tabs;
pub(crate) mod lookup;
pub(crate) mod opening_balance;
pub(crate) mod personal_data;
pub(crate) mod record_skills;
pub(crate) mod search;
mod security;
mod status;
pub(crate) mod time;
mod time_form;
mod timeline;
pub(crate) mod waiver;
mod waiver_papers;
pub(crate) mod waiver_phone;
pub(crate) mod waiver_print;

use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::web::{Frame, query_text, show};
use askama::Template;
use http::StatusCode;
use search::Hit;

const PART: &str = "/desk/members";

#[derive(Template)]
#[template(path = "desk/members.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    typed: String,
    hits: Vec<Hit>,
    summary: String,
    is_admin: bool,
}

/// The list alone, for the script that searches while the clerk types.
#[derive(Template)]
#[template(path = "desk/members_search_results.html", config = "assets/templates/askama.toml")]
struct SearchResults {
    frame: Frame,
    hits: Vec<Hit>,
    summary: String,
}

/// `GET /desk/members`: the members who match `q`, the best match first; without `q` the newest members. With `part=found`
/// the reply is the list alone.
pub(crate) fn list(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let typed = query_text(call, "q");
    let found = search::find(site, &typed)?;
    let language = call.language();
    let summary = found_text(language, &typed, &found);
    if query_text(call, "part") == "found" {
        let frame = Frame::bare(language);
        return Ok(show(StatusCode::OK, language, &SearchResults { frame, hits: found.hits, summary }));
    }
    let frame = Frame::after_action(site, call, clerk, PART, &[("erased", "erase.done")])?;
    Ok(show(
        StatusCode::OK,
        language,
        &Page { frame, typed, hits: found.hits, summary, is_admin: clerk.rank().is_admin() },
    ))
}

/// How many members were found, in words.
pub(crate) fn found_text(language: Language, typed: &str, found: &search::Hits) -> String {
    let text = match (typed.is_empty(), found.hits.len()) {
        (true, _) => Text::new("desk.newest_members"),
        (false, 0) => Text::new("desk.found_nobody"),
        (false, _) if found.guessed => Text::new("desk.found_similar"),
        (false, count) if found.more => Text::new("desk.found_many").with_count("count", count),
        (false, count) => Text::new("desk.found").with_count("count", count),
    };
    language.say(&text)
}
