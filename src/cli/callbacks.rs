//! `tunneldesk callbacks …`: the callbacks of third parties, and the payments without a member.

use super::member::find_certain;
use super::shell::Shell;
use super::{CommandResult, Row, RowRange, Table, done, refused, shown_moment};
use crate::app;
use crate::domain::ids::CallbackId;
use crate::domain::payment::{Decision, Price};
use crate::http::failure::{Failure, Stop};
use crate::keys::columns;
use crate::site::Site;
use crate::store::tables::callbacks::{self, Sender, StoredCallback};
use crate::store::tables::payments::{self, Payment};
use clap::Subcommand;
use serde_json::{Value, json};

/// Payments that a table shows without `--limit`.
const PAYMENTS_USUAL: i64 = 500;
/// Events that a table shows without `--limit`.
const EVENTS_USUAL: i64 = 50;

#[derive(Subcommand)]
#[command(after_help = "Exit codes: 0 done; 1 refused (no such event, payment or member); 2 failed.")]
pub(super) enum Callbacks {
    /// List events, newest first, each with what became of it
    List {
        /// Only those of one sender
        #[arg(long, value_parser = Sender::NAMES)]
        sender: Option<String>,
        /// Only those with one verdict, for instance unmatched or odd
        #[arg(long)]
        verdict: Option<String>,
        #[command(flatten)]
        part: RowRange,
    },
    /// Show one event as it came
    Show {
        #[arg(value_name = "NUMBER")]
        callback_id: CallbackId,
    },
    /// List payments without a member, latest first: 500, or with --json all
    Unmatched {
        #[command(flatten)]
        part: RowRange,
    },
    /// Say whose a payment is: its year goes to that member, whatever was paid, also where it had gone to another
    Match {
        /// The processor's name for the payment (pi_…)
        #[arg(value_name = "PAYMENT")]
        intent_id: String,
        /// Username or e-mail address
        member: String,
    },
}

impl Callbacks {
    pub(super) fn run(&self, site: &Shell) -> CommandResult {
        match self {
            Callbacks::List { sender, verdict, part } => list(site, (sender.as_deref(), verdict.as_deref()), part),
            Callbacks::Show { callback_id } => show(site, *callback_id),
            Callbacks::Unmatched { part } => unmatched(site, part),
            Callbacks::Match { intent_id, member } => assign(site, intent_id, member),
        }
    }
}

fn list(site: &Shell, of: (Option<&str>, Option<&str>), part: &RowRange) -> CommandResult {
    let limit = part.limit(site, EVENTS_USUAL);
    let (events, asked_for, total) = site.store.read(|tx| {
        let events = callbacks::list(tx, of.0, of.1, limit, part.offset)?;
        Ok::<_, Failure>((events, callbacks::count(tx, of.0, of.1)?, callbacks::count(tx, None, None)?))
    })?;
    let kept = format!("{total} event{} kept{}", if total == 1 { "" } else { "s" }, what_is_missing(site));
    let list = Table::new(events).part("callbacks", json!({ "total": total }));
    Ok(Box::new(list.page_of(asked_for, part).total(kept)))
}

/// Names the senders whose callbacks are refused, because the settings lack their secrets.
fn what_is_missing(site: &Site) -> String {
    let config = &site.config;
    let senders = [
        ("the payment processor", config.callbacks.payment_secret.is_none()),
        ("the mail provider", config.callbacks.mail_key.is_none()),
        ("the social network", config.social.facebook.is_none()),
    ];
    let missing: Vec<_> = senders.into_iter().filter(|(_, missing)| *missing).map(|(name, _)| name).collect();
    if missing.is_empty() { String::new() } else { format!("; no key is configured for {}", missing.join(", ")) }
}

impl Row for StoredCallback {
    const HEADINGS: &'static [&'static str] = &["NUMBER", "RECEIVED", "SENDER", "EVENT", "ABOUT", "VERDICT", "TIMES"];

    fn cells(&self) -> Vec<String> {
        vec![
            self.callback_id.to_string(),
            shown_moment(self.received_at),
            self.sender.clone(),
            self.event.clone(),
            self.about.clone(),
            self.verdict.clone(),
            self.times.to_string(),
        ]
    }

    fn value(&self) -> Value {
        json!({
            "callback_id": self.callback_id, "sender": self.sender, "event": self.event, "key": self.key,
            "about": self.about, "verdict": self.verdict, "times": self.times, "received_at": self.received_at,
            "repeated_at": self.repeated_at,
        })
    }
}

