//! Twenty screens that show *Today*: the time until each has received the event of a check-in, and until each has
//! loaded the page again.

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
/// The same limit as under every other load.
pub const MEMORY_MB_MAX: f64 = 64.0;
/// The measurement ends if a screen receives no event for this long.
const HEARS_WITHIN: Duration = Duration::from_secs(30);

/// The times of the slowest screen in the slowest round, and the server's peak memory.
pub struct Heard {
    pub rounds: usize,
    pub event: Duration,
    pub page: Duration,
    pub memory_mb: f64,
}

/// Checks `ROUNDS` of the displayed arrivals in, one after the other, while the screens listen.
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

/// The bookings on the page that can be checked in, at most `ROUNDS`: late in the day few are left.
fn expected(page: &str) -> Result<Vec<i64>, String> {
    let ends = page.match_indices("/check-in aria-labelledby=").map(|(end, _)| &page[..end]);
    let numbers = ends.filter_map(|before| before.rsplit('/').next()?.parse().ok());
    let bookings: Vec<i64> = numbers.take(ROUNDS).collect();
    if bookings.is_empty() { Err("today shows nobody to check in".to_owned()) } else { Ok(bookings) }
}

/// The stream of the desk's events, after its head.
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

/// The moments at which a screen received the event and had the page with the check-in. An event may be about an
/// earlier change; the page is loaded after each event, as a browser does.
fn see(stream: &mut BufReader<TcpStream>, screen: &mut Clerk, booking: i64) -> Result<(Instant, Instant), String> {
    let (here, since) = (format!("/desk/bookings/{booking}/check-in/undo"), Instant::now());
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
