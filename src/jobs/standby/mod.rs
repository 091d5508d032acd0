//! The standby's side of replication: fetches a base, followed by tick after tick; each request names the position that
//! is on the standby's disk. A promoted machine notifies the one that it replaced.

mod client;

use crate::clock::Clock;
use crate::ops::standby::copy::{Copy, Incoming, Trouble, is_promoted};
use crate::ops::standby::epoch::{self, Main};
use crate::ops::standby::protocol::Reply;
use crate::site::Site;
use crate::store::engine::data_dir::standby_copy;
use client::PrimaryClient;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::Duration;

pub(crate) use client::token_in;

/// The pause between two attempts while the primary does not answer.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// The pause between two requests for a base that is being created.
const BASE_PAUSE: Duration = Duration::from_millis(500);
/// The pause before the next request, where there was no new commit.
const IDLE_PAUSE: Duration = Duration::from_millis(20);
/// The pause between two attempts to notify the replaced machine.
const TELL_INTERVAL: Duration = Duration::from_secs(2);
/// Seconds between two log lines on the progress.
const PROGRESS_INTERVAL_SECONDS: i64 = 60;
/// Seconds between two log lines on the same error.
const TROUBLE_INTERVAL_SECONDS: i64 = 60;

/// The greatest size of a tick, which is kept in memory. Instead of a larger tick, a base is fetched, which is written
/// to the disk part by part.
const TICK_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A running standby.
struct Follower<'f> {
    data: &'f Path,
    main: &'f Main,
    client: PrimaryClient,
    clock: Clock,
    copy: Option<Copy>,
    /// The last logged error, empty after a line on the progress; and the moment of that line (Unix seconds).
    logged: (String, i64),
}

/// Follows a site into a locked data directory until the process ends, or until the followed site lacks writes that the copy
/// has. The error is one line.
pub(crate) fn follow(data: &Path, main: &Main) -> Result<std::convert::Infallible, Trouble> {
    if is_promoted(&standby_copy(data)) {
        return Err("a promotion was interrupted here: run `tunneldesk promote` again".to_owned().into());
    }
    let client = PrimaryClient::new(main)?;
    let copy = match Copy::open(&standby_copy(data)) {
        Ok(copy) => copy,
        Err(cause) => {
            tracing::error!(cause, "the copy must not be used; another is fetched");
            None
        }
    };
    let clock = Clock::machine(0);
    let mut follower = Follower { data, main, client, clock, copy, logged: (String::new(), 0) };
    tracing::info!(from = main.url, "following");
    loop {
        match follower.round() {
            Ok(()) => {}
            Err(refusal @ Trouble::OlderSite(_)) => return Err(refusal),
            Err(Trouble::Failed(cause)) => {
                follower.log_trouble(&cause);
                std::thread::sleep(RETRY_PAUSE);
            }
        }
    }
}

