//! The measured site: 10,000 members and their logbooks, 64 of them signed in, and a partner with a record.

use crate::clerk::Clerk;
use crate::generator::{CONNECTIONS, Load};
use crate::server::{self, Server};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::Path;
use tunneldesk::keys::{hex, hmac_sha256};

pub const MEMBERS: &str = "10000";
pub const ENTRIES: &str = "100000";
/// The number of members before those who sign in, from the middle of the list, so that they have flown.
const MEMBERS_SKIPPED: &str = "5000";
/// A moment after the birth of every member, at which each may have flown.
pub const FLOWN_AT: i64 = 1_750_000_000;

/// The measured requests, ready to be sent.
pub struct Requests {
    pub constant: Load,
    pub profile: Load,
    pub time: Load,
    pub record: Load,
    /// Bookings by a partner's `generate-token`, one registration each.
    pub booking: Load,
    /// The desk's page of today.
    pub desk: Load,
    pub login: Load,
    /// Wrong passwords for known and unknown names, from one address.
    pub guesses: Load,
    /// Wrong passwords from more addresses than the counters can delay.
    pub guesses_from_everywhere: Load,
}

/// The number of registrations. After these, each is sent again, which is the same booking with a new token.
const BOOKINGS: usize = 20_000;
/// More than the guesses of a whole run.
const GUESSES: usize = 20_000;

/// A signed-in person with a known password.
pub struct Guest {
    pub member_id: i64,
    pub username: String,
    password: String,
    pub token: String,
}

/// Fills an empty directory with a site, and prepares the requests and the admin at the desk. No server runs
/// afterwards.
pub fn prepare(dir: &Path) -> Result<(Requests, Clerk), String> {
    server::command(dir, &["demo", "--members", MEMBERS, "--entries", ENTRIES])?;
    let server = Server::product(dir)?;
    let guests = guests(dir, server.address, MEMBERS_SKIPPED, CONNECTIONS)?;
    let partner = Partner::add(dir)?;
    let (record_path, signature) = record(&partner, server.address)?;
    let mut clerk = Clerk::sign_in(server.address)?;
    let bookings = bookings(&partner, &mut clerk, &guests, server.address)?;
    server.stop()?;
    let each = |request: &dyn Fn(&Guest) -> Vec<u8>| guests.iter().map(request).collect::<Vec<_>>();
    let requests = Requests {
        constant: Load { requests: vec![request("GET", "/", "", None)], statuses: &[200] },
        profile: Load {
            requests: each(&|g| request("GET", "/api/account/profile/user", &bearer(g), None)),
            statuses: &[200],
        },
        time: Load {
            requests: each(&|g| request("POST", "/api/account/logbook/time/", &bearer(g), Some(&flight()))),
            statuses: &[201],
        },
        record: Load {
            requests: vec![request("GET", &record_path, &format!("token: {signature}\r\n"), None)],
            statuses: &[200],
        },
        booking: Load { requests: bookings, statuses: &[200] },
        desk: Load { requests: vec![request("GET", "/desk", &clerk.head(), None)], statuses: &[200] },
        login: Load {
            requests: each(&|g| request("POST", "/api/auth/login", "", Some(&credentials(g)))),
            statuses: &[200],
        },
        guesses: Load { requests: (0..GUESSES).map(|n| guess(&guests, n, "")).collect(), statuses: GUESSED },
        guesses_from_everywhere: Load {
            requests: (0..GUESSES).map(|n| guess(&guests, n, &forwarded(n))).collect(),
            statuses: GUESSED,
        },
    };
    Ok((requests, clerk))
}

/// `count` members after the first `skipped`, with new passwords, signed in.
pub fn guests(dir: &Path, address: SocketAddr, skipped: &str, count: usize) -> Result<Vec<Guest>, String> {
    let spare = (2 * count).to_string();
    let listed = server::command(dir, &["member", "list", "--role", "member", "--limit", &spare, "--offset", skipped])?;
    let mut guests = Vec::new();
    for member in listed.as_array().into_iter().flatten().filter(|member| member["banned_at"].is_null()).take(count) {
        let username = text(member, "username")?;
        let reset = server::command(dir, &["member", "reset-password", username])?;
        // The limit for the logbook of an unconfirmed member would be reached before a run ends.
        server::command(dir, &["member", "confirm", username])?;
        let mut guest = Guest {
            member_id: member["member_id"].as_i64().ok_or_else(|| format!("no member_id in {member}"))?,
            username: text(&reset, "username")?.to_owned(),
            password: text(&reset, "password")?.to_owned(),
            token: String::new(),
        };
        guest.token = text(&post(address, "/api/auth/login", &[], &credentials(&guest))?, "token")?.to_owned();
        guests.push(guest);
    }
    if guests.len() == count { Ok(guests) } else { Err(format!("the site has {} members to sign in", guests.len())) }
}

/// A partner's record: the path that reads it, and the signature of a request without a body.
pub fn partner_record(dir: &Path, address: SocketAddr) -> Result<(String, String), String> {
    record(&Partner::add(dir)?, address)
}

