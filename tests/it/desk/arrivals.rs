//! Arrivals, check-in and walk-in bookings on *Today*.

use super::{Clerk, HOSTILE, book, day, demo};
use std::time::Duration;
use tunneldesk::moment::Moment;

#[test]
fn a_clerk_checks_a_member_in_and_undoes_it() {
    let site = demo();
    let jane = site.flyer("jane");
    let booking = book(&site, &jane, 600);
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/bookings/{booking}/check-in");
    assert!(clerk.get("/desk").page().contains("0 of 1 are here"));
    let done = clerk.post(&path, &[]);
    let there = format!("/desk?done=arrived&booking={booking}");
    assert_eq!(done.header("location"), Some(format!("{there}#b{booking}").as_str()), "{done}");
    let page = clerk.get(&there).page();
    assert!(page.contains("1 of 1 are here") && page.contains("Checked in: jane."), "{page}");
    assert!(!page.contains("Flyer current"), "a line says what is out of the ordinary, and nothing else: {page}");
    assert_eq!(clerk.post(&format!("{path}/undo"), &[]).status, 303);
    assert!(clerk.get("/desk").page().contains("0 of 1 are here"));
    let unknown = clerk.post("/desk/bookings/9999/check-in", &[]);
    assert!(
        unknown.status == 404 && unknown.page().contains("<span>Windwerk</span>"),
        "a refusal is the site's: {unknown}"
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
    assert!(!page.contains(&format!("action=/desk/bookings/{}/check-in ", bookings[2])), "{page}");
    assert!(page.contains("<i class=bad>banned<"), "{page}");
}

#[test]
fn a_walk_in_form_sent_twice_makes_one_booking() {
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
        (number.as_str(), "12", "24:30", "Enter a time of today"),
    ] {
        let reply = form(member, minutes, clock);
        assert!(reply.status == 422 && reply.page().contains(said), "{reply}");
        assert!(reply.page().contains(&format!("value=\"{member}\"")), "what was typed stays");
        assert!(reply.page().contains("data-address=\"/desk\""), "the arrivals renew themselves from Today: {reply}");
        let leads_on = reply.page().contains("</a></p>\n<form class=\"fields grid\"");
        assert_eq!(leads_on, member == "nobody", "who is new is added at the desk: {reply}");
    }
    let first = form("jane", "12", "23:30");
    assert_eq!(first.status, 303, "{first}");
    let rows = site.rows();
    site.advance(std::time::Duration::from_secs(3));
    assert_eq!(form(&number, "12", "23:30").header("location"), first.header("location"));
    let again = site.rows();
    let kept = |table: &str| (rows[table], again[table]);
    for table in ["bookings", "events", "audit", "notices"] {
        assert_eq!(kept(table).0, kept(table).1, "the same form sent twice leaves nothing more in {table}");
    }
    let page = clerk.get("/desk").page();
    assert!(
        page.contains(">23:30</a>") && page.contains("<b>12 min</b>") && page.contains("0 of 1 are here"),
        "{page}"
    );
    let total = jane.get("/account/profile/booking-history").ok().total();
    assert_eq!(total, 1, "the member sees it too");
}

#[test]
fn a_number_that_is_also_a_username_is_ambiguous_and_books_nobody() {
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
    // The number of the other member is no username, so it is accepted.
    assert_eq!(clerk.post("/desk/site/users", &[("member", &*other.id.to_string()), ("role", "desk")]).status, 303);
}

