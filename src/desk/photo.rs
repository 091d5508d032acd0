//! A member's picture, for the desk's eyes.

use crate::call::Call;
use crate::failure::Failure;
use crate::gate::Clerk;
use crate::reply;
use crate::routes::Answer;
use crate::site::Site;
use crate::store::media;
use http::{HeaderValue, header};

/// `GET /desk/members/{member_id}/photo`: JPEG.
pub fn get(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let jpeg = site.store.read(|tx| Ok(media::find(tx, member_id)?))?.ok_or_else(Failure::not_found)?;
    // Opened by itself it is a document of its own; it may then do nothing at all.
    let alone = HeaderValue::from_static("default-src 'none'; sandbox");
    Ok(reply::bytes("image/jpeg", jpeg).with_header(header::CONTENT_SECURITY_POLICY, alone))
}
