//! `tunneldesk outbox marked` and `outbox lift`: addresses that no mail goes to.

use super::shell::Shell;
use super::{Answered, Row, Table, done, refused, shown_moment};
use crate::domain::audit::{Detail, Whom};
use crate::jobs::outbox::again;
use crate::site::Site;
use crate::store::tables::suppressed::{self, Mark};
use serde_json::{Value, json};

pub fn list(site: &Site, page: (i64, i64)) -> Answered {
    let marks = site.store.read(|tx| Ok(suppressed::list(tx, page.0, page.1)?))?;
    Ok(Box::new(Table::new(marks).when_empty("mail goes to every address")))
}

impl Row for Mark {
    const HEADINGS: &'static [&'static str] = &["ADDRESS", "REASON", "SINCE", "DETAIL"];

    fn cells(&self) -> Vec<String> {
        vec![self.address.clone(), self.reason.clone(), shown_moment(self.since), self.detail.clone()]
    }

    fn value(&self) -> Value {
        json!({ "address": self.address, "reason": self.reason, "detail": self.detail, "since": self.since })
    }
}

pub fn lift(site: &Shell, address: &str) -> Answered {
    let lifted = site.store.write(site.now(), |tx| {
        let lifted = again::lift(tx, address)?;
        if lifted.is_some() {
            // An address is a person's, so which one it was is not said.
            site.record(tx, "address.lifted", &Whom::Site, &Detail::none())?;
        }
        Ok(lifted)
    })?;
    let mark =
        lifted.ok_or_else(|| refused(format!("{address} is not marked: `tunneldesk outbox marked` lists them")))?;
    let words = format!(
        "mail goes to {} again (it was marked by {}); for what is dead: tunneldesk outbox retry",
        mark.address, mark.reason
    );
    done(words, json!({ "address": mark.address, "lifted": mark.reason }))
}
