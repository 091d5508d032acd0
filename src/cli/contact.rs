//! `tunneldesk contact …`: the messages of the contact form.

use super::shell::Shell;
use super::{CommandError, CommandResult, Row, RowRange, Table, done, refused, shown_moment};
use crate::app::Outcome;
use crate::app::messages::set_contact_done;
use crate::domain::ids::ContactId;
use crate::site::Site;
use crate::store::tables::contact::{self, Message};
use clap::Subcommand;
use serde_json::{Value, json};

/// Messages that a table shows without `--limit`.
const LISTED_USUAL: i64 = 50;
const BEGINNING_CHARS_MAX: usize = 50;

#[derive(Subcommand)]
#[command(after_help = "Exit codes: 0 done; 1 refused (no such message); 2 failed.")]
pub(super) enum Contact {
    /// List messages that are not done, newest first
    List {
        /// Also those that are done
        #[arg(long)]
        all: bool,
        #[command(flatten)]
        part: RowRange,
    },
    /// Show one message in full
    Show {
        #[arg(value_name = "NUMBER")]
        contact_id: ContactId,
    },
    /// Mark messages as done; a year later they are removed
    Done {
        /// Which, as `contact list` numbers them
        #[arg(value_name = "NUMBER", required = true)]
        contact_ids: Vec<ContactId>,
    },
}

impl Contact {
    pub(super) fn run(&self, site: &Shell) -> CommandResult {
        match self {
            Contact::List { all, part } => list(site, *all, part),
            Contact::Show { contact_id } => show(site, *contact_id),
            Contact::Done { contact_ids } => mark_done(site, contact_ids),
        }
    }
}

fn list(site: &Shell, all: bool, part: &RowRange) -> CommandResult {
    let limit = part.limit(site, LISTED_USUAL);
    let (messages, open, total) = site.store.read(|tx| {
        let messages = contact::list(tx, all, limit, part.offset)?;
        Ok((messages, contact::count_open(tx)?, contact::count(tx, all)?))
    })?;
    let list = Table::new(messages).part("messages", json!({ "open": open }));
    Ok(Box::new(list.page_of(total, part).total(format!("{open} open{}", where_to(site)))))
}

fn where_to(site: &Site) -> String {
    match &site.config.contact_to {
        Some(address) => format!("; each is passed on to {address}"),
        None => "; mail.contact_to is not set, so they are read here alone".to_owned(),
    }
}

fn show(site: &Site, contact_id: ContactId) -> CommandResult {
    let message = site.store.read(|tx| Ok(contact::find(tx, contact_id)?))?.ok_or_else(|| unknown(contact_id))?;
    let or_nothing = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let member = message.member_id.map_or_else(|| "-".to_owned(), |id| format!("{id} ({})", proof(&message)));
    let done_at = message.done_at.map_or_else(|| "no".to_owned(), shown_moment);
    let lines = [
        ("From:", format!("{} <{}>", message.name, message.email)),
        ("Received:", shown_moment(message.created_at)),
        ("About:", or_nothing(&message.enquiry)),
        ("Country:", or_nothing(&message.country)),
        ("Language:", message.language.clone()),
        ("Member:", member),
        ("Done:", done_at),
    ];
    let head: String = lines.iter().map(|(name, value)| format!("{name:<11}{value}\n")).collect();
    done(format!("{head}\n{}", message.message), message.value())
}

fn proof(message: &Message) -> &'static str {
    if message.signed_in { "was signed in" } else { "by the sender's own word" }
}

fn mark_done(site: &Shell, contact_ids: &[ContactId]) -> CommandResult {
    for contact_id in contact_ids {
        site.store.read(|tx| Ok(contact::find(tx, *contact_id)?))?.ok_or_else(|| unknown(*contact_id))?;
    }
    let marked = site.change(|cx| {
        contact_ids.iter().try_fold(0, |marked, contact_id| {
            Ok(marked + usize::from(set_contact_done(cx, *contact_id)? == Outcome::Done))
        })
    })?;
    done(format!("{marked} message{} marked as done", if marked == 1 { "" } else { "s" }), json!({ "done": marked }))
}

fn unknown(contact_id: ContactId) -> CommandError {
    refused(format!("there is no message {contact_id}: `tunneldesk contact list` numbers them"))
}

impl Row for Message {
    const HEADINGS: &'static [&'static str] = &["NUMBER", "RECEIVED", "FROM", "ADDRESS", "ABOUT", "MESSAGE", "DONE"];

    fn cells(&self) -> Vec<String> {
        let line = self.message.split_whitespace().collect::<Vec<_>>().join(" ");
        let mut beginning: String = line.chars().take(BEGINNING_CHARS_MAX).collect();
        if beginning.len() < line.len() {
            beginning.push('…');
        }
        vec![
            self.contact_id.to_string(),
            shown_moment(self.created_at),
            self.name.clone(),
            self.email.clone(),
            self.enquiry.clone(),
            beginning,
            self.done_at.map_or_else(String::new, shown_moment),
        ]
    }

    fn value(&self) -> Value {
        json!({
            "contact_id": self.contact_id, "name": self.name, "email": self.email, "country": self.country,
            "enquiry": self.enquiry, "message": self.message, "language": self.language,
            "member_id": self.member_id, "signed_in": self.signed_in, "created_at": self.created_at,
            "done_at": self.done_at,
        })
    }
}
