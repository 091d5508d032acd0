//! A fresh proof of identity, which is asked for before a change of what opens the account. The page leads back to what was
//! being done.

use super::super::frame::Shell;
use super::super::{account, show};
use crate::app::second_factors::{self, Checked};
use crate::app::{self, credentials};
use crate::auth::{Member, own, sign_in};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply::{self, Reply};
use crate::site::Site;
use crate::store::tables::members;
use crate::store::tables::second_factors::{self as factors, Kind};
use crate::web::member::sign_in::TARGET_CHARS_MAX;
use crate::web::{CODE_CHARS_MAX, Form, form_status, read_form, refused_form, target_below};
use askama::Template;

#[derive(Template)]
#[template(path = "member/prove.html", config = "assets/templates/askama.toml")]
struct Page {
    shell: Shell,
    has_password: bool,
    kind: Option<Kind>,
    /// The page to go to afterwards.
    to: String,
    problem: Option<String>,
}

/// The redirect to this page, and from it back to `back`, where the last proof is too long ago.
pub(in crate::web::member) fn demand(site: &Site, member: &Member, back: &str) -> Option<Reply> {
    member.check_proven(site.now()).err()?;
    let query = form_urlencoded::Serializer::new(String::new()).append_pair("to", back).finish();
    Some(reply::see_other(&format!("/me/account/prove?{query}")))
}

/// `GET /me/account/prove`
pub(crate) fn show_form(site: &Site, call: &Call, member: &Member) -> Answer {
    let to = Form(call.query()).line("to", TARGET_CHARS_MAX);
    page(site, call, member, &to, None)
}

fn page(site: &Site, call: &Call, member: &Member, to: &str, problem: Option<String>) -> Answer {
    let (account, kind) = site.store.read(|tx| {
        let account = members::find_account_by_id(tx, member.id())?.ok_or_else(Failure::not_signed_in)?;
        Ok((account, factors::find(tx, member.id(), site.now())?.kind))
    })?;
    let status = form_status(problem.is_some());
    let page = Page {
        shell: Shell::of(site, call, member, account::PATH)?,
        has_password: account.password_hash.is_some(),
        kind,
        to: target_below(own::HOME, to),
        problem,
    };
    Ok(show(status, call.language(), &page))
}

/// `POST /me/account/prove`: by the password, or by a code of the second factor that is on.
pub(crate) fn prove(site: &Site, call: &Call, member: &Member) -> Answer {
    let (secret, code, to) = read_form(call, |form| {
        let secret = form.optional("password", fields::secret);
        (secret, form.optional("code", fields::line(CODE_CHARS_MAX)), form.line("to", TARGET_CHARS_MAX))
    })?;
    let proven = match secret {
        Some(secret) => by_password(site, call, member, &secret).map(Checked::Passed),
        None => app::change(site, member, call.language(), |cx| {
            let checked = second_factors::check_code(cx, call, &cx.own()?, code.as_deref())?;
            checked.then(|()| credentials::set_proven(cx, member.session()))
        }),
    };
    match proven {
        Ok(Checked::Passed(())) => Ok(reply::see_other(&target_below(own::HOME, &to))),
        Ok(Checked::Refused(problem)) => {
            page(site, call, member, &to, Some(call.say(problem.key("me.proof_missing", "me.code_wrong"))))
        }
        Err(failure) => refused_form(failure, call, |problem| page(site, call, member, &to, Some(problem))),
    }
}

fn by_password(site: &Site, call: &Call, member: &Member, secret: &str) -> Result<(), Failure> {
    let proven = sign_in::check_own_password(site, call, member.id(), secret)?.at("password")?;
    // The session may have ended, or the password changed, while the password was hashed.
    app::change(site, member, call.language(), |cx| {
        sign_in::check_same_password(cx.tx, &proven, "password")?;
        credentials::set_proven(cx, member.session())
    })
}
