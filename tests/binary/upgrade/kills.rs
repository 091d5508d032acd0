//! The process is killed before every write, flush and rename of an upgrade and of a rollback. The disk changes only by
//! these calls, so it does not matter where between two of them a kill strikes. The database is wholly old or wholly
//! new, and the next start continues from there.

use super::{Desk, RECORDED, content, deeds, lay, schema, ways_back};
use crate::harness::BINARY;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// The system calls that change a disk.
pub const CALLS: [&str; 11] = [
    "pwrite64",
    "write",
    "fdatasync",
    "fsync",
    "rename",
    "ftruncate",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "copy_file_range",
];
/// The suite takes the first calls of each kind, then every n-th; `tests/upgrades` takes each.
const EACH_UP_TO: usize = 6;
const THEN_EVERY: usize = 67;
/// Tables in which an upgrade writes the time.
const MOVING: [&str; 2] = ["site", "refinery_schema_history"];

fn is_whole_campaign() -> bool {
    std::env::var_os("TUNNELDESK_UPGRADE_KILLS").is_some_and(|wanted| wanted == "all")
}

/// Runs a command that is killed before its `number`th call of this kind. Returns whether it was killed.
pub fn killed(desk: &Desk, args: &[&str], call: &str, number: usize) -> bool {
    // Without --seccomp-bpf: with it, newer kernels let the call pass before the signal is sent.
    let status = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}"), "-e"])
        .arg(format!("inject={call}:signal=SIGKILL:when={number}"))
        .arg(BINARY)
        .args(args)
        .current_dir(desk.path())
        .env_clear()
        .envs(desk.later())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .expect("strace is here: tests/run installs it");
    let was_killed = status.signal() == Some(libc::SIGKILL) || status.code() == Some(128 + libc::SIGKILL);
    assert!(was_killed || status.success(), "{call} {number}: {status}");
    was_killed
}

/// The numbers of the calls before which the process is killed.
fn numbers() -> impl Iterator<Item = usize> {
    let step = if is_whole_campaign() { 1 } else { THEN_EVERY };
    (1..=EACH_UP_TO).chain((EACH_UP_TO + step..).step_by(step))
}

/// Kills the command in a new copy of a directory before each of these calls, and passes each result to `outcome`.
/// Returns the number of kills.
pub fn at_every_point(
    calls: &[&str],
    make: impl Fn() -> Desk,
    args: &[&str],
    mut outcome: impl FnMut(&Desk, &str),
) -> usize {
    let mut kills = 0;
    for call in calls {
        for number in numbers() {
            let desk = make();
            if !killed(&desk, args, call, number) {
                break;
            }
            kills += 1;
            outcome(&desk, &format!("killed before {call} {number}"));
        }
    }
    kills
}

/// A copy of a site, beside which a later version is installed.
fn copy_for_later(from: &Path) -> Desk {
    let desk = copy(from);
    desk.install_later();
    desk
}

pub fn copy(from: &Path) -> Desk {
    let desk = Desk::empty();
    let done = Command::new("cp").arg("-a").arg(from).arg(desk.data()).status().unwrap();
    assert!(done.success());
    desk
}

#[cfg(debug_assertions)]
#[test]
fn an_upgrade_killed_anywhere_leaves_the_old_database_or_the_new_one() {
    let work = tempfile::tempdir().unwrap();
    let origin = work.path().join("origin");
    lay(&origin);
    let old = content(&origin.join("tunneldesk.sqlite"), &[]);
    let reference = copy_for_later(&origin);
    reference.run(&["upgrade"]).done();
    let new = content(&reference.database(), &MOVING);
    let (mut left_old, mut left_new) = (0, 0);
    let kills = at_every_point(
        &CALLS,
        || copy_for_later(&origin),
        &["upgrade"],
        |desk, at| {
            if schema(&desk.database()) == 1 {
                assert!(content(&desk.database(), &[]) == old, "{at}: neither old nor new");
                left_old += 1;
            } else {
                assert!(content(&desk.database(), &MOVING) == new, "{at}: neither old nor new");
                assert_eq!(ways_back(desk).len(), 1, "{at}: upgraded without a way back");
                left_new += 1;
            }
            desk.run(&["upgrade"]).done();
            assert!(content(&desk.database(), &MOVING) == new, "{at}: the next start does not finish it");
            assert_eq!(ways_back(desk).len(), 1, "{at}");
        },
    );
    println!("{kills} kills of an upgrade: {left_old} left the old file, {left_new} the new one");
    assert!(left_old > 20 && left_new > 0, "{left_old} old, {left_new} new");
}

#[cfg(debug_assertions)]
#[test]
fn a_rollback_killed_anywhere_is_completed_by_the_next() {
    let work = tempfile::tempdir().unwrap();
    let origin = work.path().join("origin");
    lay(&origin);
    let database = origin.join("tunneldesk.sqlite");
    let (old, done) = (content(&database, &RECORDED), deeds(&database).len());
    let upgraded = copy_for_later(&origin);
    upgraded.run(&["upgrade"]).done();
    let kills = at_every_point(
        &CALLS,
        || copy_for_later(&upgraded.data()),
        &["rollback"],
        |desk, at| {
            desk.run(&["rollback"]).done();
            assert!(content(&desk.database(), &RECORDED) == old, "{at}");
            assert_eq!(deeds(&desk.database()).len(), done + 1, "{at}: it is not recorded once");
            assert!(desk.data().join("replaced-1/tunneldesk.sqlite").exists(), "{at}: what it replaced is gone");
            assert!(!desk.data().join("replaced-2").exists(), "{at}: it was done twice");
        },
    );
    println!("{kills} kills of a rollback");
    assert!(kills > 10, "{kills}");
}
