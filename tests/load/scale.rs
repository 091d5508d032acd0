//! Lists and look-ups on a site of 100,000 members with five million entries, compared with a small site. The members
//! in the requests have logbooks of the same length on both, so any difference is due to the rows of others.
//!
//! Run it by `tests/load/run scale`. Making the large site takes a few minutes and about two gigabytes.

use crate::Plan;
use crate::generator::{Callers, Load};
use crate::server::{self, Server, Writes};
use crate::site::{Guest, bearer, guests, partner_record, request, text};
use serde_json::{Value, json};
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

pub const PLAN: Plan = Plan { rounds: 5, time: Duration::from_secs(1), only: None };
const LARGE: Size = Size { members: "100000", entries: "5000000" };
/// Fifty entries a member, as on the large site.
const SMALL: Size = Size { members: "200", entries: "10000" };
const ENTRIES_A_MEMBER: u64 = 50;
/// The number of bookings of a member with fifty entries.
const BOOKINGS_A_MEMBER: u64 = 25;
/// The number of members from whom those with logbooks of the usual length are chosen.
const CANDIDATES: usize = 120;
const CALLERS: Callers = Callers { connections: 16, every: None, open: false };
const TIMES_SLOWER_MAX: f64 = 1.5;

struct Size {
    members: &'static str,
    entries: &'static str,
}

