//! Webhooks of partners: registered, tested, rotated, replayed and ended. `jobs::hooks` sends.

use super::Change;
use crate::domain::audit::{Detail, Subject};
use crate::domain::event::{Audience, Choice};
use crate::domain::ids::HookId;
use crate::domain::webhook::{self, Trouble};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::store::tables::events;
use crate::store::tables::hooks::{self, Ended, Hook};
use crate::store::tables::partners::Partner;
use std::net::IpAddr;

/// How long the secret before signs too, after a rotation.
const ROTATION_SECONDS: i64 = 7 * 86_400;
/// Webhooks of one partner that were not ended for good.
const HOOKS_MAX: usize = 10;
/// Events that one call queues again, at most.
const REPLAYED_MAX: usize = 10_000;
const STEP_ROWS: i64 = 500;
/// What is said of a word that is no type.
const TYPE_CHARS_SHOWN: usize = 60;

/// Where a webhook's events go, and which; each part is as a webhook may have it.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    url: String,
    /// Empty: all.
    types: String,
    /// A private address that an admin named; empty: none.
    address: String,
}

/// What became of a delivery, or of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Delivered {
    Taken,
    /// The receiver did not take the event; the number is the pause in seconds for which it asked.
    Refused(Trouble, Option<i64>),
}

/// The types of events that a partner hears of.
pub(crate) fn types() -> Vec<&'static str> {
    events::TYPES.iter().copied().filter(|name| name.starts_with("booking.")).collect()
}

impl Target {
    /// Checks an address, a choice of types, and the private address of the hall that the name leads to, as typed. 422 at each
    /// field that cannot be.
    pub(crate) fn read(url: &str, chosen: &str, address: &str) -> Result<Target, Failure> {
        let (url, address) = (url.trim(), address.trim());
        let mut problems = Vec::new();
        if let Err(text) = webhook::check_url(url) {
            problems.push(("url", text));
        }
        let mut once: Vec<&str> = Vec::new();
        for one in chosen.split(',').map(str::trim).filter(|one| !one.is_empty()) {
            if !once.contains(&one) {
                once.push(one);
            }
        }
        // Commas alone choose nothing, which would else be all.
        let chooses_nothing = once.is_empty() && !chosen.trim().is_empty();
        let unknown = Choice::parse(chosen, &types()).err().or(chooses_nothing.then(|| chosen.trim().to_owned()));
        if let Some(unknown) = unknown {
            let unknown: String = unknown.chars().take(TYPE_CHARS_SHOWN).collect();
            let text = Text::new("hook.types_wrong").with("type", unknown).with("types", types().join(", "));
            problems.push(("types", text));
        }
        let ip: Option<IpAddr> = address.parse().ok();
        if problems.is_empty() && webhook::names_closed_address(url, ip) {
            problems.push(("url", Text::new("hook.url_private")));
        }
        if !address.is_empty() && ip.is_none() {
            problems.push(("address", Text::new("hook.address_wrong").with("address", address)));
        }
        let mut problems = problems.into_iter();
        if let Some((field, text)) = problems.next() {
            let first = Failure::field(field, text);
            return Err(problems.fold(first, |failure, (field, text)| failure.with_problem(field, text)));
        }
        let address = ip.map(|ip| ip.to_canonical().to_string()).unwrap_or_default();
        Ok(Target { url: url.to_owned(), types: once.join(","), address })
    }

    #[cfg(test)]
    pub(crate) fn types(&self) -> &str {
        &self.types
    }

    /// One without https.
    #[cfg(test)]
    pub(crate) fn in_clear(url: &str, address: &str) -> Target {
        Target { url: url.to_owned(), types: String::new(), address: address.to_owned() }
    }
}

