//! `tunneldesk callbacks …`: what third parties called back with, and the payments that are nobody's yet.

use super::shell::Shell;
use super::{Part, Trouble, as_json, left_out, refused, shown_moment, table};
use crate::domain::audit::{Detail, Whom};
use crate::domain::payment::{Decision, Price};
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::queries::settlement;
use crate::store::tables::callbacks::{self, Kept, Sender};
use crate::store::tables::members;
use crate::store::tables::payments::{self, Payment};
use clap::Subcommand;
use serde_json::{Value, json};

/// Payments that a table shows, unless another number is asked for.
const LISTED_USUAL: i64 = 500;

#[derive(Subcommand)]
#[command(after_help = "Exit codes: 0 done; 1 refused (no such event, payment or member); 2 broken.")]
pub enum Callbacks {
    /// List events, newest first, each with what became of it
    List {
        /// Only those of one sender
        #[arg(long, value_parser = Sender::NAMES)]
        sender: Option<String>,
        /// Only those with one verdict, for instance unmatched or odd
        #[arg(long)]
        verdict: Option<String>,
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=100_000))]
        limit: i64,
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
        offset: i64,
    },
    /// Show one event as it came
    Show {
        #[arg(value_name = "NUMBER")]
        callback_id: i64,
    },
    /// List payments of which nobody knows whose they are, the latest first: 500, or with --json all
    Unmatched {
        #[command(flatten)]
        part: Part,
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
    pub fn run(&self, site: &Shell, json: bool) -> Result<String, Trouble> {
        match self {
            Callbacks::List { sender, verdict, limit, offset } => {
                list(site, (sender.as_deref(), verdict.as_deref()), (*limit, *offset), json)
            }
            Callbacks::Show { callback_id } => show(site, *callback_id, json),
            Callbacks::Unmatched { part } => unmatched(site, part, json),
            Callbacks::Match { intent_id, member } => assign(site, intent_id, member, json),
        }
    }
}

fn list(site: &Site, of: (Option<&str>, Option<&str>), page: (i64, i64), json: bool) -> Result<String, Trouble> {
    let (events, total) = site.store.read(|tx| {
        let events = callbacks::list(tx, of.0, of.1, page.0, page.1)?;
        Ok::<_, Failure>((events, callbacks::count(tx)?))
    })?;
    if json {
        let rows: Vec<_> = events.iter().map(as_row).collect();
        return Ok(as_json(&json!({ "total": total, "callbacks": rows })));
    }
    let kept = format!("{total} event{} kept{}", if total == 1 { "" } else { "s" }, what_is_missing(site));
    if events.is_empty() {
        return Ok(kept);
    }
    let rows: Vec<_> = events.iter().map(as_cells).collect();
    let headings = ["NUMBER", "CAME", "SENDER", "EVENT", "ABOUT", "VERDICT", "TIMES"];
    Ok(format!("{}\n\n{kept}", table(&headings, &rows)))
}

/// Which senders would be turned away.
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

fn as_row(event: &Kept) -> Value {
    json!({
        "callback_id": event.callback_id, "sender": event.sender, "event": event.event, "key": event.key,
        "about": event.about, "verdict": event.verdict, "times": event.times, "received_at": event.received_at,
        "repeated_at": event.repeated_at,
    })
}

fn as_cells(event: &Kept) -> Vec<String> {
    vec![
        event.callback_id.to_string(),
        shown_moment(event.received_at),
        event.sender.clone(),
        event.event.clone(),
        event.about.clone(),
        event.verdict.clone(),
        event.times.to_string(),
    ]
}

