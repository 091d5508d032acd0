//! Signing up at a kiosk, which also signs in.

use super::{Screen, show};
use crate::app::signup::{self, SignedUp, SignupPlace};
use crate::app::{self, claims};
use crate::auth::{Kiosk, kiosk};
use crate::documents::qr;
use crate::domain::ids::MemberId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::members;
use crate::store::tables::outbox::Channel;
use crate::web::form_state::FormState;
use crate::web::{form_pairs, form_status};
use askama::Template;
use http::StatusCode;

#[derive(Template)]
#[template(path = "kiosk/join.html", config = "assets/templates/askama.toml")]
struct Page {
    screen: Screen,
    form: FormState,
    /// Whether the site sends mails; elsewhere the front desk hands out the code that opens an account.
    mails: bool,
}

#[derive(Template)]
#[template(path = "kiosk/joined.html", config = "assets/templates/askama.toml")]
struct Welcome {
    screen: Screen,
    member_id: MemberId,
    pin: String,
    mails: bool,
    /// The way on to the guest's telephone.
    phone: Option<OnPhone>,
}

/// A QR code that opens the account on a telephone, once, and until when.
struct OnPhone {
    /// SVG.
    qr: String,
    until: String,
}

/// `GET /kiosk/join`: the form.
pub(crate) fn show_form(site: &Site, call: &Call, _: &Kiosk) -> Answer {
    page(site, call, FormState::empty())
}

fn page(site: &Site, call: &Call, form: FormState) -> Answer {
    let status = form_status(form.has_problems());
    let page = Page { screen: Screen::outside(site, call)?, form, mails: site.delivers(Channel::Email) };
    Ok(show(status, call.language(), &page))
}

/// `POST /kiosk/join`: signs a member up and in, and shows number and PIN once.
pub(crate) fn enter(site: &Site, call: &Call, kiosk: &Kiosk) -> Answer {
    let typed = form_pairs(call)?;
    match signup::join(site, call, SignupPlace::Kiosk(kiosk.id()), call.language(), &typed) {
        Ok(joined) => welcome(site, call, kiosk, &joined),
        Err(failure) => FormState::refused(typed, failure, call, call.language(), |form| page(site, call, form)),
    }
}

fn welcome(site: &Site, call: &Call, kiosk: &Kiosk, joined: &SignedUp) -> Answer {
    let (token, code) = app::change_by_stranger(site, call, |cx| {
        let account = members::find_account_by_id(cx.tx, joined.member_id)?.ok_or_else(Failure::not_found)?;
        let token = kiosk::enter(cx.tx, kiosk, &account)?.ok_or_else(Failure::not_allowed)?;
        Ok((token, claims::show_at_kiosk(cx, joined.member_id)?))
    })?;
    let phone = code.map(|(code, ends_at)| on_phone(site, call, &code, ends_at)).transpose()?;
    let profile = site.store.read(|tx| Ok(members::find(tx, joined.member_id)?))?.ok_or_else(Failure::not_found)?;
    let page = Welcome {
        screen: Screen { guest: Some(profile.screen_name), ..Screen::outside(site, call)? },
        member_id: joined.member_id,
        pin: joined.pin.clone(),
        mails: site.delivers(Channel::Email),
        phone,
    };
    let reply: Reply = show(StatusCode::OK, call.language(), &page);
    Ok(kiosk::with_guest_cookie(site, call, reply, &token))
}

fn on_phone(site: &Site, call: &Call, code: &str, ends_at: Moment) -> Result<OnPhone, Failure> {
    let url = format!("{}/claim?code={code}", site.public_url());
    let until = Text::new("kiosk.joined_phone_until").with("clock", site.time_zone()?.clock(ends_at));
    Ok(OnPhone { qr: qr::svg(&url).ok_or_else(Failure::broken)?, until: call.language().say(&until) })
}
