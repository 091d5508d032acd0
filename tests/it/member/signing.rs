//! Signing on one's own telephone.

use super::own_pages;
use crate::desk::demo;
use crate::desk::till::field;
use crate::harness::{Caller, PASSWORD, Site};
use std::time::Duration;
use tunneldesk::jobs::reminders;

fn status(site: &Site, entry: i64) -> String {
    site.change(|tx| Ok(tx.get("SELECT status FROM entries WHERE entry_id = ?1", [entry])?))
}

fn asked(site: &Site, name: &str, ines: &Caller) -> i64 {
    let member = site.member(name);
    site.brief(&member, "Flyer");
    site.ask_for(&member, "10101", ines)
}

#[test]
fn several_requests_are_signed_with_one_proof_all_or_none() {
    let site = demo();
    let ines = site.signer("ines", &[("Instructor", "4")]);
    let (first, second) = (asked(&site, "jane", &ines), asked(&site, "mark", &ines));
    let browser = own_pages(&site, &ines);
    assert!(browser.get("/me").page().contains("href=\"/me/signing\""));
    let page = browser.get("/me/signing").page();
    assert!(page.contains("Waiting for your signature: 2") && page.contains("<bdi>jane</bdi>"), "{page}");
    let (one, two) = (format!("{first} 1"), format!("{second} 1"));
    let send = |fields: &[(&str, &str)]| browser.post("/me/signing", fields);
    let changed = format!("{second} 9");
    let refusals: [(&[(&str, &str)], &str); 3] = [
        (&[("entry", &one), ("password", "wrong")], "This is not your current password"),
        (&[("password", PASSWORD)], "Tick what you sign"),
        (&[("entry", &one), ("entry", &changed), ("password", PASSWORD)], "role=\"alert\""),
    ];
    for (fields, said) in refusals {
        let refused = send(fields);
        assert!((400..500).contains(&refused.status) && refused.page().contains(said), "{said}: {refused}");
        assert_eq!((status(&site, first), status(&site, second)), ("pending".into(), "pending".into()), "{said}");
    }
    let done = send(&[("entry", &one), ("entry", &one), ("entry", &two), ("comment", "clean"), ("password", PASSWORD)]);
    assert_eq!(done.header("location"), Some("/me/signing?done=signed"), "{done}");
    assert_eq!((status(&site, first), status(&site, second)), ("open".into(), "open".into()));
}

#[test]
fn a_request_is_denied_with_words_by_its_signer_alone() {
    let site = demo();
    let (ines, iris) = (site.signer("ines", &[("Instructor", "4")]), site.signer("iris", &[("Instructor", "4")]));
    let entry = asked(&site, "jane", &ines);
    let deny = format!("/me/signing/{entry}/deny");
    let other = own_pages(&site, &iris);
    assert_eq!(other.post(&deny, &[("reason", "no")]).status, 404, "another signer's request");
    let foreign = other.post("/me/signing", &[("entry", &format!("{entry} 1")), ("password", PASSWORD)]);
    assert_eq!(foreign.status, 404, "{foreign}");
    let browser = own_pages(&site, &ines);
    assert_eq!(browser.post(&deny, &[("reason", " ")]).status, 422);
    assert_eq!(status(&site, entry), "pending");
    let done = browser.post(&deny, &[("reason", "late stops"), ("version", "1")]);
    assert_eq!(done.header("location"), Some("/me/signing?done=denied"), "{done}");
    assert_eq!(status(&site, entry), "denied");
    assert!(own_pages(&site, &site.member("mark")).get("/me").page().find("/me/signing").is_none());
}

#[test]
fn a_signer_is_reminded_of_a_request_once_after_three_days() {
    let site = demo();
    let ines = site.signer("ines", &[("Instructor", "4")]);
    let entry = asked(&site, "jane", &ines);
    let run = || reminders::remind_signers(&site.for_a_job()).expect("a reminder");
    let days = |days: u64| site.advance(Duration::from_secs(days * 86_400));
    days(2);
    assert_eq!(run(), 0, "two days are no three");
    site.advance(Duration::from_secs(86_400 + 60));
    assert_eq!((run(), run()), (1, 0), "once");
    days(9);
    assert_eq!(run(), 0, "and never again");
    assert_eq!(site.notices(&ines), ["notice.signoff_waits"]);
    let browser = own_pages(&site, &ines);
    assert!(browser.get("/me/notices").page().contains("jane has waited for three days for your signature"));
    assert_eq!(status(&site, entry), "pending");
}

