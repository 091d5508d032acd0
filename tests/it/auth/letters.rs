//! Secrets and addresses typed on devices that encode accented letters differently (composed or decomposed) are equal.

use crate::harness::{Caller, PASSWORD, Site};
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use http::Method;
use serde_json::{Value, json};
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::{members, security_answers};

/// `ü` as one character, and as a letter with its dots.
const COMPOSED: &str = "gr\u{fc}ne Socken, nasses Haar";
const DECOMPOSED: &str = "gru\u{308}ne Socken, nasses Haar";
const RECOVER: &str = "/auth/account-access/recover-password";

/// A hash from before secrets were normalised.
fn hash_as_typed(secret: &str) -> String {
    let (salt, mut digest) = ([7; 16], [0; 32]);
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, Params::new(19_456, 2, 1, None).unwrap());
    argon2.hash_password_into(secret.as_bytes(), &salt, &mut digest).unwrap();
    let base64 = |bytes: &[u8]| STANDARD_NO_PAD.encode(bytes);
    format!("$argon2id$v=19$m=19456,t=2,p=1${}${}", base64(&salt), base64(&digest))
}

fn signs_in(site: &Site, secret: &str) -> bool {
    let reply = site.stranger().post("/auth/login", json!({ "username": "jane", "password": secret }));
    reply.ok().json()["status"].as_bool().unwrap()
}

fn jane(site: &Site, phc: &str) -> Caller {
    let jane = site.member("jane");
    site.change(|tx| Ok(members::set_password(tx, MemberId(jane.id), phc)?));
    jane
}

fn recover(site: &Site, password: &str, answer: &str) -> Value {
    site.stranger().post(RECOVER, json!({ "username": "jane" })).ok();
    let passcode = site.mails().pop().unwrap()["values"]["passcode"].clone();
    let body = json!({ "username": "jane", "passcode": passcode, "password": password, "answer_3": answer });
    site.stranger().post(RECOVER, body).ok().json()["status"].clone()
}

#[test]
fn a_password_is_right_in_either_form_wherever_it_is_set() {
    let site = Site::open();
    for (number, set) in [COMPOSED, DECOMPOSED].into_iter().enumerate() {
        let name = format!("flyer{number}");
        let body = json!({ "username": name, "password": set, "email": format!("{name}@example.com"), "real_name": "Ann", "terms": true });
        site.stranger().post("/auth/signup", body).ok();
        for typed in [COMPOSED, DECOMPOSED] {
            let reply = site.stranger().post("/auth/login", json!({ "username": name, "password": typed })).ok().json();
            assert_eq!(reply["status"], true, "set as {set:?}, typed as {typed:?}");
        }
    }
    let jane = jane(&site, &site.inside().hash(DECOMPOSED));
    let body = json!({ "current_password": COMPOSED, "password": "n\u{e4}chster Winter, kurz", "password_confirm": "na\u{308}chster Winter, kurz" });
    jane.put("/account/profile/change-password", body).ok();
    assert!(signs_in(&site, "na\u{308}chster Winter, kurz") && signs_in(&site, "n\u{e4}chster Winter, kurz"));
}

#[test]
fn an_old_hash_of_another_form_is_right_as_it_was_typed_and_is_made_anew() {
    let site = Site::open();
    jane(&site, &hash_as_typed(DECOMPOSED));
    assert!(!signs_in(&site, COMPOSED), "nobody can know that form of an old hash");
    assert!(signs_in(&site, DECOMPOSED));
    assert!(signs_in(&site, COMPOSED) && signs_in(&site, DECOMPOSED), "the hash is of both forms now");
}

#[test]
fn an_answer_is_right_in_either_form_and_an_old_one_as_it_was_typed() {
    let site = Site::open();
    let jane = site.member("jane");
    let answered = |phc: &str| site.change(|tx| Ok(security_answers::set(tx, MemberId(jane.id), 3, phc)?));
    answered(&site.inside().hash("citro\u{eb}n"));
    assert_eq!(recover(&site, COMPOSED, " Citroe\u{308}n "), true);
    answered(&hash_as_typed("citroe\u{308}n"));
    assert_eq!(recover(&site, DECOMPOSED, "CITROE\u{308}N"), true);
    assert_eq!(recover(&site, COMPOSED, "Citro\u{eb}n"), true, "the hash is of both forms now");
}

/// One address as four devices write it.
const ADDRESSES: [&str; 4] = [
    "j\u{f6}rg@b\u{fc}cher.example",
    "jo\u{308}rg@bu\u{308}cher.example",
    "J\u{d6}RG@B\u{dc}CHER.EXAMPLE",
    "j\u{f6}rg@xn--bcher-kva.example",
];

fn sign_up(site: &Site, username: &str, email: &str) {
    let body =
        json!({ "username": username, "password": PASSWORD, "email": email, "real_name": "J\u{f6}rg", "terms": true });
    site.stranger().post("/auth/signup", body).ok();
}

