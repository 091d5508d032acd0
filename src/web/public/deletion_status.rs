//! The status of a deletion that a person requested through a social network (see [`crate::api::callbacks::deletion`]), for
//! anyone with its confirmation code.

use crate::domain::when;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::assets;
use crate::http::body::ParsedBody;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::Line;
use crate::http::reply::{self, Reply};
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::deletions::{self, Outcome};
use crate::web::{self, Frame};
use askama::Template;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, StatusCode, header};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

const CODE_CHARS_MAX: usize = 255;

/// The `Content-Security-Policy` of the page: only the inline style sheet, by its SHA-256. The style is inline because a
/// proxy may forward this path and no other, so a style sheet at another path would not load.
static POLICY: LazyLock<HeaderValue> = LazyLock::new(|| {
    let digest = STANDARD.encode(Sha256::digest(assets::PAGE));
    let policy = format!(
        "default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    );
    HeaderValue::from_str(&policy).expect("base64 is a header value")
});

#[derive(Template)]
#[template(path = "public/deletion.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    style: &'static str,
    /// The CSS class of the message: `good` or `bad`.
    tone: &'static str,
    message: String,
    removed: Vec<String>,
    kept: Vec<String>,
    number: String,
}

crate::answer! {
    struct Deletion {
        status: True,
        confirmation_code: String = "9f86d081884c7d659a2feaa0c55ad015",
        /// A deletion is carried out with its request.
        state: &'static str { "const": "done" } = "done",
        /// The account went; the account stays; there was nothing.
        outcome: &'static str ["erased", "unlinked", "nothing"] = "unlinked",
        message: String = "The link is removed.",
        /// The deleted data, in words.
        removed: Vec<String> = ["the link to the network's account"],
        /// The data that is kept, and why.
        kept: Vec<String> = ["the account"],
        /// The moment of the request.
        asked_at: Moment = 1780000000,
        /// When it was done.
        done_at: Moment = 1780000000,
    }
}

crate::body! {
    /// The confirmation code, under any of three names.
    struct StatusQuery {
        code: Option<Line<CODE_CHARS_MAX>>,
        id: Option<Line<CODE_CHARS_MAX>>,
        confirmation_code: Option<Line<CODE_CHARS_MAX>>,
    }
}

crate::operation! {
    /// The state of a deletion
    ///
    /// JSON, or a page for a browser (`accept: text/html`).
    SHOW = "socialDataDeletionStatus"
        .takes(&["AcceptLanguage"])
        .answers::<Deletion>("It is known here.")
        .refuses_as(&[
            ("code_missing", "The request has no code."),
            ("NotFound", "No deletion has this code."),
            ("Invalid", "The code is malformed."),
        ])
        .or_page()
        .also(|| json!({
            "parameters": [
                {
                    "name": "id", "in": "query", "required": true,
                    "description": "The confirmation code, by any of its three names.",
                    "schema": { "type": "string", "pattern": "^[0-9a-f]{32}$" },
                    "example": "9f86d081884c7d659a2feaa0c55ad015",
                },
                {
                    "name": "code", "in": "query", "description": "The confirmation code, by any of its names.",
                    "schema": { "type": "string", "pattern": "^([0-9a-f]{32})?$" },
                    "example": "9f86d081884c7d659a2feaa0c55ad015",
                },
                {
                    "name": "confirmation_code", "in": "query",
                    "description": "The confirmation code, by any of its names.",
                    "schema": { "type": "string", "pattern": "^([0-9a-f]{32})?$" },
                    "example": "9f86d081884c7d659a2feaa0c55ad015",
                },
            ],
            "responses": {
                "422": {
                    "content": {
                        "application/json": { "example": { "errors": [{ "field": "id", "message": "This is needed." }] } },
                    },
                },
            },
        }))
}

pub(crate) fn show(site: &Site, call: &Call) -> Answer {
    let code = given_code(call)?;
    let find = |code: &str| site.store.read(|tx| Ok(deletions::find(tx, code)?));
    let found = code.as_deref().map(find).transpose()?.flatten();
    let reply = match (found, call.prefers_page()) {
        (Some(deletion), true) => done_page(site, call, &deletion)?,
        (Some(deletion), false) => reply::ok(&status_reply(call.language(), &deletion)),
        (None, true) if code.is_none() => empty_page(site, call, StatusCode::BAD_REQUEST, "code_missing")?,
        (None, true) => empty_page(site, call, StatusCode::NOT_FOUND, "deletion.unknown")?,
        (None, false) if code.is_none() => return Err(Failure::code_missing()),
        (None, false) => return Err(Failure::not_found()),
    };
    Ok(reply.with_header(header::VARY, HeaderValue::from_static("accept, accept-language")))
}

/// The code in the query, in lower case.
fn given_code(call: &Call) -> Result<Option<String>, Failure> {
    let StatusQuery { code, id, confirmation_code } = ParsedBody::read(call.query()).finish()?;
    Ok(code.or(id).or(confirmation_code).map(|code| code.to_ascii_lowercase()))
}

/// The answer about a deletion.
fn status_reply(language: Language, deletion: &deletions::Deletion) -> Deletion {
    let (message, removed, kept) = text_keys(deletion.outcome);
    let say = |key: &&'static str| language.say(&Text::new(key));
    Deletion {
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

/// The keys of the texts about an outcome: the message, what was removed, and what is kept.
fn text_keys(outcome: Outcome) -> (&'static str, &'static [&'static str], &'static [&'static str]) {
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

fn done_page(site: &Site, call: &Call, deletion: &deletions::Deletion) -> Result<Reply, Failure> {
    let status = status_reply(call.language(), deletion);
    let date = when::day(call.language(), &site.time_zone()?, deletion.done_at);
    let number = Text::new("deletion.number").with("code", &deletion.code).with("date", date);
    let page = Page {
        frame: Frame::outside(site, call)?,
        style: assets::PAGE,
        tone: "good",
        message: status.message,
        removed: status.removed,
        kept: status.kept,
        number: call.language().say(&number),
    };
    Ok(page_reply(StatusCode::OK, call, &page))
}

/// The page without a deletion: only the message, as an error. `message`: the key of its text.
fn empty_page(site: &Site, call: &Call, status: StatusCode, message: &'static str) -> Result<Reply, Failure> {
    let page = Page {
        frame: Frame::outside(site, call)?,
        style: assets::PAGE,
        tone: "bad",
        message: call.say(message),
        removed: Vec::new(),
        kept: Vec::new(),
        number: String::new(),
    };
    Ok(page_reply(status, call, &page))
}

fn page_reply(status: StatusCode, call: &Call, page: &Page) -> Reply {
    let reply = web::show_public(status, call.language(), page);
    reply.with_header(header::CONTENT_SECURITY_POLICY, POLICY.clone())
}
