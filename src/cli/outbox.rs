//! `tunneldesk outbox …`: messages on their way out, and what the desk reads to a member where none can be sent.

use super::shell::Shell;
use super::{Trouble, as_json, marks, refused, shown_moment, table};
use crate::domain::audit::{Detail, Whom};
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::jobs::outbox::again::{self, Bar};
use crate::jobs::outbox::read_letter;
use crate::site::Site;
use crate::store::tables::outbox::{self, Channel, Message};
use crate::store::tables::suppressed::Mark;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

const WHY_CHARS_MAX: usize = 60;

#[derive(Subcommand)]
#[command(after_help = "Exit codes: 0 done; 1 refused (no such message, or nothing left of it); 2 broken.")]
pub enum Outbox {
    /// List messages, newest first: those that wait or are dead, unless a state is given
    List {
        /// Only one state: waiting, sent or dead
        #[arg(long, value_parser = ["waiting", "sent", "dead"])]
        state: Option<String>,
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=100_000))]
        limit: i64,
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
        offset: i64,
    },
    /// Show one message whole, to be read out: also its passcode, while that is good
    Show {
        #[arg(value_name = "NUMBER")]
        message_id: i64,
    },
    /// Send messages again, now
    Retry(Retry),
    /// List addresses that no mail goes to, because the mail provider reported a bounce, a complaint or the like
    Marked {
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=100_000))]
        limit: i64,
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
        offset: i64,
    },
    /// Have mail go to a marked address again
    Lift { address: String },
}

#[derive(Args)]
#[group(required = true)]
pub struct Retry {
    /// Which, as `outbox list` numbers them
    #[arg(value_name = "NUMBER")]
    message_ids: Vec<i64>,
    /// Every dead one that still says something
    #[arg(long)]
    dead: bool,
}

impl Outbox {
    pub fn run(&self, site: &Shell, json: bool) -> Result<String, Trouble> {
        match self {
            Outbox::List { state, limit, offset } => list(site, state.as_deref(), (*limit, *offset), json),
            Outbox::Show { message_id } => show(site, *message_id, json),
            Outbox::Retry(retry) => retry.run(site, json),
            Outbox::Marked { limit, offset } => marks::list(site, (*limit, *offset), json),
            Outbox::Lift { address } => marks::lift(site, address, json),
        }
    }
}

fn list(site: &Site, state: Option<&str>, page: (i64, i64), json: bool) -> Result<String, Trouble> {
    let (messages, waiting, dead) = site.store.read(|tx| {
        let (waiting, dead) = outbox::counts(tx)?;
        let messages = outbox::list(tx, state, page.0, page.1)?;
        Ok::<_, Failure>((messages, waiting, dead))
    })?;
    if json {
        let rows: Vec<_> = messages.iter().map(as_row).collect();
        return Ok(as_json(&json!({ "waiting": waiting, "dead": dead, "messages": rows })));
    }
    let totals = format!("{waiting} waiting, {dead} dead{}", where_to(site));
    if messages.is_empty() {
        return Ok(totals);
    }
    let rows: Vec<_> = messages.iter().map(as_cells).collect();
    let headings = ["NUMBER", "STATE", "BY", "TO", "MESSAGE", "QUEUED", "TRIES", "NEXT", "WHY"];
    Ok(format!("{}\n\n{totals}", table(&headings, &rows)))
}

/// What is missing for messages to leave.
fn where_to(site: &Site) -> &'static str {
    match (&site.config.mail, &site.config.sms) {
        (None, None) => "; neither a mail server nor an SMS gateway is configured, so messages wait here",
        (None, Some(_)) => "; no mail server is configured, so mails wait here",
        (Some(_), None) => "; no SMS gateway is configured, so short messages wait here",
        (Some(_), Some(_)) => "",
    }
}

fn as_row(message: &Message) -> Value {
    json!({
        "message_id": message.message_id, "state": message.state, "channel": message.channel.name(),
        "recipient": message.recipient, "language": message.language, "template": message.template,
        "tries": message.tries, "created_at": message.created_at, "next_try_at": next_try_at(message),
        "sent_at": message.sent_at, "last_error": message.last_error, "provider_id": message.provider_id,
        "delivery": message.delivery, "deferrals": message.deferrals, "soft_bounces": message.soft_bounces,
    })
}

