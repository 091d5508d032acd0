//! The member search, the card, and changes of members by the desk.

use super::{Clerk, HOSTILE, day, demo};
use crate::harness::{Caller, PASSWORD, Site, pictures};
use tunneldesk::http::failure::Failure;
use tunneldesk::moment::Moment;

fn name(site: &Site, member: &Caller, real_name: &str, phone: &str) {
    site.change(|tx| {
        let sql = "UPDATE members SET real_name = ?2, phone = ?3 WHERE member_id = ?1";
        Ok(tx.run(sql, (member.id, real_name, phone))?)
    });
}

/// The numbers of the members found, in their order.
fn found(clerk: &Clerk, typed: &str) -> Vec<i64> {
    let page = clerk.get(&format!("/desk/members?part=found&q={}", super::clerk::encoded(typed))).page();
    assert!(!page.contains("<html"), "the list alone");
    let links = page.split("<a href=\"/desk/members/").skip(1);
    links.map(|rest| rest.split('"').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn members_are_found_by_parts_of_names_numbers_and_addresses() {
    let site = demo();
    let (jane, jose, mike) = (site.member("flying.jane"), site.member("jgarcia"), site.member("mike77"));
    name(&site, &jane, "Jane Okonkwo-Schmidt", "+41791234567");
    name(&site, &jose, "José García Märquez", "");
    name(&site, &mike, "Mike Janeway", "+4930123456");
    let clerk = Clerk::at(&site, &site.desk());
    for (typed, who) in [
        ("Okonkwo", &jane),
        ("schmidt jane", &jane),
        ("okonk", &jane),
        ("konkwo", &jane),
        ("okonkow", &jane),
        ("jnae okonkwo", &jane),
        ("jxne", &jane),
        ("jine okonkwo", &jane),
        ("Schmitd", &jane),
        ("flying.j", &jane),
        ("flying.jane@exa", &jane),
        ("079 123 45 67", &jane),
        ("+41 79 123", &jane),
        ("jose garcia", &jose),
        ("GARCÍA", &jose),
        ("marquez", &jose),
        ("mike7", &mike),
    ] {
        assert_eq!(found(&clerk, typed), [who.id], "{typed}");
    }
    assert_eq!(found(&clerk, &mike.id.to_string())[0], mike.id);
    assert_eq!(found(&clerk, &format!("#{}", jose.id))[0], jose.id);
    assert_eq!(found(&clerk, "jane"), [jane.id, mike.id], "the very word first");
    for nobody in ["zzzz", "\" OR \"", "jane NOT okonkwo", "*", "words:jane", "o'", "NEAR(jane", HOSTILE] {
        let page = clerk.get(&format!("/desk/members?q={}", super::clerk::encoded(nobody)));
        assert_eq!(page.status, 200, "{nobody}: {page}");
    }
    assert!(clerk.get("/desk/members?q=zzzz").page().contains("No match"));
    let nobody = clerk.get("/desk?q=zzzz&part=found").page();
    assert!(
        nobody.contains("No match") && nobody.contains("href=\"/desk/new-member\""),
        "who is new is added: {nobody}"
    );
    // More text than any name has, or none that is letters, finds no member rather than every member.
    for (nobody, typed) in [("many letters", "z".repeat(7_000)), ("a control character", "zz\u{7}zz".to_owned())] {
        for list in ["/desk/members", "/desk"] {
            let page = clerk.get(&format!("{list}?part=found&q={}", super::clerk::encoded(&typed))).page();
            assert!(page.contains("No match") && !page.contains("<html"), "{nobody} at {list}: {page}");
        }
    }
    let longer = format!("/desk/members?part=found&skip=x&q=jane{}", "+".repeat(200));
    assert!(clerk.get(&longer).page().contains("Okonkwo"), "spaces, and a field that says nothing, take nothing away");
    assert_eq!(found(&clerk, "").len(), 4, "without a question the newest");
    assert!(clerk.get("/desk/members").page().contains("<form class=\"search\" method=\"get\""), "without script too");
}

#[test]
fn a_mistyped_name_is_found_among_many_names_that_share_a_part() {
    let site = demo();
    let jane = site.member("flying.jane");
    name(&site, &jane, "Jane Schmidt", "");
    site.change(|tx| {
        let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400)
                   INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at)
                   SELECT 'newer' || n, '', 'Ueli Schneider', 'newer' || n || '@example.org', 0, 0 FROM n";
        Ok(tx.run(sql, ())?)
    });
    let clerk = Clerk::at(&site, &site.desk());
    for typed in ["schimdt", "schmit", "shmidt", "scmhidt", "schmiedt", "schxidt"] {
        assert_eq!(found(&clerk, typed), [jane.id], "{typed}");
    }
}

