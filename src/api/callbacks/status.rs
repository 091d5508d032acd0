//! What became of a deletion, for whoever has its code.

use crate::call::Call;
use crate::certificate::date_in_words;
use crate::failure::Failure;
use crate::fields;
use crate::language::{Language, Text};
use crate::markup::escape;
use crate::reply::{self, Reply};
use crate::routes::Answer;
use crate::site::Site;
use crate::store::deletions::{self, Deletion, Outcome};
use crate::store::tunnels;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const PAGE: &str = include_str!("../../../assets/templates/deletion.html");
const STYLE: &str = include_str!("../../../assets/style/deletion.css");
/// Any of these names the code.
const NAMES: [&str; 3] = ["code", "id", "confirmation_code"];
const CODE_CHARS_MAX: usize = 255;

/// The page carries its style in itself, because the way in from outside leads to this path alone; nothing else may be
/// in force there.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let digest = STANDARD.encode(Sha256::digest(STYLE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("base64 is a header value")
});

#[derive(Serialize)]
struct Status {
    status: bool,
    confirmation_code: String,
    /// `done`: a deletion is carried out when it is asked for.
    state: &'static str,
    /// `erased` (the account), `unlinked` (the account stays) or `nothing` (there was nothing).
    outcome: &'static str,
    message: String,
    /// In words: what went, and what stays and why.
    removed: Vec<String>,
    kept: Vec<String>,
    asked_at: i64,
    done_at: i64,
}

/// `GET /social-data-deletion-status`: what became of a deletion, by its code; JSON, or a page for a browser.
pub fn show(site: &Site, call: &Call) -> Answer {
    let code = given_code(call)?;
    let (found, home) = site.store.read(|tx| {
        let found = code.as_deref().map(|code| deletions::find(tx, code)).transpose()?.flatten();
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        Ok((found, home.name))
    })?;
    let language = call.language();
    let reply = match (found, call.prefers_page()) {
        (Some(deletion), true) => done_page(language, &home, &deletion),
        (Some(deletion), false) => reply::ok(&tell(language, &deletion)),
        (None, true) if code.is_none() => empty_page(language, &home, StatusCode::BAD_REQUEST, "code_missing"),
        (None, true) => empty_page(language, &home, StatusCode::NOT_FOUND, "deletion.unknown"),
        (None, false) if code.is_none() => return Err(Failure::code_missing()),
        (None, false) => return Err(Failure::not_found()),
    };
    Ok(reply.with_header(header::VARY, HeaderValue::from_static("accept, accept-language")))
}

fn given_code(call: &Call) -> Result<Option<String>, Failure> {
    let mut query = call.query();
    let codes = NAMES.map(|name| query.optional(name, fields::line(CODE_CHARS_MAX)));
    let ok = query.finish()?;
    let code = codes.into_iter().find_map(|code| code.get(&ok));
    Ok(code.map(|code| code.to_ascii_lowercase()))
}

fn tell(language: Language, deletion: &Deletion) -> Status {
    let (message, removed, kept) = words(deletion.outcome);
    let say = |key: &&'static str| language.say(&Text::new(key));
    Status {
        status: true,
        confirmation_code: deletion.code.clone(),
        state: "done",
        outcome: deletion.outcome.name(),
        message: say(&message),
        removed: removed.iter().map(say).collect(),
        kept: kept.iter().map(say).collect(),
        asked_at: deletion.asked_at,
        done_at: deletion.done_at,
    }
}

/// The message, what went, and what stays.
fn words(outcome: Outcome) -> (&'static str, &'static [&'static str], &'static [&'static str]) {
    match outcome {
        Outcome::Nothing => ("deletion.nothing", &[], &[]),
        Outcome::Unlinked => (
            "deletion.unlinked",
            &["deletion.removed.link", "deletion.removed.name", "deletion.removed.sessions"],
            &["deletion.kept.account"],
        ),
        Outcome::Erased => (
            "deletion.erased",
            &[
                "deletion.removed.link",
                "deletion.removed.profile",
                "deletion.removed.credentials",
                "deletion.removed.messages",
            ],
            &["deletion.kept.payments", "deletion.kept.logbook", "deletion.kept.bookings"],
        ),
    }
}

fn done_page(language: Language, home: &str, deletion: &Deletion) -> Reply {
    let status = tell(language, deletion);
    let list = |heading: &'static str, texts: &[String]| {
        let items: String = texts.iter().map(|text| format!("<li>{}</li>", escape(text))).collect();
        let heading = escape(&language.say(&Text::new(heading)));
        if texts.is_empty() { String::new() } else { format!("<h2>{heading}</h2><ul>{items}</ul>") }
    };
    let details = [list("deletion.removed", &status.removed), list("deletion.kept", &status.kept)].concat();
    let date = date_in_words(language, deletion.done_at);
    let number = language.say(&Text::new("deletion.number").with("code", &deletion.code).with("date", date));
    page(StatusCode::OK, language, home, &status.message, &details, &number)
}

fn empty_page(language: Language, home: &str, status: StatusCode, message: &'static str) -> Reply {
    page(status, language, home, &language.say(&Text::new(message)), "", "")
}

/// `details` is markup; all else is text.
fn page(status: StatusCode, language: Language, home: &str, message: &str, details: &str, number: &str) -> Reply {
    let title = language.say(&Text::new("deletion.title"));
    let places = [
        ("{language}", language.tag().to_owned()),
        ("{style}", STYLE.to_owned()),
        ("{state}", if status == StatusCode::OK { "done" } else { "unknown" }.to_owned()),
        ("{title}", escape(&title)),
        ("{message}", escape(message)),
        ("{number}", escape(number)),
        ("{details}", details.to_owned()),
        // Last, because it is what people wrote: a brace of theirs is then no place any more.
        ("{site}", escape(home)),
    ];
    let html = places.iter().fold(PAGE.to_owned(), |html, (place, value)| html.replace(place, value));
    reply::page(status, language, html).with_header(header::CONTENT_SECURITY_POLICY, POLICY.clone())
}
