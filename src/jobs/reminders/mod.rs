//! Sends reminders to members who have a flight tomorrow, or whose currency, membership or waiver is about to end, to signers whose
//! signature is waited for, and to families whose child comes of age. Due reminders are derived from the entries, bookings, payments
//! and signatures, and each is
//! recorded together with its notice, so that no run, at any moment and after any crash, sends one twice.

mod ends;

use crate::app::logbook::sign_offs;
use crate::app::{self, RankedActor, events, handovers};
use crate::auth::limits::messages::{self, Cause};
use crate::domain::audit::Actor;
use crate::domain::ids::{EntryId, MemberId};
use crate::domain::local_time::TimeZone;
use crate::domain::reminder::{self, FLOWN_DAYS_AGO, Kind, Reminder, TRAINED_DAYS_AGO};
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::queries::standing;
use crate::store::tables::events::Event;
use crate::store::tables::outbox::{self, Channel};
use crate::store::tables::reminders::{self, Activity, Cursor};
use crate::store::tables::{members, notices};
use crate::store::{Read, Write};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::Duration;

/// The delay before the first run, so that reminders do not slow the start of the server.
const FIRST_AFTER: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_secs(3600);
/// The greatest number of entries that one read examines, and so of members that one transaction reminds.
const STEP_ROWS: i64 = 500;
const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The reminders that a run sent, or would send.
#[derive(Debug, Default)]
pub struct Reminded {
    /// The reminders with the member's number, in that order.
    pub reminders: BTreeSet<(MemberId, Reminder)>,
    /// The number of reminders that are also mailed.
    pub mails: usize,
}

/// Runs every hour until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    let mut wait = FIRST_AFTER;
    while site.rest(stop, wait) {
        wait = INTERVAL;
        // A late reminder is better than one by a clock that may be wrong, or one at night.
        if site.clock.doubted_jump().is_some() || is_quiet(site) {
            continue;
        }
        match run(site, false, &|| stop.try_recv() == Err(TryRecvError::Disconnected)) {
            Ok(reminded) => {
                if let Err(failure) = remind_signers(site).and_then(|_| announce_handovers(site)) {
                    tracing::warn!(cause = %failure, "signers and families were not reminded; the next hour tries again");
                }
                tracing::info!(reminders = reminded.reminders.len(), mails = reminded.mails, "members reminded")
            }
            Err(failure) => tracing::warn!(cause = %failure, "reminders stopped half-way; the next hour goes on"),
        }
    }
}

/// Whether the hour is one in which the site reminds nobody.
fn is_quiet(site: &Site) -> bool {
    let settings = &site.config.reminders;
    let hour = site.time_zone().map_or(0, |zone| zone.hour(site.now()) as i64);
    !(settings.from_hour..settings.until_hour).contains(&hour)
}

/// Sends every due reminder that was not sent before; `dry` only returns them. Sends none while the clock is suspect: a
/// late reminder is better than a wrong date.
pub fn run(site: &Site, dry: bool, stopped: &dyn Fn() -> bool) -> Result<Reminded, Failure> {
    let mut reminded = Reminded::default();
    if site.clock.is_suspect() {
        return Ok(reminded);
    }
    for (by, days_ago) in [(Activity::Flying, FLOWN_DAYS_AGO), (Activity::Training, TRAINED_DAYS_AGO)] {
        walk(site, by, days_ago, dry, stopped, &mut reminded)?;
    }
    let zone = site.time_zone()?;
    let due = site.store.read(|tx| ends::list_missing(site, tx, &zone, site.now()))?;
    site.store.release();
    if dry {
        reminded.mails += count_messages(site, due.iter())?;
        reminded.reminders.extend(due);
        return Ok(reminded);
    }
    for some in due.chunks(STEP_ROWS as usize) {
        if stopped() {
            break;
        }
        remind_of_ends(site, &zone, some, &mut reminded)?;
    }
    Ok(reminded)
}

/// Reminds signers of requests that wait for them. Returns how many requests.
pub fn remind_signers(site: &Site) -> Result<usize, Failure> {
    if site.clock.is_suspect() {
        return Ok(0);
    }
    let actor = RankedActor::owner(&Actor::job("reminders"));
    app::change(site, actor, Language::default(), sign_offs::remind_signers)
}

/// Tells families of the day on which a child comes of age. Returns how many children.
pub fn announce_handovers(site: &Site) -> Result<usize, Failure> {
    if site.clock.is_suspect() {
        return Ok(0);
    }
    let actor = RankedActor::owner(&Actor::job("reminders"));
    app::change(site, actor, Language::default(), handovers::announce)
}

/// Walks through the entries of those days, one read and at most one transaction for each step.
fn walk(
    site: &Site,
    by: Activity,
    days_ago: RangeInclusive<i64>,
    dry: bool,
    stopped: &dyn Fn() -> bool,
    reminded: &mut Reminded,
) -> Result<(), Failure> {
    let (now, zone) = (site.now(), site.time_zone()?);
    let mut next = Some(Cursor { entry_date: now - days_ago.end() * DAY_SECONDS, entry_id: EntryId(0) });
    while let Some(place) = next.filter(|_| !stopped()) {
        let until = now - days_ago.start() * DAY_SECONDS;
        let (step, due) = site.store.read(|tx| {
            let step = reminders::next_batch(tx, by, place, until, now, STEP_ROWS)?;
            let mut due = Vec::new();
            for member_id in &step.members {
                let missing = missing(tx, &zone, *member_id, now)?;
                due.extend(missing.into_iter().map(|reminder| (*member_id, reminder)));
            }
            Ok((step, due))
        })?;
        site.store.release();
        next = step.next;
        if dry {
            let due: Vec<_> = due.into_iter().filter(|(_, one)| one.kind != Kind::Lapsed).collect();
            reminded.mails += count_messages(site, due.iter().filter(|one| !reminded.reminders.contains(one)))?;
            reminded.reminders.extend(due);
        } else if !due.is_empty() {
            remind(site, &due, reminded)?;
        }
    }
    Ok(())
}

