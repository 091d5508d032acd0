//! The certificates of the levels that a member holds.

use crate::app::certificates::{self, Row};
use crate::app::{self, language_of_reader};
use crate::auth::{Member, count_document};
use crate::domain::unicode::trimmed;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Id, Line, ShortLine, StoredMoment, Whole};
use crate::http::reply;
use crate::site::Site;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The length of a row's `type`, which is a programme and a track (`Flyer Static`): more than any of them has.
const TYPE_CHARS_MAX: usize = 120;

crate::body! {
    pub(crate) struct CertificateRequest {
        /// As in the row of the list.
        kind as "type": ShortLine<TYPE_CHARS_MAX>,
        cat_id: Whole,
        // As long as a real name, which became the screen name of some members.
        screen_name: Line<100>,
        entry_date: StoredMoment,
        /// The caller; another member is 403.
        member_id: Id,
    }
}

/// `GET /account/profile/certificate-list`: the levels that the caller holds, the latest first. Each has a certificate.
pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    let earned = site.store.read(|tx| certificates::read_earned(site, tx, member.id()))?;
    Ok(reply::part(call, page, earned.rows.into_iter().map(|(row, _)| row).collect()))
}

/// `POST /account/profile/get-certificate`: the certificate of a row of the list, as a PDF in base64 in a JSON string. The
/// certificate is also stored as handed out, so that anyone can verify its code.
///
/// # Errors
/// 403 for another member, 404 where no row has these fields, 429 beyond the caller's documents per hour.
pub(crate) fn get(site: &Site, call: &Call, member: &Member) -> Answer {
    let CertificateRequest { kind, cat_id, screen_name, entry_date, member_id } = call.body()?;
    if member_id != member.id() {
        return Err(Failure::not_allowed());
    }
    let pdf = app::once(site, call, || {
        let language = language_of_reader(site, call, member.id())?;
        let is_wanted = |row: &Row| {
            (row.r#type.as_str(), row.cat_id, row.entry_date) == (kind.as_str(), cat_id, entry_date)
                && trimmed(&row.screen_name) == screen_name
        };
        let paper = certificates::prepare(site, member.id(), language, is_wanted)?;
        count_document(site, member.id(), member.role())?;
        let pdf = STANDARD.encode(paper.draw(site)?);
        app::change_once(site, call, member, |cx| {
            certificates::publish(site, cx.tx, member.id(), &paper.held)?;
            Ok(pdf)
        })
    })?;
    Ok(reply::ok(&pdf))
}
