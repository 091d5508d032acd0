//! The standby's side of replication: fetches a base, followed by tick after tick; each request names the position that
//! is on the standby's disk. A promoted machine asks the one that it followed which of the two is the main one.

mod client;

use crate::clock::Clock;
use crate::keys::{hex, random, unhex};
use crate::moment::Moment;
use crate::ops::standby::claim;
use crate::ops::standby::copy::{Copy, Incoming, Trouble, is_promoted};
use crate::ops::standby::epoch::{self, Main};
use crate::ops::standby::protocol::Reply;
use crate::site::Site;
use crate::store::data_dir::standby_copy;
use client::{ANSWER_TIME_MAX, PrimaryClient, Response, TICK_TIME_MAX};
use std::path::Path;
use std::sync::mpsc::Receiver;
use std::time::Duration;

pub(crate) use client::{Serving, serving, token_in};

/// The pause between two attempts while the main machine does not answer.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// The pause between two requests for a base that is being created.
const BASE_PAUSE: Duration = Duration::from_millis(500);
/// The pause before the next request, where there was no new commit.
const IDLE_PAUSE: Duration = Duration::from_millis(20);
/// The pause between two questions to the machine that was followed.
const ASK_INTERVAL: Duration = Duration::from_secs(2);
/// Seconds between two log lines on the progress.
const PROGRESS_INTERVAL_SECONDS: i64 = 60;
/// Seconds between two log lines on the same error.
const TROUBLE_INTERVAL_SECONDS: i64 = 60;

/// The file with the id of a standby, in hex.
const ID: &str = "standby.id";
const ID_BYTES: usize = 16;
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
    logged: (String, Moment),
}

