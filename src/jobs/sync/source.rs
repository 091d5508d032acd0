//! The source of a sync: the rows of the history, and the state of the sync.

use super::batch::Row;
use super::upstream::{Position, Trouble};
use crate::app::bookings::desk_client;
use crate::app::events;
use crate::http::failure::{Failure, Stop};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::events::{About, Event};
use crate::store::tables::history::{self, Filter, HistoryRow};
use crate::store::tables::sync::{self, Refused, State};
use serde_json::json;
use serde_json::value::{RawValue, to_raw_value};

/// The greatest number of rows by which a receiver may be ahead; a greater claim is refused, because no site has lost
/// this many rows.
const AHEAD_MAX: i64 = 10_000_000;

/// The rows of one site, and the state of its sync.
pub trait Source {
    /// The id of the site.
    fn site_id(&self) -> &str;

    /// The current moment, in Unix seconds.
    fn now(&self) -> Moment;

    /// The state of the sync. The error is one line.
    fn state(&mut self) -> Result<State, String>;

    /// Writes the state together with a change of refused rows.
    fn write(&mut self, state: &State, change: Option<Change>) -> Result<(), String>;

    /// The rows after `after`, oldest first.
    fn rows(&mut self, after: i64, limit: i64) -> Result<Vec<Row>, String>;

    /// Refused rows that were last tried before this moment.
    fn refused(&mut self, tried_before: Moment, limit: i64) -> Result<Vec<Refused>, String>;

    /// Continues after rows that the receiver has and this source never sent; returns the changed state.
    fn skip_to(&mut self, state: &State, position: Position) -> Result<State, Trouble>;
}

/// A change in the list of refused rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The receiver refused this row.
    Refused(Refused),
    /// The receiver accepted the rows after the first number up to the second.
    Taken(i64, i64),
}

/// The site's own database.
pub struct SiteSource {
    site: Site,
}

impl SiteSource {
    /// The history of this site.
    pub fn new(site: Site) -> SiteSource {
        SiteSource { site }
    }

    /// Reads, and releases the snapshot afterwards, because a long wait may follow.
    fn read<T>(&self, question: impl FnOnce(&Read) -> Result<T, Failure>) -> Result<T, String> {
        let answer = self.site.store.read(question);
        self.site.store.release();
        answer.map_err(|failure| format!("cannot read the history: {failure}"))
    }
}

impl Source for SiteSource {
    fn site_id(&self) -> &str {
        &self.site.site_id
    }

    fn now(&self) -> Moment {
        self.site.now()
    }

    fn state(&mut self) -> Result<State, String> {
        self.read(|tx| Ok(sync::find(tx)?))
    }

    fn write(&mut self, state: &State, change: Option<Change>) -> Result<(), String> {
        let written = self.site.store.write(self.site.now(), |tx| {
            match &change {
                Some(Change::Refused(refused)) => _ = sync::replace_refused(tx, refused)?,
                Some(Change::Taken(after, last)) => _ = sync::delete_refused(tx, *after, *last)?,
                None => {}
            }
            sync::replace(tx, state)?;
            Ok(())
        });
        written.map_err(|e| format!("cannot write how far the sync is: {e}"))
    }

    fn rows(&mut self, after: i64, limit: i64) -> Result<Vec<Row>, String> {
        let filter = Filter { after: Some(after), ..Filter::default() };
        let rows = self.read(|tx| Ok(history::list(tx, &filter, limit, 0)?))?;
        Ok(rows.into_iter().map(row).collect())
    }

    fn refused(&mut self, tried_before: Moment, limit: i64) -> Result<Vec<Refused>, String> {
        self.read(|tx| Ok(sync::list_refused(tx, tried_before, limit)?))
    }

    /// Handles a database that was restored from a backup, while the receiver has rows under the next numbers. Rows
    /// after the moment of the receiver's last row are new to the receiver, and get numbers beyond its position. The
    /// receiver has the older rows. A row `site.restored` tells the receiver which of its rows are gone here.
    fn skip_to(&mut self, state: &State, position: Position) -> Result<State, Trouble> {
        let written = self.site.store.try_write(self.site.now(), |tx| {
            let ahead = position.seq - history::last_seq(tx)?;
            if ahead > AHEAD_MAX {
                return Err(Stop::Denied(implausible(ahead)));
            }
            let mut state = state.clone();
            let new = match position.at {
                Some(at) => history::first_younger(tx, state.offered + 1, position.seq, at)?,
                None => None,
            };
            let kept = history::last_up_to(tx, new.map_or(position.seq, |first| first - 1))?;
            if let Some(first) = new {
                state.renumbered += history::renumber(tx, first, position.seq + 1)? as i64;
                state.renumbered_at = Some(tx.now());
            }
            history::raise_numbers(tx, position.seq)?;
            let is_restored = kept < position.seq;
            if is_restored {
                let detail = json!({ "last_kept": kept, "last_lost": position.seq }).to_string();
                let about = About { data: Some(&detail), ..About::partner(desk_client(tx)?) };
                events::tell(tx, Event::SiteRestored, &about)?;
            }
            (state.cursor, state.held, state.offered, state.pending) = (position.seq, position.seq, position.seq, 0);
            sync::replace(tx, &state)?;
            Ok((state, is_restored))
        });
        let (state, was_restored) = written.map_err(|stop| match stop {
            Stop::Denied(trouble) => trouble,
            Stop::Failed(failure) => Trouble::later(format!("cannot write how far the sync is: {failure}")),
        })?;
        if was_restored {
            tracing::warn!(
                receiver = position.seq,
                renumbered = state.renumbered,
                "the receiver has rows that this database lost: it was restored from a backup; new rows get numbers after them"
            );
        }
        Ok(state)
    }
}

pub(super) fn implausible(ahead: i64) -> Trouble {
    Trouble::later(format!(
        "the receiver says that it is {ahead} rows ahead of this site: is it the right one, for this site_id?"
    ))
}

/// A row in the form of the report. A detail that is not JSON is sent as a text.
fn row(row: HistoryRow) -> Row {
    let HistoryRow { seq, client_id, event, at, user_id, member_id, booking_id, detail } = row;
    let detail =
        RawValue::from_string(detail.clone()).or_else(|_| to_raw_value(&detail)).expect("text can be written as JSON");
    Row { seq, client_id, event, at, user_id, member_id, booking_id, detail }
}
