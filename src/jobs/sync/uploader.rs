//! The uploader: sends one batch after the other, and handles each answer.

use super::backoff;
use super::batch::{Batch, Row};
use super::lock::{BUSY, LOCK_WAIT_MAX, SyncLock};
use super::source::{Change, Source};
use super::upstream::{Position, Trouble, Upstream};
use crate::config::Sync;
use crate::moment::Moment;
use crate::store::tables::sync::{Refused, State};
use std::sync::Arc;
use std::time::Duration;

/// The greatest number of rows of a repeated batch: the setting may have been larger when the batch was first sent.
const BATCH_ROWS_MAX: i64 = 5_000;
/// After this many consecutive refused rows, the receiver counts as faulty, not the rows.
const REFUSED_RUN_MAX: i64 = 50;
/// Seconds after which a refused row is sent again, because a new version of the receiver may accept it.
const REFUSED_AGAIN_SECONDS: i64 = 24 * 3600;

/// The outcome of a step.
#[derive(Debug, PartialEq)]
pub enum Step {
    /// This number of rows was handled; more may wait.
    Moved(usize),
    /// No row waits.
    Quiet,
    /// The attempt failed; the next one is due after this wait.
    Wait(Duration),
}

/// Sends the history to a receiver, step by step.
pub struct Uploader {
    source: Box<dyn Source>,
    upstream: Box<dyn Upstream>,
    /// The lock that allows one sync of a site at a time.
    lock: Arc<SyncLock>,
    /// The name of the receiver.
    name: String,
    batch_rows: i64,
    /// Whether the receiver's position was requested since the last failure.
    asked: bool,
    /// While a refused batch is halved: its last row, and the number of rows in one batch.
    bisecting: Option<(i64, i64)>,
    /// Consecutive failures.
    failed_tries: i64,
    /// Whether the position was changed since a row was last accepted.
    repositioned: bool,
    /// Why the last attempt failed.
    trouble: String,
}

impl Uploader {
    /// Creates an uploader, without sending.
    pub fn new(source: Box<dyn Source>, upstream: Box<dyn Upstream>, settings: &Sync, lock: Arc<SyncLock>) -> Uploader {
        let (name, batch_rows) = (settings.upstream.without_secrets(), settings.batch_rows);
        Uploader {
            source,
            upstream,
            lock,
            name,
            batch_rows,
            asked: false,
            bisecting: None,
            failed_tries: 0,
            repositioned: false,
            trouble: String::new(),
        }
    }

    /// Closes idle connections.
    pub fn disconnect(&mut self) {
        self.upstream.disconnect();
    }

    /// Sends one batch.
    pub fn step(&mut self) -> Step {
        let lock = self.lock.clone();
        let Some(_guard) = lock.lock_within(LOCK_WAIT_MAX) else {
            BUSY.clone_into(&mut self.trouble);
            return Step::Wait(Duration::ZERO);
        };
        match self.send() {
            Ok(step) => step,
            Err(trouble) => self.miss(trouble),
        }
    }

    /// Why the last attempt failed, in one line.
    pub fn trouble(&self) -> &str {
        &self.trouble
    }

    /// Sends every refused row now, and returns how many were accepted. `progress` gets the number sent so far and the
    /// total.
    pub fn offer_refused(&mut self, progress: &mut dyn FnMut(usize, usize)) -> Result<usize, String> {
        let lock = self.lock.clone();
        let _guard = lock.lock_within(LOCK_WAIT_MAX).ok_or(BUSY)?;
        let text = |trouble| match trouble {
            Trouble::Later { error, .. }
            | Trouble::Full(error)
            | Trouble::Refused(error)
            | Trouble::TooLarge(error) => error,
            Trouble::OutOfPosition(position) => format!("the receiver goes on from {}", position.seq),
        };
        let mut state = self.ready().map_err(text)?;
        let mut taken = 0;
        let rows = self.source.refused(Moment::LAST, i64::MAX)?;
        let all = rows.len();
        for (offered, refused) in rows.into_iter().enumerate() {
            progress(offered, all);
            taken += usize::from(self.offer_again(&mut state, refused).map_err(text)?);
        }
        Ok(taken)
    }