#[test]
fn one_session_is_recorded_for_several_students_with_one_proof_for_all_or_none() {
    let site = demo();
    let ines = site.signer("ines", &[("Instructor", "4")]);
    let (jane, mark, kim) = (site.member("jane"), site.member("mark"), site.member("kim"));
    for briefed in [&jane, &mark] {
        site.brief(briefed, "Flyer");
    }
    let browser = own_pages(&site, &ines);
    let page = browser.get("/me/signing/record").page();
    assert!(browser.get("/me/signing").page().contains("href=\"/me/signing/record\""));
    let (number, date) = (
        field(&page, "number"),
        page.split("max=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a day").to_owned(),
    );
    let both = format!("{}, {}\n{}", jane.id, mark.id, jane.id);
    let send = |who: &str, skill: &str, password: &str| {
        let fields = [("students", who), ("skill", skill), ("date", &*date), ("number", &*number)];
        browser.post("/me/signing/record", &[&fields[..], &[("comment", "clean"), ("password", password)]].concat())
    };
    let recorded = || -> i64 {
        site.change(|tx| Ok(tx.get("SELECT count(*) FROM entries WHERE skill = '10101' AND status = 'open'", [])?))
    };
    let before = recorded();
    for (who, skill, said) in [
        ("", "10101", "role=\"alert\""),
        ("99999", "10101", "Nobody has the member number 99999"),
        ("jane", "10101", "is no member number"),
        (&both, "", "Choose what the students showed"),
        (&both, "99999", "Choose what the students showed"),
    ] {
        let refused = send(who, skill, "");
        assert!(refused.status == 422 && refused.page().contains(said), "{said}: {refused}");
    }
    let asked = send(&both, "10101", "");
    let page = asked.page();
    assert!(asked.status == 200 && page.contains("id=\"password\""), "{asked}");
    for student in [&jane, &mark] {
        assert_eq!(page.matches(&format!("figure\">{}</p>", student.id)).count(), 1, "{page}");
    }
    let wrong = send(&both, "10101", "wrong");
    assert!(wrong.status == 422 && wrong.page().contains("This is not your current password"), "{wrong}");
    let with_kim = format!("{both} {}", kim.id);
    let refused = send(&with_kim, "10101", PASSWORD);
    assert!(refused.status == 422 && refused.page().contains("Nothing was recorded. kim"), "{refused}");
    assert_eq!(recorded(), before, "all or none");
    for _ in 0..2 {
        let done = send(&both, "10101", PASSWORD);
        assert_eq!(done.header("location"), Some("/me/signing?done=recorded"), "{done}");
        assert_eq!(recorded(), before + 2, "sent again it is the same");
    }
    let other = send(&kim.id.to_string(), "10101", PASSWORD);
    assert!(other.status == 409 && other.page().contains("sent before with other values"), "{other}");
    // The numbers of forms are each member's own: a number that somebody else's form had is not taken.
    let otto = own_pages(&site, &site.signer("otto", &[("Instructor", "4")]));
    let third = site.member("lena");
    site.brief(&third, "Flyer");
    let lena = third.id.to_string();
    let fields = [("students", &*lena), ("skill", "10101"), ("date", &*date), ("number", &*number)];
    let own = otto.post("/me/signing/record", &[&fields[..], &[("password", PASSWORD)]].concat());
    assert_eq!(own.header("location"), Some("/me/signing?done=recorded"), "{own}");
    for day in ["2999-01-01", "1900-01-01"] {
        let fields = [("students", &*lena), ("skill", "10102"), ("date", day), ("number", "5")];
        let refused = otto.post("/me/signing/record", &fields);
        assert!(refused.status == 422 && refused.page().contains("Choose a day of the calendar"), "{day}: {refused}");
    }
    let stranger = own_pages(&site, &kim);
    assert!(stranger.get("/me/signing/record").page().contains("nothing here that you may sign"));
    let fields = [("students", "1"), ("skill", "10101"), ("date", &*date), ("password", PASSWORD)];
    assert_eq!(stranger.post("/me/signing/record", &fields).status, 422);
}
