//! The own logbook: the list, flight time, requests for signatures and papers; everything of others is not there.

use super::own_pages;
use crate::desk::till::field;
use crate::desk::{Clerk, demo};
use crate::harness::{Caller, Site};
use http::Method;
use serde_json::json;

fn count(site: &Site, who: &Caller, kind: &str) -> i64 {
    let sql = "SELECT count(*) FROM entries WHERE member_id = ?1 AND kind = ?2";
    site.change(|tx| Ok(tx.get(sql, (who.id, kind))?))
}

fn newest(site: &Site, who: &Caller, kind: &str) -> i64 {
    let sql = "SELECT max(entry_id) FROM entries WHERE member_id = ?1 AND kind = ?2";
    site.change(|tx| Ok(tx.get(sql, (who.id, kind))?))
}

fn today(browser: &Clerk) -> String {
    field(&browser.get("/me/logbook/time").page(), "date")
}

#[test]
fn flight_time_is_entered_once_corrected_and_deleted() {
    let site = demo();
    let jane = site.flyer("jane");
    let browser = own_pages(&site, &jane);
    let (number, date) = (field(&browser.get("/me/logbook/time").page(), "number"), today(&browser));
    let before = count(&site, &jane, "time");
    let form =
        [("minutes", "1:05"), ("date", &*date), ("comment", "a good one"), ("tunnel", "7"), ("number", &*number)];
    for _ in 0..2 {
        let reply = browser.post("/me/logbook/time", &form);
        assert_eq!((reply.status, reply.header("location")), (303, Some("/me/logbook?done=logged")), "{reply}");
        assert_eq!(count(&site, &jane, "time") - before, 1, "sent again it is the same");
    }
    let mut typed_over = form;
    typed_over[0].1 = "30";
    let mistake = browser.post("/me/logbook/time", &typed_over);
    assert!(mistake.status == 409 && mistake.page().contains("sent before with other values"), "{mistake}");
    assert_eq!(count(&site, &jane, "time") - before, 1, "what was sent first stands");
    assert_ne!(field(&mistake.page(), "number"), number, "one more press enters it");
    for (wrong, value, said) in [
        ("minutes", "601", "Type 1 to 600 minutes"),
        ("minutes", "x", "Type 1 to 600"),
        ("date", "2026-02-30", "Choose a day"),
        ("date", "1900-01-01", "Choose a day"),
        ("date", "2999-01-01", "Choose a day"),
        ("tunnel", "999", "no such tunnel"),
    ] {
        let typed = |name: &str, sent| match name {
            "number" => "4711",
            name if name == wrong => value,
            _ => sent,
        };
        let refused = browser.post("/me/logbook/time", &form.map(|(name, sent)| (name, typed(name, sent))));
        assert!(refused.status == 422 && refused.page().contains(said), "{wrong}={value}: {refused}");
        assert!(refused.page().contains("a good one"), "what was typed stays: {refused}");
    }
    let path = format!("/me/logbook/time/{}", newest(&site, &jane, "time"));
    let page = browser.get(&path).page();
    assert!(page.contains("value=\"65\"") && page.contains("a good one"), "{page}");
    let seen = field(&page, "seen");
    let corrected = [("minutes", "20"), ("date", &*date), ("comment", "better"), ("seen", &*seen)];
    assert_eq!(browser.post(&path, &corrected).header("location"), Some("/me/logbook?done=corrected"));
    assert!(browser.get("/me/logbook").page().contains("better"));
    let late = browser.post(&path, &[("minutes", "30"), ("date", &date), ("comment", "x"), ("seen", &seen)]);
    assert_eq!(late.status, 422, "another window changed it meanwhile: {late}");
    let late = browser.post(&format!("{path}/delete"), &[("seen", &seen)]);
    assert!(
        late.status == 422 && late.page().contains("class=\"problem\"") && late.page().contains("better"),
        "{late}"
    );
    let seen = field(&browser.get(&path).page(), "seen");
    for place in ["/me/logbook?done=deleted", "/me/logbook"] {
        let deleted = browser.post(&format!("{path}/delete"), &[("seen", &seen)]);
        assert_eq!(deleted.header("location"), Some(place), "what is gone was not deleted now: {deleted}");
    }
    assert_eq!(count(&site, &jane, "time"), before);
}

