//! The health checks of the site, as `tunneldesk doctor` reports them.

use crate::domain::health::State;
use crate::http::call::Call;
use crate::i18n::language::Text;
use crate::ops::health::{self, Depth};
use crate::site::Site;

pub(super) struct Fact {
    pub name: String,
    /// CSS class and text of the state.
    pub tone: &'static str,
    pub state: String,
    pub text: String,
    /// What to do next; empty for nothing.
    pub next: String,
}

pub(super) struct Facts {
    /// Warnings and alarms, the most urgent first.
    pub problems: Vec<Fact>,
    pub passed: Vec<Fact>,
    /// The check of the off-site backup again, where one is configured.
    pub off_site: Option<Fact>,
}

pub(super) fn read(site: &Site, call: &Call) -> Facts {
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
    let mut all = health::check(site, Depth::Quick);
    all.sort_by_key(|fact| std::cmp::Reverse(fact.state));
    let off_site = all.iter().find(|fact| fact.name == "off_site" && site.config.backup.off_site.is_some());
    let (passed, problems): (Vec<_>, Vec<_>) = all.iter().partition(|fact| fact.state == State::Ok);
    Facts {
        problems: problems.into_iter().map(fact).collect(),
        passed: passed.into_iter().map(fact).collect(),
        off_site: off_site.map(fact),
    }
}

/// `14 checks passed`.
pub(super) fn passed_text(call: &Call, count: usize) -> String {
    let key = if count == 1 { "site.passed_one" } else { "site.passed" };
    call.language().say(&Text::new(key).with_count("count", count))
}