/// A running site, and its measured requests by name, in the same order for each site.
struct Site {
    server: Server,
    questions: Vec<(&'static str, Load)>,
}

/// The p99 of one request on both sites, and the median of each round's ratio.
struct Row {
    name: &'static str,
    small: Duration,
    large: Duration,
    ratio: f64,
}

/// Measures, prints and saves the table. Returns it, and whether every request met its target.
pub fn measure(room: &Path) -> Result<(String, bool), String> {
    let small = Site::make(&room.join("small"), &SMALL)?;
    let large = Site::make(&room.join("large"), &LARGE)?;
    let mut rows = Vec::new();
    for ((name, on_small), (_, on_large)) in small.questions.iter().zip(&large.questions) {
        let mut seen = Vec::new();
        for _ in 0..PLAN.rounds {
            let p99 = |site: &Site, load: &Load| {
                let seen =
                    load.run_by_these(CALLERS, site.server.address, PLAN.time).map_err(|e| format!("{name}: {e}"))?;
                Ok::<_, String>(seen.p99)
            };
            seen.push((p99(&small, on_small)?, p99(&large, on_large)?));
        }
        let row = Row::of(name, &seen);
        eprintln!("  {name:44} {:>8.2} ms {:>8.2} ms   {:.2}", millis(row.small), millis(row.large), row.ratio);
        rows.push(row);
    }
    small.server.stop()?;
    large.server.stop()?;
    let met = rows.iter().all(|row| row.ratio <= TIMES_SLOWER_MAX);
    Ok((as_markdown(&rows, met), met))
}

impl Site {
    fn make(dir: &Path, size: &Size) -> Result<Site, String> {
        eprintln!("making a site of {} entries …", size.entries);
        server::command(dir, &["demo", "--members", size.members, "--entries", size.entries])?;
        let server = Server::product(dir, Writes::Grouped, None)?;
        let skipped = size.members.parse::<usize>().map_or(0, |members| members / 4).to_string();
        let candidates = guests(dir, server.address, &skipped, CANDIDATES)?;
        let chosen = usual(server.address, candidates)?;
        let (record, signature) = partner_record(dir, server.address)?;
        let issued = server::command(dir, &["session", "issue", "--role", "sync"])?;
        let questions = questions(&chosen, &record, &signature, text(&issued, "token")?);
        Ok(Site { server, questions })
    }
}

/// The candidates whose flight logs and bookings are closest to the usual length.
fn usual(address: SocketAddr, candidates: Vec<Guest>) -> Result<Vec<Guest>, String> {
    let mut lengths = Vec::new();
    for guest in candidates {
        let length = |path: &str| {
            let url = format!("http://{address}/api/account{path}");
            let answer = ureq::get(&url).header("token", &guest.token).call();
            let list: Value = answer.and_then(|mut answer| answer.body_mut().read_json()).map_err(|e| e.to_string())?;
            list.as_array().map(|rows| rows.len() as u64).ok_or_else(|| format!("not a list: {list}"))
        };
        let flown = length(&format!("/logbook/time/{}", guest.member_id))?.abs_diff(ENTRIES_A_MEMBER);
        let booked = length("/profile/booking-history")?.abs_diff(BOOKINGS_A_MEMBER);
        lengths.push((flown + booked, guest));
    }
    lengths.sort_by_key(|(far, _)| *far);
    Ok(lengths.into_iter().take(CALLERS.connections).map(|(_, guest)| guest).collect())
}

fn questions(guests: &[Guest], record: &str, signature: &str, sync: &str) -> Vec<(&'static str, Load)> {
    let ok = |requests| Load { requests, status: 200 };
    let of_members = OF_MEMBERS.iter().map(|path| {
        let requests = guests.iter().map(|guest| {
            let path = format!("/api{}", path.replace("{member_id}", &guest.member_id.to_string()));
            request("GET", &path, &bearer(guest), None)
        });
        (*path, ok(requests.collect()))
    });
    let page = json!({ "limit": 100, "offset": 0 }).to_string();
    let by_sync = format!("token: {sync}\r\n");
    let by_partner = format!("token: {signature}\r\n");
    let report = |path: &str| ok(vec![request("POST", path, &by_sync, Some(&page))]);
    let names = guests.iter().map(|guest| {
        let body = json!({ "username": guest.username }).to_string();
        request("POST", "/api/auth/signup/check-username", "", Some(&body))
    });
    of_members
        .chain([
            ("/auth/signup/check-username", ok(names.collect())),
            (
                "/external/partner-metrics/op",
                ok(vec![request("GET", "/api/external/partner-metrics/op", &by_partner, None)]),
            ),
            ("/external/partner-metrics/op/{id}", ok(vec![request("GET", record, &by_partner, None)])),
            ("…/partner-metrics/bookings", report("/api/admin/reports/external/partner-metrics/bookings")),
            ("…/partner-metrics/history", report("/api/admin/reports/external/partner-metrics/history")),
        ])
        .collect()
}

/// The reads of a member: every list and look-up that queries the database.
const OF_MEMBERS: &[&str] = &[
    "/account/profile/user",
    "/account/profile/certificate-list",
    "/account/profile/booking-history",
    "/account/profile/payment-history",
    "/account/profile/security-questions",
    "/account/profile/passkeys",
    "/account/profile/sessions",
    "/account/logbook/time/{member_id}",
    "/account/logbook/mobile/skills/{member_id}",
    "/account/logbook/skills/open-suspended-not_current/{member_id}",
    "/account/logbook/category/{member_id}",
    "/account/logbook/filter-skills/{member_id}/Flyer",
    "/account/logbook/instructors/10101/1",
    "/account/logbook/coach-safety/{member_id}",
    "/account/logbook/flyer-safety/{member_id}",
    "/account/logbook/instructor-safety/{member_id}",
    "/account/logbook/military-safety/{member_id}",
    "/account/logbook/trainer-safety/{member_id}",
    "/account/logbook/requests",
    "/account/logbook/tunnels",
    "/account/logbook/progression/{member_id}",
    "/account/logbook/export/{member_id}",
    "/account/dashboard/flyer-skills-levels/{member_id}",
    "/account/notifications",
    "/account/notifications/requests",
    "/public/tunnels/1",
];

impl Row {
    fn of(name: &'static str, seen: &[(Duration, Duration)]) -> Row {
        let of = |pick: fn(&(Duration, Duration)) -> f64| crate::bars::median(seen.iter().map(pick));
        Row {
            name,
            small: Duration::from_secs_f64(of(|pair| pair.0.as_secs_f64())),
            large: Duration::from_secs_f64(of(|pair| pair.1.as_secs_f64())),
            ratio: of(|pair| pair.1.as_secs_f64() / pair.0.as_secs_f64()),
        }
    }
}

fn as_markdown(rows: &[Row], met: bool) -> String {
    let mut table = format!(
        "p99 at {} connections, by people with about {ENTRIES_A_MEMBER} entries and {BOOKINGS_A_MEMBER} bookings each.\n\n\
         | asked | {} entries | {} entries | ratio, ≤ {TIMES_SLOWER_MAX} |\n|---|---:|---:|---:|\n",
        CALLERS.connections, SMALL.entries, LARGE.entries
    );
    for row in rows {
        let mark = if row.ratio <= TIMES_SLOWER_MAX { "" } else { " **missed**" };
        _ = writeln!(
            table,
            "| `{}` | {:.2} ms | {:.2} ms | {:.2}{mark} |",
            row.name,
            millis(row.small),
            millis(row.large),
            row.ratio
        );
    }
    _ = writeln!(table, "\n{}", if met { "Every bar met." } else { "Bars missed." });
    table
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
