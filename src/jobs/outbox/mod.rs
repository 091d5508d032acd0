//! The outbox: sends waiting messages on threads of their own, so that no request waits for a mail server, and no short
//! message either.
//!
//! The outcome of a message is recorded after the server accepted it. A crash in between sends the message twice and
//! never loses it; both copies have the same Message-ID. While outcomes cannot be recorded, on a full disk for example,
//! nothing more is sent, because every round would send the same messages again.

mod delivery;
mod mail;
mod placeholders;
pub mod render;
mod sms;
mod transport;

use super::{FAULT_PAUSE, panics};
use crate::auth::passcode;
use crate::domain::ids::MessageId;
use crate::http::failure::Failure;
use crate::keys::{Purpose, hex, random};
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::outbox::{self, Channel, Message};
use crate::store::tables::{suppressed, tunnels};
use crossbeam_channel::{Receiver, bounded, select};
use delivery::{Delivery, Trouble};
use mail::Mailer;
use render::{Context, RenderedMessage};
use sms::Gateway;
use std::time::{Duration, Instant};
use transport::Transport;

/// The greatest number of messages of one channel in a round.
const BATCH_ROWS_MAX: i64 = 50;
/// A message that no server accepted within this time is dead.
const GIVE_UP_SECONDS: i64 = 2 * 86_400;
/// Seconds between the attempts of one message, doubled from the first value to the last.
const RETRY_SECONDS: (i64, i64) = (60, 4 * 3600);
/// Seconds between attempts to reach a server; short, because passcodes wait.
const PAUSE_SECONDS: (i64, i64) = (2, 60);
/// The greatest time between two rounds.
const ROUND_INTERVAL: Duration = Duration::from_secs(60);
/// How long a connection stays open for further messages.
const LINGER: Duration = Duration::from_secs(5);
/// How long a shutdown waits for a message that is being sent.
const STOP_TIME_MAX: Duration = Duration::from_secs(5);

/// The sender of messages.
pub struct OutboxSender {
    site: Site,
    /// The tunnel's name.
    name: String,
    url: String,
    channels: Vec<ChannelSender>,
    /// The channel that this sender has alone; `None`: every channel.
    only: Option<Channel>,
    /// The changes of the settings up to which the channels are made.
    made_at: u64,
    /// Outcomes that are not recorded yet, with the numbers of their messages.
    unrecorded: Vec<(MessageId, Outcome)>,
}

/// The transport of one configured channel, and its state.
struct ChannelSender {
    channel: Channel,
    transport: Transport,
    /// Consecutive failures to reach the server.
    failures: u32,
    /// A time of [`crate::clock::Clock::running`], because a jump of the wall clock could turn seconds into days.
    paused_until: Duration,
}

/// The outcome of a delivery.
enum Outcome {
    Sent { provider_id: String },
    Later { error: String, next_try_at: Moment },
    Dead { error: String },
}

impl OutboxSender {
    /// Creates the sender. The error is one line that names the wrong setting.
    pub fn new(site: Site) -> Result<OutboxSender, String> {
        let name = site_name(&site).map_err(|e| format!("cannot read the tunnel's name: {e}"))?;
        // Whoever reads the name holds a snapshot, and this thread may rest for long.
        site.store.release();
        let made_at = site.config.changes();
        let channels = channels(&site, &name)?;
        let url = site.public_url();
        Ok(OutboxSender { site, name, url, channels, only: None, made_at, unrecorded: Vec::new() })
    }

    /// Follows settings that an admin changed. What waits is offered to the servers of before first: whoever diverts messages by
    /// another server does not divert the warning about it.
    fn follow_settings(&mut self, stopped: &dyn Fn() -> bool) {
        let changes = self.site.config.changes();
        if changes == self.made_at {
            return;
        }
        self.made_at = changes;
        if let Err(failure) = self.round(stopped) {
            tracing::warn!(cause = %failure, "what waited was not offered to the servers of before");
        }
        self.disconnect();
        match channels(&self.site, &self.name) {
            Ok(made) => self.channels = made.into_iter().filter(|one| self.has(one.channel)).collect(),
            Err(cause) => {
                tracing::error!(cause, "messages wait: the settings of mail or short messages cannot be used");
                self.channels.clear();
            }
        }
        self.url = self.site.public_url();
    }

