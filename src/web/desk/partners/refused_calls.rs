//! A refused call of a partner, ready to be rendered.

use crate::auth::refusals::Refusal;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::call::Call;

pub(super) struct Line {
    pub at: String,
    /// Empty where the caller is unknown.
    pub partner: String,
    pub peer: String,
    pub what: String,
    pub status: u16,
    pub why: String,
    /// Problems of the fields.
    pub problems: Vec<String>,
    pub times: u64,
}

impl Line {
    pub(super) fn of(zone: &TimeZone, call: &Call, partner: Option<String>, refusal: Refusal) -> Line {
        let language = call.language();
        let problem = |one: &crate::http::failure::Problem| format!("{}: {}", one.field, language.say(&one.text));
        Line {
            at: when::moment(language, zone, refusal.at),
            partner: partner.unwrap_or_default(),
            peer: refusal.peer.to_string(),
            what: format!("{} {}", refusal.method, refusal.path),
            status: refusal.status,
            why: language.say(&refusal.why),
            problems: refusal.problems.iter().map(problem).collect(),
            times: refusal.times,
        }
    }
}
