//! The member's notices.

use crate::app::{self, notice};
use crate::auth::Member;
use crate::domain::local_time::TimeZone;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::tables::notices::{self, Notice};
use http::HeaderName;
use serde::Serialize;
use serde_json::Value;

/// The number of unread notices in all, not only in these rows.
const UNREAD_COUNT: HeaderName = HeaderName::from_static("x-unread-count");

#[derive(Serialize)]
struct NoticeReply {
    notification_id: i64,
    /// The kind of notice for programs, such as `booking_recorded`.
    kind: String,
    /// The subject, in the caller's language.
    subject: String,
    /// In the caller's language.
    text: String,
    /// The values in the text.
    detail: Value,
    read: bool,
    read_at: Option<i64>,
    created_at: i64,
}

/// `GET /account/notifications`: newest first, in the caller's language.
pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    let zone = site.time_zone()?;
    site.store.read(|tx| {
        let rows = notices::list(tx, member.id(), page.limit, page.offset)?;
        let (total, unread) = notices::counts(tx, member.id())?;
        let rows = rows.into_iter().map(|row| show(row, call.language(), &zone));
        Ok(reply::list(call, page, total, rows).with_header(UNREAD_COUNT, unread.into()))
    })
}

/// `PUT /account/notifications/read/{notification_id}`: marks one as read; a second time changes nothing.
pub(crate) fn read(site: &Site, call: &Call, member: &Member) -> Answer {
    let notification_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    app::change(site, member, call.mail_language(), |cx| notice::mark_read(cx, notification_id))?;
    Ok(reply::done(call.say("done.notice_read")))
}

fn show(row: Notice, language: Language, zone: &TimeZone) -> NoticeReply {
    // An invalid detail is shown as null, and does not affect the text.
    let detail = serde_json::from_str(&row.detail).unwrap_or(Value::Null);
    NoticeReply {
        notification_id: row.notification_id,
        text: notice::text(language, zone, &row.subject, &detail),
        subject: notice::subject(language, &row.subject),
        kind: row.subject.strip_prefix("notice.").unwrap_or(&row.subject).to_owned(),
        detail,
        read: row.read_at.is_some(),
        read_at: row.read_at,
        created_at: row.created_at,
    }
}
