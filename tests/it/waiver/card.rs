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