fn show(site: &Site, callback_id: CallbackId) -> CommandResult {
    let event = site.store.read(|tx| Ok(callbacks::find(tx, callback_id)?))?;
    let missing = || refused(format!("there is no event {callback_id}: `tunneldesk callbacks list` numbers them"));
    let event = event.ok_or_else(missing)?;
    let raw = match event.sealed.is_empty() {
        true => Some(Vec::new()),
        false => site.keys.unseal(&columns::CALLBACK.at([callback_id.into()]), &event.sealed),
    };
    let raw = raw.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let mut values = event.value();
    values["raw"] = json!(raw);
    let mut came = shown_moment(event.received_at);
    if let Some(last) = event.repeated_at {
        came += &format!(", {} times, last on {}", event.times, shown_moment(last));
    }
    let about = if event.about.is_empty() { "–" } else { &event.about };
    let head = format!(
        "Sender:   {}\nEvent:    {}\nAbout:    {about}\nVerdict:  {}\nReceived: {came}\nKey:      {}",
        event.sender, event.event, event.verdict, event.key
    );
    let raw = raw.map_or_else(|| "It was sealed with another site key.".to_owned(), |raw| readable(&raw));
    done(format!("{head}\n\n{raw}"), values)
}

/// JSON over several lines; any other text unchanged, except that control characters are replaced, which could steer a
/// terminal.
fn readable(raw: &str) -> String {
    let pretty = serde_json::from_str::<Value>(raw).ok().and_then(|value| serde_json::to_string_pretty(&value).ok());
    let text = pretty.unwrap_or_else(|| raw.to_owned());
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

fn unmatched(site: &Shell, part: &RowRange) -> CommandResult {
    let limit = part.limit(site, PAYMENTS_USUAL);
    let (payments, total) = site
        .store
        .read(|tx| Ok((payments::list_unmatched(tx, limit, part.offset)?, payments::count_unmatched(tx)?)))?;
    let list = Table::new(payments).page_of(total, part);
    let list = list.total("Say whose they are with: tunneldesk callbacks match PAYMENT MEMBER");
    Ok(Box::new(if total == 0 { list.when_empty("every payment has its member") } else { list }))
}

impl Row for Payment {
    const HEADINGS: &'static [&'static str] = &["PAYMENT", "AMOUNT", "STATUS", "SINCE"];

    fn cells(&self) -> Vec<String> {
        let price = Price { cents: self.amount_cents, currency: self.currency.clone() };
        vec![self.intent_id.clone(), price.to_string(), self.status.clone(), shown_moment(self.updated_at)]
    }

    fn value(&self) -> Value {
        json!({
            "paymentIntentId": self.intent_id, "amount_cents": self.amount_cents, "currency": self.currency,
            "status": self.status, "created_at": self.created_at, "updated_at": self.updated_at,
        })
    }
}

fn assign(site: &Shell, intent_id: &str, name: &str) -> CommandResult {
    let member = find_certain(site, name)?;
    let assigned = site.try_change(|cx| {
        let payment_id = payments::find_number(cx.tx, intent_id)?.ok_or(Stop::Denied("payment"))?;
        let decided = app::payments::decide(cx, payment_id, Decision::Counts, Some(member.member_id))?;
        decided.ok_or(Stop::Denied("member"))
    });
    let payment = match assigned {
        Ok(payment) => payment,
        Err(stop) => return Err(refused(format!("there is no such {}; nothing was changed", stop.denial()?))),
    };
    let paid_until = payment.grant.map(|grant| grant.until);
    let status = payment.report.status.name();
    let words = match paid_until {
        Some(until) => format!("{intent_id} is {}'s: paid until {}", member.username, shown_moment(until)),
        None => format!("{intent_id} is {}'s; it is {status} and extends no membership", member.username),
    };
    done(words, json!({ "member_id": member.member_id, "paid_until": paid_until }))
}
