//! What is to be known of the site, each with what to do next where something is to be done.

use crate::call::Call;
use crate::domain::local_time::Hall;
use crate::failure::Failure;
use crate::jobs::backup::drill::Drill;
use crate::jobs::backup::shelf::Backup;
use crate::language::Text;
use crate::site::Site;
use crate::store::outbox;

const DAY_SECONDS: i64 = 86_400;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Ok,
    Warning,
    Alarm,
}

pub struct Fact {
    pub name: String,
    pub state: State,
    pub text: String,
    /// Empty where nothing is to be done.
    pub next: String,
}

impl State {
    /// The class of its colour.
    pub fn tone(&self) -> &'static str {
        ["good", "soon", "bad"][*self as usize]
    }

    /// The key of its word.
    pub fn key(&self) -> &'static str {
        ["site.ok", "site.warning", "site.alarm"][*self as usize]
    }
}

pub fn list(
    site: &Site,
    call: &Call,
    hall: &Hall,
    newest: Option<&Backup>,
    drill: Option<&Drill>,
) -> Result<Vec<Fact>, Failure> {
    let now = site.now();
    let clock = match site.clock.is_suspect() {
        false => (State::Ok, Text::new("site.clock_ok").with("at", hall.stamp(now)), ""),
        true => (State::Alarm, Text::new("site.clock_wrong").with("at", hall.stamp(now)), "site.clock_next"),
    };
    let backup = match newest.map(|backup| backup.manifest.made_at) {
        None => (State::Alarm, Text::new("site.backup_none"), "site.backup_next"),
        Some(at) if now - at > DAY_SECONDS => {
            (State::Warning, Text::new("site.backup_old").with("at", hall.stamp(at)), "site.backup_next")
        }
        Some(at) => (State::Ok, Text::new("site.backup_new").with("at", hall.stamp(at)), ""),
    };
    let drilled = match drill {
        None => (State::Warning, Text::new("site.drill_never"), "site.drill_next"),
        Some(drill) if !drill.trouble.is_empty() => {
            (State::Alarm, Text::new("site.drill_failed").with("why", &drill.trouble), "site.backup_next")
        }
        Some(drill) => (State::Ok, Text::new("site.drill_made").with("name", &drill.backup), ""),
    };
    let (waiting, dead) = site.store.read(|tx| Ok(outbox::counts(tx)?))?;
    let mail = match (&site.config.mail, dead) {
        (None, _) => (State::Warning, Text::new("site.mail_none").with("waiting", waiting), "site.mail_none_next"),
        (Some(_), 1..) => (State::Warning, Text::new("site.mail_some_dead").with("dead", dead), "site.mail_dead_next"),
        (Some(_), _) => (State::Ok, Text::new("site.mail_ok").with("waiting", waiting), ""),
    };
    let named = [("site.clock", clock), ("site.backup", backup), ("site.drill", drilled), ("site.mail", mail)];
    let fact = |(name, (state, text, next)): (&'static str, (State, Text, &'static str))| Fact {
        name: call.say(name),
        state,
        text: call.language().say(&text),
        next: if next.is_empty() { String::new() } else { call.say(next) },
    };
    Ok(named.into_iter().map(fact).collect())
}