#[test]
fn an_address_in_another_spelling_belongs_to_the_same_member() {
    for (number, given) in ADDRESSES.into_iter().enumerate() {
        let site = Site::open();
        sign_up(&site, "joerg", given);
        let token = site.mails().pop().unwrap()["values"]["token"].clone();
        assert_eq!(site.stranger().post("/auth/verify-email", json!({ "token": token })).ok().json()["status"], true);
        for typed in ADDRESSES {
            let body = json!({ "username": typed, "password": PASSWORD });
            let login = site.stranger().post("/auth/login", body).ok().json();
            assert_eq!(login["status"], true, "given as {given}, typed as {typed}");
        }
        sign_up(&site, "another", ADDRESSES[(number + 1) % 4]);
        assert_eq!(site.mails().pop().unwrap()["template"], "email_taken", "{given}");
    }
}

#[test]
fn an_address_that_an_earlier_version_kept_as_typed_still_signs_in() {
    let site = Site::open();
    let jane = site.member("jane");
    for kept in ADDRESSES {
        site.change(|tx| Ok(tx.run("UPDATE members SET email = ?2 WHERE member_id = ?1", (jane.id, kept))?));
        let body = json!({ "username": kept, "password": PASSWORD });
        assert_eq!(site.stranger().post("/auth/login", body).ok().json()["status"], true, "{kept}");
    }
}

#[test]
fn an_erasure_forgets_every_record_of_an_address_that_an_earlier_version_kept_as_typed() {
    for kept in ADDRESSES {
        let site = Site::open();
        let jane = site.member("jane");
        site.change(|tx| Ok(tx.run("UPDATE members SET email = ?2 WHERE member_id = ?1", (jane.id, kept))?));
        site.partner().post("/external/partner-metrics/op", json!({ "email": kept })).ok();
        let message = json!({ "name": "Jane", "email": kept, "message": "Hello", "country": "CH", "enquiry": "other" });
        site.stranger().post("/public/contact", message).ok();
        site.queue_mail(ADDRESSES[0]);
        site.shell(&["member", "erase", "jane", "--yes"]);
        let left = "SELECT (SELECT count(*) FROM partner_users WHERE email <> '')
                         + (SELECT count(*) FROM contact_messages) + (SELECT count(*) FROM outbox)";
        assert_eq!(site.change(|tx| Ok(tx.get::<i64>(left, [])?)), 0, "{kept}");
    }
}

#[test]
fn an_address_in_other_spellings_gets_no_more_mails_than_in_one() {
    let site = Site::open();
    for number in 0..8 {
        sign_up(&site, &format!("flyer{number}"), ADDRESSES[number % 4]);
    }
    assert_eq!(site.mails().len(), 5, "five an hour to one address");
}

/// One address in letters that lead to the same account: plain, in full width, with a soft hyphen, with another full stop.
fn spellings(name: &str) -> [String; 4] {
    ["example.com", "\u{ff45}xample.com", "exam\u{ad}ple.com", "example\u{3002}com"]
        .map(|host| format!("{name}@{host}"))
}

#[test]
fn the_spellings_of_an_address_are_asked_the_same_questions_whether_or_not_it_has_an_account() {
    let site = Site::open();
    site.member("jane");
    let asked = |name: &str| {
        let path = "/auth/account-access/security-questions";
        site.stranger().ask(Method::GET, path).json(&json!({ "username": name })).send().ok().json()
    };
    for name in ["jane", "nobody"] {
        let [plain, others @ ..] = spellings(name);
        for other in others {
            assert_eq!(asked(&other), asked(&plain), "{other:?}");
        }
        assert_ne!(asked(name), asked(&plain), "{name}: nothing joins a username with an address");
    }
}

#[test]
fn failed_sign_ins_and_requests_for_passcodes_are_counted_under_one_name_whether_or_not_there_is_an_account() {
    for name in ["jane", "nobody"] {
        let site = Site::open();
        site.member("jane");
        for address in spellings(name) {
            site.stranger().post("/auth/login", json!({ "username": address, "password": "not the password" })).ok();
        }
        assert_eq!(
            site.rows()["throttles"],
            3,
            "{name}: the account from here, from anywhere, and the caller's address"
        );
        for place in 0..5 {
            site.stranger().post(RECOVER, json!({ "username": spellings(name)[place % 4] })).ok();
        }
        for address in spellings(name) {
            site.stranger().post(RECOVER, json!({ "username": address })).refused(429);
        }
    }
}

#[test]
fn a_username_in_letters_that_only_look_like_its_own_is_another_name() {
    let site = Site::open();
    site.member("kate");
    let wrong = |name: &str| {
        site.stranger().post("/auth/login", json!({ "username": name, "password": "not the password" })).ok();
        site.rows()["throttles"]
    };
    for (plain, kelvin) in [("kate", "\u{212a}ate"), ("keith", "\u{212a}eith")] {
        let before = wrong(plain);
        assert_eq!(wrong(kelvin), before + 2, "{kelvin}");
    }
}
