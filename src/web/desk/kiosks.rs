//! Kiosks and boards at the desk: list, pair, revoke; and the entrance card.

use crate::app::{self, Outcome};
use crate::auth::{Clerk, kiosk};
use crate::domain::ids::KioskId;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::tables::kiosks::{self, Kind};
use crate::web::desk::address_code::AddressCode;
use crate::web::{Frame, done, form, path_id, show as shown, skipped};
use askama::Template;
use http::StatusCode;

/// Rows on one page.
const ROWS_MAX: i64 = 100;
const KIND_CHARS_MAX: usize = 10;
const DONE: [(&str, &str); 2] = [("revoked", "kiosk.done_revoked"), ("before", "desk.done_before")];

#[derive(Template)]
#[template(path = "desk/kiosks.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    rows: Vec<Row>,
    /// Number of kiosks after this page, and where the next page begins.
    more: i64,
    skip_to: i64,
    /// The pairing code that was just made.
    code: Option<Code>,
    /// Where the kiosk's browser is to go.
    address: Option<AddressCode>,
    name: String,
    problem: Option<String>,
}

struct Code {
    code: String,
    /// The text that says where to type it.
    typed_at: &'static str,
    until: String,
}

struct Row {
    kiosk_id: KioskId,
    is_board: bool,
    name: String,
    paired: String,
    used: String,
    revoked: Option<String>,
}

/// `GET /desk/kiosks`: one page of the kiosks, the latest first, after `skip` others.
pub(crate) fn show(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    page(site, call, clerk, |page| {
        page.frame.done = done(call, &DONE);
        StatusCode::OK
    })
}

fn page(site: &Site, call: &Call, clerk: &Clerk, adjust: impl FnOnce(&mut Page) -> StatusCode) -> Answer {
    let zone = site.time_zone()?;
    let day = |at| when::moment(call.language(), &zone, at);
    let row = |one: kiosks::Kiosk| Row {
        kiosk_id: one.kiosk_id,
        is_board: one.kind == Kind::Board,
        name: one.name,
        paired: day(one.paired_at),
        used: day(one.used_at),
        revoked: one.revoked_at.map(day),
    };
    let skip = skipped(call);
    let (rows, total) = site.store.read(|tx| Ok((kiosks::list(tx, ROWS_MAX, skip)?, kiosks::count(tx)?)))?;
    let rows: Vec<Row> = rows.into_iter().map(row).collect();
    let skip_to = skip.saturating_add(rows.len() as i64);
    let frame = Frame::of(site, call, clerk, "/desk/kiosks")?;
    let mut page = Page {
        frame,
        rows,
        more: total - skip_to,
        skip_to,
        code: None,
        address: None,
        name: String::new(),
        problem: None,
    };
    let status = adjust(&mut page);
    Ok(shown(status, call.language(), &page))
}

/// `POST /desk/kiosks`: makes a code that pairs one browser as a kiosk or a board of this name. Only this reply shows the code.
pub(crate) fn pair(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let mut form = form(call)?;
    let (name, number) = (form.line("name", app::kiosks::NAME_CHARS_MAX), form.number());
    let kind = if form.line("kind", KIND_CHARS_MAX) == Kind::Board.name() { Kind::Board } else { Kind::Kiosk };
    if name.is_empty() {
        return page(site, call, clerk, |page| {
            page.problem = Some(page.frame.say("kiosk.name_missing"));
            StatusCode::UNPROCESSABLE_ENTITY
        });
    }
    let code = app::change(site, clerk, call.language(), |cx| match cx.is_first_sending(number)? {
        true => app::kiosks::pair(cx, kind, &name).map(Some),
        false => Ok(None),
    })?;
    let Some(code) = code else { return Ok(reply::see_other("/desk/kiosks?done=before")) };
    let until = site.time_zone()?.clock(site.now() + kiosk::PAIRING_SECONDS);
    page(site, call, clerk, |page| {
        let (path, typed_at) = match kind {
            Kind::Board => ("/board", "board.desk_type"),
            Kind::Kiosk => ("/kiosk", "kiosk.desk_type"),
        };
        let until = page.frame.tell(&Text::new("kiosk.code_until").with("clock", until));
        page.code = Some(Code { code: spaced(&code), typed_at, until });
        page.address = AddressCode::of(site, path);
        page.name = name;
        StatusCode::OK
    })
}

#[derive(Template)]
#[template(path = "desk/entrance_card.html", config = "assets/templates/askama.toml")]
struct EntranceCard {
    frame: Frame,
    /// The page for signing up, where a phone reaches it.
    address: Option<AddressCode>,
    /// The invitation in every language: tag and text.
    words: [(&'static str, String); 5],
}

/// `GET /desk/kiosks/door`: a card to print for the entrance, with a QR code for signing up on a phone.
pub(crate) fn show_door(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let page = EntranceCard {
        frame: Frame::of(site, call, clerk, "/desk/kiosks")?,
        address: AddressCode::of(site, "/join"),
        words: Language::ALL.map(|one| (one.tag(), one.say(&Text::new("kiosk.door")))),
    };
    Ok(shown(StatusCode::OK, call.language(), &page))
}

/// `POST /desk/kiosks/{kiosk_id}/revoke`: revokes a kiosk and ends its guest's session.
pub(crate) fn revoke(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let kiosk_id = path_id(call, 0)?;
    match app::change(site, clerk, call.language(), |cx| app::kiosks::revoke(cx, kiosk_id))? {
        Outcome::Done => Ok(reply::see_other("/desk/kiosks?done=revoked")),
        Outcome::Unchanged => Err(Failure::not_found()),
    }
}

/// A code in two groups, for reading: `1234 5678`.
pub(crate) fn spaced(code: &str) -> String {
    let (first, second) = code.split_at(code.len() / 2);
    format!("{first} {second}")
}
