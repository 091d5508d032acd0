//! The proof in an authenticator's answer, and how often it can be used.

use super::authenticator::decoded;
use super::{
    Key, OPTION, Page, VERIFY, done, notices, open, question, refused, register, sign_in, sign_in_question, verify,
};
use crate::harness::{Caller, Site};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::sessions;

#[test]
fn fifty_uses_of_one_challenge_at_once_are_one_success() {
    // One thread for each answer, so that many read the challenge before the first one uses it up.
    let site = Site::open_with(|config| config.limits.pool_threads = 50);
    site.expects_faults();
    let jane = site.member("jane");
    let mut key = register(&site, &jane);
    let page = Page::at(&site.origin());
    for round in 0..5 {
        let options = sign_in_question(&site, "jane");
        // Each answer has a counter of its own, so that only the challenge can refuse the others.
        let answers: Vec<String> = (0..50).map(|_| page.get(&mut key, &options)).collect();
        assert_eq!(at_once(&site.stranger(), &answers), 1, "sign-ins of round {round}");
        let options = question(&site, &jane, json!({}));
        let answers: Vec<String> = (0..50).map(|_| page.create(&options).1).collect();
        assert_eq!(at_once(&site.stranger(), &answers), 1, "new passkeys of round {round}");
    }
    assert_eq!((site.rows()["passkeys"], site.rows()["passkey_challenges"]), (6, 0));
}

/// The number of answers that succeed when all are sent at once.
fn at_once(caller: &Caller, answers: &[String]) -> usize {
    let start = std::sync::Barrier::new(answers.len());
    std::thread::scope(|scope| {
        let send = |answer| {
            let (caller, start) = (caller.clone(), &start);
            scope.spawn(move || {
                start.wait();
                caller.post(VERIFY, json!({ "credential": answer })).ok().json()["status"] == true
            })
        };
        let threads: Vec<_> = answers.iter().map(send).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|taken| *taken).count()
    })
}

#[test]
fn a_challenge_lives_five_minutes() {
    let site = open();
    let jane = site.member("jane");
    let mut key = register(&site, &jane);
    let (first, second) = (sign_in_question(&site, "jane"), sign_in_question(&site, "jane"));
    let new = question(&site, &jane, json!({}));
    let page = Page::at(&site.origin());
    site.advance(Duration::from_secs(299));
    done(&verify(&site, &page.get(&mut key, &first)));
    site.advance(Duration::from_secs(1));
    refused(&verify(&site, &page.get(&mut key, &second)));
    refused(&verify(&site, &page.create(&new).1));
}

