//! Pages that refresh themselves, in a real Chromium: changes of others appear without a reload and do not disturb typing or
//! focus.

use super::pages::SHIFT_MAX;
use super::{Clerk, book, day, demo};
use crate::harness::{Browser, Caller, PASSWORD, Site};
use http::Method;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tunneldesk::http::failure::Failure;

/// Far longer than an event takes, so that a busy machine does not fail the test.
const HEARS_WITHIN: Duration = Duration::from_secs(30);

const STREAMS_PER_SESSION_MAX: usize = 32;

const ENTER: &str = "\u{E007}";

/// Makes the page's timers run fifty times as fast.
const HURRY: &str = "const later = window.setInterval; window.setInterval = (what, ms) => later(what, ms / 50);";

/// A clerk in a browser with fast timers.
fn a_clerk(site: &Site) -> Browser {
    signed_in(site, &site.desk())
}

fn signed_in(site: &Site, clerk: &Caller) -> Browser {
    let browser = Browser::open();
    browser.prepare(HURRY);
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.run(
        "const form = document.forms[0]; form.username.value = arguments[0]; form.password.value = arguments[1]; form.requestSubmit()",
        json!([clerk.name, PASSWORD]),
    );
    browser.wait("return location.pathname === '/desk'");
    browser
}

/// Opens a page and marks it, so that a reload is detected.
fn open(site: &Site, browser: &Browser, path: &str) {
    browser.go(&format!("{}{path}", site.origin()));
    browser.run("window.marked = true", json!([]));
}

#[test]
fn enter_checks_in_whom_the_clerk_saw_first_and_passes_over_those_who_are_done() {
    let site = demo();
    let jane = site.flyer("jane");
    let [early, absent, late] = [0, 60, 120].map(|in_seconds| book(&site, &jane, in_seconds));
    let last = book(&site, &site.flyer("janet"), 180);
    let browser = a_clerk(&site);
    let other = Clerk::at(&site, &site.desk());
    let post = |booking: i64, action: &str| {
        assert_eq!(other.post(&format!("/desk/bookings/{booking}/{action}"), &[]).status, 303);
    };
    post(early, "check-in");
    site.change(|tx| Ok(tx.run("UPDATE bookings SET ended_as = 'no_show' WHERE booking_id = ?1", [absent])?));
    let first = "return document.querySelector('#coming .first a[id]')?.id === arguments[0]";
    let marked = |booking: i64| browser.run(first, json!([format!("b{booking}")])) == true;

    open(&site, &browser, "/desk");
    browser.press("/jan");
    assert!(marked(late), "the booking that can be checked in stands before one that is here and a no-show");
    browser.press(ENTER);
    browser.wait("return document.querySelector('[role=status].done')?.innerText.startsWith('Checked in: jane')");
    assert!(browser.run("return location.search", json!([])).as_str().unwrap().contains(&format!("booking={late}")));

    // A colleague checks in whom the clerk is about to: the mark stays, and Enter checks in nobody else.
    post(late, "check-in/undo");
    open(&site, &browser, "/desk");
    browser.press("/jan");
    assert!(marked(late));
    post(late, "check-in");
    browser.wait(&format!("return !!document.querySelector('#b{late} ~ [formaction$=undo]')"));
    assert!(marked(late), "the mark moved under the clerk's hands");
    browser.press(ENTER);
    browser.wait(&format!("return location.pathname === '/desk/members/{}'", jane.id));
    let arrived_at: Option<i64> =
        site.change(|tx| Ok(tx.get("SELECT arrived_at FROM bookings WHERE booking_id = ?1", [last])?));
    assert_eq!(arrived_at, None, "the next member was checked in");
}

#[test]
fn enter_brings_a_line_below_the_screen_to_sight_before_it_checks_in() {
    let site = demo();
    (0..12).for_each(|number| _ = book(&site, &site.flyer(&format!("ann{number}")), 60 * number));
    site.change(|tx| Ok(tx.run("UPDATE bookings SET arrived_at = ?1 WHERE booking_id < 12", [tx.now()])?));
    let browser = a_clerk(&site);
    browser.resize(1280, 400, false);
    open(&site, &browser, "/desk");
    browser.press("/ann");
    assert_eq!(browser.run("return document.querySelector('.first a[id]').id", json!([])), "b12");
    browser.press(ENTER);
    browser.wait("return document.activeElement.getBoundingClientRect().bottom <= innerHeight");
    assert_eq!(browser.focused(), "Check in: ann11", "the clerk has not seen the line yet");
    browser.press(ENTER);
    browser.wait("return document.querySelector('[role=status].done')?.innerText.startsWith('Checked in: ann11')");
}

