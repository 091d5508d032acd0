//! A sync that a clerk starts at the desk.

use super::{drain, uploader};
use crate::ops::on_demand;
use crate::site::Site;

/// The sync as an on-demand job of the desk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SyncNow;

/// Starts a sync. `false`: an earlier on-demand sync is still running.
pub(crate) fn begin(site: &Site) -> bool {
    on_demand::begin(site, SyncNow, run)
}

/// Runs the sync, and returns the number of rows sent.
fn run(site: &Site) -> Result<String, String> {
    let mut uploader = uploader(site)?.ok_or("the settings name no receiver")?;
    let drained = drain(&mut uploader, &mut |_| ());
    site.store.release();
    drained.map(|rows| rows.to_string())
}
