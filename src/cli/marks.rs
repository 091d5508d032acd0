//! `tunneldesk outbox marked` and `outbox lift`: addresses that no mail goes to.

use super::shell::Shell;
use super::{Trouble, as_json, refused, shown_moment, table};
use crate::domain::audit::{Detail, Whom};
use crate::jobs::outbox::again;
use crate::site::Site;
use crate::store::tables::suppressed::{self, Mark};
use serde_json::json;

pub fn list(site: &Site, page: (i64, i64), json: bool) -> Result<String, Trouble> {
    let marks = site.store.read(|tx| Ok(suppressed::list(tx, page.0, page.1)?))?;
    if json {
        let row = |mark: &Mark| json!({ "address": mark.address, "reason": mark.reason, "detail": mark.detail, "since": mark.since });
        return Ok(as_json(&marks.iter().map(row).collect::<Vec<_>>()));
    }
    if marks.is_empty() {
        return Ok("mail goes to every address".to_owned());
    }
    let cells =
        |mark: &Mark| vec![mark.address.clone(), mark.reason.clone(), shown_moment(mark.since), mark.detail.clone()];
    Ok(table(&["ADDRESS", "REASON", "SINCE", "DETAIL"], &marks.iter().map(cells).collect::<Vec<_>>()))
}

pub fn lift(site: &Shell, address: &str, json: bool) -> Result<String, Trouble> {
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
    if json {
        return Ok(as_json(&json!({ "address": mark.address, "lifted": mark.reason })));
    }
    Ok(format!(
        "mail goes to {} again (it was marked by {}); for what is dead: tunneldesk outbox retry",
        mark.address, mark.reason
    ))
}
