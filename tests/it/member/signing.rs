//! Signing on one's own telephone.

use super::own_pages;
use crate::desk::demo;
use crate::harness::{Caller, PASSWORD, Site};

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