#[test]
fn the_very_word_is_found_first_among_hundreds_of_newer_names_that_begin_with_it() {
    let site = demo();
    let ueli = site.member("old.ueli");
    name(&site, &ueli, "Ueli Frei", "");
    site.change(|tx| {
        let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 400)
                   INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at)
                   SELECT 'newer' || n, '', 'Ueli Freiburger', 'newer' || n || '@example.org', 0, 0 FROM n";
        Ok(tx.run(sql, ())?)
    });
    let clerk = Clerk::at(&site, &site.desk());
    let hits = found(&clerk, "frei");
    assert_eq!((hits[0], hits.len()), (ueli.id, 20));
}

#[test]
fn the_card_adds_up_flight_time_and_shows_the_effect_of_a_lapse() {
    let site = demo();
    let jane = site.flyer("jane");
    let entry = site.skill(&jane, "open");
    let partner = site.partner();
    let booking = serde_json::json!({ "member_id": jane.id, "member_pin": site.pin(&jane), "minutes_booked": 47,
        "flight_date": site.now() + 86_400, "tunnel_id": Site::TUNNEL_ID, "registration_id": 9 });
    partner.post("/external/partner-metrics/op/generate-token", booking).ok();
    let flown = jane.get("/account/profile/user").ok_json()["total_flight_time"].as_str().unwrap().to_owned();
    let path = format!("/desk/members/{}", jane.id);
    let clerk = Clerk::at(&site, &site.desk());
    let card = clerk.get(&path).page();
    assert!(card.contains("47 min"), "it is in the logbook: {card}");
    assert!(card.contains(&format!("<bdi>{flown}</bdi>")), "what is booked was not flown yet ({flown}): {card}");
    assert!(!card.contains(">not current<"), "{card}");

    site.advance(std::time::Duration::from_secs(300 * 86_400));
    let clerk = Clerk::at(&site, &site.desk());
    let card = clerk.get(&path).page();
    assert!(card.contains(">not current<") && !card.contains(">signed<"), "{card}");
    let page = clerk.get(&format!("/desk/sign-offs/{entry}")).page();
    assert!(page.contains(">not current<"), "{page}");
}

#[test]
fn renamed_and_erased_members_are_not_found_by_their_old_names() {
    let site = demo();
    let jane = site.member("jane");
    name(&site, &jane, "Quetzalina Okonkwo", "+41791234567");
    let clerk = Clerk::at(&site, &site.desk());
    assert_eq!(found(&clerk, "quetzalina"), [jane.id]);
    name(&site, &jane, "Brunhilde Smith", "");
    assert_eq!((found(&clerk, "quetzalina"), found(&clerk, "brunhilde")), (vec![], vec![jane.id]));
    assert_eq!(found(&clerk, "0791234567"), [0; 0]);
    site.shell(&["member", "erase", &jane.id.to_string(), "--yes"]);
    assert_eq!(found(&clerk, "brunhilde"), [0; 0]);
    // Neither do the pages of the search index contain the name, in pieces or whole.
    let left: i64 = site.change(|tx| {
        let sql = "SELECT count(*) FROM members_search_data WHERE instr(block, CAST('run' AS BLOB)) OR instr(block, CAST('tza' AS BLOB))";
        Ok(tx.get(sql, [])?)
    });
    assert_eq!(left, 0);
}

#[test]
fn removed_names_leave_no_trace_in_the_search_index() {
    const TURNS: usize = 12;
    let site = demo();
    let members: Vec<Caller> = ["anna", "bert", "carl"].map(|name| site.member(name)).into();
    std::thread::scope(|scope| {
        for member in &members {
            let (inside, now) = (site.for_a_job(), site.now());
            scope.spawn(move || {
                for turn in 0..TURNS {
                    let kept = turn % 3 == 0;
                    // The writes share one flush with those of others.
                    let written = inside.store.write(Moment(now), |tx| {
                        let sql = "UPDATE members SET real_name = ?2 WHERE member_id = ?1";
                        tx.run(sql, (member.id, format!("Turn{turn}x")))?;
                        let sql =
                            "UPDATE members SET username = (SELECT username FROM members WHERE member_id <> ?1 LIMIT 1)
                                   WHERE member_id = ?1";
                        assert!(tx.run(sql, [member.id]).is_err(), "taken back after the old words left the index");
                        if kept { Ok(()) } else { Err(Failure::not_found()) }
                    });
                    assert_eq!(written.is_ok(), kept);
                }
            });
        }
    });
    let clerk = Clerk::at(&site, &site.desk());
    assert_eq!(found(&clerk, "turn9x").len(), members.len(), "the last that was kept");
    assert_eq!(found(&clerk, "anna"), [members[0].id]);
    assert!(!clerk.get("/desk/members?q=turn11x").page().contains("Turn11x"));
}