impl Follower<'_> {
    /// Fetches the next tick, or a base where no copy can be continued.
    fn round(&mut self) -> Result<(), Trouble> {
        let known = self.copy.as_ref().map_or(0, Copy::epoch);
        let Some(copy) = &mut self.copy else { return self.fetch_base(known) };
        let (lineage, number) = (copy.lineage().to_owned(), copy.number());
        let response = self.client.tick(&lineage, number, 0, known)?;
        if response.epoch < known {
            let cause = format!(
                "{} is a replaced machine: epoch {known} is in force, and it has {}",
                self.main.url, response.epoch
            );
            return Err(cause.into());
        }
        copy.note_main(response.epoch, self.main).map_err(|e| format!("cannot write the standby's copy: {e}"))?;
        match response.reply {
            Reply::Replaced => Err(format!("{} was replaced by another machine", self.main.url).into()),
            Reply::BaseNeeded | Reply::BaseInProgress => self.fetch_base(known),
            Reply::Nothing => {
                self.log_progress();
                std::thread::sleep(IDLE_PAUSE);
                Ok(())
            }
            Reply::Part { total, .. } if total > TICK_BYTES_MAX => {
                tracing::info!(bytes = total, "the next tick is larger than a standby takes; a new base is fetched");
                self.fetch_base(known)
            }
            Reply::Part { bytes, total } => {
                let tick = self.rest_of_tick(bytes, total, &lineage, number, known)?;
                let taken = self.copy.as_mut().map_or(Ok(()), |copy| copy.take(tick));
                if taken.is_err() {
                    // The copy on the disk stays until a new base is complete.
                    self.copy = None;
                }
                taken?;
                self.log_progress();
                Ok(())
            }
        }
    }

    fn rest_of_tick(
        &mut self,
        mut bytes: Vec<u8>,
        total: u64,
        lineage: &str,
        number: u64,
        known: u64,
    ) -> Result<Vec<u8>, String> {
        while (bytes.len() as u64) < total {
            match self.client.tick(lineage, number, bytes.len() as u64, known)?.reply {
                Reply::Part { bytes: more, total: again } if again == total && !more.is_empty() => bytes.extend(more),
                _ => return Err("a tick was truncated".to_owned()),
            }
        }
        Ok(bytes)
    }

    fn fetch_base(&mut self, known: u64) -> Result<(), Trouble> {
        let failed = |e: std::io::Error| format!("cannot write the standby's copy: {e}");
        let mut incoming: Option<(Incoming, u64)> = None;
        loop {
            let (lineage, offset) = incoming.as_ref().map_or(("", 0), |(base, offset)| (base.lineage(), *offset));
            let response = self.client.base(lineage, offset, known)?;
            match response.reply {
                Reply::BaseInProgress if incoming.is_none() => std::thread::sleep(BASE_PAUSE),
                Reply::Replaced => return Err(format!("{} was replaced by another machine", self.main.url).into()),
                Reply::Part { bytes, total } if !bytes.is_empty() => {
                    let (mut base, offset) = match incoming.take() {
                        Some(begun) => begun,
                        None => {
                            let moment = self.copy.as_ref().map(Copy::moment);
                            (Incoming::begin(&standby_copy(self.data), moment).map_err(failed)?, 0)
                        }
                    };
                    base.take(&bytes)?;
                    let offset = offset + bytes.len() as u64;
                    if offset >= total {
                        self.copy = None;
                        self.copy = Some(base.finish(response.epoch, self.main)?);
                        tracing::info!(bytes = total, "the base is there");
                        return Ok(());
                    }
                    incoming = Some((base, offset));
                }
                _ => return Err("the base was truncated".to_owned().into()),
            }
        }
    }

    /// Logs the progress at most once a minute, and after an error.
    fn log_progress(&mut self) {
        let now = self.clock.now();
        if self.logged.0.is_empty() && now < self.logged.1 + PROGRESS_INTERVAL_SECONDS {
            return;
        }
        self.logged = (String::new(), now);
        if let Some(copy) = &self.copy {
            tracing::info!(ticks = copy.number(), last_write = copy.moment(), "the copy is up to date");
        }
    }

    /// Logs each new error, and repeats it every minute while it lasts.
    fn log_trouble(&mut self, cause: &str) {
        let now = self.clock.now();
        if self.logged.0 != cause || now >= self.logged.1 + TROUBLE_INTERVAL_SECONDS {
            tracing::error!(cause, "the copy cannot be continued now; it is tried again");
            self.logged = (cause.to_owned(), now);
        }
    }
}

