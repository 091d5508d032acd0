//! Waivers: signing, decisions, overrides, consents; and sites that require none.

mod app;
mod card;
mod erased;
mod family;
mod gate;
mod not_required;
mod own;
mod texts;

use crate::desk::kiosk::{enter, paired};
use crate::desk::{Clerk, book};
use crate::harness::{Caller, Reply, Site, pictures};
use http::Method;
use serde_json::json;
use std::io::Write;
use tunneldesk::config::Config;

const YEAR: i64 = 365 * 86_400;

/// A site that requires waivers, with two versions of a text that asks one question.
fn demand(site: &Site) -> Clerk {
    let admin = Clerk::at(site, &site.admin());
    for body in ["I fly at my own risk.", "I fly at my own risk, and with a helmet."] {
        let form = [("kind", "waiver"), ("language", "en"), ("title", "Waiver"), ("body", body)];
        let reply = admin.post("/desk/texts/edit", &[&form[..], &[("questions", "Is a shoulder hurt?")]].concat());
        assert_eq!(reply.status, 303, "{reply}");
        let reply = admin.post("/desk/texts/publish", &[("kind", "waiver"), ("asks_again", "on")]);
        assert_eq!(reply.status, 303, "{reply}");
    }
    admin
}

fn on(config: &mut Config) {
    (config.demo, config.waiver.required) = (true, true);
}

/// A stored waiver.
struct Paper {
    version: i64,
    age_days: i64,
    years: i64,
    relation: &'static str,
    answer: &'static str,
    decision: Option<bool>,
}

const GOOD: Paper = Paper { version: 2, age_days: 1, years: 30, relation: "self", answer: "n", decision: None };

fn put(site: &Site, member: &Caller, paper: &Paper) {
    site.change(|tx| {
        let sql = "INSERT INTO waiver_signatures (member_id, version, language, text_hash, signed_at, place, flyer_name, born,
                        relation, signer_name, strokes, answers, kept)
                   VALUES (?1, ?2, 'en', zeroblob(32), ?3, 'desk', 'x', ?4, ?5, 'x', '', ?6, 0)";
        let (at, born) = (tx.now() - paper.age_days * 86_400, tx.now() - paper.years * YEAR - 20 * 86_400);
        tx.run(sql, (member.id, paper.version, at, born, paper.relation, paper.answer))?;
        if let Some(may_fly) = paper.decision {
            let sql = "INSERT INTO waiver_decisions (signature_id, may_fly, word, decided_at)
                       SELECT max(signature_id), ?1, 'asked', ?2 FROM waiver_signatures";
            tx.run(sql, (may_fly, tx.now()))?;
        }
        Ok(())
    });
}

/// The minutes flown and the check-ins of a member.
fn flown(site: &Site, member: &Caller) -> (i64, i64) {
    site.change(|tx| {
        let sql = "SELECT (SELECT coalesce(sum(minutes), 0) FROM entries WHERE member_id = ?1 AND kind = 'time'),
                          (SELECT count(arrived_at) FROM bookings WHERE member_id = ?1)";
        Ok(tx.get(sql, [member.id])?)
    })
}

/// Posts the waiver form of the desk for a member.
fn sign(clerk: &Clerk, member: &Caller, more: &[(&str, &str)]) -> Reply {
    let form = [("version", "2"), ("language", "en"), ("signer_name", "Jane Doe")];
    clerk.post(&format!("/desk/members/{}/waiver", member.id), &[&form[..], more].concat())
}

#[test]
fn staff_do_not_sign_around_the_decision_on_their_own_flying() {
    let site = Site::open_with(on);
    let admin = demand(&site);
    let ann = site.desk();
    put(&site, &ann, &Paper { answer: "y", ..GOOD });
    let clerk = Clerk::at(&site, &ann);
    let (dob, answer) = (format!("dob_{}", ann.id), format!("answer_{}_1", ann.id));
    let fields: [(&str, &str); 2] = [(&dob, "1990-05-31"), (&answer, "n")];
    let refused = sign(&clerk, &ann, &fields);
    assert!(refused.status == 422 && !refused.page().contains("Waiver in force"), "{refused}");
    assert_eq!(sign(&admin, &ann, &fields).status, 303, "a colleague enters a new signature");
}

