//! A QR code with which a member signs in at a kiosk.

use crate::app;
use crate::auth::{Member, kiosk};
use crate::documents::qr;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use serde::Serialize;

#[derive(Serialize)]
struct CodeReply {
    status: bool,
    message: String,
    /// Twenty digits.
    code: String,
    /// The code as a QR code: SVG in a data URL.
    qr: String,
    /// Unix seconds.
    ends_at: i64,
}

/// `POST /account/profile/kiosk-code`: a code that signs the caller in at a kiosk of this site, once, within two
/// minutes. It replaces the code before, and opens nothing else.
pub(crate) fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    let (code, ends_at) = app::change_once(site, call, member, |cx| {
        let code = kiosk::new_code();
        kiosk::set_code(cx.tx, member.id(), &code)?;
        Ok((code, cx.now() + kiosk::CODE_SECONDS))
    })?;
    let qr = qr::data_url(&code).ok_or_else(Failure::broken)?;
    Ok(reply::created(&CodeReply { status: true, message: call.say("kiosk.code_made"), code, qr, ends_at }))
}
