//! Sites in time zones with half and quarter hours, beyond the date line, and with days of other lengths: each booking and
//! each flight counts on the day that the site's own clock shows.

use super::{Clerk, book, demo};
use crate::harness::Site;
use std::collections::BTreeMap;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::moment::Moment;
use tunneldesk::store::tables::entries::{self, NewTime};

/// A zone, and the first and last day of a span around a change of its clock, or around any midnight.
const SPANS: [(&str, &str, &str); 10] = [
    ("Pacific/Kiritimati", "2026-05-25", "2026-05-28"),
    ("America/St_Johns", "2026-03-06", "2026-03-10"),
    ("America/St_Johns", "2025-10-31", "2025-11-03"),
    ("Asia/Kathmandu", "2026-05-25", "2026-05-28"),
    ("Africa/Casablanca", "2026-02-13", "2026-02-17"),
    ("Africa/Casablanca", "2026-03-20", "2026-03-24"),
    ("Australia/Lord_Howe", "2026-04-03", "2026-04-07"),
    ("America/Havana", "2026-03-06", "2026-03-10"),
    ("Pacific/Chatham", "2026-04-03", "2026-04-07"),
    ("Pacific/Pago_Pago", "2026-05-25", "2026-05-28"),
];
/// Minutes between two bookings: not a divisor of an hour.
const STEP_MINUTES: i64 = 97;

fn zone_of(site: &Site, name: &str) -> jiff::tz::TimeZone {
    let sql = "UPDATE tunnels SET time_zone = ?1 WHERE tunnel_id = ?2";
    site.change(|tx| Ok(tx.run(sql, (name, Site::TUNNEL_ID))?));
    jiff::tz::TimeZone::get(name).expect("a zone of the time zone database")
}

/// The moments of a span and of the days beside it.
fn moments(zone: &jiff::tz::TimeZone, first: &str, last: &str) -> Vec<i64> {
    let start = |date: &str| {
        let date: jiff::civil::Date = date.parse().expect("a date");
        date.to_zoned(zone.clone()).expect("a day").timestamp().as_second()
    };
    (start(first) - 86_400..start(last) + 2 * 86_400).step_by(60 * STEP_MINUTES as usize).collect()
}

#[test]
fn each_booking_and_each_flight_counts_on_the_day_of_the_site_s_clock() {
    for (name, first, last) in SPANS {
        let site = demo();
        let zone = zone_of(&site, name);
        let jane = site.flyer("jane");
        site.change(|tx| Ok(tx.run("DELETE FROM entries WHERE kind = 'time'", [])?));
        let mut expected: BTreeMap<String, (i64, i64)> = BTreeMap::new();
        let all = moments(&zone, first, last);
        let client = site.partner();
        let booked = site.change(|tx| {
            let partner = tunneldesk::store::tables::partners::find(tx, client.client_id())?.expect("it was made");
            let mut booked = Vec::new();
            for at in &all {
                let date = jiff::Timestamp::from_second(*at).unwrap().to_zoned(zone.clone()).date().to_string();
                let sql =
                    "INSERT INTO bookings (partner_id, member_id, flight_date, minutes_booked, tunnel_id, created_at,
                                                 updated_at) VALUES (?1, ?2, ?3, 10, ?4, 0, 0)";
                let booking_id = tx.insert(sql, (partner.partner_id, jane.id, at, Site::TUNNEL_ID))?;
                let flown =
                    NewTime { entry_date: Moment(*at), minutes: 7, tunnel_id: Site::TUNNEL_ID, comment: String::new() };
                entries::insert_time(tx, MemberId(jane.id), MemberId(jane.id), None, &flown)?;
                let day = expected.entry(date.clone()).or_default();
                day.0 += 1;
                day.1 += i64::from(*at <= tx.now().0);
                booked.push((booking_id, date));
            }
            Ok(booked)
        });
        let clerk = Clerk::at(&site, &site.desk());
        let csv = clerk.get(&format!("/desk/reports/days.csv?from={first}&to={last}"));
        let csv = String::from_utf8(csv.body.clone()).unwrap();
        let rows: Vec<&str> = csv.trim_start_matches('\u{feff}').split_terminator("\r\n").skip(1).collect();
        let days: Vec<_> = expected.range(first.to_owned()..=last.to_owned()).collect();
        assert_eq!(rows.len(), days.len(), "{name}: {csv}");
        for (row, (date, (bookings, flights))) in rows.iter().zip(days) {
            let wanted = format!("{date},{bookings},{},0,{flights},{}", bookings * 10, flights * 7);
            assert_eq!(*row, wanted, "{name}");
            let page = clerk.get(&format!("/desk?day={date}")).page();
            for (booking_id, on) in &booked {
                assert_eq!(
                    page.contains(&format!("id=b{booking_id}>")) || page.contains(&format!("id=b{booking_id} ")),
                    on == date,
                    "{name}: booking {booking_id} of {on} in the list of {date}"
                );
            }
        }
    }
}

#[test]
fn the_page_of_today_keeps_the_evening_until_the_site_s_small_hours() {
    const EVENING: std::ops::RangeFrom<i8> = 18..;
    const NIGHT: std::ops::Range<i8> = 0..4;
    const HOURS_APART: u64 = 2;
    for (name, ..) in SPANS {
        let site = demo();
        let zone = zone_of(&site, name);
        let jane = site.flyer("jane");
        let mut clerk = Clerk::at(&site, &site.desk());
        let booking_id = book(&site, &jane, 0);
        let date = |at: i64| jiff::Timestamp::from_second(at).unwrap().to_zoned(zone.clone()).date();
        let booked_on = date(site.now());
        let hour = |at: i64| jiff::Timestamp::from_second(at).unwrap().to_zoned(zone.clone()).hour();
        let is_for_the_evening = EVENING.contains(&hour(site.now()));
        for _ in 0..26 / HOURS_APART {
            let page = clerk.get("/desk").page();
            let is_listed = page.contains(&format!("id=b{booking_id}"));
            let now = site.now();
            let is_evening_s =
                is_for_the_evening && NIGHT.contains(&hour(now)) && booked_on.tomorrow().ok() == Some(date(now));
            assert_eq!(is_listed, date(now) == booked_on || is_evening_s, "{name} at {now}");
            site.advance(std::time::Duration::from_secs(3_600 * HOURS_APART));
            clerk = Clerk::at(&site, &site.desk());
        }
    }
}

#[test]
fn the_latest_birthday_and_the_end_of_the_authority_are_days_of_the_site_s_clock() {
    for name in ["Pacific/Kiritimati", "Pacific/Pago_Pago"] {
        let site = demo();
        site.with_authority();
        let zone = zone_of(&site, name);
        let jane = site.flyer("jane");
        let day = |at: i64| jiff::Timestamp::from_second(at).unwrap().to_zoned(zone.clone()).date();
        // One of the two sites has another day than UTC at any hour.
        let edit = Clerk::at(&site, &site.desk()).get(&format!("/desk/members/{}/edit", jane.id)).page();
        assert!(edit.contains(&format!("max=\"{}\"", day(site.now()))), "{name}: {edit}");
        let told = site.stranger().ask_at_root(http::Method::GET, "/ca").header("accept", "application/json").send();
        let ends = day(told.json()["ends_at"].as_i64().expect("a moment"));
        let page = site.stranger().ask_at_root(http::Method::GET, "/ca").header("accept", "text/html").send().page();
        assert!(page.contains(&ends.strftime("%-d %B %Y").to_string()), "{name}: {ends} {page}");
    }
}
