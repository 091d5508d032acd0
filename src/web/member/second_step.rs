//! The second step of a sign-in: a code of the authenticator app, a passcode that was sent, or a recovery code.

use super::sign_in::{TARGET_CHARS_MAX, answer, refused};
use crate::app::own_sign_in::{self, Step};
use crate::auth::own;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::web::factor::{CodeCard, CodeWords};
use crate::web::{CODE_CHARS_MAX, Form, Frame, form_status, read_form, show, target_below};

/// Where a step that has ended leads: to a new sign-in.
const SIGN_IN_AGAIN: &str = "/me/sign-in?ended=1";
/// The texts that ask for a code; the first is for a page that was opened by its address.
const ASKS: [&str; 5] =
    ["factor.totp_due", "passcode.sent", "factor.passcodes_used_up", "factor.unreachable", "factor.clock_suspect"];

const WORDS: CodeWords = CodeWords {
    title: "me.code_title",
    code: "me.code",
    go_on: "me.go_on",
    other: "me.other_account",
    action: "/me/sign-in/code",
    back: "/me/sign-in",
};

/// What the form carries beside the code.
struct Sent {
    asks: String,
    to: String,
}

fn read(form: &mut Form) -> Sent {
    Sent { asks: form.line("asks", 40), to: target_below(own::HOME, &form.line("to", TARGET_CHARS_MAX)) }
}

/// `GET /me/sign-in/code`: the form.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    let sent = Form(call.query()).read(read)?;
    page(site, call, sent, None)
}

fn page(site: &Site, call: &Call, sent: Sent, problem: Option<String>) -> Answer {
    let account = match own::CHALLENGE.value(site, call) {
        Some(token) => own_sign_in::find_due(site, token)?,
        None => None,
    };
    let Some(account) = account else { return Ok(reply::see_other(SIGN_IN_AGAIN)) };
    let prompt = call.say(ASKS.into_iter().find(|key| *key == sent.asks).unwrap_or(ASKS[0]));
    let status = form_status(problem.is_some());
    let card = CodeCard {
        frame: Frame::outside(site, call)?,
        words: &WORDS,
        username: account.username,
        prompt,
        sent: [("asks", sent.asks), ("to", sent.to)],
        problem,
    };
    Ok(show(status, call.language(), &card))
}

/// `POST /me/sign-in/code`: judges a code.
pub(crate) fn verify(site: &Site, call: &Call) -> Answer {
    let (code, username, sent) =
        read_form(call, |form| (form.line("code", CODE_CHARS_MAX), form.username(), read(form)))?;
    let Some(token) = own::CHALLENGE.value(site, call) else { return Ok(reply::see_other(SIGN_IN_AGAIN)) };
    if code.is_empty() {
        return page(site, call, sent, Some(call.say("me.code_missing")));
    }
    match own_sign_in::with_code(site, call, token, &username, &code) {
        Ok(Step::Entered(entry)) => answer(site, call, Ok(entry), username, &sent.to),
        Ok(Step::Wrong(key)) => page(site, call, sent, Some(call.say(key))),
        Ok(Step::Ended) => Ok(reply::see_other(SIGN_IN_AGAIN)),
        Err(failure) => refused(call, failure, |problem| page(site, call, sent, Some(problem))),
    }
}
