//! The standby: acknowledged writes survive the loss of the main machine, a person promotes the standby, and the
//! replaced machine says so and stops writing.
//!
//! `TUNNELDESK_STANDBYS` and `TUNNELDESK_PARTITIONS` set the number of lost machines and of cut networks.

mod machines;
mod partitions;

use crate::harness::{Caller, Desk, Ran, Server};
use crate::off_site::oracle::{Oracle, restored};
use crate::off_site::{campaign, until};
use crate::upgrade::kills::{at_every_point, copy};
use machines::{Follower, Relay, Token, main_machine, standby_fact, wait_until_in_step};
use serde_json::json;
use std::time::{Duration, Instant};

/// The number of lost machines in the suite.
const STANDBYS: u64 = 1;
const SERVES_WITHIN: Duration = Duration::from_secs(60);

/// All clients write, the main machine is killed, and the standby is promoted. Returns the age at the kill of the
/// oldest acknowledged write that is missing, the time until the promoted machine served, and whether answers ever went
/// out without the standby.
fn lose_main_machine(wait: &str, clients: usize, written_for: Duration) -> (Duration, Duration, bool) {
    let token = Token::new();
    let main = main_machine(clients, &token, wait);
    let mut oracle = Oracle::new(clients);
    let server = main.serve();
    oracle.sign_in(&server);
    let second = Desk::empty();
    let mut follower = Follower::start(&second, server.address, &token);
    wait_until_in_step(&main);
    let killed_at = oracle.write_until(&server, written_for, || server.kill());
    let went_without = server.log.so_far().iter().any(|line| line.contains("does not keep up"));
    drop(server);
    follower.kill();
    let since = Instant::now();
    let said = second.json(&["promote"]);
    assert_eq!(said["epoch"], 1, "{said}");
    let server = second.serve();
    let served = since.elapsed();
    let there = restored(&second.data());
    let lost = oracle.lost(&there, killed_at);
    oracle.forget_lost(&there);
    oracle.sign_in(&server);
    oracle.write_once(&server);
    assert_eq!(server.stop().code, Some(0));
    (lost, served, went_without)
}

#[test]
fn every_acknowledged_write_is_on_the_standby_when_the_main_machine_is_killed() {
    let campaign = campaign("TUNNELDESK_STANDBYS");
    let clients = if campaign.is_some() { 64 } else { 6 };
    let (mut rounds, mut waited) = (0, 0);
    // On a machine that is busy with other tests the standby may sometimes take longer than answers wait.
    let tries = campaign.unwrap_or(STANDBYS) + 4;
    while waited < campaign.unwrap_or(STANDBYS) && rounds < tries {
        rounds += 1;
        let (lost, served, went_without) = lose_main_machine("true", clients, Duration::from_millis(1_500));
        println!("round {rounds}: {lost:?} lost, served after {served:?}, answers without it: {went_without}");
        assert!(served < SERVES_WITHIN, "the standby served after {served:?}");
        if !went_without {
            waited += 1;
            assert_eq!(lost, Duration::ZERO, "an acknowledged write is not on the standby");
        }
    }
    assert_eq!(waited, campaign.unwrap_or(STANDBYS), "the standby did not keep up in {rounds} rounds");
}

/// Proves the audit above: it must fail where answers do not wait for the standby.
#[test]
fn a_promotion_killed_anywhere_is_completed_by_the_next() {
    let token = Token::new();
    let main = main_machine(1, &token, "true");
    let server = main.serve();
    let second = Desk::empty();
    let mut follower = Follower::start(&second, server.address, &token);
    wait_until_in_step(&main);
    server.kill();
    follower.kill();
    let (mut unfinished, mut whole) = (0, 0);
    let kills = at_every_point(
        &["fsync", "rename", "unlink"],
        || copy(&second.data()),
        &["promote"],
        |desk, at| {
            let listed = desk.run(&["member", "list"]);
            if listed.code == Some(0) {
                whole += 1;
            } else {
                assert!(listed.err.contains("`tunneldesk promote`"), "{at}: {}", listed.err);
                unfinished += 1;
            }
            let epoch = desk.json(&["promote"])["epoch"].as_u64().unwrap();
            assert!((1..=2).contains(&epoch), "{at}: epoch {epoch}");
            assert!(desk.run(&["member", "list"]).done().contains("flyer-0"), "{at}");
            assert!(!desk.data().join("standby").exists(), "{at}: the copy was left");
        },
    );
    println!("{kills} kills of a promotion: {unfinished} left the copy, {whole} the site");
    assert!(unfinished > 3 && whole > 0, "{unfinished} unfinished, {whole} whole");
}

