//! The page behind the QR code of a certificate: whether the certificate is valid, and nothing about the holder that is not
//! printed on it.

use crate::domain::catalogue::names;
use crate::domain::certificate::{number, parse_code};
use crate::domain::when;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::certificates::{self, Issued};
use crate::store::tables::tunnels;
use crate::web::{self, Frame};
use askama::Template;
use http::{HeaderValue, StatusCode, header};

#[derive(Template)]
#[template(path = "public/verify.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    /// CSS class.
    tone: &'static str,
    message: String,
    /// Key of the label, and value; empty values are left out.
    facts: Vec<(&'static str, String)>,
    number: String,
}

crate::answer! {
    struct Verdict {
        status: True,
        /// Whether the holder has the level, since the date on the paper.
        valid: bool = true,
        /// The same in words.
        message: String { "minLength": 1 } = "This certificate is valid.",
        /// The name on the paper; empty once the holder's account is erased.
        holder: String = "Jane Doe",
        level: String = "Static Level 3",
        /// The date on the paper.
        entry_date: Moment = 1780000000,
        /// The site that issued it.
        site: String = "Windwerk",
    }
}

crate::operation! {
    /// Whether a certificate holds
    ///
    /// Where the QR code of a certificate leads: JSON, or a page for a browser (`accept: text/html`).
    SHOW = "verifyCertificate"
        .takes(&["AcceptLanguage"])
        .answers::<Verdict>("It is known here; `valid` says whether it still holds.")
        .refuses_as(&[("NotFound", "No certificate has this number.")])
        .or_page()
}

pub(crate) fn show(site: &Site, call: &Call) -> Answer {
    let found = site.store.read(|tx| {
        let issued = parse_code(call.param(0)).map(|code| certificates::find(tx, &code)).transpose()?.flatten();
        let home = tunnels::find(tx, site.tunnel_id)?.ok_or_else(Failure::broken)?;
        Ok(issued.map(|issued| judge(site, call, issued, home.name)))
    })?;
    let reply = match (found, call.prefers_page()) {
        (Some(verdict), true) => known_page(site, call, verdict)?,
        (Some(verdict), false) => reply::ok(&verdict),
        (None, true) => unknown_page(site, call)?,
        (None, false) => return Err(Failure::not_found()),
    };
    Ok(reply.with_header(header::VARY, HeaderValue::from_static("accept, accept-language")))
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
        holder: issued.holder.unwrap_or_default(),
        site: home,
    }
}

fn known_page(site: &Site, call: &Call, verdict: Verdict) -> Result<Reply, Failure> {
    let facts = [
        ("verify.holder", verdict.holder),
        ("verify.level", level_in_words(call, verdict.level)),
        ("verify.date", when::day(call.language(), &site.time_zone()?, verdict.entry_date)),
        ("verify.site", verdict.site),
    ];
    let page = Page {
        frame: Frame::outside(site, call)?,
        tone: if verdict.valid { "good" } else { "bad" },
        message: verdict.message,
        facts: facts.into_iter().filter(|(_, value)| !value.is_empty()).collect(),
        number: parse_code(call.param(0)).map(|code| number(&code)).unwrap_or_default(),
    };
    Ok(web::show_public(StatusCode::OK, call.language(), &page))
}

/// The level as it is printed, and in brackets in the reader's language where that has another name for it.
fn level_in_words(call: &Call, printed: String) -> String {
    let said = names::say(call.language(), &printed);
    if said == printed { printed } else { format!("{printed} ({said})") }
}

fn unknown_page(site: &Site, call: &Call) -> Result<Reply, Failure> {
    let page = Page {
        frame: Frame::outside(site, call)?,
        tone: "bad",
        message: call.say("verify.unknown"),
        facts: Vec::new(),
        number: String::new(),
    };
    Ok(web::show_public(StatusCode::NOT_FOUND, call.language(), &page))
}
