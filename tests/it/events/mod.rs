//! Events: who hears which, by stream and as JSON; resumed without a gap; with their limits and their end.

mod stream;

use crate::harness::{Caller, Reply, Site};
use crate::logbook::skills::{SKILLS, learner_and_instructor, wish};
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use stream::Stream;
use tunneldesk::jobs;

const TIME: &str = "/account/logbook/time/";
const BOOKINGS: &str = "/external/partner-metrics/bookings";
const PER_SESSION: usize = 32;
const PER_PARTNER: usize = 3;

/// The events as JSON.
fn ask(caller: &Caller, query: &str) -> Reply {
    caller.ask(Method::GET, &format!("/events{query}")).header("accept", "application/json").send()
}

fn list(caller: &Caller, query: &str) -> Vec<Value> {
    ask(caller, query).ok().json().as_array().unwrap().clone()
}

fn types(caller: &Caller, query: &str) -> Vec<String> {
    list(caller, query).iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

fn seq(reply: &Reply) -> i64 {
    reply.headers["x-event-seq"].to_str().unwrap().parse().unwrap()
}

fn fly(now: i64, member: &Caller, minutes: i64) -> i64 {
    let body = json!({ "entry_date": now, "tunnel": "7", "comment": "a word of mine", "time": minutes });
    member.post(TIME, body).ok().json()["entry_id"].as_i64().unwrap()
}

fn book(site: &Site, partner: &Caller, member: &Caller, registration: i64) -> i64 {
    let body = json!({
        "member_id": member.id, "member_pin": site.pin(member), "registration_id": registration,
        "flight_date": site.now() + 3600, "minutes_booked": 12, "tunnel_id": Site::TUNNEL_ID,
    });
    let made = partner.post("/external/partner-metrics/op/generate-token", body).ok().json();
    made["booking"]["booking_id"].as_i64().expect("the booking was taken")
}

#[test]
fn everybody_hears_of_the_own_the_staff_of_all_and_a_partner_of_its_bookings() {
    let site = Site::open();
    let (jane, mark, desk) = (site.flyer("jane"), site.flyer("mark"), site.desk());
    let (partner, rival) = (site.partner(), site.partner());
    let booking_id = book(&site, &partner, &jane, 41);
    let entry_id = fly(site.now(), &mark, 12);
    partner.delete(&format!("{BOOKINGS}/41")).ok();
    let of_jane = types(&jane, "?after=0");
    for wanted in
        ["booking.recorded", "time.created", "token.issued", "notice.created", "booking.cancelled", "time.deleted"]
    {
        assert!(of_jane.contains(&wanted.to_owned()), "{wanted}: {of_jane:?}");
    }
    assert_eq!(types(&mark, "?after=0"), ["time.created"]);
    let [flown] = &list(&mark, "?after=0")[..] else { panic!("one event") };
    let site_id = site.inside().site_id.clone();
    assert!(flown["id"].as_str().unwrap().starts_with(&format!("{site_id}-")), "{flown}");
    let data =
        json!({ "member_id": mark.id, "entry_id": entry_id, "entry_date": site.now(), "minutes": 12, "tunnel_id": 7 });
    assert_eq!(
        (&flown["data"], &flown["at"]),
        (&data, &json!(site.now())),
        "numbers and the changed row, no word of anybody's"
    );
    assert_eq!(types(&partner, "?after=0"), ["booking.recorded", "booking.cancelled"]);
    let cancelled = list(&partner, "?after=0&types=booking.cancelled").remove(0);
    assert_eq!(
        (&cancelled["data"]["booking_id"], &cancelled["data"]["registration_id"]),
        (&json!(booking_id), &json!(41))
    );
    assert_eq!(cancelled["data"]["ended"], "cancelled");
    assert!(list(&rival, "?after=0").is_empty());
    let all = list(&desk, "?after=0&limit=500");
    let about = |member: &Caller| all.iter().filter(|event| event["data"]["member_id"] == member.id).count();
    assert_eq!((about(&jane), about(&mark)), (of_jane.len(), 1));
    assert_eq!(types(&desk, "?after=0&types=booking.*"), ["booking.recorded", "booking.cancelled"]);
    // A partner signs the whole request: without that it is nobody, or refused.
    let path = "/api/events";
    for (header, value) in [("client-id", partner.client_id().to_owned()), ("x-timestamp", site.now().to_string())] {
        let stranger = site.stranger();
        let asked = stranger.ask_at_root(Method::GET, path).header(header, &value);
        asked.header("accept", "application/json").send().refused(401);
    }
}

#[test]
fn history_and_events_are_the_same_rows_and_history_has_no_gap() {
    let site = Site::open();
    let (jane, desk, partner) = (site.flyer("jane"), site.desk(), site.partner());
    for registration in 1..=3 {
        book(&site, &partner, &jane, registration);
        fly(site.now(), &jane, registration);
    }
    partner.delete(&format!("{BOOKINGS}/2")).ok();
    let report = desk.post("/admin/reports/external/partner-metrics/history", json!({ "after": 0, "limit": 500 }));
    let rows = report.ok().json()["data"].as_array().unwrap().clone();
    let numbers: Vec<i64> = rows.iter().map(|row| row["seq"].as_i64().unwrap()).collect();
    assert_eq!(numbers, (1..=numbers.len() as i64).collect::<Vec<_>>());
    let told = list(&desk, "?after=0&limit=500&types=booking.*,token.*,user.*");
    assert_eq!(told.len(), rows.len());
    for (event, row) in told.iter().zip(&rows) {
        assert_eq!((&event["type"], &event["at"]), (&row["event"], &row["at"]));
        for (field, value) in row["detail"].as_object().unwrap() {
            assert_eq!(&event["data"][field], value, "{field}");
        }
    }
}

#[test]
fn a_signer_hears_of_requests_to_sign_and_of_their_end() {
    let site = Site::open();
    let (jane, ines) = learner_and_instructor(&site);
    let ask_of = |body: Value| jane.post(SKILLS, body).ok().json()["entry_id"].as_i64().unwrap();
    let entry = ask_of(wish(&site, "10101", &ines));
    let put = |who: &Caller, body: Value| _ = who.put(&format!("{SKILLS}{entry}"), body).ok();
    put(&ines, json!({ "comment_denial": "Knees first." }));
    put(&jane, json!({ "comment": "once more" }));
    put(&ines, json!({ "comments_instructor": "Clean." }));
    let other = ask_of(wish(&site, "10102", &ines));
    jane.delete(&format!("/account/logbook/{other}")).ok();
    let wanted =
        ["entry.requested", "entry.denied", "entry.requested", "entry.signed", "entry.requested", "entry.withdrawn"];
    assert_eq!(types(&ines, "?after=0&types=entry.*"), wanted);
    assert_eq!(types(&jane, "?after=0&types=entry.*"), wanted);
    let events = list(&ines, "?after=0&types=entry.*");
    let states: Vec<&Value> = events[..4].iter().map(|event| &event["data"]["status"]).collect();
    assert_eq!(states, ["pending", "denied", "pending", "open"]);
    for word in ["Knees", "Clean", "once more", "jane", "ines"] {
        assert!(!Value::from(events.clone()).to_string().contains(word), "{word} is said");
    }
}

#[test]
fn a_stream_says_hello_and_goes_on_live_and_begins_with_what_happens_from_now_on() {
    let site = Site::open();
    let jane = site.flyer("jane");
    fly(site.now(), &jane, 1);
    let mut stream = Stream::open(&site, &jane, "", None);
    let hello = stream.next().unwrap();
    assert_eq!((&*hello.name, hello.data["site_id"].as_str().unwrap()), ("hello", &*site.inside().site_id));
    assert_eq!((hello.id, &hello.data["oldest"]), (hello.data["seq"].as_i64(), &json!(1)));
    let entry_id = fly(site.now(), &jane, 2);
    fly(site.now(), &site.flyer("mark"), 3);
    let heard = stream.next().unwrap();
    assert_eq!((&heard.data["type"], &heard.data["data"]["entry_id"]), (&json!("time.created"), &json!(entry_id)));
    assert!(heard.id > hello.id);
    jane.delete(&format!("/account/logbook/{entry_id}")).ok();
    assert_eq!(stream.hears(), "time.deleted");
    // Resumed, it has nothing twice and misses nothing.
    let mut resumed = Stream::open(&site, &jane, "?after=0", heard.id);
    assert_eq!((resumed.hears().as_str(), resumed.hears().as_str()), ("hello", "time.deleted"));
    drop(site);
    assert!(stream.next().is_none() && resumed.next().is_none(), "a stream ends with the server");
}

/// Cuts the client at random (`IT_CUTS` times) while events happen.
#[test]
fn a_client_that_is_cut_hears_each_event_once_in_order() {
    let cuts: usize = std::env::var("IT_CUTS").ok().and_then(|cuts| cuts.parse().ok()).unwrap_or(60);
    let site = Site::open();
    let (jane, mark, desk) = (site.flyer("jane"), site.flyer("mark"), site.desk());
    let (mut last, mut heard) = (None, Vec::new());
    let mut dice = 1_u64;
    let (now, wanted) = (site.now(), (cuts * 3) as i64);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            for minutes in 1..=wanted {
                fly(now, if minutes % 2 == 0 { &jane } else { &mark }, 1 + minutes % 500);
            }
        });
        for cut in 0.. {
            let query = if last.is_none() { "?after=0&types=time.*" } else { "?types=time.*" };
            let mut stream = Stream::open(&site, &desk, query, last);
            assert_eq!(stream.hears(), "hello");
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let left = wanted as usize - heard.len();
            // The last cuts wait for the writer; none reads more than there will be.
            let reads = if cut >= cuts { left } else { left.min((dice >> 33) as usize % 7) };
            for _ in 0..reads {
                let sent = stream.next().expect("the stream goes on");
                last = sent.id;
                heard.push(sent.data["data"]["entry_id"].as_i64().unwrap());
            }
            if heard.len() == wanted as usize {
                break;
            }
        }
        writer.join().unwrap();
    });
    let made = site.change(|tx| {
        Ok(tx.list::<i64>("SELECT data ->> 'entry_id' FROM events WHERE type = 'time.created' ORDER BY seq", [])?)
    });
    assert_eq!(heard, made, "each once, in order");
}

