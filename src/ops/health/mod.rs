//! Health: one list of facts, each ok, a warning or an alarm with what to do, for the doctor, the probes, the metrics and the
//! desk. The limits are in [`crate::domain::health`].

mod copies;
mod disk;
mod file;
mod services;

use crate::domain::health::{Fact, State};
use crate::domain::local_time::TimeZone;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// How long a quick check is reused, because `/readyz` is open to everyone.
const QUICK_KEPT_SECONDS: i64 = 5;

/// A jump of the clock by less is not told of: a machine is often off for a few days.
const JUMP_TOLD_SECONDS: i64 = 7 * 86_400;

/// How much is checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// What takes a few milliseconds.
    Quick,
    /// Also every page of the database and every row of the audit log.
    Full,
}

/// The last quick check, and its moment.
#[derive(Default)]
struct LastQuick(Mutex<Option<(Moment, Arc<[Fact]>)>>);

/// All facts, the most urgent kinds first.
pub fn check(site: &Site, depth: Depth) -> Vec<Fact> {
    let facts = vec![
        file::store(site),
        file::integrity(site, depth),
        disk::space(&site.config.data),
        disk::reserve(&site.config.data),
        disk::permissions(&site.config.data),
        clock(site),
        services::certificate(site),
        services::backup(site),
        copies::off_site_backup(site),
        copies::off_site_replication(site),
        services::drill(site),
        services::signature(site),
        services::outbox(site),
        services::sync(site),
        disk::wal(&site.config.data),
        file::lost_writes(site),
        services::social_keys(site),
        services::sign_ins(site),
        services::partners(site),
        services::hooks(site),
        services::passcodes(site),
        file::audit(site, depth),
        version(),
    ];
    site.store.release();
    let at_times = [
        services::refused_forms(site),
        services::hidden_callers(site),
        copies::standby(site),
        copies::promotion(site),
        leftovers(&site.config.data),
    ];
    facts.into_iter().chain(at_times.into_iter().flatten()).collect()
}

/// A directory that an interrupted command left. `None`: there is none.
pub(crate) fn leftovers(data: &Path) -> Option<Fact> {
    let left = crate::ops::backup::restore::leftovers(data).into_iter().next()?;
    let (text, next) = (Text::new("health.leftovers"), Text::new("health.leftovers.next"));
    Some(Fact::judged("leftovers", State::Warning, text.with("path", left.display()), next))
}

/// The facts of a quick check, a few seconds old at most.
pub(crate) fn quick(site: &Site) -> Arc<[Fact]> {
    let now = site.now();
    let kept = site.state::<LastQuick>();
    let kept = || kept.0.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((at, facts)) = &*kept()
        && (0..QUICK_KEPT_SECONDS).contains(&(now - *at))
    {
        return facts.clone();
    }
    let facts: Arc<[Fact]> = check(site, Depth::Quick).into();
    *kept() = Some((now, facts.clone()));
    facts
}

