//! The second step of signing in: a code of the authenticator app, or a recovery code.

use super::sign_in::{Entry, answer, bar, enter, place};
use crate::auth::challenge::{self, Intent};
use crate::auth::second_factor::{self, Proof};
use crate::auth::{clerk, sign_in};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::http::reply;
use crate::site::Site;
use crate::web::{Frame, form, show};
use askama::Template;
use http::StatusCode;

const CODE_CHARS_MAX: usize = 40;
/// A step that can no longer be taken begins anew.
pub(crate) const ANEW: &str = "/desk/sign-in?ended=1";

#[derive(Template)]
#[template(path = "desk/code.html", config = "assets/templates/askama.toml")]
struct Page {
    frame: Frame,
    /// The prompt: which code is asked for.
    asked: String,
    by: String,
    to: String,
    problem: Option<String>,
}

impl Page {
    fn new(site: &Site, call: &Call, by: String, to: String) -> Result<Page, Failure> {
        let key = match by.as_str() {
            "none" => "factor.unreachable",
            _ if site.clock.is_suspect() => "factor.clock_suspect",
            _ => "desk.code_by_app",
        };
        let frame = Frame::outside(site, call)?;
        Ok(Page { asked: frame.say(key), frame, by, to: place(&to), problem: None })
    }

    fn refused(site: &Site, call: &Call, by: &str, to: &str, key: &'static str) -> Answer {
        let mut page = Page::new(site, call, by.to_owned(), to.to_owned())?;
        page.problem = Some(call.say(key));
        Ok(show(StatusCode::UNPROCESSABLE_ENTITY, call.language(), &page))
    }
}

/// `GET /desk/sign-in/code`: asks for it; `by` says where it comes from.
pub(crate) fn show_form(site: &Site, call: &Call) -> Answer {
    let now = site.now();
    let waits = match clerk::challenge_cookie::token(site, call) {
        Some(token) => site.store.read(|tx| challenge::find(tx, token, Intent::Desk, now))?.is_some(),
        None => false,
    };
    if !waits {
        return Ok(reply::see_other(ANEW));
    }
    let mut query = call.query();
    let (by, to) = (query.optional("by", fields::line(20)), query.optional("to", fields::line(200)));
    let ok = query.finish()?;
    let page = Page::new(site, call, by.get(&ok).unwrap_or_default(), to.get(&ok).unwrap_or_default())?;
    Ok(show(StatusCode::OK, call.language(), &page))
}

/// `POST /desk/sign-in/code`: each code costs the step a try, and the right one opens the session.
pub(crate) fn take(site: &Site, call: &Call) -> Answer {
    let mut body = form(call)?;
    let code = body.optional("code", fields::line(CODE_CHARS_MAX));
    let (by, to) = (body.optional("by", fields::line(20)), body.optional("to", fields::line(200)));
    let ok = body.finish()?;
    let code = code.get(&ok).unwrap_or_default();
    let (by, to) = (by.get(&ok).unwrap_or_default(), to.get(&ok).unwrap_or_default());
    let Some(token) = clerk::challenge_cookie::token(site, call) else { return Ok(reply::see_other(ANEW)) };
    if code.is_empty() {
        return Page::refused(site, call, &by, &to, "desk.code_missing");
    }
    let outcome = site.store.write(site.now(), |tx| {
        let Some(account) = challenge::try_once(tx, token, Intent::Desk)?.filter(|account| bar(account).is_none())
        else {
            return Ok(Outcome::Ended);
        };
        let prove = || second_factor::prove(site, call, tx, &account, &code);
        match sign_in::judge_code(site, call, tx, &account, prove)? {
            Proof::Right(passed) => {
                challenge::end(tx, account.member_id)?;
                Ok(Outcome::Right(enter(site, call, tx, passed, &account, None)?, account.username))
            }
            Proof::Wrong => Ok(Outcome::Wrong("desk.code_wrong")),
            Proof::ClockSuspect => Ok(Outcome::Wrong("factor.clock_suspect")),
        }
    })?;
    match outcome {
        Outcome::Ended => Ok(reply::see_other(ANEW)),
        Outcome::Right(entry, username) => answer(site, call, entry, &username, &to),
        Outcome::Wrong(key) => Page::refused(site, call, &by, &to, key),
    }
}

/// The outcome of a code.
enum Outcome {
    /// The step can no longer be taken.
    Ended,
    /// With the name of the account.
    Right(Entry, String),
    /// The key of the reason.
    Wrong(&'static str),
}
