//! A day as it was rendered last: the same for every clerk who reads the same language, until something changes or the minute
//! is over. Twenty screens that show a day ask for it all at once, at each change: one of them has it made, and it is made once
//! for all who asked before.

use super::arrivals::{self, Question};
use super::flown::{self, Chart};
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::site::Site;
use askama::Template;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Days of which something is kept: a page each, in the languages in which it was asked for.
const DAYS_MAX: usize = 8;
const MINUTE_SECONDS: i64 = 60;

/// The rendered part of a day.
#[derive(Clone)]
pub(super) struct Shown {
    pub(super) arrivals: Arc<str>,
    /// Of today alone.
    pub(super) chart: Option<Arc<Chart>>,
}

#[derive(Clone, Copy, PartialEq)]
struct Key {
    from: i64,
    skip: i64,
    language: Language,
    minute: i64,
    /// The commits that may have changed it.
    count: u64,
}

#[derive(Default)]
struct Kept {
    all: Mutex<Vec<(Key, Shown)>>,
    /// Held by whoever makes one.
    making: Mutex<()>,
}

impl Kept {
    fn all(&self) -> MutexGuard<'_, Vec<(Key, Shown)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was begun after these commits or later ones.
    fn find(&self, wanted: &Key) -> Option<Shown> {
        let is_it = |key: &Key| key.count >= wanted.count && Key { count: wanted.count, ..*key } == *wanted;
        self.all().iter().find(|(key, _)| is_it(key)).map(|(_, shown)| shown.clone())
    }
}

/// A day of which `weekday` is the name, as it was after the commits that `count` counts, or later: made anew where what is
/// kept may be older.
pub(super) fn of(
    site: &Site,
    question: &Question,
    count: u64,
    is_today: bool,
    weekday: &str,
) -> Result<Shown, Failure> {
    let key = |count| Key {
        from: question.day.from,
        skip: question.skip,
        language: question.language,
        minute: question.now.div_euclid(MINUTE_SECONDS),
        count,
    };
    let kept = site.state::<Kept>();
    let wanted = key(count);
    if let Some(shown) = kept.find(&wanted) {
        return Ok(shown);
    }
    // The snapshot of this request may be older than the commits; nor may whoever waits keep a connection from the one who makes.
    site.store.release();
    let _making = kept.making.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(shown) = kept.find(&wanted) {
        return Ok(shown);
    }
    let made = key(site.store.change_feed().count());
    let arrivals = site.store.read(|tx| arrivals::of(site, tx, question))?;
    // Writing to memory fails only where a value's own `Display` does, and none of ours does.
    let arrivals = arrivals.render().unwrap_or_default().into();
    let chart = match is_today {
        true => Some(Arc::new(flown::draw(site, question.zone, question.now, weekday, question.language)?)),
        false => None,
    };
    let shown = Shown { arrivals, chart };
    let mut all = kept.all();
    all.retain(|(key, _)| key.count == made.count && key.minute == made.minute && *key != made);
    if all.len() < DAYS_MAX {
        all.push((made, shown.clone()));
    }
    Ok(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_good_for_whoever_came_before_it_was_begun_and_for_no_other() {
        let key = |from, count| Key { from, skip: 0, language: Language::English, minute: 7, count };
        let kept = Kept::default();
        kept.all().push((key(100, 5), Shown { arrivals: "jane".into(), chart: None }));
        let finds = |wanted: Key| kept.find(&wanted).is_some();
        assert!(finds(key(100, 5)) && finds(key(100, 4)) && !finds(key(100, 6)));
        assert!(
            !finds(key(200, 5)) && !finds(Key { minute: 8, ..key(100, 5) }) && !finds(Key { skip: 1, ..key(100, 5) })
        );
    }
}