#[test]
fn a_waiver_is_signed_at_the_desk_and_staff_decides_on_a_yes() {
    let site = Site::open_with(on);
    let (admin, jane) = (demand(&site), site.flyer("jane"));
    let card = format!("/desk/members/{}/waiver", jane.id);
    let (dob, answer) = (format!("dob_{}", jane.id), format!("answer_{}_1", jane.id));
    let relation = format!("relation_{}", jane.id);
    for (form, said) in [
        (vec![(&*answer, "n")], "date of birth"),
        (vec![(&*dob, "1990-05-31")], "answer each question"),
        (vec![(&*dob, "2020-05-31"), (&*answer, "n")], "needs a parent"),
        (vec![(&*dob, "1990-05-31"), (&*answer, "n"), (&*relation, "parent")], "signs in person"),
        (vec![(&*dob, "1990-05-31"), (&*answer, "n"), ("strokes", "M 1 1 L x")], "drawn signature"),
    ] {
        let reply = sign(&admin, &jane, &form);
        assert!(reply.status == 422 && reply.page().contains(said), "{said}: {reply}");
    }
    let old = admin.post(
        &card,
        &[("version", "1"), ("language", "en"), ("signer_name", "J"), (&dob, "1990-05-31"), (&answer, "n")],
    );
    assert!(old.status == 422 && old.page().contains("has changed since"), "{old}");
    assert_eq!(
        sign(&admin, &jane, &[(&dob, "1990-05-31"), (&answer, "y"), ("strokes", "M 1 1 L 2 2 L 3 3")]).status,
        303
    );
    let page = admin.get(&card).page();
    assert!(page.contains("needs a word with our staff") && page.contains("Is a shoulder hurt?"), "{page}");
    let entry = || json!({ "entry_date": site.now(), "time": 12 });
    let refused = jane.post("/account/logbook/time/", entry()).refused(409).json();
    assert!(refused["message"].as_str().unwrap().contains("word with our staff"), "{refused}");
    // The partner of the booking learns that the waiver is open, and not why.
    let (partner, booked) = (site.partner(), site.now() + 600);
    let ask = json!({
        "member_id": jane.id, "member_pin": site.pin(&jane), "registration_id": 1, "flight_date": booked,
        "minutes_booked": 12, "tunnel_id": Site::TUNNEL_ID,
    });
    partner.post("/external/partner-metrics/op/generate-token", ask).ok();
    assert!(site.notices(&jane).iter().any(|notice| notice.contains("booking_waits")));
    let decide = format!("{card}/decide");
    assert_eq!(admin.post(&decide, &[("signature", "1"), ("may_fly", "yes"), ("word", "")]).status, 422);
    assert_eq!(admin.post(&decide, &[("signature", "2"), ("may_fly", "yes"), ("word", "x")]).status, 404);
    assert_eq!(
        admin.post(&decide, &[("signature", "1"), ("may_fly", "yes"), ("word", "saw the doctor's note")]).status,
        303
    );
    assert!(admin.get(&card).page().contains("saw the doctor&#39;s note"), "the word stands on the card");
    jane.post("/account/logbook/time/", entry()).ok();
    // The flight time of the booking waited for the check-in; undoing the check-in removes it.
    let (minutes, _) = flown(&site, &jane);
    assert_eq!(minutes, 22);
    let booking: i64 = site.change(|tx| Ok(tx.get("SELECT max(booking_id) FROM bookings", [])?));
    assert_eq!(admin.post(&format!("/desk/bookings/{booking}/check-in"), &[]).status, 303);
    assert_eq!(flown(&site, &jane), (34, 1));
    assert_eq!(admin.post(&format!("/desk/bookings/{booking}/check-in/undo"), &[]).status, 303);
    assert_eq!(flown(&site, &jane), (22, 0));
    // Signatures, decisions and published texts are never changed.
    for sql in [
        "UPDATE waiver_signatures SET answers = 'n'",
        "UPDATE waiver_decisions SET may_fly = 0",
        "UPDATE site_texts SET body = ''",
        "DELETE FROM site_texts",
    ] {
        assert!(site.try_change(|tx| Ok(tx.run(sql, [])?)).is_err(), "{sql}");
    }
}