/// Notifies the machine that this one replaced of the promotion, until that machine knows or the sender of `stop` is
/// dropped.
pub(crate) fn tell_until_known(site: &Site, stop: &Receiver<()>) {
    let mut client: Option<PrimaryClient> = None;
    loop {
        let own = epoch::own(&site.config.data);
        let Some(main) = &own.main else { return };
        let response = match &mut client {
            Some(client) => client.promoted(own.epoch),
            none => PrimaryClient::new(main).and_then(|new| none.insert(new).promoted(own.epoch)),
        };
        match response {
            Ok(response) if response.epoch > own.epoch => {
                _ = epoch::fence_if_higher(site, response.epoch, "the machine that was followed");
                return;
            }
            Ok(response) if response.reply == Reply::Replaced => {
                tracing::info!(main = main.url, "the replaced machine knows of the promotion");
                let noted = epoch::change_own(&site.config.data, |own| own.main = None);
                _ = noted.inspect_err(
                    |e| tracing::warn!(cause = %e, "cannot note that the replaced machine knows of the promotion"),
                );
                site.forget_health();
                return;
            }
            Ok(_) => {}
            Err(cause) => tracing::debug!(cause, "the replaced machine does not answer"),
        }
        if stop.recv_timeout(TELL_INTERVAL) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::replication::tick::PageSums;
    use crate::ops::standby::copy::Meta;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::net::TcpListener;
    use std::os::unix::fs::PermissionsExt;

    /// Answers one request with each answer: its kind, a body of one byte, and its total. Returns the kinds of the requests.
    fn answering(answers: &'static [(&str, u64)]) -> (String, std::thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = std::thread::spawn(move || {
            let answer = |(word, all): &(&str, u64)| {
                let mut stream = BufReader::new(listener.accept().unwrap().0);
                stream.get_ref().set_read_timeout(Some(Duration::from_secs(10))).unwrap();
                let (mut head, mut body) = (String::new(), String::new());
                while !head.ends_with("\r\n\r\n") {
                    assert!(stream.read_line(&mut head).unwrap() > 0);
                }
                let length =
                    head.to_lowercase().lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
                (&mut stream).take(length.unwrap()).read_to_string(&mut body).unwrap();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 1\r\nx-standby: {word}\r\nx-standby-epoch: 0\r\n\
                     x-standby-bytes: {all}\r\n\r\n."
                );
                stream.get_mut().write_all(head.as_bytes()).unwrap();
                let body: serde_json::Value = serde_json::from_str(&body).unwrap();
                body["wish"].as_str().unwrap().to_owned()
            };
            answers.iter().map(answer).collect()
        });
        (url, asked)
    }

    fn wishes(answers: &'static [(&str, u64)]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        let (url, asked) = answering(answers);
        let token_file = dir.path().join("token");
        std::fs::write(&token_file, "4f".repeat(32)).unwrap();
        std::fs::set_permissions(&token_file, std::fs::Permissions::from_mode(0o600)).unwrap();
        let main = Main { url, token_file, ca_file: None };
        let page = dir.path().join("page");
        std::fs::write(&page, [7; 4096]).unwrap();
        let sums = PageSums::of_file(&page).unwrap();
        let meta = Meta {
            site_id: "ab".to_owned(),
            lineage: "cd".repeat(16),
            moment: 7,
            checksum: format!("{:016x}", sums.whole()),
            pages: sums.pages(),
            key: "ef".to_owned(),
        };
        let mut base = Incoming::begin(&standby_copy(dir.path()), None).unwrap();
        base.take(&[meta.to_bytes(), vec![7; 4096]].concat()).unwrap();
        let copy = Some(base.finish(0, &main).unwrap());
        let client = PrimaryClient::new(&main).unwrap();
        let clock = Clock::machine(0);
        let mut follower = Follower { data: dir.path(), main: &main, client, clock, copy, logged: (String::new(), 0) };
        assert!(follower.round().is_err());
        asked.join().unwrap()
    }

    #[test]
    fn a_base_is_fetched_instead_of_a_tick_that_is_too_large_for_the_memory() {
        assert_eq!(wishes(&[("part", TICK_BYTES_MAX), ("nothing", 0)]), ["tick", "tick"]);
        assert_eq!(wishes(&[("part", TICK_BYTES_MAX + 1), ("nothing", 0)]), ["tick", "base"]);
    }
}
