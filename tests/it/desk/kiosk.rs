//! The kiosk: pairing, revoking, sign-in, and the actions of a member there.

use super::{Clerk, HOSTILE, book, demo, level_in};
use crate::harness::{Caller, Site, pictures};
use http::Method;
use std::time::Duration;
use tunneldesk::auth::limits::proofs;
use tunneldesk::domain::ids::{BookingId, MemberId};

/// A browser that was paired at the desk.
pub fn paired(site: &Site) -> Clerk {
    let desk = Clerk::at(site, &site.desk());
    let page = desk.post("/desk/kiosks", &[("name", "Entrance")]).page();
    let address = format!("role=\"img\" aria-label=\"{}/kiosk\"><svg", site.inside().public_url());
    assert!(page.contains(&address), "no {address} to scan in {page}");
    let kiosk = Clerk::outside(site);
    let done = kiosk.post("/kiosk/pair", &[("code", &code_on(&page))]);
    assert_eq!((done.status, done.header("location")), (303, Some("/kiosk")), "{done}");
    kiosk
}

pub fn code_on(page: &str) -> String {
    let shown = page.split("class=\"code\"><strong>").nth(1).unwrap_or_else(|| panic!("no code: {page}"));
    shown.split('<').next().unwrap().to_owned()
}

/// Signs a member in at the kiosk by number and PIN.
pub fn enter(site: &Site, kiosk: &Clerk, member: &Caller) {
    let pin = site.pin(member);
    let reply = kiosk.post("/kiosk/number", &[("number", &member.id.to_string()), ("pin", &pin)]);
    assert_eq!((reply.status, reply.header("location")), (303, Some("/kiosk/home")), "{reply}");
}

fn number(kiosk: &Clerk, number: &str, pin: &str) -> crate::harness::Reply {
    kiosk.post("/kiosk/number", &[("number", number), ("pin", pin)])
}

#[test]
fn a_pairing_code_pairs_one_browser_within_ten_minutes() {
    let site = demo();
    let desk = Clerk::at(&site, &site.desk());
    let browser = Clerk::outside(&site);
    assert!(browser.get("/kiosk").page().contains("Make this browser a kiosk"));
    assert_eq!(desk.post("/desk/kiosks", &[("name", " ")]).status, 422);
    let code = code_on(&desk.post("/desk/kiosks", &[("name", "Entrance")]).page());
    assert_eq!(browser.post("/kiosk/pair", &[("code", "0000 0000")]).status, 422);
    let done = browser.post("/kiosk/pair", &[("code", &code)]);
    let line = done.header("set-cookie").unwrap_or_default();
    assert!(line.starts_with("kiosk=") && line.ends_with("HttpOnly; SameSite=Strict"), "{line}");
    assert!(browser.get("/kiosk").page().contains("Number and PIN"));
    let second = Clerk::outside(&site);
    assert_eq!(second.post("/kiosk/pair", &[("code", &code)]).status, 422, "a code works once");
    let late = code_on(&desk.post("/desk/kiosks", &[("name", "Bar")]).page());
    site.advance(Duration::from_secs(600));
    assert_eq!(second.post("/kiosk/pair", &[("code", &late)]).status, 422, "a code is good for ten minutes");
    assert!(!second.cookies.borrow().contains_key("kiosk"));
    let key = browser.cookies.borrow()["kiosk"].clone();
    assert_eq!(site.holds_text(&key), [""; 0], "the key is in the file only as a hash");
}

#[test]
fn guessing_of_pairing_codes_is_rate_limited() {
    let site = demo();
    let desk = Clerk::at(&site, &site.desk());
    let code = code_on(&desk.post("/desk/kiosks", &[("name", "Entrance")]).page());
    let browser = Clerk::outside(&site);
    for _ in 0..12 {
        browser.post("/kiosk/pair", &[("code", "12345678")]);
    }
    assert!(browser.post("/kiosk/pair", &[("code", &code)]).page().contains("Wait a minute"));
    site.advance(Duration::from_secs(61));
    assert_eq!(browser.post("/kiosk/pair", &[("code", &code)]).status, 303);
}

