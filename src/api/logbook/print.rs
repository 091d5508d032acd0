//! A member's logbook as a PDF.

use super::readable_member;
use crate::app::language_of_reader;
use crate::app::logbook::print;
use crate::auth::{Bearer, count_document};
use crate::domain::role::Role;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;

crate::operation! {
    /// A member's logbook on paper
    ///
    /// A PDF (A4) in the caller's language: flight time with running sums, and the signed skills and safety records
    /// with their signers.
    PDF = "printLogbook"
        .takes(&["AcceptLanguage"])
        .gives("application/pdf", "The PDF.")
}

pub(crate) fn pdf(site: &Site, call: &Call, bearer: &Bearer) -> Answer {
    let member_id = readable_member(site, call, bearer, 0)?;
    match bearer {
        Bearer::Member(member) => count_document(site, member.id(), member.role())?,
        Bearer::Booking { member_id, .. } => count_document(site, *member_id, Role::Member)?,
    }
    let pdf = print::pdf(site, language_of_reader(site, call, member_id)?, member_id)?;
    Ok(reply::file("application/pdf", "inline", &format!("logbook-{member_id}.pdf"), pdf))
}
