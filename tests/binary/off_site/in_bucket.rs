//! The off-site copy in a store that speaks S3, and while the store has faults.
//!
//! `TUNNELDESK_STORE_STORMS` sets the number of rounds of all faults.

use super::oracle::{self, Oracle, restored};
use super::store::{Fault, Store};
use super::storms::{ANSWER_TIME_MAX, lose_disk, wait_for};
use super::{LOST_TIME_MAX, campaign, fact, until, wait_until_caught_up};
use crate::harness::{Caller, Desk, Server};
use serde_json::Value;
use std::path::Path;
use std::time::{Duration, Instant};

fn site(store: &Store, members: usize, more: &str) -> Desk {
    let desk = Desk::with_site();
    (0..members).for_each(|n| _ = desk.add_member(&format!("flyer-{n}"), "member"));
    store.set(&desk, Store::secret(), more);
    desk
}

/// Writes until a tick of this server process is in the store.
fn wait_for_chain(desk: &Desk, store: &Store, server: &Server, oracle: &mut Oracle) {
    until("a tick in the store", || {
        oracle.write_once(server);
        (fact(desk).1.contains("behind the last write") && !store.ticks().is_empty()).then_some(())
    });
}

#[test]
fn a_lost_site_is_restored_from_a_bucket_as_from_a_directory() {
    let store = Store::start();
    let mut desk = site(&store, 2, "");
    let (recipient, key) = crate::backups::key(&desk, "key.txt");
    store.set(&desk, Store::secret(), &format!("recipient = {recipient:?}"));
    let mut oracle = Oracle::new(2);
    let server = desk.serve();
    oracle.sign_in(&server);
    wait_for_chain(&desk, &store, &server, &mut oracle);
    // While the chain runs, the server sends no list request: only PUT and HEAD.
    store.asked();
    let begun = oracle::now();
    oracle.write_until(&server, Duration::from_secs(3), || ());
    let (at, asked) = (oracle::now(), store.asked());
    // The erasure rewrites the database immediately, possibly before the last writes have reached the store.
    desk.run(&["member", "erase", "flyer-1", "--yes"]).done();
    // Writes from here on may be lost with the disk, and belong to a later second.
    until("the next second", || (oracle::now() > at).then_some(()));
    assert!(asked.iter().filter(|line| line.starts_with("PUT ")).count() >= 2, "{asked:#?}");
    assert!(asked.iter().all(|line| line.starts_with("PUT ") || line.starts_with("HEAD ")), "{asked:#?}");
    assert!(store.ticks().iter().all(|tick| tick.ends_with(".tick.age")));
    let (state, said) = desk.fact("off_site_backup").unwrap();
    assert!(state == "ok" && said.contains("s3://backups/tunnels/one"), "{state}: {said}");
    assert!(!fact(&desk).1.contains("If-None-Match"), "{}", fact(&desk).1);
    let listed = desk.json(&["backup", "list"]);
    assert_eq!(listed["second"]["backups"].as_array().map(Vec::len), Some(1), "{listed}");
    wait_until_caught_up(&desk, &server, &mut oracle);
    let killed_at = Instant::now();
    server.kill();
    drop(server);
    std::fs::remove_dir_all(desk.data()).unwrap();

    let said = desk.run(&["restore"]).trouble(1);
    assert!(said.contains("s3://backups/tunnels/one/") && said.contains("--identity"), "{said}");
    let key = key.to_str().unwrap().to_owned();
    let said = desk.json(&["restore", "--identity", &key, "--dry-run"]);
    assert_eq!((&said["dry_run"], &said["trouble"]), (&true.into(), &Value::Null), "{said}");
    let elsewhere = desk.path().join("elsewhere");
    let data = ["--data", elsewhere.to_str().unwrap()];
    let back = desk.json(&[&["restore", "--identity", &key, "--at", &oracle::shown(at)], &data[..]].concat());
    let (missing, early) = oracle.differences(&restored(&elsewhere), at);
    let gone: Vec<_> =
        missing.iter().filter(|name| name.starts_with("single") || name.split(' ').nth(1) != Some("1")).collect();
    let ticks = store.ticks().len();
    assert!(
        gone.is_empty() && early.is_empty(),
        "{begun}..{at}, {ticks} ticks: {gone:?} missing, {early:?} too early after {back}"
    );
    desk.run(&["restore", "--identity", &key]).done();
    for data in [desk.data(), elsewhere.clone()] {
        let names = desk.json(&["member", "list", "--data", data.to_str().unwrap()]).to_string();
        assert!(names.contains("flyer-0") && !names.contains("flyer-1"), "{names}");
    }
    oracle.forget_of(1);
    let lost = oracle.lost(&restored(&desk.data()), killed_at);
    assert!(lost <= LOST_TIME_MAX, "{lost:?} lost");
    // Both were restored and have keys of their own. A standby has the key of its main machine.
    std::fs::copy(desk.data().join("signing.key"), elsewhere.join("signing.key")).unwrap();
    promotions_meet_in_the_store(&desk, &elsewhere, &store);
    refuses_what_is_wrong(&mut desk, &store);
}