#[test]
fn the_list_is_searched_and_narrowed_by_kind_and_year() {
    let site = demo();
    let jane = site.flyer("jane");
    site.brief(&jane, "Flyer");
    for (minutes, comment) in [("7", "tracking with Föhn"), ("9", "sit flying")] {
        jane.post(
            "/account/logbook/time/",
            json!({ "entry_date": site.now() - 60, "time": minutes, "comment": comment }),
        )
        .ok();
    }
    let browser = own_pages(&site, &jane);
    let page = browser.get("/me/logbook").page();
    for shown in ["7 min", "9 min", "10 min", "tracking with Föhn"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let found = browser.get("/me/logbook?q=F%C3%96HN").page();
    assert!(found.contains("7 min") && !found.contains("9 min"), "{found}");
    assert!(browser.get("/me/logbook?q=zzz").page().contains("No entry matches"));
    let briefs = browser.get("/me/logbook?kind=safety").page();
    assert!(!briefs.contains("7 min") && briefs.contains("/me/logbook/entries/"), "{briefs}");
    assert!(browser.get("/me/logbook?year=1999").page().contains("No entry matches"));
    let empty = own_pages(&site, &site.member("mark")).get("/me/logbook").page();
    assert!(empty.contains("Your logbook is empty"), "{empty}");
}

#[test]
fn a_long_logbook_comes_page_by_page() {
    let site = demo();
    let jane = site.flyer("jane");
    for number in 0..60 {
        let body = json!({ "entry_date": site.now() - 3_600 - number * 60, "time": "3", "comment": format!("nr {number:02}.") });
        jane.post("/account/logbook/time/", body).ok();
    }
    let browser = own_pages(&site, &jane);
    let first = browser.get("/me/logbook").page();
    assert!(first.contains("nr 00.") && first.contains("nr 49.") && !first.contains("nr 50."), "{first}");
    assert!(first.contains("href=\"/me/logbook?skip=50\""), "{first}");
    let second = browser.get("/me/logbook?skip=50").page();
    assert!(second.contains("nr 59.") && !second.contains("nr 49.") && second.contains("skip=0"), "{second}");
    let narrowed = browser.get("/me/logbook?q=nr+5&kind=time").page();
    assert!(narrowed.contains("nr 55.") && !narrowed.contains("nr 49."), "{narrowed}");
    for list in ["logbook", "bookings", "notices", "payments"] {
        for skip in [i64::MAX, i64::MAX - 10, -1] {
            let page = browser.get(&format!("/me/{list}?skip={skip}"));
            assert_eq!(page.status, 200, "{list}, {skip}: {page}");
        }
    }
}

#[test]
fn a_signature_is_asked_for_in_three_steps_and_shows_who_has_it() {
    let site = demo();
    let (jane, ines) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    let browser = own_pages(&site, &jane);
    assert!(browser.get("/me").page().contains("href=\"/me/logbook/sign-off\""));
    assert!(browser.get("/me/logbook/sign-off").page().contains("href=\"/me/logbook/sign-off/10101\""));
    let page = browser.get("/me/logbook/sign-off/10101").page();
    assert!(page.contains(&format!("name=\"signer\" value=\"{}\"", ines.id)), "{page}");
    let none = browser.post("/me/logbook/sign-off/10101", &[]);
    assert_eq!(none.status, 422, "{none}");
    let signer = ines.id.to_string();
    let asked = browser.post("/me/logbook/sign-off/10101", &[("signer", &signer), ("comment", "after lunch")]);
    assert_eq!(asked.header("location"), Some("/me/logbook?done=asked"), "{asked}");
    let again = browser.post("/me/logbook/sign-off/10101", &[("signer", &signer)]);
    assert!(again.status == 409 && again.page().contains("waits for a signature"), "another comment: {again}");
    let again = browser.post("/me/logbook/sign-off/10101", &[("signer", &signer), ("comment", "after lunch")]);
    assert_eq!(again.header("location"), Some("/me/logbook?done=asked"), "the same again is sent: {again}");
    assert_eq!(count(&site, &jane, "skill"), 1);
    let path = format!("/me/logbook/entries/{}", newest(&site, &jane, "skill"));
    let page = browser.get(&path).page();
    assert!(page.contains("ines has the request since ") && page.contains("after lunch"), "{page}");
    for _ in 0..2 {
        let withdrawn = browser.post(&format!("{path}/withdraw"), &[]);
        assert_eq!(withdrawn.header("location"), Some("/me/logbook?done=withdrawn"), "{withdrawn}");
    }
    assert!(browser.get(&path).page().contains("Withdrawn, "));
    assert_eq!(browser.get("/me/logbook/sign-off/99999").status, 404);
}

#[test]
fn a_denial_shows_its_reason_and_is_asked_for_again_and_a_signature_is_locked() {
    let site = demo();
    let (jane, ines) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    let entry = site.ask_for(&jane, "10101", &ines);
    ines.post(&format!("/account/logbook/entries/{entry}/deny"), json!({ "comment_denial": "late stops" })).ok();
    let (browser, path) = (own_pages(&site, &jane), format!("/me/logbook/entries/{entry}"));
    assert!(browser.get("/me/logbook").page().contains("late stops"));
    let page = browser.get(&path).page();
    assert!(
        page.contains("ines denied it, ") && page.contains("late stops") && page.contains("Fix and ask again"),
        "{page}"
    );
    let signer = ines.id.to_string();
    let asked = browser.post(&path, &[("signer", &signer), ("comment", "stops in time now")]);
    assert_eq!(asked.header("location"), Some("/me/logbook?done=asked"), "{asked}");
    assert!(browser.get(&path).page().contains("ines has the request since "));
    ines.post(&format!("/account/logbook/entries/{entry}/sign"), json!({ "comments_instructor": "clean" })).ok();
    let page = browser.get(&path).page();
    assert!(page.contains("Signed by ines, ") && page.contains("clean") && !page.contains("name=\"signer\""), "{page}");
    let refused = browser.post(&path, &[("signer", &signer), ("comment", "more")]);
    assert!(refused.status >= 400, "what was signed is locked: {refused}");
}

#[test]
fn who_may_not_sign_is_named_if_the_person_signs_at_all() {
    let site = demo();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let tina = site.signer("tina", &[("Trainer", "1")]);
    site.brief(&jane, "Flyer");
    let browser = own_pages(&site, &jane);
    for (signer, said) in [(&tina, "tina is nobody who may sign this skill."), (&mark, "This person is ")] {
        let refused = browser.post("/me/logbook/sign-off/10101", &[("signer", &signer.id.to_string())]);
        assert!(refused.status == 422 && refused.page().contains(said), "{said}: {refused}");
        assert!(!refused.page().contains("mark is"), "a name that nobody was told: {refused}");
    }
}

#[test]
fn what_a_booking_entered_is_not_changed_before_it_is_flown() {
    let site = demo();
    let jane = site.flyer("jane");
    let booking = crate::desk::book(&site, &jane, 86_400);
    let entry: i64 = site.change(|tx| {
        let sql = "INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, booking_id, comment,
                                        cat_group, cat_id, skill, created_at, updated_at)
                   VALUES (?1, 'time', 'open', ?2, 12, ?3, ?1, ?4, '', '', '', '', ?5, ?5) RETURNING entry_id";
        Ok(tx.get(sql, (jane.id, tx.now() + 86_400, Site::TUNNEL_ID, booking, tx.now()))?)
    });
    let (browser, path) = (own_pages(&site, &jane), format!("/me/logbook/time/{entry}"));
    let page = browser.get(&path).page();
    assert!(page.contains("not flown yet") && page.contains("href=\"/me/bookings\""), "{page}");
    assert!(!page.contains("<form class=\"fields\""), "{page}");
    let rows = site.rows();
    let date = today(&browser);
    for (path, fields) in [(path.clone(), &[("minutes", "20"), ("date", &*date)][..]), (format!("{path}/delete"), &[])]
    {
        let refused = browser.post(&path, fields);
        assert!(refused.status == 409 && refused.page().contains("not flown yet"), "{path}: {refused}");
    }
    assert_eq!(site.rows()["entries"], rows["entries"]);
}