/// The due reminders of a member that were not sent before; none for a banned member.
fn missing(tx: &Read, zone: &TimeZone, member_id: MemberId, now: Moment) -> Result<Vec<Reminder>, Failure> {
    let currency = standing::read(tx, member_id, now)?.currency;
    let due = reminder::due(&currency, zone, now).into_iter().chain(reminder::lapsed(&currency, now));
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

/// Sends reminders in one transaction. The transaction derives them again, because a member may have flown since the
/// read.
fn remind(site: &Site, candidates: &[(MemberId, Reminder)], reminded: &mut Reminded) -> Result<(), Failure> {
    let zone = site.time_zone()?;
    let members: BTreeSet<MemberId> = candidates.iter().map(|(member_id, _)| *member_id).collect();
    let (done, mails) = site.store.write(site.now(), |tx| {
        let (mut done, mut mails) = (Vec::new(), 0);
        for member_id in members {
            for reminder in missing(tx, &zone, member_id, tx.now())? {
                if !reminders::insert(tx, member_id, &reminder)? {
                    continue;
                }
                if reminder.kind == Kind::Lapsed {
                    events::tell_member(tx, Event::CurrencyLapsed, member_id, &detail(&zone, &reminder))?;
                } else {
                    mails += usize::from(send(site, tx, &zone, member_id, &reminder)?);
                    done.push((member_id, reminder));
                }
            }
        }
        Ok((done, mails))
    })?;
    reminded.reminders.extend(done);
    reminded.mails += mails;
    Ok(())
}

/// Sends reminders of flights and ends in one transaction.
fn remind_of_ends(
    site: &Site,
    zone: &TimeZone,
    due: &[(MemberId, Reminder)],
    reminded: &mut Reminded,
) -> Result<(), Failure> {
    let (done, mails) = site.store.write(site.now(), |tx| {
        let (mut done, mut mails) = (Vec::new(), 0);
        for (member_id, reminder) in due {
            if reminders::insert(tx, *member_id, reminder)? {
                mails += usize::from(send(site, tx, zone, *member_id, reminder)?);
                done.push((*member_id, *reminder));
            }
        }
        Ok((done, mails))
    })?;
    reminded.reminders.extend(done);
    reminded.mails += mails;
    Ok(())
}

/// Inserts the notice, and the message where the member has a confirmed address or number and wants one. Returns whether a message
/// was queued.
fn send(site: &Site, tx: &Write, zone: &TimeZone, member_id: MemberId, reminder: &Reminder) -> Result<bool, Failure> {
    let detail = detail(zone, reminder);
    notices::insert(tx, member_id, reminder.subject(), &detail.to_string())?;
    if reminder.is_of_currency() {
        events::tell_member(tx, Event::CurrencyDue, member_id, &detail)?;
    }
    let Some(Recipient { channel, recipient, language }) = recipient(site, tx, member_id)? else { return Ok(false) };
    // The site pays for each short message: they are counted like those that staff send.
    if channel == Channel::Sms && !messages::take(site, tx, Cause::Staff, member_id, channel, &recipient)?.is_counted()
    {
        return Ok(false);
    }
    let new = outbox::NewMessage {
        channel,
        member_id: Some(member_id),
        recipient: &recipient,
        language: &language,
        template: "notice",
        values: &json!({ "subject": reminder.subject(), "detail": detail }),
    };
    outbox::insert(tx, &site.keys, &new)?;
    Ok(true)
}

fn detail(zone: &TimeZone, reminder: &Reminder) -> Value {
    match reminder.is_of_flight() {
        true => json!({ "renewal_date": reminder.renewal, "clock": zone.clock(reminder.renewal) }),
        false => json!({ "programme": reminder.programme, "renewal_date": reminder.renewal }),
    }
}

/// Where a member is reminded.
struct Recipient {
    channel: Channel,
    recipient: String,
    /// The tag of the member's language; empty: not known.
    language: String,
}

/// The confirmed address or number that the member chose. `None` where the member or the site wants no messages, or where they would
/// wait at the desk to be read out: the notice says the same.
fn recipient(site: &Site, tx: &Read, member_id: MemberId) -> Result<Option<Recipient>, Failure> {
    if !site.config.reminders.enabled {
        return Ok(None);
    }
    let Some(chosen) = reminders::find_choice(tx, member_id)? else { return Ok(None) };
    let (channel, recipient) = match &*chosen.reminded_by {
        "email" => (Channel::Email, chosen.email),
        "sms" => (Channel::Sms, chosen.phone),
        _ => return Ok(None),
    };
    let recipient = recipient.filter(|recipient| !recipient.is_empty() && site.delivers(channel));
    Ok(recipient.map(|recipient| Recipient { channel, recipient, language: chosen.language }))
}

fn count_messages<'a>(site: &Site, due: impl Iterator<Item = &'a (MemberId, Reminder)>) -> Result<usize, Failure> {
    site.store.read(|tx| {
        let mut mails = 0;
        for (member_id, _) in due {
            mails += usize::from(recipient(site, tx, *member_id)?.is_some());
        }
        Ok(mails)
    })
}