/// Registers a webhook. A test is sent, and nothing else until it is taken. Audited. Admins only. 409 where the partner is revoked,
/// 422 where it has as many as may be.
pub(crate) fn add(cx: &Change, partner: &Partner, target: &Target, secret: &[u8]) -> Result<HookId, Failure> {
    cx.check_admin()?;
    if partner.revoked_at.is_some() {
        return Err(Failure::partner_revoked());
    }
    if hooks::list_of(cx.tx, partner.partner_id)?.len() >= HOOKS_MAX {
        return Err(Failure::field("url", Text::new("hook.full").with_count("max", HOOKS_MAX)));
    }
    let cursor = events::range(cx.tx)?.last;
    let hook_id = hooks::insert(cx.tx, partner.partner_id, (&target.url, &target.types, &target.address), cursor)?;
    hooks::insert_secret(cx.tx, &cx.site.keys, hook_id, secret, cx.now())?;
    hooks::end(cx.tx, hook_id, Ended::Untested)?;
    hooks::ask_test(cx.tx, hook_id)?;
    record(cx, "hook.added", partner.client_id.clone(), hook_id)?;
    Ok(hook_id)
}

/// Gives a webhook another secret; the one before signs too for a week. Where one signs so already, it ends now, if `ends_old`.
/// Audited. Admins only. 404 where there is no such webhook, 409 where another secret would end one that signs.
pub(crate) fn rotate(cx: &Change, hook_id: HookId, secret: &[u8], ends_old: bool) -> Result<(), Failure> {
    let hook = find(cx, hook_id)?;
    if !ends_old && hooks::find_old_secret_end(cx.tx, hook_id, cx.now())?.is_some() {
        return Err(Failure::exists().saying(Text::new("partners.rotate_confirm")));
    }
    hooks::insert_secret(cx.tx, &cx.site.keys, hook_id, secret, cx.now() + ROTATION_SECONDS)?;
    record(cx, "hook.rotated", hook.client_id, hook_id)
}

/// Asks the job for a test. Audited. Admins only. 404 where there is no such webhook.
pub(crate) fn ask_test(cx: &Change, hook_id: HookId) -> Result<(), Failure> {
    let hook = find(cx, hook_id)?;
    hooks::ask_test(cx.tx, hook_id)?;
    record(cx, "hook.tested", hook.client_id, hook_id)
}

/// Sends nothing until [`replay`] puts the webhook in force again; what happens meanwhile waits. Audited. Admins only. 404 where there
/// is no such webhook in force.
pub(crate) fn switch_off(cx: &Change, hook_id: HookId) -> Result<(), Failure> {
    let hook = find(cx, hook_id)?;
    if hooks::end(cx.tx, hook_id, Ended::Off)? == 0 {
        return Err(Failure::not_found());
    }
    record(cx, "hook.off", hook.client_id, hook_id)
}

/// Ends a webhook for good. Audited. Admins only. 404 where there is no such webhook.
pub(crate) fn remove(cx: &Change, hook_id: HookId) -> Result<(), Failure> {
    let hook = find(cx, hook_id)?;
    hooks::revive(cx.tx, hook_id)?;
    hooks::end(cx.tx, hook_id, Ended::Removed)?;
    hooks::delete_deliveries(cx.tx, hook_id)?;
    record(cx, "hook.removed", hook.client_id, hook_id)
}

/// Sends again what was not taken however often it was sent, or with `after` every event after that number, and at once what waits for
/// its next try. A webhook that ended by itself, or was switched off, is in force again, with what happened since. Returns how many events
/// are in line now. Audited. Admins only. 404 where there is no such webhook; 409 where its first test was not taken.
pub(crate) fn replay(cx: &Change, hook_id: HookId, after: Option<i64>) -> Result<i64, Failure> {
    let hook = find(cx, hook_id)?;
    if hook.ended_as == Some(Ended::Untested) {
        return Err(Failure::exists().saying(Text::new("hook.test_first")));
    }
    hooks::revive(cx.tx, hook_id)?;
    hooks::hasten(cx.tx, hook_id)?;
    if let Some(after) = after {
        queue(cx, &hook, after, hook.cursor)?;
    } else {
        hooks::replay_dead(cx.tx, hook_id)?;
    }
    queue_new(cx, &hook)?;
    record(cx, "hook.replayed", hook.client_id, hook_id)?;
    Ok(find(cx, hook_id)?.waiting)
}

