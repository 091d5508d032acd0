//! Storms: the real job over a real database sends to a receiver behind a network that loses, delays and repeats, while
//! the process is killed, clocks jump, the receiver falls back, and databases are replaced by copies. In the end the
//! receiver has what the site sent, in order. `TUNNELDESK_STORMS` sets the number (`tests/sync-storms`),
//! `TUNNELDESK_SEED` the start.

use super::book::Book;
use super::random::Random;
use super::{add_rows, settings};
use crate::harness::hold;
use serde_json::Value;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;
use tunneldesk::clock::Clock;
use tunneldesk::config::{Config, Upstream as Kind};
use tunneldesk::domain::ids::TunnelId;
use tunneldesk::jobs::sync::lock::SyncLock;
use tunneldesk::jobs::sync::{Batch, Position, SiteSource, Step, Trouble, Uploader, Upstream};
use tunneldesk::moment::Moment;
use tunneldesk::ops::lifecycle::Identity;
use tunneldesk::site::Site;
use tunneldesk::store::data_dir::DataDir;
use tunneldesk::store::tables::sync as kept;

const STORMS: u64 = 40;
const START: i64 = 1_780_000_000;
const DAY: i64 = 86_400;

/// The error of a killed process.
struct Crash;

/// The network and the receiver at its end.
struct World {
    rng: Random,
    book: Book,
    /// The number of rows in the receiver's backup.
    backup: usize,
    /// Batches that are delayed in the network.
    delayed: Vec<Vec<u8>>,
    calm: bool,
    tally: Tally,
}

/// The counts of events, so that a storm in which nothing happened is noticed.
#[derive(Debug, Default)]
struct Tally {
    lost: usize,
    delayed: usize,
    repeated: usize,
    busy: usize,
    crashes: usize,
    jumps: usize,
    fallen_back: usize,
    put_back: usize,
    rows: usize,
}

struct Network(Rc<RefCell<World>>);

impl World {
    fn deliver(&mut self, body: &[u8]) -> Result<Position, Trouble> {
        let (status, said) = self.book.take(body);
        let held = Position { seq: said["last_seq"].as_i64().unwrap_or(0), at: said["last_at"].as_i64().map(Moment) };
        match status {
            200 => Ok(held),
            409 => Err(Trouble::OutOfPosition(held)),
            _ => Err(Trouble::Refused(said["message"].as_str().unwrap().to_owned())),
        }
    }

    fn carry(&mut self, batch: &Batch) -> Result<Position, Trouble> {
        let lost = Err(Trouble::Later { error: "lost".to_owned(), wait: None });
        if self.calm {
            return self.deliver(&batch.body);
        }
        if !self.delayed.is_empty() && self.rng.below(100) < 30 {
            let late = self.delayed.remove(self.rng.below(self.delayed.len() as u64) as usize);
            _ = self.deliver(&late);
        }
        match self.rng.below(100) {
            0..8 => {
                self.tally.lost += 1;
                lost
            }
            8..16 => {
                self.tally.lost += 1;
                _ = self.deliver(&batch.body);
                lost
            }
            16..24 => {
                self.tally.delayed += 1;
                self.delayed.push(batch.body.clone());
                lost
            }
            24..30 => {
                self.tally.repeated += 1;
                _ = self.deliver(&batch.body);
                self.deliver(&batch.body)
            }
            30..35 => {
                self.tally.busy += 1;
                Err(Trouble::Later { error: "busy".to_owned(), wait: Some(Duration::from_secs(30)) })
            }
            35..39 => self.crash(),
            39..43 => {
                _ = self.deliver(&batch.body);
                self.crash()
            }
            _ => self.deliver(&batch.body),
        }
    }

    fn crash(&mut self) -> ! {
        self.tally.crashes += 1;
        resume_unwind(Box::new(Crash))
    }
}

impl Upstream for Network {
    fn ask(&mut self, nothing: &Batch) -> Result<Option<Position>, Trouble> {
        match self.0.borrow_mut().carry(nothing) {
            Err(Trouble::OutOfPosition(held)) => Ok(Some(held)),
            answer => answer.map(Some),
        }
    }

    fn offer(&mut self, batch: &Batch) -> Result<Position, Trouble> {
        self.0.borrow_mut().carry(batch)
    }
}

/// A running process, which the storm may kill.
struct Process {
    site: Site,
    uploader: Uploader,
    _data_dir: DataDir,
}

impl Process {
    fn start(dir: &Path, now: i64, world: &Rc<RefCell<World>>) -> Process {
        let data_dir = hold(dir);
        let site = Site::open(&data_dir, Config::defaults(), Clock::frozen(Moment(now))).unwrap();
        let mut settings = settings(Kind::Https("https://storm.example.org/".to_owned()));
        settings.batch_rows = 1 + world.borrow_mut().rng.below(12) as i64;
        let source = Box::new(SiteSource::new(site.for_another_thread()));
        let uploader = Uploader::new(source, Box::new(Network(world.clone())), &settings, site.state::<SyncLock>());
        Process { site, uploader, _data_dir: data_dir }
    }
}

