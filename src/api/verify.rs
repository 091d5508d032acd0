//! The page behind the QR code of a certificate: whoever scans it learns whether the paper still holds, and nothing of
//! the holder that is not on it.

use crate::call::Call;
use crate::certificate::date_in_words;
use crate::domain::certificate::{number, parse_code};
use crate::failure::Failure;
use crate::language::{Language, Text};
use crate::markup::escape;
use crate::reply::{self, Reply};
use crate::routes::Answer;
use crate::site::Site;
use crate::store::certificates::{self, Issued};
use crate::store::tunnels;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;

const PAGE: &str = include_str!("../../assets/templates/verify.html");
const STYLE: &str = include_str!("../../assets/style/verify.css");

#[derive(Serialize)]
struct Verdict {
    status: bool,
    /// Whether the holder has the level, since the date on the paper.
    valid: bool,
    message: String,
    /// Empty once the holder's account is erased.
    screen_name: String,
    level: String,
    entry_date: i64,
    site: String,
}

/// `GET /verify/{code}`: whether a certificate holds; JSON, or a page for a browser.
pub fn show(site: &Site, call: &Call) -> Answer {
    let found = site.store.read(|tx| {
        let issued = parse_code(call.param(0)).map(|code| certificates::find(tx, &code)).transpose()?.flatten();
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        Ok(issued.map(|issued| judge(site, call, issued, home.name)))
    })?;
    let reply = match (found, call.prefers_page()) {
        (Some(verdict), true) => valid_page(call, &verdict),
        (Some(verdict), false) => reply::ok(&verdict),
        (None, true) => unknown_page(call.language()),
        (None, false) => return Err(Failure::not_found()),
    };
    Ok(reply.with_header(header::VARY, HeaderValue::from_static("accept, accept-language")))
}

/// `GET /verify.css`: the style of that page.
pub fn style(_: &Site, _: &Call) -> Answer {
    Ok(reply::bytes("text/css; charset=utf-8", STYLE))
}

fn judge(site: &Site, call: &Call, issued: Issued, home: String) -> Verdict {
    let level = site.catalogue.find_level(issued.held.key());
    let unnamed = || format!("{} {}", issued.held.cat_group, issued.held.cat_id);
    Verdict {
        status: true,
        valid: issued.valid,
        message: call.say(if issued.valid { "verify.valid" } else { "verify.void" }),
        level: level.map_or_else(unnamed, |level| level.name.clone()),
        entry_date: issued.held.since,
        screen_name: issued.screen_name.unwrap_or_default(),
        site: home,
    }
}

fn valid_page(call: &Call, verdict: &Verdict) -> Reply {
    let language = call.language();
    let date = date_in_words(language, verdict.entry_date);
    let number = parse_code(call.param(0)).map(|code| number(&code)).unwrap_or_default();
    let facts = [
        ("verify.holder", &verdict.screen_name),
        ("verify.level", &verdict.level),
        ("verify.date", &date),
        ("verify.site", &verdict.site),
    ];
    let rows = facts
        .iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(key, value)| format!("<dt>{}</dt><dd>{}</dd>", escape(&language.say(&Text::new(key))), escape(value)));
    let state = if verdict.valid { "valid" } else { "void" };
    page(StatusCode::OK, language, state, &verdict.message, &rows.collect::<String>(), &number)
}

fn unknown_page(language: Language) -> Reply {
    page(StatusCode::NOT_FOUND, language, "void", &language.say(&Text::new("verify.unknown")), "", "")
}

/// `facts` is markup; all else is text.
fn page(status: StatusCode, language: Language, state: &str, message: &str, facts: &str, number: &str) -> Reply {
    let title = language.say(&Text::new("verify.title"));
    let places = [
        ("{language}", language.tag().to_owned()),
        ("{state}", state.to_owned()),
        ("{title}", escape(&title)),
        ("{message}", escape(message)),
        ("{number}", escape(number)),
        // Last, because it holds what people wrote: a brace of theirs is then no place any more.
        ("{facts}", facts.to_owned()),
    ];
    let html = places.iter().fold(PAGE.to_owned(), |html, (place, value)| html.replace(place, value));
    reply::page(status, language, html)
}
