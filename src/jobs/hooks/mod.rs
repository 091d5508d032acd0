//! Sends events to webhooks, signed by Standard Webhooks. Each event is one request; the next event of the same booking waits for it,
//! and other bookings and other webhooks go on. What became of a request is written after the answer: a crash in between sends the
//! event again under the same `webhook-id`, and never loses it.

mod request;

pub(crate) use request::new_secret;

use crate::app::hooks::{self as effects, Delivered};
use crate::app::{self, Change, RankedActor};
use crate::domain::audit::Actor;
use crate::domain::ids::HookId;
use crate::domain::webhook::{self, BODY_BYTES_MAX, Trouble};
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::keys::random;
use crate::site::Site;
use crate::store::tables::events;
use crate::store::tables::hooks::{self, Ended, Hook};
use request::{Agents, Calls, Request};
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// How soon an event is sent.
const INTERVAL: Duration = Duration::from_secs(1);
/// How soon an answer is noted, and the next event sent.
const INTERVAL_UNDER_WAY: Duration = Duration::from_millis(50);
/// Requests at the same time to one webhook, and to all.
const AT_A_TIME: usize = 16;
const AT_A_TIME_IN_ALL: usize = 64;
/// To one that has taken nothing of late, so that those that hang leave room for the others.
const AT_A_TIME_FAILING: usize = 2;
/// The number of a test among the events of a webhook.
const TEST: i64 = 0;

/// Sends webhooks. Requests run on threads of their own, so that a receiver that hangs holds up nobody else.
pub(crate) struct Sender {
    site: Site,
    calls: Calls,
    /// The requests whose answer is awaited: the webhook and the event, or [`TEST`].
    under_way: HashSet<(HookId, i64)>,
    outcomes: Receiver<Outcome>,
    tells: mpsc::Sender<Outcome>,
}

/// What became of one request.
struct Outcome {
    hook_id: HookId,
    seq: i64,
    delivered: Delivered,
}

/// Runs until the sender of `stop` is dropped.
pub(crate) fn run_until_stopped(site: &Site, stop: &Receiver<()>) {
    let mut sender = Sender::new(site.for_another_thread());
    let pause = |sender: &Sender| if sender.under_way.is_empty() { INTERVAL } else { INTERVAL_UNDER_WAY };
    while sender.site.rest(stop, pause(&sender)) {
        if let Err(failure) = sender.settle_all().and_then(|()| sender.begin()) {
            tracing::warn!(cause = %failure, "webhooks wait; the next round tries again");
        }
    }
}

/// A stored trouble in words of the log and the command line; empty where there is none.
pub(crate) fn said(trouble: &str) -> String {
    Trouble::text(trouble).map(|text| Language::default().say(&text)).unwrap_or_default()
}

impl Sender {
    fn new(site: Site) -> Sender {
        let (tells, outcomes) = mpsc::channel();
        let calls = Calls::new(site.config.webhook_authority.clone());
        Sender { site, calls, under_way: HashSet::new(), outcomes, tells }
    }

    /// Queues what happened, and begins to send what is due. Returns how many requests began.
    fn begin(&mut self) -> Result<usize, Failure> {
        let (all, last) = self.site.store.read(|tx| Ok((hooks::list(tx)?, events::range(tx)?.last)))?;
        self.site.store.release();
        let mut begun = 0;
        for hook in all.iter().filter(|hook| !hook.revoked && hook.ended_as != Some(Ended::Removed)) {
            match self.begin_of(hook, last) {
                Ok(more) => begun += more,
                Err(failure) => tracing::warn!(hook = hook.hook_id.0, cause = %failure, "a webhook waits"),
            }
        }
        self.site.store.release();
        Ok(begun)
    }

    fn begin_of(&mut self, hook: &Hook, last: i64) -> Result<usize, Failure> {
        if !hook.test_asked && hook.ended_at.is_some() {
            return Ok(0);
        }
        let now = self.site.now();
        let secrets = self.site.store.read(|tx| Ok(hooks::list_secrets(tx, &self.site.keys, hook.hook_id, now)?))?;
        if secrets.is_empty() {
            self.change(|cx| effects::hold(cx, hook, Trouble::NoSecret))?;
            return Ok(0);
        }
        let agents = self.calls.agents(&hook.address);
        let mut begun = 0;
        if hook.test_asked && self.has_room(hook) && !self.under_way.contains(&(hook.hook_id, TEST)) {
            self.start(hook, TEST, Request::test(&self.site.site_id, now, &secrets), &agents);
            begun += 1;
        }
        if hook.ended_at.is_some() {
            return Ok(begun);
        }
        if webhook::fails_too_long(now, hook.failing_since) {
            self.change(|cx| effects::end(cx, hook.hook_id, Ended::Failing))?;
            return Ok(begun);
        }
        if last > hook.cursor {
            self.change(|cx| effects::queue_new(cx, hook))?;
        }
        Ok(begun + self.begin_due(hook, &secrets, &agents)?)
    }