#[test]
fn an_arrow_key_that_is_held_keeps_its_line_in_sight() {
    let site = demo();
    let jane = site.flyer("jane");
    (0..40).for_each(|number| _ = book(&site, &jane, 60 * number));
    let browser = a_clerk(&site);
    browser.resize(1280, 500, false);
    open(&site, &browser, "/desk");
    let is_in_sight = || {
        let script = "const row = document.activeElement.getBoundingClientRect(), field = document.getElementById('find').getBoundingClientRect();
            return row.top >= field.bottom && row.bottom <= innerHeight";
        browser.run(script, json!([])) == true
    };
    browser.press("/");
    for keys in ["\u{E015}".repeat(30), "\u{E013}".repeat(20)] {
        browser.press(&keys);
        assert!(is_in_sight(), "{} is out of sight", browser.focused());
    }
}

#[test]
fn a_line_with_many_badges_stays_inside_its_list_in_every_language_and_width() {
    let site = Site::open_with(|config| (config.demo, config.waiver.required) = (true, true));
    site.change(|tx| {
        let text = "INSERT INTO site_texts VALUES ('waiver', 1, 'en', 'Text', 'I fly at my own risk.', '', zeroblob(32), 1, ?1, NULL)";
        Ok(tx.run(text, [tx.now()])?)
    });
    for (name, at) in [("Maximiliane Aebischer-Zimmermann", 0), ("Jan", 600)] {
        let child = site.member(&name[..3]);
        site.born(&child, site.now() - 12 * 365 * 86_400);
        site.change(|tx| {
            Ok(tx.run("UPDATE members SET screen_name = ?2, real_name = ?2 WHERE member_id = ?1", (child.id, name))?)
        });
        book(&site, &child, at);
    }
    site.change(|tx| Ok(tx.run("UPDATE bookings SET arrived_at = ?1 WHERE booking_id = 1", [tx.now()])?));
    let browser = a_clerk(&site);
    for language in ["en", "de", "fr", "es"] {
        browser.devtools("Network.setUserAgentOverride", json!({ "userAgent": "Chrome", "acceptLanguage": language }));
        for (width, height) in [(1280, 800), (1180, 800), (1024, 768), (700, 800), (512, 384)] {
            browser.resize(width, height, false);
            open(&site, &browser, "/desk");
            assert_eq!(browser.run("return document.documentElement.lang", json!([])), language);
            let outside = "const right = document.getElementById('coming').getBoundingClientRect().right;
                return [...document.querySelectorAll('#coming li > *')].filter(one => one.getBoundingClientRect().right > right).map(one => one.innerText)";
            assert_eq!(browser.run(outside, json!([])), json!([]), "{language} at {width}");
        }
    }
}

#[test]
fn enter_never_acts_on_a_member_whom_an_earlier_query_found() {
    let site = demo();
    let (nora, omar) = (site.flyer("nora"), site.flyer("omar"));
    let browser = a_clerk(&site);
    open(&site, &browser, "/desk");
    let shown = |name: &str| {
        browser.wait(&format!("return document.querySelector('#found .first [href*=members]')?.innerText === '{name}'"))
    };
    browser.press("/nora");
    shown("nora");
    // The number and Enter come at once, as from a card reader, before the server has answered.
    let type_at_once = "const field = document.getElementById('q'); field.value = arguments[0];
        field.dispatchEvent(new Event('input')); field.form.requestSubmit()";
    browser.run(type_at_once, json!([omar.id.to_string()]));
    browser.wait("return location.search.includes('q=') || location.search.includes('book=')");
    shown("omar");
    assert!(!browser.run("return location.search", json!([])).as_str().unwrap().contains(&format!("book={}", nora.id)));
}

