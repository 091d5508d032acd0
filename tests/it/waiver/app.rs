//! The waiver in the members' app, and what a partner learns of it.

use super::{YEAR, demand, on};
use crate::desk::Clerk;
use crate::harness::{Caller, Site};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;

const PATH: &str = "/account/profile/waiver";

fn signature(flyers: &[(i64, bool)]) -> Value {
    let flyers: Vec<Value> =
        flyers.iter().map(|(id, yes)| json!({ "member_id": id, "answers": [yes], "dob": 599_961_600 })).collect();
    json!({
        "version": 2, "language": "en", "signer_name": "Jane Flyer", "strokes": "M 1 1 L 2 2 L 3 3", "flyers": flyers,
    })
}

fn state(member: &Caller) -> (Value, Value) {
    let user = member.get("/account/profile/user").ok().json();
    (user["waiver"].clone(), user["may_check_in"].clone())
}

#[test]
fn an_app_reads_the_waiver_and_signs_it_for_oneself_and_ones_children() {
    let site = Site::open_with(on);
    let (jane, mark, child) = (site.flyer("jane"), site.flyer("mark"), site.flyer("child"));
    jane.get(PATH).refused(404);
    let admin = demand(&site);
    site.born(&child, site.now() - 10 * YEAR);
    site.born(&jane, 599_961_600);
    let guardian = [("guardian", &*jane.id.to_string()), ("relation", "parent"), ("permission", "")];
    assert_eq!(admin.post(&format!("/desk/members/{}/guardians", child.id), &guardian).status, 303);

    let shown = jane.get(PATH).ok().json();
    assert_eq!((&shown["version"], &shown["questions"]), (&json!(2), &json!(["Is a shoulder hurt?"])), "{shown}");
    let flyers: Vec<_> =
        shown["flyers"].as_array().unwrap().iter().map(|one| (&one["relation"], &one["to_sign"])).collect();
    assert_eq!(flyers, [(&json!("self"), &json!(true)), (&json!("parent"), &json!(true))]);

    site.change(|tx| {
        let sql = "INSERT INTO site_texts SELECT kind, version, 'it', 'Dichiarazione', body, questions, text_hash, asks_again,
                       published_at, published_by FROM site_texts WHERE version = 2";
        Ok(tx.run(sql, [])?)
    });
    let title =
        |wish: &str| jane.ask(Method::GET, PATH).header("accept-language", wish).send().ok().json()["title"].clone();
    assert_eq!([title("it-CH, de;q=0.8"), title("de, it;q=0.8")], ["Dichiarazione", "Waiver"]);

    let mut old = signature(&[(jane.id, false)]);
    old["version"] = 1.into();
    assert_eq!(jane.post(PATH, old).refused(409).json()["code"], "waiver_changed");
    let mut unanswered = signature(&[(jane.id, false)]);
    unanswered["flyers"][0]["answers"] = json!([]);
    assert_eq!(jane.post(PATH, unanswered).refused(422).bad_fields(), [format!("answers_{}", jane.id)]);
    let twice = jane.post(PATH, signature(&[(jane.id, false), (jane.id, false)])).refused(422);
    assert_eq!(twice.bad_fields(), ["flyers"]);
    jane.post(PATH, signature(&[(jane.id, false), (mark.id, false)])).refused(404);
    let alone = child.post(PATH, signature(&[(child.id, false)])).refused(422);
    assert_eq!(alone.bad_fields(), [format!("relation_{}", child.id)], "a child does not sign alone");
    assert_eq!(site.rows()["waiver_signatures"], 0, "all or nobody");

    // Nor does the form at the desk offer that; it does for a flyer whose age is not known.
    let form = |member: &Caller| admin.get(&format!("/desk/members/{}/waiver", member.id)).page();
    assert!(form(&child).contains("<option value=\"parent\"") && !form(&child).contains("<option value=\"self\""));
    assert!(form(&mark).contains("<option value=\"self\" selected"));

    let ask = || jane.ask(Method::POST, PATH).header("idempotency-key", "one");
    let signed = ask().json(&signature(&[(jane.id, false), (child.id, true)])).send().ok().json();
    assert_eq!((signed["signature_ids"].as_array().unwrap().len(), &signed["waits_for_staff"]), (2, &json!(true)));
    let again = ask().json(&signature(&[(jane.id, false), (child.id, true)])).send().ok().json();
    assert_eq!((again, site.rows()["waiver_signatures"]), (signed, 2), "sent again it is the same");
    assert_eq!(state(&jane), (json!("in_force"), json!(true)));
    assert_eq!(state(&child), (json!("undecided"), json!(false)));
    jane.post(PATH, signature(&[(child.id, false)])).refused(422);
    let sql = "SELECT group_concat(place || ' ' || relation, ', ') FROM waiver_signatures";
    let kept: String = site.change(|tx| Ok(tx.get(sql, [])?));
    assert_eq!(kept, "app self, app parent");

    // The desk sees the waiting waiver, and both the member and the guardian are notified of the decision.
    assert!(admin.get("/desk").page().contains("Waivers to decide: 1"));
    let list = admin.get("/desk/waivers").page();
    assert!(list.contains(&format!("/desk/members/{}/waiver", child.id)), "{list}");
    let decide = format!("/desk/members/{}/waiver/decide", child.id);
    assert_eq!(admin.post(&decide, &[("signature", "2"), ("may_fly", "yes"), ("word", "seen")]).status, 303);
    assert!(admin.get("/desk/waivers").page().contains("Nobody waits"));
    assert!(!admin.get("/desk").page().contains("Waivers to decide"));
    for told in [&jane, &child] {
        assert!(site.notices(told).iter().any(|notice| notice.contains("waiver_cleared")), "{}", told.name);
    }
    assert!(site.notices(&child).iter().any(|notice| notice.contains("guardian_added")));
}

