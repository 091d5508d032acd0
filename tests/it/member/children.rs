//! The children's pages of a guardian, and the handover when a child comes of age.

use super::own_pages;
use crate::desk::book;
use crate::harness::{Caller, Site};
use tunneldesk::jobs::reminders;

const DAY: i64 = 86_400;
const YEAR_DAYS: f64 = 365.2425;

fn site() -> Site {
    Site::open_with(|config| (config.demo, config.waiver.required) = (true, true))
}

/// Lets an adult act for a child, who is this many days from the eighteenth birthday.
fn guard(site: &Site, adult: &Caller, child: &Caller, days_to_majority: i64) {
    let dob = site.now() / DAY * DAY - (18.0 * YEAR_DAYS) as i64 * DAY + days_to_majority * DAY;
    site.change(|tx| {
        tx.run("UPDATE members SET dob = ?2 WHERE member_id = ?1", (child.id, dob))?;
        let sql = "INSERT INTO guardianships (child_id, guardian_id, relation, made_at) VALUES (?1, ?2, 'parent', ?3)";
        Ok(tx.run(sql, (child.id, adult.id, tx.now()))?)
    });
}

#[test]
fn each_parent_sees_card_bookings_and_logbook_of_the_children_and_of_nobody_else() {
    let site = site();
    let (mother, father, ada, bo, other) =
        (site.member("mother"), site.member("father"), site.flyer("ada"), site.member("bo"), site.flyer("other"));
    for adult in [&mother, &father] {
        guard(&site, adult, &ada, 3_000);
    }
    guard(&site, &mother, &bo, 4_000);
    book(&site, &ada, DAY);
    let (hers, his) = (own_pages(&site, &mother), own_pages(&site, &father));
    let path = |who: &Caller| format!("/me/children/{}", who.id);
    let card = hers.get("/me/card").page();
    assert!(card.contains(&path(&ada)) && card.contains(&path(&bo)), "{card}");
    let page = hers.get(&path(&ada)).page();
    for shown in ["12 min", "10 min", &path(&bo), "href=\"/me/card\"", "aria-current=\"page\"><bdi>ada</bdi>"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert!(!page.contains("/me/logbook/time/"), "nothing of hers is changed there: {page}");
    assert_eq!((his.get(&path(&ada)).status, his.get(&path(&bo)).status), (200, 404));
    for foreign in [path(&other), path(&mother), "/me/children/99999".to_owned(), "/me/children/x".to_owned()] {
        assert_eq!(hers.get(&foreign).status, 404, "{foreign}");
    }
    assert_eq!(own_pages(&site, &ada).get(&path(&bo)).status, 404);
    site.change(|tx| Ok(tx.run("UPDATE guardianships SET ended_at = 1 WHERE guardian_id = ?1", [father.id])?));
    assert_eq!(his.get(&path(&ada)).status, 404, "who acts no more");
    assert!(!his.get("/me/card").page().contains("/me/children"));
}

#[test]
fn the_handover_at_majority_is_announced_to_both_once_and_then_nobody_acts() {
    let site = site();
    let (mother, father, ada, bo) =
        (site.member("mother"), site.member("father"), site.member("ada"), site.member("bo"));
    for adult in [&mother, &father] {
        guard(&site, adult, &ada, 20);
    }
    guard(&site, &mother, &bo, 60);
    let run = || reminders::announce_handovers(&site.for_a_job()).expect("the announcement");
    assert_eq!((run(), run()), (1, 0), "once");
    let told = |who: &Caller| site.notices(who).iter().filter(|key| key.ends_with("of_age")).count();
    assert_eq!([&ada, &mother, &father, &bo].map(told), [1, 1, 1, 0]);
    let pages = own_pages(&site, &mother);
    assert!(pages.get("/me/notices").page().contains("ada is of age here from"), "by name");
    let path = format!("/me/children/{}", ada.id);
    assert_eq!(pages.get(&path).status, 200);
    site.advance(std::time::Duration::from_secs(40 * 86_400));
    assert_eq!(own_pages(&site, &mother).get(&path).status, 404, "the account is the child's own");
    assert_eq!((run(), told(&mother), told(&bo)), (1, 2, 1));
}
