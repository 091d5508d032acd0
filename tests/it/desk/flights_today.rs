//! The desk does not ask for minutes that are already in the logbook.

use super::{Clerk, demo};
use crate::harness::{Caller, Site};
use serde_json::json;

/// A booking of today by a partner. It puts the minutes of a current flyer into the logbook.
fn booked(site: &Site, member: &Caller, in_seconds: i64) {
    let body = json!({ "member_id": member.id, "member_pin": site.pin(member), "flight_date": site.now() + in_seconds,
                       "minutes_booked": 15, "tunnel_id": Site::TUNNEL_ID });
    let reply = site.partner().post("/external/partner-metrics/op/generate-token", body).ok().json();
    assert_eq!(reply["status"], true, "{reply}");
}

fn come(site: &Site, member: &Caller) {
    let sql = "UPDATE bookings SET arrived_at = ?2 WHERE member_id = ?1 AND arrived_at IS NULL AND ended_as IS NULL";
    site.change(|tx| Ok(tx.run(sql, (member.id, tx.now()))?));
}

fn minutes(site: &Site, member: &Caller) -> Vec<i64> {
    let sql =
        "SELECT minutes FROM entries WHERE member_id = ?1 AND kind = 'time' AND entry_date > ?2 - 86400 ORDER BY 1";
    site.change(|tx| Ok(tx.list(sql, (member.id, tx.now()))?))
}

/// The minutes that a page asks for; `None` if the field is absent or folded away.
fn asked(page: &str) -> Option<String> {
    let form = page.split("name=\"minutes\" value=\"").nth(1)?;
    let folded = page.split("name=\"minutes\"").next().is_some_and(|before| {
        before.rfind("<details").is_some_and(|open| before.rfind("</details").is_none_or(|close| close < open))
    });
    (!folded).then(|| form.split('"').next().unwrap().to_owned())
}

#[test]
fn minutes_that_a_booking_logged_are_shown_and_not_asked_for() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    let each = |member: &Caller, asks: Option<&str>, said: &str| {
        let page = clerk.get(&format!("/desk/members/{}", member.id)).page();
        assert_eq!(asked(&page).as_deref(), asks, "{}: {page}", member.name);
        assert!(page.contains(said), "{said}: {page}");
    };
    let jane = site.flyer("jane");
    each(&jane, Some(""), "");
    // Before the flight and after the check-in: the booking logs its minutes by itself.
    booked(&site, &jane, 900);
    each(&jane, None, "logs its 15 min by itself");
    come(&site, &jane);
    site.advance(std::time::Duration::from_secs(1_200));
    each(&jane, None, "logged its 15 min");
    assert_eq!(minutes(&site, &jane), [15]);

    // A booking logs no minutes for a member who is not current: the page proposes the booked minutes and asks for them
    // once.
    let late = site.flyer("late");
    site.change(|tx| {
        let sql = "UPDATE entries SET entry_date = entry_date - 200 * 86400 WHERE member_id = ?1";
        Ok(tx.run(sql, [late.id])?)
    });
    booked(&site, &late, 600);
    each(&late, Some(""), "");
    come(&site, &late);
    each(&late, Some("15"), "");
    assert_eq!(clerk.post(&format!("/desk/members/{}/time", late.id), &[("minutes", "15")]).status, 303);
    each(&late, None, "15 min are in the logbook");
    assert_eq!(minutes(&site, &late), [15]);
}
