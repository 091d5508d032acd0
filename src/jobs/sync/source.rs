//! Where the rows come from, and where it is kept how far they went.

use super::batch::Row;
use super::upstream::{Position, Trouble};
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::history::{self, Filter, HistoryRow};
use crate::store::tables::sync::{self, Refused, State};
use serde_json::value::{RawValue, to_raw_value};

/// More than this many rows no site ever lost: a receiver that claims them is not believed.
const AHEAD_MAX: i64 = 10_000_000;

/// The rows of one site, and the memory of what became of them.
pub trait Source {
    /// The site whose rows these are.
    fn site_id(&self) -> &str;

    /// Now, in Unix seconds.
    fn now(&self) -> i64;

    /// An error is one line.
    fn state(&mut self) -> Result<State, String>;

    /// Keeps the state; with a row that was refused just now, or one that was and no longer is.
    fn keep(&mut self, state: &State, change: Option<Change>) -> Result<(), String>;

    /// Rows after this one, oldest first.
    fn rows(&mut self, after: i64, limit: i64) -> Result<Vec<Row>, String>;

    /// Rows that were refused and last tried before this moment.
    fn refused(&mut self, tried_before: i64, limit: i64) -> Result<Vec<Refused>, String>;

    /// The receiver holds rows that this source never sent: takes up there, and returns the changed state.
    fn take_up(&mut self, state: &State, held: Position) -> Result<State, Trouble>;
}

/// What became of rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The receiver does not take this one as it is.
    Refused(Refused),
    /// The rows after the first up to the last.
    Taken(i64, i64),
}

/// The site's own file.
pub struct SiteSource {
    site: Site,
}

impl SiteSource {
    /// The history of this site.
    pub fn new(site: Site) -> SiteSource {
        SiteSource { site }
    }

    /// Holds no snapshot afterwards: what comes next may be a long wait.
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

    fn now(&self) -> i64 {
        self.site.now()
    }

    fn state(&mut self) -> Result<State, String> {
        self.read(|tx| Ok(sync::find(tx)?))
    }

    fn keep(&mut self, state: &State, change: Option<Change>) -> Result<(), String> {
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

    fn refused(&mut self, tried_before: i64, limit: i64) -> Result<Vec<Refused>, String> {
        self.read(|tx| Ok(sync::list_refused(tx, tried_before, limit)?))
    }

    /// The file was put back to an earlier state, and others sent rows under the numbers that it gives next. Rows that
    /// happened since the receiver's last row are new to the receiver and get numbers after that one; older rows it
    /// has.
    fn take_up(&mut self, state: &State, held: Position) -> Result<State, Trouble> {
        let taken = self.site.store.write(self.site.now(), |tx| {
            let ahead = held.seq - history::last_seq(tx)?;
            if ahead > AHEAD_MAX {
                return Ok(Err(implausible(ahead)));
            }
            let mut state = state.clone();
            let new = match held.at {
                Some(at) => history::first_younger(tx, state.offered + 1, held.seq, at)?,
                None => None,
            };
            if let Some(first) = new {
                state.renumbered += history::renumber(tx, first, held.seq + 1)? as i64;
                state.renumbered_at = Some(tx.now());
            }
            history::raise_numbers(tx, held.seq)?;
            (state.cursor, state.held, state.offered, state.pending) = (held.seq, held.seq, held.seq, 0);
            sync::replace(tx, &state)?;
            Ok(Ok((state, new.is_some() || ahead > 0)))
        });
        let (state, went_back) =
            taken.map_err(|e| Trouble::later(format!("cannot write how far the sync is: {e}")))??;
        if went_back {
            tracing::warn!(
                receiver = held.seq,
                renumbered = state.renumbered,
                "the receiver has rows that this file lost: it was put back to an earlier state; new rows get numbers after them"
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

/// As the report shows it. A detail that is no JSON goes as text, because nothing is left out.
fn row(row: HistoryRow) -> Row {
    let HistoryRow { seq, client_id, event, at, user_id, member_id, booking_id, detail } = row;
    let detail =
        RawValue::from_string(detail.clone()).or_else(|_| to_raw_value(&detail)).expect("text can be written as JSON");
    Row { seq, client_id, event, at, user_id, member_id, booking_id, detail }
}
