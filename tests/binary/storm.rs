//! Many clients send random requests to every row of the tables, valid and invalid, while `/readyz` is polled all the
//! time and the server is stopped at random moments. `TUNNELDESK_STORM_SECONDS` sets the duration; `tests/storm` is the
//! campaign.

use crate::harness::{Answer, Caller, Client, Desk, Random, Server, text};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tunneldesk::routes::{KIOSK_PAGES, PAGES, ROUTES, Route};

const SHORT_SECONDS: u64 = 4;
const CLIENTS: u64 = 64;
/// The limit in the campaign, on the release build; the suite's build is slower and shares the machine.
const READY_TIME_MAX: Duration = Duration::from_secs(1);
const READY_TIME_MAX_BESIDE: Duration = Duration::from_secs(15);
const END_TIME_MAX: Duration = Duration::from_secs(20);
/// The longest time that one server runs before it is stopped.
const LIFE_MILLIS_MAX: u64 = 30_000;
/// The number of the demo's members. Changes target members who are not callers.
const MEMBERS: u64 = 60;
const CALLERS_MAX: u64 = 39;
/// The percentage of requests with the right key, without those refused for lack of room, that must pass
/// authentication.
const PAST_GATE_PERCENT_MIN: u64 = 25;
/// The callers of rows with authentication for which the storm has the credentials.
const KEPT: [&str; 7] = ["member", "bearer", "staff", "partner", "desk", "kiosk", "guest"];
/// Rows that would end the callers' own sessions.
const LEFT_OUT: [&str; 6] = [
    "/auth/logout",
    "/account/profile/sessions",
    "/account/profile/sessions/{session_id}",
    "/desk/sign-out",
    "/kiosk/leave",
    "/desk/kiosks/{kiosk_id}/revoke",
];
const FIELDS: &str = "code=00000000&number=50&pin=000000&credential=%7B%7D&username=jane&password=wrong+one&email=x&token=x\
    &name=x&language=de&minutes=10&time=10&tunnel=1&reason=late&comment=x&flight_date=2030-01-01";

/// A site full of people, and the credentials of each kind of caller, as header lines.
struct World {
    desk: Desk,
    member: String,
    staff: String,
    clerk: String,
    kiosk: String,
    guest: String,
    partner: Caller,
    username: String,
    password: String,
}

/// The answers to the requests of one kind of row.
#[derive(Default)]
struct Row {
    /// Answers by status.
    all: BTreeMap<u16, u64>,
    /// The requests with the right key and room for them, and those of them that passed authentication.
    with_key: u64,
    past_gate: u64,
}

/// The answers by kind of row, and the times of the slowest `/readyz` and of each stop.
#[derive(Default)]
struct Tally {
    rows: BTreeMap<&'static str, Row>,
    slowest_ready: Duration,
    ends: Vec<Duration>,
}

impl World {
    fn make() -> World {
        let desk = Desk::empty();
        desk.run(&["demo", "--members", "60", "--entries", "1500", "--data", "tunneldesk-data"]).done();
        let facts: Value = serde_json::from_slice(&std::fs::read(desk.data().join("demo.json")).unwrap()).unwrap();
        let one = |role: &str| facts["members"].as_array().unwrap().iter().find(|one| one["role"] == role).unwrap();
        let (admin, flyer) = (one("admin"), &facts["members"][0]);
        let (username, password) = (text(&flyer["username"]).to_owned(), text(&flyer["password"]).to_owned());
        let server = serve(&desk);
        let member = server.sign_in(&username, &password);
        let pin = server.post(&member, "/api/account/profile/booking-pin", &json!({})).ok();
        let pin = ["pin", "booking_pin"].iter().find_map(|name| pin[*name].as_str()).expect("a PIN").to_owned();
        let code = desk.json(&["kiosk", "pair", "Entrance"]);
        let clerk = cookie(
            &server,
            "/desk/sign-in",
            &format!("username={}&password={}", text(&admin["username"]), password),
            "",
        );
        let kiosk = cookie(&server, "/kiosk/pair", &format!("code={}", text(&code["code"])), "");
        let guest = cookie(&server, "/kiosk/number", &format!("number={}&pin={pin}", flyer["member_id"]), &kiosk);
        let Caller::Session(token) = member else { unreachable!() };
        assert_eq!(server.stop().code, Some(0));
        World {
            desk,
            member: format!("token: {token}\r\n"),
            staff: format!("token: {}\r\n", text(&facts["sync_token"])),
            clerk: format!("cookie: {clerk}\r\n"),
            guest: format!("cookie: {kiosk}; {guest}\r\n"),
            kiosk: format!("cookie: {kiosk}\r\n"),
            partner: Caller::partner(text(&facts["partner"]["client_id"]), text(&facts["partner"]["secret"])),
            username,
            password,
        }
    }