/// Queues the events after a number up to another one; returns how many, and up to which event.
fn queue(cx: &Change, hook: &Hook, after: i64, to: i64) -> Result<(usize, i64), Failure> {
    let choice = Choice::read(&hook.types, events::TYPES);
    let (mut at, mut queued) = (after, 0);
    while at < to && queued < REPLAYED_MAX {
        let step = events::step(cx.tx, Audience::Partner(hook.partner_id), &choice, at, STEP_ROWS)?;
        for row in step.rows.iter().filter(|row| row.seq <= to) {
            queued += hooks::queue(cx.tx, hook.hook_id, row.seq, row.booking_id.unwrap_or_default())?;
        }
        at = step.looked_to.min(to);
    }
    Ok((queued, at))
}

/// Queues what happened since for a webhook in force; returns how many events.
pub(crate) fn queue_new(cx: &Change, hook: &Hook) -> Result<usize, Failure> {
    let last = events::range(cx.tx)?.last;
    let (queued, at) = queue(cx, hook, hook.cursor, last)?;
    hooks::set_cursor(cx.tx, hook.hook_id, at)?;
    Ok(queued)
}

/// Notes what became of a delivery, and when it is sent again, with a jitter by a random byte. A webhook whose server is gone ends.
/// Audited then.
pub(crate) fn settle(cx: &Change, hook_id: HookId, seq: i64, delivered: Delivered, dice: u8) -> Result<(), Failure> {
    let Some(tries) = hooks::find_tries(cx.tx, hook_id, seq)? else { return Ok(()) };
    let Delivered::Refused(trouble, retry_after) = delivered else {
        hooks::set_taken(cx.tx, hook_id, seq)?;
        return Ok(());
    };
    let again_at = webhook::again_at(cx.now(), tries, retry_after, dice).filter(|_| !trouble.is_final());
    hooks::set_again(cx.tx, hook_id, seq, again_at, &trouble.name())?;
    if !trouble.is_final() {
        hooks::set_trouble(cx.tx, hook_id, &trouble.name())?;
    }
    if trouble.is_gone() { end(cx, hook_id, Ended::Gone) } else { Ok(()) }
}

/// Notes what became of a test. A webhook that waited for its first is in force from now on.
pub(crate) fn settle_test(cx: &Change, hook_id: HookId, delivered: Delivered) -> Result<(), Failure> {
    let Delivered::Taken = delivered else {
        let Delivered::Refused(trouble, _) = delivered else { return Ok(()) };
        hooks::set_tested(cx.tx, hook_id, &trouble.name())?;
        return Ok(());
    };
    hooks::set_tested(cx.tx, hook_id, "")?;
    if hooks::find(cx.tx, hook_id)?.is_some_and(|hook| hook.ended_as == Some(Ended::Untested)) {
        hooks::revive(cx.tx, hook_id)?;
        hooks::set_cursor(cx.tx, hook_id, events::range(cx.tx)?.last)?;
    }
    Ok(())
}

/// Notes that nothing can be sent to a webhook, and why.
pub(crate) fn hold(cx: &Change, hook: &Hook, trouble: Trouble) -> Result<(), Failure> {
    let trouble = trouble.name();
    if hook.failing_since.is_none() || hook.trouble != trouble {
        hooks::set_trouble(cx.tx, hook.hook_id, &trouble)?;
    }
    Ok(())
}

/// Ends a webhook in force by itself. Audited.
pub(crate) fn end(cx: &Change, hook_id: HookId, ended: Ended) -> Result<(), Failure> {
    let Some(hook) = hooks::find(cx.tx, hook_id)? else { return Ok(()) };
    if hooks::end(cx.tx, hook_id, ended)? > 0 {
        record(cx, "hook.ended", hook.client_id, hook_id)?;
    }
    Ok(())
}

/// A webhook that was not ended for good.
fn find(cx: &Change, hook_id: HookId) -> Result<Hook, Failure> {
    cx.check_admin()?;
    let hook = hooks::find(cx.tx, hook_id)?.filter(|hook| hook.ended_as != Some(Ended::Removed));
    hook.ok_or_else(Failure::not_found)
}

fn record(cx: &Change, action: &'static str, client_id: String, hook_id: HookId) -> Result<(), Failure> {
    cx.record(action, &Subject::Partner(client_id), &Detail::none().number("hook_id", hook_id))
}