/// Two machines have one site: each promotion takes an epoch of its own in the store. An epoch that could not be stored
/// at once is written later if no other machine has taken it meanwhile; otherwise this machine counts as replaced.
fn promotions_meet_in_the_store(desk: &Desk, elsewhere: &Path, store: &Store) {
    let (here, there) = (desk.data(), elsewhere.to_owned());
    let promote = |data: &Path| desk.json(&["promote", "--data", data.to_str().unwrap()]);
    let epoch = |said: Value| said["epoch"].as_u64().unwrap();
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| epoch(promote(&here)));
        (epoch(promote(&there)), one.join().unwrap())
    });
    let (low, high) = if one < other { (&there, &here) } else { (&here, &there) };
    assert_eq!([one.min(other), one.max(other)], [1, 2]);
    let epochs = || {
        let folder = store.names("").into_iter().find(|name| name.starts_with("epochs-"));
        folder.map(|folder| store.names(&folder)).unwrap_or_default()
    };
    assert_eq!(epochs(), ["0000000001", "0000000002"]);
    store.fail(Fault::Status(503));
    for (data, wanted) in [(low, 2), (high, 3)] {
        let said = promote(data);
        assert!(said["epoch"] == wanted && said["silent"].is_string(), "{said}");
    }
    let serve = |data: &Path| desk.serve_with_args(&["--data", data.to_str().unwrap()]);
    let is_replaced = |server: &Server| {
        let answer = server.get(&Caller::Anyone, "/readyz");
        answer.status == 503 && answer.json()["code"] == "replaced"
    };
    let servers = [serve(low), serve(high)];
    store.fail(Fault::None);
    until("the epoch in the store", || (epochs().len() == 3).then_some(()));
    // The other machine took the epoch of this one.
    until("one that gives way", || is_replaced(&servers[0]).then_some(()));
    assert!(!is_replaced(&servers[1]));
}

/// The error for a wrong secret names the setting and never shows the secret.
fn refuses_what_is_wrong(desk: &mut Desk, store: &Store) {
    store.set(desk, "closesesame", "");
    let said = desk.run(&["backup"]).trouble(2);
    assert!(said.contains("replica.secret_file") && !said.contains("closesesame"), "{said}");
    let shown = desk.run(&["check"]).done();
    assert!(shown.contains("s3://backups/tunnels/one") && !shown.contains("closesesame"), "{shown}");
    store.set(desk, Store::secret(), "");
    desk.run(&["backup"]).done();
}

/// Removes ticks from the store without the site's knowledge: the last one, or all but the first.
fn lose_ticks(store: &Store, kept: impl FnOnce(usize) -> usize, server: &Server, oracle: &mut Oracle) {
    until("some ticks", || {
        oracle.write_once(server);
        (store.ticks().len() > 2).then_some(())
    });
    let ticks = store.ticks();
    let base = ticks[0].split('/').next().unwrap().to_owned();
    ticks[kept(ticks.len())..].iter().for_each(|tick| store.remove(tick));
    // A new base is made even if no client writes, because the copy's reported state would otherwise be wrong.
    until("a new base", || store.bases().pop().filter(|newest| *newest != base));
}

