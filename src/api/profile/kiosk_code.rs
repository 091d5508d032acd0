//! A QR code with which a member signs in at a kiosk.

use crate::app;
use crate::auth::{Member, kiosk};
use crate::documents::qr;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::moment::Moment;
use crate::site::Site;

crate::answer! {
    struct KioskCode {
        status: True,
        message: String = "Show this code to a kiosk. It works once, for two minutes.",
        /// Twenty digits.
        code: String { "pattern": "^[0-9]{20}$" } = "48151623421234567890",
        /// The same as a QR code: SVG in a data URL.
        qr: String = "data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=",
        /// When it ends.
        ends_at: Moment = 1780000120,
    }
}

crate::operation! {
    /// Make a code to sign in at a kiosk
    ///
    /// Show it as a QR code: a kiosk of this site that reads it signs the member in, once, within two minutes. A new
    /// code replaces the one before. It opens nothing but kiosks. No body.
    CREATE = "kioskCode"
        .creates::<KioskCode>("The new code.")
}

pub(crate) fn create(site: &Site, call: &Call, member: &Member) -> Answer {
    let (code, ends_at) = app::change_once(site, call, member, |cx| {
        let code = kiosk::new_code();
        kiosk::set_code(cx.tx, member.id(), &code)?;
        Ok((code, cx.now() + kiosk::CODE_SECONDS))
    })?;
    let qr = qr::data_url(&code).ok_or_else(Failure::broken)?;
    Ok(reply::created(&KioskCode { status: true, message: call.say("kiosk.code_made"), code, qr, ends_at }))
}
