//! `tunneldesk outbox …`: messages that wait or were sent, and the texts that the desk shows a member where none can
//! be sent.

use super::shell::Shell;
use super::{CommandError, CommandResult, Row, RowRange, Table, bounces, done, refused, shown_moment};
use crate::app::messages::{self, RetryDenial};
use crate::domain::ids::MessageId;
use crate::http::failure::Failure;
use crate::jobs::outbox::render_message;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::outbox::{self, Channel, Message};
use crate::store::tables::suppressed::Suppression;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

/// Messages that a table shows without `--limit`.
const LISTED_USUAL: i64 = 50;
const WHY_CHARS_MAX: usize = 60;

#[derive(Subcommand)]
#[command(after_help = "Exit codes: 0 done; 1 refused (no such message, or nothing left of it); 2 failed.")]
pub(super) enum Outbox {
    /// List messages, newest first: those that wait or are dead, unless a state is given
    List {
        /// Only one state: waiting, sent or dead
        #[arg(long, value_parser = ["waiting", "sent", "dead"])]
        state: Option<String>,
        #[command(flatten)]
        part: RowRange,
    },
    /// Show one message in full, for the member: also its passcode, while that is good
    Show {
        #[arg(value_name = "NUMBER")]
        message_id: MessageId,
    },
    /// Send messages again, now
    Retry(Retry),
    /// List addresses that no mail goes to, because the mail provider reported a bounce, a complaint or the like
    Marked {
        #[command(flatten)]
        part: RowRange,
    },
    /// Have mail go to a marked address again
    Lift { address: String },
}

#[derive(Args)]
#[group(required = true)]
pub(super) struct Retry {
    /// Which, as `outbox list` numbers them
    #[arg(value_name = "NUMBER")]
    message_ids: Vec<MessageId>,
    /// Every dead one that still says something
    #[arg(long)]
    dead: bool,
}

impl Outbox {
    pub(super) fn run(&self, site: &Shell) -> CommandResult {
        match self {
            Outbox::List { state, part } => list(site, state.as_deref(), part),
            Outbox::Show { message_id } => show(site, *message_id),
            Outbox::Retry(retry) => retry.run(site),
            Outbox::Marked { part } => bounces::list(site, part),
            Outbox::Lift { address } => bounces::lift(site, address),
        }
    }
}

fn list(site: &Shell, state: Option<&str>, part: &RowRange) -> CommandResult {
    let limit = part.limit(site, LISTED_USUAL);
    let (messages, total, (waiting, dead)) = site.store.read(|tx| {
        let messages = outbox::list(tx, state, limit, part.offset)?;
        Ok::<_, Failure>((messages, outbox::count(tx, state)?, outbox::counts(tx)?))
    })?;
    let totals = format!("{waiting} waiting, {dead} not deliverable{}", where_to(site));
    let list = Table::new(messages).part("messages", json!({ "waiting": waiting, "dead": dead }));
    Ok(Box::new(list.page_of(total, part).total(totals)))
}

/// Says which settings are missing for messages to be sent.
fn where_to(site: &Site) -> &'static str {
    match (&site.config.mail, &site.config.sms) {
        (None, None) => "; neither a mail server nor an SMS gateway is configured, so messages wait here",
        (None, Some(_)) => "; no mail server is configured, so mails wait here",
        (Some(_), None) => "; no SMS gateway is configured, so text messages wait here",
        (Some(_), Some(_)) => "",
    }
}

fn next_try_at(message: &Message) -> Option<Moment> {
    (message.state == "waiting").then_some(message.next_try_at)
}

