//! Field errors that only the database shows are reported together with those of the body: a caller who corrects every
//! field that a 422 names is not refused again for an error that was there before. The answer reveals nothing that the
//! caller may not know.

use crate::harness::{Caller, PASSWORD, Reply, Site};
use serde_json::{Value, json};

const SKILLS: &str = "/account/logbook/skills/";
const TIME: &str = "/account/logbook/time/";
const DAY: i64 = 86_400;

#[track_caller]
fn names(reply: Reply, fields: &[&str]) {
    let reply = reply.refused(422);
    let mut named = reply.bad_fields();
    named.sort_unstable();
    assert_eq!(named, fields, "{reply}");
}

/// A member with a safety brief and a birthday, another member, and an instructor who may sign every skill of the Flyer
/// programme.
fn people(site: &Site) -> (Caller, Caller, Caller) {
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    site.brief(&jane, "Flyer");
    site.born(&jane, site.now() - 10 * DAY);
    (jane, mark, site.signer("ines", &[("Instructor", "4")]))
}

#[test]
fn flight_time() {
    let site = Site::open();
    let (jane, mark, _) = people(&site);
    let good = json!({ "time": 5, "entry_date": site.now() });
    let path = format!("{TIME}{}", jane.post(TIME, good).ok().json()["entry_id"]);
    let ahead = json!({ "time": "x", "tunnel": "99", "entry_date": site.now() + DAY });
    let unborn = json!({ "time": "x", "entry_date": site.now() - 11 * DAY });
    names(jane.post(TIME, &ahead), &["entry_date", "time", "tunnel"]);
    names(jane.post(TIME, &unborn), &["entry_date", "time"]);
    for editor in [&jane, &site.desk()] {
        names(editor.put(&path, &ahead), &["entry_date", "time", "tunnel"]);
        names(editor.put(&path, &unborn), &["entry_date", "time"]);
    }
    names(jane.put(&path, json!({ "time": "x" })), &["time"]);
    names(mark.put(&path, &unborn), &["time"]);
    names(mark.put(&format!("{TIME}999999"), &unborn), &["time"]);
}

#[test]
fn skills() {
    let site = Site::open();
    let (jane, mark, ines) = people(&site);
    let bad = |more: Value| {
        let mut body = json!({ "time": "x", "tunnel": "99", "entry_date": site.now() + DAY });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let unsigned = bad(json!({ "skill": "10101", "instructor": mark.id }));
    let unknown = bad(json!({ "skill": "nothing", "instructor": ines.id }));
    let unborn = json!({ "time": "x", "skill": "10101", "instructor": ines.id, "entry_date": site.now() - 11 * DAY });
    let path = format!("{SKILLS}{}", site.ask_for(&jane, "10101", &ines));
    names(jane.post(SKILLS, &unsigned), &["entry_date", "instructor", "time", "tunnel"]);
    names(jane.post(SKILLS, &unknown), &["entry_date", "skill", "time", "tunnel"]);
    for editor in [&jane, &site.desk()] {
        names(editor.put(&path, &unsigned), &["entry_date", "instructor", "time", "tunnel"]);
        names(editor.put(&path, &unknown), &["entry_date", "skill", "time", "tunnel"]);
        names(editor.put(&path, &unborn), &["entry_date", "time"]);
    }
    names(jane.put(&path, bad(json!({ "status": "cancelled" }))), &["time"]);
    names(mark.put(&path, &unsigned), &["time"]);
    let mut recorded = unborn.clone();
    recorded["member_id"] = json!(jane.id);
    names(mark.post(SKILLS, &recorded), &["time"]);
}

#[test]
fn signing_up() {
    let site = Site::open();
    site.member("jane");
    let body = |username: &str| {
        json!({ "username": username, "email": "q@example.com", "password": "short", "tunnel": 99_999, "terms": true,
                "country_code": "CH", "phone": "12" })
    };
    for username in ["ok.name1", "jane"] {
        names(site.stranger().post("/auth/signup", body(username)), &["password", "phone", "real_name", "tunnel"]);
    }
    names(
        site.stranger().post("/auth/signup", json!({ "username": "ok.name1", "password": "ok.name1" })),
        &["email", "password", "real_name", "terms"],
    );
}

#[test]
fn the_password_and_the_profile() {
    let site = Site::open();
    let jane = site.member("jane");
    let change = |current: &str| json!({ "password": "abc", "current_password": current, "password_confirm": "abd" });
    for current in [PASSWORD, "wrong"] {
        names(jane.put("/account/profile/change-password", change(current)), &["password", "password_confirm"]);
    }
    let profile = json!({ "real_name": "x", "screen_name": "x", "username": "a b", "tunnel": "99999" });
    names(jane.put("/account/profile/user", profile), &["tunnel", "username", "verify_password"]);
}

#[test]
fn a_booking() {
    let site = Site::open();
    let (partner, jane) = (site.partner(), site.flyer("jane"));
    let body = json!({ "member_id": jane.id, "member_pin": "1234", "flight_date": site.now(), "minutes_booked": 601,
                       "tunnel_id": 424_242 });
    names(partner.post("/external/partner-metrics/op/generate-token", body), &["minutes_booked", "tunnel_id"]);
}

/// A recovery reports the same fields for a known name as for an unknown one.
#[test]
fn a_recovery() {
    let site = Site::open();
    site.member("jane");
    for username in ["jane", "nobody"] {
        let body = |password: &str| json!({ "username": username, "passcode": "000000", "password": password, "answer_3": "x".repeat(201) });
        let recover = |password: &str| site.stranger().post("/auth/account-access/recover-password", body(password));
        names(recover("short"), &["answer_3", "password"]);
        names(recover("jane@example.com"), &["answer_3"]);
    }
}