/// The paths of future ticks, after the next few.
fn ticks_ahead(store: &Store, server: &Server, oracle: &mut Oracle, count: u64) -> Vec<String> {
    until("a tick in the new chain", || {
        oracle.write_once(server);
        (!store.ticks().is_empty()).then_some(())
    });
    let last = store.ticks().pop().unwrap();
    let (ticks, name) = last.rsplit_once('/').unwrap();
    let number: u64 = name.trim_end_matches(".tick").parse().unwrap();
    // A tick or two may be written meanwhile.
    (4..4 + count).map(|ahead| format!("{ticks}/{:010}.tick", number + ahead)).collect()
}

/// The store has empty files under the names of future ticks: they are overwritten, and no alarm names another machine.
fn meet_nothing(desk: &Desk, store: &Store, server: &Server, oracle: &mut Oracle) {
    let ahead = ticks_ahead(store, server, oracle, 2);
    ahead.iter().for_each(|tick| store.put_empty(tick));
    let bases = store.bases();
    until("ticks where nothing was", || {
        oracle.write_once(server);
        let said = fact(desk).1;
        assert!(!said.contains("nother machine"), "{said}");
        store.ticks().iter().any(|tick| tick > ahead.last().unwrap()).then_some(())
    });
    assert_eq!(store.bases(), bases, "the chain goes on");
}

/// Another machine puts files where this one's next ticks belong: that stays an alarm, and the site continues in a new
/// chain.
fn meet_stranger(desk: &Desk, store: &Store, server: &Server, oracle: &mut Oracle) {
    let ahead = ticks_ahead(store, server, oracle, 36);
    ahead.iter().for_each(|tick| store.put_foreign(tick));
    let base = ahead[0].split('/').next().unwrap().to_owned();
    let said = until("a word about the stranger", || {
        oracle.write_once(server);
        Some(fact(desk)).filter(|(_, said)| said.contains("another machine writes there as this site"))
    });
    assert_eq!(said.0, "alarm", "{}", said.1);
    until("a base elsewhere", || store.bases().pop().filter(|newest| *newest != base));
    wait_until_caught_up(desk, server, oracle);
    assert!(fact(desk).0 == "alarm" && fact(desk).1.contains("Another machine"), "{:?}", fact(desk));
}

#[test]
fn a_failing_bucket_slows_no_request_is_reported_and_is_caught_up_with() {
    let rounds = campaign("TUNNELDESK_STORE_STORMS");
    let store = Store::start();
    let desk = site(&store, 1, "");
    let mut oracle = Oracle::new(1);
    let server = desk.serve();
    oracle.sign_in(&server);
    wait_for_chain(&desk, &store, &server, &mut oracle);
    for _ in 0..rounds.unwrap_or(1) {
        // The answer to a tick is lost but the tick is stored: no alarm, and no tick twice.
        let lost = store.answers_lost();
        store.fail(Fault::LoseAnswers);
        until("a lost answer", || {
            oracle.write_once(&server);
            (store.answers_lost() > lost).then_some(())
        });
        store.fail(Fault::None);
        wait_until_caught_up(&desk, &server, &mut oracle);
        let outages = [Fault::Status(503), Fault::Hang, Fault::Status(507)];
        for fault in &outages[..if rounds.is_some() { 3 } else { 1 }] {
            store.fail(*fault);
            let said = wait_for("alarm", &desk, &server, &mut oracle);
            let words = match fault {
                Fault::Status(status) => status.to_string(),
                _ => "is not reached".to_owned(),
            };
            assert!(said.contains(&words) || said.contains("does not answer"), "{fault:?}: {said}");
            let since = Instant::now();
            let (state, said) = desk.fact("off_site_backup").unwrap();
            assert!(state == "alarm" && since.elapsed() < ANSWER_TIME_MAX, "{:?}: {said}", since.elapsed());
            store.fail(Fault::None);
            wait_until_caught_up(&desk, &server, &mut oracle);
        }
        lose_ticks(&store, |all| all - 1, &server, &mut oracle);
        wait_until_caught_up(&desk, &server, &mut oracle);
        if rounds.is_some() {
            // The store loses all ticks but the first, as if restored from yesterday.
            lose_ticks(&store, |_| 1, &server, &mut oracle);
            wait_until_caught_up(&desk, &server, &mut oracle);
        }
    }
    meet_nothing(&desk, &store, &server, &mut oracle);
    meet_stranger(&desk, &store, &server, &mut oracle);
    lose_disk(&desk, server, &oracle);
}
