//! Requests as fast as they are answered, or at a fixed pace: each connection sends its own again and again, and an
//! answer with another status than the expected one ends the measurement.

use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub const CONNECTIONS: usize = 64;
const THREADS: usize = 2;
/// Connections are made and caches filled before anything counts.
const WARM_UP: Duration = Duration::from_millis(300);
/// An answer that takes this long is a hang.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
pub const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// What is asked, by connection in turn, and how it must be answered. Where there are more requests than connections,
/// each connection goes through its share of them.
pub struct Load {
    pub requests: Vec<Vec<u8>>,
    pub status: u16,
}

/// Who asks.
#[derive(Clone, Copy)]
pub struct Callers {
    pub connections: usize,
    /// From one request of a connection to its next; none: at once.
    pub every: Option<Duration>,
    /// Whether a request's time begins when it is due, so that waiting for the answer before counts, and all that are due
    /// are asked. Else it begins when the request is sent.
    pub open: bool,
}

/// As many as the bars speak of, in no mood to wait.
pub const EAGER: Callers = Callers { connections: CONNECTIONS, every: None, open: false };

/// When a measurement counts.
#[derive(Clone, Copy)]
struct Span {
    start: Instant,
    end: Instant,
}

/// What a run of a load saw.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub per_second: f64,
    /// All that were answered, also before and after what is measured.
    pub answers: usize,
    pub p50: Duration,
    pub p99: Duration,
    pub p999: Duration,
    /// What the server's process used of the processors for each answer; nothing where that was not looked at.
    pub cpu: Duration,
}

impl Seen {
    /// With what the server's process used meanwhile, shared out among all answers.
    pub fn costing(self, cpu: Duration) -> Seen {
        Seen { cpu: cpu.div_f64(self.answers.max(1) as f64), ..self }
    }
}

impl Callers {
    /// So many requests a second in all, whatever the answers take.
    pub fn at_rate(per_second: f64) -> Callers {
        let connections = CONNECTIONS.min(per_second.ceil().max(1.0) as usize);
        let every = Duration::from_secs_f64(connections as f64 / per_second.max(f64::MIN_POSITIVE));
        Callers { connections, every: Some(every), open: true }
    }
}

/// Runs all loads at the same time, each by its callers; what each saw, and all of them together.
pub fn run_together(
    loads: &[(&Load, Callers)],
    address: SocketAddr,
    time: Duration,
) -> Result<(Vec<Seen>, Seen), String> {
    let span = Span::of(time);
    let heard: Vec<Vec<Heard>> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            loads.iter().map(|(load, callers)| scope.spawn(move || load.hear(*callers, address, span))).collect();
        threads.into_iter().map(|thread| thread.join().expect("the generator does not panic")).collect::<Result<_, _>>()
    })?;
    let together = Seen::of(heard.concat(), span);
    Ok((heard.into_iter().map(|heard| Seen::of(heard, span)).collect(), together))
}

impl Load {
    /// Runs the load for so long.
    pub fn run(&self, address: SocketAddr, time: Duration) -> Result<Seen, String> {
        self.run_by(EAGER, address, Span::of(time))
    }

    /// Runs the load by these callers while others run theirs; what both saw.
    pub fn run_beside(
        &self,
        callers: Callers,
        others: &Load,
        address: SocketAddr,
        time: Duration,
    ) -> Result<(Seen, Seen), String> {
        let span = Span::of(time);
        std::thread::scope(|scope| {
            let beside = scope.spawn(move || others.run_by(EAGER, address, span));
            let seen = self.run_by(callers, address, span)?;
            Ok((seen, beside.join().expect("the generator does not panic")?))
        })
    }

    /// Runs the load by these callers while others run theirs at their own pace; what the first saw.
    pub fn run_among(
        &self,
        callers: Callers,
        (others, theirs): (&Load, Callers),
        address: SocketAddr,
        time: Duration,
    ) -> Result<Seen, String> {
        let span = Span::of(time);
        std::thread::scope(|scope| {
            let beside = scope.spawn(move || others.run_by(theirs, address, span));
            let seen = self.run_by(callers, address, span)?;
            beside.join().expect("the generator does not panic")?;
            Ok(seen)
        })
    }

    /// Runs the load for so long by these callers, and nobody else.
    pub fn run_by_these(&self, callers: Callers, address: SocketAddr, time: Duration) -> Result<Seen, String> {
        self.run_by(callers, address, Span::of(time))
    }

    fn run_by(&self, callers: Callers, address: SocketAddr, span: Span) -> Result<Seen, String> {
        self.hear(callers, address, span).map(|heard| Seen::of(heard, span))
    }

    fn hear(&self, callers: Callers, address: SocketAddr, span: Span) -> Result<Vec<Heard>, String> {
        let count = self.requests.len();
        let of_connection = |n: usize| -> Vec<&[u8]> {
            let step = callers.connections.min(count);
            (n % count..count).step_by(step).map(|place| &*self.requests[place]).collect()
        };
        let heard: Vec<Vec<Heard>> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS)
                .map(|thread| {
                    let share = (thread..callers.connections).step_by(THREADS).map(of_connection).collect();
                    scope.spawn(move || drive(address, share, self.status, callers, span))
                })
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("the generator does not panic"))
                .collect::<Result<Vec<_>, _>>()
        })?;
        Ok(heard.concat())
    }
}

