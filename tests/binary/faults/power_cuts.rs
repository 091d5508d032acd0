//! The power fails at a random moment. The site is on ext4 in an image file on xfs, which copies the image almost
//! instantly. The copy holds what was on the disk, without anything that was only in memory. The test mounts the copy
//! as the machine would after the cut, starts the server on it, and looks for every acknowledged operation.
//!
//! The control is a server that flushes seldom, as other databases do by default: it must lose something, otherwise the
//! cuts prove nothing. `TUNNELDESK_POWER_CUTS` sets the number of cuts; one more in ten is on the control.
//!
//! Further cuts meet the server, and commands that write much, in the middle of a checkpoint
//! (`TUNNELDESK_CHECKPOINT_CUTS`): `strace` stops the process at a write to the database, some of the pages moved so
//! far are flushed, as the kernel does by itself after a while, and then the power fails.

use super::machine::{Mount, make_image, own_mounts, run, shown};
use super::{or_skip, rounds, tracer};
use crate::harness::{Desk, Random, Server};
use crate::kills::checkpoint::{self, ANSWERS_MAX, Namer, TOO_LATE, WRITES_MAX};
use crate::kills::{CLIENTS, Client, OperationOutcome, Seed, Site};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

const SHORT: u64 = 4;
const CONTROLS_MIN: u64 = 1;
const CONTROLS_MAX: u64 = 8;
const CUTS_A_CONTROL: u64 = 10;
/// The number of cuts for which one site is used; with more, its audit would take longer than its writes.
const CUTS_A_SITE: u64 = 25;
const DEEDS_MIN: u64 = 100;
const OPERATIONS_MAX: u64 = 600;
const DELAY_MICROS_MAX: u64 = 4_000;
const HOST_MEGABYTES: u64 = 600;
const DISK_MEGABYTES: u64 = 160;
const CHECKPOINT_SHORT: u64 = 3;
/// The most writes to the database by a command before it is cut.
const COMMAND_WRITES_MAX: u64 = 40;
const LOOK_INTERVAL: Duration = Duration::from_millis(2);

/// A disk that can be copied at any moment.
struct Rig {
    images: PathBuf,
    number: u64,
    disk: Option<Mount>,
    // The last field, so that it is dropped last: the images are on this mount.
    _host: Mount,
    _dir: tempfile::TempDir,
}

impl Rig {
    fn build() -> Result<Rig, String> {
        own_mounts()?;
        let dir = tempfile::tempdir().map_err(|e| e.to_string())?;
        let (host, images) = (dir.path().join("host.img"), dir.path().join("images"));
        make_image(&host, HOST_MEGABYTES, &["mkfs.xfs", "-q", "-f", "-m", "reflink=1"])?;
        let host = Mount::image(&host, &images)?;
        make_image(&images.join("disk-0"), DISK_MEGABYTES, &["mkfs.ext4", "-q", "-F"])?;
        Ok(Rig { images, number: 0, disk: None, _host: host, _dir: dir })
    }

    fn image(&self, number: u64) -> PathBuf {
        self.images.join(format!("disk-{number}"))
    }

    fn mount(&mut self, desk: &Desk) {
        self.disk = Some(Mount::image(&self.image(self.number), &desk.data()).unwrap());
    }

    /// Copies the disk in its present state.
    fn snapshot(&self) {
        let (from, to) = (self.image(self.number), self.image(self.number + 1));
        run("cp", &["--reflink=always", shown(&from), shown(&to)]).unwrap();
    }

    /// Mounts the copy as the disk, as a start after the cut does.
    fn boot(&mut self, desk: &Desk) {
        self.disk = None;
        std::fs::remove_file(self.image(self.number)).unwrap();
        self.number += 1;
        self.mount(desk);
    }

    /// Replaces the disk with an empty one.
    fn renew(&mut self, desk: &Desk) {
        self.disk = None;
        std::fs::remove_file(self.image(self.number)).unwrap();
        self.number += 1;
        make_image(&self.image(self.number), DISK_MEGABYTES, &["mkfs.ext4", "-q", "-F"]).unwrap();
        self.mount(desk);
    }

