//! The pages, tables and the audit log in the evening of a Saturday.

use super::super::till::field;
use super::{BOOKED, Booked, Clerk, FLOAT_CENTS, NEW, SATURDAY, amount, deeds, number, table};
use crate::harness::Site;
use std::collections::BTreeMap;

pub(super) fn check_till(clerk: &Clerk, [cash, terminal, voucher, counted]: [i64; 4]) {
    let closings = table(clerk, "/desk/till/closings.csv");
    let day = &closings[0];
    for (column, cents) in [
        ("float", FLOAT_CENTS),
        ("cash", cash),
        ("terminal", terminal),
        ("voucher", voucher),
        ("expected", FLOAT_CENTS + cash),
        ("counted", counted),
        ("left", FLOAT_CENTS),
    ] {
        assert_eq!(day[column], amount(cents), "{column}: {day:?}");
    }
    assert_eq!(day["difference"].trim_start_matches('\''), "-0.05", "{day:?}");
    let entries = table(clerk, "/desk/till/closings/2/entries.csv");
    assert_eq!(entries.len(), 13, "twelve fees, and one undone: {entries:?}");
    let cents = |row: &BTreeMap<String, String>| {
        row["amount"].trim_start_matches('\'').replace('.', "").parse::<i64>().expect("an amount")
    };
    let sum = |kind: &str| entries.iter().filter(|row| row["kind"] == kind).map(cents).sum::<i64>();
    assert_eq!(["cash", "terminal", "voucher", "free"].map(sum), [cash, terminal, voucher, 0], "to the cent");
    let page = clerk.get("/desk/till/closings/2").page();
    for said in [amount(cash + terminal + voucher), amount(FLOAT_CENTS + cash), "-0.05 CHF".to_owned()] {
        assert!(page.contains(&said), "{said}: {page}");
    }
    let open = clerk.get("/desk/till").page();
    assert!(!open.contains("href=\"/desk/till/entries/"), "the next day has nothing yet: {open}");
    assert_eq!(field(&open, "left"), amount(FLOAT_CENTS), "and begins with what was left");
}

pub(super) fn check_reports(clerk: &Clerk, minutes: i64, flights: i64, flown: i64) {
    let query = format!("from={SATURDAY}&to={SATURDAY}");
    let days = table(clerk, &format!("/desk/reports/days.csv?{query}"));
    let expected = [
        ("bookings", 300),
        ("minutes_booked", minutes),
        ("arrived", 295),
        ("flights", flights),
        ("minutes_flown", flown),
    ];
    for (column, count) in expected {
        assert_eq!(days[0][column], count.to_string(), "{column}: {days:?}");
    }
    let partners = table(clerk, &format!("/desk/reports/partners.csv?{query}"));
    assert_eq!(partners.len(), 1, "{partners:?}");
    for (column, count) in &expected[..3] {
        assert_eq!(partners[0][*column], count.to_string(), "{column}: {partners:?}");
    }
    let bookings = table(clerk, &format!("/desk/reports/bookings.csv?{query}"));
    let ended = |how: &str| bookings.iter().filter(|row| row["ended"] == how).count();
    assert_eq!((ended(""), ended("no_show"), ended("cancelled")), (295, 5, 2));
    let arrived = bookings.iter().filter(|row| row["ended"].is_empty());
    assert!(arrived.clone().all(|row| !arrived_at(row).is_empty()), "whoever is not a no-show was here");
    let counted =
        bookings.iter().filter(|row| row["ended"] != "cancelled").map(|row| row["minutes"].parse::<i64>().unwrap());
    assert_eq!(counted.sum::<i64>(), minutes);
    let page = clerk.get("/desk").page();
    assert!(page.contains("295 of 300 are here"), "{page}");
    assert_eq!(page.matches("<i class=bad>no-show</i>").count(), 5);
}

fn arrived_at(row: &BTreeMap<String, String>) -> &str {
    let (_, value) = row.iter().find(|(name, _)| name.starts_with("arrived_at")).expect("a column");
    value
}

/// Asserts that each action is in the audit log once, and that each logbook has what was flown and nothing else.
pub(super) fn check_traces(site: &Site, no_shows: &[Booked], cancelled: &[Booked]) {
    for (action, times) in [
        ("booking.made", (BOOKED + NEW) as i64),
        ("booking.cancelled", 2),
        ("booking.moved", 2),
        ("booking.checked_in", 295),
        ("booking.no_show", 5),
        ("member.added", NEW as i64),
        ("payment.taken", 12),
        ("payment.undone", 1),
        ("entry.signed", 30),
        ("entry.entered", NEW as i64),
        ("till.closed", 2),
    ] {
        assert_eq!(deeds(site, action), times, "{action}");
    }
    let of = |booking: i64| number(site, &format!("SELECT count(*) FROM entries WHERE booking_id = {booking}"));
    assert!(no_shows.iter().chain(cancelled).all(|one| of(one.booking) == 0), "nobody flew these");
    assert!(no_shows.iter().any(|one| one.current) && cancelled.iter().any(|one| one.current));
    let doubled = "SELECT count(*) FROM (SELECT 1 FROM entries WHERE booking_id IS NOT NULL GROUP BY booking_id HAVING count(*) > 1)";
    assert_eq!(number(site, doubled), 0);
    // Although two desks worked at once, each payment that stands has granted one year.
    let years =
        "SELECT count(*) FROM members WHERE paid_until > (SELECT max(taken_at) FROM till_entries) + 300 * 86400";
    assert_eq!(number(site, years), 11);
}
