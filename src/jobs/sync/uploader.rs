//! One batch after the other, and what each answer means.

use super::backoff;
use super::batch::{Batch, Row};
use super::lock::{BUSY, LOCK_WAIT_MAX, SyncLock};
use super::source::{Change, Source};
use super::upstream::{Position, Trouble, Upstream};
use crate::config::Sync;
use crate::store::tables::sync::{Refused, State};
use std::sync::Arc;
use std::time::Duration;

/// A batch that left before is read again whole, however few rows the settings want now.
const BATCH_ROWS_MAX: i64 = 5_000;
/// So many rows may be refused in a row before the receiver is thought to be at fault rather than they.
const REFUSED_RUN_MAX: i64 = 50;
/// A refused row is offered again after this long: the receiver may have learnt to take it.
const REFUSED_AGAIN_SECONDS: i64 = 24 * 3600;

/// The outcome of a step.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// So many rows were dealt with; there may be more.
    Moved(usize),
    /// Nothing waits.
    Quiet,
    /// Nothing was taken; the next try after this long.
    Wait(Duration),
}

/// Carries the history to a receiver, a step at a time.
pub struct Uploader {
    source: Box<dyn Source>,
    upstream: Box<dyn Upstream>,
    /// One at a time speaks for a site, whoever asked for it.
    turn: Arc<SyncLock>,
    /// Whom the state speaks of.
    name: String,
    batch_rows: i64,
    /// Whether the receiver said how far it is, since the last miss.
    asked: bool,
    /// While a refused batch is taken apart: where it ended, and how many rows go at once.
    apart: Option<(i64, i64)>,
    /// Tries in a row that came to nothing.
    misses: i64,
    /// Whether it went back once since a row was last taken.
    went_back: bool,
    /// Why the last try came to nothing.
    trouble: String,
}

impl Uploader {
    /// Nothing is asked and nothing is sent yet.
    pub fn new(source: Box<dyn Source>, upstream: Box<dyn Upstream>, settings: &Sync, turn: Arc<SyncLock>) -> Uploader {
        let (name, batch_rows) = (settings.upstream.shown(), settings.batch_rows);
        Uploader {
            source,
            upstream,
            turn,
            name,
            batch_rows,
            asked: false,
            apart: None,
            misses: 0,
            went_back: false,
            trouble: String::new(),
        }
    }

    /// Lets go of connections.
    pub fn rest(&mut self) {
        self.upstream.rest();
    }

    /// Offers one batch.
    pub fn step(&mut self) -> Step {
        let turn = self.turn.clone();
        let Some(_taken) = turn.lock_within(LOCK_WAIT_MAX) else {
            BUSY.clone_into(&mut self.trouble);
            return Step::Wait(Duration::ZERO);
        };
        match self.carry() {
            Ok(step) => step,
            Err(trouble) => self.miss(trouble),
        }
    }

    /// Why the last try came to nothing, in one line.
    pub fn trouble(&self) -> &str {
        &self.trouble
    }

    /// Offers every refused row now, and returns how many of them were taken. `told`: how many were offered, of how many.
    pub fn offer_refused(&mut self, told: &mut dyn FnMut(usize, usize)) -> Result<usize, String> {
        let turn = self.turn.clone();
        let _taken = turn.lock_within(LOCK_WAIT_MAX).ok_or(BUSY)?;
        let said = |trouble| match trouble {
            Trouble::Later { error, .. } | Trouble::Refused(error) | Trouble::TooLarge(error) => error,
            Trouble::OutOfPosition(held) => format!("the receiver goes on from {}", held.seq),
        };
        let mut state = self.ready().map_err(said)?;
        let mut taken = 0;
        let rows = self.source.refused(i64::MAX, i64::MAX)?;
        let all = rows.len();
        for (offered, refused) in rows.into_iter().enumerate() {
            told(offered, all);
            taken += usize::from(self.offer_again(&mut state, refused).map_err(said)?);
        }
        Ok(taken)
    }

    /// The state, once the receiver has said how far it is.
    fn ready(&mut self) -> Result<State, Trouble> {
        let mut state = self.source.state().map_err(Trouble::later)?;
        if state.upstream != self.name {
            // Another receiver has what it has, and says so when it is asked.
            (state.cursor, state.held, state.pending) = (0, 0, 0);
            state.upstream = self.name.clone();
        }
        if !self.asked {
            let nothing = Batch::of(self.source.site_id(), state.held, &[]);
            if let Some(held) = self.upstream.ask(&nothing)? {
                state = self.follow(state, held)?;
            }
            self.asked = true;
        }
        Ok(state)
    }