#[test]
fn an_answer_waits_for_the_next_event_and_comes_empty_without_one() {
    let site = Site::open();
    let (jane, mark) = (site.flyer("jane"), site.flyer("mark"));
    let now = seq(&ask(&jane, "").ok());
    assert!(list(&jane, &format!("?after={now}&wait=1")).is_empty());
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| {
            let reply = jane.get(&format!("/events?after={now}&wait=50&types=time.*")).ok();
            (reply.json(), seq(&reply))
        });
        fly(site.now(), &mark, 1);
        let entry_id = fly(site.now(), &jane, 2);
        let (events, next) = waiting.join().unwrap();
        assert_eq!((&events[0]["data"]["entry_id"], events.as_array().unwrap().len()), (&json!(entry_id), 1));
        assert!(list(&jane, &format!("?after={next}&types=time.*")).is_empty());
    });
    for (query, field) in [
        ("?after=x", "after"),
        ("?limit=501", "limit"),
        ("?wait=56", "wait"),
        ("?types=foo", "types"),
        ("?types=foo.*", "types"),
    ] {
        let refused = ask(&jane, query).refused(422).json();
        assert_eq!(refused["errors"][0]["field"], field, "{query}: {refused}");
    }
    let refused = ask(&jane, "?types=booking.moved,foo").refused(422).json();
    let said = refused["errors"][0]["message"].as_str().unwrap();
    assert!(
        said.starts_with("foo is no type of event") && said.contains("booking.cancelled, booking.no_show"),
        "{said}"
    );
}

