//! The tunnels that the site knows.

use super::Change;
use crate::domain::audit::{Detail, Subject};
use crate::domain::tunnel::Listed;
use crate::http::failure::Failure;
use crate::store::tables::tunnels;

/// How many tunnels a list changed.
#[derive(Debug, Default)]
pub(crate) struct TunnelCounts {
    pub(crate) new: i64,
    pub(crate) changed: i64,
    pub(crate) same: i64,
}

/// Takes a list: new tunnels are added, known ones changed. Audited.
pub(crate) fn import(cx: &Change, listed: Vec<Listed>) -> Result<TunnelCounts, Failure> {
    let mut counts = TunnelCounts::default();
    for one in listed {
        let known = tunnels::find_whole(cx.tx, one.tunnel_id)?;
        let tunnel = one.over(known.as_ref());
        if known.as_ref() == Some(&tunnel) {
            counts.same += 1;
            continue;
        }
        tunnels::put(cx.tx, &tunnel)?;
        *(if known.is_some() { &mut counts.changed } else { &mut counts.new }) += 1;
    }
    let TunnelCounts { new, changed, same } = counts;
    let detail = Detail::none().number("new", new).number("changed", changed).number("same", same);
    cx.record("tunnels.imported", &Subject::Site, &detail)?;
    Ok(counts)
}

/// Gives a new site the time zone of its tunnel. Audited, as the first thing that happened there.
pub(crate) fn begin(cx: &Change, zone: &str) -> Result<(), Failure> {
    tunnels::set_time_zone(cx.tx, cx.site.tunnel_id, zone)?;
    cx.record("site.made", &Subject::Site, &Detail::none())
}
