//! The audit log at the desk: texts, filters, paging and verification.

use super::{Clerk, HOSTILE, demo};
use crate::harness::{Caller, Site};
use std::time::Duration;
use tunneldesk::domain::audit::{Actor, ActorId, Detail, Origin, Subject};
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::audit;

const PAGE: &str = "/desk/site/audit";

/// Records a clerk's action on a member.
fn did(site: &Site, clerk: &Caller, action: &'static str, subject: i64) {
    let actor = Actor { id: ActorId::Member(MemberId(clerk.id)), origin: Origin::Address("10.0.0.5".parse().unwrap()) };
    site.change(|tx| Ok(audit::insert(tx, &actor, action, &Subject::Member(MemberId(subject)), &Detail::none())?));
}

/// The numbers of the rows on a page.
fn numbers(page: &str) -> Vec<i64> {
    let rows = page.split("<td class=\"number\">").skip(1);
    rows.map(|rest| rest.split('<').next().unwrap().parse().unwrap()).collect()
}

#[test]
fn actions_are_shown_in_words_newest_first_and_filtered_by_person_action_and_day() {
    let site = demo();
    let (jane, desk, boss) = (site.member("jane"), site.desk(), site.admin());
    site.change(|tx| Ok(tx.run("UPDATE members SET real_name = ?2 WHERE member_id = ?1", (jane.id, HOSTILE))?));
    did(&site, &desk, "member.banned", jane.id);
    did(&site, &boss, "member.unbanned", jane.id);
    site.advance(Duration::from_secs(86_400));
    did(&site, &desk, "member.pin_renewed", 4_711);
    let admin = Clerk::at(&site, &boss);
    let page = admin.get(PAGE).page();
    assert_eq!(numbers(&page), [4, 3, 2, 1], "{page}");
    for said in ["Banned the member", "Made a new booking PIN", "Signed in as staff", "Member 4711", "10.0.0.5"] {
        assert!(page.contains(said), "{said}: {page}");
    }
    assert!(!page.contains("<img src=x") && page.contains("&#60;img src=x onerror=alert(1)&#62;"), "{page}");
    let shown = |query: &str| numbers(&admin.get(&format!("{PAGE}?{query}")).page());
    assert_eq!(shown(&format!("person={}", desk.name)), [3, 1]);
    assert_eq!(shown(&format!("person={}", boss.id)), [4, 2]);
    assert_eq!(shown(&format!("about={}", jane.id)), [2, 1], "by the person concerned");
    assert_eq!(shown("about=4711"), [3], "who is gone too");
    assert_eq!(shown(&format!("person={}&about=jane", boss.name)), [2]);
    assert_eq!(shown("what=member.banned"), [1]);
    assert_eq!(shown(&format!("person={}&what=member.pin_renewed", boss.name)), [0; 0]);
    let today = jiff::Timestamp::from_second(site.now()).unwrap().strftime("%Y-%m-%d").to_string();
    assert_eq!(shown(&format!("day={today}")), [4, 3]);
    assert_eq!(shown(&format!("day={today}&what=staff.signed_in")), [4]);
    for (query, said) in [("person=nobody", "No account has that"), ("day=2026-13-41", "That is no day")] {
        let refused = admin.get(&format!("{PAGE}?{query}"));
        assert!(refused.status == 422 && refused.page().contains(said), "{refused}");
    }
}

#[test]
fn the_audit_log_pages_are_stable_while_rows_are_added() {
    let site = demo();
    let (desk, boss) = (site.desk(), site.admin());
    (0..120).for_each(|_| did(&site, &desk, "member.pin_renewed", boss.id));
    let admin = Clerk::at(&site, &boss);
    let mut seen = Vec::new();
    let mut path = PAGE.to_owned();
    loop {
        let page = admin.get(&path).page();
        seen.extend(numbers(&page));
        did(&site, &desk, "member.banned", boss.id);
        let Some((_, rest)) = page.split_once("name=\"before\" value=\"") else { break };
        path = format!("{PAGE}?before={}", rest.split('"').next().unwrap());
    }
    assert_eq!(seen, (1..=121).rev().collect::<Vec<_>>(), "each row once");
}

#[test]
fn the_desk_verifies_the_audit_log_and_names_a_changed_row() {
    let site = demo();
    let (desk, boss) = (site.desk(), site.admin());
    did(&site, &desk, "member.banned", 1);
    let admin = Clerk::at(&site, &boss);
    assert!(admin.get(PAGE).page().contains("Not checked here yet"));
    let begun = admin.post(PAGE, &[]);
    assert_eq!(begun.header("location"), Some("/desk/site/audit#verdict"), "{begun}");
    let page = admin.settled(PAGE);
    assert!(page.contains("Intact on") && page.contains("2 rows") && page.contains("Checked this log"), "{page}");
    site.change(|tx| {
        tx.run("DROP TRIGGER audit_is_final", [])?;
        Ok(tx.run("UPDATE audit SET subject = 'member:2' WHERE seq = 1", [])?)
    });
    admin.post(PAGE, &[]);
    let page = admin.settled(PAGE);
    assert!(page.contains("Not intact") && page.contains("Row 1 was changed."), "{page}");
}

#[test]
fn only_admins_see_the_audit_log() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    assert_eq!((clerk.get(PAGE).status, clerk.post(PAGE, &[]).status), (403, 403));
    let (admin, card) = (Clerk::at(&site, &site.admin()), format!("/desk/members/{}", site.member("jane").id));
    assert!(admin.get("/desk/site").page().contains(PAGE));
    assert!(admin.get(&card).page().contains(&format!("{PAGE}?about=")), "the log of the person on the card");
    assert!(!clerk.get(&card).page().contains(PAGE), "no link that leads to a refusal");
}
