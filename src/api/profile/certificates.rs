//! The certificates of the levels that a member holds.

use crate::app::certificates::{self, Certificate};
use crate::app::{self, language_of_reader};
use crate::auth::{Member, count_document};
use crate::domain::ids::MemberId;
use crate::domain::unicode::trimmed;
use crate::http::Answer;
use crate::http::answer::PdfInBase64;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Line, ShortLine, StoredMoment, Whole};
use crate::http::reply;
use crate::site::Site;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

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
        member_id: MemberId,
    }
}

crate::answer! {
    /// The levels that the member holds, the latest first.
    struct CertificateList = Vec<Certificate>;
}

crate::operation! {
    /// Which certificates there are
    ///
    /// One for each level that the member holds.
    LIST = "listCertificates"
        .answers::<CertificateList>("The levels held.")
}

pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let page = call.page()?;
    let earned = site.store.read(|tx| certificates::read_earned(site, tx, member.id()))?;
    Ok(reply::part(call, page, earned.rows.into_iter().map(|(row, _)| row).collect()))
}

crate::operation! {
    /// Take a certificate home
    ///
    /// A row of the certificate list as a PDF (A4, landscape) with the real names of holder and signer, whose QR code
    /// leads to this site's page on the certificate's validity. 404 for a certificate that is not in the list.
    GET = "getCertificate"
        .body(|| json!({
            "type": "Flyer Static", "cat_id": 3, "screen_name": "Jane", "entry_date": 1780000000,
            "member_id": 1204,
        }))
        .refuses(&["NotFound"])
        .answers::<PdfInBase64>("The paper, as a JSON string.")
        .example(|| json!("JVBERi0xLjcKJeLjz9MK"))
}

/// # Errors
/// 403 for another member, 404 where no row has these fields, 429 beyond the caller's documents per hour.
pub(crate) fn get(site: &Site, call: &Call, member: &Member) -> Answer {
    let CertificateRequest { kind, cat_id, screen_name, entry_date, member_id } = call.body()?;
    if member_id != member.id() {
        return Err(Failure::not_allowed());
    }
    let pdf = app::once(site, call, || {
        let language = language_of_reader(site, call, member.id())?;
        let is_wanted = |row: &Certificate| {
            (row.r#type.as_str(), row.cat_id, row.entry_date) == (kind.as_str(), cat_id, entry_date)
                && trimmed(&row.screen_name) == screen_name
        };
        let paper = certificates::prepare(site, member.id(), language, is_wanted)?;
        count_document(site, member.id(), member.role())?;
        let pdf = STANDARD.encode(paper.draw(site)?);
        app::change_once(site, call, member, |cx| {
            certificates::publish(cx, member.id(), &paper.held)?;
            Ok(pdf)
        })
    })?;
    Ok(reply::ok(&pdf))
}
