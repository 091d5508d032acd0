//! Sends what waits in the outbox, on a thread of its own, so that no request waits for a mail server.
//!
//! A message is marked after the server took it. A crash in between sends it twice and never loses it; both copies bear
//! the same Message-ID. When the mark cannot be written (a full disk), nothing more is sent until it is: otherwise every
//! round would send the same messages anew.

mod mail;
mod placeholders;
pub mod render;
mod sms;
mod transport;

use super::{FAULT_PAUSE, is_faulty};
use crate::auth::passcode;
use crate::http::failure::Failure;
use crate::keys::{Purpose, hex, random};
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::outbox::{self, Channel, Message};
use crate::store::tables::{suppressed, tunnels};
use crossbeam_channel::{Receiver, bounded, select};
use mail::Mailer;
use render::{RenderedMessage, Sender};
use sms::Gateway;
use std::time::{Duration, Instant};
use transport::{Delivery, Transport, Trouble};

/// Messages of one channel that are taken up at once.
const BATCH_ROWS_MAX: i64 = 50;
/// After this long without anybody taking it a message is dead.
const GIVE_UP_SECONDS: i64 = 2 * 86_400;
/// Between the tries of one message: doubling from the first to the last.
const RETRY_SECONDS: (i64, i64) = (60, 4 * 3600);
/// Between tries to reach a server, short, because passcodes wait for it.
const PAUSE_SECONDS: (i64, i64) = (2, 60);
/// However quiet it is, the thread looks this often.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// How long a connection stays open for further messages.
const LINGER: Duration = Duration::from_secs(5);
/// How long a message on its way may hold up the end of the process.
const STOP_TIME_MAX: Duration = Duration::from_secs(5);

/// The sender of messages.
pub struct OutboxSender {
    site: Site,
    /// The tunnel's name.
    name: String,
    url: String,
    lines: Vec<Line>,
    /// Marks that could not be written yet.
    unrecorded: Vec<(i64, Outcome)>,
}

/// One channel that is configured.
struct Line {
    channel: Channel,
    transport: Transport,
    /// How often in a row its server was not reached.
    misses: u32,
    /// By [`crate::clock::Clock::running`]: a clock that jumps must not make a rest of seconds one of days.
    paused_until: Duration,
}

/// The result of an attempt.
enum Outcome {
    Sent { provider_id: String },
    Later { error: String, next_try_at: i64 },
    Dead { error: String },
}

impl OutboxSender {
    /// The error is one line that names the setting at fault.
    pub fn new(site: Site) -> Result<OutboxSender, String> {
        let name = site_name(&site).map_err(|e| format!("cannot read the tunnel's name: {e}"))?;
        let mut lines = Vec::new();
        if let Some(settings) = &site.config.mail {
            let mailer = Mailer::new(settings, &name, site.config.callbacks.mail_key.is_some())?;
            lines.push(Line::new(Channel::Email, Transport::Mail(Box::new(mailer))));
        }
        if let Some(settings) = &site.config.sms {
            lines.push(Line::new(Channel::Sms, Transport::Sms(Gateway::new(settings)?)));
        }
        let url = site.public_url();
        Ok(OutboxSender { site, name, url, lines, unrecorded: Vec::new() })
    }

    /// Rounds until the sender of `stop` is dropped: at once when a message is queued, else when one is due.
    fn work_until_stopped(&mut self, stop: &Receiver<()>) {
        let signal = self.site.store.outbox_signal().clone();
        let mut busy = Instant::now();
        loop {
            let mut wait = self.round(&|| is_stopped(stop)).unwrap_or_else(|failure| {
                tracing::warn!(cause = %failure, "the outbox cannot be read or marked; messages wait");
                LINGER
            });
            if wait.is_zero() {
                busy = Instant::now();
            } else if busy.elapsed() < LINGER {
                wait = wait.min(LINGER);
            } else {
                self.rest();
            }
            select! {
                recv(stop) -> _ => break,
                recv(signal.receiver()) -> _ => busy = Instant::now(),
                default(wait) => {}
            }
        }
        self.rest();
    }

    /// Lets go of every connection.
    fn rest(&mut self) {
        self.lines.iter_mut().for_each(|line| line.transport.rest());
    }

    /// Offers what is due, a batch a channel, and returns how long nothing will be.
    pub fn round(&mut self, stopped: &dyn Fn() -> bool) -> Result<Duration, Failure> {
        self.mark()?;
        self.site.store.write(self.site.now(), |tx| {
            outbox::end_passcodes(tx, tx.now() - passcode::LIFE_SECONDS)?;
            Ok(suppressed::end_mails(tx)?)
        })?;
        let mut wait = LOOK_INTERVAL;
        for place in 0..self.lines.len() {
            if self.pause(place).is_zero() {
                self.carry_batch(place, stopped)?;
            }
            wait = wait.min(self.quiet_for(place)?);
        }
        self.site.store.release();
        Ok(wait)
    }