    /// The state, updated with the receiver's position.
    fn ready(&mut self) -> Result<State, Trouble> {
        let mut state = self.source.state().map_err(Trouble::later)?;
        if state.upstream != self.name {
            // The position at a new receiver is unknown, and is requested below.
            (state.cursor, state.held, state.pending) = (0, 0, 0);
            state.upstream = self.name.clone();
        }
        if !self.asked {
            let nothing = Batch::of(self.source.site_id(), state.held, &[]);
            let position = self.upstream.ask(&nothing)?;
            if state.held > 0
                && let Some(lost) = self.upstream.last_lost(state.held)?
            {
                tracing::warn!(
                    taken = state.held,
                    lost,
                    "the receiver has no longer all rows that it took: some up to `lost` are not there; if nobody read them \
                     there, `tunneldesk sync --rewind 0` sends all of them again"
                );
            }
            if let Some(position) = position {
                state = self.follow(state, position)?;
            }
            self.asked = true;
        }
        Ok(state)
    }

    fn send(&mut self) -> Result<Step, Trouble> {
        let mut state = self.ready()?;
        let rows = self.next_rows(&state).map_err(Trouble::later)?;
        if rows.is_empty() {
            return self.end(state);
        }
        // Refused rows are skipped, so the receiver's last row may be before the cursor.
        let batch = Batch::of(self.source.site_id(), state.held.min(state.cursor), &rows);
        if state.pending != batch.last || state.offered < batch.last {
            (state.pending, state.offered) = (batch.last, state.offered.max(batch.last));
            self.source.write(&state, None).map_err(Trouble::later)?;
        }
        match self.upstream.offer(&batch) {
            // Another machine sent rows for this site, possibly other ones.
            Ok(position) | Err(Trouble::OutOfPosition(position)) if position.seq > state.offered => {
                let state = State { offered: batch.after, ..state };
                self.follow(state, position).map(|_| Step::Moved(0))
            }
            Ok(position) if position.seq > batch.after => self.taken(state, &batch, position),
            Ok(position) | Err(Trouble::OutOfPosition(position)) => self.reposition(state, &batch, position),
            Err(Trouble::Refused(error)) => self.refused(state, &batch, error),
            Err(Trouble::TooLarge(error)) => self.refused(state, &batch, error),
            Err(later) => Err(later),
        }
    }