#[test]
fn a_clerk_adds_flight_time() {
    let site = demo();
    let jane = site.flyer("jane");
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/members/{}/time", jane.id);
    let done = clerk.post(&path, &[("minutes", "12"), ("date", "")]);
    assert_eq!(done.header("location"), Some(format!("/desk/members/{}?done=time", jane.id).as_str()), "{done}");
    assert_eq!(clerk.post(&path, &[("minutes", "1:05"), ("date", "2026-05-01")]).status, 303);
    let page = clerk.get(&format!("/desk/members/{}?done=time", jane.id)).page();
    assert!(page.contains("12 min") && page.contains("65 min") && page.contains("1 May 2026"), "{page}");
    assert!(page.contains("The flight time is in the logbook.") && page.contains("1:27"), "{page}");
    let times = jane.get(&format!("/account/logbook/time/{}", jane.id)).ok_json();
    assert_eq!((times.as_array().unwrap().len(), times[0]["time"].clone()), (3, "12".into()));
    for (minutes, date, said) in [
        ("0", "2026-05-01", "from 1 to 600"),
        ("x", "2026-05-01", "from 1 to 600"),
        ("12", "2026-13-01", "not in the future"),
        ("12", "2031-01-01", "future"),
    ] {
        let refused = clerk.post(&path, &[("minutes", minutes), ("date", date)]);
        assert!(refused.status == 422 && refused.page().contains(said), "{minutes} {date}: {refused}");
        assert!(refused.page().contains(&format!("value=\"{minutes}\"")), "what was typed stays");
    }
    assert_eq!(clerk.post("/desk/members/99999/time", &[("minutes", "12")]).status, 404);
    let before_1970 = clerk.post(&path, &[("minutes", "12"), ("date", "1969-12-30")]);
    assert_eq!(before_1970.status, 422, "no tunnel flew then: {before_1970}");
}

#[test]
fn a_clerk_takes_a_photo() {
    let site = demo();
    let jane = site.member("jane");
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/members/{}/photo", jane.id);
    let done = clerk.upload(&path, &pictures::png(900, 600));
    assert_eq!(done.status, 303, "{done}");
    let kept = clerk.get(&path);
    assert_eq!(kept.header("content-type"), Some("image/jpeg"));
    assert!(clerk.get(&format!("/desk/members/{}", jane.id)).page().contains(&format!("src=\"{path}\"")));
    assert_eq!(jane.get("/account/profile/media").status, 200, "it is the member's own picture");
    for broken in [&b"no picture"[..], b"", b"<svg onload=alert(1)>"] {
        assert_eq!(clerk.upload(&path, broken).status, 422);
    }
    assert_eq!(clerk.post(&path, &[("photo", "x")]).status, 415);
    assert_eq!(clerk.post(&format!("{path}/remove"), &[]).status, 303);
    assert_eq!(clerk.get(&path).status, 404);
}

#[test]
fn a_new_pin_is_shown_once_and_the_old_one_stops_working() {
    let site = demo();
    let jane = site.flyer("jane");
    let old = site.pin(&jane);
    let clerk = Clerk::at(&site, &site.desk());
    let page = clerk.post(&format!("/desk/members/{}/pin", jane.id), &[]).page();
    let pin = page.split("<code>").nth(1).unwrap().split('<').next().unwrap().to_owned();
    assert!(pin.len() == 6 && pin != old, "{pin}");
    assert!(!clerk.get(&format!("/desk/members/{}?tab=security", jane.id)).page().contains(&pin));
    let partner = site.partner();
    let token = |pin: &str| {
        let body = serde_json::json!({ "member_id": jane.id, "member_pin": pin });
        partner.post("/external/partner-metrics/op/generate-token", body).ok_json()["status"].clone()
    };
    assert_eq!((token(&old), token(&pin)), (false.into(), true.into()));
}