    fn carry_batch(&mut self, place: usize, stopped: &dyn Fn() -> bool) -> Result<(), Failure> {
        let (channel, now) = (self.lines[place].channel, self.site.now());
        let due = self.site.store.read(|tx| Ok(outbox::list_due(tx, channel, now, BATCH_ROWS_MAX)?))?;
        self.site.store.release();
        for message in due {
            if stopped() || !self.pause(place).is_zero() {
                break;
            }
            self.carry(place, &message)?;
        }
        Ok(())
    }

    /// Offers one message and marks what became of it.
    fn carry(&mut self, place: usize, message: &Message) -> Result<(), Failure> {
        let (started, now) = (Instant::now(), self.site.now());
        let id = stable_id(&self.site, message);
        let zone = self.site.time_zone()?;
        let sender = Sender { site: &self.name, url: &self.url, zone: &zone };
        let line = &mut self.lines[place];
        let offered = write(&self.site, &sender, message).map_err(Trouble::Refused).and_then(|letter| {
            let delivery =
                Delivery { id: &id, recipient: &message.recipient, letter: &letter, written_at: message.created_at };
            line.transport.carry(&delivery)
        });
        let (outcome, fate, unreachable) = match offered {
            Ok(()) => ("sent", Some(Outcome::Sent { provider_id: line.provider_id(&id) }), None),
            Err(Trouble::Refused(error)) => ("refused", Some(Outcome::Dead { error }), None),
            Err(Trouble::Later(error)) => ("later", Some(later(message, error, now)), None),
            Err(Trouble::Unreachable { error, offered }) => {
                ("unreachable", offered.then(|| later(message, error.clone(), now)), Some(error))
            }
        };
        let millis = started.elapsed().as_millis() as u64;
        // Neither whom it was for nor what it says.
        tracing::info!(
            message_id = message.message_id,
            channel = line.channel.name(),
            template = message.template,
            outcome,
            millis,
            "message offered"
        );
        line.count(unreachable.as_deref(), self.site.clock.running());
        self.unrecorded.extend(fate.map(|fate| (message.message_id, fate)));
        self.mark()?;
        match unreachable {
            Some(error) => self.give_up_old(place, &error),
            None => Ok(()),
        }
    }

    /// Writes what became of messages; what cannot be written is kept for the next time.
    fn mark(&mut self) -> Result<(), Failure> {
        if self.unrecorded.is_empty() {
            return Ok(());
        }
        let unrecorded = &self.unrecorded;
        self.site.store.write(self.site.now(), |tx| {
            for (message_id, fate) in unrecorded {
                match fate {
                    Outcome::Sent { provider_id } => outbox::set_sent(tx, *message_id, provider_id)?,
                    Outcome::Later { error, next_try_at } => outbox::set_later(tx, *message_id, error, *next_try_at)?,
                    Outcome::Dead { error } => outbox::set_dead(tx, *message_id, error)?,
                };
            }
            Ok(())
        })?;
        self.unrecorded.clear();
        Ok(())
    }

    fn give_up_old(&self, place: usize, error: &str) -> Result<(), Failure> {
        let channel = self.lines[place].channel;
        let marked =
            |tx: &crate::store::Write| Ok(outbox::set_unreachable(tx, channel, error, tx.now() - GIVE_UP_SECONDS)?);
        self.site.store.write(self.site.now(), marked).map(drop)
    }

    /// How long the server of a line is left alone yet.
    fn pause(&self, place: usize) -> Duration {
        self.lines[place].paused_until.saturating_sub(self.site.clock.running())
    }

    fn quiet_for(&self, place: usize) -> Result<Duration, Failure> {
        let due = self.site.store.read(|tx| Ok(outbox::next_due(tx, self.lines[place].channel)?))?;
        let until_due = due.map(|due| Duration::from_secs((due - self.site.now()).max(0).unsigned_abs()));
        Ok(until_due.map_or(LOOK_INTERVAL, |until_due| until_due.max(self.pause(place))))
    }
}

impl Line {
    fn new(channel: Channel, transport: Transport) -> Line {
        Line { channel, transport, misses: 0, paused_until: Duration::ZERO }
    }

    /// A server that is not reached gets a rest, longer each time; any other answer ends that.
    fn count(&mut self, unreachable: Option<&str>, running: Duration) {
        let Some(error) = unreachable else {
            self.misses = 0;
            return;
        };
        if self.misses == 0 {
            tracing::warn!(channel = self.channel.name(), cause = error, "messages cannot be sent; they wait");
        }
        self.paused_until = running + Duration::from_secs(doubled(PAUSE_SECONDS, self.misses).unsigned_abs());
        self.misses += 1;
    }