    /// A site with its members on a new disk.
    fn site(&mut self, random: &mut Random) -> Site {
        let desk = Desk::empty();
        self.renew(&desk);
        desk.run(&["init", "--name", "Windwerk", "--country", "CH"]).done();
        Site::open_on(desk, random)
    }
}

#[test]
fn nothing_acknowledged_is_lost_when_the_power_fails_and_a_server_that_flushes_seldom_loses_some() {
    let Some(mut rig) = or_skip(Rig::build()) else { return };
    let cuts = rounds("TUNNELDESK_POWER_CUTS", SHORT);
    let seed = Seed(Random::seed());
    let mut random = Random::new(seed.0);
    let controls = (cuts / CUTS_A_CONTROL).max(CONTROLS_MIN);
    let (mut done, mut operations) = (0, 0);
    while done < cuts {
        let mut site = rig.site(&mut random);
        for _ in 0..CUTS_A_SITE.min(cuts - done) {
            operations += cut(&mut rig, &mut site, &["serve"], &mut random);
            site.audit();
            done += 1;
        }
        // The disk is mounted in the desk's directory, so it goes before the site.
        rig.disk = None;
        println!("{done} power cuts survived, {operations} deeds acknowledged and found");
    }
    let (mut tried, mut lost, mut losing) = (0, 0, 0);
    // A cut right after a checkpoint finds nothing to lose, so the control gets more tries.
    while tried < controls || (losing == 0 && tried < CONTROLS_MAX) {
        tried += 1;
        let mut site = rig.site(&mut random);
        cut(&mut rig, &mut site, &["serve", "--flush-seldom"], &mut random);
        let missing = site.count_lost();
        rig.disk = None;
        lost += missing;
        losing += u64::from(missing > CLIENTS);
    }
    println!("the control: {lost} acknowledged rows lost in {losing} of {tried} cuts");
    assert!(losing > 0, "the control lost {lost}: the cuts cut nothing");
}

/// Writes on the mounted disk until the power fails, and mounts the copy. Returns the number of acknowledged
/// operations.
fn cut(rig: &mut Rig, site: &mut Site, serve: &[&str], random: &mut Random) -> u64 {
    let server = Server::start(site.desk.command(serve));
    let enough = DEEDS_MIN + random.below(OPERATIONS_MAX - DEEDS_MIN);
    let delay = Duration::from_micros(random.below(DELAY_MICROS_MAX));
    let (done, cut) = (AtomicU64::new(0), AtomicBool::new(false));
    let tester = std::thread::current();
    std::thread::scope(|scope| {
        for client in &mut site.clients {
            let (done, cut, tester, address) = (&done, &cut, &tester, server.address);
            scope.spawn(move || {
                client.endure(address, cut, |outcome| {
                    assert_eq!(outcome, OperationOutcome::Done);
                    if done.fetch_add(1, Ordering::SeqCst) + 1 == enough {
                        tester.unpark();
                    }
                    true
                });
                assert!(cut.load(Ordering::SeqCst), "a connection broke while the server ran");
            });
        }
        while done.load(Ordering::SeqCst) < enough {
            std::thread::park_timeout(Duration::from_secs(1));
        }
        // A random delay before the cut, so that cuts meet every stage of a write.
        std::thread::sleep(delay);
        // Answers from here on do not count. Earlier answers arrived before the copy was made.
        cut.store(true, Ordering::SeqCst);
        rig.snapshot();
        server.kill();
    });
    server.ended();
    rig.boot(&site.desk);
    done.load(Ordering::SeqCst)
}