#[test]
fn papers_are_files_for_the_holder_alone() {
    let site = demo();
    let jane = site.flyer("jane");
    site.hold(&jane, "Flyer", "3", "Static", site.now());
    let browser = own_pages(&site, &jane);
    let page = browser.get("/me/papers").page();
    let level = field(&page, "level");
    for pdf in [browser.post("/me/papers", &[("level", &level)]), browser.get("/me/logbook.pdf")] {
        assert_eq!((pdf.status, pdf.header("content-type")), (200, Some("application/pdf")), "{pdf}");
        assert!(pdf.body.starts_with(b"%PDF") && pdf.header("cache-control") == Some("no-store"));
    }
    let table = browser.get("/me/logbook.csv");
    assert_eq!((table.status, table.header("cache-control")), (200, Some("no-store")), "{table}");
    let table = String::from_utf8(table.body).unwrap();
    assert!(table.starts_with("\u{feff}entry_id,kind,status") && table.lines().count() > 1, "{table}");
    assert_eq!(browser.get("/me/progression.svg").header("content-type"), Some("image/svg+xml"));
    let mark = own_pages(&site, &site.member("mark"));
    assert_eq!(mark.post("/me/papers", &[("level", &level)]).status, 404, "a level that Mark does not hold");
}

#[test]
fn entries_of_others_are_not_there_also_for_an_instructor_and_for_the_desk() {
    let site = demo();
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    let (time, skill) = (newest(&site, &jane, "time"), site.ask_for(&jane, "10101", &ines));
    let rows = site.rows();
    for who in [&ines, &site.member("mark"), &site.desk()] {
        let browser = own_pages(&site, who);
        let rows = site.rows();
        for (method, path) in [
            (Method::GET, format!("/me/logbook/time/{time}")),
            (Method::POST, format!("/me/logbook/time/{time}")),
            (Method::POST, format!("/me/logbook/time/{time}/delete")),
            (Method::GET, format!("/me/logbook/entries/{skill}")),
            (Method::POST, format!("/me/logbook/entries/{skill}")),
            (Method::POST, format!("/me/logbook/entries/{skill}/withdraw")),
            (Method::GET, "/me/logbook/entries/99999".to_owned()),
        ] {
            let reply =
                if method == Method::GET { browser.get(&path) } else { browser.post(&path, &[("minutes", "5")]) };
            assert_eq!(reply.status, 404, "{} {method} {path}: {reply}", who.name);
        }
        assert_eq!(site.rows(), rows, "{} changed nothing", who.name);
    }
    assert_eq!(site.rows()["entries"], rows["entries"]);
}
