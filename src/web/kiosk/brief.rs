//! The safety brief at a kiosk: the member reads and confirms it, and chooses the instructor who signs it.

use super::{Screen, show};
use crate::app;
use crate::app::waivers::brief;
use crate::auth::Guest;
use crate::domain::ids::PictureId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::brief_pictures;
use crate::store::tables::signers::{self, EligibleSigner};
use crate::store::tables::site_texts::{self, Kind, SiteText};
use crate::web::waiver_form::paragraphs;
use crate::web::{client_error_text, desk, form, form_status};
use askama::Template;

#[derive(Template)]
#[template(path = "kiosk/brief.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    text: SiteText,
    paragraphs: Vec<String>,
    /// IDs of the pictures below the text.
    pictures: Vec<PictureId>,
    signers: Vec<EligibleSigner>,
    problem: Option<String>,
}

/// `GET /kiosk/brief`
pub(crate) fn show_page(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, None)
}

fn page(site: &Site, call: &Call, guest: &Guest, problem: Option<String>) -> Answer {
    let (text, mut able, pictures) = site.store.read(|tx| {
        if !brief::is_due(site, tx, guest.member_id())? {
            return Err(Failure::not_found());
        }
        let in_force = site_texts::find_in_force(tx, Kind::Brief)?.ok_or_else(Failure::not_found)?;
        let text = site_texts::find_best(tx, Kind::Brief, in_force.version, call.language().tag())?;
        let (_, item) = brief::find_item(site).ok_or_else(Failure::not_found)?;
        let able = signers::list_able(tx, site.catalogue, item.level, site.tunnel_id, site.now())?;
        Ok((text.ok_or_else(Failure::not_found)?, able, brief_pictures::list(tx)?))
    })?;
    able.retain(|one| one.member_id != guest.member_id());
    let paragraphs = paragraphs(&text.body);
    let page = Page { screen: Screen::of(site, call, guest)?, text, paragraphs, pictures, signers: able, problem };
    Ok(show(form_status(page.problem.is_some()), call.language(), &page))
}

/// `GET /kiosk/brief.jpg`: the picture `number` of the brief.
pub(crate) fn picture(site: &Site, call: &Call, _: &Guest) -> Answer {
    desk::brief_pictures::picture(site, call)
}

/// `POST /kiosk/brief`: confirms the brief and asks the instructor to sign.
pub(crate) fn confirm(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let mut form = form(call)?;
    let version = form.required("version", fields::whole_in(1..=i64::MAX));
    let language = form.required("language", fields::line(5));
    let signer_id = form.required("signer", fields::id);
    if form.finish().is_err() {
        return page(site, call, guest, Some(call.say("kiosk.signer_missing")));
    }
    let actor = super::actor(call, guest);
    match app::change(site, actor, call.language(), |cx| brief::confirm(cx, version, &language, signer_id)) {
        Ok(_) => Ok(reply::see_other("/kiosk/home?done=asked")),
        Err(failure) => page(site, call, guest, Some(client_error_text(failure, call.language())?)),
    }
}