#[test]
fn nothing_acknowledged_is_lost_when_the_power_fails_during_a_checkpoint() {
    if or_skip(tracer()).is_none() {
        return;
    }
    let Some(mut rig) = or_skip(Rig::build()) else { return };
    let wanted = rounds("TUNNELDESK_CHECKPOINT_CUTS", CHECKPOINT_SHORT);
    let seed = Seed(Random::seed());
    let mut random = Random::new(seed.0);
    let (mut met, mut tried) = (0, 0);
    while met < wanted {
        let mut site = rig.site(&mut random);
        let mut namer = Namer::of(&site.desk);
        for round in 0..CUTS_A_SITE {
            let command = match round % 5 {
                1 => Some(checkpoint::set_back(&site.desk)),
                3 => Some(checkpoint::erasure(&site.desk, tried)),
                _ => None,
            };
            met += u64::from(match command {
                Some(args) => cut_command(&mut rig, &site.desk, &args, &mut random),
                None => cut_checkpoint(&mut rig, &mut site, &mut namer, &mut random),
            });
            tried += 1;
            site.audit();
            namer.audit(&site.desk.database());
            if met == wanted {
                break;
            }
        }
        rig.disk = None;
        println!("{met} power cuts met a checkpoint in {tried} rounds");
        assert!(tried < 10 * wanted + 20, "the cuts meet no checkpoint: {met} of {tried}");
    }
}

/// Cuts the power of a server that stopped at a write to its database. Returns whether the server stopped there.
fn cut_checkpoint(rig: &mut Rig, site: &mut Site, namer: &mut Namer, random: &mut Random) -> bool {
    let command = checkpoint::struck(&site.desk, &["serve"], "SIGSTOP", 1 + random.below(WRITES_MAX));
    let server = Server::start(command);
    let (cut, answers) = (AtomicBool::new(false), AtomicU64::new(0));
    let (cut, answers, server_) = (&cut, &answers, &server);
    let desk = &site.desk;
    let stopped = std::thread::scope(|scope| {
        scope.spawn(move || namer.rename(server_, cut));
        for client in &mut site.clients {
            let endure = move |client: &mut Client| {
                client.endure(server_.address, cut, |outcome| {
                    assert!(
                        matches!(outcome, OperationOutcome::Done | OperationOutcome::Refused(TOO_LATE)),
                        "{outcome:?}"
                    );
                    answers.fetch_add(1, Ordering::SeqCst) < ANSWERS_MAX
                });
            };
            scope.spawn(move || endure(client));
        }
        while !is_stopped(server_.process_id()) && answers.load(Ordering::SeqCst) < ANSWERS_MAX {
            std::thread::park_timeout(LOOK_INTERVAL);
        }
        let stopped = is_stopped(server_.process_id());
        cut.store(true, Ordering::SeqCst);
        flush_some(desk, random);
        rig.snapshot();
        server_.kill();
        stopped
    });
    checkpoint::assert_refused_for_the_queue_alone(&server.ended().log);
    rig.boot(&site.desk);
    stopped
}

/// Cuts the power of a command in the same way, then runs the command again. Returns whether the cut came before the
/// command's end.
fn cut_command(rig: &mut Rig, desk: &Desk, args: &[String], random: &mut Random) -> bool {
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let mut command = checkpoint::struck(desk, &args, "SIGSTOP", 1 + random.below(COMMAND_WRITES_MAX));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    while !is_stopped(child.id() as i32) && child.try_wait().unwrap().is_none() {
        std::thread::park_timeout(LOOK_INTERVAL);
    }
    let stopped = has_not_ended(&mut child);
    flush_some(desk, random);
    rig.snapshot();
    _ = child.kill();
    child.wait().unwrap();
    rig.boot(desk);
    checkpoint::do_again(desk, &args);
    stopped
}

fn has_not_ended(child: &mut Child) -> bool {
    child.try_wait().unwrap().is_none()
}

/// Whether a process is stopped by its tracer. A traced process also stops for a moment at each traced call.
fn is_stopped(process_id: i32) -> bool {
    let state =
        || std::fs::read_to_string(format!("/proc/{process_id}/stat")).ok()?.rsplit_once(") ")?.1.chars().next();
    (0..5).all(|_| {
        let stands = matches!(state(), Some('t' | 'T'));
        std::thread::park_timeout(LOOK_INTERVAL);
        stands
    })
}

/// Flushes a random range of the database from memory to the disk.
fn flush_some(desk: &Desk, random: &mut Random) {
    let file = std::fs::File::open(desk.database()).unwrap();
    let length = file.metadata().unwrap().len();
    let (from, bytes) = (random.below(length), random.below(length));
    let all = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WRITE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    // SAFETY: the descriptor is open.
    unsafe { libc::sync_file_range(file.as_raw_fd(), from as i64, bytes as i64, all) };
}
