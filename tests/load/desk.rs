//! The desk and a kiosk of a site with 100,000 members: the time and size of every page, when a browser paints it, and
//! how fast the search finds members while a name is typed.
//!
//! Run it by `tests/load/run desk`. Pages come from the table of routes, so that a new page is measured or fails this
//! benchmark.

use crate::Plan;
use crate::bars::median;
use crate::clerk::{Clerk, between};
use crate::generator::{Callers, Load, Seen};
use crate::live;
use crate::paint::{Cookie, PAINT_TIME_MAX, Painter};
use crate::searches::searches;
use crate::server::{self, Server};
use crate::site::request;
use rusqlite::Connection;
use std::fmt::Write;
use std::io::Cursor;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;
use tunneldesk::routes::PAGES;

pub const PLAN: Plan = Plan { rounds: 3, time: Duration::from_secs(1), only: None };
const MEMBERS: &str = "100000";
/// About fourteen hundred flights a day, more than a tunnel has room for.
const ENTRIES: &str = "1000000";
const CALLERS: Callers = Callers { connections: 16, every: None, open: false };
const PAGE_TIME_MAX: Duration = Duration::from_millis(30);
/// The limit for pages on which a clerk waits with a customer present (*Today*, the search and the card), and for a member's own.
const QUICK_TIME_MAX: Duration = Duration::from_millis(15);
/// The arrivals that one page shows; the demo's own bookings of today count, and late in the day are more.
const ARRIVALS: i64 = 320;
const PAGE_BYTES_MAX: usize = 100_000;
/// Settings with which the site shows all its pages.
const SETTINGS: [(&str, &str); 3] = [
    ("TUNNELDESK_MEMBERSHIP_YEARLY_FEE_CENTS", "4900"),
    ("TUNNELDESK_TUNNEL_KIOSK_MINUTES", "2, 5"),
    ("TUNNELDESK_WAIVER_REQUIRED", "true"),
];
/// Pages of a text, a picture, a link or a family that this site does not have.
const NOT_MADE: [&str; 18] = [
    "/me/account/photo.jpg",
    "/me/bookings/{booking_id}/calendar.ics",
    "/me/payments/{payment_id}/receipt",
    "/me/sign-in/code",
    "/me/logbook.pdf",
    "/me/logbook/time/{entry_id}",
    "/me/logbook/entries/{entry_id}",
    "/me/logbook/sign-off/{skill}",
    "/sign",
    "/desk/members/{member_id}/waiver.pdf",
    "/desk/texts/edit",
    "/desk/texts/picture.jpg",
    "/desk/texts/version",
    "/kiosk/brief",
    "/kiosk/brief.jpg",
    "/kiosk/family",
    "/kiosk/family/child",
    "/kiosk/family/link",
];

/// This page redirects as soon as the site answers, too soon to be measured in a browser.
const GOES_ON: &str = "/kiosk/away";

/// A page and its caller.
struct Page {
    name: String,
    path: String,
    by: By,
    time_max: Duration,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    Nobody,
    SettingUp,
    Coming,
    Clerk,
    /// A member on the own pages.
    Owner,
    /// A kiosk without a signed-in member.
    Kiosk,
    Guest,
}

/// The values of path parameters.
struct Parts {
    member_id: i64,
    username: String,
    /// An entry that waits for a signature; `time_id` is a flight time of the member.
    entry_id: i64,
    time_id: i64,
    partner_id: i64,
    contact_id: i64,
    skill: String,
    asset: String,
}

struct Row {
    name: String,
    seen: Vec<Seen>,
    time_max: Duration,
    /// The bytes of the page and everything that it loads; `None` for a row that is not a page.
    bytes: Option<usize>,
    painted: Option<Duration>,
}

/// The browsers of all callers.
struct Askers {
    address: SocketAddr,
    clerk: Clerk,
    kiosk: Clerk,
    member_id: i64,
    username: String,
    pin: String,
}

