//! The picture in a member's profile.

use crate::app::{self, photos};
use crate::auth::{Member, count_document};
use crate::documents::picture;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Done};
use crate::site::Site;
use crate::store::tables::media;
use serde_json::{Map, json};

/// The types that an upload may declare. The first bytes decide on the real type.
const TYPES: [&str; 3] = ["image/jpeg", "image/png", "image/webp"];

crate::answer! {
    inline struct MediaReply {
        status: True,
        message: String = "Your new picture is in your profile.",
        /// Of the picture as it is kept.
        width: u32 { "minimum": 1 } = 1024,
        height: u32 { "minimum": 1 } = 768,
    }
}

crate::operation! {
    /// Bring a picture
    ///
    /// The bytes of a JPEG, PNG or WebP file, up to 5 MiB. It is converted: upright, at most 1024 pixels a side,
    /// without the camera's metadata.
    UPLOAD = "uploadMedia"
        .refuses(&["TooLarge", "UnsupportedType"])
        .creates::<MediaReply>("It is kept.")
        .also(|| {
            let picture = |kind: &str| json!({ "schema": { "type": "string", "format": "binary", "contentMediaType": kind } });
            let content = TYPES.iter().map(|kind| ((*kind).to_owned(), picture(kind))).collect::<Map<_, _>>();
            json!({ "requestBody": { "required": true, "content": content } })
        })
}

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

crate::operation! {
    /// See the picture
    ///
    /// The caller's, as it is kept.
    GET = "getMedia"
        .refuses(&["NotFound"])
        .gives("image/jpeg", "The picture.")
}

pub(crate) fn get(site: &Site, _: &Call, member: &Member) -> Answer {
    let jpeg = site.store.read(|tx| Ok(media::find(tx, member.id())?))?.ok_or_else(Failure::not_found)?;
    Ok(reply::picture("image/jpeg", jpeg))
}

crate::operation! {
    /// Remove the picture
    ///
    /// Also where there is none. No body.
    REMOVE = "removeMedia"
        .answers::<Done>("Done.")
        .example(|| json!({ "message": "Your profile has no picture now." }))
}

pub(crate) fn remove(site: &Site, call: &Call, member: &Member) -> Answer {
    app::change_once(site, call, member, |cx| photos::remove(cx, &cx.own()?).map(|_| ()))?;
    Ok(reply::done(call.say("done.media_removed")))
}
