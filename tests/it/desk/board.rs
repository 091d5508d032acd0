//! The board: pairing, whom it shows and how, that its key opens nothing else, and the screen itself.

use super::kiosk::code_on;
use super::table::path;
use super::{Clerk, HOSTILE, book, demo};
use crate::harness::{Browser, Caller, Site};
use crate::member::network::{Network, State};
use crate::member::own_pages;
use http::Method;
use serde_json::json;
use std::time::Duration;
use tunneldesk::routes::{KIOSK_PAGES, PAGES, ROUTES};

/// Makes the page's timers run fifty times as fast, and its clock what the test says.
const HURRY: &str = "const later = window.setInterval; window.setInterval = (what, ms) => later(what, ms / 50);
                     const now = Date.now; let late = 0; Date.now = () => now() + late;
                     window.wait = minutes => { late += minutes * 60000 };";

/// A browser that was paired at the desk.
fn paired(site: &Site) -> Clerk {
    let desk = Clerk::at(site, &site.desk());
    let page = desk.post("/desk/kiosks", &[("name", "Lounge"), ("kind", "board")]).page();
    let board = Clerk::outside(site);
    let done = board.post("/board/pair", &[("code", &code_on(&page))]);
    assert_eq!((done.status, done.header("location")), (303, Some("/board")), "{done}");
    let line = done.header("set-cookie").unwrap_or_default();
    assert!(line.starts_with("board=") && line.contains("; Path=/board;") && line.contains("HttpOnly"), "{line}");
    board
}

/// A flyer of this name and age, who is booked in so many minutes.
fn booked(site: &Site, username: &str, name: &str, years: Option<i64>, in_minutes: i64) -> Caller {
    let member = site.flyer(username);
    let dob = years.map(|years| (site.now() - years * 31_557_600 - 90 * 86_400).div_euclid(86_400) * 86_400);
    let sql = "UPDATE members SET real_name = ?2, screen_name = ?2, dob = ?3 WHERE member_id = ?1";
    site.change(|tx| Ok(tx.run(sql, (member.id, name, dob))?));
    book(site, &member, in_minutes * 60);
    member
}

/// The names on the board, in their order.
fn names(page: &str) -> Vec<String> {
    let shown = page.split("<bdi>").skip(1).map(|rest| rest.split('<').next().unwrap().to_owned());
    shown.collect()
}

#[test]
fn a_code_is_for_a_board_or_for_a_kiosk_and_a_revoked_board_shows_nobody() {
    let site = demo();
    let desk = Clerk::at(&site, &site.desk());
    let code_for = |kind: &str| {
        let page = desk.post("/desk/kiosks", &[("name", "Lounge"), ("kind", kind)]).page();
        assert!(page.contains(&format!("Open /{kind} in its browser")), "{page}");
        code_on(&page)
    };
    let (browser, board, kiosk) = (Clerk::outside(&site), code_for("board"), code_for("kiosk"));
    let page = browser.get("/board").page();
    assert!(page.contains("Make this screen a board") && page.contains("kiosk pair --board"), "{page}");
    // More often than wrong codes are taken: a code of the other kind is none.
    for _ in 0..30 {
        for (there, code, says) in
            [("/kiosk", &board, "the code of a board. Open /board"), ("/board", &kiosk, "a kiosk. Open /kiosk")]
        {
            let refused = browser.post(&format!("{there}/pair"), &[("code", code)]);
            assert!(refused.status == 422 && refused.page().contains(says), "{refused}");
        }
    }
    assert_eq!(browser.post("/board/pair", &[("code", &board)]).status, 303);
    assert_eq!(browser.post("/board/pair", &[("code", &board)]).status, 422, "a code works once");
    assert!(browser.get("/board").page().contains("Nobody is booked"));
    assert_eq!(site.holds_text(&browser.cookies.borrow()["board"]), [""; 0], "the key is in the file only as a hash");
    assert_eq!(desk.post("/desk/kiosks/1/revoke", &[]).status, 303);
    assert!(browser.get("/board").page().contains("Make this screen a board"));
    assert_eq!(browser.get("/board/live").header("location"), Some("/board"));
    site.shell(&["kiosk", "pair", "Bar", "--board"]);
}