/// Measures, and returns whether every target was met.
pub fn measure(room: &Path) -> Result<(String, bool), String> {
    eprintln!("making a site of {MEMBERS} members …");
    let dir = room.join("desk");
    server::command(&dir, &["demo", "--members", MEMBERS, "--entries", ENTRIES])?;
    fill_today(&dir)?;
    let server = Server::product_with(&dir, &SETTINGS)?;
    let mut parts = Parts::find(&dir)?;
    let mut askers = Askers::gather(server.address, &parts)?;
    parts.finish(&mut askers)?;
    let pages = pages(&parts)?;
    askers.open_all(&pages)?;
    let mut rows = pages.iter().map(|page| askers.measure(&server, page)).collect::<Result<Vec<_>, _>>()?;
    for (name, paths) in searches(&dir)? {
        let requests = paths.iter().map(|path| request("GET", path, &askers.clerk.head(), None)).collect();
        rows.push(Row::of(name.to_owned(), run(&server, requests, name)?, QUICK_TIME_MAX, None));
    }
    let heard = live::measure(&server, &askers.clerk)?;
    paint(&server, &mut askers, &pages, &mut rows)?;
    server.stop()?;
    let met = rows.iter().all(Row::is_met) && heard.is_met();
    Ok((as_markdown(&rows, &heard, met), met))
}

/// Books members for today until there are as many arrivals as one page shows, and checks nearly all of them in: a line of
/// *Today* is longest then, so that the page weighs the same at every hour. A few are left for [`live`] to check in.
fn fill_today(dir: &Path) -> Result<(), String> {
    let sql = "WITH day(at) AS (SELECT unixepoch() + 3600 - (unixepoch() + 3600) % 86400 - 3600)
        INSERT INTO bookings (partner_id, member_id, registration_id, flight_date, minutes_booked, tunnel_id, created_at, updated_at)
        SELECT (SELECT min(partner_id) FROM partners), member_id, 900000000 + member_id,
               at + 36000 + 144 * row_number() OVER (ORDER BY member_id), 10, (SELECT min(tunnel_id) FROM tunnels), at, at
        FROM members, day WHERE role = 'member' AND banned_at IS NULL AND member_id % 97 = 5
        LIMIT max(0, ?1 - (SELECT count(*) FROM bookings, day WHERE flight_date BETWEEN at AND at + 86399))";
    let arrive = "WITH day(at) AS (SELECT unixepoch() + 3600 - (unixepoch() + 3600) % 86400 - 3600)
        UPDATE bookings SET arrived_at = iif(booking_id % 16 = 0, NULL, coalesce(arrived_at, flight_date - 600))
        FROM day WHERE flight_date BETWEEN at AND at + 86399 AND ended_as IS NULL";
    let conn = open(dir)?;
    conn.execute(sql, [ARRIVALS]).and_then(|_| conn.execute(arrive, [])).map(drop).map_err(|e| e.to_string())
}

/// Measures the painting of each page, with the cookies of its caller.
fn paint(server: &Server, askers: &mut Askers, pages: &[Page], rows: &mut [Row]) -> Result<(), String> {
    let mut painter = Painter::open(server.address, Vec::new());
    let is_seen = |page: &Page, row: &Row| row.bytes.is_some() && page.path != GOES_ON;
    for (page, row) in pages.iter().zip(rows).filter(|(page, row)| is_seen(page, row)) {
        let cookies: Vec<Cookie> = askers.of(page.by)?.cookies.into_iter().collect();
        if !painter.has(&cookies) {
            painter = Painter::open(server.address, cookies);
        }
        let painted = painter.first_paint(&page.path)?;
        eprintln!("  {:52} first paint {:>6.1} ms", row.name, millis(painted));
        row.painted = Some(painted);
    }
    Ok(())
}

fn run(server: &Server, requests: Vec<Vec<u8>>, name: &str) -> Result<Vec<Seen>, String> {
    let load = Load { requests, statuses: &[200] };
    let mut all = Vec::new();
    for _ in 0..PLAN.rounds {
        let before = server.cpu();
        let seen = load.run_by_these(CALLERS, server.address, PLAN.time).map_err(|e| format!("{name}: {e}"))?;
        all.push(seen.costing(server.cpu() - before));
    }
    let of = |pick: fn(&Seen) -> Duration| median(all.iter().map(|seen| millis(pick(seen))));
    eprintln!("  {name:52} {:>8.2} ms   {:>6.2} ms of the server's time", of(|seen| seen.p99), of(|seen| seen.cpu));
    Ok(all)
}