#[test]
fn a_member_signs_at_the_kiosk_or_on_a_phone_and_cannot_bypass_a_pending_decision() {
    let site = Site::open_with(on);
    let (_, kiosk) = (demand(&site), paired(&site));
    let (jane, mark) = (site.flyer("jane"), site.flyer("mark"));
    enter(&site, &kiosk, &jane);
    let booking = book(&site, &jane, 60);
    let sent = kiosk.post(&format!("/kiosk/bookings/{booking}/check-in"), &[]);
    assert_eq!(sent.header("location"), Some("/kiosk/waiver"), "{sent}");
    let page = kiosk.get("/kiosk/waiver").page();
    assert!(page.contains("with a helmet") && page.contains("Is a shoulder hurt?"), "{page}");
    let (dob, answer) = (format!("dob_{}", jane.id), format!("answer_{}_1", jane.id));
    let form = [("version", "2"), ("language", "en"), ("signer_name", "Jane"), (&*dob, "1990-05-31")];
    let signed = kiosk.post("/kiosk/waiver", &[&form[..], &[(&*answer, "n")]].concat());
    assert_eq!(signed.header("location"), Some("/kiosk/home?done=signed"), "{signed}");
    assert_eq!(kiosk.post(&format!("/kiosk/bookings/{booking}/check-in"), &[]).status, 303);
    assert_eq!(flown(&site, &jane).1, 1);
    assert!(kiosk.get("/kiosk/waiver").page().contains("Everything is signed"));

    kiosk.post("/kiosk/leave", &[]);
    enter(&site, &kiosk, &mark);
    let page = kiosk.post("/kiosk/waiver/phone", &[]).page();
    let code = page.split("code=").nth(1).and_then(|rest| rest.split('<').next()).expect("a code").to_owned();
    assert_eq!(site.holds_text(&code), [""; 0], "the code is in the file only as a hash");
    let phone = Clerk::outside(&site);
    assert_eq!(phone.get("/sign?code=aaaa-bbbb-cccc").status, 404);
    assert!(phone.get(&format!("/sign?code={code}&lang=it")).page().contains("Liberatoria"));
    let (dob, answer) = (format!("dob_{}", mark.id), format!("answer_{}_1", mark.id));
    let form = [("code", &*code), ("version", "2"), ("language", "en"), ("signer_name", "Mark"), (&*dob, "1990-05-31")];
    let said = phone.post("/sign", &[&form[..], &[(&*answer, "y")]].concat());
    assert!(said.status == 200 && said.page().contains("have a word with our staff"), "{said}");
    assert_eq!(phone.get(&format!("/sign?code={code}")).status, 404, "a code is for one signing");
    let page = kiosk.get("/kiosk/waiver").page();
    assert!(page.contains("needs a word with our staff") && !page.contains("signer_name"), "{page}");
    let again =
        kiosk.post("/kiosk/waiver", &[("version", "2"), ("language", "en"), ("signer_name", "Mark"), (&*answer, "n")]);
    assert_eq!(again.status, 422, "nobody signs around a decision");
}

#[test]
fn a_site_that_requires_no_waiver_shows_nothing_of_waivers() {
    let site = Site::open_with(|config| config.demo = true);
    let (admin, jane, kiosk) = (Clerk::at(&site, &site.admin()), site.flyer("jane"), paired(&site));
    enter(&site, &kiosk, &jane);
    let booking = book(&site, &jane, 60);
    let card = format!("/desk/members/{}", jane.id);
    for path in ["/desk", &card, "/desk/site", "/desk/reports"] {
        assert!(!admin.get(path).page().to_lowercase().contains("waiver"), "{path}");
    }
    assert!(!kiosk.get("/kiosk/home").page().to_lowercase().contains("waiver"));
    for path in [&format!("{card}/waiver"), "/desk/texts", "/desk/texts/edit?kind=waiver&language=en"] {
        assert_eq!(admin.get(path).status, 404, "{path}");
    }
    assert_eq!((kiosk.get("/kiosk/waiver").status, Clerk::outside(&site).get("/sign?code=x").status), (404, 404));
    assert_eq!(admin.post(&format!("/desk/bookings/{booking}/check-in"), &[]).status, 303);
    jane.post("/account/logbook/time/", json!({ "entry_date": site.now(), "time": 12 })).ok();
    assert_eq!(flown(&site, &jane), (22, 1));
}