impl Row for Message {
    const HEADINGS: &'static [&'static str] =
        &["NUMBER", "STATE", "BY", "TO", "MESSAGE", "QUEUED", "TRIES", "NEXT", "WHY"];

    fn cells(&self) -> Vec<String> {
        let mut why: String = self.last_error.chars().take(WHY_CHARS_MAX).collect();
        if why.len() < self.last_error.len() {
            why.push('…');
        }
        vec![
            self.message_id.to_string(),
            state(self),
            self.channel.name().to_owned(),
            self.recipient.clone(),
            self.template.clone(),
            shown_moment(self.created_at),
            self.tries.to_string(),
            next_try_at(self).map_or_else(String::new, shown_moment),
            why,
        ]
    }

    fn value(&self) -> Value {
        json!({
            "message_id": self.message_id, "state": self.state, "channel": self.channel.name(),
            "recipient": self.recipient, "language": self.language, "template": self.template,
            "tries": self.tries, "created_at": self.created_at, "next_try_at": next_try_at(self),
            "sent_at": self.sent_at, "last_error": self.last_error, "provider_id": self.provider_id,
            "delivery": self.delivery, "deferrals": self.deferrals, "soft_bounces": self.soft_bounces,
        })
    }
}

/// The state of a message, with the mail provider's report where there is one.
fn state(message: &Message) -> String {
    if message.delivery.is_empty() || message.delivery == message.state {
        return message.state.clone();
    }
    format!("{}, {}", message.state, message.delivery)
}

fn find(site: &Site, message_id: MessageId) -> Result<Message, CommandError> {
    let found = site.store.read(|tx| Ok(outbox::find(tx, message_id)?))?;
    found.ok_or_else(|| refused(format!("there is no message {message_id}: `tunneldesk outbox list` numbers them")))
}

fn show(site: &Shell, message_id: MessageId) -> CommandResult {
    let message = find(site, message_id)?;
    let letter = render_message(site, &message);
    if letter.is_ok() {
        site.change(|cx| messages::read_out(cx, &message))?;
    }
    let mut values = message.value();
    let said = letter.as_ref().ok();
    values["subject"] = said.map(|letter| letter.subject.clone()).into();
    values["text"] = said.map(|letter| letter.text_for(message.channel).to_owned()).into();
    let state = match message.sent_at {
        Some(moment) if message.delivery.is_empty() => format!("sent on {}", shown_moment(moment)),
        Some(moment) => format!("sent on {}, {} by the mail provider's word", shown_moment(moment), message.delivery),
        None if message.last_error.is_empty() => message.state.clone(),
        None => format!("{} ({})", message.state, message.last_error),
    };
    let head =
        format!("To:      {}\nState:   {state}\nQueued:  {}", message.recipient, shown_moment(message.created_at));
    let words = match letter {
        Ok(letter) if message.channel == Channel::Email => {
            format!("{head}\nSubject: {}\n\n{}", letter.subject, letter.text_for(message.channel))
        }
        Ok(letter) => format!("{head}\n\n{}", letter.text_for(message.channel)),
        Err(why) => format!("{head}\n\nThere is nothing to show: {why}."),
    };
    done(words, values)
}

impl Retry {
    fn run(&self, site: &Shell) -> CommandResult {
        for message_id in &self.message_ids {
            let message = find(site, *message_id)?;
            match site.store.read(|tx| messages::find_obstacle(tx, &message))? {
                None => {}
                Some(RetryDenial::Sent) => {
                    return Err(refused(format!("message {message_id} is sent; have a new one made")));
                }
                Some(RetryDenial::Wiped) => {
                    return Err(refused(format!("message {message_id} says nothing any more; have a new one made")));
                }
                Some(RetryDenial::Marked(Suppression { address, reason, .. })) => {
                    return Err(refused(format!(
                        "no mail goes to {address} since its {reason}; lift that first: tunneldesk outbox lift {address}"
                    )));
                }
            }
        }
        let retried = site.change(|cx| {
            let dead = if self.dead { messages::retry_dead(cx)? } else { 0 };
            self.message_ids.iter().try_fold(dead, |retried, message_id| {
                match messages::retry(cx, *message_id) {
                    Ok(()) => Ok(retried + 1),
                    // The message has been sent or erased since the look above.
                    Err(stop) => stop.denial().map(|_| retried),
                }
            })
        })?;
        done(
            format!("{retried} message{} queued again", if retried == 1 { "" } else { "s" }),
            json!({ "retried": retried }),
        )
    }
}
