//! The security questions for account recovery.

use crate::auth::Member;
use crate::domain::questions;
use crate::http::Answer;
use crate::http::answer::Int;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use crate::store::tables::security_answers;

crate::answer! {
    struct SecurityQuestion {
        /// Its number.
        question: Int { "minimum": 1, "maximum": 12 } = 1,
        /// In the caller's language.
        text: String { "minLength": 1 } = "What was the name of your first pet?",
        /// Whether the member gave an answer; the answer itself is not kept.
        answered: bool = true,
    }
}

crate::answer! {
    /// The whole catalogue.
    struct SecurityQuestionList = Vec<SecurityQuestion>;
}

crate::operation! {
    /// The catalogue of security questions
    ///
    /// All twelve in the caller's language, and which of them the member has answered.
    LIST = "securityQuestions"
        .takes(&["AcceptLanguage"])
        .answers::<SecurityQuestionList>("The catalogue.")
}

pub(crate) fn list(site: &Site, call: &Call, member: &Member) -> Answer {
    let answered = site.store.read(|tx| Ok(security_answers::list_questions(tx, member.id())?))?;
    let show = |question| SecurityQuestion {
        question,
        text: questions::text(call.language(), question),
        answered: answered.contains(&question),
    };
    Ok(reply::part(call, call.page()?, questions::NUMBERS.map(show).collect()))
}
