//! A new e-mail address of the member: the password proves who asks, and a code that is sent to the address proves the address.

use super::frame::Shell;
use super::{account, show};
use crate::app::{self, credentials, own_profile};
use crate::auth::limits::messages::Cause;
use crate::auth::passcode::{self, Target, Use};
use crate::auth::{Member, limits, sign_in};
use crate::domain::email;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::fields;
use crate::http::reply;
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::outbox::Channel;
use crate::web::{CODE_CHARS_MAX, form, form_status, read_form, refused_form};
use askama::Template;

const ADDRESS_CHARS_MAX: usize = 254;

#[derive(Template)]
#[template(path = "member/email.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    /// The new address, as typed.
    address: String,
    /// The text that says where the code went; empty where the page asks for the address first.
    sent: String,
    problem: Option<String>,
}

/// `GET /me/account/email`: asks for the new address and the password.
pub(crate) fn show_form(site: &Site, call: &Call, member: &Member) -> Answer {
    page(site, call, member, String::new(), false, None)
}

fn page(site: &Site, call: &Call, member: &Member, address: String, is_sent: bool, problem: Option<String>) -> Answer {
    let shell = Shell::of(site, call, member, account::PATH)?;
    let sent = if is_sent { shell.tell(&Text::new("me.email_sent").with("email", &address)) } else { String::new() };
    let status = form_status(problem.is_some());
    Ok(show(status, call.language(), &Page { shell, address, sent, problem }))
}

/// `POST /me/account/email`: sends a code to the new address.
pub(crate) fn send(site: &Site, call: &Call, member: &Member) -> Answer {
    let typed = form(call)?.line("email", ADDRESS_CHARS_MAX);
    let sent = read_form(call, |form| {
        (form.required("email", fields::as_line(email::parse)), form.required("password", fields::secret))
    })
    .and_then(|(address, secret)| {
        let proven = sign_in::check_own_password(site, call, member.id(), &secret)?.at("password")?;
        limits::MESSAGE_REQUESTS.take(site, call.network())?;
        app::change(site, member, call.mail_language(), |cx| {
            sign_in::check_same_password(cx.tx, &proven, "password")?;
            credentials::set_proven(cx, member.session())?;
            let target = Target {
                member_id: member.id(),
                channel: Channel::Email,
                address: &address,
                language: cx.language,
                cause: Cause::Authenticated,
            };
            passcode::send_or_refuse(site, cx.tx, Use::VerifyEmail, &target)
        })?;
        Ok(address)
    });
    match sent {
        Ok(address) => page(site, call, member, address, true, None),
        Err(failure) => refused_form(failure, call, |problem| page(site, call, member, typed, false, Some(problem))),
    }
}

/// `POST /me/account/email/code`: takes the address over that the code went to.
pub(crate) fn verify(site: &Site, call: &Call, member: &Member) -> Answer {
    let (address, code) =
        read_form(call, |form| (form.line("email", ADDRESS_CHARS_MAX), form.line("code", CODE_CHARS_MAX)))?;
    let code: String = code.split_whitespace().collect();
    member.check_proven(site.now())?;
    let taken = app::change(site, member, call.mail_language(), |cx| {
        let went_to = passcode::take_sent_to(site, cx.tx, member.id(), Use::VerifyEmail, &code, &address)?;
        let Some(address) = went_to else { return Ok(false) };
        own_profile::set_address(cx, Channel::Email, &address)?;
        Ok(true)
    });
    match taken {
        Ok(true) => Ok(reply::see_other(&format!("{}?done=email", account::PATH))),
        Ok(false) => page(site, call, member, address, true, Some(call.say("me.passcode_wrong"))),
        Err(failure) => refused_form(failure, call, |problem| page(site, call, member, address, true, Some(problem))),
    }
}
