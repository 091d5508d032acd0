//! A stranger learns nothing about members by signing in, signing up or recovering: a known name and an unknown one get
//! the same answer, to the byte, in the same time. (`passkeys::strangers` compares the bytes for passkeys.)

use super::timing;
use crate::harness::{Reply, Request, Site, amount};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::security_answers;

const QUESTIONS: &str = "/auth/account-access/security-questions";
const RECOVER: &str = "/auth/account-access/recover-password";
const USERNAME: &str = "/auth/account-access/recover-username";
const NEW: &str = "four dry socks in a row";
/// As many pairs in the suite, and in `tests/deep`, as show one additional hash with a large margin: on two cores with five
/// programs running beside, 16 pairs of one hash and of two were told apart by t = 11 to 20.
const HASHING_PAIRS: (usize, usize) = (20, 150);
/// Where no password is hashed.
const PAIRS: (usize, usize) = (250, 500);
/// The time after which every counter is reset.
const PEACE: Duration = Duration::from_secs(5 * 3600);

/// A request in which a stranger types a name.
type RequestOfName = fn(&str) -> Request;

fn post(path: &str, body: Value) -> Request {
    Request::new(&Method::POST, &format!("/api{path}")).json(&body)
}

fn login(name: &str) -> Request {
    post("/auth/login", json!({ "username": name, "password": "not the password" }))
}

fn silent(name: &str) -> Request {
    post("/auth/login/silent", json!({ "username": name, "password": "not the password" }))
}

fn ask(name: &str) -> Request {
    post(RECOVER, json!({ "username": name, "option": "email" }))
}

fn ask_by_sms(name: &str) -> Request {
    post(RECOVER, json!({ "username": name, "option": "sms" }))
}

fn recover(name: &str) -> Request {
    post(
        RECOVER,
        json!({ "username": name, "passcode": "000000", "password": NEW, "answer_3": "volvo", "answer_9": "x" }),
    )
}

fn recover_with_the_address(name: &str) -> Request {
    post(
        RECOVER,
        json!({ "username": name, "passcode": "000000", "password": "jane@example.com", "answer_3": "volvo" }),
    )
}

fn ask_username(name: &str) -> Request {
    post(USERNAME, json!({ "email": format!("{name}@example.com") }))
}

fn told_username(name: &str) -> Request {
    post(USERNAME, json!({ "email": format!("{name}@example.com"), "passcode": "000000" }))
}

fn questions(name: &str) -> Request {
    Request::new(&Method::GET, &format!("/api{QUESTIONS}?username={name}"))
}

/// The members: jane, who has everything; mark, who has confirmed and answered nothing; ann, who is banned.
fn people(site: &Site) {
    let (jane, mark, ann) = (site.member("jane"), site.member("mark"), site.member("ann"));
    site.confirm_phone(&jane);
    for (question, answer) in [(3, "volvo"), (9, "net"), (11, "wind")] {
        let phc = site.inside().hash(answer);
        site.change(|tx| Ok(security_answers::set(tx, MemberId(jane.id), question, &phc)?));
    }
    site.unconfirm(&mark);
    site.ban(&ann);
}

/// The comparable parts of an answer: status, headers and body without ids, times and the texts of questions.
fn said(reply: Reply) -> (u16, Vec<(String, String)>, String) {
    let varies = ["x-request-id", "date", "etag", "content-length"];
    let headers = reply.headers.iter().filter(|(name, _)| !varies.contains(&name.as_str()));
    let headers = headers.map(|(name, value)| (name.to_string(), value.to_str().unwrap().to_owned())).collect();
    let mut body: Value = serde_json::from_slice(&reply.body).unwrap();
    if let Some(questions) = body.as_array_mut() {
        questions.iter_mut().for_each(|one| *one = json!(one.as_object().unwrap().keys().collect::<Vec<_>>()));
    }
    if body["request_id"].is_string() {
        body["request_id"] = json!("");
    }
    (reply.status, headers, body.to_string())
}