#[test]
fn without_waiting_the_last_writes_are_lost_with_the_main_machine() {
    let lost =
        (0..5).map(|_| lose_main_machine("false", 6, Duration::from_millis(1_500)).0).find(|lost| !lost.is_zero());
    assert!(lost.is_some_and(|lost| lost < Duration::from_secs(3)), "{lost:?} lost");
}

fn wait_until_all_is_there(server: &Server) {
    until("all of it on the standby", || (server.figure("tunneldesk_standby_behind_bytes") == 0).then_some(()));
}

#[test]
fn a_standby_that_is_killed_again_and_again_continues_its_copy() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    let mut oracle = Oracle::new(1);
    let server = main.serve();
    oracle.sign_in(&server);
    let second = Desk::empty();
    let mut bases = 0;
    for _ in 0..4 {
        let mut follower = Follower::start(&second, server.address, &token);
        wait_until_in_step(&main);
        (0..20).for_each(|_| _ = oracle.write_once(&server));
        wait_until_all_is_there(&server);
        (0..20).for_each(|_| _ = oracle.write_once(&server));
        follower.kill();
        bases += follower.log().matches("the base is there").count();
    }
    assert_eq!(bases, 1, "a copy that was whole was fetched anew");
    let mut follower = Follower::start(&second, server.address, &token);
    wait_until_all_is_there(&server);
    follower.kill();
    drop(server);
    second.run(&["promote"]).done();
    assert_eq!(oracle.lost(&restored(&second.data()), Instant::now()), Duration::ZERO);
    assert_eq!(second.json(&["audit", "list", "--limit", "1"])[0]["action"], "site.promoted");
    // The promoted machine has a site of its own now, and refuses to follow another.
    let ran = second.run(&["standby", "--from", "http://127.0.0.1:1", "--token-file", token.path()]);
    assert!(ran.trouble(1).contains("holds a site of its own"));
}

#[test]
fn with_refuse_nothing_is_written_without_the_standby() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    let mut oracle = Oracle::new(1);
    let server = main.serve();
    oracle.sign_in(&server);
    drop(server);
    machines::set_wait(&main, &token, "\"refuse\"");
    let server = main.serve();
    let write = |name: &str| {
        let entry = json!({ "entry_date": 1_700_000_000, "time": "5", "tunnel": "1", "comment": name, "status": "" });
        server.post(oracle.session(0), "/api/account/logbook/time/", &entry)
    };
    let refused = write("alone").refused(503);
    assert_eq!(refused["code"], "standby_away", "{refused}");
    let ready = || server.get(&Caller::Anyone, "/readyz");
    assert_eq!(ready().refused(503)["code"], "standby_away");
    let (state, said) = standby_fact(&main);
    assert_eq!(state, "alarm", "{said}");
    let second = Desk::empty();
    let mut follower = Follower::start(&second, server.address, &token);
    wait_until_in_step(&main);
    assert_eq!((write("with it").status, ready().status), (201, 200));
    follower.kill();
    // The first write is written, but no standby confirms it, so its answer is 503. All later writes are refused and
    // not written.
    (0..3).for_each(|n| _ = write(&format!("without it {n}")).refused(503));
    assert_eq!(there(&main), ["with it", "without it 0"]);
    second.run(&["promote"]).done();
    assert_eq!(there(&second), ["with it"]);
    assert_eq!(server.get(oracle.session(0), "/api/account/profile/user").status, 200);
}