impl Askers {
    fn gather(address: SocketAddr, parts: &Parts) -> Result<Askers, String> {
        let (mut clerk, member_id) = (Clerk::sign_in(address)?, parts.member_id);
        let (kiosk, pin) = (clerk.pair_kiosk()?, clerk.reset_pin(member_id)?);
        Ok(Askers { address, clerk, kiosk, member_id, username: parts.username.clone(), pin })
    }

    /// A browser of this kind, signed in anew where needed: sessions at a kiosk and unfinished sign-ins soon expire.
    fn of(&mut self, by: By) -> Result<Clerk, String> {
        match by {
            By::Nobody => Ok(Clerk::outside(self.address)),
            By::SettingUp => Clerk::setting_up(self.address, "desk"),
            By::Coming => Clerk::coming(self.address),
            By::Clerk => Ok(self.clerk.clone()),
            By::Kiosk => {
                self.kiosk.post("/kiosk/leave", &[])?;
                Ok(self.kiosk.clone())
            }
            By::Owner => Clerk::own_pages(self.address, &self.username),
            By::Guest => {
                self.kiosk.enter(self.member_id, &self.pin)?;
                Ok(self.kiosk.clone())
            }
        }
    }

    /// Opens each page once, so that a page that this site does not show is reported before anything is measured.
    fn open_all(&mut self, pages: &[Page]) -> Result<(), String> {
        let mut refused = Vec::new();
        for page in pages {
            if let Err(why) = self.of(page.by)?.get(&page.path) {
                refused.push(format!("{}: {}", page.name, why.lines().next().unwrap_or_default()));
            }
        }
        if refused.is_empty() { Ok(()) } else { Err(format!("not shown:\n  {}", refused.join("\n  "))) }
    }

    fn measure(&mut self, server: &Server, page: &Page) -> Result<Row, String> {
        let mut asker = self.of(page.by)?;
        let bytes = weigh(&mut asker, &page.path)?;
        let seen = run(server, vec![request("GET", &page.path, &asker.head(), None)], &page.name)?;
        Ok(Row::of(page.name.clone(), seen, page.time_max, bytes))
    }
}

/// The transferred bytes of a page and of all files that it names; `None` for a row that is not a page.
fn weigh(asker: &mut Clerk, path: &str) -> Result<Option<usize>, String> {
    let answer = asker.get(path)?;
    if !answer.page.starts_with("<!doctype html>") {
        return Ok(None);
    }
    let quoted = answer.page.split(['"', '\'']);
    let mut files: Vec<&str> = quoted.filter(|text| text.starts_with("/assets/")).collect();
    files.sort_unstable();
    files.dedup();
    let mut bytes = answer.page.len();
    for file in files {
        bytes += asker.weigh(file)?;
    }
    Ok(Some(bytes))
}

impl Parts {
    fn find(dir: &Path) -> Result<Parts, String> {
        let conn = open(dir)?;
        let number = |sql: &str| conn.query_row(sql, [], |row| row.get(0)).map_err(|e| format!("{sql}: {e}"));
        // The member with the longest logbook.
        let longest = "SELECT member_id FROM members WHERE role = 'member' AND banned_at IS NULL AND email_confirmed_at IS NOT NULL
                       ORDER BY flight_minutes DESC LIMIT 1";
        let member_id = number(longest)?;
        let named = "SELECT username FROM members WHERE member_id = ?1";
        let username = conn.query_row(named, [member_id], |row| row.get(0)).map_err(|e| format!("{named}: {e}"))?;
        Ok(Parts {
            member_id,
            username,
            entry_id: number("SELECT max(entry_id) FROM entries WHERE status = 'pending'")?,
            time_id: number(&format!(
                "SELECT max(entry_id) FROM entries WHERE kind = 'time' AND status = 'open' AND opening IS NULL
                 AND member_id = ({longest})"
            ))?,
            partner_id: number("SELECT min(partner_id) FROM partners")?,
            contact_id: 1,
            skill: String::new(),
            asset: String::new(),
        })
    }

