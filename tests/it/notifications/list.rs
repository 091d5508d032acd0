//! The member's list of notices, and marking as read.

use super::NOTIFICATIONS;
use crate::harness::{Caller, Reply, Site};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::domain::ids::MemberId;

fn read(member: &Caller, notification_id: i64) -> Reply {
    member.ask(Method::PUT, &format!("{NOTIFICATIONS}/read/{notification_id}")).send()
}

fn list(member: &Caller, query: &str) -> Reply {
    member.get(&format!("{NOTIFICATIONS}{query}")).ok()
}

/// The number of notices, and how many of them are unread.
fn counts(list: &Reply) -> (i64, Option<&str>) {
    (list.total(), list.header("x-unread-count"))
}

#[test]
fn notices_are_listed_newest_first_and_for_their_member_alone() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let empty = list(&jane, "");
    assert_eq!((empty.json(), counts(&empty)), (json!([]), (0, Some("0"))));
    let first = site.note(&jane, "notice.password_changed", json!({}));
    let created_at = site.now();
    site.advance(Duration::from_secs(60));
    let detail = json!({ "booking_id": 3, "flight_date": 1_795_219_200, "minutes": 20 });
    let second = site.note(&jane, "notice.booking_recorded", detail.clone());
    site.note(&mark, "notice.password_changed", json!({}));
    let all = list(&jane, "");
    let rows = all.rows();
    let newest = json!({
        "notification_id": second, "kind": "booking_recorded", "subject": "Booking recorded", "detail": detail,
        "text": "Your booking is recorded: 20 minutes on 21 November 2026.", "read": false, "read_at": null,
        "created_at": site.now(),
    });
    assert_eq!((counts(&all), &rows[0]), ((2, Some("2")), &newest));
    assert_eq!((&rows[1]["notification_id"], &rows[1]["created_at"]), (&json!(first), &json!(created_at)));
    let page = list(&jane, "?limit=1&offset=1");
    assert_eq!((counts(&page), page.rows().len()), ((2, Some("2")), 1));
    assert_eq!(page.rows()[0]["notification_id"], first);
    assert_eq!(
        jane.get(&format!("{NOTIFICATIONS}?limit=5001&offset=-1")).refused(422).bad_fields(),
        ["limit", "offset"]
    );
}

#[test]
fn a_notice_speaks_the_reader_s_language_and_never_shows_a_hole() {
    let site = Site::open();
    let jane = site.member("jane");
    let detail = json!({ "programme": "Coach", "renewal_date": 1_784_160_000 });
    site.note(&jane, "notice.currency_training", detail);
    site.note(&jane, "notice.booking_recorded", json!({}));
    site.note(&jane, "notice.of a later version", json!({ "a": 1 }));
    site.change(|tx| {
        Ok(tunneldesk::store::tables::notices::insert(tx, MemberId(jane.id), "notice.password_changed", "no JSON")?)
    });
    for (language, words) in [
        ("en", "Your currency as Coach ends with 16 July 2026."),
        ("de", "Deine Currency als Coach gilt bis und mit 16. Juli 2026."),
        ("fr", "Vous êtes à jour comme Coach jusqu'au 16 juillet 2026 inclus."),
        ("es", "Tu vigencia como Coach termina al acabar el 16 de julio de 2026."),
    ] {
        let rows = jane.ask(Method::GET, NOTIFICATIONS).header("accept-language", language).send().rows();
        let texts: Vec<&str> = rows.iter().map(|row| row["text"].as_str().unwrap()).collect();
        assert!(texts[3].starts_with(words), "{texts:?}");
        let subjects: Vec<&str> = rows.iter().map(|row| row["subject"].as_str().unwrap()).collect();
        assert!(subjects.iter().all(|text| !text.is_empty() && !text.contains(['.', '{'])), "{subjects:?}");
        assert!(texts.iter().all(|text| !text.is_empty() && !text.contains(['{', '}'])), "{texts:?}");
        assert_eq!(rows[0]["detail"], Value::Null);
    }
}

#[test]
fn reading_twice_is_fine_and_keeps_the_first_moment() {
    let site = Site::open();
    let jane = site.member("jane");
    let (first, second) =
        (site.note(&jane, "notice.password_changed", json!({})), site.note(&jane, "notice.email_changed", json!({})));
    let then = site.now();
    read(&jane, first).ok();
    site.advance(Duration::from_secs(60));
    assert_eq!(read(&jane, first).ok().json()["status"], true);
    let all = list(&jane, "");
    let rows = all.rows();
    assert_eq!(counts(&all), (2, Some("1")));
    assert_eq!((&rows[1]["read"], &rows[1]["read_at"]), (&json!(true), &json!(then)));
    assert_eq!((&rows[0]["notification_id"], &rows[0]["read"]), (&json!(second), &json!(false)));
}

#[test]
fn somebody_else_s_and_nobody_s_are_the_same_404() {
    let site = Site::open();
    let (jane, mark, desk) = (site.member("jane"), site.member("mark"), site.desk());
    let theirs = site.note(&mark, "notice.password_changed", json!({}));
    for caller in [&jane, &desk] {
        let foreign = read(caller, theirs).refused(404).json();
        let unknown = read(caller, 999_999).refused(404).json();
        assert_eq!((&foreign["code"], &foreign["message"]), (&unknown["code"], &unknown["message"]));
    }
    for odd in ["0", "-1", "x", "1.0", "9223372036854775808"] {
        jane.ask(Method::PUT, &format!("{NOTIFICATIONS}/read/{odd}")).send().refused(404);
    }
    assert_eq!(list(&mark, "").header("x-unread-count"), Some("1"));
    read(&mark, theirs).ok();
}

#[test]
fn only_a_session_reads_notices() {
    let site = Site::open();
    let (jane, partner) = (site.flyer("jane"), site.partner());
    site.stranger().get(NOTIFICATIONS).refused(401);
    site.booking_token(&partner, &jane).get(NOTIFICATIONS).refused(403);
    assert_eq!(list(&jane, "").rows()[0]["kind"], "booking_recorded");
}
