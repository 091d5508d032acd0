//! Adding a child on the signing page: the adult's code identifies the adult.

use super::sign::{self, CODE_CHARS_MAX};
use crate::app::children::{self, Child};
use crate::app::waivers::links;
use crate::app::{self, signup};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::web::form_pairs;
use crate::web::form_state::{self, FormState};

/// `POST /sign/child`: signs a child up, with the code's member as guardian.
pub(crate) fn add(site: &Site, call: &Call) -> Answer {
    let typed = form_pairs(call)?;
    let code: String = form_state::value(&typed, "code").chars().take(CODE_CHARS_MAX).collect();
    let language = sign::language(call, form_state::value(&typed, "lang"));
    let Some(member_id) = sign::find(site, &code)? else { return sign::link_expired(site, language) };
    let signed_up = signup::check_rate(site, call, signup::SignupPlace::Telephone)
        .and_then(|()| Child::read(site.now(), &typed))
        .and_then(|child| {
            app::change(site, links::actor(call, member_id), language, |cx| children::sign_up(cx, &child))
        });
    match signed_up {
        Ok(_) => Ok(reply::see_other(&path(&code, language))),
        Err(failure) => FormState::refused(typed, failure, call, language, |form| {
            sign::page(site, language, &code, sign::Submission::Child(form))
        }),
    }
}

/// The signing page with a message. A valid code consists of letters, digits and dashes.
fn path(code: &str, language: Language) -> String {
    let code: String = code.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
    format!("/sign?lang={}&code={code}&done=child", language.tag())
}
