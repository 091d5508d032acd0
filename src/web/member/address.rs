//! A new e-mail address or telephone number of the member: the password proves who asks, and a code that is sent there proves
//! the address.

use super::frame::Shell;
use super::security::prove;
use super::{account, show};
use crate::app::{self, credentials, own_profile};
use crate::auth::limits::messages::Cause;
use crate::auth::passcode::{self, Target, Use};
use crate::auth::{Member, limits, sign_in};
use crate::domain::{email, phone};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::outbox::Channel;
use crate::store::tables::passcodes;
use crate::store::tables::tunnels;
use crate::web::{CODE_CHARS_MAX, form, form_status, read_form, refused_form};
use askama::Template;

const ADDRESS_CHARS_MAX: usize = 254;

/// What differs between the page for an e-mail address and the page for a telephone number.
struct Words {
    channel: Channel,
    usage: Use,
    path: &'static str,
    title: &'static str,
    label: &'static str,
    sent: &'static str,
    again: &'static str,
    /// The name of the field, and of the place in the text `sent`.
    field: &'static str,
    /// The type of the field, which is the name of what a browser fills in too.
    kind: &'static str,
}

static EMAIL: Words = Words {
    channel: Channel::Email,
    usage: Use::VerifyEmail,
    path: "/me/account/email",
    title: "me.email_change",
    label: "me.email_new",
    sent: "me.email_sent",
    again: "me.email_again",
    field: "email",
    kind: "email",
};
static PHONE: Words = Words {
    channel: Channel::Sms,
    usage: Use::VerifyPhone,
    path: "/me/account/phone",
    title: "me.phone_change",
    label: "me.phone_new",
    sent: "me.phone_sent",
    again: "me.phone_again",
    field: "phone",
    kind: "tel",
};

#[derive(Template)]
#[template(path = "member/address.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    words: &'static Words,
    /// The new address, as typed.
    address: String,
    /// The text that says where the code went; empty where the page asks for the address first.
    sent: String,
    problem: Option<String>,
}

/// `GET /me/account/email`: asks for the new address and the password.
pub(crate) fn show_email(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, &EMAIL, String::new(), false, None)
}

/// `GET /me/account/phone`
pub(crate) fn show_phone(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, &PHONE, String::new(), false, None)
}

fn page(
    site: &Site,
    call: &Call,
    member: &Member,
    words: &'static Words,
    address: String,
    is_sent: bool,
    problem: Option<String>,
) -> Answer {
    let shell = Shell::of(site, call, member, account::PATH)?;
    let sent = if is_sent { shell.tell(&Text::new(words.sent).with(words.field, &address)) } else { String::new() };
    let status = form_status(problem.is_some());
    Ok(show(status, call.language(), &Page { shell, words, address, sent, problem }))
}

/// `POST /me/account/email`: sends a code to the new address.
pub(crate) fn send_to_email(site: &Site, call: &Call, member: &Member) -> Answer {
    send(site, call, member, &EMAIL)
}

/// `POST /me/account/phone`: sends a code to the new number.
pub(crate) fn send_to_phone(site: &Site, call: &Call, member: &Member) -> Answer {
    send(site, call, member, &PHONE)
}

fn send(site: &Site, call: &Call, member: &Member, words: &'static Words) -> Answer {
    let typed = form(call)?.line(words.field, ADDRESS_CHARS_MAX);
    let sent = read_address(site, call, member, words).and_then(|(address, secret)| {
        let proven = sign_in::check_own_password(site, call, member.id(), &secret)?.at("password")?;
        limits::MESSAGE_REQUESTS.take(site, call.network())?;
        app::change(site, member, call.language(), |cx| {
            sign_in::check_same_password(cx.tx, &proven, "password")?;
            credentials::set_proven(cx, member.session())?;
            let target = Target {
                member_id: member.id(),
                channel: words.channel,
                address: &address,
                language: cx.language,
                cause: Cause::Authenticated,
            };
            passcode::send_or_refuse(site, cx.tx, words.usage, &target)
        })?;
        Ok(address)
    });
    match sent {
        Ok(address) => page(site, call, member, words, address, true, None),
        Err(failure) => {
            refused_form(failure, call, |problem| page(site, call, member, words, typed, false, Some(problem)))
        }
    }
}

/// The address that the form names, and the password. A number without its country's code is one of the tunnel's country.
fn read_address(site: &Site, call: &Call, member: &Member, words: &Words) -> Result<(String, String), Failure> {
    let (typed, secret) = read_form(call, |form| {
        let typed = match words.channel {
            Channel::Email => form.required(words.field, fields::as_line(email::parse)),
            Channel::Sms => form.required(words.field, fields::line(ADDRESS_CHARS_MAX)),
        };
        (typed, form.required("password", fields::secret))
    })?;
    if words.channel == Channel::Email {
        return Ok((typed, secret));
    }
    let home = site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?.map(|tunnel| tunnel.country)))?;
    let number = phone::parse(&home.unwrap_or_default(), &typed).map_err(|text| Failure::field(words.field, text))?;
    own_profile::check_takes_messages(site, member.id(), &number)?;
    Ok((number, secret))
}

/// `POST /me/account/email/code`: takes the address over that the code went to.
pub(crate) fn verify_email(site: &Site, call: &Call, member: &Member) -> Answer {
    verify(site, call, member, &EMAIL)
}

/// `POST /me/account/phone/code`
pub(crate) fn verify_phone(site: &Site, call: &Call, member: &Member) -> Answer {
    verify(site, call, member, &PHONE)
}

fn verify(site: &Site, call: &Call, member: &Member, words: &'static Words) -> Answer {
    let (address, code) =
        read_form(call, |form| (form.line(words.field, ADDRESS_CHARS_MAX), form.line("code", CODE_CHARS_MAX)))?;
    // Without an address no code went anywhere.
    if address.is_empty() {
        return Ok(reply::see_other(words.path));
    }
    if let Some(asks) = prove::demand(site, member, words.path) {
        return Ok(asks);
    }
    let code: String = code.split_whitespace().collect();
    let taken = app::change(site, member, call.language(), |cx| {
        let went_to = passcode::take_sent_to(site, cx.tx, member.id(), words.usage, &code, &address)?;
        let Some(address) = went_to else { return Ok(false) };
        own_profile::set_address(cx, words.channel, &address)?;
        Ok(true)
    });
    // A page that tells of a code comes only while one is on its way.
    let is_sent =
        site.store.read(|tx| Ok(passcodes::find(tx, member.id(), words.usage.name(), site.now())?))?.is_some();
    let again = |problem| page(site, call, member, words, address.clone(), is_sent, Some(problem));
    match taken {
        Ok(true) => Ok(reply::see_other(&format!("{}?done={}", account::PATH, words.field))),
        Ok(false) => again(call.say("me.passcode_wrong")),
        Err(failure) => refused_form(failure, call, again),
    }
}