#[test]
fn only_the_owner_s_passkey_signs_in() {
    let site = open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let (mut key, mut marks) = (register(&site, &jane), register(&site, &mark));
    let page = Page::at(&site.origin());
    let ask = || sign_in_question(&site, "jane");
    refused(&verify(&site, &page.get(&mut key.forged(), &ask())));
    refused(&verify(&site, &page.get(&mut marks, &ask())));
    refused(&verify(&site, &page.get(&mut Key::invented(decoded(&ask()["allowCredentials"][0]["id"])), &ask())));
    refused(&verify(&site, &Page { user_verified: false, ..page.clone() }.get(&mut key, &ask())));
    refused(&verify(&site, &Page { rp_id: Some("example.com".into()), ..page.clone() }.get(&mut key, &ask())));
    refused(&verify(
        &site,
        &Page { client_data: json!({ "type": "webauthn.create" }), ..page.clone() }.get(&mut key, &ask()),
    ));
    let unknown = json!({ "challenge": "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "rpId": "localhost" });
    refused(&verify(&site, &page.get(&mut key, &unknown)));
    for odd in
        ["{}", "[]", "x", "{\"response\":{\"clientDataJSON\":\"!\"}}", "{\"response\":{\"clientDataJSON\":\"e30\"}}"]
    {
        refused(&verify(&site, odd));
    }
    done(&verify(&site, &page.get(&mut key, &ask())));
}

#[test]
fn a_response_to_one_kind_of_challenge_is_refused_for_the_other() {
    let site = open();
    let jane = site.member("jane");
    let mut key = register(&site, &jane);
    let page = Page::at(&site.origin());
    let asked = sign_in_question(&site, "jane");
    let as_creation = json!({ "challenge": asked["challenge"], "rp": { "id": "localhost" }, "user": { "id": "AA" } });
    refused(&verify(&site, &page.create(&as_creation).1));
    let asked = question(&site, &jane, json!({}));
    let as_request = json!({ "challenge": asked["challenge"], "rpId": "localhost" });
    refused(&verify(&site, &page.get(&mut key, &as_request)));
    assert_eq!(site.rows()["passkeys"], 1);
}

#[test]
fn a_passkey_of_another_member_is_refused_even_with_its_id() {
    let site = open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let mut key = register(&site, &jane);
    let page = Page::at(&site.origin());
    let options = question(&site, &mark, json!({}));
    refused(&verify(&site, &page.create_with(&key.forged(), &options)));
    assert_eq!(site.rows()["passkeys"], 1);
    done(&sign_in(&site, "jane", &mut key));
}

#[test]
fn a_copied_authenticator_is_refused_and_reported() {
    let site = open();
    let jane = site.member("jane");
    let mut key = register(&site, &jane);
    let (early, earlier) = (sign_in_question(&site, "jane"), sign_in_question(&site, "jane"));
    let mut copy = key.clone();
    done(&sign_in(&site, "jane", &mut key));
    done(&sign_in(&site, "jane", &mut key));
    let page = Page::at(&site.origin());
    // The copy answers a challenge from before the counter moved, and one from after.
    refused(&verify(&site, &page.get(&mut copy.clone(), &early)));
    refused(&sign_in(&site, "jane", &mut copy));
    let told: Vec<String> = notices(&site, &jane).into_iter().map(|(subject, _)| subject).collect();
    assert_eq!(told, ["notice.passkey_added", "notice.passkey_copied", "notice.passkey_copied"]);
    // A forged key, without the secret, causes no such notice.
    refused(&verify(&site, &page.get(&mut key.forged(), &earlier)));
    assert_eq!(notices(&site, &jane).len(), 3);
    done(&sign_in(&site, "jane", &mut key));
}

#[test]
fn a_challenge_ends_with_its_session() {
    let site = open();
    let jane = site.member("jane");
    let mut key = register(&site, &jane);
    let page = Page::at(&site.origin());
    let second = site.sign_in(jane.id, "jane", tunneldesk::domain::role::Role::Member, Duration::ZERO);
    let (new, mut asked) = (question(&site, &second, json!({})), sign_in_question(&site, "jane"));
    second.ask(Method::POST, "/auth/logout").send().ok();
    refused(&verify(&site, &page.create(&new).1));
    done(&verify(&site, &page.get(&mut key, &asked)));
    // Password changes, recoveries and bans end challenges in this way.
    let new = question(&site, &jane, json!({}));
    asked = sign_in_question(&site, "jane");
    site.change(|tx| Ok(sessions::delete_of_member(tx, MemberId(jane.id), None)?));
    refused(&verify(&site, &page.create(&new).1));
    refused(&verify(&site, &page.get(&mut key, &asked)));
    let asked = sign_in_question(&site, "jane");
    site.ban(&jane);
    refused(&verify(&site, &page.get(&mut key, &asked)));
    refused(&sign_in(&site, "jane", &mut key));
}

#[test]
fn a_registration_is_bound_to_its_session() {
    let site = open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let ask = |caller: &Caller| -> Value {
        let asking = caller.ask(Method::POST, OPTION).header("origin", &site.origin());
        asking.header("idempotency-key", "one").json(&json!({ "device_id": 1 })).send().ok().json()
    };
    let janes = ask(&jane);
    assert_eq!(ask(&jane), janes);
    assert_ne!(ask(&mark)["publicKey"]["user"]["id"], janes["publicKey"]["user"]["id"]);
}
