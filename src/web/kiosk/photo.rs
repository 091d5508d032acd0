//! The member's picture: as it is, taken by the kiosk's camera, or chosen as a file.

use super::{Screen, show, words};
use crate::app::{self, photos};
use crate::auth::Guest;
use crate::documents::picture;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::media;
use crate::web::upload;
use askama::Template;
use http::{HeaderValue, header};

#[derive(Template)]
#[template(path = "kiosk/photo.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    has_photo: bool,
    problem: Option<String>,
}

/// `GET /kiosk/photo`: the camera, and the picture that there is.
pub(crate) fn show_form(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, None)
}

fn page(site: &Site, call: &Call, guest: &Guest, problem: Option<String>) -> Answer {
    let has_photo = site.store.read(|tx| Ok(media::exists(tx, guest.member_id())?))?;
    let status = super::status(problem.as_ref());
    Ok(show(status, call.language(), &Page { screen: Screen::of(site, call, guest)?, has_photo, problem }))
}

/// `GET /kiosk/photo.jpg`: one's own, kept by nobody.
pub(crate) fn get(site: &Site, _: &Call, guest: &Guest) -> Answer {
    let jpeg = site.store.read(|tx| Ok(media::find(tx, guest.member_id())?))?.ok_or_else(Failure::not_found)?;
    let picture = reply::picture("image/jpeg", jpeg);
    Ok(picture.with_header(header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
}

/// `POST /kiosk/photo`: a new picture, made harmless as every other is.
pub(crate) fn take(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let file = call.body.slice_ref(upload::file(call)?);
    let made = match site.draw(move || picture::remake(&file))? {
        Ok(made) => made,
        Err(text) => {
            let failure = Failure::field("photo", text);
            return page(site, call, guest, Some(words(failure, call.language())?));
        }
    };
    app::change(site, super::actor(call, guest), call.language(), |cx| photos::set(cx, &cx.own()?, &made.jpeg))?;
    Ok(reply::see_other("/kiosk/home?done=photo"))
}

/// `POST /kiosk/photo/remove`: no picture any more.
pub(crate) fn remove(site: &Site, call: &Call, guest: &Guest) -> Answer {
    _ = app::change(site, super::actor(call, guest), call.language(), |cx| photos::remove(cx, &cx.own()?))?;
    Ok(reply::see_other("/kiosk/home?done=no-photo"))
}