    fn has(&self, channel: Channel) -> bool {
        self.only.is_none_or(|only| only == channel)
    }

    /// Sends rounds until the sender of `stop` is dropped: immediately when a message is queued, otherwise when one is due.
    fn work_until_stopped(&mut self, place: usize, stop: &Receiver<()>) {
        let signal = self.site.store.outbox_signal().clone();
        let mut busy = Instant::now();
        loop {
            self.follow_settings(&|| is_stopped(stop));
            let mut wait = self.round(&|| is_stopped(stop)).unwrap_or_else(|failure| {
                tracing::warn!(cause = %failure, "the outbox cannot be read or written; messages wait");
                LINGER
            });
            if wait.is_zero() {
                busy = Instant::now();
            } else if busy.elapsed() < LINGER {
                wait = wait.min(LINGER);
            } else {
                self.disconnect();
            }
            select! {
                recv(stop) -> _ => break,
                recv(signal.receiver(place)) -> _ => busy = Instant::now(),
                default(wait) => {}
            }
        }
        self.disconnect();
    }

    /// A sender for each channel, configured or not: an admin may configure it later.
    fn one_per_channel(mut self) -> Vec<OutboxSender> {
        let sender = |channel: Channel| OutboxSender {
            site: self.site.for_another_thread(),
            name: self.name.clone(),
            url: self.url.clone(),
            channels: self.channels.extract_if(.., |one| one.channel == channel).collect(),
            only: Some(channel),
            made_at: self.made_at,
            unrecorded: Vec::new(),
        };
        [Channel::Email, Channel::Sms].map(sender).into()
    }

    /// Closes all connections.
    fn disconnect(&mut self) {
        self.channels.iter_mut().for_each(|channel| channel.transport.disconnect());
    }

    /// Sends due messages, one batch for each channel, and returns the time until the next one is due.
    pub fn round(&mut self, stopped: &dyn Fn() -> bool) -> Result<Duration, Failure> {
        self.record()?;
        self.site.store.write(self.site.now(), |tx| {
            outbox::end_passcodes(tx, tx.now() - passcode::LIFE_SECONDS)?;
            Ok(suppressed::end_mails(tx)?)
        })?;
        let mut wait = ROUND_INTERVAL;
        for index in 0..self.channels.len() {
            if self.pause(index).is_zero() {
                self.send_batch(index, stopped)?;
            }
            wait = wait.min(self.time_to_due(index)?);
        }
        self.site.store.release();
        Ok(wait)
    }

    fn send_batch(&mut self, index: usize, stopped: &dyn Fn() -> bool) -> Result<(), Failure> {
        let (channel, now) = (self.channels[index].channel, self.site.now());
        let due = self.site.store.read(|tx| Ok(outbox::list_due(tx, channel, now, BATCH_ROWS_MAX)?))?;
        self.site.store.release();
        for message in due {
            if stopped() || !self.pause(index).is_zero() {
                break;
            }
            self.send(index, &message)?;
        }
        Ok(())
    }

