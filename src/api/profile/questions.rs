//! The security questions for account recovery.

use crate::auth::Member;
use crate::domain::questions;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::security_answers;
use serde::Serialize;

#[derive(Serialize)]
struct QuestionReply {
    question: i64,
    text: String,
    /// Whether the caller has answered the question; only a hash of the answer is stored.
    answered: bool,
}

/// `GET /account/profile/security-questions`: the catalogue in the caller's language, with the answered
/// questions marked.
pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let answered = site.store.read(|tx| Ok(security_answers::list_questions(tx, member.id())?))?;
    let show = |question| QuestionReply {
        question,
        text: questions::text(call.language(), question),
        answered: answered.contains(&question),
    };
    Ok(reply::part(call, call.page()?, questions::NUMBERS.map(show).collect()))
}