#[test]
fn a_revoked_kiosk_is_locked_out_at_once() {
    let site = demo();
    let jane = site.flyer("jane");
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    assert_eq!(kiosk.get("/kiosk/home").status, 200);
    let desk = Clerk::at(&site, &site.desk());
    assert_eq!(desk.post("/desk/kiosks/1/revoke", &[]).status, 303);
    assert!(desk.get("/desk/kiosks?done=revoked").page().contains("locked out"));
    assert_eq!(desk.post("/desk/kiosks/1/revoke", &[]).status, 404);
    assert_eq!(kiosk.get("/kiosk/home").header("location"), Some("/kiosk"));
    assert!(kiosk.get("/kiosk").page().contains("Make this browser a kiosk"));
    assert_eq!(number(&kiosk, &jane.id.to_string(), &site.pin(&jane)).header("location"), Some("/kiosk"));
}

#[test]
fn the_shell_pairs_and_revokes_too() {
    let site = demo();
    site.shell(&["kiosk", "pair", "Entrance"]);
    site.shell(&["kiosk", "list"]);
    let _ = paired(&site);
    site.shell(&["kiosk", "revoke", "1"]);
    let revoked: i64 = site
        .change(|tx| Ok(tx.get("SELECT count(*) FROM kiosks WHERE key_hash IS NULL AND revoked_at IS NOT NULL", [])?));
    assert_eq!(revoked, 1);
}

#[test]
fn wrong_pins_delay_one_member_at_one_kiosk_for_a_short_time() {
    let site = demo();
    let (jane, mark) = (site.flyer("jane"), site.flyer("mark"));
    let kiosk = paired(&site);
    let other = paired(&site);
    let (id, pin) = (jane.id.to_string(), site.pin(&jane));
    let wrong = if pin == "000000" { "111111" } else { "000000" };
    for who in [id.as_str(), "999999", "x"] {
        let reply = number(&kiosk, who, wrong);
        assert!(reply.status == 422 && reply.page().contains("Wrong member number or PIN"), "{reply}");
    }
    assert!(number(&kiosk, &id, wrong).page().contains(&format!("value=\"{id}\"")), "the number stays");
    for _ in 0..12 {
        number(&kiosk, &id, wrong);
        site.advance(Duration::from_secs(1));
    }
    number(&kiosk, &id, wrong);
    assert_eq!(number(&kiosk, &id, &pin).status, 422, "the right one waits as well");
    enter(&site, &kiosk, &mark);
    assert_eq!(number(&other, &id, &pin).status, 303, "at another kiosk she is not kept out");
    site.advance(Duration::from_secs(301));
    assert_eq!(number(&kiosk, &id, &pin).status, 303, "five minutes are the longest");
    let lifted = site.change(|tx| proofs::clear_account_limits(site.inside(), tx, MemberId(jane.id)));
    assert!(!lifted.pin_paused, "the PIN at partners is not touched");
}

#[test]
fn a_code_of_the_app_signs_in_once_within_two_minutes() {
    let site = demo();
    let jane = site.flyer("jane");
    let kiosk = paired(&site);
    let make = || jane.ask(Method::POST, "/account/profile/kiosk-code").send().ok().json()["code"].clone();
    let code = || make().as_str().unwrap().to_owned();
    let scan = |code: &str| kiosk.post("/kiosk/scan", &[("code", code)]);
    let (old, new) = (code(), code());
    assert_eq!(scan(&old).status, 422, "the one before is dead");
    assert_eq!(scan(&new).header("location"), Some("/kiosk/home"));
    kiosk.post("/kiosk/leave", &[]);
    assert_eq!(scan(&new).status, 422, "it works once");
    let late = code();
    site.advance(Duration::from_secs(120));
    assert_eq!(scan(&late).status, 422);
    let banned = code();
    site.ban(&jane);
    assert!(scan(&banned).page().contains("This account is closed"));
    assert_eq!(kiosk.get("/kiosk/home").status, 303);
}

