//! `tunneldesk reminders`: what the server does every hour, now.

use super::shell::Shell;
use super::{Trouble, as_json, refused, shown_moment, table};
use crate::domain::audit::{Detail, Whom};
use crate::domain::reminder::Reminder;
use crate::jobs::reminders::{self, Given};
use clap::Args;
use serde_json::json;

const SHOWN_ROWS_MAX: usize = 50;

#[derive(Args)]
#[command(after_help = "Exit codes: 0 done, also where nobody was due; 1 refused (the clock is behind); 2 broken.")]
pub struct Reminders {
    /// Only say who would be reminded
    #[arg(long)]
    dry_run: bool,
}

impl Reminders {
    pub fn run(&self, site: &Shell, json: bool) -> Result<String, Trouble> {
        if site.clock.is_suspect() {
            return Err(refused("the clock is behind what this file has seen: set it, or members get wrong dates"));
        }
        let given = reminders::run(site, self.dry_run, &|| false)?;
        if !self.dry_run {
            // Each member's was a transaction of its own.
            let detail = Detail::none().number("reminders", given.reminders.len() as i64);
            site.store.write(site.now(), |tx| site.record(tx, "reminders.given", &Whom::Site, &detail))?;
        }
        if json {
            let rows: Vec<_> = given.reminders.iter().map(as_row).collect();
            return Ok(as_json(&json!({ "dry_run": self.dry_run, "mails": given.mails, "reminders": rows })));
        }
        Ok(self.shown(&given))
    }

    fn shown(&self, given: &Given) -> String {
        let count = given.reminders.len();
        let verb = if self.dry_run { "would be given" } else { "given" };
        let total =
            format!("{count} reminder{} {verb}, {} by mail too", if count == 1 { "" } else { "s" }, given.mails);
        if count == 0 {
            return total;
        }
        let rows: Vec<_> = given.reminders.iter().take(SHOWN_ROWS_MAX).map(as_cells).collect();
        let more =
            if count > SHOWN_ROWS_MAX { format!("… and {} more\n", count - SHOWN_ROWS_MAX) } else { String::new() };
        format!("{}\n{more}\n{total}", table(&["MEMBER", "PROGRAMME", "REMINDER", "CURRENT UNTIL"], &rows))
    }
}

fn as_row((member_id, reminder): &(i64, Reminder)) -> serde_json::Value {
    json!({
        "member_id": member_id, "programme": reminder.programme, "kind": reminder.kind.name(), "renewal": reminder.renewal,
    })
}

fn as_cells((member_id, reminder): &(i64, Reminder)) -> Vec<String> {
    vec![
        member_id.to_string(),
        reminder.programme.to_owned(),
        reminder.kind.name().to_owned(),
        shown_moment(reminder.renewal),
    ]
}
