//! After a kill, and after a clean stop, the off-site copy goes on with its chain: the first seconds are there too, and no base
//! is made. Where anything else changed the file meanwhile, a base begins another chain.

use super::oracle::{Oracle, restored};
use super::{LOST_TIME_MAX, fact, is_base, lose_disk, second, site, ticks, until, wait_for_chain};
use crate::harness::{Desk, Server};
use std::time::{Duration, Instant};

const CLIENTS: usize = 4;

fn bases(desk: &Desk) -> usize {
    std::fs::read_dir(second(desk)).unwrap().flatten().filter(|entry| is_base(&entry.path())).count()
}

fn goes_on(server: &Server) -> bool {
    until("the off-site copy goes on, or begins anew", || {
        let so_far = server.log.so_far();
        let said = |words: &str| so_far.iter().any(|line| line.contains(words));
        if said("the off-site copy begins anew with a base") {
            Some(false)
        } else {
            said("goes on where it ended").then_some(true)
        }
    })
}

#[test]
fn the_chain_goes_on_after_a_kill_and_after_a_stop_and_the_first_seconds_are_in_it() {
    let (desk, mut oracle) = (site(CLIENTS), Oracle::new(CLIENTS));
    let mut server = desk.serve();
    oracle.sign_in(&server);
    wait_for_chain(&desk, &server, &mut oracle);
    for nth in 0..4 {
        let time = Duration::from_millis(1_300 + 450 * nth);
        if nth % 2 == 0 {
            oracle.write_until(&server, time, || server.kill());
            drop(server);
        } else {
            oracle.write_until(&server, time, || ());
            assert_eq!(server.stop().code, Some(0));
        }
        server = desk.serve();
        assert!(goes_on(&server), "start {nth}: {:#?}", server.log.so_far());
        assert_eq!(bases(&desk), 1, "start {nth}");
    }
    // All of it is there, with the writes of the first seconds after this start.
    let lost = lose_disk(&desk, server, &mut oracle, Duration::from_millis(2_500));
    assert!(lost <= LOST_TIME_MAX, "a write acknowledged {lost:?} before the loss is gone");
}

#[test]
fn a_site_that_was_hardly_written_to_goes_on_too_and_looks_at_what_lies_there() {
    let (desk, mut oracle) = (site(1), Oracle::new(1));
    let server = desk.serve();
    oracle.sign_in(&server);
    wait_for_chain(&desk, &server, &mut oracle);
    // A kill between a tick and the note of it begins another chain.
    let is_noted = || until("all of it off site", || fact(&desk).1.contains("(0 kB)").then_some(()));
    is_noted();
    server.kill();
    drop(server);
    for start in 0..2 {
        let server = desk.serve();
        assert!(goes_on(&server), "start {start}: {:#?}", server.log.so_far());
        is_noted();
        server.kill();
    }
    assert_eq!(bases(&desk), 1);
    let damaged = ticks(&desk).remove(0);
    let mut bytes = std::fs::read(&damaged).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&damaged, bytes).unwrap();
    let server = desk.serve();
    assert!(goes_on(&server));
    until("a base in place of the damaged chain", || (bases(&desk) > 1).then_some(()));
    assert!(server.log.so_far().iter().any(|line| line.contains("is damaged")));
}

#[test]
fn a_file_that_was_changed_meanwhile_and_a_target_that_lost_a_tick_begin_another_chain() {
    let (desk, mut oracle) = (site(CLIENTS), Oracle::new(CLIENTS));
    let changes: [fn(&Desk); 2] = [
        |desk| _ = desk.add_member("newcomer", "member"),
        |desk| std::fs::remove_file(ticks(desk).pop().unwrap()).unwrap(),
    ];
    for (nth, change) in changes.into_iter().enumerate() {
        let server = desk.serve();
        oracle.sign_in(&server);
        wait_for_chain(&desk, &server, &mut oracle);
        assert_eq!(server.stop().code, Some(0));
        change(&desk);
        let server = desk.serve();
        assert!(!goes_on(&server), "change {nth}");
        until("another base", || (bases(&desk) >= nth + 2).then_some(()));
        wait_for_chain(&desk, &server, &mut oracle);
        assert_eq!(server.stop().code, Some(0));
    }
    std::fs::remove_dir_all(desk.data()).unwrap();
    desk.run(&["restore"]).done();
    assert_eq!(oracle.lost(&restored(&desk.data()), Instant::now()), Duration::ZERO);
}
