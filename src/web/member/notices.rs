//! The member's notices, newest first.

use super::frame::Shell;
use super::show;
use crate::app::{self, notice};
use crate::auth::{Member, own};
use crate::domain::ids::NoticeId;
use crate::domain::when;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::notices::{self, Notice};
use crate::web::{pages_beside, read_form, skipped};
use askama::Template;
use http::StatusCode;
use serde_json::Value;

const LINES_MAX: i64 = 50;
const DONE: [(&str, &str); 1] = [("read", "me.done_read")];

#[derive(Template)]
#[template(path = "member/notices.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    rows: Vec<Row>,
    /// The number of the newest notice.
    last: NoticeId,
    newer: Option<i64>,
    older: Option<i64>,
}

struct Row {
    when: String,
    subject: String,
    text: String,
    is_new: bool,
}

/// `GET /me/notices`
pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let shell = Shell::after_action(site, call, member, own::HOME, &DONE)?;
    let (zone, language, skip) = (site.time_zone()?, call.language(), skipped(call));
    let mut found = site.store.read(|tx| Ok(notices::list(tx, member.id(), LINES_MAX + 1, skip)?))?;
    let (newer, older) = pages_beside(&mut found, LINES_MAX, skip);
    let last = found.first().map_or(NoticeId(0), |one| one.notification_id);
    let row = |one: Notice| Row {
        when: when::moment(language, &zone, one.created_at),
        subject: notice::subject(language, &one.subject),
        text: notice::text(language, &zone, &one.subject, &serde_json::from_str(&one.detail).unwrap_or(Value::Null)),
        is_new: one.read_at.is_none(),
    };
    let page = Page { shell, last, rows: found.into_iter().map(row).collect(), newer, older };
    Ok(show(StatusCode::OK, language, &page))
}

/// `POST /me/notices`: marks as read what the page showed and what is older.
pub(crate) fn mark_read(site: &Site, call: &Call, member: &Member) -> Answer {
    let last = read_form(call, |form| form.required("last", fields::id))?;
    app::change(site, member, call.language(), |cx| notice::mark_all_read(cx, last))?;
    Ok(reply::see_other("/me/notices?done=read"))
}
