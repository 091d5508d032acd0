//! The pictures of the safety brief, which admins add and remove.

use crate::app;
use crate::app::waivers::brief;
use crate::auth::Clerk;
use crate::documents::picture;
use crate::domain::ids::PictureId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::brief_pictures;
use crate::web::{check_waivers_required, query_text, read_form, upload};

const BACK: &str = "/desk/texts?kind=brief";

/// `POST /desk/texts/picture`: adds a picture, re-encoded like every upload.
pub(crate) fn add(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    check_waivers_required(site)?;
    let file = call.body.slice_ref(upload::file(call)?);
    let made = site.draw_picture(move || picture::remake(&file))?.map_err(|text| Failure::field("picture", text))?;
    app::change(site, clerk, call.language(), |cx| brief::add_picture(cx, &made.jpeg))?;
    Ok(reply::see_other(&format!("{BACK}&done=picture")))
}

/// `POST /desk/texts/picture/remove`
pub(crate) fn remove(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    check_waivers_required(site)?;
    let picture_id = read_form(call, |form| form.required("picture", fields::id))?;
    _ = app::change(site, clerk, call.language(), |cx| brief::remove_picture(cx, picture_id))?;
    Ok(reply::see_other(&format!("{BACK}&done=no-picture")))
}

/// `GET /desk/texts/picture.jpg`: the picture `number`.
pub(crate) fn get(site: &Site, call: &Call, _: &Clerk) -> Answer {
    picture(site, call)
}

/// The picture that the query names, for the desk and the kiosk.
pub(in crate::web) fn picture(site: &Site, call: &Call) -> Answer {
    check_waivers_required(site)?;
    let number: PictureId = query_text(call, "number").parse().map_err(|_| Failure::not_found())?;
    let jpeg = site.store.read(|tx| Ok(brief_pictures::find(tx, number)?))?.ok_or_else(Failure::not_found)?;
    let picture = reply::picture("image/jpeg", jpeg);
    Ok(picture.unstored())
}