#[test]
fn user_input_is_escaped_on_today() {
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

/// Makes bookings of one minute each, five seconds apart, from now on.
fn crowd(site: &crate::harness::Site, arrivals: i64) {
    let jane = site.flyer("jane");
    book(site, &jane, 5);
    let sql = "WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < ?2)
               INSERT INTO bookings (partner_id, member_id, flight_date, minutes_booked, tunnel_id, created_at, updated_at)
               SELECT b.partner_id, b.member_id, b.flight_date + (n - 1) * 5, 1, b.tunnel_id, b.created_at, b.updated_at
               FROM number, bookings b WHERE b.member_id = ?1";
    site.change(|tx| {
        // A name of ordinary length.
        tx.run("UPDATE members SET real_name = 'Annabelle Okonkwo-Schmidt' WHERE member_id = ?1", [jane.id])?;
        Ok(tx.run(sql, (jane.id, arrivals))?)
    });
}

fn shown(page: &str) -> usize {
    page.matches("/check-in aria-label").count()
}

#[test]
fn three_hundred_arrivals_fit_on_one_small_page_and_more_are_linked() {
    const PAGE_BYTES_MAX: usize = 80_000;
    let site = demo();
    crowd(&site, 330);
    let clerk = Clerk::at(&site, &site.desk());
    let first = clerk.get("/desk").page();
    assert_eq!(shown(&first), 312);
    for language in ["en", "de", "fr", "it", "es"] {
        let page = clerk.get_in("/desk", language).page();
        assert!(page.len() * 300 / 312 < PAGE_BYTES_MAX, "{language}: {} bytes", page.len());
    }
    assert!(first.contains("skip=312\">Show later arrivals (18)</a>"), "{first}");
    let rest = clerk.get("/desk?skip=312").page();
    assert_eq!(shown(&rest), 18);
    assert!(!rest.contains("Show later") && rest.contains("skip=0\">Show earlier arrivals (312)</a>"), "{rest}");
    let beyond = clerk.get("/desk?skip=9223372036854775807").page();
    assert!(shown(&beyond) == 0 && !beyond.contains("Show later"), "{beyond}");
}

/// The bytes of *Today*, and of the compressed files that it loads.
const LIGHT_BYTES_MAX: usize = 100_000;

#[test]
fn a_full_page_of_members_who_were_all_checked_in_is_light_in_each_language() {
    let site = demo();
    // The numbers of a site that has been open for years.
    site.change(|tx| {
        tx.run("DELETE FROM sqlite_sequence WHERE name IN ('bookings', 'members')", [])?;
        Ok(tx.run("INSERT INTO sqlite_sequence (name, seq) VALUES ('bookings', 340000), ('members', 34000)", [])?)
    });
    crowd(&site, 312);
    site.change(|tx| Ok(tx.run("UPDATE bookings SET arrived_at = flight_date - 600", [])?));
    // All of them are over.
    site.advance(Duration::from_secs(3 * 3600));
    let clerk = Clerk::at(&site, &site.desk());
    let english = clerk.get("/desk").page();
    assert_eq!(english.matches("/check-in/undo ").count(), 312, "{english}");
    let files: std::collections::BTreeSet<&str> =
        english.split('"').filter(|text| text.starts_with("/assets/")).collect();
    let files: usize = files.into_iter().map(|file| clerk.packed(file).body.len()).sum();
    for language in ["en", "de", "fr", "it", "es"] {
        let page = clerk.get_in("/desk", language).page();
        assert!(page.len() + files < LIGHT_BYTES_MAX, "{language}: {} bytes and {files} of files", page.len());
    }
}

#[test]
fn any_day_is_shown_with_badges_for_what_needs_attention() {
    let site = demo();
    let (jane, ann) = (site.flyer("jane"), site.member("ann"));
    let day = 24 * 3600;
    book(&site, &jane, day);
    let ann_s = book(&site, &ann, day + 60);
    let zone = site.inside().time_zone().unwrap();
    let tomorrow = zone.date(Moment(site.now() + day));
    site.change(|tx| {
        // The member turns 17 on that day.
        let born = zone.noon_utc(tx.now() + day) - 12 * 3600;
        let sql = "UPDATE members SET dob = unixepoch(?2, 'unixepoch', '-17 years') WHERE member_id = ?1";
        Ok(tx.run(sql, (ann.id, born))?)
    });
    let clerk = Clerk::at(&site, &site.desk());
    assert!(clerk.get("/desk").page().contains(&format!("/desk?day={tomorrow}\">Tomorrow")));
    let page = clerk.get(&format!("/desk?day={tomorrow}")).page();
    let line =
        page.split("<li>").find(|line| line.contains(&format!("id=b{ann_s}"))).unwrap_or_else(|| panic!("{page}"));
    assert!(line.contains("first time") && line.contains("under 18: 17") && line.contains("birthday"), "{line}");
    let other = page.split("<li>").find(|line| line.contains(">jane</a>")).unwrap();
    assert!(!other.contains("first time") && !other.contains("<i"), "{other}");
    // A year later the member's currency has lapsed.
    let far = zone.date(Moment(site.now() + 400 * day));
    book(&site, &jane, 400 * day);
    let page = clerk.get(&format!("/desk?day={far}")).page();
    assert!(page.contains("<i class=bad>Flyer lapsed</i>"), "{page}");
    assert!(clerk.get("/desk?day=nonsense").page().contains("<h1>Today</h1>"));
}

#[test]
fn quarters_with_more_booked_than_the_tunnel_has_are_marked() {
    let site = demo();
    let jane = site.flyer("jane");
    let start = (site.now().div_euclid(900) + 2) * 900;
    for offset in [0, 60] {
        book(&site, &jane, start - site.now() + offset);
    }
    book(&site, &jane, start - site.now() + 900);
    let page = Clerk::at(&site, &site.desk()).get("/desk").page();
    assert!(page.contains("Minutes booked per quarter of an hour; the tunnel has 15"), "{page}");
    assert!(page.contains("<small class=\"over\">:") && page.contains("<b>24</b></small>"), "{page}");
    assert!(page.contains("<b>12</b></small>"), "{page}");
}

#[test]
fn a_member_is_booked_by_name_and_checked_in_at_once() {
    let site = demo();
    let (ann, other) = (site.flyer("ann"), site.flyer("other"));
    let name = |id: i64, name: &str| {
        site.change(|tx| Ok(tx.run("UPDATE members SET real_name = ?2 WHERE member_id = ?1", (id, name))?));
    };
    name(ann.id, "Ann Okonkwo");
    name(other.id, "Bea Okonkwo");
    let clerk = Clerk::at(&site, &site.desk());
    let form = |member: &str, number: &str| {
        let fields = [("member", member), ("usual", "10"), ("clock", "23:30"), ("number", number), ("here", "yes")];
        clerk.post("/desk/bookings", &fields)
    };
    let two = form("okonkwo", "5");
    assert!(two.status == 422 && two.page().contains("choose one in the list"), "{two}");
    assert!(two.page().contains(&format!("/desk?book={}\"", other.id)), "the list is there: {two}");
    let here = form("ann okonkwo", "5");
    let there = here.header("location").expect("another page").to_owned();
    let page = clerk.get(there.split('#').next().unwrap()).page();
    assert!(page.contains("Booked and checked in: Ann Okonkwo, 10 min."), "{page}");
    assert!(page.contains("1 of 1 are here"), "{page}");
    assert_eq!(form("ann okonkwo", "5").header("location"), Some(there.as_str()), "sent twice it is the same");
    assert_eq!(ann.get("/account/profile/booking-history").ok().total(), 1);
}

#[test]
fn an_unpaid_member_is_not_booked_and_the_page_links_to_the_payment() {
    let site = crate::harness::Site::open_with(|config| (config.demo, config.yearly_fee_cents) = (true, 3000));
    let jane = site.flyer("jane");
    let clerk = Clerk::at(&site, &site.desk());
    let panel = clerk.get(&format!("/desk?book={}", jane.id)).page();
    assert!(panel.contains("The yearly fee is due") && panel.contains("Take payment"), "{panel}");
    let number = jane.id.to_string();
    let book = |day: &str, clock: &str| {
        clerk.post(
            "/desk/bookings",
            &[("member", &*number), ("usual", "10"), ("day", day), ("clock", clock), ("number", "9")],
        )
    };
    let refused = book("", "23:30");
    assert!(refused.status == 422 && refused.page().contains("Take payment"), "{refused}");
    // An unconfirmed address does not matter to the desk, and hides nothing from it.
    site.unconfirm(&jane);
    let refused = book("", "23:30");
    assert!(refused.status == 422 && refused.page().contains("Take payment"), "{refused}");
    site.pay(&jane, Duration::from_secs(86_400));
    for (day, clock, said) in [
        ("2020-01-01", "12:00", "This day is over"),
        ("2027-02-29", "12:00", "Enter a day, and a time"),
        ("2030-01-01", "25:00", "Enter a day, and a time"),
        ("", "25:00", "Enter a time of today"),
    ] {
        let refused = book(day, clock);
        assert!(refused.status == 422 && refused.page().contains(said), "{day} {clock}: {refused}");
    }
    site.born(&jane, site.now() + 2 * 86_400);
    assert_eq!(book("", "23:30").status, 422, "nobody flies before the birth, confirmed address or not");
    site.born(&jane, 0);
    assert_eq!(book("", "23:30").status, 303);
}

#[test]
fn a_walk_in_is_found_by_the_number_as_it_stands_on_the_card() {
    let site = demo();
    let (jane, clerk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let typed = format!("#{}", jane.id);
    let form = [("member", &*typed), ("minutes", "12"), ("clock", "23:30"), ("number", "9")];
    assert_eq!(clerk.post("/desk/bookings", &form).status, 303);
}

#[test]
fn the_evening_s_guests_are_checked_in_after_midnight_until_the_hour_that_the_site_sets() {
    let site = demo();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let clerk = Clerk::at(&site, &site.desk());
    let midnight = site.end_of_day(site.now()) + 1;
    let at = |before: i64| midnight - before - site.now();
    let (late, kiosk_s) = (book(&site, &jane, at(600)), book(&site, &mark, at(300)));
    let noon = book(&site, &jane, at(12 * 3_600));
    site.advance(Duration::from_secs((at(0) + 720).unsigned_abs()));
    let action = |booking: i64| format!("action=/desk/bookings/{booking}/check-in ");
    let page = clerk.get("/desk").page();
    assert!(page.contains(&action(late)) && !page.contains(&action(noon)), "{page}");
    assert_eq!(clerk.post(&format!("/desk/bookings/{late}/check-in"), &[]).status, 303);
    let kiosk = super::kiosk::paired(&site);
    super::kiosk::enter(&site, &kiosk, &mark);
    let home = kiosk.get("/kiosk/home").page();
    assert!(home.contains(&format!("/kiosk/bookings/{kiosk_s}/check-in")), "{home}");
    site.advance(Duration::from_secs(4 * 3_600 - 720));
    assert!(!clerk.get("/desk").page().contains(&action(kiosk_s)), "the night is over");
}
