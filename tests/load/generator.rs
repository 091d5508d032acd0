//! Load generator: requests as fast as they are answered, or at a fixed rate. Each connection repeats its own requests,
//! and an answer with an unexpected status ends the measurement.

use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub const CONNECTIONS: usize = 64;
const THREADS: usize = 2;
/// The time before a measurement counts, in which connections are made and caches filled.
const WARM_UP: Duration = Duration::from_millis(300);
/// The time after which an answer counts as hanging.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(30);
pub const ANSWER_BYTES_MAX: usize = 8 * 1024 * 1024;

/// The requests, for the connections in turn, and their expected status. If there are more requests than connections,
/// each connection sends its share in turn.
pub struct Load {
    pub requests: Vec<Vec<u8>>,
    /// Any of these is right.
    pub statuses: &'static [u16],
}

/// The number and the pace of the connections.
#[derive(Clone, Copy)]
pub struct Callers {
    pub connections: usize,
    /// The time from one request of a connection to its next; `None`: no pause.
    pub every: Option<Duration>,
    /// Whether the time of a request begins when it is due: then waiting for the previous answer counts, and every due
    /// request is sent. Otherwise the time begins when the request is sent.
    pub open: bool,
}

/// As many connections as the targets name, without pauses.
pub const EAGER: Callers = Callers { connections: CONNECTIONS, every: None, open: false };

/// The time in which a measurement counts.
#[derive(Clone, Copy)]
struct Span {
    start: Instant,
    end: Instant,
}

/// The results of a run.
#[derive(Debug, Clone, Copy)]
pub struct Seen {
    pub per_second: f64,
    /// All answers, including those before and after the measured time.
    pub answers: usize,
    pub p50: Duration,
    pub p99: Duration,
    pub p999: Duration,
    /// The processor time of the server's process for each answer; zero if not measured.
    pub cpu: Duration,
}

impl Seen {
    /// Adds the processor time that the server used meanwhile, divided by the number of all answers.
    pub fn costing(self, cpu: Duration) -> Seen {
        Seen { cpu: cpu.div_f64(self.answers.max(1) as f64), ..self }
    }
}

impl Callers {
    /// This many requests a second in all, however long the answers take.
    pub fn at_rate(per_second: f64) -> Callers {
        let connections = CONNECTIONS.min(per_second.ceil().max(1.0) as usize);
        let every = Duration::from_secs_f64(connections as f64 / per_second.max(f64::MIN_POSITIVE));
        Callers { connections, every: Some(every), open: true }
    }
}

/// Runs all loads at the same time, each with its callers. Returns the results of each, and of all together.
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
    /// Runs the load for this long.
    pub fn run(&self, address: SocketAddr, time: Duration) -> Result<Seen, String> {
        self.run_by(EAGER, address, Span::of(time))
    }

    /// Runs the load with these callers beside another load. Returns the results of both.
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

    /// Runs the load with these callers beside another load at its own pace. Returns the results of the first.
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

    /// Runs the load for this long with these callers alone.
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
                    scope.spawn(move || drive(address, share, self.statuses, callers, span))
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
        // Without answers the times are zero, and the target is missed.
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

/// The answers on one connection.
#[derive(Clone, Default)]
struct Heard {
    /// The time of each answer within the span, in microseconds.
    micros: Vec<u32>,
    /// The number of all answers.
    answers: usize,
}

/// Runs the connections of one thread.
fn drive(
    address: SocketAddr,
    share: Vec<Vec<&[u8]>>,
    statuses: &'static [u16],
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
                    // The connections start at different moments.
                    tokio::time::sleep(callers.every.unwrap_or_default() * place / count).await;
                    repeat(address, &requests, statuses, callers, span).await
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
    statuses: &'static [u16],
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
        if !statuses.iter().any(|status| answer.starts_with(&format_status(*status))) {
            return Err(format!("expected {statuses:?}, got: {}", String::from_utf8_lossy(answer)));
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

/// `HTTP/1.1 200`, without an allocation.
fn format_status(status: u16) -> [u8; 12] {
    let mut line = *b"HTTP/1.1 000";
    for (place, unit) in [(9, 100), (10, 10), (11, 1)] {
        line[place] += (status / unit % 10) as u8;
    }
    line
}

/// Reads a whole answer: its head, and as much body as `content-length` says.
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

/// The length of the whole answer, once its head has arrived.
fn answer_bytes(seen: &[u8]) -> Option<usize> {
    const NAME: &[u8] = b"\r\ncontent-length: ";
    let head = seen.windows(4).position(|four| four == b"\r\n\r\n")?;
    let is_name = |name: &[u8]| name[0] == b'\r' && name.eq_ignore_ascii_case(NAME);
    let value = seen[..head].windows(NAME.len()).position(is_name)? + NAME.len();
    let digits = seen[value..].iter().take_while(|byte| byte.is_ascii_digit());
    Some(head + 4 + digits.fold(0, |number, digit| number * 10 + usize::from(digit - b'0')))
}