impl Seen {
    fn of(heard: Vec<Heard>, span: Span) -> Seen {
        let answers = heard.iter().map(|heard| heard.answers).sum();
        let mut micros: Vec<u32> = heard.into_iter().flat_map(|heard| heard.micros).collect();
        micros.sort_unstable();
        // Of nothing answered, nothing: the bar says so.
        let last = micros.len().saturating_sub(1) as f64;
        let at = |part: f64| Duration::from_micros(micros.get((last * part) as usize).map_or(0, |m| u64::from(*m)));
        let seconds = (span.end - span.start).as_secs_f64();
        let per_second = micros.len() as f64 / seconds;
        Seen { per_second, answers, p50: at(0.50), p99: at(0.99), p999: at(0.999), cpu: Duration::ZERO }
    }
}

impl Span {
    fn of(time: Duration) -> Span {
        let start = Instant::now() + WARM_UP;
        Span { start, end: start + time }
    }
}

/// What one connection heard.
#[derive(Clone, Default)]
struct Heard {
    /// Of each answer within the span.
    micros: Vec<u32>,
    /// In all.
    answers: usize,
}

/// One thread's connections.
fn drive(
    address: SocketAddr,
    share: Vec<Vec<&[u8]>>,
    status: u16,
    callers: Callers,
    span: Span,
) -> Result<Vec<Heard>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|e| e.to_string())?;
    let local = tokio::task::LocalSet::new();
    local.block_on(&runtime, async {
        let count = share.len() as u32;
        let connections = share.into_iter().zip(0..).map(|(requests, place)| {
            let requests: Vec<Vec<u8>> = requests.into_iter().map(<[u8]>::to_vec).collect();
            tokio::task::spawn_local(tokio::time::timeout(
                span.end.saturating_duration_since(Instant::now()) + ANSWER_TIME_MAX,
                async move {
                    // Not all at the same moment.
                    tokio::time::sleep(callers.every.unwrap_or_default() * place / count).await;
                    repeat(address, &requests, status, callers, span).await
                },
            ))
        });
        let mut all = Vec::new();
        for connection in connections.collect::<Vec<_>>() {
            let seen = connection.await.map_err(|e| e.to_string())?.map_err(|_| "an answer did not come".to_owned())?;
            all.push(seen?);
        }
        Ok(all)
    })
}

async fn repeat(
    address: SocketAddr,
    requests: &[Vec<u8>],
    status: u16,
    callers: Callers,
    span: Span,
) -> Result<Heard, String> {
    let broken = |e: std::io::Error| format!("a connection broke: {e}");
    let mut stream = TcpStream::connect(address).await.map_err(broken)?;
    stream.set_nodelay(true).map_err(broken)?;
    let (mut heard, mut buffer) = (Heard::default(), vec![0; ANSWER_BYTES_MAX]);
    let mut due = Instant::now();
    for request in requests.iter().cycle() {
        let sent = if callers.open { due } else { Instant::now() };
        if sent >= span.end {
            break;
        }
        stream.write_all(request).await.map_err(broken)?;
        let answer = read_answer(&mut stream, &mut buffer).await.map_err(broken)?;
        if !answer.starts_with(format_status(status).as_slice()) {
            return Err(format!("expected {status}, got: {}", String::from_utf8_lossy(answer)));
        }
        let done = Instant::now();
        heard.answers += 1;
        if (span.start..=span.end).contains(&done) {
            heard.micros.push((done - sent).as_micros() as u32);
        }
        if let Some(every) = callers.every {
            due = sent + every;
            tokio::time::sleep_until(due.into()).await;
        }
    }
    Ok(heard)
}

/// `HTTP/1.1 200`, without the heap.
fn format_status(status: u16) -> [u8; 12] {
    let mut line = *b"HTTP/1.1 000";
    for (place, unit) in [(9, 100), (10, 10), (11, 1)] {
        line[place] += (status / unit % 10) as u8;
    }
    line
}

/// The whole answer: its head, and as much body as `content-length` says.
async fn read_answer<'b>(stream: &mut TcpStream, buffer: &'b mut [u8]) -> std::io::Result<&'b [u8]> {
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            return Err(std::io::ErrorKind::OutOfMemory.into());
        }
        let read = stream.read(&mut buffer[filled..]).await?;
        if read == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        filled += read;
        if answer_bytes(&buffer[..filled]).is_some_and(|bytes| filled >= bytes) {
            return Ok(&buffer[..filled]);
        }
    }
}

/// How long the answer will be, once its head is there.
fn answer_bytes(seen: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\r\ncontent-length: ";
    let head = seen.windows(4).position(|four| four == b"\r\n\r\n")?;
    let is_name = |name: &[u8]| name[0] == b'\r' && name.eq_ignore_ascii_case(NAME);
    let value = seen[..head].windows(NAME.len()).position(is_name)? + NAME.len();
    let digits = seen[value..].iter().take_while(|byte| byte.is_ascii_digit());
    Some(head + 4 + digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}