impl Site {
    /// Drops the last quick check, so that the next one sees the present state.
    pub(crate) fn forget_health(&self) {
        *self.state::<LastQuick>().0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// The facts of a data directory whose site cannot be opened, because of `why`.
pub(crate) fn check_closed(data: &Path, why: &str) -> Vec<Fact> {
    let text = Text::new("health.closed").with("cause", why);
    let closed = Fact::judged("store", State::Alarm, text, Text::new("health.closed.next"));
    if !data.is_dir() {
        return vec![closed, version()];
    }
    vec![closed, disk::space(data), disk::reserve(data), disk::permissions(data), disk::wal(data), version()]
}

/// The title of a fact.
pub(crate) fn title(fact: &Fact) -> Text {
    let title = Text::find(&format!("health.name.{}", fact.name), |_| None);
    debug_assert!(title.is_some(), "the fact {} has no title", fact.name);
    title.unwrap_or_else(|| Text::new("health.name.version"))
}

/// A fact that cannot be read is an alarm.
fn or_unreadable(name: &'static str, fact: Result<Fact, Failure>) -> Fact {
    fact.unwrap_or_else(|cause| unreadable(name, &cause))
}

fn unreadable(name: &'static str, cause: &dyn std::fmt::Display) -> Fact {
    let text = Text::new("health.unreadable").with("cause", cause);
    Fact::judged(name, State::Alarm, text, Text::new("health.unreadable.next"))
}

fn clock(site: &Site) -> Fact {
    if site.clock.is_suspect() {
        let text = Text::new("health.clock.suspect").with("at", moment_text(site, site.now()));
        return Fact::judged("clock", State::Alarm, text, Text::new("health.clock.next"));
    }
    match site.clock.doubted_jump().filter(|jump| jump.to - jump.from >= JUMP_TOLD_SECONDS) {
        None => Fact::ok("clock", Text::new("health.clock")),
        Some(jump) => {
            let text = Text::new("health.clock.ahead")
                .with("from", moment_text(site, jump.from))
                .with("to", moment_text(site, jump.to));
            Fact::judged("clock", State::Warning, text, Text::new("health.clock.ahead_next"))
        }
    }
}

fn version() -> Fact {
    let text = Text::new("health.version")
        .with("version", crate::VERSION)
        .with("schema", crate::store::migrate::latest())
        .with("sqlite", crate::store::sqlite_version());
    Fact::ok("version", text)
}

/// A moment in the site's time zone; in UTC where that cannot be read.
fn moment_text(site: &Site, moment: Moment) -> String {
    zone_of(site).date_time_zone(moment)
}

fn zone_of(site: &Site) -> TimeZone {
    site.time_zone().unwrap_or(TimeZone::UTC)
}

/// In decimal units, as for disks.
fn shown_bytes(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1_000)),
        1_000_000..10_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{} GB", bytes / 1_000_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::config::Config;
    use crate::i18n::language::Language;
    use crate::ops::tests::{NOW, new_site};
    use crate::store::alarm;
    use crate::store::data_dir::DataDir;
    use std::time::Duration;

    #[test]
    fn every_fact_has_its_title_and_texts_in_every_language() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let config = Config { data: dir.path().to_owned(), ..Config::defaults() };
        let site = new_site(&data_dir, config);
        let facts = [check(&site, Depth::Full), check_closed(dir.path(), "a cause")].concat();
        assert_eq!(check(&site, Depth::Quick).len(), check(&site, Depth::Full).len());
        for fact in &facts {
            for language in Language::ALL {
                let has = |text: &Text| language.texts().contains_key(text.key());
                assert!(language.texts().contains_key(&format!("health.name.{}", fact.name)), "{}", fact.name);
                assert!(has(&fact.text) && fact.next.as_ref().is_none_or(has), "{fact:?}");
            }
            assert_eq!(fact.next.is_some(), fact.state != State::Ok, "{fact:?}");
        }
    }

    #[test]
    fn a_jump_of_the_clock_is_told_of_for_a_day_also_by_the_next_process() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let config = Config { data: dir.path().to_owned(), ..Config::defaults() };
        let site = new_site(&data_dir, config.clone());
        let clock =
            |site: &Site| check(site, Depth::Quick).into_iter().find(|fact| fact.name == "clock").unwrap().state;
        site.clock.set(NOW + 4 * 86_400);
        assert_eq!(clock(&site), State::Ok);
        let ahead = NOW + 365 * 86_400;
        site.clock.set(ahead);
        assert_eq!(clock(&site), State::Warning);
        crate::ops::lifecycle::follow_jump(&site);
        site.store.write(site.now(), |_| Ok(())).unwrap();
        site.close();
        drop(site);
        let site = Site::open(&data_dir, config, Clock::frozen(ahead)).unwrap();
        assert_eq!((clock(&site), site.clock.earliest()), (State::Warning, NOW));
        site.clock.advance(Duration::from_secs(86_400));
        crate::ops::lifecycle::follow_jump(&site);
        assert_eq!((clock(&site), site.clock.earliest()), (State::Ok, site.now()));
        assert_eq!(alarm::find(dir.path(), alarm::Kind::ClockAhead), None);
    }

    #[test]
    fn a_quick_check_is_reused_for_some_seconds() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let config = Config { data: dir.path().to_owned(), ..Config::defaults() };
        let site = new_site(&data_dir, config);
        let first = quick(&site);
        site.clock.set(NOW + QUICK_KEPT_SECONDS - 1);
        assert!(Arc::ptr_eq(&first, &quick(&site)));
        site.clock.set(NOW + QUICK_KEPT_SECONDS);
        assert!(!Arc::ptr_eq(&first, &quick(&site)));
    }
}