fn show(site: &Site, callback_id: i64, json: bool) -> Result<String, Trouble> {
    let event = site.store.read(|tx| Ok(callbacks::find(tx, callback_id)?))?;
    let missing = || refused(format!("there is no event {callback_id}: `tunneldesk callbacks list` numbers them"));
    let event = event.ok_or_else(missing)?;
    let raw = site.keys.unseal(Purpose::Callback, &event.sealed);
    let raw = raw.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if json {
        let mut row = as_row(&event);
        row["raw"] = raw.into();
        return Ok(as_json(&row));
    }
    let mut came = shown_moment(event.received_at);
    if let Some(last) = event.repeated_at {
        came += &format!(", {} times, last on {}", event.times, shown_moment(last));
    }
    let about = if event.about.is_empty() { "–" } else { &event.about };
    let head = format!(
        "Sender:  {}\nEvent:   {}\nAbout:   {about}\nVerdict: {}\nCame:    {came}\nKey:     {}",
        event.sender, event.event, event.verdict, event.key
    );
    let raw = raw.map_or_else(|| "It was sealed with another site key.".to_owned(), |raw| readable(&raw));
    Ok(format!("{head}\n\n{raw}"))
}

/// JSON over several lines; anything else as it is, but for what would steer a terminal.
fn readable(raw: &str) -> String {
    let pretty = serde_json::from_str::<Value>(raw).ok().and_then(|value| serde_json::to_string_pretty(&value).ok());
    let text = pretty.unwrap_or_else(|| raw.to_owned());
    text.chars().map(|c| if c.is_control() && c != '\n' { '\u{fffd}' } else { c }).collect()
}

fn unmatched(site: &Site, part: &Part, json: bool) -> Result<String, Trouble> {
    let limit = part.limit(LISTED_USUAL, json);
    let (payments, total) = site
        .store
        .read(|tx| Ok((payments::list_unmatched(tx, limit, part.offset)?, payments::count_unmatched(tx)?)))?;
    if json {
        let row = |payment: &Payment| {
            json!({
                "paymentIntentId": payment.intent_id, "amount_cents": payment.amount_cents, "currency": payment.currency,
                "status": payment.status, "created_at": payment.created_at, "updated_at": payment.updated_at,
            })
        };
        return Ok(as_json(&payments.iter().map(row).collect::<Vec<_>>()));
    }
    if total == 0 {
        return Ok("every payment has its member".to_owned());
    }
    let price =
        |payment: &Payment| Price { cents: payment.amount_cents, currency: payment.currency.clone() }.to_string();
    let rows: Vec<_> = payments
        .iter()
        .map(|payment| {
            let (intent_id, status) = (payment.intent_id.clone(), payment.status.clone());
            vec![intent_id, price(payment), status, shown_moment(payment.updated_at)]
        })
        .collect();
    let left_out = left_out(total, part.offset, rows.len());
    let rows = table(&["PAYMENT", "AMOUNT", "STATUS", "SINCE"], &rows);
    Ok(format!("{rows}{left_out}\n\nSay whose they are with: tunneldesk callbacks match PAYMENT MEMBER"))
}

fn assign(site: &Shell, intent_id: &str, name: &str, json: bool) -> Result<String, Trouble> {
    let assigned = site.store.write(site.now(), |tx| {
        let Some(member) = members::find_account(tx, name)? else { return Ok(Err("member")) };
        let Some(mut payment) = payments::find(tx, intent_id)? else { return Ok(Err("payment")) };
        payment.assigned_to = Some(member.member_id);
        payment.decision = Some(Decision::Counts);
        settlement::settle(tx, &mut payment, &site.fee(tx)?)?;
        let payment_id = payments::find_number(tx, intent_id)?;
        let detail = Detail::none().number("payment_id", payment_id);
        site.record(tx, "payment.assigned", &Whom::Member(member.member_id), &detail)?;
        Ok(Ok((member, payment)))
    })?;
    let (member, payment) =
        assigned.map_err(|what| refused(format!("there is no such {what}; nothing was changed")))?;
    let paid_until = payment.grant.map(|grant| grant.until);
    if json {
        return Ok(as_json(&json!({ "member_id": member.member_id, "paid_until": paid_until })));
    }
    let status = payment.heard.status.name();
    Ok(match paid_until {
        Some(until) => format!("{intent_id} is {}'s: paid until {}", member.username, shown_moment(until)),
        None => format!("{intent_id} is {}'s; it is {status} and extends no membership", member.username),
    })
}