    /// Makes what some pages need: a picture, a message, and what pages link to.
    fn finish(&mut self, askers: &mut Askers) -> Result<(), String> {
        let mut picture = Cursor::new(Vec::new());
        let drawn = image::RgbImage::from_fn(640, 480, |x, y| image::Rgb([x as u8, y as u8, (x + y) as u8]));
        drawn.write_to(&mut picture, image::ImageFormat::Png).map_err(|e| e.to_string())?;
        askers.clerk.take_photo(self.member_id, picture.get_ref())?;
        askers.clerk.send_contact()?;
        askers.clerk.take_fee(self.member_id)?;
        askers.clerk.close_day()?;
        self.asset = between(&askers.clerk.get("/desk")?.page, "/assets/", "\"")?.to_owned();
        self.skill = between(&askers.of(By::Guest)?.get("/kiosk/sign-off")?.page, "/kiosk/sign-off/", "\"")?.to_owned();
        Ok(())
    }

    fn value(&self, name: &str, before: &str) -> Result<String, String> {
        Ok(match name {
            "member_id" => self.member_id.to_string(),
            "entry_id" if before.ends_with("/time/") => self.time_id.to_string(),
            "entry_id" if before.starts_with("/desk/sign-offs/") => self.entry_id.to_string(),
            // The first ones, which the till made.
            "entry_id" | "closing_id" | "booking_id" => "1".to_owned(),
            "partner_id" => self.partner_id.to_string(),
            "contact_id" => self.contact_id.to_string(),
            "skill" => self.skill.clone(),
            "file" => self.asset.clone(),
            other => return Err(format!("say in desk.rs what stands for {{{other}}}")),
        })
    }

    fn fill(&self, path: &str) -> Result<String, String> {
        let mut filled = String::new();
        for (place, part) in path.split(['{', '}']).enumerate() {
            let part = if place % 2 == 1 { self.value(part, &filled)? } else { part.to_owned() };
            filled += &part;
        }
        Ok(filled)
    }
}

/// The queries with which a page is measured. The longest report covers a year. The bookings as CSV are a file rather
/// than a page, so they are requested for a day.
fn queries(path: &str, parts: &Parts) -> Vec<String> {
    let text = |queries: &[&str]| queries.iter().map(|query| (*query).to_owned()).collect();
    match path {
        "/desk" => text(&["", "?part=found&q=anna"]),
        "/desk/members/{member_id}" => text(&["", "?tab=bookings", "?tab=payments", "?tab=messages", "?tab=security"]),
        "/desk/messages" => text(&["", "?box=waiting", "?box=dead", "?box=marked"]),
        "/desk/reports" | "/desk/reports/days.csv" => vec![String::new(), range(364)],
        // An expired link; without a token these pages lead nowhere.
        "/confirm" | "/undo" => text(&["?token=worn-out"]),
        "/desk/reports/bookings.csv" => vec![format!("?from={0}&to={0}", date(0))],
        "/desk/sign-several" => vec![format!("?entry={}", parts.entry_id)],
        _ => text(&[""]),
    }
}

/// The query for `days` days before yesterday, up to yesterday.
fn range(days: i64) -> String {
    format!("?from={}&to={}", date(days + 1), date(1))
}

fn date(days_ago: i64) -> String {
    let at = jiff::Timestamp::from_second(jiff::Timestamp::now().as_second() - days_ago * 86_400);
    at.map(|at| at.strftime("%Y-%m-%d").to_string()).unwrap_or_default()
}

/// The time limit of a page, by its path in the table.
fn time_max(path: &str) -> Duration {
    match path {
        "/desk" | "/desk/members" | "/desk/members/{member_id}" => QUICK_TIME_MAX,
        path if path.starts_with("/me") => QUICK_TIME_MAX,
        _ => PAGE_TIME_MAX,
    }
}