#[test]
fn the_same_form_sent_again_makes_one_paper() {
    let site = Site::open_with(on);
    let jane = site.flyer("jane");
    let admin = demand(&site);
    let papers = || site.rows()["waiver_signatures"];
    let ids = |paper: &Value| jane.post(PATH, paper.clone()).ok().json()["signature_ids"].clone();
    let same = signature(&[(jane.id, false)]);
    let first = ids(&same);
    let notices = site.notices(&jane).len();
    for _ in 0..4 {
        assert_eq!(ids(&same), first, "the answer names the paper that is there");
    }
    assert_eq!((papers(), site.notices(&jane).len()), (1, notices));
    // Another hand, or the same one later, is a signature of its own.
    let mut other = same.clone();
    other["strokes"] = "M 1 1 L 9 9 L 3 3".into();
    assert_ne!(ids(&other), first);
    site.advance(Duration::from_secs(601));
    ids(&other);
    assert_eq!(papers(), 3);
    // At the desk, a decision begins a new paper.
    let answer = format!("answer_{}_1", jane.id);
    let path = format!("/desk/members/{}/waiver", jane.id);
    let sign = || {
        let form = [("version", "2"), ("language", "en"), ("signer_name", "Jane"), (&*answer, "y")];
        assert_eq!(admin.post(&path, &form).status, 303);
    };
    (0..5).for_each(|_| sign());
    assert_eq!(papers(), 4);
    let page = admin.get(&path).page();
    let id = page.split("name=\"signature\" value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a paper");
    let decision = [("signature", id), ("may_fly", "yes"), ("word", "seen")];
    assert_eq!(admin.post(&format!("{path}/decide"), &decision).status, 303);
    sign();
    assert_eq!(papers(), 5);
}

#[test]
fn signatures_per_member_are_limited() {
    let site = Site::open_with(on);
    let jane = site.flyer("jane");
    let admin = demand(&site);
    let sign = |name: usize| {
        let mut paper = signature(&[(jane.id, false)]);
        paper["signer_name"] = format!("Jane Flyer {name}").into();
        jane.post(PATH, paper)
    };
    for name in 0..20 {
        sign(name).ok();
    }
    assert!(sign(20).refused(429).header("retry-after").is_some());
    assert_eq!(site.rows()["waiver_signatures"], 20);
    let at_desk = [("version", "2"), ("language", "en"), ("signer_name", "Jane")];
    let answer = format!("answer_{}_1", jane.id);
    let signed = admin.post(&format!("/desk/members/{}/waiver", jane.id), &[&at_desk[..], &[(&*answer, "n")]].concat());
    assert_eq!(signed.status, 303, "{signed}");
}

#[test]
fn the_desk_folds_the_sheet_of_a_waiver_that_is_signed() {
    let site = Site::open_with(on);
    let (jane, admin) = (site.flyer("jane"), demand(&site));
    site.born(&jane, 599_961_600);
    let path = format!("/desk/members/{}/waiver", jane.id);
    let is_folded = || admin.get(&path).page().contains("<details><summary>Sign once more</summary><form");
    assert!(!is_folded(), "it waits to be signed");
    let answer = format!("answer_{}_1", jane.id);
    let form = [("version", "2"), ("language", "en"), ("signer_name", "Jane"), (&*answer, "n")];
    assert_eq!(admin.post(&path, &form).status, 303);
    assert!(is_folded());
}

