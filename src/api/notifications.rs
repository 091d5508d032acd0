//! The member's notices.

use crate::app::{self, notice};
use crate::auth::Member;
use crate::domain::ids::NoticeId;
use crate::domain::local_time::TimeZone;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Done};
use crate::i18n::language::Language;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::notices;
use http::HeaderName;
use serde_json::{Value, json};

/// The number of unread notices in all, not only in these rows.
const UNREAD_COUNT: HeaderName = HeaderName::from_static("x-unread-count");

crate::answer! {
    struct Notice {
        notification_id: NoticeId = 9,
        /// What kind of notice it is, for programs: `booking_recorded`.
        kind: String = "booking_recorded",
        /// What it is about, in the caller's language.
        subject: String { "minLength": 1 } = "Booking recorded",
        /// In the caller's language.
        text: String = "Your booking is recorded.",
        /// The values that the text speaks of.
        detail: Value { "type": ["object", "null"] } = { "booking_id": 88 },
        read: bool = false,
        /// When it was read.
        read_at: Option<Moment>,
        /// When it was made.
        created_at: Moment = 1780000000,
    }
}

crate::answer! {
    /// Notices, newest first.
    struct NoticeList = Vec<Notice>;
}

crate::operation! {
    /// The member's notices
    ///
    /// Newest first, in the caller's language.
    LIST = "listNotifications"
        .takes(&["AcceptLanguage"])
        .answers::<NoticeList>("The notices.")
        .headers(&[("ETag", "ETag"), ("X-Total-Count", "TotalCount"), ("Link", "NextPage"), ("X-Unread-Count", "UnreadCount")])
}

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

crate::operation! {
    /// Mark a notice read
    ///
    /// Marking a notice twice is no error; another member's notice is 404.
    READ = "readNotification"
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "It is read." }))
}

pub(crate) fn read(site: &Site, call: &Call, member: &Member) -> Answer {
    let notification_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    app::change(site, member, call.language(), |cx| notice::mark_read(cx, notification_id))?;
    Ok(reply::done(call.say("done.notice_read")))
}

fn show(row: notices::Notice, language: Language, zone: &TimeZone) -> Notice {
    // An invalid detail is shown as null, and does not affect the text.
    let detail = serde_json::from_str(&row.detail).unwrap_or(Value::Null);
    Notice {
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
