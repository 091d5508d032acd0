//! A sync that somebody asked for at the desk.

use super::{drain, uploader};
use crate::ops::on_demand;
use crate::site::Site;

/// The history carried upstream, as work that somebody asks for at the desk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SyncNow;

/// Begins it; `false`: another is under way.
pub(crate) fn begin(site: &Site) -> bool {
    on_demand::begin(site, SyncNow, run)
}

/// How many rows went, or why they did not.
fn run(site: &Site) -> Result<String, String> {
    let mut uploader = uploader(site)?.ok_or("the settings name no receiver")?;
    let drained = drain(&mut uploader, &mut |_| ());
    site.store.release();
    drained.map(|rows| rows.to_string())
}