#[test]
fn a_clerk_makes_no_link_by_which_staff_would_sign() {
    let site = Site::open_with(on);
    demand(&site);
    let (desk, admin, jane) = (site.desk(), site.admin(), site.flyer("jane"));
    let clerk = Clerk::at(&site, &desk);
    let make = |member: &Caller| clerk.post(&format!("/desk/members/{}/waiver/phone", member.id), &[]).status;
    assert_eq!((make(&admin), make(&site.desk()), make(&jane)), (403, 403, 200));
}

#[test]
fn a_flyer_signs_on_their_own_phone_from_the_desk() {
    let site = Site::open_with(on);
    let (admin, jane) = (demand(&site), site.flyer("jane"));
    let page = admin.post(&format!("/desk/members/{}/waiver/phone", jane.id), &[]).page();
    let code = page.split("code=").nth(1).and_then(|rest| rest.split('<').next()).expect("a code").to_owned();
    assert!(page.contains("<svg"), "{page}");
    assert_eq!(admin.post("/desk/members/999/waiver/phone", &[]).status, 404);
    let (dob, answer) = (format!("dob_{}", jane.id), format!("answer_{}_1", jane.id));
    let form = [("code", &*code), ("version", "2"), ("language", "en"), ("signer_name", "Jane"), (&*dob, "1990-05-31")];
    let done = Clerk::outside(&site).post("/sign", &[&form[..], &[(&*answer, "n")]].concat());
    assert!(done.status == 200 && done.page().contains("Thank you"), "{done}");
    let sql = "SELECT count(*) FROM audit WHERE action = 'waiver.link_made'";
    assert_eq!(site.change(|tx| Ok(tx.get::<i64>(sql, [])?)), 1);
}

#[test]
fn a_partner_sees_that_a_check_in_of_its_booking_waits_but_not_why() {
    for required in [true, false] {
        let site = Site::open_with(|config| (config.demo, config.waiver.required) = (true, required));
        if required {
            demand(&site);
        }
        let (jane, partner, rival) = (site.flyer("jane"), site.partner(), site.partner());
        let token = |partner: &Caller, booked: bool| {
            let mut body = json!({ "member_id": jane.id, "member_pin": site.pin(&jane) });
            if booked {
                body["registration_id"] = 1.into();
                body["flight_date"] = (site.now() + 3_600).into();
                body["minutes_booked"] = 12.into();
                body["tunnel_id"] = Site::TUNNEL_ID.0.into();
            }
            partner.post("/external/partner-metrics/op/generate-token", body).ok().json()
        };
        let users = [&partner, &rival].map(|one| {
            one.post("/external/partner-metrics/op", json!({ "email": "jane@example.com" })).ok().json()["id"].clone()
        });
        let user = |one: usize| {
            [&partner, &rival][one].get(&format!("/external/partner-metrics/op/{}", users[one])).ok().json()
        };
        assert_eq!(user(0)["member_id"], jane.id, "the address is hers");
        assert_eq!((&user(0)["may_check_in"], &token(&partner, false)["may_check_in"]), (&Value::Null, &Value::Null));
        let booked = token(&partner, true);
        let told = if required { json!(false) } else { Value::Null };
        assert_eq!((&booked["status"], &booked["may_check_in"]), (&json!(true), &told), "{booked}");
        assert_eq!((&user(0)["may_check_in"], &user(1)["may_check_in"]), (&told, &Value::Null));
        let said = format!("{}{booked}", user(0));
        assert!(!["waiver", "unsigned", "guardian"].iter().any(|word| said.contains(word)), "{said}");
        if required {
            jane.post(PATH, signature(&[(jane.id, false)])).ok();
            // Only staff can change a date of birth that the account has.
            let edit = json!({
                "real_name": "Jane", "tunnel": Site::TUNNEL_ID.to_string(), "screen_name": "jane", "username": "jane",
                "verify_password": crate::harness::PASSWORD, "dob": 1,
            });
            jane.put("/account/profile/user", edit).ok();
            assert_eq!(jane.get("/account/profile/user").ok().json()["dob"], 599_961_600);
            assert_eq!(
                (&token(&partner, true)["may_check_in"], &user(0)["may_check_in"]),
                (&json!(true), &json!(true))
            );
        } else {
            let fields: Vec<String> = booked.as_object().unwrap().keys().cloned().collect();
            assert_eq!(fields, ["booking", "message", "status", "token"]);
        }
    }
}
