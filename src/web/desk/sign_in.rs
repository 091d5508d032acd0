//! Sign-in at the desk by password and code or by passkey; and sign-out.

use crate::app::{self, Change};
use crate::auth::challenge::{self, Intent};
use crate::auth::passkey as ceremony;
use crate::auth::passkey::Outcome;
use crate::auth::second_factor::{self, RequiredCode, Requirement, SecondFactorPassed};
use crate::auth::sign_in::{self, OpenedSession};
use crate::auth::{Clerk, clerk, clerk_switch, device};
use crate::http::Answer;
use crate::http::call::{AuthOutcome, Call};
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply::{self, Reply};
use crate::site::Site;
use crate::store::tables::members::Account;
use crate::web::{CREDENTIAL_CHARS_MAX, Form, Frame, form, read_form, show};
use askama::Template;
use http::StatusCode;

const HOME: &str = "/desk";

#[derive(Template)]
#[template(path = "desk/sign_in.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    username: String,
    /// Page to go to after sign-in.
    to: String,
    problem: Option<String>,
    /// Whether a form was sent after its session had ended: what was typed waits in the browser.
    lost: bool,
    demo: bool,
    /// Whether browsers offer passkeys where this page came from.
    passkeys: bool,
}

impl Page {
    fn new(site: &Site, call: &Call, username: String, to: String) -> Result<Page, Failure> {
        Ok(Page {
            frame: Frame::outside(site, call)?,
            username,
            to,
            problem: None,
            lost: false,
            demo: site.config.demo,
            passkeys: ceremony::RelyingParty::of(site, call).is_ok(),
        })
    }

    fn refused(site: &Site, call: &Call, username: &str, to: &str, key: &'static str) -> Answer {
        let mut page = Page::new(site, call, username.to_owned(), to.to_owned())?;
        page.problem = Some(call.say(key));
        Ok(show(StatusCode::UNPROCESSABLE_ENTITY, call.language(), &page))
    }
}