/// Every row of the table that shows a page or a file.
fn pages(parts: &Parts) -> Result<Vec<Page>, String> {
    let mut pages = Vec::new();
    let is_shown = |path: &str| path != "/" && !NOT_MADE.contains(&path);
    for row in PAGES.iter().filter(|row| row.method == http::Method::GET && is_shown(row.path) && !row.live) {
        for query in queries(row.path, parts) {
            let (path, by) = (format!("{}{query}", parts.fill(row.path)?), who(row.caller(), row.path));
            pages.push(Page { name: format!("{}{query}", row.path), path, by, time_max: time_max(row.path) });
        }
    }
    Ok(pages)
}

fn who(caller: &str, path: &str) -> By {
    match (caller, path) {
        ("desk", _) => By::Clerk,
        ("kiosk", _) | (_, "/kiosk") => By::Kiosk,
        ("guest", _) => By::Guest,
        ("own", _) => By::Owner,
        (_, "/desk/sign-in/change") => By::Clerk,
        (_, "/desk/sign-in/setup") => By::SettingUp,
        (_, "/desk/sign-in/code") => By::Coming,
        _ => By::Nobody,
    }
}

pub fn open(dir: &Path) -> Result<Connection, String> {
    Connection::open(dir.join("tunneldesk.sqlite")).map_err(|e| e.to_string())
}

impl Row {
    fn of(name: String, seen: Vec<Seen>, time_max: Duration, bytes: Option<usize>) -> Row {
        Row { name, seen, time_max, bytes, painted: None }
    }

    fn millis(&self, of: fn(&Seen) -> Duration) -> f64 {
        median(self.seen.iter().map(|seen| millis(of(seen))))
    }

    /// The missed targets, in words; empty if all were met.
    fn missed(&self) -> Vec<&'static str> {
        let misses = [
            (self.millis(|seen| seen.p99) >= millis(self.time_max) || self.millis(|seen| seen.p50) == 0.0, "time"),
            (self.bytes.is_some_and(|bytes| bytes >= PAGE_BYTES_MAX), "weight"),
            (self.painted.is_some_and(|painted| painted >= PAINT_TIME_MAX), "paint"),
        ];
        misses.into_iter().filter(|(missed, _)| *missed).map(|(_, word)| word).collect()
    }

    fn is_met(&self) -> bool {
        self.missed().is_empty()
    }
}

fn as_markdown(rows: &[Row], heard: &live::Heard, met: bool) -> String {
    let mut table = format!(
        "{MEMBERS} members with {ENTRIES} entries and at least {ARRIVALS} arrivals today, {} connections. Pages take less than \
         {:.0} ms at p99; *Today*, the members, their search, the card and a member's own pages {:.0} ms; \
         with all its files a page weighs less than {PAGE_BYTES_MAX} bytes, and Chromium paints it within {:.0} ms.\n\n\
         | asked | p50 | p99 | CPU of the server each | bytes | first paint | |\n|---|---:|---:|---:|---:|---:|---|\n",
        CALLERS.connections,
        millis(PAGE_TIME_MAX),
        millis(QUICK_TIME_MAX),
        millis(PAINT_TIME_MAX)
    );
    for row in rows {
        let missed = row.missed().join(", ");
        let mark = if missed.is_empty() { String::new() } else { format!("**missed: {missed}**") };
        let bytes = row.bytes.map_or_else(String::new, |bytes| bytes.to_string());
        let painted = row.painted.map_or_else(String::new, |painted| format!("{:.0} ms", millis(painted)));
        let (p50, p99) = (row.millis(|seen| seen.p50), row.millis(|seen| seen.p99));
        let cpu = row.millis(|seen| seen.cpu);
        _ = writeln!(
            table,
            "| `{}` | {p50:.2} ms | {p99:.2} ms | {cpu:.2} ms | {bytes} | {painted} | {mark} |",
            row.name
        );
    }
    table += &heard.as_markdown();
    _ = writeln!(table, "\n{}", if met { "Every bar met." } else { "Bars missed." });
    table
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