    /// The rows to send next: the batch whose outcome is unknown, unchanged; or a part of a refused batch; or new rows.
    fn next_rows(&mut self, state: &State) -> Result<Vec<Row>, String> {
        if let Some((end, _)) = self.bisecting
            && state.cursor >= end
        {
            self.bisecting = None;
        }
        if let Some((end, rows)) = self.bisecting {
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

    /// Records that a batch was accepted, in whole or in part.
    fn taken(&mut self, mut state: State, batch: &Batch, position: Position) -> Result<Step, Trouble> {
        let now = self.source.now();
        (state.failed_tries, state.refused_run, state.tried_at, state.taken_at) = (0, 0, Some(now), Some(now));
        state.trouble.clear();
        state.batches += 1;
        let (whole, before) = (position.seq >= batch.last, state.cursor);
        state.rows += if whole { batch.rows as i64 } else { 0 };
        state.held = position.seq.min(batch.last);
        state.cursor = state.cursor.max(state.held);
        if whole {
            state.pending = 0;
        }
        (self.repositioned, self.failed_tries) = (false, 0);
        self.source.write(&state, Some(Change::Taken(before, state.held))).map_err(Trouble::later)?;
        if position.seq > batch.last {
            self.follow(state, position)?;
        } else if let (true, Some((end, rows))) = (whole, self.bisecting) {
            // The refused row is in the remaining half.
            self.bisecting = Some((end, (rows / 2).max(1)));
        }
        Ok(Step::Moved(batch.rows))
    }

    /// Moves the state to the receiver's position.
    fn follow(&mut self, state: State, position: Position) -> Result<State, Trouble> {
        if position.seq > state.offered {
            self.bisecting = None;
            return self.source.skip_to(&state, position);
        }
        let mut next = state.clone();
        if position.seq < state.held {
            tracing::warn!(
                receiver = position.seq,
                before = state.held,
                "the receiver has lost rows; they are sent again"
            );
            self.bisecting = None;
            (next.cursor, next.pending) = (position.seq, 0);
        }
        (next.cursor, next.held) = (next.cursor.max(position.seq), position.seq);
        if next.pending <= next.cursor {
            next.pending = 0;
        }
        if next != state {
            self.source.write(&next, None).map_err(Trouble::later)?;
        }
        Ok(next)
    }

    /// Handles a receiver that wants other rows first. The first time, these are sent immediately; a second time in a row
    /// counts as a failure.
    fn reposition(&mut self, state: State, batch: &Batch, position: Position) -> Result<Step, Trouble> {
        let again = std::mem::replace(&mut self.repositioned, true);
        if position.seq == batch.after || again {
            self.follow(state, position)?;
            return Err(Trouble::later(format!(
                "the receiver takes nothing: it was offered rows {} to {} and says that it has those up to {}",
                batch.after + 1,
                batch.last,
                position.seq
            )));
        }
        self.follow(state, position)?;
        Ok(Step::Moved(0))
    }

    /// Halves a refused batch until it is one row, and skips that row if the receiver still answers a request for its
    /// position.
    fn refused(&mut self, mut state: State, batch: &Batch, error: String) -> Result<Step, Trouble> {
        state.pending = 0;
        if batch.rows > 1 {
            let end = self.bisecting.map_or(batch.last, |(end, _)| end.min(batch.last));
            self.bisecting = Some((end, (batch.rows as i64 / 2).max(1)));
            self.source.write(&state, None).map_err(Trouble::later)?;
            return Ok(Step::Moved(0));
        }
        let nothing = Batch::of(self.source.site_id(), state.held, &[]);
        self.upstream.ask(&nothing)?;
        if state.refused_run >= REFUSED_RUN_MAX {
            return Err(Trouble::later(format!("the receiver refuses row after row: {error}")));
        }
        let now = self.source.now();
        tracing::error!(seq = batch.last, cause = error, "the receiver refuses this row; it is skipped");
        (state.cursor, state.failed_tries, state.tried_at) = (batch.last, 0, Some(now));
        state.refused_run += 1;
        let refused = Refused { seq: batch.last, refused_at: now, tried_at: now, tries: 1, error };
        self.source.write(&state, Some(Change::Refused(refused))).map_err(Trouble::later)?;
        (self.bisecting, self.failed_tries) = (None, 0);
        Ok(Step::Moved(1))
    }

    /// Handles the end of the waiting rows: sends a refused row again where one is due.
    fn end(&mut self, mut state: State) -> Result<Step, Trouble> {
        let before = self.source.now() - REFUSED_AGAIN_SECONDS;
        if let Some(refused) = self.source.refused(before, 1).map_err(Trouble::later)?.pop() {
            self.offer_again(&mut state, refused)?;
            return Ok(Step::Moved(1));
        }
        self.failed_tries = 0;
        if state.failed_tries > 0 || !state.trouble.is_empty() {
            (state.failed_tries, state.tried_at) = (0, Some(self.source.now()));
            state.trouble.clear();
            self.source.write(&state, None).map_err(Trouble::later)?;
        }
        Ok(Step::Quiet)
    }

    /// Sends a refused row again, and returns whether it was accepted.
    fn offer_again(&mut self, state: &mut State, refused: Refused) -> Result<bool, Trouble> {
        let rows = self.source.rows(refused.seq - 1, 1).map_err(Trouble::later)?;
        let Some(row) = rows.into_iter().find(|row| row.seq == refused.seq) else {
            let gone = Change::Taken(refused.seq - 1, refused.seq);
            return self.source.write(state, Some(gone)).map(|()| false).map_err(Trouble::later);
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
        self.source.write(state, Some(change)).map_err(Trouble::later)?;
        Ok(taken)
    }

    /// Records a failed attempt, logs a new reason once, and returns the wait.
    fn miss(&mut self, trouble: Trouble) -> Step {
        let is_full = matches!(trouble, Trouble::Full(_));
        let (error, asked) = match trouble {
            Trouble::Later { error, wait } => (error, wait),
            Trouble::Refused(error) | Trouble::TooLarge(error) | Trouble::Full(error) => (error, None),
            Trouble::OutOfPosition(position) => (format!("the receiver goes on from {}", position.seq), None),
        };
        self.asked = false;
        self.upstream.disconnect();
        self.failed_tries += 1;
        let kept = self.source.state().and_then(|mut state| {
            if state.trouble != error {
                tracing::warn!(cause = error, "nothing goes upstream; it waits");
            }
            (state.failed_tries, state.tried_at) = (self.failed_tries, Some(self.source.now()));
            state.trouble.clone_from(&error);
            self.source.write(&state, None)
        });
        if let Err(cause) = kept {
            tracing::warn!(cause, "the state of the sync was not written");
        }
        self.trouble = error;
        Step::Wait(if is_full {
            backoff::wait_for_room(self.failed_tries)
        } else {
            backoff::wait(self.failed_tries, asked)
        })
    }
}
