//! Signing up.

use crate::harness::{PASSWORD, Site};
use http::Method;
use serde_json::{Value, json};
use tunneldesk::domain::ids::MemberId;
use tunneldesk::i18n::language::{Language, Text};

const SIGNUP: &str = "/auth/signup";
const CHECK: &str = "/auth/signup/check-username";
const GOOD: &str = "wet hair, dry socks";

fn body(more: Value) -> Value {
    let mut body = json!({"username": "jane", "password": GOOD, "email": "jane@example.com", "real_name": "Jane Doe", "terms": true});
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}

#[test]
fn a_new_member_signs_in_at_once_and_waits_for_the_confirmation() {
    let site = Site::open();
    let stranger = site.stranger();
    let more = json!({
        "screen_name": "JD", "phone": "+41 44 123 45 67", "country": "Switzerland", "country_code": "CH", "tunnel": "7", "dob": 631152000,
        "question_1": "3", "answer_1": "Volvo", "question_2": 9, "answer_2": "Momo", "salt": "x", "success": true, "message": "hello",
    });
    let made = stranger.post(SIGNUP, body(more)).ok().json();
    assert_eq!((made["status"].as_bool(), made["confirmationPending"].as_i64()), (Some(true), Some(1)));
    let login = stranger.post("/auth/login", json!({"username": "jane@example.com", "password": GOOD})).ok().json();
    assert_eq!((login["status"].as_bool(), login["confirmationPending"].as_i64()), (Some(true), Some(1)));
    assert_eq!(login["member_id"], made["member_id"]);
    let token = login["token"].as_str().unwrap();
    let profile = stranger.ask(http::Method::GET, "/account/profile/user").header("token", token).send().ok().json();
    for (field, value) in [
        ("screen_name", "JD"),
        ("tunnel", "7"),
        ("country", "CH"),
        ("country_code", "CH"),
        ("phone", "+41441234567"),
        ("real_name", "Jane Doe"),
    ] {
        assert_eq!(profile[field], value, "{field}");
    }
    assert_eq!((profile["dob"].as_i64(), profile["email_verified"].as_bool()), (Some(631_152_000), Some(false)));
    assert_eq!(site.rows()["security_answers"], 2);
}

/// The country and the telephone number in a new member's profile.
fn reached(site: &Site, more: Value) -> (String, String) {
    let name = format!("flyer{}", site.next_number());
    let mut body = body(more);
    (body["username"], body["email"]) = (json!(name), json!(format!("{name}@example.com")));
    site.stranger().post(SIGNUP, body).ok();
    let token = site.stranger().post("/auth/login", json!({"username": name, "password": GOOD})).ok().json();
    let stranger = site.stranger();
    let profile = stranger.ask(Method::GET, "/account/profile/user").header("token", token["token"].as_str().unwrap());
    let profile = profile.send().ok().json();
    (profile["country"].as_str().unwrap().to_owned(), profile["phone"].as_str().unwrap().to_owned())
}

#[test]
fn a_country_is_kept_by_its_two_letters_and_a_telephone_number_is_one_of_it() {
    let site = Site::open();
    for (more, country, phone) in [
        (json!({"country": "Italia", "phone": "06 6982 1234"}), "IT", "+390669821234"),
        (json!({"country": "+39", "country_code": 41, "phone": "044 668 18 00"}), "IT", "+41446681800"),
        (json!({"country": 41, "phone": "0039 06 6982 1234"}), "CH", "+390669821234"),
        (json!({"country": "deu", "country_code": "+49", "phone": "030 901820"}), "DE", "+4930901820"),
        (json!({"phone": "044 668 18 00"}), "", "+41446681800"),
    ] {
        assert_eq!(reached(&site, more.clone()), (country.to_owned(), phone.to_owned()), "{more}");
    }
    for (more, field) in [
        (json!({"country": "Atlantis"}), "country"),
        (json!({"country": "CH", "phone": "044 668"}), "phone"),
        (json!({"country_code": "999", "phone": "044 668 18 00"}), "country_code"),
        (json!({"country_code": "ZZ"}), "country_code"),
        (json!({"country_code": "99999999"}), "country_code"),
        (json!({"country_code": "<b>hi"}), "country_code"),
        (json!({"country_code": "ZZ", "phone": "+41 44 668 18 00"}), "country_code"),
    ] {
        assert_eq!(site.stranger().post(SIGNUP, body(more)).refused(422).bad_fields(), [field]);
    }
    for country in [json!({"country": "q"}), json!({"country_code": "q"}), json!({"country_code": "123456789"})] {
        let field = country.as_object().unwrap().keys().next().unwrap().clone();
        for phone in ["x", "12", "+41 12", "0041 x"] {
            let mut more = country.clone();
            more["phone"] = json!(phone);
            let mut named = site.stranger().post(SIGNUP, body(more)).refused(422).bad_fields();
            named.sort_unstable();
            assert_eq!(named, [field.as_str(), "phone"], "{country} {phone}");
        }
    }
}