    /// Sends one message and records the outcome.
    fn send(&mut self, index: usize, message: &Message) -> Result<(), Failure> {
        let (started, now) = (Instant::now(), self.site.now());
        let id = stable_id(&self.site, message);
        let zone = self.site.time_zone()?;
        let context = Context { site: &self.name, url: &self.url, zone: &zone, german: self.site.german };
        let channel = &mut self.channels[index];
        let sent = render(&self.site, &context, message).map_err(Trouble::Refused).and_then(|rendered| {
            let (recipient, written_at) = (&message.recipient, message.created_at);
            channel.transport.send(&Delivery { id: &id, recipient, message: &rendered, written_at })
        });
        let (word, outcome, unreachable) = match sent {
            Ok(()) => ("sent", Some(Outcome::Sent { provider_id: channel.provider_id(&id) }), None),
            Err(Trouble::Refused(error)) => ("refused", Some(Outcome::Dead { error }), None),
            Err(Trouble::Later(error)) => ("later", Some(later(message, error, now)), None),
            Err(Trouble::Unreachable { error, offered }) => {
                ("unreachable", offered.then(|| later(message, error.clone(), now)), Some(error))
            }
        };
        let millis = started.elapsed().as_millis() as u64;
        // The log has neither the recipient nor the text.
        tracing::info!(
            message_id = message.message_id.0,
            channel = channel.channel.name(),
            template = message.template,
            outcome = word,
            millis,
            "message offered"
        );
        channel.count(unreachable.as_deref(), self.site.clock.running());
        self.unrecorded.extend(outcome.map(|outcome| (message.message_id, outcome)));
        self.record()?;
        match unreachable {
            Some(error) => self.give_up_old(index, &error),
            None => Ok(()),
        }
    }

