//! Who comes, who is here, and who walks in.

use super::{Clerk, HOSTILE, book, day, demo};

#[test]
fn a_clerk_checks_somebody_in_and_takes_it_back() {
    let site = demo();
    let jane = site.flyer("jane");
    let booking = book(&site, &jane, 600);
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/bookings/{booking}/check-in");
    assert!(clerk.get("/desk").page().contains("0 of 1 are here"));
    let done = clerk.post(&path, &[]);
    assert_eq!(done.header("location"), Some(format!("/desk?done=arrived#b{booking}").as_str()), "{done}");
    let page = clerk.get("/desk?done=arrived").page();
    assert!(
        page.contains("1 of 1 are here") && page.contains("Checked in.") && page.contains("Flyer current"),
        "{page}"
    );
    assert_eq!(clerk.post(&format!("{path}/undo"), &[]).status, 303);
    assert!(clerk.get("/desk").page().contains("0 of 1 are here"));
    let unknown = clerk.post("/desk/bookings/9999/check-in", &[]);
    assert!(
        unknown.status == 404 && unknown.page().contains("<span>Windwerk</span>"),
        "a refusal is the hall's: {unknown}"
    );
}

#[test]
fn a_banned_member_is_not_checked_in() {
    let site = demo();
    let bookings = day(&site);
    let clerk = Clerk::at(&site, &site.desk());
    let refused = clerk.post(&format!("/desk/bookings/{}/check-in", bookings[2]), &[]);
    assert!(refused.status == 403 && refused.page().contains("An admin can lift that"), "{refused}");
    let page = clerk.get("/desk").page();
    assert!(!page.contains(&format!("action=\"/desk/bookings/{}/check-in\"", bookings[2])), "{page}");
    assert!(page.contains("mark bad\">banned<"), "{page}");
}

#[test]
fn somebody_walks_in_and_is_booked_once() {
    let site = demo();
    let jane = site.flyer("jane");
    let clerk = Clerk::at(&site, &site.desk());
    let number = jane.id.to_string();
    let form = |member: &str, minutes: &str, clock: &str| {
        clerk.post("/desk/bookings", &[("member", member), ("minutes", minutes), ("clock", clock), ("number", "77")])
    };
    for (member, minutes, clock, said) in [
        ("nobody", "12", "23:30", "No member has that number"),
        (number.as_str(), "0", "23:30", "from 1 to 600"),
        (number.as_str(), "12", "24:30", "hours and minutes of today"),
    ] {
        let reply = form(member, minutes, clock);
        assert!(reply.status == 422 && reply.page().contains(said), "{reply}");
        assert!(reply.page().contains(&format!("value=\"{member}\"")), "what was typed stays");
    }
    let first = form("jane", "12", "23:30");
    assert_eq!(first.status, 303, "{first}");
    let rows = site.rows();
    site.advance(std::time::Duration::from_secs(3));
    assert_eq!(form(&number, "12", "23:30").header("location"), first.header("location"));
    let again = site.rows();
    let kept = |table: &str| (rows[table], again[table]);
    for table in ["bookings", "history", "audit", "notices"] {
        assert_eq!(kept(table).0, kept(table).1, "the same form sent twice leaves nothing more in {table}");
    }
    let page = clerk.get("/desk").page();
    assert!(page.contains("23:30 · 12 min") && page.contains("0 of 1 are here"), "{page}");
    let total = jane.get("/account/profile/booking-history").ok().total();
    assert_eq!(total, 1, "the member sees it too");
}

#[test]
fn a_number_that_is_somebody_else_s_username_books_nobody() {
    let site = demo();
    let jane = site.flyer("jane");
    let number = jane.id.to_string();
    let other = site.flyer(&number);
    let clerk = Clerk::at(&site, &site.admin());
    let said = "the number of one member and the username of another";
    let form = [("member", number.as_str()), ("minutes", "12"), ("clock", "23:30"), ("number", "77")];
    let walk_in = clerk.post("/desk/bookings", &form);
    assert!(walk_in.status == 422 && walk_in.page().contains(said), "{walk_in}");
    let role = clerk.post("/desk/site/users", &[("member", &number), ("role", "admin")]);
    assert!(role.page().contains(said), "{role}");
    assert!(clerk.get(&format!("/desk/site/audit?person={number}")).page().contains(said));
    // The other's own number means nobody else.
    assert_eq!(clerk.post("/desk/site/users", &[("member", &*other.id.to_string()), ("role", "desk")]).status, 303);
}

#[test]
fn what_people_wrote_is_text() {
    let site = demo();
    day(&site);
    let clerk = Clerk::at(&site, &site.desk());
    let page = clerk.get("/desk").page();
    assert!(page.contains("&#60;img src=x onerror=alert(1)&#62;"), "the name is shown");
    let echoed =
        clerk.post("/desk/bookings", &[("member", HOSTILE), ("minutes", HOSTILE), ("clock", "12:00"), ("number", "1")]);
    assert!(echoed.page().matches("&#60;script&#62;").count() >= 1, "{echoed}");
    let wrong = clerk.post("/desk/sign-in", &[("username", HOSTILE), ("password", "x"), ("to", HOSTILE)]);
    for page in [page, echoed.page(), wrong.page()] {
        assert!(!page.contains("<script>") && !page.contains("<img src=x"), "{page}");
    }
}

/// Bookings of a minute each, one after the other from now on.
fn crowd(site: &crate::harness::Site, arrivals: i64) {
    let jane = site.flyer("jane");
    book(site, &jane, 60);
    let sql = "WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < ?2)
               INSERT INTO bookings (partner_id, member_id, flight_date, minutes_booked, tunnel_id, created_at, updated_at)
               SELECT b.partner_id, b.member_id, b.flight_date + (n - 1) * 60, 1, b.tunnel_id, b.created_at, b.updated_at
               FROM number, bookings b WHERE b.member_id = ?1";
    site.change(|tx| Ok(tx.run(sql, (jane.id, arrivals))?));
}

#[test]
fn more_arrivals_than_a_page_holds_are_a_click_away() {
    let site = demo();
    crowd(&site, 130);
    let clerk = Clerk::at(&site, &site.desk());
    let shown = |page: &str| page.matches("/check-in\"><button").count();
    let first = clerk.get("/desk").page();
    assert_eq!(shown(&first), 120);
    assert!(first.contains("<a href=\"/desk?skip=120\">Show later arrivals (10)</a>"), "{first}");
    let rest = clerk.get("/desk?skip=120").page();
    assert_eq!(shown(&rest), 10);
    assert!(
        !rest.contains("Show later") && rest.contains("<a href=\"/desk?all\">Show earlier arrivals (120)</a>"),
        "{rest}"
    );
    let beyond = clerk.get("/desk?skip=9223372036854775807").page();
    assert!(shown(&beyond) == 0 && !beyond.contains("Show later"), "{beyond}");
}