#[test]
fn the_replaced_machine_is_told_although_promote_was_typed_twice() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    let old = main.serve();
    let second = Desk::empty();
    let mut follower = Follower::start(&second, old.address, &token);
    wait_until_in_step(&main);
    follower.kill();
    for epoch in 1..=2 {
        let said = second.json(&["promote"]);
        assert_eq!(
            (said["epoch"].as_u64(), said["main"].as_str()),
            (Some(epoch), Some(&*format!("http://{}", old.address)))
        );
    }
    let new = second.serve();
    until("the old machine to stop writing", || (old.get(&Caller::Anyone, "/readyz").status == 503).then_some(()));
    assert_eq!(new.get(&Caller::Anyone, "/readyz").status, 200);
}

#[test]
fn a_second_standby_is_refused_and_both_sides_say_so() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    let server = main.serve();
    let (second, third) = (Desk::empty(), Desk::empty());
    let mut follower = Follower::start(&second, server.address, &token);
    wait_until_in_step(&main);
    let mut late = Follower::start(&third, server.address, &token);
    until("a refusal", || late.log().contains("another standby follows").then_some(()));
    until("a word of the main machine", || standby_fact(&main).1.contains("A second machine asks").then_some(()));
    assert_eq!(standby_fact(&main).0, "warning");
    assert!(server.log.so_far().iter().any(|line| line.contains("a second standby asks for a copy and is refused")));
    until("the first one in step", || (server.figure("tunneldesk_standby_behind_bytes") == 0).then_some(()));
    late.kill();
    follower.kill();
}

#[test]
fn a_new_site_at_the_address_of_the_lost_one_does_not_replace_the_copy() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    let server = main.serve();
    let second = Desk::empty();
    let mut follower = Follower::start(&second, server.address, &token);
    wait_until_in_step(&main);
    follower.kill();
    drop(server);
    let other = main_machine(0, &token, "false");
    let server = other.serve();
    let mut follower = Follower::start(&second, server.address, &token);
    until("a refusal", || follower.log().contains("another site answers there").then_some(()));
    follower.kill();
    second.run(&["promote"]).done();
    assert!(second.run(&["member", "list"]).done().contains("flyer-0"));
}

#[test]
fn a_site_that_was_restored_to_an_earlier_state_does_not_replace_the_newer_copy() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    main.run(&["backup"]).done();
    let server = main.serve();
    let second = Desk::empty();
    let mut follower = Follower::start(&second, server.address, &token);
    wait_until_in_step(&main);
    main.add_member("late", "member");
    wait_until_all_is_there(&server);
    assert_eq!(server.stop().code, Some(0));
    follower.kill();
    main.run(&["restore"]).done();
    let server = main.serve();
    let mut follower = Follower::start(&second, server.address, &token);
    assert_eq!(follower.ended().code(), Some(1), "a service manager starts it again");
    let said = follower.log();
    for part in ["taken back to an earlier state", "the copy is kept", "tunneldesk promote", "move "] {
        assert!(said.contains(part), "{part}: {said}");
    }
    // The way that the refusal names: the older state is accepted once the copy is moved away.
    let (copy, aside) = (second.data().join("standby/current"), second.path().join("aside"));
    std::fs::rename(&copy, &aside).unwrap();
    let mut follower = Follower::start(&second, server.address, &token);
    wait_until_in_step(&main);
    follower.kill();
    // The other way: the copy becomes the site.
    std::fs::remove_dir_all(&copy).unwrap();
    std::fs::rename(&aside, &copy).unwrap();
    drop(server);
    second.run(&["promote"]).done();
    assert!(second.run(&["member", "list"]).done().contains("late"));
}

#[test]
fn no_command_proposes_a_new_site_beside_the_copy_of_a_standby() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    let server = main.serve();
    let second = Desk::empty();
    let mut follower = Follower::start(&second, server.address, &token);
    wait_until_in_step(&main);
    let said = second.run(&["doctor"]).out;
    assert!(said.contains("a standby runs") && !said.contains("stop it"), "{said}");
    follower.kill();
    let init = ["init", "--name", "T", "--country", "CH"];
    for (args, code) in [(&["backup"][..], 2), (&["member", "list"], 2), (&init, 1)] {
        let said = second.run(args).trouble(code);
        assert!(said.contains("tunneldesk promote") && !said.contains("tunneldesk init"), "{args:?}: {said}");
    }
    let doctor = second.run(&["doctor"]).out;
    assert!(doctor.contains("tunneldesk promote") && !doctor.contains("tunneldesk init"), "{doctor}");
    second.run(&["promote"]).done();
    assert!(second.run(&["member", "list"]).done().contains("flyer-0"));
}