    fn carry(&mut self) -> Result<Step, Trouble> {
        let mut state = self.ready()?;
        let rows = self.next_rows(&state).map_err(Trouble::later)?;
        if rows.is_empty() {
            return self.end(state);
        }
        // Rows that were refused are left out, so what the receiver has before these may be further back.
        let batch = Batch::of(self.source.site_id(), state.held.min(state.cursor), &rows);
        if state.pending != batch.last || state.offered < batch.last {
            (state.pending, state.offered) = (batch.last, state.offered.max(batch.last));
            self.source.keep(&state, None).map_err(Trouble::later)?;
        }
        match self.upstream.offer(&batch) {
            // Others sent rows for this site: that these are among them is not said.
            Ok(held) | Err(Trouble::OutOfPosition(held)) if held.seq > state.offered => {
                let state = State { offered: batch.after, ..state };
                self.follow(state, held).map(|_| Step::Moved(0))
            }
            Ok(held) if held.seq > batch.after => self.taken(state, &batch, held),
            Ok(held) | Err(Trouble::OutOfPosition(held)) => self.reposition(state, &batch, held),
            Err(Trouble::Refused(error)) => self.refused(state, &batch, error),
            Err(Trouble::TooLarge(error)) => self.refused(state, &batch, error),
            Err(later) => Err(later),
        }
    }

    /// The rows to send next: the batch that may or may not have been taken, unchanged; or a part of a batch that was
    /// refused; or new rows.
    fn next_rows(&mut self, state: &State) -> Result<Vec<Row>, String> {
        if let Some((end, _)) = self.apart
            && state.cursor >= end
        {
            self.apart = None;
        }
        if let Some((end, rows)) = self.apart {
            let mut rows = self.source.rows(state.cursor, rows)?;
            rows.retain(|row| row.seq <= end);
            return Ok(rows);
        }
        if state.pending > state.cursor {
            let mut rows = self.source.rows(state.cursor, BATCH_ROWS_MAX)?;
            rows.retain(|row| row.seq <= state.pending);
            return Ok(rows);
        }
        self.source.rows(state.cursor, self.batch_rows)
    }

    /// Some or all of a batch was taken.
    fn taken(&mut self, mut state: State, batch: &Batch, held: Position) -> Result<Step, Trouble> {
        let now = self.source.now();
        (state.misses, state.refused_run, state.tried_at, state.taken_at) = (0, 0, Some(now), Some(now));
        state.trouble.clear();
        state.batches += 1;
        let (whole, before) = (held.seq >= batch.last, state.cursor);
        state.rows += if whole { batch.rows as i64 } else { 0 };
        state.held = held.seq.min(batch.last);
        state.cursor = state.cursor.max(state.held);
        if whole {
            state.pending = 0;
        }
        (self.went_back, self.misses) = (false, 0);
        self.source.keep(&state, Some(Change::Taken(before, state.held))).map_err(Trouble::later)?;
        if held.seq > batch.last {
            self.follow(state, held)?;
        } else if let (true, Some((end, rows))) = (whole, self.apart) {
            // The row that is refused lies in the rest.
            self.apart = Some((end, (rows / 2).max(1)));
        }
        Ok(Step::Moved(batch.rows))
    }

    /// Takes the receiver's word for how far it is.
    fn follow(&mut self, state: State, held: Position) -> Result<State, Trouble> {
        if held.seq > state.offered {
            self.apart = None;
            return self.source.take_up(&state, held);
        }
        let mut next = state.clone();
        if held.seq < state.held {
            tracing::warn!(receiver = held.seq, before = state.held, "the receiver has lost rows; they go again");
            self.apart = None;
            (next.cursor, next.pending) = (held.seq, 0);
        }
        (next.cursor, next.held) = (next.cursor.max(held.seq), held.seq);
        if next.pending <= next.cursor {
            next.pending = 0;
        }
        if next != state {
            self.source.keep(&next, None).map_err(Trouble::later)?;
        }
        Ok(next)
    }

    /// The receiver wants other rows first. Once in a row that is believed at once; then it is a miss like any other.
    fn reposition(&mut self, state: State, batch: &Batch, held: Position) -> Result<Step, Trouble> {
        let again = std::mem::replace(&mut self.went_back, true);
        if held.seq == batch.after || again {
            self.follow(state, held)?;
            return Err(Trouble::later(format!(
                "the receiver takes nothing: it was offered rows {} to {} and says that it has those up to {}",
                batch.after + 1,
                batch.last,
                held.seq
            )));
        }
        self.follow(state, held)?;
        Ok(Step::Moved(0))
    }

