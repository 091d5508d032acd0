//! A member's logbook as CSV.

use super::readable_member;
use crate::app::import_export::cell::{self, Separator, exact_moment};
use crate::auth::Bearer;
use crate::domain::entry::{self, Kind};
use crate::domain::local_time::TimeZone;
use crate::http::Answer;
use crate::http::body::ParsedBody;
use crate::http::call::Call;
use crate::http::field_types::{Count, ShortLine};
use crate::http::reply;
use crate::site::Site;
use crate::store::queries::logbook::{self, Line};
use crate::store::queries::standing;
use crate::store::tables::tunnels;
use http::{HeaderValue, header};
use serde_json::json;
use std::ops::ControlFlow;

/// One answer ends after this many rows, or with the row that reaches [`BYTES_MAX`]; its `Link` then leads to the next page.
const ROWS_MAX: i64 = 5_000;
const BYTES_MAX: usize = 4 * 1024 * 1024;

const COLUMNS: [&str; 20] = [
    "entry_id",
    "kind",
    "status",
    "entry_date",
    "minutes",
    "tunnel",
    "tunnel_name",
    "cat_group",
    "cat_id",
    "cat_name",
    "skill",
    "skill_name",
    "instructor",
    "instructor_name",
    "approval_date",
    "comment",
    "comments_instructor",
    "comment_denial",
    "author_id",
    "booking_id",
];

crate::body! {
    pub(crate) struct ExportQuery {
        offset: Option<Count>,
        /// What stands between two cells: `comma`, `semicolon` or `tab`. By default a comma for readers of English, else a
        /// semicolon, as spreadsheets expect.
        separator: Option<ShortLine<9>>,
    }
}

crate::operation! {
    /// A member's logbook as CSV
    ///
    /// Every entry, newest first, with times in the site's time zone and their offset from UTC (RFC 3339). The table
    /// begins with a byte order mark, by which spreadsheets know UTF-8. No cell can be taken for a formula by a
    /// spreadsheet. One answer has at most 5,000 rows, or ends with the row that reaches four megabytes; `Link` then
    /// leads to the next page.
    CSV = "exportLogbook"
        .takes(&["Offset"])
        .prints("text/csv", "\u{feff}entry_id,kind,status\r\n", "The table.")
        .also(|| json!({
            "parameters": [
                {
                    "name": "separator", "in": "query",
                    "description": "What stands between two cells. By default a comma for readers of English, else a semicolon, as spreadsheets expect.",
                    "schema": { "type": "string", "enum": ["comma", "semicolon", "tab"] },
                    "example": "semicolon",
                },
            ],
        }))
}

pub(crate) fn csv(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 0)?;
    let ExportQuery { offset, separator: asked } = ParsedBody::read(call.query()).finish()?;
    let (offset, separator) = (offset.unwrap_or(0), Separator::of(call)?);
    let (table, rest) = site.store.read(|tx| {
        let (lapsed, zone) =
            (standing::lapsed(tx, member_id, site.now())?, tunnels::find_time_zone(tx, site.tunnel_id)?);
        let mut table = separator.headings(&COLUMNS);
        let (mut written, mut rest) = (0, None);
        logbook::each(tx, member_id, offset, |line| {
            if written == ROWS_MAX || table.len() >= BYTES_MAX {
                rest = Some(offset + written);
                return ControlFlow::Break(());
            }
            cell::write_row(&mut table, separator, &cells(site, &zone, &line, &lapsed));
            written += 1;
            ControlFlow::Continue(())
        })?;
        Ok((table, rest))
    })?;
    let reply = reply::file("text/csv; charset=utf-8", "attachment", &format!("logbook-{member_id}.csv"), table);
    Ok(match rest {
        None => reply,
        Some(next) => {
            // A good separator is one of a few words.
            let asked = asked.map(|name| format!("&separator={name}")).unwrap_or_default();
            let link = HeaderValue::from_str(&format!("<?offset={next}{asked}>; rel=\"next\""));
            reply.with_header(header::LINK, link.expect("a number and a word are a header value"))
        }
    })
}

fn cells(site: &Site, zone: &TimeZone, line: &Line, lapsed: &[&str]) -> [String; 20] {
    let known = if line.kind == Kind::Skill { site.catalogue.find_skill(&line.skill) } else { None };
    let safety = if line.kind == Kind::Safety { site.catalogue.find_safety(&line.skill) } else { None };
    let text = |text: &str| text.to_owned();
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    [
        line.entry_id.to_string(),
        text(line.kind.name()),
        text(entry::displayed_status(line.kind, &line.cat_group, line.status, lapsed)),
        exact_moment(zone, line.entry_date),
        if line.minutes > 0 { line.minutes.to_string() } else { String::new() },
        line.tunnel_id.to_string(),
        text(&line.tunnel_name),
        text(&line.cat_group),
        text(&line.cat_id),
        known.map(|(level, _)| level.name.clone()).unwrap_or_default(),
        text(&line.skill),
        known.map(|(_, skill)| &skill.name).or(safety.map(|(_, record)| &record.name)).cloned().unwrap_or_default(),
        number(line.instructor_id),
        text(&line.instructor_name),
        line.approval_date.map(|at| exact_moment(zone, at)).unwrap_or_default(),
        text(&line.comment),
        text(&line.comments_instructor),
        text(&line.comment_denial),
        line.author_id.to_string(),
        number(line.booking_id),
    ]
}
