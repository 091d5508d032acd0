//! `tunneldesk partner hook …`: addresses to which a partner's events are sent as they happen.

use super::shell::Shell;
use super::{CommandError, CommandResult, Row, Table, done, refused, shown_moment};
use crate::app::hooks::{self as effects, Target};
use crate::app::partners as access;
use crate::domain::ids::HookId;
use crate::http::failure::Failure;
use crate::jobs::hooks as job;
use crate::site::Site;
use crate::store::tables::hooks::{self, Hook as Listed};
use clap::Subcommand;
use serde_json::{Value, json};
use std::net::IpAddr;

/// Why another secret is not made without `--force`.
pub(super) const TWO_SECRETS: &str =
    "two secrets are in force, so no new one was made: `--force` ends the older one now, or wait until it ends";

#[derive(Subcommand)]
pub(super) enum Hook {
    /// Register an address and send it a signed test, after which events follow; prints the secret, once
    Add {
        client_id: String,
        /// Where to: https
        url: String,
        /// Only these events, such as booking.cancelled,booking.moved; otherwise all of the partner's bookings
        #[arg(long, value_name = "TYPES", default_value = "", hide_default_value = true)]
        types: String,
        /// The address in the hall's own network that the name leads to; others that are not public are never called
        #[arg(long, value_name = "ADDRESS")]
        private_address: Option<IpAddr>,
    },
    /// List webhooks, also those that have ended
    List,
    /// Let the server send a signed test
    Test { hook_id: HookId },
    /// Give a webhook another secret; the one before signs too for 7 days
    Rotate {
        hook_id: HookId,
        /// End the secret now that signs beside the present one since the last rotation
        #[arg(long)]
        force: bool,
    },
    /// Send again what was not taken, or everything after an event; a webhook that is off or ended by itself goes on
    Replay {
        hook_id: HookId,
        /// The number of the last event that is not sent again
        #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(i64).range(0..))]
        after: Option<i64>,
    },
    /// Send nothing until `replay`; what happens meanwhile waits
    Off { hook_id: HookId },
    /// End a webhook for good
    Remove { hook_id: HookId },
}

impl Hook {
    pub(super) fn run(&self, site: &Shell) -> CommandResult {
        match self {
            Hook::Add { client_id, url, types, private_address } => add(site, client_id, url, types, *private_address),
            Hook::List => list(site),
            Hook::Test { hook_id } => test(site, *hook_id),
            Hook::Rotate { hook_id, force } => rotate(site, *hook_id, *force),
            Hook::Replay { hook_id, after } => replay(site, *hook_id, *after),
            Hook::Off { hook_id } => switch_off(site, *hook_id),
            Hook::Remove { hook_id } => remove(site, *hook_id),
        }
    }
}

fn add(site: &Shell, client_id: &str, url: &str, types: &str, private_address: Option<IpAddr>) -> CommandResult {
    let address = private_address.map(|address| address.to_string()).unwrap_or_default();
    let target = Target::read(url, types, &address)?;
    let partner =
        site.store.read(|tx| access::find_client(tx, client_id)).map_err(|failure| unknown(failure, client_id))?;
    site.store.release();
    let (secret, text) = job::new_secret();
    let hook_id = site.change(|cx| effects::add(cx, &partner, &target, &secret))?;
    let words = format!(
        "webhook: {hook_id}\nsecret:  {text}   (shown this once)\n\n\
         The server sends a signed test, and events once it is taken: `tunneldesk partner hook list` shows it.\n\
         `tunneldesk partner hook test {hook_id}` sends another."
    );
    done(words, json!({ "hook_id": hook_id, "secret": text }))
}

fn rotate(site: &Shell, hook_id: HookId, force: bool) -> CommandResult {
    let (secret, text) = job::new_secret();
    let rotated = site.change(|cx| effects::rotate(cx, hook_id, &secret, force));
    rotated.map_err(|failure| match failure.is(Failure::exists) {
        true => refused(TWO_SECRETS),
        false => absent(failure, hook_id),
    })?;
    done(format!("secret:  {text}   (shown this once)"), json!({ "hook_id": hook_id, "secret": text }))
}

