//! The member's photo: choose or take one, remove it.

use super::frame::Shell;
use super::{account, show};
use crate::app::{self, photos};
use crate::auth::{Member, count_document};
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
#[template(path = "member/photo.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    has_photo: bool,
    problem: Option<String>,
}

/// `GET /me/account/photo`
pub(crate) fn show_form(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, None)
}

fn page(site: &Site, call: &Call, member: &Member, problem: Option<String>) -> Answer {
    let shell = Shell::of(site, call, member, account::PATH)?;
    let has_photo = site.store.read(|tx| Ok(media::exists(tx, member.id())?))?;
    let status = form_status(problem.is_some());
    Ok(show(status, call.language(), &Page { shell, has_photo, problem }))
}

/// `GET /me/account/photo.jpg`: not cached.
pub(crate) fn get(site: &Site, _: &Call, member: &Member) -> Answer {
    let jpeg = site.store.read(|tx| Ok(media::find(tx, member.id())?))?.ok_or_else(Failure::not_found)?;
    let picture = reply::picture("image/jpeg", jpeg);
    Ok(picture.unstored())
}

/// `POST /me/account/photo`: a new photo, re-encoded like every upload.
pub(crate) fn upload(site: &Site, call: &Call, member: &Member) -> Answer {
    let file = call.body.slice_ref(upload::file(call)?);
    count_document(site, member.id(), member.role())?;
    let made = match site.draw_picture(move || picture::remake(&file))? {
        Ok(made) => made,
        Err(text) => {
            let failure = Failure::field("photo", text);
            return page(site, call, member, Some(client_error_text(failure, call.language())?));
        }
    };
    app::change(site, member, call.language(), |cx| photos::set(cx, &cx.own()?, &made.jpeg))?;
    Ok(reply::see_other(&format!("{}?done=photo", account::PATH)))
}

/// `POST /me/account/photo/remove`
pub(crate) fn remove(site: &Site, call: &Call, member: &Member) -> Answer {
    let removed = app::change(site, member, call.language(), |cx| photos::remove(cx, &cx.own()?))?;
    Ok(account::done_if(removed, "no-photo"))
}
