//! Signing a child up on one's own telephone, between the QR code and the signature: the code of the adult proves the adult.

use super::sign::{self, CODE_CHARS_MAX};
use crate::app::waivers::links;
use crate::app::wards::{self, Child};
use crate::app::{self, signup};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::web::filled::{self, Filled};

/// `POST /sign/child`: a member more, for whom the one whose code it is acts, and signs with the next form.
pub(crate) fn add(site: &Site, call: &Call) -> Answer {
    signup::check_rate(site, call, signup::Place::Telephone)?;
    let typed: Vec<(String, String)> = call.form()?.ok_or_else(Failure::unsupported_type)?.into_iter().collect();
    let code: String = filled::value(&typed, "code").chars().take(CODE_CHARS_MAX).collect();
    let language = sign::language(call, filled::value(&typed, "lang"));
    let Some(member_id) = sign::find(site, &code)? else { return sign::over(site, language) };
    let signed_up = Child::read(site.now(), &typed)
        .and_then(|child| app::change(site, links::actor(call, member_id), language, |cx| wards::sign_up(cx, &child)));
    match signed_up {
        Ok(_) => Ok(reply::see_other(&path(&code, language))),
        Err(failure) if failure.problems().is_empty() => Err(failure),
        Err(failure) => {
            sign::page(site, language, &code, sign::Sent::Child(Filled::refused(typed, &failure, language)))
        }
    }
}

/// The page of the code again, with a word on what was done. A code that is good is letters, digits and dashes.
fn path(code: &str, language: Language) -> String {
    let code: String = code.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    format!("/sign?lang={}&code={code}&done=child", language.tag())
}
