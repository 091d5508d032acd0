//! Buttons that start a backup or a restore drill.

use super::PART;
use crate::auth::Clerk;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::ops::backup::on_demand::{self, Work};
use crate::site::Site;

/// `POST /desk/site/backup`
pub(crate) fn make(site: &Site, _: &Call, clerk: &Clerk) -> Answer {
    begin(site, clerk, Work::Backup)
}

/// `POST /desk/site/drill`
pub(crate) fn drill(site: &Site, _: &Call, clerk: &Clerk) -> Answer {
    begin(site, clerk, Work::Drill)
}

fn begin(site: &Site, clerk: &Clerk, work: Work) -> Answer {
    let word = if on_demand::begin(site, work, clerk.actor()) { "begun" } else { "busy" };
    Ok(reply::see_other(&format!("{PART}?done={word}#backups")))
}
