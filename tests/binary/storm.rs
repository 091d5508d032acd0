//! Many clients ask at random of every row of the tables, right and wrong, while `/readyz` is asked all the time and the
//! server is told to end at random moments. `TUNNELDESK_STORM_SECONDS` says for how long; `tests/storm` is the campaign.

use crate::harness::{Caller, Client, Desk, PASSWORD, Random, Server};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tunneldesk::routes::{PAGES, ROUTES, Route};

const SHORT_SECONDS: u64 = 4;
const CLIENTS: u64 = 64;
/// In the campaign, on the release build; the suite's build is slower and shares the machine.
const READY_TIME_MAX: Duration = Duration::from_secs(1);
const READY_TIME_MAX_BESIDE: Duration = Duration::from_secs(15);
const END_TIME_MAX: Duration = Duration::from_secs(20);
/// How long one server runs, at the most, until it is told to end.
const LIFE_MILLIS_MAX: u64 = 30_000;
const FIELDS: &str =
    "code=00000000&number=1&pin=000000&credential=%7B%7D&username=jane&password=wrong+one&email=x&token=x&name=x";

/// What was answered: how many of each status, and how long the slowest `/readyz` took.
#[derive(Default)]
struct Tally {
    statuses: BTreeMap<u16, u64>,
    slowest_ready: Duration,
}

/// A request of the row: by somebody who is signed in or nobody, with a body that is right or not.
fn request(random: &mut Random, route: &Route, token: &str) -> String {
    let part = |part: &str| if part.starts_with('{') { "1".to_owned() } else { part.to_owned() };
    let path = route.path.split('/').map(part).collect::<Vec<_>>().join("/");
    let good = format!(r#"{{"username": "jane", "password": "{PASSWORD}", "entry_date": 1700000000, "time": 5}}"#);
    let (kind, body) = match random.below(4) {
        0 => ("application/json", good),
        1 => ("application/json", "{}".to_owned()),
        2 => ("application/json", format!(r#"{{"username": "jane", "password": "wrong {}"}}"#, random.below(9))),
        _ => ("application/x-www-form-urlencoded", FIELDS.to_owned()),
    };
    let kind = if route.is_page() { "application/x-www-form-urlencoded" } else { kind };
    let body = if route.is_page() { FIELDS.to_owned() } else { body };
    let who = if random.below(3) == 0 { String::new() } else { format!("token: {token}\r\ncookie: desk={token}\r\n") };
    let (method, base, length) = (&route.method, route.base, body.len());
    format!(
        "{method} {base}{path} HTTP/1.1\r\nhost: localhost\r\n{who}content-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
    )
}

/// Asks until the server is told to end.
fn ask(address: SocketAddr, seed: u64, token: &str, ends: &AtomicBool, tally: &Mutex<Tally>) {
    let (mut random, mut client) = (Random::new(seed), Client::new(address));
    let rows: Vec<&Route> = ROUTES.iter().chain(PAGES).collect();
    while !ends.load(Ordering::SeqCst) {
        let route = *random.one_of(&rows).unwrap();
        let answered = client.send(request(&mut random, route, token).as_bytes());
        match answered {
            Ok(answer) => {
                let fine = answer.status < 500 || answer.status == 503;
                assert!(fine, "{} {}: {answer:?}", route.method, route.path);
                *tally.lock().unwrap().statuses.entry(answer.status).or_default() += 1;
            }
            // A picture or a PDF is no text, which the client of the tests reads alone.
            Err(e) if e.kind() == io::ErrorKind::InvalidData => {}
            Err(e) => assert!(ends.load(Ordering::SeqCst), "{} {}: {e}", route.method, route.path),
        }
    }
}

/// One server's life, until a random moment.
fn live(desk: &Desk, random: &mut Random, life: Duration, ready_time_max: Duration, tally: &Mutex<Tally>) {
    let server: Server = desk.serve_with(&[("TUNNELDESK_LIMITS_SIGN_IN_MISSES_PER_ADDRESS", "1000000")]);
    let Caller::Session(token) = server.sign_in("jane", PASSWORD) else { unreachable!() };
    let (ends, address, until) = (AtomicBool::new(false), server.address, Instant::now() + life);
    std::thread::scope(|scope| {
        let (ends, token) = (&ends, token.as_str());
        for _ in 0..CLIENTS {
            let seed = random.next();
            scope.spawn(move || ask(address, seed, token, ends, tally));
        }
        while Instant::now() < until {
            let since = Instant::now();
            let answer = server.get(&Caller::Anyone, "/readyz");
            let took = since.elapsed();
            assert!(answer.status == 200 && took < ready_time_max, "/readyz took {took:?}: {answer:?}");
            let mut tally = tally.lock().unwrap();
            tally.slowest_ready = tally.slowest_ready.max(took);
            drop(tally);
            std::thread::park_timeout(Duration::from_millis(20));
        }
        ends.store(true, Ordering::SeqCst);
        server.terminate();
    });
    let ended = server.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.log.join("\n"));
    assert!(ended.took < END_TIME_MAX, "{:?}", ended.took);
}

#[test]
fn no_storm_of_requests_keeps_the_server_from_being_ready_or_from_ending() {
    let given = std::env::var("TUNNELDESK_STORM_SECONDS").ok();
    let seconds = given.as_ref().map_or(SHORT_SECONDS, |seconds| seconds.parse().expect("a number of seconds"));
    let ready_time_max = if given.is_some() { READY_TIME_MAX } else { READY_TIME_MAX_BESIDE };
    let seed = Random::seed();
    println!("TUNNELDESK_SEED={seed}");
    let (mut random, tally, desk) = (Random::new(seed), Mutex::new(Tally::default()), Desk::with_site());
    desk.add_member("jane", "member");
    let until = Instant::now() + Duration::from_secs(seconds);
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        let life = Duration::from_millis(500 + random.below(LIFE_MILLIS_MAX)).min(left);
        live(&desk, &mut random, life, ready_time_max, &tally);
    }
    let tally = tally.into_inner().unwrap();
    println!("the slowest /readyz took {:?}; answers by status: {:?}", tally.slowest_ready, tally.statuses);
}
