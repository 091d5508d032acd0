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
    let (state, said) = second.fact("promotion").unwrap();
    assert!(state == "warning" && said.contains("may not know"), "{state}: {said}");
    if random.below(2) == 0 {
        std::thread::sleep(Duration::from_millis(random.below(1_500)));
    }
    relay.heal();
    check_loser(&main, old, &new, &oracle, random.below(2) == 0);
    until_loser_is_known(&second);
}

/// Waits until the machine that goes on says that the other one knows.
fn until_loser_is_known(winner: &Desk) {
    until("the new machine to know that the old one knows", || {
        winner.fact("promotion").filter(|(state, said)| state == "ok" && said.contains("which knows it"))
    });
}

#[test]
fn of_two_machines_with_one_site_the_replaced_one_stops_writing_once_they_meet() {
    let mut random = Random::new(Random::seed());
    for round in 1..=campaign("TUNNELDESK_PARTITIONS").unwrap_or(PARTITIONS) {
        partition(&mut random);
        println!("partition {round} ended with one history that goes on");
    }
}

/// Which machine is promoted. The second one followed the first one.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Turn {
    First,
    Second,
}

/// Promotes two machines by turns, each as the doctor of the replaced one advises, or both while the network is cut.
fn promoted_by_turns(turns: &[Turn], is_cut: bool) {
    let token = Token::new();
    let first = main_machine(1, &token, "false");
    let mut oracle = Oracle::new(1);
    let old = first.serve();
    oracle.sign_in(&old);
    let (second, relay) = (Desk::empty(), Relay::to(old.address));
    let mut follower = Follower::start(&second, relay.address, &token);
    wait_until_in_step(&first);
    follower.kill();
    if is_cut {
        relay.cut();
    }
    let mut pair = Pair { desks: [&first, &second], servers: [Some(old), None], relay: &relay };
    for (number, turn) in turns.iter().enumerate() {
        let is_replaced = number > 0 && !is_cut && turns[number - 1] != *turn;
        pair.promote(*turn as usize, is_replaced);
        if !is_cut {
            pair.meet(*turn as usize, &oracle);
        }
    }
    if is_cut {
        assert_eq!(pair.write(&oracle), [201, 201], "{turns:?}");
        relay.heal();
        let loser = until("one machine to stop writing", || pair.write(&oracle).iter().position(|said| *said == 503));
        pair.meet(1 - loser, &oracle);
        // The doctor of the loser advises its promotion.
        pair.promote(loser, true);
        pair.meet(loser, &oracle);
    }
}

/// Two machines with one site. The second one reaches the first through a relay.
struct Pair<'p> {
    desks: [&'p Desk; 2],
    servers: [Option<Server>; 2],
    relay: &'p Relay,
}

impl Pair<'_> {
    fn server(&self, number: usize) -> &Server {
        self.servers[number].as_ref().unwrap()
    }

    fn write(&self, oracle: &Oracle) -> [u16; 2] {
        [0, 1].map(|number| write(self.server(number), oracle))
    }

    /// Promotes a machine and starts it. One that was replaced asks the other one first.
    fn promote(&mut self, number: usize, is_replaced: bool) {
        let desk = self.desks[number];
        self.servers[number] = None;
        if is_replaced {
            let said = desk.fact("store").unwrap().1;
            assert!(said.contains("Another machine has taken") && said.contains("http://"), "{said}");
            let refused = desk.run(&["promote"]).trouble(1);
            assert!(refused.contains("--take-over") && refused.contains("http://"), "{refused}");
            desk.run(&["promote", "--take-over"]).done();
        } else {
            desk.run(&["promote"]).done();
        }
        let server = desk.serve();
        if number == Turn::First as usize {
            self.relay.lead_to(server.address);
        }
        self.servers[number] = Some(server);
    }

    /// Asserts that one machine goes on, that the other one refuses writes, and that both say so.
    fn meet(&self, winner: usize, oracle: &Oracle) {
        let (new, old) = (self.server(winner), self.server(1 - winner));
        until("the replaced machine to stop writing", || (write(old, oracle) == 503).then_some(()));
        let (state, said) = self.desks[1 - winner].fact("store").unwrap();
        assert!(state == "alarm" && said.contains("Another machine has taken"), "{said}");
        until_loser_is_known(self.desks[winner]);
        let says = |server: &Server, what: &str| {
            until(what, || server.log.so_far().iter().any(|line| line.contains(what)).then_some(()));
        };
        says(old, "another machine has taken this one's place");
        says(new, "the replaced machine knows of the promotion");
        assert_eq!(write(new, oracle), 201);
    }
}

#[test]
fn machines_that_are_promoted_by_turns_leave_one_that_writes_and_both_say_so() {
    use Turn::{First, Second};
    for turns in [&[Second, First][..], &[Second, First, Second]] {
        promoted_by_turns(turns, false);
    }
}

#[test]
fn machines_that_are_both_promoted_while_they_are_cut_off_leave_one_that_writes_and_both_say_so() {
    use Turn::{First, Second};
    for turns in [[Second, First], [First, Second]] {
        promoted_by_turns(&turns, true);
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
    let place = format!("[backup]\noff_site = {:?}\n", shared.to_str().unwrap());
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
