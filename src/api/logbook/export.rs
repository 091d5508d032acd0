//! A member's logbook as CSV.

use super::readable_member;
use crate::app::import_export::cell::Separator;
use crate::app::import_export::own_logbook;
use crate::auth::Bearer;
use crate::http::Answer;
use crate::http::body::ParsedBody;
use crate::http::call::Call;
use crate::http::field_types::{Count, ShortLine};
use crate::http::reply;
use crate::site::Site;
use http::{HeaderValue, header};
use serde_json::json;

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
    let (table, rest) = own_logbook::csv(site, member_id, separator, offset)?;
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
