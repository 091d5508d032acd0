//! Adds up a range day by day. The snapshot is let go of on the way, so that a long range pins nothing.

use super::range::Range;
use crate::domain::local_time::Hall;
use crate::failure::Failure;
use crate::site::Site;
use crate::store::{partners, reports};

/// Days that are read in one snapshot.
const DAYS_AT_ONCE: usize = 14;

/// What a day had.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Counted {
    pub date: String,
    pub bookings: i64,
    pub booked: i64,
    /// For how many bookings somebody came.
    pub arrived: i64,
    pub flights: i64,
    pub flown: i64,
}

/// What a partner brought in all.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Brought {
    pub partner_id: i64,
    pub name: String,
    pub client_id: String,
    pub bookings: i64,
    pub booked: i64,
    pub arrived: i64,
    pub tokens: i64,
    pub refused: i64,
    pub users: i64,
}

pub fn count(site: &Site, hall: &Hall, range: &Range) -> Result<(Vec<Counted>, Vec<Brought>), Failure> {
    let known = site.store.read(|tx| Ok(partners::list(tx)?))?;
    let named = |one: partners::Partner| Brought {
        partner_id: one.partner_id,
        name: one.name,
        client_id: one.client_id,
        ..Brought::default()
    };
    let mut brought: Vec<Brought> = known.into_iter().map(named).collect();
    let mut days = Vec::new();
    let mut at = range.from;
    while at < range.to {
        let day = hall.day(at, 0);
        days.push(count_day(site, hall, day.from, day.to, &mut brought)?);
        at = day.to;
        if days.len() % DAYS_AT_ONCE == 0 {
            site.store.rest();
        }
    }
    brought.retain(|one| one.bookings + one.tokens + one.refused + one.users > 0);
    brought.sort_by(|a, b| (b.bookings, b.tokens, a.partner_id).cmp(&(a.bookings, a.tokens, b.partner_id)));
    Ok((days, brought))
}

fn count_day(site: &Site, hall: &Hall, from: i64, to: i64, brought: &mut [Brought]) -> Result<Counted, Failure> {
    let mut day = Counted { date: hall.date(from), ..Counted::default() };
    site.store.read(|tx| {
        (day.flights, day.flown) = reports::sum_flown(tx, site.tunnel_id, from, to)?;
        for one in reports::list_booked(tx, site.tunnel_id, from, to)? {
            day.bookings += one.bookings;
            day.booked += one.minutes;
            day.arrived += one.arrived;
            if let Some(sum) = brought.iter_mut().find(|sum| sum.partner_id == one.partner_id) {
                sum.bookings += one.bookings;
                sum.booked += one.minutes;
                sum.arrived += one.arrived;
            }
        }
        for (partner_id, event, times) in reports::list_events(tx, from, to)? {
            let Some(sum) = brought.iter_mut().find(|sum| sum.partner_id == partner_id) else { continue };
            match event.as_str() {
                "token.issued" => sum.tokens += times,
                "token.refused" => sum.refused += times,
                "user.created" => sum.users += times,
                _ => {}
            }
        }
        Ok(())
    })?;
    Ok(day)
}

pub fn total(days: &[Counted]) -> Counted {
    days.iter().fold(Counted::default(), |sum, day| Counted {
        date: String::new(),
        bookings: sum.bookings + day.bookings,
        booked: sum.booked + day.booked,
        arrived: sum.arrived + day.arrived,
        flights: sum.flights + day.flights,
        flown: sum.flown + day.flown,
    })
}