#[test]
fn a_clerk_helps_a_member_with_the_account() {
    let site = Site::open_with(|config| config.demo = true);
    let protected = site.protect(&site.member("jane"));
    let jane = &protected.member;
    site.change(|tx| Ok(tx.run("UPDATE members SET email_confirmed_at = NULL WHERE member_id = ?1", [jane.id])?));
    let clerk = Clerk::at(&site, &site.desk());
    let card = format!("/desk/members/{}", jane.id);
    let security = || clerk.get(&format!("{card}?tab=security")).page();
    let post = |what: &str| clerk.post(&format!("{card}/{what}"), &[]);
    assert!(security().contains("authenticator app") && security().contains("Confirm the address"));
    assert_eq!(post("email").status, 303);
    assert!(!security().contains("Confirm the address"));
    assert_eq!(post("second-factor").status, 303);
    assert!(!security().contains("authenticator app"));
    jane.get("/account/profile/user").refused(401);
    let login = || {
        let body = serde_json::json!({ "username": "jane", "password": PASSWORD });
        site.stranger().post("/auth/login", body).ok_json()["token"].as_str().unwrap().to_owned()
    };
    assert!(!login().is_empty(), "the password alone signs in again");
    assert!(security().contains("Sign out everywhere"));
    assert_eq!(post("sessions").status, 303);
    assert!(!security().contains("Sign out everywhere"));
    assert_eq!(post("ban").status, 303);
    assert!(login().is_empty() && security().contains("Banned: ask an admin"));
    assert_eq!(post("ban/lift").status, 403, "that is an admin's");
    let admin = Clerk::at(&site, &site.admin());
    assert_eq!(admin.post(&format!("{card}/ban/lift"), &[]).status, 303);
    assert!(!login().is_empty());
}

#[test]
fn the_desk_cannot_open_a_staff_account() {
    let site = demo();
    let (desk, other, admin) = (site.desk(), site.desk(), site.admin());
    let clerk = Clerk::at(&site, &desk);
    let deeds = ["pin", "sessions", "second-factor", "email", "ban"];
    for target in [&admin, &other, &desk] {
        let card = format!("/desk/members/{}", target.id);
        for action in deeds {
            let refused = clerk.post(&format!("{card}/{action}"), &[]);
            assert_eq!(refused.status, 403, "{action} of {}: {refused}", target.name);
        }
        let page = clerk.get(&format!("{card}?tab=security")).page();
        assert!(!page.contains(&format!("{card}/ban")) && !page.contains(&format!("{card}/pin")), "{page}");
    }
    let root = Clerk::at(&site, &admin);
    assert_eq!(root.post(&format!("/desk/members/{}/sessions", other.id), &[]).status, 303);
    assert_eq!(root.post(&format!("/desk/members/{}/ban", admin.id), &[]).status, 403, "nobody bans themselves");
}

#[test]
fn the_card_has_its_tabs_and_escapes_user_input() {
    let site = demo();
    let bookings = day(&site);
    let evil = site.change(|tx| {
        let find = "SELECT member_id FROM bookings WHERE booking_id = ?1";
        let evil: i64 = tx.get(find, [bookings[1]])?;
        tx.run("UPDATE members SET country = ?2, phone = ?2 WHERE member_id = ?1", (evil, HOSTILE))?;
        tx.run("UPDATE sessions SET user_agent = ?2 WHERE member_id = ?1", (evil, HOSTILE))?;
        tx.run("UPDATE tunnels SET name = ?1", [HOSTILE])?;
        tx.run(
            "INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, cat_id, skill, comment, comment_denial, created_at, updated_at)
             VALUES (?1, 'skill', 'denied', ?2, ?3, ?1, 'Flyer', '1', '10101', ?4, ?4, ?2, ?2)",
            (evil, tx.now(), Site::TUNNEL_ID, HOSTILE),
        )?;
        tx.run(
            "INSERT INTO notices (member_id, subject, detail, created_at) VALUES (?1, 'notice.denied', ?2, ?3)",
            (evil, serde_json::json!({ "name": HOSTILE, "skill": HOSTILE, "reason": HOSTILE }).to_string(), tx.now()),
        )?;
        Ok(evil)
    });
    let clerk = Clerk::at(&site, &site.desk());
    let mut pages = vec![clerk.get("/desk/members").page(), clerk.get("/desk/members?q=onerror").page()];
    for tab in ["logbook", "bookings", "payments", "messages", "security", HOSTILE] {
        pages.push(clerk.get(&format!("/desk/members/{evil}?tab={}", super::clerk::encoded(tab))).page());
    }
    pages.push(clerk.post(&format!("/desk/members/{evil}/pin"), &[]).page());
    pages.push(clerk.post(&format!("/desk/members/{evil}/time"), &[("minutes", HOSTILE), ("date", "x")]).page());
    let entry = pages[2].split("/desk/sign-offs/").nth(1).unwrap().split('"').next().unwrap().to_owned();
    pages.push(clerk.get(&format!("/desk/sign-offs/{entry}")).page());
    pages.push(clerk.get("/desk/sign-offs").page());
    for (n, page) in pages.iter().enumerate() {
        assert!(!page.contains("<script>") && !page.contains("<img src=x"), "{n}: {page}");
        assert!(n == pages.len() - 1 || page.contains("&#60;img src=x onerror=alert(1)&#62;"), "{n}: {page}");
    }
}