#[test]
fn a_board_shows_adults_by_initials_and_minors_and_whoever_asks_by_number() {
    let mut site = demo();
    let board = paired(&site);
    booked(&site, "anna", "Anna Berg", Some(30), 20);
    let child = booked(&site, "ben", "Benjamin Kindermann", Some(12), 21);
    let ageless = booked(&site, "cleo", "Cleopatra Unknown", None, 22);
    let shy = booked(&site, "dora", "Dorothea Private", Some(40), 23);
    booked(&site, "evil", HOSTILE, Some(40), 24);
    let own = own_pages(&site, &shy);
    assert!(own.get("/me/account").page().contains("By my number only"));
    assert_eq!(own.post("/me/account/board", &[("by", "number")]).header("location"), Some("/me/account?done=board"));
    let numbers = [&child, &ageless, &shy].map(|member| format!("#{}", member.id));
    let [child_no, ageless_no, shy_no] = numbers.each_ref().map(String::as_str);
    let page = board.get("/board").page();
    let shown = names(&page);
    assert_eq!(shown[..4], ["AB", child_no, ageless_no, shy_no]);
    for name in ["Anna", "Berg", "Benjamin", "Kinder", "Cleo", "Dorothea", "Private", "onerror"] {
        assert!(!page.contains(name), "{name} is on the board");
    }
    site.restart_with(|config| {
        config.demo = true;
        config.board.first_names = true;
        config.board.message = "Party <tonight>".to_owned();
    });
    let own = own_pages(&site, &shy);
    let page = board.get("/board").page();
    assert_eq!(names(&page)[..4], ["Anna", child_no, ageless_no, shy_no], "the hall's choice is no child's");
    assert!(page.contains("Party &#60;tonight&#62;"), "{page}");
    for name in ["Berg", "Benjamin", "Kinder", "Cleo", "Dorothea", "Private"] {
        assert!(!page.contains(name), "{name} is on the board");
    }
    assert_eq!(own.post("/me/account/board", &[("by", "name")]).status, 303);
    assert!(names(&board.get("/board").page()).contains(&"Dorothea".to_owned()));
}

#[test]
fn a_board_says_who_is_checked_in_and_what_is_free_in_five_languages() {
    let site = demo();
    let board = paired(&site);
    let anna = booked(&site, "anna", "Anna Berg", Some(30), 20);
    booked(&site, "otto", "Otto Tal", Some(30), 20);
    let gone = booked(&site, "gone", "Gone Away", Some(30), 20);
    let own: i64 = site.change(|tx| Ok(tx.get("SELECT booking_id FROM bookings WHERE member_id = ?1", [anna.id])?));
    let desk = Clerk::at(&site, &site.desk());
    assert_eq!(desk.post(&format!("/desk/bookings/{own}/check-in"), &[]).status, 303);
    site.change(|tx| Ok(tx.run("UPDATE bookings SET ended_as = 'cancelled' WHERE member_id = ?1", [gone.id])?));
    let page = board.get("/board").page();
    assert_eq!(names(&page), ["AB", "OT"]);
    assert_eq!(page.matches("class=\"here\"").count(), 1);
    // Two flights of twelve minutes in a quarter of fifteen leave none; the other three quarters of the hour are free.
    assert!(page.contains("0 min free") && page.contains("Free in the next hour: 45 min"), "{page}");
    for (tag, title) in [
        ("en", "Next to fly"),
        ("de", "Als Nächstes fliegen"),
        ("fr", "Prochains vols"),
        ("es", "Próximos vuelos"),
        ("it", "Prossimi voli"),
    ] {
        assert!(board.get_in("/board", tag).page().contains(title), "{tag}");
        assert!(board.get(&format!("/board?language={tag}")).page().contains(title), "?language={tag}");
    }
}