/// One storm, from its first row to the calm after it.
struct Storm {
    dir: tempfile::TempDir,
    world: Rc<RefCell<World>>,
    process: Option<Process>,
    /// The machine's clock, as far as it is right.
    now: i64,
    /// The number of rows ever written.
    written: i64,
    /// A copy of the database, and the number of its rows.
    copy: Option<(tempfile::TempDir, i64)>,
    /// Rows that were lost when a copy replaced the database: the receiver may have them.
    gone: Vec<i64>,
    /// Whether copies replace the database in this storm. Then the clocks are right, because otherwise new rows could
    /// not be distinguished from old ones.
    puts_back: bool,
}

impl Storm {
    fn begin(seed: u64, template: &Path) -> Storm {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        copy_files(template, dir.path());
        let mut rng = Random::new(seed);
        let puts_back = rng.below(100) < 30;
        let book = Book::default();
        let world = World { rng, book, backup: 0, delayed: Vec::new(), calm: false, tally: Tally::default() };
        let world = Rc::new(RefCell::new(world));
        let process = Some(Process::start(dir.path(), START, &world));
        Storm { dir, world, process, now: START, written: 0, copy: None, gone: Vec::new(), puts_back }
    }

    fn roll(&self, chance: u64) -> bool {
        self.world.borrow_mut().rng.below(100) < chance
    }

    fn below(&self, end: u64) -> i64 {
        self.world.borrow_mut().rng.below(end) as i64
    }

    fn process(&mut self) -> &mut Process {
        self.process.as_mut().expect("it runs")
    }

    fn write_rows(&mut self) {
        let more = 1 + self.below(15);
        let numbers = self.written + 1..=self.written + more;
        add_rows(&self.process().site, numbers);
        self.written += more;
        self.world.borrow_mut().tally.rows += more as usize;
    }

    fn step(&mut self) -> Option<Step> {
        let uploader = &mut self.process().uploader;
        match catch_unwind(AssertUnwindSafe(|| uploader.step())) {
            Ok(step) => Some(step),
            Err(panic) if panic.is::<Crash>() => {
                self.restart();
                None
            }
            Err(panic) => resume_unwind(panic),
        }
    }

    fn restart(&mut self) {
        self.process = None;
        let clock = if !self.puts_back && self.roll(40) { self.jump() } else { self.now };
        self.process = Some(Process::start(self.dir.path(), clock, &self.world));
    }

    /// A wrong time: 1970, or years ahead.
    fn jump(&self) -> i64 {
        self.world.borrow_mut().tally.jumps += 1;
        if self.roll(50) { self.below(1_000) } else { self.now + self.below(3_000) * DAY }
    }

    fn weather(&mut self) {
        self.now += 1 + self.below(100);
        let clock = if !self.puts_back && self.roll(5) { self.jump() } else { self.now };
        self.process().site.clock.set(Moment(clock));
        if self.roll(25) {
            self.write_rows();
        }
        if self.puts_back && self.roll(5) {
            self.copy_site();
        }
        if self.puts_back && self.roll(4) {
            self.put_back();
        }
        self.fall_back();
    }

    /// Copies the site's files.
    fn copy_site(&mut self) {
        self.process = None;
        let copy = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        copy_files(self.dir.path(), copy.path());
        self.copy = Some((copy, self.written));
        self.process = Some(Process::start(self.dir.path(), self.now, &self.world));
    }

    /// Replaces the site by the copy, and adds rows before the receiver is reached.
    fn put_back(&mut self) {
        let Some((copy, written)) = self.copy.take() else { return };
        self.process = None;
        copy_files(copy.path(), self.dir.path());
        // As the start says to whoever puts a copy there with its log.
        _ = std::fs::remove_file(self.dir.path().join("tunneldesk.sqlite-sums"));
        self.gone.extend(written + 1..=self.written);
        self.now += 2;
        self.process = Some(Process::start(self.dir.path(), self.now, &self.world));
        let mut world = self.world.borrow_mut();
        world.tally.put_back += 1;
        // No request stays under way for that long.
        world.delayed.clear();
        drop(world);
        if self.roll(70) {
            self.write_rows();
        }
    }

    /// Now and then backs up the receiver or restores its backup, but only in storms that never replace the database: with
    /// both set back, rows can be lost.
    fn fall_back(&mut self) {
        let mut world = self.world.borrow_mut();
        if self.puts_back {
            return;
        }
        if world.rng.below(100) < 5 {
            world.backup = world.book.rows.len();
        }
        if world.rng.below(100) < 2 && world.backup < world.book.rows.len() {
            let backup = world.backup;
            world.book.rows.truncate(backup);
            world.tally.fallen_back += 1;
        }
    }