    /// Records the outcomes of messages, or keeps them for the next round.
    fn record(&mut self) -> Result<(), Failure> {
        if self.unrecorded.is_empty() {
            return Ok(());
        }
        let unrecorded = &self.unrecorded;
        self.site.store.write(self.site.now(), |tx| {
            for (message_id, outcome) in unrecorded {
                match outcome {
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

    /// Marks as dead the messages that have waited too long for an unreachable server.
    fn give_up_old(&self, index: usize, error: &str) -> Result<(), Failure> {
        let channel = self.channels[index].channel;
        let record =
            |tx: &crate::store::Write| Ok(outbox::set_unreachable(tx, channel, error, tx.now() - GIVE_UP_SECONDS)?);
        self.site.store.write(self.site.now(), record).map(drop)
    }

    /// The remaining pause before the next attempt to reach the server of a channel.
    fn pause(&self, index: usize) -> Duration {
        self.channels[index].paused_until.saturating_sub(self.site.clock.running())
    }

    fn time_to_due(&self, index: usize) -> Result<Duration, Failure> {
        let due = self.site.store.read(|tx| Ok(outbox::next_due(tx, self.channels[index].channel)?))?;
        let until_due = due.map(|due| Duration::from_secs((due - self.site.now()).max(0).unsigned_abs()));
        Ok(until_due.map_or(ROUND_INTERVAL, |until_due| until_due.max(self.pause(index))))
    }
}

/// The senders of the channels that the settings name.
fn channels(site: &Site, name: &str) -> Result<Vec<ChannelSender>, String> {
    let mut channels = Vec::new();
    if let Some(settings) = &site.config.mail {
        let mailer = Mailer::new(settings, name, site.config.callbacks.mail_key.is_some())?;
        channels.push(ChannelSender::new(Channel::Email, Transport::Mail(Box::new(mailer))));
    }
    if let Some(settings) = &site.config.sms {
        channels.push(ChannelSender::new(Channel::Sms, Transport::Sms(Gateway::new(settings)?)));
    }
    Ok(channels)
}

impl ChannelSender {
    fn new(channel: Channel, transport: Transport) -> ChannelSender {
        ChannelSender { channel, transport, failures: 0, paused_until: Duration::ZERO }
    }

    /// Extends the pause for an unreachable server; any other answer ends the pause.
    fn count(&mut self, unreachable: Option<&str>, running: Duration) {
        let Some(error) = unreachable else {
            self.failures = 0;
            return;
        };
        if self.failures == 0 {
            tracing::warn!(channel = self.channel.name(), cause = error, "messages cannot be sent; they wait");
        }
        self.paused_until = running + Duration::from_secs(doubled(PAUSE_SECONDS, self.failures).unsigned_abs());
        self.failures += 1;
    }

    fn provider_id(&self, id: &str) -> String {
        match &self.transport {
            Transport::Mail(mailer) => mailer.provider_id(id),
            Transport::Sms(_) => id.to_owned(),
        }
    }
}

/// The threads of the outbox, one for each channel: a mail server that hangs keeps no short message waiting.
pub struct OutboxThreads {
    stop: crossbeam_channel::Sender<()>,
    ended: Receiver<()>,
}

/// Starts the threads. The error is one line that says what to do.
pub fn start(site: &Site) -> Result<OutboxThreads, String> {
    let senders = OutboxSender::new(site.for_another_thread())?.one_per_channel();
    let (stop, stopped) = bounded(0);
    let (end, ended) = bounded::<()>(0);
    for (place, mut sender) in senders.into_iter().enumerate() {
        let (site, stopped, end) = (site.for_another_thread(), stopped.clone(), end.clone());
        let work = move || {
            while panics(&site, || sender.work_until_stopped(place, &stopped)) {
                sender.disconnect();
                sender.site.store.release();
                if stopped.recv_timeout(FAULT_PAUSE) != Err(crossbeam_channel::RecvTimeoutError::Timeout) {
                    break;
                }
            }
            drop(end);
        };
        let spawned = std::thread::Builder::new().name("outbox".to_owned()).spawn(work);
        spawned.map_err(|e| format!("cannot start a thread: {e}"))?;
    }
    Ok(OutboxThreads { stop, ended })
}

impl OutboxThreads {
    /// Stops the threads; waits up to `STOP_TIME_MAX` for the messages that are being sent, and for their outcomes.
    pub fn stop(self) {
        drop(self.stop);
        _ = self.ended.recv_timeout(STOP_TIME_MAX);
    }
}

/// Renders a message. The error: its values are erased or incomplete.
pub fn render_message(site: &Site, message: &Message) -> Result<RenderedMessage, String> {
    let name = site_name(site).map_err(|e| format!("cannot read the tunnel's name: {e}"))?;
    let zone = site.time_zone().map_err(|e| format!("cannot read the tunnel's time zone: {e}"))?;
    render(site, &Context { site: &name, url: &site.public_url(), zone: &zone, german: site.german }, message)
}

fn render(site: &Site, context: &Context, message: &Message) -> Result<RenderedMessage, String> {
    let sealed = message.sealed.as_deref().ok_or("its content is wiped")?;
    let values = site.keys.unseal(&message.place(), sealed).ok_or("it was sealed with another site key")?;
    let values = serde_json::from_slice(&values).map_err(|_| "its values are damaged")?;
    render::render(&message.template, &message.language, context, &values, message.created_at)
}

fn site_name(site: &Site) -> Result<String, Failure> {
    let find = |tx: &Read| Ok(tunnels::find(tx, site.tunnel_id)?);
    Ok(site.store.read(find)?.map_or_else(String::new, |tunnel| tunnel.name))
}

/// The message's id for the server: the same for every attempt, and impossible to guess from the message's number.
fn stable_id(site: &Site, message: &Message) -> String {
    let parts = [&message.message_id.0.to_be_bytes()[..], &message.created_at.0.to_be_bytes()[..]];
    format!("{}.{}", message.message_id, hex(&site.keys.hash(Purpose::Message, &parts)[..12]))
}

fn later(message: &Message, error: String, now: Moment) -> Outcome {
    if message.first_tried_at.is_some_and(|first| now - first >= GIVE_UP_SECONDS) {
        return Outcome::Dead { error };
    }
    let times = u32::try_from(message.tries).unwrap_or(u32::MAX);
    Outcome::Later { error, next_try_at: now + doubled(RETRY_SECONDS, times) }
}

/// The first number doubled `times` times, at most the last, and varied at random by up to a fifth, so that attempts do
/// not coincide.
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
    fn tries_come_ever_later_and_at_different_times() {
        for times in 0..40 {
            let exact = (60_i64 << times.min(20)).min(RETRY_SECONDS.1);
            let waits: Vec<_> = (0..50).map(|_| doubled(RETRY_SECONDS, times)).collect();
            assert!(waits.iter().all(|wait| (wait - exact).abs() <= exact / 5), "{waits:?}");
            assert!(waits.iter().any(|wait| wait != &waits[0]), "{waits:?}");
        }
    }
}