#[test]
fn one_adult_signs_and_checks_in_for_all_until_a_child_is_of_age() {
    let site = Site::open_with(on);
    let (admin, kiosk) = (demand(&site), paired(&site));
    let (mother, aunt, child) = (site.flyer("mother"), site.flyer("aunt"), site.flyer("child"));
    site.born(&mother, site.now() - 40 * YEAR);
    let card = format!("/desk/members/{}/guardians", child.id);
    let add = |guardian: &Caller, relation: &str, permission: &str| {
        let number = guardian.id.to_string();
        admin.post(&card, &[("guardian", &number), ("relation", relation), ("permission", permission)])
    };
    let unknown = add(&mother, "parent", "");
    assert!(unknown.status == 422 && unknown.page().contains("date of birth"), "{unknown}");
    site.born(&child, site.now() - 17 * YEAR);
    assert_eq!(add(&child, "parent", "").status, 422, "nobody is the own guardian");
    assert_eq!(add(&mother, "parent", "").status, 303);
    assert_eq!(add(&aunt, "permission", "").status, 422, "a written permission is noted");
    assert_eq!(add(&aunt, "permission", "of the mother, 3 May").status, 303);

    enter(&site, &kiosk, &mother);
    let bookings = [book(&site, &mother, 60), book(&site, &child, 60)];
    assert!(kiosk.get("/kiosk/home").page().contains("/kiosk/family"));
    let sent = kiosk.post("/kiosk/family", &[]);
    assert_eq!(sent.header("location"), Some("/kiosk/waiver"), "{sent}");
    assert_eq!((flown(&site, &mother).1, flown(&site, &child).1), (0, 0), "all or nobody");
    let page = kiosk.get("/kiosk/waiver").page();
    assert!(page.contains(&format!("flies_{}", child.id)) && page.contains(&format!("flies_{}", mother.id)), "{page}");
    let (own, theirs) = (format!("answer_{}_1", mother.id), format!("answer_{}_1", child.id));
    let (flies, too) = (format!("flies_{}", mother.id), format!("flies_{}", child.id));
    let form = [
        ("version", "2"),
        ("language", "en"),
        ("signer_name", "Mother"),
        (&*flies, "on"),
        (&*too, "on"),
        (&*own, "n"),
        (&*theirs, "n"),
        ("strokes", "M 1 1 L 2 2 L 3 3"),
    ];
    assert_eq!(kiosk.post("/kiosk/waiver", &form).header("location"), Some("/kiosk/home?done=signed"));
    assert_eq!(kiosk.post("/kiosk/family", &[]).header("location"), Some("/kiosk/home?done=arrived"));
    assert_eq!((flown(&site, &mother).1, flown(&site, &child).1), (1, 1));
    let sql = "SELECT relation FROM waiver_signatures WHERE signer_id = ?1";
    let relation: String = site.change(|tx| Ok(tx.get(sql, [mother.id])?));
    assert_eq!(relation, "parent");
    let pdf = admin.get(&format!("/desk/members/{}/waiver.pdf?number=2", child.id));
    assert!(pdf.body.starts_with(b"%PDF-"), "{pdf}");
    assert_eq!(admin.get(&format!("/desk/members/{}/waiver.pdf?number=2", mother.id)).status, 404);
    let user = child.get("/account/profile/user").ok().json();
    assert_eq!(
        (user["waiver"].as_str(), user["may_check_in"].as_bool(), user["guardian"].as_bool()),
        (Some("in_force"), Some(true), Some(true))
    );

    // Another member's child, and a child that has come of age, are refused.
    kiosk.post("/kiosk/leave", &[]);
    let stranger = site.flyer("stranger");
    enter(&site, &kiosk, &stranger);
    assert_eq!(kiosk.get("/kiosk/family").status, 404);
    let again = book(&site, &child, 120);
    assert_eq!(kiosk.post(&format!("/kiosk/bookings/{again}/check-in"), &[]).status, 422);
    assert_eq!(flown(&site, &child).1, 1, "nobody checks a stranger's child in");
    assert_eq!(bookings.len(), 2);
    let mother_s = mother.id.to_string();
    assert_eq!(admin.post(&format!("{card}/end"), &[("guardian", &mother_s)]).status, 303);
    site.born(&child, site.now() - 19 * YEAR);
    child.post("/account/logbook/time/", json!({ "entry_date": site.now(), "time": 12 })).refused(409);
    assert_eq!(child.get("/account/profile/user").ok().json()["waiver"], "came_of_age");
    kiosk.post("/kiosk/leave", &[]);
    enter(&site, &kiosk, &aunt);
    assert_eq!(kiosk.get("/kiosk/family").status, 404, "at that age the account is the person's own");
}

#[test]
fn a_signed_waiver_outlives_its_account_as_long_as_the_setting_says() {
    for (keep_years, left) in [(0, 0), (10, 1)] {
        let site = Site::open_with(|config| {
            on(config);
            config.waiver.keep_years = keep_years;
        });
        let (admin, jane) = (demand(&site), site.flyer("jane"));
        let (dob, answer) = (format!("dob_{}", jane.id), format!("answer_{}_1", jane.id));
        assert_eq!(sign(&admin, &jane, &[(&dob, "1990-05-31"), (&answer, "y")]).status, 303);
        site.shell(&["member", "erase", "jane", "--yes"]);
        let count = |site: &Site| site.rows()["waiver_signatures"];
        assert_eq!(count(&site), left, "{keep_years} years");
        site.advance(std::time::Duration::from_secs(11 * 366 * 86_400));
        tunneldesk::jobs::purge_all_expired(&site.for_a_job()).expect("what is over is removed");
        assert_eq!(count(&site), 0, "nothing is kept for ever");
    }
}