/// A partner without a rate limit.
struct Partner {
    client_id: String,
    secret: String,
}

impl Partner {
    fn add(dir: &Path) -> Result<Partner, String> {
        let added = server::command(dir, &["partner", "add", "Load", "--requests-per-minute", "0"])?;
        let field = |name: &str| text(&added, name).map(str::to_owned);
        Ok(Partner { client_id: field("client_id")?, secret: field("secret")? })
    }

    fn sign(&self, body: &str) -> String {
        hex(&hmac_sha256(self.secret.as_bytes(), &[body.as_bytes()]))
    }

    /// The headers that name the partner and sign the body.
    fn headers(&self, body: &str) -> [(&'static str, String); 2] {
        [("client-id", self.client_id.clone()), ("token", self.sign(body))]
    }
}

fn record(partner: &Partner, address: SocketAddr) -> Result<(String, String), String> {
    let body = json!({ "email": "load@example.com" }).to_string();
    let made = post(address, "/api/external/partner-metrics/op", &partner.headers(&body), &body)?;
    Ok((format!("/api/external/partner-metrics/op/{}", made["id"]), partner.sign("")))
}

/// Bookings of members who may book, each with a registration and an hour of its own.
fn bookings(
    partner: &Partner,
    clerk: &mut Clerk,
    guests: &[Guest],
    address: SocketAddr,
) -> Result<Vec<Vec<u8>>, String> {
    const PATH: &str = "/api/external/partner-metrics/op/generate-token";
    const REGISTRATIONS_FROM: usize = 800_000_000;
    let now = jiff::Timestamp::now().as_second();
    let body = |(member_id, pin): &(i64, String), number: usize, hour: i64| {
        json!({
            "member_id": member_id, "member_pin": pin, "registration_id": REGISTRATIONS_FROM + number, "tunnel_id": 1,
            "flight_date": now + 3600 * hour, "minutes_booked": 10
        })
        .to_string()
    };
    let mut bookers = Vec::new();
    for (number, guest) in guests.iter().enumerate() {
        let booker = (guest.member_id, clerk.reset_pin(guest.member_id)?);
        let body = body(&booker, number, 1);
        if post(address, PATH, &partner.headers(&body), &body)?["status"] == true {
            bookers.push(booker);
        }
    }
    let count = bookers.len();
    if count == 0 {
        return Err("nobody may book".to_owned());
    }
    let bookings = (0..BOOKINGS).map(|number| {
        let body = body(&bookers[number % count], guests.len() + number, 2 + (number / count) as i64);
        let headers = partner.headers(&body).map(|(name, value)| format!("{name}: {value}\r\n")).concat();
        request("POST", PATH, &headers, Some(&body))
    });
    Ok(bookings.collect())
}

pub fn text<'v>(value: &'v Value, name: &str) -> Result<&'v str, String> {
    value[name].as_str().filter(|text| !text.is_empty()).ok_or_else(|| format!("no {name} in {value}"))
}

pub fn post(address: SocketAddr, path: &str, headers: &[(&str, String)], body: &str) -> Result<Value, String> {
    let mut request = ureq::post(format!("http://{address}{path}")).content_type("application/json");
    for (name, value) in headers {
        request = request.header(*name, value);
    }
    let answer = request.send(body).and_then(|mut answer| answer.body_mut().read_json());
    answer.map_err(|e| format!("POST {path}: {e}"))
}

fn flight() -> String {
    json!({ "entry_date": FLOWN_AT, "time": "30", "tunnel": "1", "status": "open", "comment": "Thirty minutes, measured" }).to_string()
}

fn credentials(guest: &Guest) -> String {
    json!({ "username": guest.username, "password": guest.password }).to_string()
}

/// The answers to a guess: that the password is wrong, or that one has to wait.
const GUESSED: &[u16] = &[200, 429];

/// A wrong password: every second one for a signed-in person, the others for unknown names.
fn guess(guests: &[Guest], number: usize, headers: &str) -> Vec<u8> {
    let username = if number.is_multiple_of(2) {
        guests[number / 2 % guests.len()].username.clone()
    } else {
        format!("somebody{number}")
    };
    let body = json!({ "username": username, "password": format!("wet hair, dry socks {number}") }).to_string();
    request("POST", "/api/auth/login", headers, Some(&body))
}

/// The header of a trusted proxy that names the client's address.
fn forwarded(number: usize) -> String {
    format!("x-forwarded-for: 10.{}.{}.{}\r\n", number >> 16, number >> 8 & 255, number & 255)
}

pub fn bearer(guest: &Guest) -> String {
    format!("authorization: Bearer {}\r\n", guest.token)
}

pub fn request(method: &str, path: &str, headers: &str, body: Option<&str>) -> Vec<u8> {
    let body = body.map_or("\r\n".to_owned(), |b| {
        format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{b}", b.len())
    });
    format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nuser-agent: load\r\naccept: */*\r\n{headers}{body}")
        .into_bytes()
}
