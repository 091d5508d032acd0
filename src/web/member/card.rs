//! The member's card: name, number and QR code; and the code that signs in at a kiosk.

use super::frame::Shell;
use super::show;
use crate::app::{self, family};
use crate::auth::{Member, kiosk};
use crate::documents::qr;
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::site::Site;
use askama::Template;
use http::StatusCode;

pub(crate) const PATH: &str = "/me/card";

#[derive(Template)]
#[template(path = "member/card.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    number: MemberId,
    /// The label of the picture.
    label: String,
    /// SVG of the member number.
    qr: String,
    code: Option<KioskCode>,
    /// Whether the site has waivers, and with them families.
    has_family: bool,
    /// Number and name of each child for whom the member acts.
    children: Vec<(MemberId, String)>,
}

/// A code for the kiosk, shown once.
struct KioskCode {
    qr: String,
    digits: String,
    until: String,
}

/// `GET /me/card`
pub(crate) fn show_page(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, None)
}

fn page(site: &Site, call: &Call, member: &Member, code: Option<KioskCode>) -> Answer {
    let shell = Shell::of(site, call, member, PATH)?;
    let number = member.id();
    let wards = site.store.read(|tx| family::list_wards(site, tx, member.id()))?;
    let page = Page {
        label: shell.tell(&Text::new("me.card_qr").with("number", member.id())),
        qr: qr::svg(&number.to_string()).ok_or_else(Failure::broken)?,
        number,
        code,
        has_family: site.config.waiver.required,
        children: wards.into_iter().map(|ward| (ward.child_id, ward.child)).collect(),
        shell,
    };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// `POST /me/card/code`: a code that signs the member in at a kiosk of this site, once, within two minutes.
pub(crate) fn make_code(site: &Site, call: &Call, member: &Member) -> Answer {
    let (digits, ends_at) = app::change(site, member, call.language(), |cx| {
        let code = kiosk::new_code();
        kiosk::set_code(cx.tx, member.id(), &code)?;
        Ok((code, cx.now() + kiosk::CODE_SECONDS))
    })?;
    let clock = site.time_zone()?.clock(ends_at);
    let until = call.language().say(&Text::new("me.kiosk_code_until").with("clock", clock));
    let code = KioskCode { qr: qr::svg(&digits).ok_or_else(Failure::broken)?, digits, until };
    page(site, call, member, Some(code))
}
