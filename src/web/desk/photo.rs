//! The photo of a member: show, take, remove.

use crate::app::{self, photos};
use crate::auth::Clerk;
use crate::documents::picture;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::media;
use crate::web::{path_id, upload};

/// `GET /desk/members/{member_id}/photo`: JPEG.
pub(crate) fn get(site: &Site, call: &Call, _: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    let jpeg = site.store.read(|tx| Ok(media::find(tx, member_id)?))?.ok_or_else(Failure::not_found)?;
    Ok(reply::picture("image/jpeg", jpeg))
}

/// `POST /desk/members/{member_id}/photo`: a new photo, re-encoded like every upload.
pub(crate) fn upload(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let file = call.body.slice_ref(upload::file(call)?);
    let made = site.draw_picture(move || picture::remake(&file))?.map_err(|text| Failure::field("photo", text))?;
    let member_id = path_id(call, 0)?;
    app::change(site, clerk, call.language(), |cx| photos::set(cx, &cx.served(member_id)?, &made.jpeg))?;
    Ok(reply::see_other(&format!("/desk/members/{member_id}?done=photo")))
}

/// `POST /desk/members/{member_id}/photo/remove`.
pub(crate) fn remove(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    let member_id = path_id(call, 0)?;
    _ = app::change(site, clerk, call.language(), |cx| photos::remove(cx, &cx.served(member_id)?))?;
    Ok(reply::see_other(&format!("/desk/members/{member_id}?done=no-photo")))
}