#[test]
fn a_boards_key_opens_its_own_page_and_nothing_else() {
    let site = demo();
    // Callbacks that are not configured answer 503.
    site.expects_faults();
    let (board, stranger) = (paired(&site), Clerk::outside(&site));
    let key = board.cookies.borrow()["board"].clone();
    let thief = Clerk::outside(&site);
    for name in ["board", "kiosk", "kiosk-guest", "desk", "member", "own"] {
        thief.cookies.borrow_mut().insert(name.to_owned(), key.clone());
    }
    let kiosk = super::kiosk::paired(&site);
    let guest = Clerk::outside(&site);
    guest.cookies.borrow_mut().insert("board".to_owned(), kiosk.cookies.borrow()["kiosk"].clone());
    assert!(guest.get("/board").page().contains("Make this screen a board"), "a kiosk's key is no board's");
    let mut tried = 0;
    for route in ROUTES.iter().chain(PAGES).chain(KIOSK_PAGES) {
        if route.path.starts_with("/board") {
            continue;
        }
        let concrete = format!("{}{}", route.base, path(route.path));
        let ask = |who: &Clerk| match route.method {
            Method::POST => who.post(&concrete, &[]),
            Method::GET => who.get(&concrete),
            _ => site
                .stranger()
                .ask_at_root(route.method.clone(), &concrete)
                .header("cookie", &who.line())
                .header("token", &key)
                .send(),
        };
        site.reset_rate_limits();
        let (own, others) = (ask(&thief), ask(&stranger));
        let same = (own.status, own.header("location")) == (others.status, others.header("location"));
        assert!(same, "{} {concrete}: {own} instead of {others}", route.method);
        tried += 1;
    }
    assert!(tried > 300, "{tried} routes");
    for header in ["token", "authorization"] {
        let asked = site.stranger();
        asked.ask(Method::GET, "/account/profile/user").header(header, &key).send().refused(401);
        asked.ask(Method::GET, "/events").header(header, &key).header("accept", "application/json").send().refused(401);
    }
}

/// A board in Chromium.
fn on_screen(site: &Site, address: &str) -> Browser {
    let browser = Browser::open();
    browser.prepare(HURRY);
    browser.go(&format!("{}/board", site.origin()));
    let key = paired(site).cookies.borrow()["board"].clone();
    browser
        .order("/cookie", json!({ "cookie": { "name": "board", "value": key, "path": "/board", "httpOnly": true } }));
    browser.go(&format!("{}{address}", site.origin()));
    browser
}

/// Everything is on the screen, in letters that are read from afar: a capital letter is some 0.7 of the font's size, and on a screen
/// 68 cm high (55 inches) 5 % of it are 34 mm.
fn judge(browser: &Browser, what: &str) {
    let faults = "const high = innerHeight, faults = [];
        const inside = box => box.left >= 0 && box.right <= innerWidth + 1 && box.top >= 0 && box.bottom <= high + 1;
        for (const one of document.querySelectorAll('header > *, .message, .nobody, tr, li, .minutes, footer > *')) {
            if (one.textContent.trim() && !inside(one.getBoundingClientRect())) faults.push('outside: ' + one.textContent.trim());
        }
        for (const one of document.querySelectorAll('th, li, .message, .nobody, h1, .clock'))
            if (parseFloat(getComputedStyle(one).fontSize) < 0.05 * high) faults.push('small: ' + one.textContent.trim());
        const boxes = [...document.querySelectorAll('main > *, footer')].map(one => one.getBoundingClientRect());
        boxes.slice(1).forEach((box, place) => { if (box.top < boxes[place].bottom - 1) faults.push('over another: ' + place); });
        if (document.documentElement.scrollHeight > high || document.documentElement.scrollWidth > innerWidth) faults.push('scrolls');
        return faults";
    for (width, height) in [(1920, 1080), (1280, 720)] {
        browser.resize(width, height, true);
        if let Ok(dir) = std::env::var("IT_PICTURES") {
            std::fs::write(format!("{dir}/board-{what}-{height}.png"), browser.picture()).unwrap();
        }
        assert_eq!(browser.run(faults, json!([])), json!([]), "{what} at {width}×{height}");
        assert_eq!(browser.violations(), [""; 0], "{what}");
    }
}