    /// The header lines that authenticate a request of a row.
    fn key(&self, route: &Route, body: &str) -> String {
        match route.caller() {
            "member" | "bearer" | "listening" => self.member.clone(),
            "staff" => self.staff.clone(),
            "desk" => self.clerk.clone(),
            "kiosk" => self.kiosk.clone(),
            "guest" => self.guest.clone(),
            "partner" => {
                let mut head = String::new();
                self.partner.sign(&mut head, body);
                head
            }
            _ => String::new(),
        }
    }

    /// A request of the row, with or without its key, with a valid or invalid body. Returns the request and whether it
    /// has the key.
    fn request(&self, random: &mut Random, route: &Route) -> (String, bool) {
        let path = path(random, route);
        let (username, password) = (&self.username, &self.password);
        let good = json!({
            "username": username, "password": password, "entry_date": 1_700_000_000, "time": 5, "tunnel": 1, "tunnel_id": 1,
            "status": "open", "member_id": 40 + random.below(20), "member_pin": "000000", "email": "x@example.com",
            "registration_id": random.below(1000), "minutes_booked": 10, "flight_date": 1_900_000_000, "limit": 50,
            "title": "x", "message": "x", "name": "x", "comment": "x", "comment_denial": "x", "params": "{}"
        });
        let (kind, body) = match random.below(4) {
            _ if route.is_page() && random.below(2) == 0 => {
                ("application/x-www-form-urlencoded", format!("username={username}&password={password}&language=fr"))
            }
            _ if route.is_page() => ("application/x-www-form-urlencoded", FIELDS.to_owned()),
            0 | 1 => ("application/json", good.to_string()),
            2 => ("application/json", "{}".to_owned()),
            _ => ("application/json", json!({"username": username, "password": random.below(9)}).to_string()),
        };
        let with_key = random.below(4) > 0;
        let mut head = if with_key { self.key(route, &body) } else { String::new() };
        if route.is_page() && random.below(8) > 0 {
            head += "origin: http://localhost\r\n";
        }
        let from_here = !route.is_page() || route.method == "GET" || head.contains("origin");
        let (method, base, length) = (&route.method, route.base, body.len());
        let request = format!(
            "{method} {base}{path} HTTP/1.1\r\nhost: localhost\r\n{head}content-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        );
        (request, with_key && from_here)
    }
}

/// The row's path, with numbers that may exist.
fn path(random: &mut Random, route: &Route) -> String {
    let beyond_callers = |random: &mut Random| CALLERS_MAX + 1 + random.below(MEMBERS - CALLERS_MAX);
    let part = |part: &str| match part {
        "{status}" => "open-suspended-not_current".to_owned(),
        // Changes by the desk target members who are not callers.
        _ if part.starts_with('{') && route.caller() == "desk" && route.method != "GET" => {
            beyond_callers(random).to_string()
        }
        "{member_id}" if route.caller() == "bearer" => "4".to_owned(),
        _ if part.starts_with('{') => (1 + random.below(MEMBERS)).to_string(),
        _ => part.to_owned(),
    };
    route.path.split('/').map(part).collect::<Vec<_>>().join("/")
}

impl Row {
    fn count(&mut self, answer: &Answer, with_key: bool) {
        *self.all.entry(answer.status).or_default() += 1;
        if with_key && ![429, 503].contains(&answer.status) {
            self.with_key += 1;
            let sent_away = ["/desk/sign-in", "/kiosk"].contains(&answer.header("location").unwrap_or_default());
            self.past_gate += u64::from(![401, 403].contains(&answer.status) && !sent_away);
        }
    }

    fn of_class(&self, class: u16) -> u64 {
        self.all.iter().filter(|(status, _)| **status / 100 == class).map(|(_, count)| count).sum()
    }
}

impl Tally {
    fn print(&self) {
        println!("{:10}{:>8}{:>8}{:>8}{:>8}{:>10}{:>11}", "row", "2xx", "3xx", "4xx", "5xx", "with key", "past gate");
        for (kind, row) in &self.rows {
            let [two, three, four, five] = [2, 3, 4, 5].map(|class| row.of_class(class));
            println!("{kind:10}{two:>8}{three:>8}{four:>8}{five:>8}{:>10}{:>11}", row.with_key, row.past_gate);
            println!("          {:?}", row.all);
        }
        println!("the slowest /readyz took {:?}; ends took {:?}", self.slowest_ready, self.ends);
    }

