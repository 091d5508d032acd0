//! The pictures of the safety brief, as admins add them and take them away.

use crate::app;
use crate::app::waivers::brief;
use crate::auth::Clerk;
use crate::documents::picture;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::brief_pictures;
use crate::web::{asked, form, upload};
use http::{HeaderValue, header};

const BACK: &str = "/desk/texts?kind=brief";

/// `POST /desk/texts/picture`: one more, made harmless as every picture is.
pub(crate) fn add(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    check_asked(site)?;
    let file = call.body.slice_ref(upload::file(call)?);
    let made = site.draw(move || picture::remake(&file))?.map_err(|text| Failure::field("picture", text))?;
    app::change(site, clerk, call.language(), |cx| brief::add_picture(cx, &made.jpeg))?;
    Ok(reply::see_other(&format!("{BACK}&done=picture")))
}

/// `POST /desk/texts/picture/remove`
pub(crate) fn remove(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    check_asked(site)?;
    let mut body = form(call)?;
    let picture = body.required("picture", fields::id);
    let ok = body.finish()?;
    let picture_id = picture.get(&ok);
    _ = app::change(site, clerk, call.language(), |cx| brief::remove_picture(cx, picture_id))?;
    Ok(reply::see_other(&format!("{BACK}&done=no-picture")))
}

/// `GET /desk/texts/picture.jpg`: the one with this `number`.
pub(crate) fn get(site: &Site, call: &Call, _: &Clerk) -> Answer {
    picture(site, call)
}

/// The picture that the address names, for whoever may see it.
pub(in crate::web) fn picture(site: &Site, call: &Call) -> Answer {
    check_asked(site)?;
    let number: i64 = asked(call, "number").parse().map_err(|_| Failure::not_found())?;
    let jpeg = site.store.read(|tx| Ok(brief_pictures::find(tx, number)?))?.ok_or_else(Failure::not_found)?;
    let picture = reply::picture("image/jpeg", jpeg);
    Ok(picture.with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
}

fn check_asked(site: &Site) -> Result<(), Failure> {
    if site.config.waiver.required { Ok(()) } else { Err(Failure::not_found()) }
}
