//! Twenty screens that show today: how long it takes until each has heard that somebody was checked in, and until each has
//! asked for the page anew.

use crate::clerk::Clerk;
use crate::server::Server;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write as _};
use std::net::TcpStream;
use std::sync::mpsc;
use std::time::{Duration, Instant};

pub const SCREENS: usize = 20;
const ROUNDS: usize = 10;
pub const UPDATE_TIME_MAX: Duration = Duration::from_secs(1);
/// As under every other load.
pub const MEMORY_MB_MAX: f64 = 64.0;
/// A screen that hears nothing for so long ends the measurement.
const HEARS_WITHIN: Duration = Duration::from_secs(30);

/// What the slowest screen of the slowest round took, and the most memory that the server had by then.
pub struct Heard {
    pub rounds: usize,
    pub event: Duration,
    pub page: Duration,
    pub memory_mb: f64,
}

/// Checks `ROUNDS` of the arrivals that are shown in, one after the other, before the screens.
pub fn measure(server: &Server, clerk: &Clerk) -> Result<Heard, String> {
    let bookings = expected(&clerk.clone().get("/desk")?.page)?;
    let mut streams = (0..SCREENS).map(|_| listen(server, clerk)).collect::<Result<Vec<_>, _>>()?;
    let (mut event, mut page) = (Duration::ZERO, Duration::ZERO);
    for booking in &bookings {
        let (say, said) = mpsc::channel();
        std::thread::scope(|scope| {
            for stream in &mut streams {
                let (say, mut screen) = (say.clone(), clerk.clone());
                scope.spawn(move || say.send(see(stream, &mut screen, *booking)));
            }
            drop(say);
            let begun = Instant::now();
            clerk.clone().post(&format!("/desk/bookings/{booking}/check-in"), &[])?;
            for seen in said {
                let (heard, shown) = seen?;
                event = event.max(heard.saturating_duration_since(begun));
                page = page.max(shown.saturating_duration_since(begun));
            }
            Ok::<_, String>(())
        })?;
    }
    Ok(Heard { rounds: bookings.len(), event, page, memory_mb: server.memory_kib("VmHWM") as f64 / 1024.0 })
}

/// The bookings of the page whose members can be checked in, up to `ROUNDS` of them: late in the day few are left.
fn expected(page: &str) -> Result<Vec<i64>, String> {
    let ends = page.match_indices("/check-in aria-label=").map(|(end, _)| &page[..end]);
    let numbers = ends.filter_map(|before| before.rsplit('/').next()?.parse().ok());
    let bookings: Vec<i64> = numbers.take(ROUNDS).collect();
    if bookings.is_empty() { Err("today shows nobody to check in".to_owned()) } else { Ok(bookings) }
}

/// A stream of the desk's events, past its head.
fn listen(server: &Server, clerk: &Clerk) -> Result<BufReader<TcpStream>, String> {
    let open = || -> std::io::Result<BufReader<TcpStream>> {
        let mut socket = TcpStream::connect(server.address)?;
        socket.set_read_timeout(Some(HEARS_WITHIN))?;
        write!(socket, "GET /desk/live HTTP/1.1\r\nhost: {}\r\n{}\r\n", server.address, clerk.head())?;
        Ok(BufReader::new(socket))
    };
    let mut stream = open().map_err(|e| e.to_string())?;
    hear(&mut stream, "retry: ")?;
    Ok(stream)
}

fn hear(stream: &mut BufReader<TcpStream>, start: &str) -> Result<(), String> {
    loop {
        let mut line = String::new();
        let bytes = stream.read_line(&mut line).map_err(|e| format!("a screen heard nothing: {e}"))?;
        if bytes == 0 {
            return Err("the stream of a screen ended".to_owned());
        }
        if line.starts_with(start) {
            return Ok(());
        }
    }
}

/// When a screen heard of a check-in, and when it had the page that shows who came. An event may tell of something else that
/// changed before; the page is asked for at each, as by a browser.
fn see(stream: &mut BufReader<TcpStream>, screen: &mut Clerk, booking: i64) -> Result<(Instant, Instant), String> {
    let (here, since) = (format!("<li id=b{booking} class=here>"), Instant::now());
    while since.elapsed() < HEARS_WITHIN {
        hear(stream, "event: changed").map_err(|e| format!("booking {booking}: {e}"))?;
        let heard = Instant::now();
        if screen.get("/desk")?.page.contains(&here) {
            return Ok((heard, Instant::now()));
        }
    }
    Err(format!("no page that was asked for after an event shows that {booking} came"))
}

impl Heard {
    pub fn is_met(&self) -> bool {
        self.page <= UPDATE_TIME_MAX && self.memory_mb < MEMORY_MB_MAX
    }

    pub fn as_markdown(&self) -> String {
        let mut table = String::new();
        let mark = if self.is_met() { "" } else { " **missed**" };
        _ = write!(
            table,
            "\n{SCREENS} screens show today and somebody is checked in, {} times: the slowest screen heard of it within {:.1} ms \
             and had the page anew within {:.1} ms of the click, where {:.0} ms are allowed; the server had {:.1} MB of memory at the \
             most, of {MEMORY_MB_MAX:.0}.{mark}\n",
            self.rounds,
            self.event.as_secs_f64() * 1e3,
            self.page.as_secs_f64() * 1e3,
            UPDATE_TIME_MAX.as_secs_f64() * 1e3,
            self.memory_mb
        );
        table
    }
}
