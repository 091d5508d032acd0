//! Limits of account recovery: its questions, and requests from one address.

use super::{RECOVER, recover};
use crate::harness::Site;
use serde_json::json;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::security_answers;

const QUESTIONS: &str = "/auth/account-access/security-questions";

fn asked_of(site: &Site, name: &str) -> Vec<i64> {
    let reply = site.stranger().get(&format!("{QUESTIONS}?username={name}")).ok();
    assert_eq!(reply.header("cache-control"), Some("private, no-store"));
    reply.json().as_array().unwrap().iter().map(|one| one["question"].as_i64().unwrap()).collect()
}

#[test]
fn every_name_is_asked_the_same_three_questions_each_time() {
    let site = Site::open();
    let phc = site.inside().hash("volvo");
    for (name, own) in [("none", &[][..]), ("one", &[3]), ("two", &[3, 7]), ("three", &[1, 3, 7])] {
        let member = site.member(name);
        for question in own {
            site.change(|tx| Ok(security_answers::set(tx, MemberId(member.id), *question, &phc)?));
        }
        let asked = asked_of(&site, name);
        assert_eq!(asked.len(), 3, "{name}");
        assert!(asked.is_sorted() && own.iter().all(|question| asked.contains(question)), "{name}: {asked:?}");
        assert_eq!(asked_of(&site, name), asked, "{name}");
        let by_address = asked_of(&site, &format!("{name}@example.com"));
        assert!(
            by_address.len() == 3 && own.iter().all(|question| by_address.contains(question)),
            "{name}: {by_address:?}"
        );
    }
    assert_eq!(asked_of(&site, "nobody").len(), 3);
}

#[test]
fn one_own_answer_and_two_to_made_up_questions_recover_the_account() {
    let site = Site::open();
    let jane = site.member("jane");
    let phc = site.inside().hash("volvo");
    site.change(|tx| Ok(security_answers::set(tx, MemberId(jane.id), 3, &phc)?));
    recover(&site, "jane").ok();
    let passcode = site.mails().pop().expect("a mail waits")["values"]["passcode"].clone();
    let mut body = json!({"username": "jane", "passcode": passcode, "password": "four dry socks in a row"});
    for question in asked_of(&site, "jane") {
        body[format!("answer_{question}")] = if question == 3 { "volvo" } else { "whatever" }.into();
    }
    assert_eq!(site.stranger().post(RECOVER, body).ok().json()["status"], true);
}

#[test]
fn an_address_asks_for_so_many_recoveries_an_hour_whoever_it_names() {
    let site = Site::open_with(|config| config.limits.recoveries_per_hour_per_address = 6);
    site.member("jane");
    let before = site.rows();
    recover(&site, "jane").ok();
    for n in 0..4 {
        recover(&site, &format!("nobody-{n}")).ok();
    }
    site.stranger().get(&format!("{QUESTIONS}?username=jane")).ok();
    for name in ["jane", "nobody"] {
        let refused = recover(&site, name).refused(429);
        assert!(refused.header("retry-after").is_some());
        site.stranger().get(&format!("{QUESTIONS}?username={name}")).refused(429);
        site.stranger().post("/auth/account-access/recover-username", json!({"email": "a@example.com"})).refused(429);
    }
    let after = site.rows();
    let more: i64 = after.iter().map(|(table, rows)| rows - before[table]).sum();
    assert!(more <= 12, "five requests left {more} rows");
}

#[test]
fn a_proof_counts_as_four_requests_whoever_it_names() {
    let site = Site::open_with(|config| config.limits.recoveries_per_hour_per_address = 6);
    site.member("jane");
    let prove = |name: &str| {
        let body = json!({"username": name, "passcode": "000000", "password": "four dry socks in a row"});
        site.stranger().post(RECOVER, body)
    };
    assert_eq!(prove("nobody").ok().json()["status"], false);
    for name in ["jane", "nobody"] {
        assert!(prove(name).refused(429).header("retry-after").is_some());
    }
}

#[test]
fn the_smallest_limit_of_recoveries_allows_one() {
    let site = Site::open_with(|config| config.limits.recoveries_per_hour_per_address = 2);
    site.member("jane");
    recover(&site, "jane").ok();
    let passcode = site.mails().pop().expect("a mail waits")["values"]["passcode"].clone();
    let body = json!({"username": "jane", "passcode": passcode, "password": "four dry socks in a row"});
    assert_eq!(site.stranger().post(RECOVER, body).ok().json()["status"], true);
}

/// A busy server takes long for each change, so that a tick of the constant time does not cover a difference.
#[test]
fn a_recovery_of_an_unknown_name_makes_as_many_changes_as_one_of_a_known_name() {
    let site = Site::open();
    site.member("jane");
    site.unconfirm(&site.member("mark"));
    let changes = || site.change(|tx| Ok(tx.get::<i64>("SELECT total_changes()", [])?));
    let changes_of = |path: &str, body: serde_json::Value| {
        let before = changes();
        site.stranger().post(path, body).ok();
        changes() - before
    };
    let by_name = |name: &str| changes_of(RECOVER, json!({ "username": name, "option": "email" }));
    let by_address = |address: &str| changes_of("/auth/account-access/recover-username", json!({ "email": address }));
    let known = [by_name("jane"), by_address("jane@example.com")];
    assert!(known.iter().all(|changes| *changes > 5), "{known:?}");
    let rows = site.rows()["outbox"];
    for unknown in ["nobody", "mark"] {
        let address = format!("{unknown}@example.com");
        assert_eq!([by_name(unknown), by_address(&address)], known, "{unknown}");
    }
    assert_eq!(site.rows()["outbox"], rows, "nothing is sent");
}