#[test]
fn an_arrival_appears_at_the_other_desk_without_disturbing_typing() {
    let site = demo();
    let bookings = day(&site);
    let browser = a_clerk(&site);
    let other = Clerk::at(&site, &site.desk());
    let check_in =
        |booking: i64| assert_eq!(other.post(&format!("/desk/bookings/{booking}/check-in"), &[]).status, 303);
    let here = |booking: i64| format!("return !!document.querySelector('#b{booking} ~ [formaction$=undo]')");

    open(&site, &browser, "/desk");
    browser.run("document.getElementById('member').focus()", json!([]));
    browser.press("jane okon");
    check_in(bookings[0]);
    browser.wait(&here(bookings[0]));
    assert!(browser.text().contains("1 of 4 are here"), "{}", browser.text());
    assert_eq!(browser.run("return document.getElementById('member').value", json!([])), "jane okon");
    browser.press("kwo");
    assert_eq!(browser.run("return document.activeElement.value", json!([])), "jane okonkwo", "the focus stayed too");

    // A button that has the focus stays in its place …
    let press = format!("document.querySelector('#b{} ~ button').focus()", bookings[3]);
    browser.run(&press, json!([]));
    assert_eq!(browser.focused(), "Check in: ines");
    let moved_by_typing = browser.moved();
    check_in(bookings[1]);
    browser.wait(&here(bookings[1]));
    assert_eq!(browser.focused(), "Check in: ines");
    // … and never turns into another button.
    check_in(bookings[3]);
    browser.wait(&here(bookings[3]));
    assert_eq!(browser.focused(), "ines", "the name is pressed by mistake with less harm than the undoing");
    let moved = browser.moved() - moved_by_typing;
    assert!(moved < SHIFT_MAX, "what is about to be pressed moved by {moved}");

    let late = book(&site, &site.flyer("late"), 300);
    browser.wait(&format!("return !!document.getElementById('b{late}')"));
    assert_eq!(browser.run("return window.marked", json!([])), true, "the page was never loaded again");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_refused_call_appears_on_the_open_page() {
    let site = demo();
    let partner = site.partner();
    let browser = signed_in(&site, &site.admin());
    open(&site, &browser, "/desk/partners");
    assert!(!browser.text().contains("does not fit the body"));
    let users = "/external/partner-metrics/op";
    let stranger = site.stranger();
    let call = stranger.ask(Method::GET, users).header("client-id", partner.client_id());
    call.header("token", &"0".repeat(64)).send().refused(401);
    browser.wait("return document.getElementById('calls').innerText.includes('does not fit the body')");
    assert_eq!(browser.run("return window.marked", json!([])), true);
}

#[test]
fn arrivals_appear_on_the_page_that_refused_a_walk_in() {
    let site = demo();
    let (bookings, browser) = (day(&site), a_clerk(&site));
    open(&site, &browser, "/desk");
    browser.run("document.getElementById('member').value = 'nobody-of-that-name'", json!([]));
    browser.run("document.querySelector('#book form button:not([name])').click()", json!([]));
    browser.wait("return location.pathname === '/desk/bookings' && !!document.getElementById('problem')");
    let other = Clerk::at(&site, &site.desk());
    assert_eq!(other.post(&format!("/desk/bookings/{}/check-in", bookings[0]), &[]).status, 303);
    browser.wait(&format!("return !!document.querySelector('#b{} ~ [formaction$=undo]')", bookings[0]));
}

#[test]
fn a_page_that_is_unattended_for_twenty_minutes_stops_polling() {
    let site = demo();
    day(&site);
    let browser = a_clerk(&site);
    open(&site, &browser, "/desk");
    let count = "window.asked = 0; const ask = window.fetch; window.fetch = (...all) => { window.asked++; return ask(...all); }";
    browser.run(count, json!([]));
    browser.wait("return window.asked > 1");
    // After twenty minutes without input the page sends no more requests, although its timers run. A key resumes them.
    let alone = "const now = Date.now; Date.now = () => now() + 21 * 60 * 1000; window.asked = 0; window.ticks = 0;
                 setInterval(() => window.ticks++, 8000);";
    browser.run(alone, json!([]));
    browser.wait("return window.ticks > 3");
    assert!(browser.run("return window.asked", json!([])).as_i64().unwrap() <= 1, "one may have been under way");
    browser.press("x");
    browser.wait("return window.asked > 2");
}

/// The stream of the desk's events, after its head.
fn listen(site: &Site, clerk: &Clerk) -> BufReader<TcpStream> {
    let mut socket = TcpStream::connect(site.address()).unwrap();
    socket.set_read_timeout(Some(HEARS_WITHIN)).unwrap();
    let head = format!("GET /desk/live HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\n\r\n", site.address(), clerk.line());
    socket.write_all(head.as_bytes()).unwrap();
    let mut stream = BufReader::new(socket);
    assert!(hears(&mut stream, "HTTP/1.1 200"), "the desk listens");
    assert!(hears(&mut stream, "content-type: text/event-stream"));
    assert!(hears(&mut stream, "retry: "));
    stream
}

#[test]
fn a_stream_too_many_is_refused_in_the_language_of_the_reader() {
    let site = Site::open_with(|config| {
        config.demo = true;
        (config.limits.connections_max, config.limits.connections_per_address_max) = (2_000, 2_000);
    });
    let desk = site.desk();
    let mut clerk = Clerk::at(&site, &desk);
    let mut streams = Vec::new();
    let refused = loop {
        if streams.len() % STREAMS_PER_SESSION_MAX == 0 {
            clerk = Clerk::at(&site, &desk);
        }
        let mut socket = TcpStream::connect(site.address()).unwrap();
        socket.set_read_timeout(Some(HEARS_WITHIN)).unwrap();
        let head = format!(
            "GET /desk/live HTTP/1.1\r\nhost: {}\r\naccept-language: de\r\nconnection: close\r\ncookie: {}\r\n\r\n",
            site.address(),
            clerk.line()
        );
        socket.write_all(head.as_bytes()).unwrap();
        let mut stream = BufReader::new(socket);
        let mut status = String::new();
        stream.read_line(&mut status).unwrap();
        if !status.contains("200") {
            let mut rest = status;
            stream.read_to_string(&mut rest).unwrap();
            break rest;
        }
        streams.push(stream);
        assert!(streams.len() < 700, "streams have a limit");
    };
    let german = tunneldesk::i18n::language::Language::German.say(Failure::too_fast().text());
    assert!(refused.starts_with("HTTP/1.1 429") && refused.contains("content-language: de"), "{refused}");
    assert!(refused.contains(&german), "{refused}");
}

/// Reads until a line begins with `start`; `false` at the end of the stream.
fn hears(stream: &mut BufReader<TcpStream>, start: &str) -> bool {
    loop {
        let mut line = String::new();
        match stream.read_line(&mut line) {
            Ok(0) => return false,
            Ok(_) if line.starts_with(start) => return true,
            Ok(_) => {}
            Err(e) => panic!("nothing was heard in time: {e}"),
        }
    }
}

#[test]
fn twenty_event_streams_receive_a_check_in_and_do_not_block_shutdown() {
    const SCREENS: usize = 20;
    let site = demo();
    let bookings = day(&site);
    let desk = site.desk();
    let clerks: Vec<Clerk> = (0..SCREENS.div_ceil(STREAMS_PER_SESSION_MAX)).map(|_| Clerk::at(&site, &desk)).collect();
    let clerk = &clerks[0];
    let mut screens: Vec<_> = (0..SCREENS).map(|screen| listen(&site, &clerks[screen % clerks.len()])).collect();
    assert_eq!(clerk.post(&format!("/desk/bookings/{}/check-in", bookings[0]), &[]).status, 303);
    assert!(screens.iter_mut().all(|screen| hears(screen, "event: changed")));
    drop(site);
    assert!(!screens.iter_mut().any(|screen| hears(screen, "never")), "each stream ends with the server");
}

#[test]
fn only_clerks_can_open_the_event_stream() {
    let site = demo();
    let stranger = Clerk::outside(&site).get("/desk/live");
    assert_eq!((stranger.status, stranger.body.len()), (303, 0), "{stranger}");
}

/// Whether the stream ends; a chunked body ends with an empty chunk.
fn ends(stream: &mut BufReader<TcpStream>) -> bool {
    hears(stream, "0\r")
}

/// Whether the stream has not ended by now.
fn goes_on(stream: &mut BufReader<TcpStream>) -> bool {
    stream.get_ref().set_nonblocking(true).unwrap();
    let mut line = String::new();
    let ended = loop {
        line.clear();
        match stream.read_line(&mut line) {
            Ok(0) => break true,
            Ok(_) if line.starts_with("0\r") => break true,
            Ok(_) => {}
            Err(e) => break e.kind() != std::io::ErrorKind::WouldBlock,
        }
    };
    stream.get_ref().set_nonblocking(false).unwrap();
    !ended
}

#[test]
fn a_stream_ends_with_its_session_however_that_ends() {
    let site = demo();
    let (admin, desk) = (Clerk::at(&site, &site.admin()), site.desk());
    let mut other = listen(&site, &admin);
    let member = format!("/desk/members/{}", desk.id);
    let by_admin = |path: &str, fields: &[(&str, &str)]| {
        assert_eq!(admin.post(&format!("{member}/{path}"), fields).status, 303);
    };
    let ways: [&dyn Fn(&Clerk); 3] =
        [&|clerk| assert_eq!(clerk.post("/desk/sign-out", &[]).status, 303), &|_| by_admin("sessions", &[]), &|_| {
            by_admin("ban", &[("reason", "left with the till")])
        }];
    for end in ways {
        let clerk = Clerk::at(&site, &desk);
        let mut stream = listen(&site, &clerk);
        end(&clerk);
        assert!(ends(&mut stream));
        assert!(goes_on(&mut other));
    }
    site.advance(Duration::from_secs(12 * 3600));
    assert!(ends(&mut other), "an idle session ends by itself");
}

#[test]
fn a_page_of_the_same_browser_ends_the_stream_of_the_one_left_longest_ago() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    let mut pages: Vec<_> = (0..=STREAMS_PER_SESSION_MAX).map(|_| listen(&site, &clerk)).collect();
    assert!(ends(&mut pages[0]));
    assert!(pages[1..].iter_mut().all(goes_on));
}