fn next_try_at(message: &Message) -> Option<i64> {
    (message.state == "waiting").then_some(message.next_try_at)
}

fn as_cells(message: &Message) -> Vec<String> {
    let mut why: String = message.last_error.chars().take(WHY_CHARS_MAX).collect();
    if why.len() < message.last_error.len() {
        why.push('…');
    }
    vec![
        message.message_id.to_string(),
        state(message),
        message.channel.name().to_owned(),
        message.recipient.clone(),
        message.template.clone(),
        shown_moment(message.created_at),
        message.tries.to_string(),
        next_try_at(message).map_or_else(String::new, shown_moment),
        why,
    ]
}

/// With what the mail provider said, where it said anything.
fn state(message: &Message) -> String {
    if message.delivery.is_empty() || message.delivery == message.state {
        return message.state.clone();
    }
    format!("{}, {}", message.state, message.delivery)
}

fn find(site: &Site, message_id: i64) -> Result<Message, Trouble> {
    let found = site.store.read(|tx| Ok(outbox::find(tx, message_id)?))?;
    found.ok_or_else(|| refused(format!("there is no message {message_id}: `tunneldesk outbox list` numbers them")))
}

fn show(site: &Shell, message_id: i64, json: bool) -> Result<String, Trouble> {
    let message = find(site, message_id)?;
    let letter = read_letter(site, &message);
    if letter.is_ok() {
        let (whom, detail) =
            (message.member_id.map_or(Whom::Site, Whom::Member), Detail::none().number("message_id", message_id));
        site.store.write(site.now(), |tx| site.record(tx, "message.read_out", &whom, &detail))?;
    }
    if json {
        let mut row = as_row(&message);
        let said = letter.as_ref().ok();
        row["subject"] = said.map(|letter| letter.subject.clone()).into();
        row["text"] = said.map(|letter| letter.by(message.channel).to_owned()).into();
        return Ok(as_json(&row));
    }
    let state = match message.sent_at {
        Some(moment) if message.delivery.is_empty() => format!("sent on {}", shown_moment(moment)),
        Some(moment) => format!("sent on {}, {} by the mail provider's word", shown_moment(moment), message.delivery),
        None if message.last_error.is_empty() => message.state.clone(),
        None => format!("{} ({})", message.state, message.last_error),
    };
    let head =
        format!("To:      {}\nState:   {state}\nQueued:  {}", message.recipient, shown_moment(message.created_at));
    Ok(match letter {
        Ok(letter) if message.channel == Channel::Email => {
            format!("{head}\nSubject: {}\n\n{}", letter.subject, letter.by(message.channel))
        }
        Ok(letter) => format!("{head}\n\n{}", letter.by(message.channel)),
        Err(why) => format!("{head}\n\nThere is nothing to read out: {why}."),
    })
}

impl Retry {
    fn run(&self, site: &Shell, json: bool) -> Result<String, Trouble> {
        for message_id in &self.message_ids {
            let message = find(site, *message_id)?;
            match site.store.read(|tx| again::bar(tx, &message))? {
                None => {}
                Some(Bar::Sent) => return Err(refused(format!("message {message_id} is sent; have a new one made"))),
                Some(Bar::Wiped) => {
                    return Err(refused(format!("message {message_id} says nothing any more; have a new one made")));
                }
                Some(Bar::Marked(Mark { address, reason, .. })) => {
                    return Err(refused(format!(
                        "no mail goes to {address} since its {reason}; lift that first: tunneldesk outbox lift {address}"
                    )));
                }
            }
        }
        let retried = site.store.write(site.now(), |tx| {
            let mut retried = if self.dead { outbox::retry_dead(tx, &Role::ALL)? } else { 0 };
            for message_id in &self.message_ids {
                retried += again::put(tx, *message_id)?;
            }
            let detail = Detail::none().numbers("message_ids", &self.message_ids).flag("dead", self.dead);
            site.record(tx, "messages.retried", &Whom::Site, &detail)?;
            Ok(retried)
        })?;
        if json {
            return Ok(as_json(&json!({ "retried": retried })));
        }
        Ok(format!("{retried} message{} in line again", if retried == 1 { "" } else { "s" }))
    }
}