#[test]
fn a_member_checks_in_logs_time_and_asks_for_a_signature() {
    let site = demo();
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    let (own, another) = (book(&site, &jane, 600), book(&site, &ines, 600));
    let tomorrow = book(&site, &jane, 100_000);
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    for not_hers in [another, tomorrow, 9_999] {
        let reply = kiosk.post(&format!("/kiosk/bookings/{not_hers}/check-in"), &[]);
        assert_eq!(reply.status, 422, "{reply}");
    }
    let done = kiosk.post(&format!("/kiosk/bookings/{own}/check-in"), &[]);
    assert_eq!(done.header("location"), Some("/kiosk/home?done=arrived"), "{done}");
    let page = kiosk.get("/kiosk/home?done=arrived").page();
    assert!(page.contains("You are checked in") && page.contains("Checked in at"), "{page}");
    let arrived: Vec<i64> =
        site.change(|tx| Ok(tx.list("SELECT booking_id FROM bookings WHERE arrived_at IS NOT NULL", [])?));
    assert_eq!(arrived, [own]);

    assert_eq!(kiosk.post("/kiosk/time", &[("minutes", "601")]).status, 422);
    assert_eq!(kiosk.post("/kiosk/time", &[("minutes", "12")]).header("location"), Some("/kiosk/home?done=logged"));
    let time = jane.get(&format!("/account/logbook/time/{}", jane.id)).ok_json();
    assert_eq!((&time[0]["time"], &time[0]["entry_date"]), (&"12".into(), &site.now().into()));

    let skills = kiosk.get("/kiosk/sign-off").page();
    let skill = skills.split("/kiosk/sign-off/").nth(1).expect("a skill").split('"').next().unwrap().to_owned();
    let path = format!("/kiosk/sign-off/{skill}");
    assert!(kiosk.get(&path).page().contains("ines"));
    let oneself = kiosk.post(&path, &[("signer", &jane.id.to_string())]);
    assert!(oneself.status == 422 && oneself.page().contains("nobody signs for themselves"), "{oneself}");
    let asked = kiosk.post(&path, &[("signer", &ines.id.to_string())]);
    assert_eq!(asked.header("location"), Some("/kiosk/home?done=asked"), "{asked}");
    assert_eq!(ines.get("/account/logbook/requests").ok().total(), 1);
    assert!(!kiosk.get("/kiosk/sign-off").page().contains(&format!("{path}\"")), "what waits is not offered");
    assert_eq!(kiosk.get("/kiosk/sign-off/nothing").status, 404);

    let picture = kiosk.get("/kiosk/progression.svg");
    assert_eq!(picture.header("content-type"), Some("image/svg+xml"));
    assert_eq!(picture.header("cache-control"), Some("no-store"));
    let list = kiosk.get("/kiosk/certificates").page();
    let (level, name) = (level_in(&list), list.split("<strong>").nth(1).unwrap().split('<').next().unwrap());
    site.hold(&jane, "Flyer", "2", "Static", site.now() + 1);
    let one = kiosk.post("/kiosk/certificates", &[("level", &level)]).page();
    assert!(one.contains(name) && !one.contains("Level 2"), "a newer level does not take its place: {one}");
    let code = one.split("/verify/").nth(1).expect("where it is checked").split('<').next().unwrap();
    let shown = site.stranger().ask_at_root(Method::GET, &format!("/verify/{code}")).send();
    assert_eq!(shown.status, 200, "{shown}");
    assert_eq!(kiosk.post("/kiosk/certificates", &[("level", "0 99 Flyer Static")]).status, 404);
}

