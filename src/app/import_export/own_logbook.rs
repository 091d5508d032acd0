//! A member's logbook as CSV, for the member.

use super::cell::{self, Separator, exact_moment};
use crate::domain::entry::{self, Kind};
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::queries::logbook::{self, Line};
use crate::store::queries::standing;
use crate::store::tables::tunnels;
use std::ops::ControlFlow;

/// One table ends after this many rows, or with the row that reaches [`BYTES_MAX`].
const ROWS_MAX: i64 = 5_000;
const BYTES_MAX: usize = 4 * 1024 * 1024;

const COLUMNS: [&str; 20] = [
    "entry_id",
    "kind",
    "status",
    "entry_date",
    "minutes",
    "tunnel",
    "tunnel_name",
    "cat_group",
    "cat_id",
    "cat_name",
    "skill",
    "skill_name",
    "instructor",
    "instructor_name",
    "approval_date",
    "comment",
    "comments_instructor",
    "comment_denial",
    "author_id",
    "booking_id",
];

/// The entries after `offset` newer ones as a table, and how many newer ones the next table skips, where there is more.
pub(crate) fn csv(
    site: &Site,
    member_id: MemberId,
    separator: Separator,
    offset: i64,
) -> Result<(String, Option<i64>), Failure> {
    site.store.read(|tx| {
        let (lapsed, zone) =
            (standing::lapsed(tx, member_id, site.now())?, tunnels::find_time_zone(tx, site.tunnel_id)?);
        let mut table = separator.headings(&COLUMNS);
        let (mut written, mut rest) = (0, None);
        logbook::each(tx, member_id, offset, |line| {
            if written == ROWS_MAX || table.len() >= BYTES_MAX {
                rest = Some(offset + written);
                return ControlFlow::Break(());
            }
            cell::write_row(&mut table, separator, &cells(site, &zone, &line, &lapsed));
            written += 1;
            ControlFlow::Continue(())
        })?;
        Ok((table, rest))
    })
}

/// Every entry as one table.
pub(crate) fn whole_csv(site: &Site, member_id: MemberId, separator: Separator) -> Result<String, Failure> {
    let (mut whole, mut rest) = csv(site, member_id, separator, 0)?;
    while let Some(offset) = rest {
        site.store.release();
        let (table, further) = csv(site, member_id, separator, offset)?;
        // The headings stand in the first table.
        whole.push_str(table.split_once("\r\n").map_or("", |(_, rows)| rows));
        rest = further;
    }
    Ok(whole)
}

fn cells(site: &Site, zone: &TimeZone, line: &Line, lapsed: &[&str]) -> [String; 20] {
    let known = if line.kind == Kind::Skill { site.catalogue.find_skill(&line.skill) } else { None };
    let safety = if line.kind == Kind::Safety { site.catalogue.find_safety(&line.skill) } else { None };
    let text = |text: &str| text.to_owned();
    let number = |number: Option<i64>| number.map(|number| number.to_string()).unwrap_or_default();
    [
        line.entry_id.to_string(),
        text(line.kind.name()),
        text(entry::displayed_status(line.kind, &line.cat_group, line.status, lapsed)),
        exact_moment(zone, line.entry_date),
        if line.minutes > 0 { line.minutes.to_string() } else { String::new() },
        line.tunnel_id.to_string(),
        text(&line.tunnel_name),
        text(&line.cat_group),
        text(&line.cat_id),
        known.map(|(level, _)| level.name.clone()).unwrap_or_default(),
        text(&line.skill),
        known.map(|(_, skill)| &skill.name).or(safety.map(|(_, record)| &record.name)).cloned().unwrap_or_default(),
        number(line.instructor_id.map(i64::from)),
        text(&line.instructor_name),
        line.approval_date.map(|at| exact_moment(zone, at)).unwrap_or_default(),
        text(&line.comment),
        text(&line.comments_instructor),
        text(&line.comment_denial),
        line.author_id.to_string(),
        number(line.booking_id.map(i64::from)),
    ]
}
