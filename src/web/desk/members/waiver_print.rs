//! A signed waiver as a PDF.

use super::waiver::find_id;
use crate::app::waivers::paper;
use crate::auth::{Clerk, count_document};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::web::query_text;

/// `GET /desk/members/{member_id}/waiver.pdf`: the signed waiver `number`, in the language of its text.
pub(crate) fn print(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = find_id(site, call)?;
    let number = query_text(call, "number").parse().map_err(|_| Failure::not_found())?;
    count_document(site, clerk.id(), clerk.role())?;
    let pdf = paper::pdf(site, member_id, number)?;
    Ok(reply::file("application/pdf", "inline", &format!("waiver-{number}.pdf"), pdf))
}