fn test(site: &Shell, hook_id: HookId) -> CommandResult {
    site.change(|cx| effects::ask_test(cx, hook_id)).map_err(|failure| absent(failure, hook_id))?;
    let words = "the server sends a test; `tunneldesk partner hook list` shows whether it is taken";
    done(words, json!({ "hook_id": hook_id }))
}

fn switch_off(site: &Shell, hook_id: HookId) -> CommandResult {
    site.change(|cx| effects::switch_off(cx, hook_id)).map_err(|failure| absent(failure, hook_id))?;
    let words = format!("nothing is sent until `tunneldesk partner hook replay {hook_id}`");
    done(words, json!({ "hook_id": hook_id }))
}

fn replay(site: &Shell, hook_id: HookId, after: Option<i64>) -> CommandResult {
    let waiting = site.change(|cx| effects::replay(cx, hook_id, after)).map_err(|failure| absent(failure, hook_id))?;
    done(format!("events in line to be sent: {waiting}"), json!({ "hook_id": hook_id, "waiting": waiting }))
}

fn remove(site: &Shell, hook_id: HookId) -> CommandResult {
    site.change(|cx| effects::remove(cx, hook_id)).map_err(|failure| absent(failure, hook_id))?;
    done(format!("webhook {hook_id} has ended"), json!({ "hook_id": hook_id }))
}

fn unknown(failure: Failure, client_id: &str) -> CommandError {
    match failure.is(Failure::not_found) {
        true => refused(format!("there is no partner {client_id}: `tunneldesk partner list` shows their client-ids")),
        false => failure.into(),
    }
}

fn absent(failure: Failure, hook_id: HookId) -> CommandError {
    match failure.is(Failure::not_found) {
        true => refused(format!("there is no webhook {hook_id} in force: `tunneldesk partner hook list` shows them")),
        false => failure.into(),
    }
}

fn list(site: &Site) -> CommandResult {
    Ok(Box::new(Table::new(site.store.read(|tx| Ok(hooks::list(tx)?))?)))
}

impl Row for Listed {
    const HEADINGS: &'static [&'static str] =
        &["NUMBER", "CLIENT-ID", "ADDRESS", "STATE", "SENT", "WAIT", "DEAD", "SINCE"];

    fn cells(&self) -> Vec<String> {
        let state = match (self.ended_as, self.failing_since) {
            _ if self.test_asked => "a test is under way".to_owned(),
            (Some(ended), _) if self.trouble.is_empty() => ended.name().to_owned(),
            (Some(ended), _) => format!("{}: {}", ended.name(), job::said(&self.trouble)),
            (None, Some(since)) => format!("fails since {}: {}", shown_moment(since), job::said(&self.trouble)),
            (None, None) if self.trouble.is_empty() => "works".to_owned(),
            (None, None) => format!("the last test was not taken: {}", job::said(&self.trouble)),
        };
        let numbers = [self.sent, self.waiting, self.dead].map(|number| number.to_string());
        let before = [self.hook_id.to_string(), self.client_id.clone(), self.url.clone(), state];
        before.into_iter().chain(numbers).chain([shown_moment(self.created_at)]).collect()
    }

    fn value(&self) -> Value {
        json!({
            "hook_id": self.hook_id, "client_id": self.client_id, "url": self.url, "types": self.types,
            "private_address": self.address, "failing_since": self.failing_since, "trouble": self.trouble,
            "sent": self.sent, "waiting": self.waiting, "dead": self.dead, "created_at": self.created_at,
            "taken_at": self.taken_at, "tested_at": self.tested_at, "ended_at": self.ended_at, "ended_as": self.ended_as,
        })
    }
}
