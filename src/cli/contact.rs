//! `tunneldesk contact …`: what people wrote in the contact form.

use super::shell::Shell;
use super::{Trouble, as_json, refused, shown_moment, table};
use crate::domain::audit::{Detail, Whom};
use crate::site::Site;
use crate::store::tables::contact::{self, Message};
use clap::Subcommand;
use serde_json::{Value, json};

const BEGINNING_CHARS_MAX: usize = 50;

#[derive(Subcommand)]
#[command(after_help = "Exit codes: 0 done; 1 refused (no such message); 2 broken.")]
pub enum Contact {
    /// List messages, newest first: those that nobody marked as done
    List {
        /// Also those that are done
        #[arg(long)]
        all: bool,
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(i64).range(1..=100_000))]
        limit: i64,
        #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..))]
        offset: i64,
    },
    /// Show one message whole
    Show {
        #[arg(value_name = "NUMBER")]
        contact_id: i64,
    },
    /// Mark messages as done; a year later they are removed
    Done {
        /// Which, as `contact list` numbers them
        #[arg(value_name = "NUMBER", required = true)]
        contact_ids: Vec<i64>,
    },
}

impl Contact {
    pub fn run(&self, site: &Shell, json: bool) -> Result<String, Trouble> {
        match self {
            Contact::List { all, limit, offset } => list(site, *all, (*limit, *offset), json),
            Contact::Show { contact_id } => show(site, *contact_id, json),
            Contact::Done { contact_ids } => done(site, contact_ids, json),
        }
    }
}

fn list(site: &Site, all: bool, page: (i64, i64), json: bool) -> Result<String, Trouble> {
    let (messages, open) =
        site.store.read(|tx| Ok((contact::list(tx, all, page.0, page.1)?, contact::count_open(tx)?)))?;
    if json {
        let rows: Vec<_> = messages.iter().map(as_row).collect();
        return Ok(as_json(&json!({ "open": open, "messages": rows })));
    }
    let total = format!("{open} open{}", where_to(site));
    if messages.is_empty() {
        return Ok(total);
    }
    let rows: Vec<_> = messages.iter().map(as_cells).collect();
    Ok(format!("{}\n\n{total}", table(&["NUMBER", "CAME", "FROM", "ADDRESS", "ABOUT", "MESSAGE", "DONE"], &rows)))
}

fn where_to(site: &Site) -> String {
    match &site.config.contact_to {
        Some(address) => format!("; each is passed on to {address}"),
        None => "; mail.contact_to is not set, so they are read here alone".to_owned(),
    }
}

fn show(site: &Site, contact_id: i64, json: bool) -> Result<String, Trouble> {
    let message = site.store.read(|tx| Ok(contact::find(tx, contact_id)?))?.ok_or_else(|| unknown(contact_id))?;
    if json {
        return Ok(as_json(&as_row(&message)));
    }
    let or_nothing = |text: &str| if text.is_empty() { "-".to_owned() } else { text.to_owned() };
    let member = message.member_id.map_or_else(|| "-".to_owned(), |id| format!("{id} ({})", proof(&message)));
    let done = message.done_at.map_or_else(|| "no".to_owned(), shown_moment);
    let lines = [
        ("From:", format!("{} <{}>", message.name, message.email)),
        ("Came:", shown_moment(message.created_at)),
        ("About:", or_nothing(&message.enquiry)),
        ("Country:", or_nothing(&message.country)),
        ("Language:", message.language.clone()),
        ("Member:", member),
        ("Done:", done),
    ];
    let head: String = lines.iter().map(|(name, value)| format!("{name:<10}{value}\n")).collect();
    Ok(format!("{head}\n{}", message.message))
}

fn proof(message: &Message) -> &'static str {
    if message.signed_in { "was signed in" } else { "by the sender's own word" }
}

fn done(site: &Shell, contact_ids: &[i64], json: bool) -> Result<String, Trouble> {
    for contact_id in contact_ids {
        site.store.read(|tx| Ok(contact::find(tx, *contact_id)?))?.ok_or_else(|| unknown(*contact_id))?;
    }
    let marked = site.store.write(site.now(), |tx| {
        site.record(tx, "contact.done", &Whom::Site, &Detail::none().numbers("contact_ids", contact_ids))?;
        contact_ids.iter().try_fold(0, |marked, contact_id| Ok(marked + contact::set_done(tx, *contact_id)?))
    })?;
    if json {
        return Ok(as_json(&json!({ "done": marked })));
    }
    Ok(format!("{marked} message{} marked as done", if marked == 1 { "" } else { "s" }))
}

fn unknown(contact_id: i64) -> Trouble {
    refused(format!("there is no message {contact_id}: `tunneldesk contact list` numbers them"))
}

fn as_row(message: &Message) -> Value {
    json!({
        "contact_id": message.contact_id, "name": message.name, "email": message.email, "country": message.country,
        "enquiry": message.enquiry, "message": message.message, "language": message.language,
        "member_id": message.member_id, "signed_in": message.signed_in, "created_at": message.created_at,
        "done_at": message.done_at,
    })
}

fn as_cells(message: &Message) -> Vec<String> {
    let line = message.message.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut beginning: String = line.chars().take(BEGINNING_CHARS_MAX).collect();
    if beginning.len() < line.len() {
        beginning.push('…');
    }
    vec![
        message.contact_id.to_string(),
        shown_moment(message.created_at),
        message.name.clone(),
        message.email.clone(),
        message.enquiry.clone(),
        beginning,
        message.done_at.map_or_else(String::new, shown_moment),
    ]
}
