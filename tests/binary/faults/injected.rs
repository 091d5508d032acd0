//! The N-th write, flush or rename fails, or the server is killed at it. Afterwards acknowledged writes are there,
//! refused writes are not, and writes without an answer are there whole or not at all.
//!
//! `strace` makes the calls fail: the executable is static, so a preloaded library would not be used.
//! `TUNNELDESK_FAULTS` sets the number of faults that must have struck.

use super::{or_skip, rounds};
use crate::harness::{BINARY, Desk, Ended, Random, Server};
use crate::kills::{Client, OperationOutcome, Seed, Site};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const SHORT: u64 = 12;
const ROUNDS_A_SITE: u64 = 25;
/// The number of answers after which a round ends, whether or not the fault struck.
const ANSWERS_MAX: u64 = 400;
/// Few threads, so that one of them soon makes its N-th call: `strace` counts for each thread.
const WRITING_THREADS: &str = "4";
pub const TRACER: &str = "/usr/bin/strace";
/// The time for the tracer to write its last line.
const TRACER_TIME_MAX: Duration = Duration::from_secs(1);

/// System calls, and the most of each that one thread makes in a round.
const CALLS: [(&str, u64); 4] =
    [("pwrite64", 900), ("fsync,fdatasync", 60), ("rename,renameat,renameat2", 3), ("ftruncate,unlink", 3)];
const FAULTS: [&str; 3] = ["error=EIO", "error=ENOSPC", "signal=SIGKILL"];

#[derive(Debug)]
struct Fault {
    calls: &'static str,
    what: &'static str,
    at: u64,
}

impl Fault {
    fn choose(random: &mut Random) -> Fault {
        // Writes and flushes are chosen most often, because they carry data.
        let (calls, most) = CALLS[[0, 0, 0, 1, 1, 1, 2, 3][random.below(8) as usize]];
        let what = FAULTS[random.below(3) as usize];
        // Low numbers strike during the start; all other numbers are equally likely.
        let most = if random.below(3) == 0 { most.div_ceil(10) } else { most };
        Fault { calls, what, at: 1 + random.below(most) }
    }

    fn command(&self, desk: &Desk, trace: &Path) -> Command {
        let mut command = Command::new(TRACER);
        // With -D the tracer runs as a grandchild, so that our child is the server itself.
        command.args(["-D", "-f", "--seccomp-bpf", "-q", "-o"]).arg(trace);
        command.args(["-e", &format!("trace={}", self.calls)]);
        command.args(["-e", &format!("inject={}:{}:when={}", self.calls, self.what, self.at)]);
        command.args([BINARY, "serve"]).current_dir(desk.path()).env_clear().stdin(Stdio::null());
        command.env("TUNNELDESK_LIMITS_POOL_THREADS", WRITING_THREADS);
        command
    }
}

/// The counts of the answers.
#[derive(Default, Debug)]
struct Tally {
    done: AtomicU64,
    refused: AtomicU64,
    unknown: AtomicU64,
}

impl Tally {
    fn hear(&self, outcome: OperationOutcome) -> bool {
        let counter = match outcome {
            OperationOutcome::Done => &self.done,
            OperationOutcome::Refused(_) => &self.refused,
            OperationOutcome::Unknown => &self.unknown,
        };
        counter.fetch_add(1, Ordering::SeqCst);
        [&self.done, &self.refused, &self.unknown].iter().map(|it| it.load(Ordering::SeqCst)).sum::<u64>() < ANSWERS_MAX
    }
}

pub fn tracer() -> Result<(), String> {
    let traced = Command::new(TRACER).args(["-f", "--seccomp-bpf", "-qq", "-e", "trace=none", "/bin/true"]).output();
    match traced {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("strace may not trace here: {}", String::from_utf8_lossy(&output.stderr).trim())),
        Err(e) => Err(format!("{TRACER}: {e}")),
    }
}

