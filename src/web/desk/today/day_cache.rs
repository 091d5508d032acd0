//! A cache of rendered days. A rendered day is the same for every clerk with the same language until the next commit or the
//! next minute. After a commit all screens ask at the same time: the first request renders, the others wait for its result.

use super::arrivals::{self, DayQuery};
use super::flight_chart::{self, Chart};
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::moment::Moment;
use crate::site::Site;
use crate::web;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Entries of the cache: one a day, page and language.
const DAYS_MAX: usize = 8;
const MINUTE_SECONDS: i64 = 60;

/// The rendered part of a day.
#[derive(Clone)]
pub(super) struct RenderedDay {
    pub(super) arrivals: Arc<str>,
    /// `None` for other days than today.
    pub(super) chart: Option<Arc<Chart>>,
}

#[derive(Clone, Copy, PartialEq)]
struct Key {
    from: Moment,
    skip: i64,
    language: Language,
    minute: i64,
    /// Number of commits that may have changed the day when rendering began.
    count: u64,
}

#[derive(Default)]
struct DayCache {
    all: Mutex<Vec<(Key, RenderedDay)>>,
    /// Locked while a day is rendered.
    making: Mutex<()>,
}

impl DayCache {
    fn entries(&self) -> MutexGuard<'_, Vec<(Key, RenderedDay)>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The day as rendered after the wanted number of commits or a later one.
    fn find(&self, wanted: &Key) -> Option<RenderedDay> {
        let is_it = |key: &Key| key.count >= wanted.count && Key { count: wanted.count, ..*key } == *wanted;
        self.entries().iter().find(|(key, _)| is_it(key)).map(|(_, shown)| shown.clone())
    }
}

/// The day, from the cache or rendered now, with all changes of the first `count` commits. `weekday` is its name.
pub(super) fn render(
    site: &Site,
    query: &DayQuery,
    count: u64,
    is_today: bool,
    weekday: &str,
) -> Result<RenderedDay, Failure> {
    let key = |count| Key {
        from: query.day.from,
        skip: query.skip,
        language: query.language,
        minute: query.now.0.div_euclid(MINUTE_SECONDS),
        count,
    };
    let cache = site.state::<DayCache>();
    let wanted = key(count);
    if let Some(shown) = cache.find(&wanted) {
        return Ok(shown);
    }
    // The snapshot of this request may be older than those commits, and a waiting request must not hold a connection.
    site.store.release();
    let _making = cache.making.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(shown) = cache.find(&wanted) {
        return Ok(shown);
    }
    let made = key(site.store.change_feed().count());
    let arrivals = site.store.read(|tx| arrivals::of(site, tx, query))?;
    let arrivals = web::render(&arrivals).into();
    let chart = match is_today {
        true => Some(Arc::new(flight_chart::draw(site, query.zone, query.now, weekday, query.language)?)),
        false => None,
    };
    let shown = RenderedDay { arrivals, chart };
    let mut all = cache.entries();
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
    fn a_rendered_day_serves_requests_that_saw_no_later_commit() {
        let key = |from, count| Key { from, skip: 0, language: Language::English, minute: 7, count };
        let cache = DayCache::default();
        cache.entries().push((key(Moment(100), 5), RenderedDay { arrivals: "jane".into(), chart: None }));
        let finds = |wanted: Key| cache.find(&wanted).is_some();
        assert!(finds(key(Moment(100), 5)) && finds(key(Moment(100), 4)) && !finds(key(Moment(100), 6)));
        assert!(
            !finds(key(Moment(200), 5))
                && !finds(Key { minute: 8, ..key(Moment(100), 5) })
                && !finds(Key { skip: 1, ..key(Moment(100), 5) })
        );
    }
}
