//! `tunneldesk reminders`: sends the reminders that the server sends every hour.

use super::shell::Shell;
use super::{CommandResult, Row, Table, refused, shown_moment};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::reminder::Reminder;
use crate::jobs::reminders;
use clap::Args;
use serde_json::{Value, json};

const SHOWN_ROWS_MAX: usize = 50;

#[derive(Args)]
#[command(after_help = "Exit codes: 0 done, also where nobody was due; 1 refused (the clock is behind); 2 failed.")]
pub(super) struct Reminders {
    /// Only say who would be reminded
    #[arg(long)]
    dry_run: bool,
}

impl Reminders {
    pub(super) fn run(&self, site: &Shell) -> CommandResult {
        if site.clock.is_suspect() {
            return Err(refused("the clock is behind what this file has seen: set it, or members get wrong dates"));
        }
        let given = reminders::run(site, self.dry_run, &|| false)?;
        if !self.dry_run {
            reminders::remind_signers(site)?;
            // Each member's reminders were written in a transaction of their own.
            let detail = Detail::none().number("reminders", given.reminders.len() as i64);
            site.change(|cx| cx.record("reminders.given", &Subject::Site, &detail))?;
        }
        let count = given.reminders.len();
        let verb = if self.dry_run { "would be given" } else { "given" };
        let total =
            format!("{count} reminder{} {verb}, {} by mail too", if count == 1 { "" } else { "s" }, given.mails);
        let beside = json!({ "dry_run": self.dry_run, "mails": given.mails });
        let list = Table::new(given.reminders.into_iter().collect()).shown_max(SHOWN_ROWS_MAX);
        Ok(Box::new(list.part("reminders", beside).total(total)))
    }
}

impl Row for (MemberId, Reminder) {
    const HEADINGS: &'static [&'static str] = &["MEMBER", "PROGRAMME", "REMINDER", "CURRENT UNTIL"];

    fn cells(&self) -> Vec<String> {
        let (member_id, reminder) = self;
        vec![
            member_id.to_string(),
            reminder.programme.to_owned(),
            reminder.kind.name().to_owned(),
            shown_moment(reminder.renewal),
        ]
    }

    fn value(&self) -> Value {
        let (member_id, reminder) = self;
        json!({
            "member_id": member_id, "programme": reminder.programme, "kind": reminder.kind.name(),
            "renewal": reminder.renewal,
        })
    }
}
