//! `tunneldesk outbox marked` and `outbox lift`: suppressed addresses, to which no mail is sent.

use super::shell::Shell;
use super::{CommandResult, Row, RowRange, Table, done, refused, shown_moment};
use crate::app::messages;
use crate::store::tables::suppressed::{self, Suppression};
use serde_json::{Value, json};

/// Addresses that a table shows without `--limit`.
const LISTED_USUAL: i64 = 50;

pub(super) fn list(site: &Shell, part: &RowRange) -> CommandResult {
    let limit = part.limit(site, LISTED_USUAL);
    let (marks, total) =
        site.store.read(|tx| Ok((suppressed::list(tx, limit, part.offset)?, suppressed::count(tx)?)))?;
    let list = Table::new(marks).page_of(total, part);
    Ok(Box::new(if total == 0 { list.when_empty("mail goes to every address") } else { list }))
}

impl Row for Suppression {
    const HEADINGS: &'static [&'static str] = &["ADDRESS", "REASON", "SINCE", "DETAIL"];

    fn cells(&self) -> Vec<String> {
        vec![self.address.clone(), self.reason.clone(), shown_moment(self.since), self.detail.clone()]
    }

    fn value(&self) -> Value {
        json!({ "address": self.address, "reason": self.reason, "detail": self.detail, "since": self.since })
    }
}

pub(super) fn lift(site: &Shell, address: &str) -> CommandResult {
    let lifted = site.change(|cx| messages::lift_mark(cx, address))?;
    let mark =
        lifted.ok_or_else(|| refused(format!("{address} is not marked: `tunneldesk outbox marked` lists them")))?;
    let words = format!(
        "mail goes to {} again (it was marked by {}); for what was not deliverable: tunneldesk outbox retry",
        mark.address, mark.reason
    );
    done(words, json!({ "address": mark.address, "lifted": mark.reason }))
}
