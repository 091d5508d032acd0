//! The picture in a member's profile.

use crate::app::{self, photos};
use crate::auth::{Member, count_document};
use crate::documents::picture;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::media;
use serde::Serialize;

/// The types that an upload may declare. The first bytes decide on the real type.
const TYPES: [&str; 3] = ["image/jpeg", "image/png", "image/webp"];

#[derive(Serialize)]
struct MediaReply {
    status: bool,
    message: String,
    /// The size of the stored picture in pixels.
    width: u32,
    height: u32,
}

/// `POST /account/profile/media`: a new picture in place of the old one, from the bytes of a file.
pub(crate) fn upload(site: &Site, call: &Call, member: &Member) -> Answer {
    let declared = call.header("content-type").and_then(|kind| kind.split(';').next()).unwrap_or("").trim();
    if !TYPES.iter().any(|kind| kind.eq_ignore_ascii_case(declared)) {
        return Err(Failure::unsupported_picture());
    }
    let (width, height) = app::once(site, call, || {
        count_document(site, member.id(), member.role())?;
        let upload = call.body.clone();
        let made = site.draw_picture(move || picture::remake(&upload))?.map_err(|text| Failure::field("body", text))?;
        app::change_once(site, call, member, |cx| {
            photos::set(cx, &cx.own()?, &made.jpeg)?;
            Ok((made.width, made.height))
        })
    })?;
    Ok(reply::created(&MediaReply { status: true, message: call.say("done.media"), width, height }))
}

/// `GET /account/profile/media`: the caller's picture.
pub(crate) fn get(site: &Site, _: &Call, member: &Member) -> Answer {
    let jpeg = site.store.read(|tx| Ok(media::find(tx, member.id())?))?.ok_or_else(Failure::not_found)?;
    Ok(reply::picture("image/jpeg", jpeg))
}

/// `POST /account/profile/remove-media`: removes the picture, if there is one.
pub(crate) fn remove(site: &Site, call: &Call, member: &Member) -> Answer {
    app::change_once(site, call, member, |cx| photos::remove(cx, &cx.own()?).map(|_| ()))?;
    Ok(reply::done(call.say("done.media_removed")))
}