#[test]
fn a_tab_with_more_lines_than_it_shows_links_to_the_older_ones() {
    let site = demo();
    let jane = site.member("jane");
    let sql = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 130)
               INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, created_at, updated_at)
               SELECT ?1, 'time', 'open', ?2 - n * 60, n, 7, ?1, ?2, ?2 FROM number";
    site.change(|tx| Ok(tx.run(sql, (jane.id, site.now()))?));
    for _ in 0..130 {
        site.note(&jane, "notice.password_changed", serde_json::json!({}));
    }
    let clerk = Clerk::at(&site, &site.desk());
    let card = format!("/desk/members/{}", jane.id);
    let lines = |page: &str| page.matches("<li><p class=\"when ").count();
    for tab in ["logbook", "messages"] {
        let first = clerk.get(&format!("{card}?tab={tab}")).page();
        let older = format!("<a href=\"{card}?tab={tab}&#38;skip=100\">Older entries</a>");
        assert!(lines(&first) == 100 && first.contains(&older) && !first.contains("Newer entries"), "{first}");
        let rest = clerk.get(&format!("{card}?tab={tab}&skip=100")).page();
        let newer = format!("<a href=\"{card}?tab={tab}&#38;skip=0\">Newer entries</a>");
        assert!(lines(&rest) == 30 && rest.contains(&newer) && !rest.contains("Older entries"), "{rest}");
    }
    let first = clerk.get(&card).page();
    assert!(first.contains("1–100 of 130 entries"), "nothing is cut without a word: {first}");
    let oldest = clerk.get(&format!("{card}?skip=100")).page();
    assert!(oldest.contains(">130 min<") && !oldest.contains(">100 min<"), "each line stands on one page: {oldest}");
    assert!(!clerk.get(&format!("{card}?tab=bookings")).page().contains("Older entries"));
}

#[test]
fn sessions_beyond_the_security_tabs_limit_are_counted_and_linked() {
    let site = demo();
    let jane = site.member("jane");
    let sql = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 30)
               INSERT INTO sessions (token_hash, member_id, user_agent, created_at, seen_at, idle_seconds, ends_at)
               SELECT randomblob(32), ?1, 'Wind browser ' || n, ?2 + n, ?2, 3600, ?2 + 3600 FROM number";
    site.change(|tx| Ok(tx.run(sql, (jane.id, tx.now()))?));
    let sql = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 25)
               INSERT INTO passkeys (member_id, rp_id, credential_id, public_key, name, created_at)
               SELECT ?1, 'localhost', randomblob(16), '{}', 'Wind key ' || n, ?2 FROM number";
    site.change(|tx| Ok(tx.run(sql, (jane.id, tx.now()))?));
    let clerk = Clerk::at(&site, &site.desk());
    let card = format!("/desk/members/{}?tab=security", jane.id);
    let counts = |page: &str| (page.matches("Wind browser").count(), page.matches("Wind key").count());
    let first = clerk.get(&card).page();
    let all = clerk.get(&format!("{card}&all=1")).page();
    assert_eq!((counts(&first), counts(&all)), ((20, 20), (30, 25)));
    let link = format!("{}&amp;all=1\">Show those left out", card.replace('&', "&amp;"));
    assert!(first.matches(&link).count() == 2 && first.contains("left out (5)"), "{first}");
    assert!(!all.contains("left out"), "{all}");
}
