//! An off-site target that hangs, fails, loses files and comes back.

use super::oracle::{Oracle, restored};
use super::{LOST_TIME_MAX, fact, is_base, second, site, ticks, until, wait_for_chain, wait_until_caught_up};
use crate::harness::{Desk, Server, make_hanging};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The longest time of a write while the off-site target has a fault, beside other tests.
pub(super) const ANSWER_TIME_MAX: Duration = Duration::from_secs(5);

pub(super) fn begin() -> (Desk, Server, Oracle) {
    let (desk, mut oracle) = (site(1), Oracle::new(1));
    let server = desk.serve();
    oracle.sign_in(&server);
    wait_for_chain(&desk, &server, &mut oracle);
    (desk, server, oracle)
}

/// Writes until the fact has this state. No write may take long.
pub(super) fn wait_for(state: &str, desk: &Desk, server: &Server, oracle: &mut Oracle) -> String {
    until(state, || {
        let took = oracle.write_once(server);
        assert!(took < ANSWER_TIME_MAX, "a write took {took:?}");
        let (found, said) = fact(desk);
        (found == state).then_some(said)
    })
}

/// Loses the disk and asserts that every write older than some seconds is restored.
pub(super) fn lose_disk(desk: &Desk, server: Server, oracle: &Oracle) {
    let killed_at = Instant::now();
    server.kill();
    drop(server);
    std::fs::remove_dir_all(desk.data()).unwrap();
    let said = desk.run(&["restore"]).back();
    let lost = oracle.lost(&restored(&desk.data()), killed_at);
    assert!(lost <= LOST_TIME_MAX, "{lost:?} lost: {said}");
}

fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

#[test]
fn a_hanging_off_site_target_is_an_alarm_slows_no_request_and_is_caught_up_with() {
    let (desk, server, mut oracle) = begin();
    // A FIFO in the way of the next tick: its writer hangs until a reader opens it, as with a network share whose server
    // is gone.
    let hanging = ticks(&desk)[0].with_file_name(".hanging");
    assert!(make_hanging(&hanging));
    let said = wait_for("alarm", &desk, &server, &mut oracle);
    assert!(said.contains("does not answer") || said.contains("behind the last write"), "{said}");
    // The writer that hung there goes on.
    std::fs::rename(&hanging, desk.path().join("aside")).unwrap();
    let free = || OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(desk.path().join("aside")).unwrap();
    let freed = free();
    wait_until_caught_up(&desk, &server, &mut oracle);
    drop(freed);
    lose_disk(&desk, server, &oracle);
}

#[test]
fn an_off_site_target_that_is_restored_from_yesterday_is_noticed_and_gets_a_new_base() {
    let (desk, server, mut oracle) = begin();
    let yesterday = desk.path().join("yesterday");
    copy(&second(&desk), &yesterday);
    let before = ticks(&desk).len();
    until("more ticks", || {
        oracle.write_once(&server);
        (ticks(&desk).len() > before + 1).then_some(())
    });
    let base = ticks(&desk)[0].parent().unwrap().parent().unwrap().to_owned();
    std::fs::rename(second(&desk), desk.path().join("gone")).unwrap();
    std::fs::rename(&yesterday, second(&desk)).unwrap();
    // A new base is made even if no client writes, because the copy's reported state would otherwise be wrong.
    until("a new base", || {
        let bases = std::fs::read_dir(second(&desk)).unwrap().flatten().map(|entry| entry.path());
        bases.filter(|path| is_base(path)).any(|path| path != base).then_some(())
    });
    wait_until_caught_up(&desk, &server, &mut oracle);
    lose_disk(&desk, server, &oracle);
}

#[test]
fn an_off_site_target_that_disappears_and_comes_back_gets_a_new_base() {
    let (desk, server, mut oracle) = begin();
    let aside = desk.path().join("aside");
    std::fs::rename(second(&desk), &aside).unwrap();
    until("a word about it", || {
        let took = oracle.write_once(&server);
        assert!(took < ANSWER_TIME_MAX, "a write took {took:?}");
        let (_, said) = fact(&desk);
        (said.contains("no off-site copy") && said.contains("mounted")).then_some(())
    });
    std::fs::rename(&aside, second(&desk)).unwrap();
    wait_until_caught_up(&desk, &server, &mut oracle);
    lose_disk(&desk, server, &oracle);
}
