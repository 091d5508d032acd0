//! The card of a member: badges, the ban, and what was done in another window.

use super::{Clerk, book, demo};
use crate::harness::{Caller, Site};
use tunneldesk::moment::Moment;

#[test]
fn the_badges_of_the_card_say_what_is_due_and_what_is_missing() {
    let site = Site::open_with(|config| (config.demo, config.yearly_fee_cents) = (true, 3_000));
    let (new, jane, clerk) = (site.member("new"), site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let card = |member: &Caller| clerk.get(&format!("/desk/members/{}", member.id)).page();
    assert!(card(&new).contains(">no fee due yet<") && !card(&new).contains("membership paid"), "{}", card(&new));
    assert!(card(&jane).contains(">fee due<"), "{}", card(&jane));
    site.change(|tx| Ok(tx.run("UPDATE members SET paid_until = ?1", [tx.now() + 86_400])?));
    assert!(card(&new).contains(">membership paid<") && card(&jane).contains(">membership paid<"));
    site.change(|tx| Ok(tx.run("UPDATE members SET email_confirmed_at = NULL", [])?));
    assert!(card(&new).contains(">e-mail not confirmed<"));
    site.change(|tx| Ok(tx.run("UPDATE members SET email = '' WHERE member_id = ?1", [new.id])?));
    assert!(card(&new).contains(">no e-mail address<") && !card(&new).contains(">e-mail not confirmed<"));
}

#[test]
fn a_ban_that_ended_yesterday_is_refused_on_the_card_and_keeps_what_was_typed() {
    let site = demo();
    let (jane, clerk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let card = format!("/desk/members/{}", jane.id);
    let zone = site.inside().time_zone().unwrap();
    let (yesterday, today) = (zone.date(Moment(site.now() - 86_400)), zone.date(Moment(site.now())));
    let page = clerk.get(&format!("{card}?tab=security")).page();
    assert!(page.contains(&format!("min=\"{today}\"")), "the field offers what is accepted: {page}");
    let refused = clerk.post(&format!("{card}/ban"), &[("reason", "ran in the flyer's way"), ("until", &yesterday)]);
    let page = refused.page();
    assert!(refused.status == 422 && page.contains("must be today or later"), "{page}");
    assert!(page.contains("value=\"ran in the flyer&#39;s way\"") && page.contains(&yesterday), "{page}");
    let banned = clerk.post(&format!("{card}/ban"), &[("reason", "x"), ("until", &today)]);
    assert_eq!(banned.status, 303, "{banned}");
}

#[test]
fn the_card_says_since_when_a_member_is_here() {
    let site = demo();
    let (jane, clerk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let booking = book(&site, &jane, 60);
    assert_eq!(clerk.post(&format!("/desk/bookings/{booking}/check-in"), &[]).status, 303);
    let clock = site.inside().time_zone().unwrap().clock(Moment(site.now()));
    let page = clerk.get(&format!("/desk/members/{}", jane.id)).page();
    assert!(page.contains(&format!("Here since {clock}<")), "{page}");
}

#[test]
fn flight_time_that_was_deleted_in_another_window_is_deleted() {
    let site = demo();
    let (jane, clerk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let entry: i64 = {
        let date = site.inside().time_zone().unwrap().date(Moment(site.now()));
        let form = [("minutes", "12"), ("date", date.as_str())];
        assert_eq!(clerk.post(&format!("/desk/members/{}/time", jane.id), &form).status, 303);
        site.change(|tx| Ok(tx.get("SELECT max(entry_id) FROM entries WHERE kind = 'time'", [])?))
    };
    let delete = || clerk.post(&format!("/desk/members/{}/time/{entry}/delete", jane.id), &[]);
    let first = delete().header("location").map(str::to_owned);
    assert!(first.as_deref().is_some_and(|to| to.contains("done=deleted")), "{first:?}");
    assert_eq!(delete().header("location").map(str::to_owned), first);
}
