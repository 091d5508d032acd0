//! Reminds members whose currency ends. Who is due follows from the entries, and what was said is kept beside the notice
//! that says it: so this may run at any moment, any number of times and after any crash, and says nothing twice.

use crate::domain::reminder::{self, FLOWN_DAYS_AGO, Reminder, TRAINED_DAYS_AGO};
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::queries::standing;
use crate::store::tables::outbox::{self, Channel};
use crate::store::tables::reminders::{self, Activity, Cursor};
use crate::store::tables::{members, notices};
use crate::store::{Read, Write};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::mpsc::{Receiver, RecvTimeoutError, TryRecvError};
use std::time::Duration;

/// The server has better things to do at first.
const FIRST_AFTER: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_secs(3600);
/// Entries that one read looks at, and so members that one transaction reminds at the most.
const STEP_ROWS: i64 = 500;
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The reminders that a run gave, or would give.
#[derive(Debug, Default)]
pub struct Given {
    /// With the member's number, in that order.
    pub reminders: BTreeSet<(i64, Reminder)>,
    /// How many of them go out by mail too.
    pub mails: usize,
}

/// A run every hour until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    let mut wait = FIRST_AFTER;
    while stop.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
        wait = INTERVAL;
        match run(site, false, &|| stop.try_recv() == Err(TryRecvError::Disconnected)) {
            Ok(given) => tracing::info!(reminders = given.reminders.len(), mails = given.mails, "members reminded"),
            Err(failure) => tracing::warn!(cause = %failure, "reminders stopped half-way; the next hour goes on"),
        }
        site.store.release();
    }
}

/// Gives every reminder that is due and was not given; with `dry` it only says which. With a clock that is behind it
/// waits: a wrong date is worse than a late word.
pub fn run(site: &Site, dry: bool, stopped: &dyn Fn() -> bool) -> Result<Given, Failure> {
    let mut given = Given::default();
    if site.clock.is_suspect() {
        return Ok(given);
    }
    for (by, days_ago) in [(Activity::Flying, FLOWN_DAYS_AGO), (Activity::Training, TRAINED_DAYS_AGO)] {
        walk(site, by, days_ago, dry, stopped, &mut given)?;
    }
    Ok(given)
}

/// Goes through the entries of those days, a step a transaction.
fn walk(
    site: &Site,
    by: Activity,
    days_ago: RangeInclusive<i64>,
    dry: bool,
    stopped: &dyn Fn() -> bool,
    given: &mut Given,
) -> Result<(), Failure> {
    let now = site.now();
    let mut next = Some(Cursor { entry_date: now - days_ago.end() * DAY_SECONDS, entry_id: 0 });
    while let Some(place) = next.filter(|_| !stopped()) {
        let until = now - days_ago.start() * DAY_SECONDS;
        let (step, due) = site.store.read(|tx| {
            let step = reminders::step(tx, by, place, until, now, STEP_ROWS)?;
            let mut due = Vec::new();
            for member_id in &step.members {
                let missing = missing(tx, *member_id, now)?;
                due.extend(missing.into_iter().map(|reminder| (*member_id, reminder)));
            }
            Ok((step, due))
        })?;
        site.store.release();
        next = step.next;
        if dry {
            given.mails += count_mails(site, due.iter().filter(|one| !given.reminders.contains(one)))?;
            given.reminders.extend(due);
        } else if !due.is_empty() {
            remind(site, &due, given)?;
        }
    }
    Ok(())
}

/// The reminders that are due to a member and were not given yet; none for a member who is banned.
fn missing(tx: &Read, member_id: i64, now: i64) -> Result<Vec<Reminder>, Failure> {
    let due = reminder::due(&standing::read(tx, member_id, now)?.currency, now);
    let mut missing = Vec::new();
    for reminder in due {
        if !reminders::exists(tx, member_id, &reminder)? {
            missing.push(reminder);
        }
    }
    let banned =
        !missing.is_empty() && members::find_account_by_id(tx, member_id)?.is_none_or(|account| account.banned);
    Ok(if banned { Vec::new() } else { missing })
}

/// One transaction, judged anew in it: since the look somebody may have flown.
fn remind(site: &Site, looked: &[(i64, Reminder)], given: &mut Given) -> Result<(), Failure> {
    let members: BTreeSet<i64> = looked.iter().map(|(member_id, _)| *member_id).collect();
    let (done, mails) = site.store.write(site.now(), |tx| {
        let (mut done, mut mails) = (Vec::new(), 0);
        for member_id in members {
            for reminder in missing(tx, member_id, tx.now())? {
                if reminders::insert(tx, member_id, &reminder)? {
                    mails += usize::from(tell(site, tx, member_id, &reminder)?);
                    done.push((member_id, reminder));
                }
            }
        }
        Ok((done, mails))
    })?;
    given.reminders.extend(done);
    given.mails += mails;
    Ok(())
}

/// The notice, and the mail where one can be sent; whether there is one.
fn tell(site: &Site, tx: &Write, member_id: i64, reminder: &Reminder) -> Result<bool, Failure> {
    let detail = detail(reminder);
    notices::insert(tx, member_id, reminder.subject(), &detail.to_string())?;
    let Some((recipient, language)) = recipient(site, tx, member_id)? else { return Ok(false) };
    let new = outbox::NewMessage {
        channel: Channel::Email,
        member_id: Some(member_id),
        recipient: &recipient,
        language: &language,
        template: "notice",
        values: &json!({ "subject": reminder.subject(), "detail": detail }),
    };
    outbox::insert(tx, &site.keys, &new)?;
    Ok(true)
}

fn detail(reminder: &Reminder) -> Value {
    json!({ "programme": reminder.programme, "renewal_date": reminder.renewal })
}

/// The confirmed address and the language. Without a mail server nobody: the desk has better to do than to read out
/// what stands among the member's notices anyway.
fn recipient(site: &Site, tx: &Read, member_id: i64) -> Result<Option<(String, String)>, Failure> {
    if site.config.mail.is_none() {
        return Ok(None);
    }
    Ok(members::find_correspondence(tx, member_id)?)
}

fn count_mails<'a>(site: &Site, due: impl Iterator<Item = &'a (i64, Reminder)>) -> Result<usize, Failure> {
    site.store.read(|tx| {
        let mut mails = 0;
        for (member_id, _) in due {
            mails += usize::from(recipient(site, tx, *member_id)?.is_some());
        }
        Ok(mails)
    })
}
