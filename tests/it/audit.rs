//! The audit rows of requests: what staff and signers do, and changes of credentials.

use crate::desk;
use crate::harness::{Caller, PASSWORD, Site};
use serde_json::json;
use std::time::Duration;
use tunneldesk::domain::role::Role;
use tunneldesk::ops::audit::walk;
use tunneldesk::store::tables::audit::{Filter, list};

/// Every audit row as `actor action subject`, oldest first. Asserts that each names the callers' address.
fn audit_rows(site: &Site) -> Vec<String> {
    let inside = site.for_a_job();
    let rows = inside.store.read(|tx| Ok(list(tx, &Filter::default(), 1_000)?)).expect("the log can be read");
    assert!(rows.iter().all(|kept| kept.row.origin == "127.0.0.1"), "{rows:?}");
    rows.iter().rev().map(|kept| format!("{} {} {}", kept.row.actor, kept.row.action, kept.row.subject)).collect()
}

/// The audit row of a caller's action.
fn by(actor: &Caller, action: &str, subject: &Caller) -> String {
    format!("member:{} {action} member:{}", actor.id, subject.id)
}

fn is_whole(site: &Site) {
    let walk = walk(&site.for_a_job(), &mut |_, _, _| ()).expect("the log can be read");
    assert_eq!(walk.broken, None);
}

#[test]
fn sign_offs_refusals_and_pauses_are_recorded_with_their_signer() {
    let site = Site::open();
    let (jane, ines, admin) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]), site.admin());
    site.brief(&jane, "Flyer");
    let skill = |number: &str| site.ask_for(&jane, number, &ines);
    let act = |caller: &Caller, entry_id: i64, act: &str, body| {
        caller.post(&format!("/account/logbook/entries/{entry_id}/{act}"), body).ok()
    };
    let signed = skill("10101");
    act(&ines, signed, "sign", json!({}));
    act(&admin, signed, "suspend", json!({}));
    act(&admin, signed, "reinstate", json!({}));
    act(&ines, skill("10102"), "deny", json!({"comment_denial": "not yet"}));
    // A refused request leaves no row, and neither do members' changes of their own entries.
    jane.post(&format!("/account/logbook/entries/{signed}/sign"), json!({})).refused(403);
    let mine = skill("10103");
    jane.put(&format!("/account/logbook/skills/{mine}"), json!({"status": "cancelled"})).ok();
    let expected = [
        by(&ines, "entry.signed", &jane),
        by(&admin, "entry.suspended", &jane),
        by(&admin, "entry.reinstated", &jane),
        by(&ines, "entry.denied", &jane),
    ];
    assert_eq!(audit_rows(&site), expected);
    is_whole(&site);
}

#[test]
fn what_staff_do_with_the_logbooks_of_others_is_recorded_and_what_members_do_with_theirs_is_not() {
    let site = Site::open();
    let (jane, desk) = (site.member("jane"), site.desk());
    let flight = |caller: &Caller| {
        let body = json!({"entry_date": site.now(), "time": 12});
        caller.post("/account/logbook/time/", body).ok().json()["entry_id"].as_i64().unwrap()
    };
    let entry_id = flight(&jane);
    let path = format!("/account/logbook/time/{entry_id}");
    jane.put(&path, json!({"time": 13})).ok();
    assert_eq!(audit_rows(&site), [""; 0]);
    desk.put(&path, json!({"time": 14})).ok();
    desk.delete(&format!("/account/logbook/{entry_id}")).ok();
    let own = flight(&jane);
    jane.delete(&format!("/account/logbook/{own}")).ok();
    assert_eq!(audit_rows(&site), [by(&desk, "entry.edited", &jane), by(&desk, "entry.deleted", &jane)]);
}

#[test]
fn staff_who_sign_in_are_recorded_and_members_are_not() {
    let site = Site::open_with(|config| config.demo = true);
    let (jane, desk) = (site.member("jane"), site.desk());
    for caller in [&jane, &desk] {
        let body = json!({"username": caller.name, "password": PASSWORD});
        assert_eq!(site.stranger().post("/auth/login", body).ok().json()["status"], true);
        let wrong = json!({"username": caller.name, "password": "no"});
        assert_eq!(site.stranger().post("/auth/login", wrong).ok().json()["status"], false);
    }
    assert_eq!(audit_rows(&site), [by(&desk, "staff.signed_in", &desk)]);
}

#[test]
fn changes_in_the_ways_into_an_account_are_recorded_without_a_word_of_what_they_were() {
    let site = Site::open();
    let jane = site.member("jane");
    let new = "four dry socks in a row";
    let body = json!({"password": new, "current_password": PASSWORD, "password_confirm": new});
    jane.put("/account/profile/change-password", body).ok();
    let factor = "/account/profile/2fa-operation";
    let on = jane.post(factor, json!({"operation": "enable"})).ok().json();
    let anew = jane.post(factor, json!({"operation": "recovery-codes", "code": on["recovery_codes"][0]})).ok().json();
    jane.post(factor, json!({"operation": "disable", "code": anew["recovery_codes"][0]})).ok();
    let own = |action| by(&jane, action, &jane);
    let expected = [
        own("member.password_changed"),
        own("member.second_factor_on"),
        own("member.recovery_code_used"),
        own("member.recovery_codes_made"),
        own("member.recovery_code_used"),
        own("member.second_factor_off"),
    ];
    assert_eq!(audit_rows(&site), expected);
    is_whole(&site);
}

#[test]
fn a_repeated_answer_writes_no_second_audit_row() {
    let site = Site::open();
    let (jane, ines) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    let entry_id = site.ask_for(&jane, "10101", &ines);
    let path = format!("/account/logbook/entries/{entry_id}/sign");
    for _ in 0..2 {
        ines.ask(http::Method::POST, &path).header("idempotency-key", "once").json(&json!({})).send().ok();
    }
    assert_eq!(audit_rows(&site), [by(&ines, "entry.signed", &jane)]);
}

#[test]
fn an_old_session_of_staff_makes_rows_of_its_own_member() {
    let site = Site::open();
    let (jane, desk) = (site.member("jane"), site.desk());
    let again = site.sign_in(desk.id, &desk.name, Role::Desk, Duration::from_secs(60));
    let made = jane.post("/account/logbook/time/", json!({"entry_date": site.now(), "time": 12})).ok().json();
    again.delete(&format!("/account/logbook/{}", made["entry_id"])).ok();
    assert_eq!(audit_rows(&site), [by(&desk, "entry.deleted", &jane)]);
}

#[test]
fn what_the_desk_does_in_its_pages_is_recorded_and_a_second_check_in_is_none() {
    let site = desk::demo();
    let (jane, staff) = (site.flyer("jane"), site.desk());
    let clerk = desk::Clerk::at(&site, &staff);
    let booking_id = desk::book(&site, &jane, 600);
    for step in ["check-in", "check-in", "check-in/undo"] {
        assert_eq!(clerk.post(&format!("/desk/bookings/{booking_id}/{step}"), &[]).status, 303);
    }
    let expected = [
        by(&staff, "staff.signed_in", &staff),
        by(&staff, "booking.checked_in", &jane),
        by(&staff, "booking.check_in_undone", &jane),
    ];
    assert_eq!(audit_rows(&site), expected);
}
