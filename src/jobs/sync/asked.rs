//! A sync that somebody asked for at the desk.

use super::{drain, pump};
use crate::ops::asking;
use crate::site::Site;

/// The history carried upstream, as work that somebody asks for at the desk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carry;

/// Begins it; `false`: another is under way.
pub(crate) fn begin(site: &Site) -> bool {
    asking::begin(site, Carry, run)
}

/// How many rows went, or why they did not.
fn run(site: &Site) -> Result<String, String> {
    let mut pump = pump(site)?.ok_or("the settings name no receiver")?;
    let drained = drain(&mut pump, &mut |_| ());
    site.store.release();
    drained.map(|rows| rows.to_string())
}