    fn check(&self) {
        for kind in KEPT {
            let (with_key, past) = self.rows.get(kind).map_or((0, 0), |row| (row.with_key, row.past_gate));
            assert!(
                with_key > 0 && past * 100 >= with_key * PAST_GATE_PERCENT_MIN,
                "of {with_key} requests with the key of {kind} rows {past} came past the gate"
            );
        }
    }
}

fn serve(desk: &Desk) -> Server {
    Server::start(desk.command(&["serve", "--demo", "--data", "tunneldesk-data"]))
}

/// The cookies that a form's answer sets, in addition to those that it is sent with.
fn cookie(server: &Server, path: &str, form: &str, cookies: &str) -> String {
    let request = format!(
        "POST {path} HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\ncookie: {cookies}\r\n\
         content-type: application/x-www-form-urlencoded\r\ncontent-length: {}\r\n\r\n{form}",
        form.len()
    );
    let answer = server.raw(request.as_bytes()).unwrap();
    assert_eq!(answer.status, 303, "{path}: {answer:?}");
    let set = answer.head.lines().filter_map(|line| line.split_once(": "));
    let set = set.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    let values = set.filter_map(|(_, value)| value.split(';').next()).filter(|pair| !pair.ends_with('='));
    values.collect::<Vec<_>>().join("; ")
}

/// Sends requests until the server is told to end.
fn ask(address: SocketAddr, seed: u64, world: &World, ends: &AtomicBool, tally: &Mutex<Tally>) {
    let (mut random, mut client) = (Random::new(seed), Client::new(address));
    let all = ROUTES.iter().chain(PAGES).chain(KIOSK_PAGES);
    // A live answer goes on for minutes.
    let rows: Vec<&Route> = all.filter(|route| !route.live && !LEFT_OUT.contains(&route.path)).collect();
    while !ends.load(Ordering::SeqCst) {
        let route = *random.one_of(&rows).unwrap();
        let (request, with_key) = world.request(&mut random, route);
        match client.send(request.as_bytes()) {
            Ok(answer) => {
                let fine = answer.status < 500 || answer.status == 503;
                assert!(fine, "{} {}: {answer:?}", route.method, route.path);
                tally.lock().unwrap().rows.entry(route.caller()).or_default().count(&answer, with_key);
            }
            // A picture or a PDF is not text, and this client reads only text.
            Err(e) if e.kind() == io::ErrorKind::InvalidData => {}
            Err(e) => assert!(ends.load(Ordering::SeqCst), "{} {}: {e}", route.method, route.path),
        }
    }
}

/// Runs one server until a random moment.
fn live(world: &World, random: &mut Random, life: Duration, ready_time_max: Duration, tally: &Mutex<Tally>) {
    let server = serve(&world.desk);
    let (ends, address, until) = (AtomicBool::new(false), server.address, Instant::now() + life);
    std::thread::scope(|scope| {
        let ends = &ends;
        for _ in 0..CLIENTS {
            let seed = random.next();
            scope.spawn(move || ask(address, seed, world, ends, tally));
        }
        let (mut slowest, mut wrong) = (Duration::ZERO, None);
        while Instant::now() < until && wrong.is_none() {
            let since = Instant::now();
            let answer = server.get(&Caller::Anyone, "/readyz");
            slowest = slowest.max(since.elapsed());
            wrong = Some(answer).filter(|answer| answer.status != 200 || slowest >= ready_time_max);
            std::thread::park_timeout(Duration::from_millis(20));
        }
        // The clients end before any failure is raised: a client that went on would keep this test from ending.
        ends.store(true, Ordering::SeqCst);
        server.terminate();
        assert!(wrong.is_none(), "/readyz took {slowest:?} at the most: {wrong:?}");
        let mut tally = tally.lock().unwrap();
        tally.slowest_ready = tally.slowest_ready.max(slowest);
    });
    let ended = server.ended();
    assert_eq!(ended.code, Some(0), "{}", ended.log.join("\n"));
    assert!(ended.took < END_TIME_MAX, "{:?}", ended.took);
    tally.lock().unwrap().ends.push(ended.took);
}

#[test]
fn no_storm_of_requests_keeps_the_server_from_being_ready_or_from_ending() {
    let given = std::env::var("TUNNELDESK_STORM_SECONDS").ok();
    let seconds = given.as_ref().map_or(SHORT_SECONDS, |seconds| seconds.parse().expect("a number of seconds"));
    let ready_time_max = if given.is_some() { READY_TIME_MAX } else { READY_TIME_MAX_BESIDE };
    let seed = Random::seed();
    println!("TUNNELDESK_SEED={seed}");
    let (mut random, tally, world) = (Random::new(seed), Mutex::new(Tally::default()), World::make());
    let until = Instant::now() + Duration::from_secs(seconds);
    while let Some(left) = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        let life = Duration::from_millis(500 + random.below(LIFE_MILLIS_MAX)).min(left);
        live(&world, &mut random, life, ready_time_max, &tally);
    }
    let tally = tally.into_inner().unwrap();
    tally.print();
    tally.check();
}