#[test]
fn a_client_that_left_gives_its_place_back_though_nothing_happens() {
    let site = Site::open();
    let partner = site.partner();
    for query in ["", "?wait=50"] {
        let places: Vec<Stream> = (0..PER_PARTNER).map(|_| Stream::begin(&site, &partner, query, None)).collect();
        while Stream::status(&site, &partner, "") != 429 {
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(places);
        let left = Instant::now();
        while Stream::status(&site, &partner, "") == 429 {
            assert!(left.elapsed() < Duration::from_secs(10), "{query}: the places are taken still");
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

#[test]
fn who_has_a_gap_is_told_and_history_has_none() {
    let site = Site::open();
    let (jane, partner) = (site.flyer("jane"), site.partner());
    book(&site, &partner, &jane, 1);
    let known = seq(&ask(&jane, "").ok());
    fly(site.now(), &jane, 1);
    site.advance(Duration::from_secs(31 * 86_400));
    jobs::purge_all_expired(site.inside()).unwrap();
    let (jane, desk) = (site.again(&jane), site.desk());
    let gone = ask(&jane, &format!("?after={known}"));
    assert_eq!((gone.status, gone.json()["code"].as_str()), (410, Some("events_gone")), "{gone}");
    assert!(list(&jane, &format!("?after={}", seq(&gone))).is_empty());
    let ahead = ask(&jane, "?after=1000000");
    assert_eq!(ahead.status, 410, "of a site that was put back");
    let mut stream = Stream::open(&site, &jane, &format!("?after={known}"), None);
    assert_eq!((stream.hears().as_str(), stream.hears().as_str()), ("hello", "reset"));
    let mut strange = Stream::open(&site, &jane, "", Some(-1));
    assert_eq!((strange.hears().as_str(), strange.hears().as_str()), ("hello", "reset"), "a number that no site gives");
    fly(site.now(), &jane, 2);
    assert_eq!(stream.hears(), "time.created");
    let history = "/admin/reports/external/partner-metrics/history";
    let rows = desk.post(history, json!({ "after": 0 })).ok().json()["data"].as_array().unwrap().len();
    assert_eq!(rows, 2, "the booking and its token");
}

#[test]
fn a_ticket_opens_one_stream_within_its_minute_and_dies_with_its_session() {
    let site = Site::open();
    let (jane, stranger) = (site.flyer("jane"), site.stranger());
    let ticket = || {
        let reply = jane.post("/events/ticket", json!({})).ok().json();
        assert_eq!(reply["ends_at"], site.now() + 60);
        format!("?ticket={}", reply["ticket"].as_str().unwrap())
    };
    let first = ticket();
    let mut stream = Stream::open(&site, &stranger, &first, None);
    assert_eq!(stream.hears(), "hello");
    assert_eq!(Stream::status(&site, &stranger, &first), 401, "a second time");
    let late = ticket();
    site.advance(Duration::from_secs(60));
    assert_eq!(Stream::status(&site, &stranger, &late), 401, "too late");
    let kept = ticket();
    assert_eq!(Stream::status(&site, &stranger, &format!("{kept}&types=foo")), 422);
    let full: Vec<Stream> = (1..PER_SESSION).map(|_| Stream::open(&site, &jane, "", None)).collect();
    assert_eq!(Stream::status(&site, &stranger, &kept), 429);
    drop(full);
    let opened = Instant::now();
    while Stream::status(&site, &stranger, &kept) == 429 {
        assert!(opened.elapsed() < Duration::from_secs(10), "a refused request has used the ticket up");
    }
    assert_eq!(Stream::status(&site, &stranger, &kept), 401, "used");
    assert_eq!(Stream::status(&site, &stranger, "?ticket=x"), 401);
    assert_eq!(Stream::status(&site, &stranger, ""), 401);
    fly(site.now(), &jane, 1);
    assert_eq!(stream.hears(), "time.created");
    let dead = ticket();
    jane.ask(Method::POST, "/auth/logout").send().ok();
    assert_eq!(Stream::status(&site, &stranger, &dead), 401, "after the end of its session");
    assert!(stream.next().is_none(), "a stream ends with its session");
}

#[test]
fn a_client_that_refuses_the_stream_gets_json() {
    let site = Site::open();
    let jane = site.flyer("jane");
    for accept in ["text/event-stream;q=0, application/json", "application/json, text/event-stream;q=0.5"] {
        let reply = jane.ask(Method::GET, "/events").header("accept", accept).send().ok();
        assert_eq!(reply.header("content-type"), Some("application/json"), "{accept}");
    }
}

#[test]
fn a_repeated_request_gets_the_same_ticket_until_it_is_used() {
    let site = Site::open();
    let (jane, mark, stranger) = (site.flyer("jane"), site.flyer("mark"), site.stranger());
    let ask = |caller: &Caller, key: &str, body| {
        caller.ask(Method::POST, "/events/ticket").header("idempotency-key", key).json(&body).send()
    };
    let ticket = |caller: &Caller, key: &str| ask(caller, key, json!({})).ok().json()["ticket"].clone();
    let first = ticket(&jane, "once");
    site.advance(Duration::from_secs(20));
    let again = ask(&jane, "once", json!({})).ok().json();
    assert_eq!((&again["ticket"], &again["seconds"]), (&first, &json!(40)), "the same, with what is left of its time");
    assert_eq!(ask(&jane, "once", json!({ "a": 1 })).refused(422).bad_fields(), ["Idempotency-Key"]);
    for other in [ticket(&jane, "another"), ticket(&mark, "once")] {
        assert_ne!(other, first, "another key, or another's");
    }
    let query = format!("?ticket={}", first.as_str().unwrap());
    let _stream = Stream::open(&site, &stranger, &query, None);
    let second = ticket(&jane, "once");
    assert_ne!(second, first, "a used ticket is worth nothing");
    assert_eq!(ticket(&jane, "once"), second);
    site.advance(Duration::from_secs(60));
    assert_ne!(ticket(&jane, "once"), second, "nor is one that has ended");
}

#[test]
fn a_stream_too_many_is_refused_and_a_partner_s_ends_with_its_access() {
    let site = Site::open();
    let (jane, partner) = (site.flyer("jane"), site.partner());
    let open = |caller: &Caller, share: usize| -> Vec<Stream> {
        let streams = (0..share).map(|_| {
            let mut stream = Stream::open(&site, caller, "", None);
            assert_eq!(stream.hears(), "hello");
            stream
        });
        streams.collect()
    };
    let of_jane = open(&jane, PER_SESSION);
    assert_eq!(Stream::status(&site, &jane, ""), 429);
    ask(&jane, "?wait=1").refused(429);
    drop(of_jane);
    let mut of_partner = open(&partner, PER_PARTNER);
    assert_eq!(Stream::status(&site, &partner, ""), 429);
    site.change(|tx| Ok(tx.run("UPDATE partners SET revoked_at = ?1", [tx.now()])?));
    assert!(of_partner.iter_mut().all(|stream| stream.next().is_none()));
}

#[test]
fn a_secret_that_was_rotated_out_hears_no_more() {
    let site = Site::open();
    let partner = site.partner();
    let mut stream = Stream::open(&site, &partner, "", None);
    assert_eq!(stream.hears(), "hello");
    site.change(|tx| Ok(tx.run("UPDATE partner_secrets SET ends_at = ?1", [tx.now()])?));
    assert!(stream.next().is_none());
}

#[test]
fn an_address_that_was_taken_from_the_list_hears_no_more() {
    let site = Site::open();
    let (partner, rival) = (site.partner_with(false, &["127.0.0.0/8"], None), site.partner());
    let mut streams = [&partner, &rival].map(|caller| Stream::open(&site, caller, "", None));
    assert!(streams.iter_mut().all(|stream| stream.hears() == "hello"));
    let only = |network: &str| site.change(|tx| Ok(tx.run("UPDATE partner_networks SET network = ?1", [network])?));
    only("127.0.0.1/32");
    book(&site, &partner, &site.flyer("jane"), 41);
    assert_eq!(streams[0].hears(), "booking.recorded", "its address is on the list still");
    only("10.0.0.0/8");
    assert!(streams[0].next().is_none());
    book(&site, &rival, &site.flyer("mark"), 42);
    assert_eq!(streams[1].hears(), "booking.recorded", "another partner's goes on");
}

#[test]
fn every_type_is_described() {
    let description = site_description();
    let types: BTreeSet<&str> = tunneldesk::store::tables::events::TYPES.iter().copied().collect();
    assert!(types.iter().all(|name| description.contains(name)), "{types:?}");
}

fn site_description() -> String {
    let site = Site::open();
    site.stranger().get("/openapi.json").ok().json().to_string()
}