#[test]
fn a_known_name_gets_the_same_bytes_as_an_unknown_one() {
    let site = Site::open_with(|config| config.limits.sign_in_misses_per_address = 1_000_000);
    site.hash_small();
    people(&site);
    // Six attempts for each name: counters delay an unknown name as they do a known one.
    let answers = |request_of: RequestOfName, name: &str| -> Vec<_> {
        site.advance(PEACE);
        (0..6).map(|_| said(site.stranger().send(&request_of(name)))).collect()
    };
    let by_name: [RequestOfName; 9] =
        [login, silent, ask, ask_by_sms, recover, recover_with_the_address, ask_username, told_username, questions];
    let by_address: [RequestOfName; 6] = [login, silent, ask, ask_by_sms, recover, questions];
    for (requests, nobody, others) in [
        (&by_name[..], "nobody", ["jane", "JANE", "mark", "ann"]),
        (
            &by_address[..],
            "nobody@example.com",
            ["jane@example.com", "Jane@Example.com", "mark@example.com", "ann@example.com"],
        ),
    ] {
        for request_of in requests {
            let of_nobody = answers(*request_of, nobody);
            for name in others {
                assert_eq!(answers(*request_of, name), of_nobody, "{:?}", request_of(name));
            }
        }
    }
}

/// Compares the times of jane and an unknown name in pairs; counters are reset between pairs.
fn assert_alike((suite, deep): (usize, usize), request_of: RequestOfName) {
    let site = Site::open_with(|config| config.limits.sign_in_misses_per_address = 1_000_000);
    people(&site);
    timing::assert_alike(&site, amount(suite, deep), [request_of("jane"), request_of("nobody")], || {
        site.advance(PEACE)
    });
}

#[test]
fn signing_in_takes_the_time_of_an_unknown_name() {
    assert_alike(HASHING_PAIRS, login);
}

#[test]
fn signing_in_silently_takes_the_time_of_an_unknown_name() {
    assert_alike(HASHING_PAIRS, silent);
}

#[test]
fn sending_a_passcode_takes_the_time_of_an_unknown_name() {
    assert_alike(HASHING_PAIRS, ask);
}

#[test]
fn recovering_takes_the_time_of_an_unknown_name() {
    assert_alike(HASHING_PAIRS, recover);
}

/// Answers to every question of the catalogue, in letters that are tried in two forms.
fn recover_with_every_answer(name: &str) -> Request {
    let mut body = json!({ "username": name, "passcode": "000000", "password": NEW });
    (1..=12).for_each(|question| body[format!("answer_{question}")] = json!("a\u{308}bc"));
    post(RECOVER, body)
}

#[test]
fn recovering_with_answers_to_every_question_takes_the_time_of_an_unknown_name() {
    assert_alike(HASHING_PAIRS, recover_with_every_answer);
}

/// The answers to the questions that a name is asked, in the same letters.
#[test]
fn answers_to_questions_that_are_not_asked_take_no_time() {
    let site = Site::open_with(|config| config.limits.sign_in_misses_per_address = 1_000_000);
    people(&site);
    let of_asked = |name: &str| {
        let mut body = json!({ "username": name, "passcode": "000000", "password": NEW });
        for asked in site.stranger().send(&questions(name)).ok().json().as_array().unwrap() {
            body[format!("answer_{}", asked["question"])] = json!("a\u{308}bc");
        }
        post(RECOVER, body)
    };
    let requests = [of_asked("nobody"), recover_with_every_answer("nobody")];
    timing::assert_alike(&site, amount(HASHING_PAIRS.0, HASHING_PAIRS.1), requests, || site.advance(PEACE));
}

#[test]
fn sending_a_username_takes_the_time_of_an_unknown_address() {
    assert_alike(HASHING_PAIRS, ask_username);
}

#[test]
fn recovering_a_username_takes_the_time_of_an_unknown_address() {
    assert_alike(HASHING_PAIRS, told_username);
}

#[test]
fn questions_take_the_time_of_an_unknown_name() {
    assert_alike(PAIRS, questions);
}