#[test]
fn the_home_page_shows_currency_and_flights_and_offers_nothing_twice() {
    let site = demo();
    let jane = site.flyer("jane");
    let today = book(&site, &jane, 600);
    book(&site, &jane, 100_000);
    site.change(|tx| {
        let time = tunneldesk::store::tables::entries::NewTime {
            entry_date: tx.now(),
            minutes: 12,
            tunnel_id: Site::TUNNEL_ID,
            comment: String::new(),
        };
        Ok(tunneldesk::store::tables::entries::insert_time(
            tx,
            MemberId(jane.id),
            MemberId(jane.id),
            Some(BookingId(today)),
            &time,
        )?)
    });
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    let page = kiosk.get("/kiosk/home").page();
    for said in
        ["Hello, jane", "Current until", "Flown today: 12 min", "in all 0:22 h", "Next flight: ", "12 min of it are"]
    {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(kiosk.get("/kiosk/time").page().contains("has put 12 min into your logbook already"));
    kiosk.post("/kiosk/language", &[("language", "it")]);
    let skills = kiosk.get("/kiosk/sign-off").page();
    assert!(!skills.contains("Formation Level 2"), "{skills}");
    assert!(kiosk.get("/kiosk/progression").page().contains("Volatore Livello 1"));
    let (wide, tall) = (kiosk.get("/kiosk/progression.svg"), kiosk.get("/kiosk/progression.svg?tall=1"));
    assert!(tall.to_string().contains("0 0 808 ") && wide.to_string().contains("0 0 1470 "));
}

#[test]
fn a_member_s_photo_is_taken_at_the_kiosk() {
    let site = demo();
    let jane = site.flyer("jane");
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    assert_eq!(kiosk.get("/kiosk/photo.jpg").status, 404);
    let bad = kiosk.upload("/kiosk/photo", b"no picture");
    assert_eq!(bad.status, 422, "{bad}");
    let done = kiosk.upload("/kiosk/photo", &pictures::png(40, 30));
    assert_eq!(done.header("location"), Some("/kiosk/home?done=photo"), "{done}");
    assert!(kiosk.get("/kiosk/home?done=photo").page().contains("/kiosk/photo.jpg"));
    let jpeg = kiosk.get("/kiosk/photo.jpg");
    assert_eq!((jpeg.header("content-type"), jpeg.header("cache-control")), (Some("image/jpeg"), Some("no-store")));
    assert_eq!(kiosk.post("/kiosk/photo/remove", &[]).header("location"), Some("/kiosk/home?done=no-photo"));
    assert_eq!(kiosk.get("/kiosk/photo.jpg").status, 404);
}

#[test]
fn a_card_fills_in_the_member_number_and_does_not_replace_the_pin() {
    let site = demo();
    let (jane, mark) = (site.flyer("jane"), site.flyer("mark"));
    let desk = Clerk::at(&site, &site.desk());
    let tie = |who: &Caller, card: &str| desk.post(&format!("/desk/members/{}/card", who.id), &[("card", card)]);
    assert_eq!(tie(&jane, "04:a2:3f:91").header("location"), Some(&*format!("/desk/members/{}?done=card", jane.id)));
    assert_eq!(tie(&jane, "04A23F91").status, 303, "the same card again changes nothing");
    assert!(tie(&mark, "04a23f91").page().contains("another member"));
    assert!(tie(&mark, "jane@example.com").status == 422 && tie(&mark, "123").status == 422);
    assert!(desk.get(&format!("/desk/members/{}", jane.id)).page().contains("04A23F91"));
    let found = desk.get("/desk/members?q=04:A2:3F:91").page();
    assert!(found.contains(&format!("/desk/members/{}", jane.id)), "{found}");
    let kiosk = paired(&site);
    let read = |card: &str| kiosk.post("/kiosk/card", &[("card", card)]);
    let page = read("04a23f91").page();
    assert!(page.contains(&format!("value=\"{}\"", jane.id)), "the number is filled in: {page}");
    assert_eq!(kiosk.get("/kiosk/home").status, 303, "and nobody is signed in");
    assert!(read("0000").page().contains("not known here") && read(HOSTILE).status == 422);
    let untie = desk.post(&format!("/desk/members/{}/card/untie", jane.id), &[("card", "04A23F91")]);
    assert_eq!(untie.status, 303);
    assert!(read("04a23f91").page().contains("not known here"));
    let tries = (0..40).filter(|_| read("9999").status == 429).count();
    assert!(tries > 0, "nobody tries all cards");
}

#[test]
fn a_guest_who_leaves_is_signed_out() {
    let site = demo();
    let (jane, mark) = (site.flyer("jane"), site.flyer("mark"));
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    site.advance(Duration::from_secs(60));
    assert_eq!(kiosk.post("/kiosk/here", &[]).status, 204, "a touch keeps her");
    site.advance(Duration::from_secs(60));
    assert_eq!(kiosk.get("/kiosk/home").status, 200);
    site.advance(Duration::from_secs(81));
    assert_eq!(kiosk.get("/kiosk/home").status, 303, "and its want does not");
    assert_eq!(kiosk.post("/kiosk/here", &[]).status, 303);
    enter(&site, &kiosk, &mark);
    kiosk.post("/kiosk/language", &[("language", "it")]);
    let page = kiosk.get("/kiosk/home").page();
    assert!(page.contains("Che cosa vuoi fare?") && page.contains("mark") && !page.contains("jane"), "{page}");
    let left = kiosk.post("/kiosk/leave", &[]);
    assert_eq!(left.header("clear-site-data"), Some("\"cache\", \"storage\""));
    assert_eq!(kiosk.get("/kiosk/home").status, 303);
    assert!(kiosk.get("/kiosk").page().contains("Welcome"), "the language went too");
}

#[test]
fn a_guest_token_opens_neither_the_api_nor_the_desk() {
    let site = demo();
    let desk = site.desk();
    let kiosk = paired(&site);
    enter(&site, &kiosk, &desk);
    assert_eq!(kiosk.get("/kiosk/home").status, 200);
    assert_eq!(kiosk.get("/desk").status, 303, "a clerk with a PIN is a member at a kiosk");
    let key = kiosk.cookies.borrow()["kiosk"].clone();
    site.stranger().ask(Method::GET, "/account/profile/user").header("token", &key).send().refused(401);
    site.ban(&desk);
    assert_eq!(kiosk.get("/kiosk/home").status, 303, "a ban ends it at once");
}

#[test]
fn every_language_of_the_kiosk_has_all_texts() {
    let site = demo();
    let jane = site.flyer("jane");
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    let mut seen = std::collections::BTreeSet::new();
    for (tag, said) in [
        ("en", "Log flight time"),
        ("de", "Flugzeit eintragen"),
        ("fr", "Noter un temps"),
        ("es", "Anotar tiempo"),
        ("it", "Annota il tempo"),
    ] {
        kiosk.post("/kiosk/language", &[("language", tag)]);
        let page = kiosk.get("/kiosk/time").page();
        assert!(page.contains(&format!("<html lang=\"{tag}\"")) && page.contains(said), "{page}");
        seen.insert(kiosk.get("/kiosk/certificates").page());
    }
    assert_eq!(seen.len(), 5);
    assert_eq!(kiosk.post("/kiosk/language", &[("language", "xx")]).status, 404);
    let refusal = kiosk.get("/kiosk/nothing").page();
    assert!(refusal.contains("Qui non c&#39;è niente") && refusal.contains("href=\"/kiosk\""), "{refusal}");
    // A forged cookie with a language that the API lacks causes no error.
    let asked = site.stranger().ask(Method::GET, "/public/countries").header("cookie", "kiosk-language=it").send();
    assert_eq!(asked.status, 200);
}

#[test]
fn user_input_is_escaped_at_the_kiosk() {
    let site = demo();
    let (evil, ines) = (site.flyer("evil"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&evil, "Flyer");
    site.change(|tx| {
        tx.run(
            "UPDATE members SET screen_name = ?1, real_name = ?1 WHERE member_id IN (?2, ?3)",
            (HOSTILE, evil.id, ines.id),
        )?;
        Ok(())
    });
    let kiosk = paired(&site);
    let mut pages =
        vec![number(&kiosk, HOSTILE, HOSTILE).page(), kiosk.post("/kiosk/scan", &[("code", HOSTILE)]).page()];
    enter(&site, &kiosk, &evil);
    let skills = kiosk.get("/kiosk/sign-off").page();
    let skill = skills.split("/kiosk/sign-off/").nth(1).expect("a skill").split('"').next().unwrap().to_owned();
    pages.push(kiosk.get(&format!("/kiosk/sign-off/{skill}")).page());
    pages.extend(["home", "time", "progression", "certificates"].map(|one| kiosk.get(&format!("/kiosk/{one}")).page()));
    pages.push(kiosk.post("/kiosk/time", &[("minutes", "<b>9")]).page());
    assert!(pages.iter().any(|page| page.contains("&#60;script&#62;")), "the name is shown");
    for page in pages {
        assert!(!page.contains("<script>") && !page.contains("<img src=x") && !page.contains("<b>9"), "{page}");
        let title = page.split("<title>").nth(1).unwrap().split("</title>").next().unwrap();
        assert!(!title.contains("evil"), "the browser's history names nobody: {title}");
    }
}

#[test]
fn kiosks_beyond_one_page_are_counted_and_linked() {
    let site = demo();
    let sql = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 130)
               INSERT INTO kiosks (name, paired_at, used_at) SELECT 'Gate ' || n, ?1, ?1 FROM number";
    site.change(|tx| Ok(tx.run(sql, [tx.now()])?));
    let clerk = Clerk::at(&site, &site.desk());
    let rows = |page: &str| page.matches("/revoke\"").count();
    let first = clerk.get("/desk/kiosks").page();
    assert!(
        rows(&first) == 100 && first.contains("<a href=\"/desk/kiosks?skip=100\">Show older kiosks (30)"),
        "{first}"
    );
    let rest = clerk.get("/desk/kiosks?skip=100").page();
    assert!(rows(&rest) == 30 && rest.contains("Gate 1 ") && !rest.contains("Show older"), "{rest}");
}

#[test]
fn a_guest_is_signed_out_after_half_an_hour_however_often_the_screen_is_touched() {
    let site = demo();
    let jane = site.flyer("jane");
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    for _ in 0..29 {
        site.advance(Duration::from_secs(60));
        assert_eq!(kiosk.get("/kiosk/home").status, 200);
    }
    site.advance(Duration::from_secs(60));
    assert_eq!(kiosk.get("/kiosk/home").header("location"), Some("/kiosk"));
    enter(&site, &kiosk, &jane);
    assert_eq!(kiosk.get("/kiosk/home").status, 200, "signed in anew");
}
