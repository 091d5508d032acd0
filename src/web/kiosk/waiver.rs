//! Signing waivers at a kiosk, for the guest and their children in one form; or on the guest's phone.

use super::{Screen, show};
use crate::app;
use crate::app::waivers::{self, Due, Signing, links};
use crate::auth::Guest;
use crate::documents::qr;
use crate::domain::ids::MemberId;
use crate::domain::waiver::SigningPlace;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::web::waiver_form::{self, WaiverForm};
use crate::web::{check_waivers_required, client_error_text, done, form, form_status};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "kiosk/waiver.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    /// Flyers who wait for a decision of the staff: name and reason.
    waiting: Vec<(String, String)>,
    /// `None` where nothing must be signed.
    sheet: Option<WaiverForm>,
    done: Option<String>,
    /// Why a form was refused that is not on the page any more.
    problem: Option<String>,
}

#[derive(Template)]
#[template(path = "kiosk/waiver_phone.html", config = "assets/templates/askama.toml")]
struct PhonePage {
    screen: Screen,
    /// SVG.
    qr: String,
    url: String,
}

/// `GET /kiosk/waiver`: the waivers to sign.
pub(crate) fn show_form(site: &Site, call: &Call, guest: &Guest) -> Answer {
    page(site, call, guest, None)
}

/// The flyers who must sign, and those who wait for a decision of the staff; 404 on a site that requires no waivers.
pub(crate) fn list_due(site: &Site, member_id: MemberId) -> Result<(Vec<Due>, Vec<Due>), Failure> {
    check_waivers_required(site)?;
    let due = site.store.read(|tx| waivers::list_due(site, tx, member_id))?;
    Ok(due
        .into_iter()
        .filter(|one| one.reason.is_some())
        .partition(|one| one.reason.is_some_and(|reason| reason.wants_signature())))
}

fn page(site: &Site, call: &Call, guest: &Guest, refused: Option<(Signing, String)>) -> Answer {
    let language = call.language();
    let (due, waiting) = list_due(site, guest.member_id())?;
    let sheet = match due.is_empty() {
        true => None,
        false => Some(site.store.read(|tx| WaiverForm::read(tx, &due, language, false, refused.as_ref()))?),
    };
    let name_and_reason = |one: Due| (one.name, one.reason.map(|reason| call.say(reason.key())).unwrap_or_default());
    let waiting = waiting.into_iter().map(name_and_reason).collect();
    let done = done(call, &[("staff", "waiver.staff_next")]);
    let status = form_status(refused.is_some());
    let problem = refused.map(|(_, problem)| problem).filter(|_| sheet.is_none());
    Ok(show(status, language, &Page { screen: Screen::of(site, call, guest)?, waiting, sheet, done, problem }))
}

/// `POST /kiosk/waiver`: signs for all ticked flyers or for none.
pub(crate) fn sign(site: &Site, call: &Call, guest: &Guest) -> Answer {
    let (due, waiting) = list_due(site, guest.member_id())?;
    if due.is_empty() && waiting.is_empty() {
        // The form was sent twice, or the waivers were signed elsewhere meanwhile.
        return Ok(reply::see_other("/kiosk/home?done=signed"));
    }
    let signing = waiver_form::read(form(call)?, &due, SigningPlace::Kiosk)?;
    let actor = super::actor(call, guest);
    match app::change(site, actor, call.language(), |cx| waivers::sign(cx, &signing)) {
        Ok(_) if signing.flyers.iter().any(|flyer| flyer.answers.contains('y')) => {
            Ok(reply::see_other("/kiosk/waiver?done=staff"))
        }
        Ok(_) => Ok(reply::see_other("/kiosk/home?done=signed")),
        Err(failure) => {
            let problem = client_error_text(failure, call.language())?;
            page(site, call, guest, Some((signing, problem)))
        }
    }
}

/// `POST /kiosk/waiver/phone`: a QR code for signing on the guest's phone.
pub(crate) fn to_phone(site: &Site, call: &Call, guest: &Guest) -> Answer {
    list_due(site, guest.member_id())?;
    let (actor, member_id) = (super::actor(call, guest), guest.member_id());
    let code = app::change(site, actor, call.language(), |cx| links::make(cx, member_id))?;
    let url = format!("{}/sign?lang={}&code={code}", site.public_url(), call.language().tag());
    let qr = qr::svg(&url).ok_or_else(Failure::broken)?;
    Ok(show(StatusCode::OK, call.language(), &PhonePage { screen: Screen::of(site, call, guest)?, qr, url }))
}