/// Follows a site into a locked data directory until the process ends, or until the followed site lacks writes that the copy
/// has. The error is one line.
pub(crate) fn follow(data: &Path, main: &Main) -> Result<std::convert::Infallible, Trouble> {
    if is_promoted(&standby_copy(data)) {
        return Err("a promotion was interrupted here: run `tunneldesk promote` again".to_owned().into());
    }
    let client = PrimaryClient::new(main, &follower_id(data), TICK_TIME_MAX)?;
    let copy = match Copy::open(&standby_copy(data)) {
        Ok(copy) => copy,
        Err(cause) => {
            tracing::error!(cause, "the copy must not be used; another is fetched");
            None
        }
    };
    let clock = Clock::machine(Moment(0));
    let mut follower = Follower { data, main, client, clock, copy, logged: (String::new(), Moment(0)) };
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

/// By this id the main machine distinguishes this standby from another one, also after a restart.
fn follower_id(data: &Path) -> String {
    let path = data.join(ID);
    let known = crate::files::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    known.filter(|text| unhex(text).is_some_and(|id| id.len() == ID_BYTES)).unwrap_or_else(|| {
        let id = hex(&random::<ID_BYTES>());
        if let Err(cause) = crate::files::write(&path, &id) {
            tracing::warn!(%cause, "cannot write the id of this standby");
        }
        id
    })
}

impl Follower<'_> {
    /// Fetches the next tick, or a base where no copy can be continued.
    fn round(&mut self) -> Result<(), Trouble> {
        let known = self.copy.as_ref().map_or(0, Copy::epoch);
        let Some(copy) = &mut self.copy else { return self.fetch_base(known) };
        let (lineage, number) = (copy.lineage().to_owned(), copy.number());
        let response = self.client.tick(&lineage, number, 0, known)?;
        let epoch = response.claim.epoch;
        if epoch < known {
            let cause =
                format!("{} is a replaced machine: epoch {known} is in force, and it has {epoch}", self.main.url);
            return Err(cause.into());
        }
        copy.note_main(epoch, self.main).map_err(|e| format!("cannot write the standby's copy: {e}"))?;
        match response.reply {
            Reply::Replaced => Err(format!("{} was replaced by another machine", self.main.url).into()),
            Reply::OtherSite => Err(format!("{} has another site", self.main.url).into()),
            Reply::Taken => Err(self.second().into()),
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
                Reply::Taken => return Err(self.second().into()),
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
                        self.copy = Some(base.finish(response.claim.epoch, self.main)?);
                        tracing::info!(bytes = total, "the base is there");
                        return Ok(());
                    }
                    incoming = Some((base, offset));
                }
                _ => return Err("the base was truncated".to_owned().into()),
            }
        }
    }

    /// The error where another standby follows.
    fn second(&self) -> String {
        format!(
            "another standby follows {}, and there is one at a time: stop that one, and this one begins by itself",
            self.main.url
        )
    }

    /// Logs the progress at most once a minute, and after an error.
    fn log_progress(&mut self) {
        let now = self.clock.now();
        if self.logged.0.is_empty() && now < self.logged.1 + PROGRESS_INTERVAL_SECONDS {
            return;
        }
        self.logged = (String::new(), now);
        if let Some(copy) = &self.copy {
            tracing::info!(ticks = copy.number(), last_write = %copy.moment(), "the copy is up to date");
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

/// Asks the machine that this one followed which of the two is the main one, from the promotion on until the sender of `stop` is
/// dropped: that machine may come back at any time, and may be promoted too.
pub(crate) fn ask_former_main(site: &Site, stop: &Receiver<()>) {
    let Some(main) = epoch::own(&site.config.data).main else { return };
    let mut client: Option<PrimaryClient> = None;
    let mut logged = String::new();
    loop {
        let (claim, url) = claim::known(site);
        let ask = |client: &PrimaryClient| client.promoted(&site.site_id, &claim, url.as_deref());
        let response = match &client {
            Some(client) => ask(client),
            None => PrimaryClient::new(&main, "", ANSWER_TIME_MAX).and_then(|new| ask(client.insert(new))),
        };
        match response {
            Ok(Response { reply: Reply::OtherSite, .. }) => log_once(&mut logged, "another site answers there"),
            Ok(Response { reply, claim }) => {
                claim::hear_main(site, &claim, reply == Reply::Replaced, &main.url);
                logged.clear();
            }
            Err(cause) => log_once(&mut logged, &cause),
        }
        if !site.rest(stop, ASK_INTERVAL) {
            return;
        }
    }
}

/// Logs once why the machine that was followed says nothing, until it answers again.
fn log_once(logged: &mut String, cause: &str) {
    if logged.is_empty() {
        tracing::warn!(cause, "the machine that was followed does not answer; it is asked again and again");
        cause.clone_into(logged);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::replication::tick::PageSums;
    use crate::ops::signature::Signer;
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
            moment: Moment(7),
            checksum: format!("{:016x}", sums.whole()),
            pages: sums.pages(),
            key: "ef".to_owned(),
            signing_key: Signer::new().text(),
        };
        let mut base = Incoming::begin(&standby_copy(dir.path()), None).unwrap();
        base.take(&[meta.to_bytes(), vec![7; 4096]].concat()).unwrap();
        let copy = Some(base.finish(0, &main).unwrap());
        let client = PrimaryClient::new(&main, "", TICK_TIME_MAX).unwrap();
        let clock = Clock::machine(Moment(0));
        let mut follower =
            Follower { data: dir.path(), main: &main, client, clock, copy, logged: (String::new(), Moment(0)) };
        assert!(follower.round().is_err());
        asked.join().unwrap()
    }

    #[test]
    fn a_base_is_fetched_instead_of_a_tick_that_is_too_large_for_the_memory() {
        assert_eq!(wishes(&[("part", TICK_BYTES_MAX), ("nothing", 0)]), ["tick", "tick"]);
        assert_eq!(wishes(&[("part", TICK_BYTES_MAX + 1), ("nothing", 0)]), ["tick", "base"]);
    }
}
