//! `tunneldesk member export` and `member erase`: a member's personal data, handed out or erased.

use super::find;
use crate::app::{accounts, own_data};
use crate::cli::shell::Shell;
use crate::cli::streams::Streams;
use crate::cli::{CommandError, CommandResult, done, failed, nothing, refused, shown_moment};
use crate::domain::ids::MemberId;
use crate::domain::role::Role;
use crate::moment::Moment;
use crate::ops::erasure;
use crate::site::Site;
use crate::store::queries::erasure as erasures;
use clap::Args;
use serde_json::json;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

#[derive(Args)]
#[command(after_help = "Moments are Unix seconds, bytes base64. What is left out is named, with the reason.")]
pub(crate) struct Export {
    name: String,
    /// Write to this file, completely or not at all, instead of standard output
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

#[derive(Args)]
#[command(
    after_help = "The number stays, under a name without meaning: signatures, payments and the partners' counts refer to it. \
    The database is rewritten meanwhile, and writes wait, about a second for 100 MB. A backup that is restored later \
    forgets the person too; in the backups themselves the person stays until they are pruned, after five weeks at the most."
)]
pub(crate) struct Erase {
    /// A username, an e-mail address or a member number
    name: String,
    /// Do not ask
    #[arg(long)]
    yes: bool,
}

impl Export {
    pub(crate) fn output_path(&self) -> Option<PathBuf> {
        self.to.clone()
    }

    pub(crate) fn run(&self, site: &Site, streams: &mut Streams) -> CommandResult {
        let member_id = find(site, &self.name)?.member_id;
        let whole = own_data::of_member(site, member_id)?;
        let text = serde_json::to_string_pretty(&whole).map_err(|e| failed(e.to_string()))? + "\n";
        (streams.part)(&text).map_err(|e| failed(format!("cannot write the result: {e}")))?;
        nothing()
    }
}

impl Erase {
    /// Asks for a confirmation on a terminal; without a terminal `--yes` is needed.
    pub(crate) fn confirmation(&self) -> Result<Option<String>, CommandError> {
        if self.yes {
            return Ok(None);
        }
        if !std::io::stdin().is_terminal() {
            return Err(refused("this cannot be undone: say --yes"));
        }
        let question = format!("This cannot be undone. Type {} again to erase that person: ", self.name);
        let mut typed = String::new();
        let asked = std::io::stderr().write_all(question.as_bytes());
        asked.and_then(|()| std::io::stdin().read_line(&mut typed)).map_err(|e| failed(format!("cannot ask: {e}")))?;
        match typed.trim() == self.name {
            true => Ok(Some(self.name.clone())),
            false => Err(refused("that is another name; nobody was erased")),
        }
    }

    pub(crate) fn run(&self, site: &Shell, typed: Option<&str>, streams: &mut Streams) -> CommandResult {
        if !self.yes && typed != Some(&self.name) {
            return Err(refused("this cannot be undone: say --yes"));
        }
        let account = find(site, &self.name)?;
        let member_id = account.member_id;
        let before = site.store.read(|tx| Ok(erasures::find(tx, member_id)?))?;
        if account.role != Role::Member {
            let role = account.role.name();
            return Err(refused(format!(
                "{} is {role} here: take that away first (`tunneldesk member set-role {} member`)",
                self.name, self.name
            )));
        }
        if before.is_none() {
            let leaving = erasure::find_mentions(site, member_id, streams.progress)?;
            site.change(|cx| accounts::erase(cx, &leaving))?;
        }
        let incomplete = |what: String| {
            failed(format!(
                "member {member_id} is out of every row, but {what}; a running server tries again each minute"
            ))
        };
        erasure::rebuild(site, streams.progress)
            .map_err(|e| incomplete(format!("the bytes still lie in the file: {e}")))?;
        erasure::add_tombstones(site).map_err(|e| incomplete(format!("a backup may bring the person back: {e}")))?;
        said(site, member_id, before)
    }
}

fn said(site: &Site, member_id: MemberId, before: Option<Moment>) -> CommandResult {
    let copies = erasure::older_copies(&site.config.data);
    let values = json!({ "member_id": member_id, "erased_before": before, "older_copies": copies });
    let erased = match before {
        Some(at) => format!("Member {member_id} was erased on {} already.", shown_moment(at)),
        None => format!(
            "Member {member_id} is erased: no name, address or number of theirs is left in the file, its log or its queue. What \
             others wrote may still have a first or last name that stands alone."
        ),
    };
    let older = copies.iter().map(|path| format!("\n  {}", path.display())).collect::<String>();
    let older = if copies.is_empty() {
        String::new()
    } else {
        format!("\n\nOlder copies that nothing prunes still hold the person; remove them when you can:{older}")
    };
    let words = format!(
        "{erased}\nBackups from before still do, until they are pruned (five weeks at the most); one that is restored \
         forgets the person again.{older}"
    );
    done(words, values)
}
