//! The guest's photo: show it, take one with the kiosk's camera, or choose a file.

use super::{Screen, show};
use crate::app::{self, photos};
use crate::auth::Guest;
use crate::documents::picture;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::media;
use crate::web::{client_error_text, form_status, upload};
use askama::Template;

#[derive(Template)]
#[template(path = "kiosk/photo.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    has_photo: bool,
    problem: Option<String>,
}

/// `GET /kiosk/photo`: the present photo and the camera.
pub(crate) fn show_form(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, None)
}

fn page(site: &Site, call: &Call, guest: &Guest, problem: Option<String>) -> Answer {
    let has_photo = site.store.read(|tx| Ok(media::exists(tx, guest.member_id())?))?;
    let status = form_status(problem.is_some());
    Ok(show(status, call.language(), &Page { screen: Screen::of(site, call, guest)?, has_photo, problem }))
}

/// `GET /kiosk/photo.jpg`: the guest's photo, not cached.
pub(crate) fn get(site: &Site, _: &Call, guest: &Guest) -> Answer {
    let jpeg = site.store.read(|tx| Ok(media::find(tx, guest.member_id())?))?.ok_or_else(Failure::not_found)?;
    let picture = reply::picture("image/jpeg", jpeg);
    Ok(picture.unstored())
}

/// `POST /kiosk/photo`: a new photo, re-encoded like every upload.
pub(crate) fn upload(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let file = call.body.slice_ref(upload::file(call)?);
    let made = match site.draw_picture(move || picture::remake(&file))? {
        Ok(made) => made,
        Err(text) => {
            let failure = Failure::field("photo", text);
            return page(site, call, guest, Some(client_error_text(failure, call.language())?));
        }
    };
    app::change(site, super::actor(call, guest), call.language(), |cx| photos::set(cx, &cx.own()?, &made.jpeg))?;
    Ok(reply::see_other("/kiosk/home?done=photo"))
}

/// `POST /kiosk/photo/remove`.
pub(crate) fn remove(site: &Site, call: &Call, guest: &Guest) -> Answer {
    _ = app::change(site, super::actor(call, guest), call.language(), |cx| photos::remove(cx, &cx.own()?))?;
    Ok(reply::see_other("/kiosk/home?done=no-photo"))
}
