//! A member's picture, for the desk's eyes; and a new one, taken at the desk.

use crate::app::{self, photos};
use crate::auth::Clerk;
use crate::documents::picture;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::media;
use crate::web::upload;

/// `GET /desk/members/{member_id}/photo`: JPEG.
pub(crate) fn get(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    let jpeg = site.store.read(|tx| Ok(media::find(tx, member_id)?))?.ok_or_else(Failure::not_found)?;
    Ok(reply::picture("image/jpeg", jpeg))
}

/// `POST /desk/members/{member_id}/photo`: a new picture, made harmless as every other is.
pub(crate) fn take(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let file = call.body.slice_ref(upload::file(call)?);
    let made = site.draw(move || picture::remake(&file))?.map_err(|text| Failure::field("photo", text))?;
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    app::change(site, clerk, call.language(), |cx| photos::set(cx, &cx.served(member_id)?, &made.jpeg))?;
    Ok(reply::see_other(&format!("/desk/members/{member_id}?done=photo")))
}

/// `POST /desk/members/{member_id}/photo/remove`: no picture any more.
pub(crate) fn remove(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = call.param_id(0).ok_or_else(Failure::not_found)?;
    _ = app::change(site, clerk, call.language(), |cx| photos::remove(cx, &cx.served(member_id)?))?;
    Ok(reply::see_other(&format!("/desk/members/{member_id}?done=no-photo")))
}
