//! The badge of the waiver on the card of a member.

use super::{Clerk, GOOD, Paper, Site, demand, on, put};

#[test]
fn the_card_says_how_the_waiver_stands() {
    let site = Site::open_with(on);
    let (jane, clerk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let card = || clerk.get(&format!("/desk/members/{}", jane.id)).page();
    let says = |words: &str| {
        let page = card();
        assert!(page.contains(&format!("\">{words}</span></a>")), "{words}: {page}");
    };
    says("No text published yet");
    demand(&site);
    says("missing");
    put(&site, &jane, &Paper { answer: "y", ..GOOD });
    says("waits for a decision");
    let card = format!("/desk/members/{}/waiver", jane.id);
    assert_eq!(clerk.post(&format!("{card}/override"), &[("reason", "asked by phone")]).status, 303);
    says("not needed today");
    put(&site, &jane, &Paper { answer: "y", decision: Some(false), ..GOOD });
    site.change(|tx| Ok(tx.run("DELETE FROM waiver_overrides", [])?));
    says("Does not fly");
    put(&site, &jane, &Paper { version: 1, ..GOOD });
    says("to be signed again");
    put(&site, &jane, &GOOD);
    says("in force");
}

#[test]
fn a_newcomer_at_the_desk_is_led_to_the_waiver_and_from_it_to_the_check_in() {
    let site = Site::open_with(on);
    let admin = demand(&site);
    let made = admin.post(
        "/desk/new-member",
        &[
            ("real_name", "Ada New"),
            ("dob", "1995-12-10"),
            ("language", "en"),
            ("terms", "1"),
            ("number", "7"),
            ("minutes", "10"),
        ],
    );
    let place = made.header("location").expect("a page").to_owned();
    let card = place.split("/welcome").next().unwrap();
    let waiver = format!("{card}/waiver");
    let page = admin.get(&place).page();
    assert!(
        page.contains("The waiver must be signed before the check-in") && page.contains(&format!("href=\"{waiver}\"")),
        "{page}"
    );
    let check_in = || {
        let page = admin.get(&waiver).page();
        let form = page.split("action=\"/desk/bookings/").nth(1)?;
        Some(format!("/desk/bookings/{}", form.split('"').next()?))
    };
    assert_eq!(check_in(), None, "nothing is offered that would be refused");
    let id = card.rsplit('/').next().unwrap();
    let answer = format!("answer_{id}_1");
    let form = [("version", "2"), ("language", "en"), ("signer_name", "Ada"), (&*answer, "n")];
    assert_eq!(admin.post(&waiver, &form).status, 303);
    let offered = check_in().expect("the flight of today");
    assert_eq!(admin.post(&offered, &[]).status, 303);
    assert_eq!(check_in(), None);
    assert!(!admin.get(&format!("{card}/welcome")).page().contains(&format!("href=\"{waiver}\"")));
}
