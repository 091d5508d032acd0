//! Recovering a password or a username.

pub(crate) use crate::app::recovery::AccountAccess;

use crate::app::recovery::{self, Outcome, Recovery};
use crate::app::{self, RankedActor};
use crate::auth::passcode::Use;
use crate::auth::sign_in::{self, Attempt};
use crate::domain::questions;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Digits, Email, LineAsTyped};
use crate::http::reply::{self, Done};
use crate::site::Site;
use crate::store::tables::members;
use crate::store::tables::outbox::Channel;
use http::{HeaderValue, header};
use serde::{Deserialize, Serialize};

crate::body! {
    /// The account whose questions are asked, in the body or in the query.
    pub(crate) struct QuestionsRequest {
        /// The username or the e-mail address.
        username: LineAsTyped<254>,
    }
}

crate::body! {
    pub(crate) struct UsernameRequest {
        email: Email,
        /// The passcode that was sent. A number is read as six digits, leading zeros and all.
        passcode: Option<Digits<32>>,
    }
}

#[derive(Serialize)]
struct Question {
    question: i64,
    text: String,
}

/// What a request about a forgotten username came to.
#[derive(Serialize, Deserialize)]
enum UsernameOutcome {
    /// A passcode was sent, if a member has confirmed the address.
    Sent,
    Known(String),
    Wrong,
}

#[derive(Serialize)]
struct UsernameReply {
    status: bool,
    message: String,
    username: String,
}

/// `GET /auth/account-access/security-questions`: the questions to answer. Fields come in the body, or in the query, for
/// clients that send no body or an empty object with `GET`.
pub(crate) fn questions(site: &Site, call: &Call) -> Answer {
    recovery::check_rate(site, call)?;
    let body = call.fields()?;
    let fields = if body.has("username") { body } else { call.query() };
    let QuestionsRequest { username } = call.parse_body_from(fields).finish()?;
    let page = call.page()?;
    let numbers = recovery::list_questions(site, &username)?.into_iter();
    let rows = numbers.map(|question| Question { question, text: questions::text(call.language(), question) });
    let reply = reply::part(call, page, rows.collect());
    Ok(reply.with_header(header::CACHE_CONTROL, HeaderValue::from_static("private, no-store")))
}

/// `POST /auth/account-access/recover-password`: without a passcode, sends one; with it, a new password and the security
/// answers, sets the password and ends everything that the old one opened.
pub(crate) fn password(site: &Site, call: &Call) -> Answer {
    let outcome = app::once(site, call, || {
        recovery::check_rate(site, call)?;
        let request = Recovery::read(site, call.fields()?)?;
        recovery::carry_out(site, call, &request)
    })?;
    Ok(match outcome {
        Outcome::Sent => reply::done(call.say("recovery.sent")),
        Outcome::Done => reply::done(call.say("recovery.done")),
        Outcome::Wrong => reply::ok(&Done { status: false, message: call.say("recovery.wrong") }),
    })
}

/// `POST /auth/account-access/recover-username`: without a passcode, sends one to the address; with it, answers the username.
pub(crate) fn username(site: &Site, call: &Call) -> Answer {
    let reply = |status, message, username| reply::ok(&UsernameReply { status, message, username });
    Ok(match app::once(site, call, || recover_username(site, call))? {
        UsernameOutcome::Sent => reply::done(call.say("recovery.sent")),
        UsernameOutcome::Known(username) => reply(true, String::new(), username),
        UsernameOutcome::Wrong => reply(false, call.say("recovery.wrong"), String::new()),
    })
}

fn recover_username(site: &Site, call: &Call) -> Result<UsernameOutcome, Failure> {
    recovery::check_rate(site, call)?;
    let UsernameRequest { email: address, passcode } = call.body()?;
    let account = site.store.read(|tx| Ok(members::find_account(tx, &address)?.filter(|a| a.email_confirmed)))?;
    let Some(code) = passcode else {
        let (channel, usage) = (Channel::Email, Use::RecoverUsername);
        let sent = UsernameOutcome::Sent;
        return recovery::send_passcode(site, call, &address, account.as_ref(), channel, usage, sent);
    };
    app::change_once(site, call, RankedActor::stranger(call), |cx| {
        let tx = cx.tx;
        let Attempt::For(accounts) = sign_in::admit_within(site, call, tx, &address, account.into_iter().collect())?
        else {
            return Ok(UsernameOutcome::Wrong);
        };
        if let Some(account) = accounts.first().filter(|account| !account.banned)
            && recovery::take_passcode(site, tx, account.member_id, Use::RecoverUsername, &code)?
        {
            return Ok(UsernameOutcome::Known(account.username.clone()));
        }
        sign_in::record_failure(site, call, tx, &address, &accounts)?;
        Ok(UsernameOutcome::Wrong)
    })
}