#[test]
fn every_bad_field_is_named_at_once() {
    let site = Site::open();
    let before = site.rows();
    let named = |more: Value| site.stranger().post(SIGNUP, more).refused(422).bad_fields();
    assert_eq!(named(json!({})), ["username", "email", "real_name", "password", "terms"]);
    assert_eq!(
        named(body(json!({"terms": false, "dob": 99_000_000_000_i64, "email": "jane"}))),
        ["email", "dob", "terms"]
    );
    assert_eq!(
        named(body(json!({"question_1": 99, "answer_1": "a", "question_2": 3, "answer_3": "c"}))),
        ["question_1", "answer_2", "question_3"]
    );
    assert_eq!(
        named(body(json!({"question_1": 3, "answer_1": "a", "question_2": 3, "answer_2": "b"}))),
        ["question_2"]
    );
    assert_eq!(named(body(json!({"tunnel": 99}))), ["tunnel"]);
    assert_eq!(named(body(json!({"phone": "call me"}))), ["phone"]);
    for weak in ["password1", "short", "janejane", "jane@example.com"] {
        assert_eq!(named(body(json!({"password": weak}))), ["password"], "{weak}");
    }
    assert_eq!(site.rows(), before);
}

#[test]
fn a_weak_password_is_told_what_is_wrong_with_it_in_the_caller_s_language() {
    let site = Site::open();
    for language in Language::ALL {
        let told = |password: &str, more: Value| {
            let mut body = body(more);
            body["password"] = json!(password);
            let stranger = site.stranger();
            let asking = stranger.ask(Method::POST, SIGNUP).header("accept-language", language.tag());
            let reply = asking.json(&body).send().refused(422);
            assert_eq!(reply.bad_fields(), ["password"]);
            reply.json()["errors"][0]["message"].as_str().unwrap().to_owned()
        };
        let said =
            |keys: &[&'static str]| keys.iter().map(|key| language.say(&Text::new(key))).collect::<Vec<_>>().join(" ");
        assert_eq!(told("password", json!({})), said(&["field.password_weak", "advice.top_10", "advice.add_words"]));
        // The names most easily guessed as a password are the member's own and the tunnel's.
        for own in ["zorbnik.9", "vexlatrun", "quimbolax", "windwerk"] {
            let names = json!({"username": "zorbnik", "real_name": "Ira Vexlatrun", "screen_name": "Quimbolax of Ur"});
            assert_eq!(told(own, names), said(&["field.password_weak", "advice.add_words"]), "{own}");
        }
    }
}

#[test]
fn a_username_is_one_persons_without_regard_to_case() {
    let site = Site::open();
    let stranger = site.stranger();
    let available =
        |name: &str| stranger.post(CHECK, json!({"username": name})).ok().json()["available"].as_bool().unwrap();
    assert!(available("jane"));
    stranger.post(SIGNUP, body(json!({}))).ok();
    assert!(!available("JANE") && !available("ja") && !available("ja ne"));
    stranger.post(SIGNUP, body(json!({"username": "Jane", "email": "other@example.com"}))).refused(409);
    assert_eq!(stranger.post(CHECK, json!({})).refused(422).bad_fields(), ["username"]);
}

#[test]
fn signing_up_does_not_tell_whether_an_address_is_known() {
    let site = Site::open();
    site.member("mark");
    let known = site.stranger().post(SIGNUP, body(json!({"email": "mark@example.com"}))).ok().json();
    let unknown =
        site.stranger().post(SIGNUP, body(json!({"username": "jane2", "email": "new@example.com"}))).ok().json();
    assert_eq!(known["message"], unknown["message"]);
    // The address stays with the member who confirmed it.
    let login =
        site.stranger().post("/auth/login", json!({"username": "mark@example.com", "password": GOOD})).ok().json();
    assert_ne!(login["member_id"], known["member_id"]);
}

#[test]
fn sign_ups_are_limited_by_address() {
    let site = Site::open_with(|config| config.limits.signups_per_hour_per_address = 1);
    site.stranger().post(SIGNUP, body(json!({}))).ok();
    site.stranger().post(SIGNUP, body(json!({"username": "mark"}))).refused(429);
}

/// A stranger signs up with an address, and then signs in by it.
#[test]
fn a_new_account_is_opened_by_its_address_whether_or_not_another_member_confirmed_it() {
    let site = Site::open();
    let jane = site.member("jane");
    let login = |name: &str, password: &str| {
        let mut answer =
            site.stranger().post("/auth/login", json!({ "username": name, "password": password })).ok().json();
        answer["token"] = json!(answer["token"] != "");
        answer
    };
    let mut answers = Vec::new();
    for (name, address) in [("eve", "jane@example.com"), ("eva", "free@example.com")] {
        let own = "four dry socks in a row";
        let body =
            json!({ "username": name, "real_name": "Eve Example", "email": address, "password": own, "terms": true });
        let member_id = site.stranger().post("/auth/signup", body).ok().json()["member_id"].clone();
        let mut right = login(address, own);
        assert_eq!(right["member_id"], member_id, "{address}");
        right["member_id"] = json!(0);
        answers.push((right, login(address, "not the password")));
    }
    assert_eq!(answers[0], answers[1]);
    assert_eq!(login("jane@example.com", PASSWORD)["member_id"], jane.id, "the owner is left alone");
    // Recoveries and passkeys know an address only once it is confirmed: the account's own data would show otherwise.
    let questions =
        |name: &str| site.stranger().get(&format!("/auth/account-access/security-questions?username={name}"));
    let phc = site.inside().hash("volvo");
    let eva = site.change(|tx| Ok(tx.get::<i64>("SELECT member_id FROM members WHERE username = 'eva'", [])?));
    let before = questions("free@example.com").ok().json();
    for question in 1..=12 {
        site.change(|tx| Ok(tunneldesk::store::tables::security_answers::set(tx, MemberId(eva), question, &phc)?));
    }
    assert_eq!(questions("free@example.com").ok().json(), before);
    assert_eq!(questions("eva").ok().json().as_array().unwrap().len(), 12);
}
