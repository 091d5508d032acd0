//! Who comes, by the hour.

use crate::domain::local_time::{Day, Hall};
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::bookings;
use crate::web::initials;
use crate::web::mark::{self, Mark};

/// Rows on one page, so that it stays light in the largest hall.
const ROWS_MAX: i64 = 120;
const HOUR_SECONDS: i64 = 3600;

/// The arrivals of one hour.
pub(super) struct Hour {
    /// `14:00`.
    pub clock: String,
    /// Whether it is this one.
    pub now: bool,
    pub rows: Vec<Row>,
}

pub(super) struct Row {
    pub booking_id: i64,
    pub member_id: i64,
    pub name: String,
    /// Stands for the face where there is no picture.
    pub initials: String,
    pub has_photo: bool,
    pub clock: String,
    pub minutes: i64,
    pub level: String,
    pub marks: Vec<Mark>,
    pub banned: bool,
    /// When they came.
    pub arrived: Option<String>,
}

/// Where the list begins: with the hour before this one, because people are late.
pub(super) fn first_shown(day: &Day, now: i64) -> i64 {
    (now - now.rem_euclid(HOUR_SECONDS) - HOUR_SECONDS).max(day.from)
}

/// The arrivals between two moments, hour by hour, from the one after `skipped` others on; as many as fit on one page.
pub(super) fn list(
    site: &Site,
    tx: &Read,
    hall: &Hall,
    (span, skipped): ((i64, i64), i64),
    now: i64,
    language: Language,
) -> Result<Vec<Hour>, Failure> {
    let mut hours: Vec<Hour> = Vec::new();
    for found in bookings::list_arrivals(tx, site.tunnel_id, span, (ROWS_MAX, skipped))? {
        let stand = mark::of(site, tx, found.member_id, now, language)?;
        let clock = format!("{:02}:00", hall.hour(found.flight_date));
        let row = Row {
            booking_id: found.booking_id,
            member_id: found.member_id,
            initials: initials(&found.name),
            name: found.name,
            has_photo: found.has_photo,
            clock: hall.clock(found.flight_date),
            minutes: found.minutes_booked,
            level: stand.level,
            marks: stand.marks,
            banned: stand.banned,
            arrived: found.arrived_at.map(|at| hall.clock(at)),
        };
        match hours.last_mut() {
            Some(hour) if hour.clock == clock => hour.rows.push(row),
            _ => hours.push(Hour { now: hall.hour(now) == hall.hour(found.flight_date), clock, rows: vec![row] }),
        }
    }
    Ok(hours)
}