/// `GET /desk/sign-in`: the form. `to` is the page to go to afterwards; with `another`, a colleague signs in beside the clerk
/// who is signed in.
pub(crate) fn show_or_pass(site: &Site, call: &Call) -> Answer {
    let mut query = Form(call.query());
    let to = query.line("to", 200);
    let (ended, lost, another) = (query.has("ended"), query.has("lost"), query.has("another"));
    if !another && clerk::find(site, call)?.is_some() {
        return Ok(reply::see_other(&safe_target(&to)));
    }
    let mut page = Page::new(site, call, String::new(), to)?;
    page.lost = lost;
    page.problem = match (ended, lost) {
        (true, _) => Some(call.say("desk.step_ended")),
        (false, true) => Some(call.say("desk.sent_lost")),
        (false, false) => None,
    };
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// `POST /desk/sign-in`: opens a session, or leads to the second factor.
pub(crate) fn with_password(site: &Site, call: &Call) -> Answer {
    let mut form = form(call)?;
    let typed = form.required("username", fields::line_as_typed(254));
    let secret = form.required("password", fields::secret);
    let target = form.line("to", 200);
    if form.finish().is_err() {
        return Page::refused(site, call, &typed, &target, "desk.both_needed");
    }
    let Some(account) = sign_in::check_password(site, call, &typed, &secret)?.account() else {
        return Page::refused(site, call, &typed, &target, "desk.wrong");
    };
    let renewed = sign_in::renewed_hash(site, &account, &secret);
    let outcome = app::change_by_stranger(site, call, |cx| {
        if !sign_in::is_unchanged(cx.tx, &account)? {
            return Ok(Entry::Refused("desk.wrong"));
        }
        if let Some(key) = denial(call, &account) {
            return Ok(Entry::Refused(key));
        }
        match second_factor::requirement(site, cx.tx, &account, None)? {
            Requirement::Passed(passed) => open_session(cx, call, passed, &account, renewed.as_deref()),
            Requirement::Code(due) => {
                call.outcome.set(AuthOutcome::SecondFactorDue);
                // Staff accounts get no passcodes.
                let by = if due == RequiredCode::Totp { "app" } else { "none" };
                let target = safe_target(&target);
                let target: String = form_urlencoded::byte_serialize(target.as_bytes()).collect();
                let page = format!("/desk/sign-in/code?by={by}&to={target}");
                begin_challenge(cx, call, &account, Intent::Desk, page)
            }
            Requirement::SetupMissing => {
                second_factor::begin_setup(site, cx.tx, account.member_id, &second_factor::new_secret())?;
                begin_challenge(cx, call, &account, Intent::DeskSetup, "/desk/sign-in/setup".to_owned())
            }
        }
    })?;
    answer(site, call, outcome, &typed, &target)
}

/// The outcome of a sign-in attempt.
pub(crate) enum Entry {
    In(OpenedSession),
    /// A second factor is due: token of the challenge, and path of its page.
    Due {
        token: String,
        page: String,
    },
    /// Key of the reason.
    Refused(&'static str),
}

/// The reply to a sign-in attempt; `to` is the page to go to afterwards.
pub(crate) fn answer(site: &Site, call: &Call, outcome: Entry, username: &str, to: &str) -> Answer {
    match outcome {
        Entry::In(opened) => with_session(site, call, reply::see_other(&safe_target(to)), &opened),
        Entry::Due { token, page } => Ok(clerk::CHALLENGE.set(site, call, reply::see_other(&page), &token)),
        Entry::Refused(key) => Page::refused(site, call, username, to, key),
    }
}

/// Why an account may not sign in to the desk, although its password is right; as a key.
pub(crate) fn denial(call: &Call, account: &Account) -> Option<&'static str> {
    if account.leaves {
        return Some(sign_in::LEAVES);
    }
    match (account.banned, account.role.is_staff()) {
        (true, _) => {
            call.outcome.set(AuthOutcome::Banned);
            Some("desk.banned")
        }
        (false, false) => Some("desk.no_clerk"),
        (false, true) => None,
    }
}

fn begin_challenge(
    cx: &Change,
    call: &Call,
    account: &Account,
    intent: Intent,
    page: String,
) -> Result<Entry, Failure> {
    Ok(Entry::Due { token: challenge::begin(call, cx.tx, account.member_id, intent)?, page })
}

/// Opens a session, unless the account changed meanwhile.
pub(crate) fn open_session(
    cx: &Change,
    call: &Call,
    passed: SecondFactorPassed,
    account: &Account,
    renewed: Option<&str>,
) -> Result<Entry, Failure> {
    let opened = sign_in::open_session(cx.site, call, cx.tx, passed, account, renewed)?;
    Ok(opened.map_or(Entry::Refused("desk.wrong"), Entry::In))
}

/// Adds the cookies of a new session to a reply. The session of a clerk who was signed in in this browser is kept for a
/// later change of clerk.
pub(crate) fn with_session(site: &Site, call: &Call, reply: Reply, opened: &OpenedSession) -> Answer {
    let waiting =
        app::change_by_stranger(site, call, |cx| clerk_switch::after_sign_in(site, call, cx.tx, &opened.token))?;
    let known = device::with_device_token_for_pages(site, reply, &opened.device_token);
    let reply = clerk::CHALLENGE.clear(site, call, clerk::SESSION.set(site, call, known, &opened.token));
    Ok(clerk_switch::with_parked_cookie(site, call, reply, &waiting))
}

/// `POST /desk/sign-in/passkey`: the answer to a challenge of `/api/auth/login/bio-web-option`.
pub(crate) fn with_passkey(site: &Site, call: &Call) -> Answer {
    let (credential, to) = read_form(call, |form| {
        (form.required("credential", fields::lines(CREDENTIAL_CHARS_MAX)), form.line("to", 200))
    })?;
    const REFUSED: Entry = Entry::Refused("desk.passkey_refused");
    let Some(proof) = ceremony::check_response(site, call, &credential, ceremony::Intent::Desk)? else {
        return answer(site, call, REFUSED, "", &to);
    };
    let outcome = app::change_by_stranger(site, call, |cx| match ceremony::apply(site, call, cx.tx, &proof)? {
        Outcome::SignedIn(account) => match denial(call, &account) {
            None => Ok(Entry::In(sign_in::insert_session(call, cx.tx, &account)?)),
            Some(key) => Ok(Entry::Refused(key)),
        },
        Outcome::Registered(_) | Outcome::Refused => Ok(REFUSED),
    })?;
    answer(site, call, outcome, "", &to)
}

/// `POST /desk/sign-out`: ends the session.
pub(crate) fn end(site: &Site, call: &Call, clerk: &Clerk) -> Answer {
    app::change(site, clerk, call.language(), |cx| clerk.end_session(cx.tx))?;
    let others = site.store.read(|tx| clerk_switch::list(site, call, tx, site.now()))?;
    let next = if others.is_empty() { "/desk/sign-in" } else { "/desk/sign-in/change" };
    Ok(clerk::SESSION.clear(site, call, reply::see_other(next)))
}

/// `to` where that is a page of the desk, else the desk's first page: the sign-in redirects to no other site.
pub(crate) fn safe_target(to: &str) -> String {
    crate::web::target_below(HOME, to)
}

#[cfg(test)]
mod tests {
    use super::safe_target;

    #[test]
    fn sign_in_redirects_to_pages_of_the_desk_only() {
        for page in ["/desk/members/4", "/desk?day=2026-11-24", "/desk/reports?from=2026-11-01&to=2026-11-24"] {
            assert_eq!(safe_target(page), page);
        }
        for elsewhere in [
            "",
            "//evil.example",
            "https://evil.example",
            "/desk//\\evil",
            "/api/x",
            "/deskx",
            "/desk/a?b=/c",
            "/desk?to=\\evil",
            "/desk/sign-in?to=/desk",
            "/desk/sign-out",
        ] {
            assert_eq!(safe_target(elsewhere), "/desk", "{elsewhere}");
        }
    }
}
