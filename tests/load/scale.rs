//! Lists and look-ups on a site of 100,000 members with five million entries, compared with a small site. The members
//! in the requests have logbooks of the same length on both, so any difference is due to the rows of others.
//!
//! Run it by `tests/load/run scale`. Making the large site takes a few minutes and about two gigabytes.

use crate::Plan;
use crate::generator::{Callers, Load};
use crate::server::{self, Server};
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

/// The lists by whose lengths the members of both sites are paired.
const LISTS: [(&str, &str); 4] = [
    ("flights", "/logbook/time/{member_id}"),
    ("bookings", "/profile/booking-history"),
    ("skills", "/logbook/mobile/skills/{member_id}"),
    ("certificates", "/profile/certificate-list"),
];

/// A running site, and what its requests need: a partner's record and its signature, a session of the sync job.
struct Site {
    server: Server,
    record: String,
    signature: String,
    sync: String,
}

/// The p99 of one request on both sites, and the median of each round's ratio.
struct Row {
    name: &'static str,
    small: Duration,
    large: Duration,
    ratio: f64,
}

/// A guest, and the lengths of the lists in the guest's answers: see [`LISTS`].
struct Candidate {
    guest: Guest,
    lengths: [u64; LISTS.len()],
}

/// Measures, prints and saves the table. Returns it, and whether every request met its target.
pub fn measure(room: &Path) -> Result<(String, bool), String> {
    let (small, of_small) = Site::make(&room.join("small"), &SMALL)?;
    let (large, of_large) = Site::make(&room.join("large"), &LARGE)?;
    let pairs = alike(of_small, of_large);
    let lengths = summary(&pairs);
    eprintln!("{lengths}");
    let (of_small, of_large): (Vec<Guest>, Vec<Guest>) =
        pairs.into_iter().map(|(one, other)| (one.guest, other.guest)).unzip();
    let mut rows = Vec::new();
    for ((name, on_small), (_, on_large)) in small.questions(&of_small).iter().zip(&large.questions(&of_large)) {
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
    Ok((as_markdown(&rows, &lengths, met), met))
}

impl Site {
    fn make(dir: &Path, size: &Size) -> Result<(Site, Vec<Candidate>), String> {
        eprintln!("making a site of {} entries …", size.entries);
        server::command(dir, &["demo", "--members", size.members, "--entries", size.entries])?;
        // The first backup of the large site would run beside half of the rows; what that costs is measured elsewhere.
        let server = Server::product_with(dir, &[("TUNNELDESK_BACKUP_EVERY_HOURS", "0")])?;
        let skipped = size.members.parse::<usize>().map_or(0, |members| members / 4).to_string();
        let guests = guests(dir, server.address, &skipped, CANDIDATES)?;
        let candidates: Result<_, String> =
            guests.into_iter().map(|guest| Candidate::measure(server.address, guest)).collect();
        let (record, signature) = partner_record(dir, server.address)?;
        let issued = server::command(dir, &["session", "issue", "--role", "sync"])?;
        Ok((Site { server, record, signature, sync: text(&issued, "token")?.to_owned() }, candidates?))
    }

    fn questions(&self, guests: &[Guest]) -> Vec<(&'static str, Load)> {
        questions(guests, &self.record, &self.signature, &self.sync)
    }
}

impl Candidate {
    fn measure(address: SocketAddr, guest: Guest) -> Result<Candidate, String> {
        let mut lengths = [0; LISTS.len()];
        for (length, (_, path)) in lengths.iter_mut().zip(LISTS) {
            let path = path.replace("{member_id}", &guest.member_id.to_string());
            let answer = ureq::get(format!("http://{address}/api/account{path}")).header("token", &guest.token).call();
            let list: Value = answer.and_then(|mut answer| answer.body_mut().read_json()).map_err(|e| e.to_string())?;
            *length = list.as_array().ok_or_else(|| format!("not a list: {list}"))?.len() as u64;
        }
        Ok(Candidate { guest, lengths })
    }

    /// How far the member's flights and bookings are from the usual numbers.
    fn unusual(&self) -> u64 {
        self.lengths[0].abs_diff(ENTRIES_A_MEMBER) + self.lengths[1].abs_diff(BOOKINGS_A_MEMBER)
    }
}

/// Pairs of a member of the small site and one of the large site, whose lists are about as long as each other's, and as
/// long as is usual.
fn alike(mut small: Vec<Candidate>, mut large: Vec<Candidate>) -> Vec<(Candidate, Candidate)> {
    let apart = |one: &Candidate, other: &Candidate| -> u64 {
        one.lengths.iter().zip(other.lengths).map(|(one, other)| one.abs_diff(other)).sum()
    };
    let mut pairs = Vec::new();
    while pairs.len() < CALLERS.connections {
        let places = (0..small.len()).flat_map(|one| (0..large.len()).map(move |other| (one, other)));
        let unlike = |(one, other): &(usize, usize)| {
            let (one, other) = (&small[*one], &large[*other]);
            3 * apart(one, other) + one.unusual() + other.unusual()
        };
        let Some((one, other)) = places.min_by_key(unlike) else { break };
        pairs.push((small.swap_remove(one), large.swap_remove(other)));
    }
    pairs
}

/// The mean length of each list on both sites.
fn summary(pairs: &[(Candidate, Candidate)]) -> String {
    let mean = |list: usize, of: fn(&(Candidate, Candidate)) -> &Candidate| {
        pairs.iter().map(|pair| of(pair).lengths[list]).sum::<u64>() as f64 / pairs.len() as f64
    };
    let list = |(at, (name, _)): (usize, &(&str, &str))| {
        format!("{:.1} {name} ({:.1})", mean(at, |pair| &pair.0), mean(at, |pair| &pair.1))
    };
    let lists: Vec<String> = LISTS.iter().enumerate().map(list).collect();
    format!("Of the small site's members, one has {}; in brackets the large site's.", lists.join(", "))
}

fn questions(guests: &[Guest], record: &str, signature: &str, sync: &str) -> Vec<(&'static str, Load)> {
    let ok = |requests| Load { requests, statuses: &[200] };
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

fn as_markdown(rows: &[Row], lengths: &str, met: bool) -> String {
    let mut table = format!(
        "p99 at {} connections. {lengths}\n\n\
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
