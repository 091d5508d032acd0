//! Signing in to the member's own pages, and out.

use crate::app::own_sign_in::{self, Entry};
use crate::app::{self, credentials};
use crate::auth::passkey::RelyingParty;
use crate::auth::sign_in::OpenedSession;
use crate::auth::{Member, device, own};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply::{self, Reply};
use crate::site::Site;
use crate::web::{
    CREDENTIAL_CHARS_MAX, Form, Frame, failure_text, form, form_status, read_form, show, target_below, with_failure,
};
use askama::Template;
use http::StatusCode;

/// Longest path that a sign-in leads back to.
pub(super) const TARGET_CHARS_MAX: usize = 200;

#[derive(Template)]
#[template(path = "member/sign_in.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    username: String,
    /// Page to go to after sign-in.
    to: String,
    problem: Option<String>,
    /// Whether browsers offer passkeys where this page came from.
    passkeys: bool,
}

/// `GET /me/sign-in`: the form. `to` is the page to go to afterwards.
pub(crate) fn show_or_pass(site: &Site, call: &Call) -> Answer {
    let mut query = Form(call.query());
    let (to, ended, lost) = (query.line("to", TARGET_CHARS_MAX), query.has("ended"), query.has("lost"));
    if own::find(site, call)?.is_some() {
        return Ok(reply::see_other(&target_below(own::HOME, &to)));
    }
    let problem = match (ended, lost) {
        (true, _) => Some(call.say("me.step_ended")),
        (false, true) => Some(call.say("me.sent_lost")),
        (false, false) => None,
    };
    let mut page = page(site, call, String::new(), &to, problem)?;
    page.status = StatusCode::OK;
    Ok(page)
}

fn page(site: &Site, call: &Call, username: String, to: &str, problem: Option<String>) -> Answer {
    let status = form_status(problem.is_some());
    let frame = Frame::outside(site, call)?;
    let passkeys = RelyingParty::of(site, call).is_ok();
    let page = Page { frame, username, to: target_below(own::HOME, to), problem, passkeys };
    Ok(show(status, call.language(), &page))
}

/// `POST /me/sign-in`: opens a session, or leads to the second step.
pub(crate) fn with_password(site: &Site, call: &Call) -> Answer {
    let mut form = form(call)?;
    let typed = form.required("username", fields::line_as_typed(254));
    let secret = form.required("password", fields::secret);
    let to = form.line("to", TARGET_CHARS_MAX);
    if form.finish().is_err() {
        return page(site, call, typed, &to, Some(call.say("me.both_needed")));
    }
    answer(site, call, own_sign_in::with_password(site, call, &typed, &secret), typed, &to)
}

/// `POST /me/sign-in/passkey`: the answer to a challenge of `/api/auth/login/bio-web-option`.
pub(crate) fn with_passkey(site: &Site, call: &Call) -> Answer {
    let (credential, to) = read_form(call, |form| {
        (form.required("credential", fields::lines(CREDENTIAL_CHARS_MAX)), form.line("to", TARGET_CHARS_MAX))
    })?;
    answer(site, call, own_sign_in::with_passkey(site, call, &credential), String::new(), &to)
}

/// The reply to an attempt; `to` is the page to go to afterwards.
pub(super) fn answer(site: &Site, call: &Call, entry: Result<Entry, Failure>, username: String, to: &str) -> Answer {
    match entry {
        Ok(Entry::SignedIn(opened)) => {
            Ok(with_session(site, call, reply::see_other(&target_below(own::HOME, to)), &opened))
        }
        Ok(Entry::CodeDue { token, asks }) => {
            let query = form_urlencoded::Serializer::new(String::new())
                .append_pair("asks", asks)
                .append_pair("to", &target_below(own::HOME, to))
                .finish();
            let page = reply::see_other(&format!("/me/sign-in/code?{query}"));
            Ok(own::CHALLENGE.set(site, call, page, &token))
        }
        Ok(Entry::Refused(key)) => page(site, call, username, to, Some(call.say(key))),
        Err(failure) => refused(call, failure, |problem| page(site, call, username, to, Some(problem))),
    }
}

/// The page of a form that was refused, in words where attempts are delayed.
pub(super) fn refused(call: &Call, failure: Failure, page: impl FnOnce(String) -> Answer) -> Answer {
    if failure.status() != StatusCode::TOO_MANY_REQUESTS {
        return Err(failure);
    }
    let page = page(failure_text(&failure, call.language()))?;
    Ok(with_failure(page, &failure, call.language(), &call.request_id))
}

/// Adds the cookies of a new session to a reply.
pub(crate) fn with_session(site: &Site, call: &Call, reply: Reply, opened: &OpenedSession) -> Reply {
    let known = device::with_device_token_for_pages(site, reply, &opened.device_token);
    own::CHALLENGE.clear(site, call, own::SESSION.set(site, call, known, &opened.token))
}

/// `POST /me/sign-out`: ends the session.
pub(crate) fn end(site: &Site, call: &Call, member: &Member) -> Answer {
    app::change(site, member, call.language(), |cx| credentials::sign_out(cx, member.session()))?;
    Ok(own::SESSION.clear(site, call, reply::see_other(own::SIGN_IN)))
}

#[cfg(test)]
mod tests {
    use crate::web::target_below;

    #[test]
    fn a_sign_in_leads_to_own_pages_only() {
        for page in ["/me", "/me/logbook?year=2026", "/me/signing"] {
            assert_eq!(target_below("/me", page), page);
        }
        for elsewhere in [
            "",
            "/desk",
            "//evil.example",
            "/me/sign-in?to=/me",
            "/me/sign-out",
            "/metrics",
            "/me//\\evil",
            "/me/../desk",
        ] {
            assert_eq!(target_below("/me", elsewhere), "/me", "{elsewhere}");
        }
    }
}