fn publish(admin: &Clerk, kind: &str, body: &str) {
    let form = [("kind", kind), ("language", "en"), ("title", kind), ("body", body), ("questions", "")];
    assert_eq!(admin.post("/desk/texts/edit", &form).status, 303);
    assert_eq!(admin.post("/desk/texts/publish", &[("kind", kind)]).status, 303);
}

#[test]
fn a_beginner_reads_the_brief_at_the_kiosk_and_an_instructor_is_asked_to_sign() {
    let site = Site::open_with(on);
    let (admin, kiosk, ines) = (demand(&site), paired(&site), site.signer("ines", &[("Instructor", "4")]));
    let newcomer = site.member("newcomer");
    enter(&site, &kiosk, &newcomer);
    assert_eq!(kiosk.get("/kiosk/brief").status, 404, "there is no brief yet");
    let brief = || newcomer.get("/account/profile/user").ok().json()["brief"].clone();
    assert_eq!(brief(), "missing");
    publish(&admin, "brief", "Chin up, and wait for the sign.");
    assert!(kiosk.get("/kiosk/home").page().contains("/kiosk/brief"));
    assert!(kiosk.get("/kiosk/brief").page().contains("Chin up"));
    let file = |bytes: &[u8]| admin.upload("/desk/texts/picture", bytes);
    assert_eq!(file(b"no picture").status, 422);
    for _ in 0..8 {
        assert_eq!(file(&pictures::png(60, 60)).status, 303);
    }
    assert_eq!(file(&pictures::png(60, 60)).status, 422, "eight are enough");
    assert!(kiosk.get("/kiosk/brief").page().contains("/kiosk/brief.jpg?number=8"));
    let shown = kiosk.get("/kiosk/brief.jpg?number=8");
    assert!(shown.status == 200 && shown.body.starts_with(b"\xff\xd8"), "made anew as a JPEG");
    assert!(admin.get("/desk/texts?kind=brief").page().contains("picture.jpg?number=8"));
    assert_eq!(admin.post("/desk/texts/picture/remove", &[("picture", "8")]).status, 303);
    assert_eq!((kiosk.get("/kiosk/brief.jpg?number=8").status, site.rows()["brief_pictures"]), (404, 8));
    let signer = ines.id.to_string();
    let form = [("version", "1"), ("language", "en"), ("signer", &*signer)];
    assert_eq!(kiosk.post("/kiosk/brief", &[("version", "2"), form[1], form[2]]).status, 422, "another version");
    assert_eq!(kiosk.post("/kiosk/brief", &form).header("location"), Some("/kiosk/home?done=asked"));
    assert_eq!(kiosk.get("/kiosk/brief").status, 404, "nothing is asked twice");
    assert_eq!(brief(), "pending");
    let sql = "SELECT kind || ' ' || skill || ' ' || status FROM entries WHERE member_id = ?1";
    let entry: String = site.change(|tx| Ok(tx.get(sql, [newcomer.id])?));
    assert_eq!(entry, "safety 10001 pending");
    assert_eq!(site.rows()["brief_confirmations"], 1);
    let sql = "SELECT max(entry_id) FROM entries WHERE member_id = ?1";
    let entry_id: i64 = site.change(|tx| Ok(tx.get(sql, [newcomer.id])?));
    ines.ask(Method::PUT, &format!("/account/logbook/skills/{entry_id}"))
        .json(&json!({ "status": "open" }))
        .send()
        .ok();
    assert_eq!(brief(), "signed");
    assert!(admin.get(&format!("/desk/members/{}/waiver", newcomer.id)).page().contains("Safety brief read"));
}

#[test]
fn staff_do_not_decide_on_their_own_flying() {
    let site = Site::open_with(on);
    demand(&site);
    let (anna, ben) = (site.desk(), site.desk());
    put(&site, &anna, &Paper { answer: "y", ..GOOD });
    let card = format!("/desk/members/{}/waiver", anna.id);
    let (decide, over) = (format!("{card}/decide"), format!("{card}/override"));
    let word = [("signature", "1"), ("may_fly", "yes"), ("word", "fine")];
    let (herself, colleague) = (Clerk::at(&site, &anna), Clerk::at(&site, &ben));
    for (path, form) in [(&decide, &word[..]), (&over, &[("reason", "fine")])] {
        let reply = herself.post(path, form);
        assert!(reply.status == 403 && reply.page().contains("A colleague decides"), "{path}: {reply}");
        assert_eq!(colleague.post(path, form).status, 303, "{path}");
    }
}
