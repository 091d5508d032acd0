//! A day as it was rendered last: the same for every clerk who reads the same language, until something changes or the minute
//! is over. Twenty screens that show a day ask for it all at once, at each change.

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
struct Kept(Mutex<Vec<(Key, Shown)>>);

impl Kept {
    fn all(&self) -> MutexGuard<'_, Vec<(Key, Shown)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A day of which `weekday` is the name, made anew where what is kept may be old.
pub(super) fn of(site: &Site, question: &Question, is_today: bool, weekday: &str) -> Result<Shown, Failure> {
    let key = |count| Key {
        from: question.day.from,
        skip: question.skip,
        language: question.language,
        minute: question.now.div_euclid(MINUTE_SECONDS),
        count,
    };
    let kept = site.kept::<Kept>();
    let wanted = key(site.store.changes().count());
    if let Some((_, shown)) = kept.all().iter().find(|(key, _)| *key == wanted) {
        return Ok(shown.clone());
    }
    // The snapshot of this request may be older than the count.
    site.store.rest();
    let made = key(site.store.changes().count());
    let arrivals = site.store.read(|tx| arrivals::of(site, tx, question))?;
    // Writing to memory fails only where a value's own `Display` does, and none of ours does.
    let arrivals = arrivals.render().unwrap_or_default().into();
    let chart = match is_today {
        true => Some(Arc::new(flown::draw(site, question.hall, question.now, weekday, question.language)?)),
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