    /// Begins to send what is due for a webhook.
    fn begin_due(&mut self, hook: &Hook, secrets: &[Vec<u8>], agents: &Agents) -> Result<usize, Failure> {
        let (now, site_id, hook_id) = (self.site.now(), self.site.site_id.clone(), hook.hook_id);
        let due = self.site.store.read(|tx| {
            let mut due = Vec::new();
            for seq in hooks::list_due(tx, hook_id, now, AT_A_TIME as i64)? {
                if !self.under_way.contains(&(hook_id, seq)) {
                    due.push((seq, events::find(tx, seq)?.map(|event| event.envelope(&site_id))));
                }
            }
            Ok(due)
        })?;
        self.site.store.release();
        let mut begun = 0;
        for (seq, body) in due {
            let body = match body {
                None => Err(Trouble::Purged),
                Some(body) if body.len() > BODY_BYTES_MAX => Err(Trouble::TooLarge),
                Some(body) => Ok(body),
            };
            match body {
                Err(trouble) => self.settle(hook_id, seq, Delivered::Refused(trouble, None))?,
                Ok(_) if !self.has_room(hook) => break,
                Ok(body) => {
                    self.start(hook, seq, Request::signed(format!("{site_id}-{seq}"), now, body, secrets), agents);
                    begun += 1;
                }
            }
        }
        Ok(begun)
    }

    fn has_room(&self, hook: &Hook) -> bool {
        let own = self.under_way.iter().filter(|(one, _)| *one == hook.hook_id).count();
        own < if hook.failing_since.is_some() { AT_A_TIME_FAILING } else { AT_A_TIME }
            && self.under_way.len() < AT_A_TIME_IN_ALL
    }

    /// Sends a request on a thread of its own.
    fn start(&mut self, hook: &Hook, seq: i64, request: Request, agents: &Agents) {
        let (hook_id, url, now) = (hook.hook_id, hook.url.clone(), self.site.now());
        let (agents, tells) = (agents.clone(), self.tells.clone());
        self.under_way.insert((hook_id, seq));
        let send = move || {
            let sent = catch_unwind(AssertUnwindSafe(|| request.send(&agents, &url, now)));
            let delivered = sent.unwrap_or(Delivered::Refused(Trouble::Internal, None));
            // Fails where the site has stopped: the event is sent again after the next start.
            _ = tells.send(Outcome { hook_id, seq, delivered });
        };
        if let Err(cause) = thread::Builder::new().name("webhook".to_owned()).spawn(send) {
            tracing::warn!(%cause, "no thread for a webhook");
            self.under_way.remove(&(hook_id, seq));
        }
    }

    /// Notes what became of the requests that were answered.
    fn settle_all(&mut self) -> Result<(), Failure> {
        while let Ok(outcome) = self.outcomes.try_recv() {
            self.settle_one(outcome)?;
        }
        Ok(())
    }

    fn settle_one(&mut self, Outcome { hook_id, seq, delivered }: Outcome) -> Result<(), Failure> {
        // Also where it cannot be noted: the event is then sent again.
        self.under_way.remove(&(hook_id, seq));
        match seq {
            TEST => self.change(|cx| effects::settle_test(cx, hook_id, delivered)),
            _ => self.settle(hook_id, seq, delivered),
        }
    }

    fn settle(&self, hook_id: HookId, seq: i64, delivered: Delivered) -> Result<(), Failure> {
        let [dice] = random::<1>();
        self.change(|cx| effects::settle(cx, hook_id, seq, delivered, dice))
    }

    fn change<T>(&self, effect: impl FnOnce(&Change) -> Result<T, Failure>) -> Result<T, Failure> {
        app::change(&self.site, RankedActor::owner(&Actor::job("webhooks")), Language::default(), effect)
    }
}

#[cfg(test)]
mod tests;