    /// Halves what was refused until it is one row, and sets that aside, if the receiver is well otherwise.
    fn refused(&mut self, mut state: State, batch: &Batch, error: String) -> Result<Step, Trouble> {
        state.pending = 0;
        if batch.rows > 1 {
            let end = self.apart.map_or(batch.last, |(end, _)| end.min(batch.last));
            self.apart = Some((end, (batch.rows as i64 / 2).max(1)));
            self.source.keep(&state, None).map_err(Trouble::later)?;
            return Ok(Step::Moved(0));
        }
        let nothing = Batch::of(self.source.site_id(), state.held, &[]);
        self.upstream.ask(&nothing)?;
        if state.refused_run >= REFUSED_RUN_MAX {
            return Err(Trouble::later(format!("the receiver refuses row after row: {error}")));
        }
        let now = self.source.now();
        tracing::error!(seq = batch.last, cause = error, "the receiver refuses this row; the others go past it");
        (state.cursor, state.misses, state.tried_at) = (batch.last, 0, Some(now));
        state.refused_run += 1;
        let refused = Refused { seq: batch.last, refused_at: now, tried_at: now, tries: 1, error };
        self.source.keep(&state, Some(Change::Refused(refused))).map_err(Trouble::later)?;
        (self.apart, self.misses) = (None, 0);
        Ok(Step::Moved(1))
    }

    /// Nothing new waits: perhaps a refused row is due again.
    fn end(&mut self, mut state: State) -> Result<Step, Trouble> {
        let before = self.source.now() - REFUSED_AGAIN_SECONDS;
        if let Some(refused) = self.source.refused(before, 1).map_err(Trouble::later)?.pop() {
            self.offer_again(&mut state, refused)?;
            return Ok(Step::Moved(1));
        }
        self.misses = 0;
        if state.misses > 0 || !state.trouble.is_empty() {
            (state.misses, state.tried_at) = (0, Some(self.source.now()));
            state.trouble.clear();
            self.source.keep(&state, None).map_err(Trouble::later)?;
        }
        Ok(Step::Quiet)
    }

    /// Whether it was taken this time.
    fn offer_again(&mut self, state: &mut State, refused: Refused) -> Result<bool, Trouble> {
        let rows = self.source.rows(refused.seq - 1, 1).map_err(Trouble::later)?;
        let Some(row) = rows.into_iter().find(|row| row.seq == refused.seq) else {
            let gone = Change::Taken(refused.seq - 1, refused.seq);
            return self.source.keep(state, Some(gone)).map(|()| false).map_err(Trouble::later);
        };
        let batch = Batch::again(self.source.site_id(), row, state.held, refused.tries);
        let change = match self.upstream.offer(&batch) {
            Ok(_) => Change::Taken(refused.seq - 1, refused.seq),
            Err(Trouble::Refused(error) | Trouble::TooLarge(error)) => {
                let (tried_at, tries) = (self.source.now(), refused.tries + 1);
                Change::Refused(Refused { tried_at, tries, error, ..refused })
            }
            Err(Trouble::OutOfPosition(_)) => {
                let (tried_at, tries) = (self.source.now(), refused.tries + 1);
                Change::Refused(Refused { tried_at, tries, ..refused })
            }
            Err(later) => return Err(later),
        };
        let taken = matches!(change, Change::Taken(..));
        state.rows += i64::from(taken);
        self.source.keep(state, Some(change)).map_err(Trouble::later)?;
        Ok(taken)
    }

    /// Nothing was taken: says why, once, and how long to wait.
    fn miss(&mut self, trouble: Trouble) -> Step {
        let (error, asked) = match trouble {
            Trouble::Later { error, wait } => (error, wait),
            Trouble::Refused(error) | Trouble::TooLarge(error) => (error, None),
            Trouble::OutOfPosition(held) => (format!("the receiver goes on from {}", held.seq), None),
        };
        self.asked = false;
        self.upstream.rest();
        self.misses += 1;
        let kept = self.source.state().and_then(|mut state| {
            if state.trouble != error {
                tracing::warn!(cause = error, "nothing goes upstream; it waits");
            }
            (state.misses, state.tried_at) = (self.misses, Some(self.source.now()));
            state.trouble.clone_from(&error);
            self.source.keep(&state, None)
        });
        if let Err(cause) = kept {
            tracing::warn!(cause, "how far the sync is was not written");
        }
        self.trouble = error;
        Step::Wait(backoff::wait(self.misses, asked))
    }
}