#[test]
fn no_answer_lies_when_a_write_a_flush_or_a_rename_fails() {
    if or_skip(tracer()).is_none() {
        return;
    }
    let wanted = rounds("TUNNELDESK_FAULTS", SHORT);
    let seed = Seed(Random::seed());
    let mut random = Random::new(seed.0);
    let (mut struck, mut tried, total) = (0, 0, Tally::default());
    while struck < wanted {
        let mut site = Site::open_on(Desk::with_site(), &mut random);
        for _ in 0..ROUNDS_A_SITE {
            let fault = Fault::choose(&mut random);
            struck += u64::from(suffer(&mut site, &fault, &total));
            tried += 1;
            site.audit();
            if struck == wanted {
                break;
            }
        }
        println!("{struck} faults struck in {tried} rounds; {total:?}");
        assert!(tried < 10 * wanted + 20, "the faults do not strike: {struck} of {tried}");
    }
    let done = total.done.load(Ordering::SeqCst);
    assert!(done > wanted, "the clients did next to nothing: {done} deeds in {tried} rounds");
}

/// Runs one server under one fault. Returns whether the fault struck.
fn suffer(site: &mut Site, fault: &Fault, total: &Tally) -> bool {
    let trace = site.desk.path().join("trace");
    _ = std::fs::remove_file(&trace);
    let tally = Tally::default();
    let ended = match Server::try_start(fault.command(&site.desk, &trace)) {
        Ok(server) => {
            work(site, &server, &tally);
            server.terminate();
            server.ended()
        }
        Err(ended) => ended,
    };
    judge(fault, &ended);
    for (all, own) in [(&total.done, &tally.done), (&total.refused, &tally.refused), (&total.unknown, &tally.unknown)] {
        all.fetch_add(own.load(Ordering::SeqCst), Ordering::SeqCst);
    }
    has_struck(&trace)
}

/// Clients write until the round has enough answers or the server is gone. Backups are made meanwhile.
fn work(site: &mut Site, server: &Server, tally: &Tally) {
    let (cut, done) = (AtomicBool::new(false), AtomicBool::new(false));
    let (cut, done, desk, clients) = (&cut, &done, &site.desk, &mut site.clients);
    std::thread::scope(|scope| {
        let endure = |client: &mut Client| client.endure(server.address, cut, |outcome| tally.hear(outcome));
        let writers: Vec<_> = clients.iter_mut().map(|client| scope.spawn(move || endure(client))).collect();
        scope.spawn(move || {
            while !done.load(Ordering::SeqCst) {
                let code = desk.run(&["backup"]).code;
                assert!([Some(0), Some(2)].contains(&code), "a backup ended with {code:?}");
                if code != Some(0) {
                    return;
                }
            }
        });
        writers.into_iter().for_each(|writer| writer.join().unwrap());
        done.store(true, Ordering::SeqCst);
    });
}

/// A server ends as requested, by the kill, or with 2 after a disk error. In no case does it panic.
fn judge(fault: &Fault, ended: &Ended) {
    let said = ended.log.join("\n");
    assert!(!said.contains("panicked"), "{fault:?}: {said}");
    let kills = fault.what.starts_with("signal");
    match ended.code {
        Some(0 | 2) => {}
        None if kills => {}
        other => panic!("{fault:?}: ended with {other:?}: {said}"),
    }
    if ended.code == Some(2) {
        let told = ended.log.iter().filter(|line| line.starts_with("tunneldesk: ")).count();
        assert_eq!(told, 1, "{fault:?}: no line for the technician: {said}");
    }
}

fn has_struck(trace: &PathBuf) -> bool {
    let since = Instant::now();
    loop {
        let text = std::fs::read_to_string(trace).unwrap_or_default();
        if text.contains("(INJECTED)") || text.contains("+++ killed by SIGKILL") {
            return true;
        }
        if since.elapsed() > TRACER_TIME_MAX {
            return false;
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
}