    fn provider_id(&self, id: &str) -> String {
        match &self.transport {
            Transport::Mail(mailer) => mailer.provider_id(id),
            Transport::Sms(_) => id.to_owned(),
        }
    }
}

/// A sender of messages at work.
pub struct Sending {
    stop: crossbeam_channel::Sender<()>,
    ended: Receiver<()>,
}

/// Starts the thread. The error is one line that says what to do.
pub fn start(site: &Site) -> Result<Sending, String> {
    let (site, mut sender) = (site.for_another_thread(), OutboxSender::new(site.for_another_thread())?);
    let (stop, stopped) = bounded(0);
    let (end, ended) = bounded::<()>(0);
    let work = move || {
        while is_faulty(&site, || sender.work_until_stopped(&stopped)) {
            sender.rest();
            sender.site.store.release();
            if stopped.recv_timeout(FAULT_PAUSE) != Err(crossbeam_channel::RecvTimeoutError::Timeout) {
                break;
            }
        }
        drop(end);
    };
    let spawned = std::thread::Builder::new().name("outbox".to_owned()).spawn(work);
    spawned.map(|_| Sending { stop, ended }).map_err(|e| format!("cannot start a thread: {e}"))
}

impl Sending {
    /// Lets the message that is on its way arrive and be marked, if that does not take long.
    pub fn stop(self) {
        drop(self.stop);
        _ = self.ended.recv_timeout(STOP_TIME_MAX);
    }
}

/// The text of a message: `Err` where nothing is left of it, or its template wants more than it has.
pub fn render_message(site: &Site, message: &Message) -> Result<RenderedMessage, String> {
    let name = site_name(site).map_err(|e| format!("cannot read the tunnel's name: {e}"))?;
    let zone = site.time_zone().map_err(|e| format!("cannot read the tunnel's time zone: {e}"))?;
    write(site, &Sender { site: &name, url: &site.public_url(), zone: &zone }, message)
}

fn write(site: &Site, sender: &Sender, message: &Message) -> Result<RenderedMessage, String> {
    let sealed = message.sealed.as_deref().ok_or("what it said is wiped")?;
    let values = site.keys.unseal(Purpose::Message, sealed).ok_or("it was sealed with another site key")?;
    let values = serde_json::from_slice(&values).map_err(|_| "its values are damaged")?;
    render::write(&message.template, &message.language, sender, &values, message.created_at)
}

fn site_name(site: &Site) -> Result<String, Failure> {
    let find = |tx: &Read| Ok(tunnels::find(tx, site.tunnel_id)?);
    Ok(site.store.read(find)?.map_or_else(String::new, |tunnel| tunnel.name))
}

/// The message's id for the server: the same for every attempt, and not to be guessed from the message's number.
fn stable_id(site: &Site, message: &Message) -> String {
    let parts = [&message.message_id.to_be_bytes()[..], &message.created_at.to_be_bytes()[..]];
    format!("{}.{}", message.message_id, hex(&site.keys.hash(Purpose::Message, &parts)[..12]))
}

fn later(message: &Message, error: String, now: i64) -> Outcome {
    if message.first_tried_at.is_some_and(|first| now - first >= GIVE_UP_SECONDS) {
        return Outcome::Dead { error };
    }
    let times = u32::try_from(message.tries).unwrap_or(u32::MAX);
    Outcome::Later { error, next_try_at: now + doubled(RETRY_SECONDS, times) }
}

/// From the first number to the last, doubling `times` times, up to a fifth more or less, so that not all come at once.
fn doubled((first, last): (i64, i64), times: u32) -> i64 {
    let seconds = first.saturating_mul(1 << times.min(30)).min(last);
    let fifth = seconds / 5;
    let jitter = i64::from(u16::from_be_bytes(random::<2>())) * (2 * fifth + 1) / 65_536;
    seconds - fifth + jitter
}

fn is_stopped(stop: &Receiver<()>) -> bool {
    stop.try_recv() == Err(crossbeam_channel::TryRecvError::Disconnected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tries_come_ever_later_and_never_all_at_once() {
        for times in 0..40 {
            let exact = (60_i64 << times.min(20)).min(RETRY_SECONDS.1);
            let waits: Vec<_> = (0..50).map(|_| doubled(RETRY_SECONDS, times)).collect();
            assert!(waits.iter().all(|wait| (wait - exact).abs() <= exact / 5), "{waits:?}");
            assert!(waits.iter().any(|wait| wait != &waits[0]), "{waits:?}");
        }
    }
}
