//! The streams of the pages: who may open which, what they say, how many there are, and how they end.

use super::kiosk::{code_on, enter, paired};
use super::{Clerk, book, day, demo};
use crate::harness::{Caller, Site};
use crate::member::own_pages;
use serde_json::json;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;
use tunneldesk::http::failure::Failure;

/// Far longer than an event takes, so that a busy machine does not fail the test.
const HEARS_WITHIN: Duration = Duration::from_secs(30);

const STREAMS_PER_SESSION_MAX: usize = 32;
const STREAMS_PER_SCREEN_MAX: usize = 3;

/// A browser that was paired as a board.
fn a_board(site: &Site) -> Clerk {
    let page = Clerk::at(site, &site.desk()).post("/desk/kiosks", &[("name", "Hall"), ("kind", "board")]).page();
    let board = Clerk::outside(site);
    assert_eq!(board.post("/board/pair", &[("code", &code_on(&page))]).status, 303);
    board
}

fn listen(site: &Site, clerk: &Clerk) -> BufReader<TcpStream> {
    listen_at(site, clerk, "/desk/live")
}

/// The stream of an open page, after its head.
fn listen_at(site: &Site, who: &Clerk, path: &str) -> BufReader<TcpStream> {
    let mut socket = TcpStream::connect(site.address()).unwrap();
    socket.set_read_timeout(Some(HEARS_WITHIN)).unwrap();
    let head = format!("GET {path} HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\n\r\n", site.address(), who.line());
    socket.write_all(head.as_bytes()).unwrap();
    let mut stream = BufReader::new(socket);
    assert!(hears(&mut stream, "HTTP/1.1 200"), "{path} listens");
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
fn a_stream_opens_for_the_cookie_of_its_own_page_alone() {
    let site = demo();
    let jane = site.flyer("jane");
    let (kiosk, own) = (paired(&site), own_pages(&site, &jane));
    let empty = kiosk.get("/kiosk/live");
    assert_eq!((empty.status, empty.header("location")), (303, Some("/kiosk")), "nobody is signed in there");
    enter(&site, &kiosk, &jane);
    let all = [
        ("/desk/live", Clerk::at(&site, &site.desk())),
        ("/board/live", a_board(&site)),
        ("/kiosk/live", kiosk),
        ("/me/live", own),
    ];
    for (path, own) in &all {
        drop(listen_at(&site, own, path));
        for (_, other) in all.iter().filter(|(other, _)| other != path) {
            let refused = other.get(path);
            assert_eq!((refused.status, refused.body.len()), (303, 0), "{path}: {refused}");
        }
    }
}

/// What a stream says until it ends with the server, without the lengths of its chunks.
fn said(mut stream: BufReader<TcpStream>) -> Vec<String> {
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let is_length = |line: &str| !line.is_empty() && line.chars().all(|c| c.is_ascii_hexdigit());
    text.lines().map(str::trim_end).filter(|line| !line.is_empty() && !is_length(line)).map(str::to_owned).collect()
}

#[test]
fn an_open_page_hears_that_something_changed_and_never_what() {
    let site = demo();
    let (jane, mark) = (site.flyer("jane"), site.flyer("mark"));
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    let (desk, board) = (Clerk::at(&site, &site.desk()), a_board(&site));
    let hall = [listen(&site, &desk), listen_at(&site, &board, "/board/live")];
    let [own, other] = [&jane, &mark].map(|one| listen_at(&site, &own_pages(&site, one), "/me/live"));
    let mut of_jane = [own, listen_at(&site, &kiosk, "/kiosk/live")];
    let mut of_mark = other;
    // What is about another member reaches neither the kiosk nor the own pages.
    fly(&site, &mark);
    assert!(hears(&mut of_mark, "event: changed"));
    of_jane.iter_mut().for_each(|stream| assert!(is_silent(stream), "told of another"));
    assert_eq!(desk.post(&format!("/desk/bookings/{}/cancel", book(&site, &jane, 600)), &[]).status, 303);
    fly(&site, &jane);
    of_jane.iter_mut().for_each(|stream| assert!(hears(stream, "event: changed")));
    drop(site);
    for stream in hall.into_iter().chain(of_jane).chain([of_mark]) {
        let said = said(stream);
        assert!(said.iter().all(|line| ["event: changed", "data:", ":"].contains(&&**line)), "{said:?}");
    }
}

fn fly(site: &Site, member: &Caller) {
    let body = json!({ "entry_date": site.now(), "tunnel": "7", "comment": "", "time": 12 });
    member.post("/account/logbook/time/", body).ok();
}

/// Whether nothing has come by now, and within the time that an event needs.
fn is_silent(stream: &mut BufReader<TcpStream>) -> bool {
    std::thread::sleep(Duration::from_millis(300));
    stream.get_ref().set_nonblocking(true).unwrap();
    let mut line = String::new();
    let mut silent = true;
    // The end of the first event is still to be read.
    while stream.read_line(&mut line).is_ok_and(|read| read > 0) {
        silent &= !line.contains("changed");
        line.clear();
    }
    stream.get_ref().set_nonblocking(false).unwrap();
    silent
}

#[test]
fn a_guests_stream_ends_with_the_visit_and_a_boards_with_its_key() {
    let site = demo();
    let (jane, desk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let (kiosk, board) = (paired(&site), a_board(&site));
    let (mark, admin) = (site.flyer("mark"), Clerk::at(&site, &site.admin()));
    let ban = format!("/desk/members/{}/ban", jane.id);
    let ways: [(&Caller, &dyn Fn()); 4] = [
        (&jane, &|| assert_eq!(kiosk.post("/kiosk/leave", &[]).status, 303)),
        (&jane, &|| site.advance(Duration::from_secs(80))),
        (&jane, &|| assert_eq!(admin.post(&ban, &[("reason", "left with the helmet")]).status, 303)),
        (&mark, &|| assert_eq!(desk.post("/desk/kiosks/1/revoke", &[]).status, 303)),
    ];
    let mut of_board = listen_at(&site, &board, "/board/live");
    for (guest, end) in ways {
        enter(&site, &kiosk, guest);
        let mut stream = listen_at(&site, &kiosk, "/kiosk/live");
        end();
        assert!(ends(&mut stream));
        assert!(goes_on(&mut of_board));
    }
    assert_eq!(desk.post("/desk/kiosks/2/revoke", &[]).status, 303);
    assert!(ends(&mut of_board));
}

#[test]
fn one_stream_too_many_of_a_screen_ends_its_oldest() {
    let site = demo();
    let board = a_board(&site);
    let mut all: Vec<_> = (0..=STREAMS_PER_SCREEN_MAX).map(|_| listen_at(&site, &board, "/board/live")).collect();
    assert!(ends(&mut all[0]));
    assert!(all[1..].iter_mut().all(goes_on));
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
