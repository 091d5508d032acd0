//! The site's health: the doctor's facts, each with its next step where there is one.

use crate::domain::health::State;
use crate::http::call::Call;
use crate::i18n::language::Text;
use crate::ops::health::{self, Look};
use crate::site::Site;

pub(super) struct Fact {
    pub name: String,
    /// The class of the state's colour, and its word.
    pub tone: &'static str,
    pub state: String,
    pub text: String,
    /// Empty where nothing is to be done.
    pub next: String,
}

/// The facts that call for something to be done, the most urgent first, and those that are as they should be.
pub(super) fn list(site: &Site, call: &Call) -> (Vec<Fact>, Vec<Fact>) {
    let language = call.language();
    let fact = |fact: &crate::domain::health::Fact| {
        let (tone, key) = match fact.state {
            State::Ok => ("good", "site.ok"),
            State::Warning => ("soon", "site.warning"),
            State::Alarm => ("bad", "site.alarm"),
        };
        Fact {
            name: language.say(&health::title(fact)),
            tone,
            state: call.say(key),
            text: language.say(&fact.text),
            next: fact.next.as_ref().map(|next| language.say(next)).unwrap_or_default(),
        }
    };
    // As it is now: whoever has just made a backup looks whether it is there.
    let mut all = health::look(site, Look::Brief);
    all.sort_by_key(|fact| std::cmp::Reverse(fact.state));
    let (passed, problems): (Vec<_>, Vec<_>) = all.iter().partition(|fact| fact.state == State::Ok);
    (problems.into_iter().map(fact).collect(), passed.into_iter().map(fact).collect())
}

/// `14 checks passed`.
pub(super) fn passed_said(call: &Call, count: usize) -> String {
    let key = if count == 1 { "site.passed_one" } else { "site.passed" };
    call.language().say(&Text::new(key).with("count", count))
}
