//! The second factor of a desk sign-in: a code of the authenticator app, or a recovery code.

use super::sign_in::{Entry, answer, denial, open_session, safe_target};
use crate::app;
use crate::auth::challenge::{self, Intent};
use crate::auth::second_factor::{self, Proof};
use crate::auth::{clerk, sign_in};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::site::Site;
use crate::web::factor::{CodeCard, CodeWords};
use crate::web::{CODE_CHARS_MAX, Form, Frame, read_form, show};
use http::StatusCode;

/// Where an expired sign-in challenge leads: to a new sign-in.
pub(crate) const SIGN_IN_AGAIN: &str = "/desk/sign-in?ended=1";

const WORDS: CodeWords = CodeWords {
    title: "desk.code",
    code: "desk.code_label",
    go_on: "desk.go_in",
    other: "desk.other_account",
    action: "/desk/sign-in/code",
    back: "/desk/sign-in",
};

fn card(site: &Site, call: &Call, sent: Sent, problem: Option<&'static str>) -> Result<CodeCard, Failure> {
    let key = match sent.by.as_str() {
        "none" => "factor.unreachable",
        _ if site.clock.is_suspect() => "factor.clock_suspect",
        _ => "desk.code_by_app",
    };
    let frame = Frame::outside(site, call)?;
    Ok(CodeCard {
        prompt: frame.say(key),
        problem: problem.map(|key| frame.say(key)),
        frame,
        words: &WORDS,
        username: sent.username,
        sent: [("by", sent.by), ("to", safe_target(&sent.to))],
    })
}

fn refused(site: &Site, call: &Call, sent: Sent, key: &'static str) -> Answer {
    Ok(show(StatusCode::UNPROCESSABLE_ENTITY, call.language(), &card(site, call, sent, Some(key))?))
}

/// `GET /desk/sign-in/code`: the form; `by` is the source of the code.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    let now = site.now();
    let account = match clerk::CHALLENGE.value(site, call) {
        Some(token) => site.store.read(|tx| challenge::find(tx, token, Intent::Desk, now))?,
        None => None,
    };
    let Some(account) = account else { return Ok(reply::see_other(SIGN_IN_AGAIN)) };
    let (by, to) = Form(call.query()).read(|query| (query.line("by", 20), query.line("to", 200)))?;
    let sent = Sent { username: account.username, by, to };
    Ok(show(StatusCode::OK, call.language(), &card(site, call, sent, None)?))
}

/// `POST /desk/sign-in/code`: judges a code. The challenge allows a few attempts.
pub(crate) fn verify(site: &Site, call: &Call) -> Answer {
    let (code, sent) = read_form(call, |form| {
        let sent = Sent { username: form.username(), by: form.line("by", 20), to: form.line("to", 200) };
        (form.line("code", CODE_CHARS_MAX), sent)
    })?;
    let Some(token) = clerk::CHALLENGE.value(site, call) else { return Ok(reply::see_other(SIGN_IN_AGAIN)) };
    if code.is_empty() {
        return refused(site, call, sent, "desk.code_missing");
    }
    let outcome = app::change_by_stranger(site, call, |cx| {
        let Some(account) =
            challenge::try_once(cx.tx, token, Intent::Desk)?.filter(|account| denial(call, account).is_none())
        else {
            return Ok(Outcome::Ended);
        };
        // In another tab of this browser another sign-in has begun: this code is not its account's.
        if !sent.username.is_empty() && sent.username != account.username {
            return Ok(Outcome::Ended);
        }
        let prove = || second_factor::prove(site, call, cx.tx, &account, &code);
        match sign_in::check_code(site, call, cx.tx, &account, prove)? {
            Proof::Right(passed) => {
                challenge::end(cx.tx, account.member_id)?;
                Ok(Outcome::Right(open_session(cx, call, passed, &account, None)?, account.username))
            }
            Proof::Wrong | Proof::Delayed(_) => Ok(Outcome::Wrong("desk.code_wrong")),
            Proof::Unusable(why) => Ok(Outcome::Wrong(why)),
        }
    })?;
    match outcome {
        Outcome::Ended => Ok(reply::see_other(SIGN_IN_AGAIN)),
        Outcome::Right(entry, username) => answer(site, call, entry, &username, &sent.to),
        Outcome::Wrong(key) => refused(site, call, sent, key),
    }
}

/// What the form carries beside the code.
struct Sent {
    username: String,
    by: String,
    to: String,
}

/// The outcome of a code.
enum Outcome {
    /// The challenge has expired or has no attempts left.
    Ended,
    /// With the username.
    Right(Entry, String),
    /// Key of the reason.
    Wrong(&'static str),
}
