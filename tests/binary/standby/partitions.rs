//! Networks are cut while a standby is promoted: of two machines with one site, the replaced one says so and writes
//! nothing.

use super::machines::{Follower, Relay, Token, add_settings, main_machine, wait_until_in_step};
use crate::harness::{Desk, Random, Server};
use crate::off_site::oracle::Oracle;
use crate::off_site::{campaign, until};
use serde_json::json;
use std::time::Duration;

/// The number of cut networks in the suite.
const PARTITIONS: u64 = 1;
/// Longer than the promoted machine waits between two attempts to tell the other.
const SEVERAL_TRIES: Duration = Duration::from_secs(5);

/// The status of a write.
fn write(server: &Server, oracle: &Oracle) -> u16 {
    let entry = json!({ "entry_date": 1_700_000_000, "time": "5", "tunnel": "1", "comment": "w", "status": "" });
    server.post(oracle.session(0), "/api/account/logbook/time/", &entry).status
}

/// Asserts that the old machine refuses writes and says why, also after a restart, and that the new one goes on.
fn check_loser(main: &Desk, old: Server, new: &Server, oracle: &Oracle, again: bool) {
    until("the old machine to stop writing", || (write(&old, oracle) == 503).then_some(()));
    let check = |old: &Server| {
        let refused = old.get(&crate::harness::Caller::Anyone, "/readyz");
        assert_eq!((refused.status, refused.json()["code"].as_str().unwrap()), (503, "replaced"));
        let (state, said) = main.fact("store").unwrap();
        assert!(state == "alarm" && said.contains("Another machine has taken"), "{said}");
        assert_eq!(old.figure("tunneldesk_store_replaced"), 1);
    };
    check(&old);
    if again {
        drop(old);
        let old = main.serve();
        assert_eq!(write(&old, oracle), 503);
        check(&old);
    }
    assert_eq!(write(new, oracle), 201);
}

fn partition(random: &mut Random) {
    let token = Token::new();
    let main = main_machine(1, &token, "true");
    let mut oracle = Oracle::new(1);
    let old = main.serve();
    oracle.sign_in(&old);
    let (second, relay) = (Desk::empty(), Relay::to(old.address));
    let mut follower = Follower::start(&second, relay.address, &token);
    wait_until_in_step(&main);
    (0..random.below(5)).for_each(|_| _ = oracle.write_once(&old));
    let (is_cut_first, writes_on) = (random.below(2) == 0, random.below(4));
    if is_cut_first {
        relay.cut();
    }
    follower.kill();
    relay.cut();
    // Cut off from the network, the old machine cannot know of the promotion: it continues to write, and reports that
    // no standby keeps up.
    (0..=writes_on).for_each(|_| _ = oracle.write_once(&old));
    let (state, said) = main.fact("standby").unwrap();
    assert_eq!(state, "alarm", "{said}");
    let promoted = second.json(&["promote"]);
    assert_eq!(promoted["epoch"], 1, "{promoted}");
    let new = second.serve();
    assert_eq!([write(&old, &oracle), write(&new, &oracle)], [201, 201]);
    let said = second.fact("standby").unwrap().1;
    assert!(said.contains("may not know"), "{said}");
    if random.below(2) == 0 {
        std::thread::sleep(Duration::from_millis(random.below(1_500)));
    }
    relay.heal();
    check_loser(&main, old, &new, &oracle, random.below(2) == 0);
    until("the new machine to know that the old one knows", || second.fact("standby").is_none().then_some(()));
}

#[test]
fn of_two_machines_with_one_site_the_replaced_one_stops_writing_once_they_meet() {
    let mut random = Random::new(Random::seed());
    for round in 1..=campaign("TUNNELDESK_PARTITIONS").unwrap_or(PARTITIONS) {
        partition(&mut random);
        println!("partition {round} ended with one history that goes on");
    }
}

/// Proves the audit above: it must fail for a promotion that does not raise the epoch.
#[test]
fn a_promotion_that_does_not_raise_the_epoch_leaves_two_machines_that_write() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    let mut oracle = Oracle::new(1);
    let old = main.serve();
    oracle.sign_in(&old);
    let second = Desk::empty();
    let mut follower = Follower::start(&second, old.address, &token);
    wait_until_in_step(&main);
    follower.kill();
    second.run(&["promote", "--without-fence"]).done();
    let new = second.serve();
    std::thread::sleep(SEVERAL_TRIES);
    assert_eq!([write(&old, &oracle), write(&new, &oracle)], [201, 201]);
}

#[test]
fn a_machine_sees_off_site_that_it_was_replaced() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    let (second, shared) = (Desk::empty(), main.path().join("second"));
    std::fs::create_dir(&shared).unwrap();
    let place = format!("[backup]\nsecond_place = {:?}\n", shared.to_str().unwrap());
    add_settings(&main, &place);
    add_settings(&second, &place);
    let mut oracle = Oracle::new(1);
    let old = main.serve();
    oracle.sign_in(&old);
    let relay = Relay::to(old.address);
    let mut follower = Follower::start(&second, relay.address, &token);
    wait_until_in_step(&main);
    follower.kill();
    // The two machines never meet again: the old one learns of its replacement from the shared directory, as soon as
    // that answers.
    relay.cut();
    let away = main.path().join("away");
    std::fs::rename(&shared, &away).unwrap();
    let said = second.json(&["promote"]);
    assert!(said["epoch"] == 1 && said["silent"].as_str().is_some_and(|why| why.contains("mounted")), "{said}");
    let new = second.serve();
    assert_eq!([write(&old, &oracle), write(&new, &oracle)], [201, 201]);
    std::fs::rename(&away, &shared).unwrap();
    until("the old machine to stop writing", || (write(&old, &oracle) == 503).then_some(()));
    check_loser(&main, old, &new, &oracle, true);
    // An operator may promote the old machine again: then the new one is replaced.
    assert_eq!(main.json(&["promote"])["zone"], "Europe/Zurich");
    let old = main.serve();
    assert_eq!(write(&old, &oracle), 201);
    check_loser(&second, new, &old, &oracle, false);
}