/// The names of the writes in a site.
fn there(desk: &Desk) -> Vec<String> {
    restored(&desk.data()).into_iter().collect()
}

#[test]
fn without_the_token_nothing_is_sent_and_the_standby_uses_https() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    main.run(&["tls", "init", "--name", "localhost"]).done();
    machines::add_settings(&main, "[tls]\nlisten = [\"127.0.0.1:0\"]\n");
    std::fs::write(main.path().join("authority"), main.run(&["tls", "authority"]).done()).unwrap();
    let server = main.serve();
    let wish = json!({ "wish": "base" });
    server.post(&Caller::Anyone, "/api/standby", &wish).refused(401);
    server.post(&Caller::session(&"0".repeat(64)), "/api/standby", &wish).refused(401);
    let line = server.log.wait_for("listening for https").unwrap();
    let port = crate::harness::text(&line["address"]).rsplit_once(':').unwrap().1.to_owned();
    let (second, url) = (Desk::empty(), format!("https://localhost:{port}"));
    // Without the authority the certificate is not trusted.
    let mut stranger = Follower::at(&second, &url, &token, &[]);
    until("a word about the certificate", || stranger.log().contains("is not reached").then_some(()));
    stranger.kill();
    let authority = main.path().join("authority");
    let _follower = Follower::at(&second, &url, &token, &["--ca-file", authority.to_str().unwrap()]);
    wait_until_in_step(&main);
    let refused = |args: &[&str]| -> Ran { second.run(&[&["standby"], args].concat()) };
    let open = Token::new();
    open.open_to_others();
    let elsewhere = second.path().join("elsewhere");
    let to = ["--data", elsewhere.to_str().unwrap()];
    let said = refused(&[&["--from", &url, "--token-file", open.path()], &to[..]].concat()).trouble(1);
    assert!(said.contains("chmod 600"), "{said}");
    let said = refused(&[&["--from", "http://192.0.2.7", "--token-file", token.path()], &to[..]].concat());
    assert!(said.code != Some(0) && said.err.contains("must be https://"), "{}", said.err);
    let said = second.run(&[&["promote"], &to[..]].concat());
    assert!(said.code != Some(0), "{}", said.out);
    // An epoch that no promotion leads to does not replace this machine, even if a machine with the token sends it.
    for epoch in ["10000", "9223372036854775807", "-1", "1.5"] {
        let (body, token) = (format!("{{\"wish\":\"promoted\",\"epoch\":{epoch}}}"), "4f".repeat(32));
        let head = format!(
            "POST /api/standby HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {token}\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        assert_eq!(server.raw(head.as_bytes()).unwrap().refused(422)["errors"][0]["field"], "epoch");
    }
    // A site without the setting does not serve this path.
    let alone = Desk::with_site();
    alone.serve().post(&Caller::Anyone, "/api/standby", &wish).refused(404);
}

#[test]
fn a_large_tick_is_sent_in_parts() {
    let token = Token::new();
    let main = main_machine(1, &token, "false");
    let server = main.serve();
    let second = Desk::empty();
    let relay = Relay::to(server.address);
    let mut follower = Follower::start(&second, relay.address, &token);
    wait_until_in_step(&main);
    let rows: String = (0..6_000).map(|n| format!("bulk{n},bulk{n}@example.com,Somebody {n}\n")).collect();
    std::fs::write(main.path().join("members.csv"), format!("username,email,real_name\n{rows}")).unwrap();
    main.run(&["import", "members", "members.csv"]).done();
    wait_until_all_is_there(&server);
    follower.kill();
    drop(server);
    second.run(&["promote"]).done();
    assert!(second.json(&["member", "list"]).to_string().contains("bulk5999"));
}