    /// The end: no more faults, and delayed batches arrive.
    fn calm(mut self) -> Tally {
        self.world.borrow_mut().calm = true;
        let late = std::mem::take(&mut self.world.borrow_mut().delayed);
        for body in late {
            _ = self.world.borrow_mut().book.take(&body);
        }
        self.restart();
        let quiet = (0..5_000).any(|_| self.step() == Some(Step::Quiet));
        assert!(quiet, "it does not come to an end");
        self.judge();
        std::mem::take(&mut self.world.borrow_mut().tally)
    }

    fn judge(&mut self) {
        let filter = tunneldesk::store::tables::history::Filter { after: Some(0), ..Default::default() };
        let site = &self.process.as_ref().unwrap().site;
        let rows =
            site.store.read(|tx| Ok(tunneldesk::store::tables::history::list(tx, &filter, i64::MAX, 0)?)).unwrap();
        let state = site.store.read(|tx| Ok((kept::find(tx)?, kept::count_refused(tx)?))).unwrap();
        site.store.release();
        let number = |detail: &str| serde_json::from_str::<Value>(detail).unwrap()["n"].as_i64().unwrap();
        let sent: Vec<(i64, i64)> =
            rows.iter().filter(|row| row.event != "site.restored").map(|row| (row.seq, number(&row.detail))).collect();
        let world = self.world.borrow();
        let came: Vec<(i64, i64)> = world.book.seqs().into_iter().zip(world.book.numbers()).collect();
        assert!(came.windows(2).all(|pair| pair[0].0 < pair[1].0), "out of order: {came:?}");
        let held: Vec<_> = came.iter().filter(|(_, n)| !self.gone.contains(n)).copied().collect();
        assert_eq!(held, sent, "{state:?}");
        assert_eq!((state.1, state.0.pending), (0, 0));
    }
}

fn copy_files(from: &Path, to: &Path) {
    for name in ["tunneldesk.sqlite", "tunneldesk.sqlite-wal", "tunneldesk.sqlite-shm", "site.key"] {
        let target = to.join(name);
        if target.exists() {
            std::fs::remove_file(&target).unwrap();
        }
        if from.join(name).exists() {
            std::fs::copy(from.join(name), target).unwrap();
        }
    }
}

fn template() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = DataDir::create(dir.path()).unwrap_or_else(|e| panic!("{e:?}"));
    let identity = Identity { tunnel_id: TunnelId(7), name: "Windwerk".into(), city: "".into(), country: "CH".into() };
    Site::create(&data_dir, Config::defaults(), Clock::frozen(Moment(START)), &identity).unwrap().close();
    dir
}

fn number_of(variable: &str, otherwise: u64) -> u64 {
    std::env::var(variable).map_or(otherwise, |text| text.parse().expect("a number"))
}

#[test]
fn after_random_faults_the_receiver_has_all_rows_in_order() {
    let template = template();
    let (first, storms) = (number_of("TUNNELDESK_SEED", 1), number_of("TUNNELDESK_STORMS", STORMS));
    let mut all = Tally::default();
    for seed in first..first + storms {
        let weathered = catch_unwind(AssertUnwindSafe(|| {
            let mut storm = Storm::begin(seed, template.path());
            for _ in 0..60 {
                storm.weather();
                storm.step();
            }
            storm.calm()
        }));
        let tally = weathered.unwrap_or_else(|panic| {
            eprintln!("seed {seed}: again with TUNNELDESK_SEED={seed} TUNNELDESK_STORMS=1");
            resume_unwind(panic)
        });
        all.add(&tally);
    }
    println!("{storms} storms: {all:?}");
    assert!(all.happened(), "too calm: {all:?}");
}

impl Tally {
    fn counts(&self) -> [usize; 9] {
        let Tally { lost, delayed, repeated, busy, crashes, jumps, fallen_back, put_back, rows } = self;
        [*lost, *delayed, *repeated, *busy, *crashes, *jumps, *fallen_back, *put_back, *rows]
    }

    fn add(&mut self, more: &Tally) {
        let [lost, delayed, repeated, busy, crashes, jumps, fallen_back, put_back, rows] = more.counts();
        self.lost += lost;
        self.delayed += delayed;
        self.repeated += repeated;
        self.busy += busy;
        self.crashes += crashes;
        self.jumps += jumps;
        self.fallen_back += fallen_back;
        self.put_back += put_back;
        self.rows += rows;
    }

    /// A single storm need not have every event.
    fn happened(&self) -> bool {
        self.rows > 0 && (self.rows < 10_000 || self.counts().iter().all(|count| *count > 0))
    }
}
