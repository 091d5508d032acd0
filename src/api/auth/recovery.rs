//! Recovering a password or a username.

pub(crate) use crate::app::recovery::AccountAccess;

use crate::app::recovery::{self, Outcome, Recovery};
use crate::app::{self, RankedActor};
use crate::auth::passcode::Use;
use crate::auth::sign_in::{self, Attempt};
use crate::domain::questions;
use crate::http::Answer;
use crate::http::answer::Int;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Digits, Email, LineAsTyped};
use crate::http::reply::{self, Done};
use crate::site::Site;
use crate::store::tables::members;
use crate::store::tables::outbox::Channel;
use http::{HeaderValue, header};
use serde::{Deserialize, Serialize};
use serde_json::json;

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

crate::answer! {
    inline struct Question {
        /// Its number in the catalogue, for `answer_<number>`.
        question: Int { "minimum": 1, "maximum": 12 },
        /// In the caller's language.
        text: String { "minLength": 1 },
    }
}

/// What a request about a forgotten username came to.
#[derive(Serialize, Deserialize)]
enum UsernameOutcome {
    /// A passcode was sent, if a member has confirmed the address.
    Sent,
    Known(String),
    Wrong,
}

crate::answer! {
    struct RecoveredUsername {
        status: bool = true,
        message: String = "",
        /// Empty in a refusal.
        username: String = "jane",
    }
}

crate::answer! {
    /// The questions that the member chose, by number.
    struct RecoveryQuestionList = Vec<Question>;
}

crate::operation! {
    /// Which questions to answer
    ///
    /// Three questions: those that the member chose, filled up to three; for an unknown name, a stable and plausible
    /// choice. Additional answers do no harm. `username` stands in the body, as the contract sends it, or in the
    /// query, where a client cannot send a body with `GET`; the query is read if the body has no `username`.
    QUESTIONS = "recoveryQuestions"
        .takes(&["AcceptLanguage"])
        .paced(true)
        .answers::<RecoveryQuestionList>("The questions.")
        .example(|| json!([
            { "question": 3, "text": "What was the make of your first car or bicycle?" },
            { "question": 4, "text": "Who was your favourite teacher?" },
            { "question": 9, "text": "Which book did you read more than twice?" },
        ]))
        .also(|| json!({
            "requestBody": {
                "description": "The contract's account-access body. `username` is read; `option`, `password`, `passcode`, `answer_3`, `answer_4` and `answer_9` are ignored here.",
                "json": { "example": { "username": "jane" } },
            },
            "parameters": [
                {
                    "name": "username", "in": "query",
                    "description": "The username or the e-mail address; required if the body has none.",
                    "schema": {
                        "anyOf": [
                            {
                                "type": "string", "maxLength": 254,
                                "pattern": "^[\\s\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\u2800\\u3164\\ufeff\\uffa0]*[^\\s\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u115f\\u1160\\u180e\\u200b-\\u200f\\u202a-\\u202e\\u2060-\\u2069\\u2800\\u3164\\ufeff\\uffa0][^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]*\\s*$",
                            },
                            { "type": "string", "pattern": "^\\s*$" },
                        ],
                    },
                    "example": "jane",
                },
            ],
        }))
}

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

crate::operation! {
    /// Set a forgotten password
    ///
    /// Without `passcode`, one is sent; the answer is the same for an unknown name. With it, a new `password` and the
    /// answers to the security questions, the password is set, and all sessions (also at kiosks), booking tokens,
    /// passcodes, passkey challenges and the booking PIN end. Passkeys and social links that the body does not name
    /// (`keep_passkeys`, `keep_social`) are removed, because a thief may have added them. A staff account gets a
    /// passcode only by a mail server or SMS gateway of the site, not at the desk. Wrong values are **200** with
    /// `status: false`.
    PASSWORD = "recoverPassword"
        .body(|| json!({
            "username": "jane", "option": "email", "passcode": "481516", "password": "violet-anvil-harbour-93",
            "answer_3": "Saab", "answer_4": "Ms Frizzle", "answer_9": "Momo",
        }))
        .takes(&["AcceptLanguage"])
        .answers::<Done>("A passcode is on its way, the password is set, or a refusal.")
        .example(|| json!({
            "message": "Your new password is set. Every device is signed out; sign in with it now. Your booking PIN has ended, and passkeys that you did not name are removed.",
        }))
}

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

crate::operation! {
    /// Recover a forgotten username
    ///
    /// Without `passcode`, one is sent to the address; with it, the answer has the username. Wrong values are **200**
    /// with `status: false`.
    USERNAME = "recoverUsername"
        .body(|| json!({ "email": "jane@example.com", "passcode": "481516" }))
        .takes(&["AcceptLanguage"])
        .answers::<(RecoveredUsername, Done)>("A passcode is on its way, the username, or a refusal.")
}

pub(crate) fn username(site: &Site, call: &Call) -> Answer {
    let reply = |status, message, username| reply::ok(&RecoveredUsername { status, message, username });
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