#[test]
fn a_board_fits_its_screen_with_nobody_three_and_forty_flyers() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.board.message = "Morgen ab 18 Uhr geschlossen: Vereinsabend mit Videoanalyse und Grill".to_owned();
    });
    let browser = on_screen(&site, "/board?language=de");
    judge(&browser, "de-0");
    for number in 0..40 {
        let (name, years) = (format!("Anna{number} Maximiliana"), if number % 5 == 3 { 12 } else { 30 });
        booked(
            &site,
            &format!("flyer{number}"),
            &name,
            Some(years),
            5 + if number < 3 { number * 15 } else { number * 3 },
        );
        if number == 2 || number == 39 {
            for tag in ["de", "it"] {
                browser.go(&format!("{}/board?language={tag}", site.origin()));
                judge(&browser, &format!("{tag}-{}", number + 1));
            }
        }
    }
}

#[test]
fn a_board_is_live_and_says_how_old_it_is_while_the_site_does_not_answer() {
    let mut site = demo();
    let browser = on_screen(&site, "/board");
    browser.run("window.marked = true", json!([]));
    assert!(browser.text().contains("Nobody is booked"));
    booked(&site, "anna", "Anna Berg", Some(30), 20);
    browser.wait("return document.querySelector('#board bdi')?.textContent === 'AB'");
    assert_eq!(browser.run("return window.marked", json!([])), json!(true), "without a load of the page");
    browser.devtools("Network.enable", json!({}));
    let cut = |offline: bool| {
        let terms = json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
        browser.devtools("Network.emulateNetworkConditions", terms)
    };
    cut(true);
    browser.run("window.wait(12)", json!([]));
    browser.wait("return /^No connection\\. As of .*, 12 min ago\\.$/.test(document.getElementById('away').innerText)");
    assert_eq!(browser.run("return document.querySelector('#board bdi').textContent", json!([])), json!("AB"));
    cut(false);
    browser.wait("return document.getElementById('away').hidden");
    // Long after the flight, it is gone from the board.
    site.advance(Duration::from_secs(3600));
    browser.wait("return document.querySelector('#board .nobody') !== null");
    site.restart();
    assert_eq!(browser.run("return window.marked", json!([])), json!(true));
}

#[test]
fn a_board_that_is_loaded_without_the_site_says_so_and_shows_the_flyers_once_the_site_answers() {
    let site = demo();
    booked(&site, "anna", "Anna Berg", Some(30), 20);
    let (network, browser) = (Network::to(&site), Browser::open());
    browser.prepare(HURRY);
    let open = || browser.go(&format!("{}/board", network.origin()));
    open();
    let key = paired(&site).cookies.borrow()["board"].clone();
    browser
        .order("/cookie", json!({ "cookie": { "name": "board", "value": key, "path": "/board", "httpOnly": true } }));
    open();
    browser.wait("return navigator.serviceWorker.ready.then(() => !!document.querySelector('#board bdi'))");
    network.set(State::Lost);
    open();
    browser.wait("return document.querySelector('#board .nobody')?.innerText.startsWith('No connection.')");
    judge(&browser, "away");
    assert_eq!(browser.run("return document.getElementById('away').hidden", json!([])), json!(true));
    network.set(State::Through);
    browser.wait("return document.querySelector('#board bdi')?.textContent === 'AB'");
}
