//! Nothing acknowledged is lost: the server is killed at random moments under mixed writes, started again on the same
//! data directory, and audited, over HTTP and in the database.
//!
//! Each client is one member and runs one operation after the other, so the client knows what must be there: every
//! answered operation, and at the moment of the kill possibly one more. `TUNNELDESK_KILLS` sets the number of rounds.

mod audit;
pub mod checkpoint;
mod client;
mod file;
mod operations;
mod unfinished;

use crate::harness::{Caller, Desk, Random, Server};
pub use client::{Client, OperationOutcome};
pub use file::make_current;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

pub const CLIENTS: usize = 16;
const ROUNDS: u64 = 30;
/// The number of rounds for which one site is used; with more, its audit would take longer than its writes.
const ROUNDS_A_SITE: u64 = 40;
/// The most operations in a round before the kill.
const OPERATIONS_MAX: u64 = 300;
const KILL_DELAY_MICROS_MAX: u64 = 4_000;
/// The time for a start after a kill in the campaign, where no other test runs. Beside other tests only a hang fails.
const READY_TIME_MAX: Duration = Duration::from_secs(2);
const READY_TIME_MAX_BESIDE: Duration = Duration::from_secs(30);

/// The number of rounds in a campaign, where only the kills run; `None` in the suite.
fn campaign() -> Option<u64> {
    std::env::var("TUNNELDESK_KILLS").ok().map(|rounds| rounds.parse().expect("a number of rounds"))
}

#[test]
fn nothing_acknowledged_is_lost_when_the_server_is_killed() {
    let rounds = campaign().unwrap_or(ROUNDS);
    let seed = Seed(Random::seed());
    let mut random = Random::new(seed.0);
    let (mut done, mut operations) = (0, 0);
    while done < rounds {
        let more = ROUNDS_A_SITE.min(rounds - done);
        operations += Site::open(&mut random).suffer(more, &mut random);
        done += more;
        println!("{done} kills survived, {operations} deeds acknowledged and found");
    }
    assert!(operations > rounds, "the clients did next to nothing: {operations} deeds in {rounds} rounds");
}

/// Prints on failure how to repeat the run.
pub struct Seed(pub u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("again with: TUNNELDESK_SEED={}", self.0);
        }
    }
}

/// A site, and clients that know what must be in it.
pub struct Site {
    pub desk: Desk,
    sync: Caller,
    pub clients: Vec<Client>,
}

impl Site {
    /// A site with its members, the first half of them current flyers.
    fn open(random: &mut Random) -> Site {
        Site::open_on(Desk::with_site(), random)
    }

    /// As [`Site::open`], on a desk that has a site already.
    pub fn open_on(desk: Desk, random: &mut Random) -> Site {
        let ids: Vec<i64> = (0..CLIENTS).map(|n| desk.add_member(&format!("flyer-{n}"), "member")).collect();
        let partner = desk.add_partner(&["--requests-per-minute", "0"]);
        file::make_current(&desk.database(), &ids[..CLIENTS / 2]);
        let sync = desk.sync_session();
        let server = desk.serve();
        let clients = ids.iter().enumerate().map(|(number, &member_id)| {
            let session = server.sign_in(&format!("flyer-{number}"), crate::harness::PASSWORD);
            Client::new(number, member_id, session, partner.clone(), Random::new(random.next()))
        });
        let clients = clients.collect();
        assert_eq!(server.stop().code, Some(0));
        Site { desk, sync, clients }
    }

    /// Checks what a server left: first in the database, then over HTTP with a new server.
    pub fn audit(&mut self) {
        file::audit(&self.desk.data(), &mut self.clients);
        let server = self.start(0);
        self.make_good(&server);
        audit::over_http(&server, &self.sync, &self.clients);
        // The site stays open until here, because opening it may have moved the WAL into the database.
        assert_eq!(server.stop().code, Some(0));
    }

    /// The number of acknowledged rows that are not in the database, where that is allowed: entries, bookings and
    /// records of users.
    pub fn count_lost(&self) -> usize {
        file::count_lost(&self.desk.data(), &self.clients)
    }

    /// Kills the server `rounds` times. Returns the number of acknowledged operations.
    fn suffer(mut self, rounds: u64, random: &mut Random) -> u64 {
        let mut operations = 0;
        for round in 0..rounds {
            let server = self.start(round);
            self.make_good(&server);
            audit::over_http(&server, &self.sync, &self.clients);
            operations += self.write_until_killed(&server, random);
            let log = server.ended().log;
            let odd = log.iter().find(|line| line.contains(r#""level":"ERROR""#));
            assert_eq!(odd, None, "round {round}");
            file::audit(&self.desk.data(), &mut self.clients);
        }
        operations
    }

    /// Starts the server on the directory as the kill left it, within the time limit for accepting requests.
    fn start(&self, round: u64) -> Server {
        let since = Instant::now();
        let server = self.desk.serve();
        let answer = server.get(&Caller::Anyone, "/readyz");
        let took = since.elapsed();
        assert_eq!((answer.status, &*answer.body), (200, "ready\n"));
        let most = if campaign().is_some() { READY_TIME_MAX } else { READY_TIME_MAX_BESIDE };
        assert!(took < most, "round {round}: ready after {took:?}");
        server
    }

    /// Each client sends its unanswered request again if the request has a key.
    fn make_good(&mut self, server: &Server) {
        self.clients.iter_mut().for_each(|client| client.retry_pending(server.address));
    }

    fn write_until_killed(&mut self, server: &Server, random: &mut Random) -> u64 {
        let (enough, delay) =
            (1 + random.below(OPERATIONS_MAX), Duration::from_micros(random.below(KILL_DELAY_MICROS_MAX)));
        let (done, killed) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let killer = std::thread::current();
        std::thread::scope(|scope| {
            for client in &mut self.clients {
                let (done, killed, killer) = (done.clone(), killed.clone(), killer.clone());
                scope.spawn(move || {
                    client.work(server.address, || {
                        if done.fetch_add(1, Ordering::SeqCst) + 1 == enough {
                            killer.unpark();
                        }
                    });
                    assert!(killed.load(Ordering::SeqCst), "a connection broke while the server ran");
                });
            }
            while done.load(Ordering::SeqCst) < enough {
                std::thread::park_timeout(Duration::from_secs(1));
            }
            // A random delay before the kill, so that kills meet every stage of a write.
            std::thread::sleep(delay);
            killed.store(true, Ordering::SeqCst);
            server.kill();
        });
        done.load(Ordering::SeqCst)
    }
}
