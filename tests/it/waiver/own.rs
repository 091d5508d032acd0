//! The waiver and the family on a member's own pages.

use super::{GOOD, YEAR, demand, on, put};
use crate::harness::Site;
use crate::member::own_pages;

#[test]
fn a_guardian_sees_the_card_of_each_child_and_one_way_to_sign_for_all() {
    let site = Site::open_with(on);
    demand(&site);
    let (mother, child, mark) = (site.flyer("mother"), site.member("ada"), site.member("mark"));
    site.born(&mother, site.now() - 40 * YEAR);
    site.born(&child, site.now() - 10 * YEAR);
    site.change(|tx| {
        let sql = "INSERT INTO guardianships (child_id, guardian_id, relation, made_at) VALUES (?1, ?2, 'parent', 1)";
        Ok(tx.run(sql, (child.id, mother.id))?)
    });
    let browser = own_pages(&site, &mother);
    assert!(browser.get("/me").page().contains("href=\"/me/waiver\""));
    let page = browser.get("/me/waiver").page();
    let card = format!("QR code with the member number {}", child.id);
    assert!(page.contains(&card) && page.contains(&format!("</span>{}</p>", child.id)), "{page}");
    assert!(page.contains("action=\"/me/waiver\"") && page.contains("Sign the waiver"), "{page}");
    let sign = browser.post("/me/waiver", &[]);
    assert!(sign.header("location").is_some_and(|place| place.starts_with("/sign?")), "{sign}");
    assert!(!own_pages(&site, &mark).get("/me/waiver").page().contains(&card), "somebody else's child");
}

#[test]
fn a_signed_waiver_says_until_when_and_is_a_file_for_its_flyer_alone() {
    let site = Site::open_with(on);
    demand(&site);
    let (jane, mark) = (site.flyer("jane"), site.member("mark"));
    put(&site, &jane, &GOOD);
    let browser = own_pages(&site, &jane);
    let page = browser.get("/me/waiver").page();
    assert!(page.contains("signed, in force") && page.contains("Sign it anew"), "{page}");
    let number: i64 = site.change(|tx| Ok(tx.get("SELECT max(signature_id) FROM waiver_signatures", [])?));
    let path = format!("/me/waiver.pdf?number={number}");
    assert!(page.contains(&path), "{page}");
    let pdf = browser.get(&path);
    assert_eq!((pdf.status, pdf.header("content-type")), (200, Some("application/pdf")), "{pdf}");
    assert_eq!(pdf.header("cache-control"), Some("no-store"));
    assert_eq!(own_pages(&site, &mark).get(&path).status, 404);
    assert_eq!(browser.get("/me/waiver.pdf").status, 404);
}

#[test]
fn a_consent_is_withdrawn_by_who_gave_it() {
    let site = Site::open_with(on);
    let admin = demand(&site);
    let form = [("kind", "photos"), ("language", "en"), ("title", "Photos"), ("body", "You may show me.")];
    assert_eq!(admin.post("/desk/texts/edit", &form).status, 303);
    assert_eq!(admin.post("/desk/texts/publish", &[("kind", "photos"), ("asks_again", "on")]).status, 303);
    let (jane, mark) = (site.flyer("jane"), site.member("mark"));
    site.change(|tx| {
        let sql = "INSERT INTO consents (member_id, kind, given, version, language, text_hash, said_at, place)
                   VALUES (?1, 'photos', 1, 1, 'en', zeroblob(32), ?2, 'kiosk')";
        Ok(tx.run(sql, (jane.id, tx.now()))?)
    });
    let given = || -> Vec<i64> {
        site.change(|tx| Ok(tx.list("SELECT given FROM consents WHERE member_id = ?1 ORDER BY consent_id", [jane.id])?))
    };
    let browser = own_pages(&site, &jane);
    assert!(browser.get("/me/waiver").page().contains("Photos and videos: agreed, "));
    let withdraw = |kind: &str| browser.post("/me/waiver/consents", &[("kind", kind)]);
    assert_eq!(withdraw("waiver").status, 404);
    own_pages(&site, &mark).post("/me/waiver/consents", &[("kind", "photos")]);
    assert_eq!(given(), [1], "somebody else withdraws nothing");
    for place in ["/me/waiver?done=withdrawn", "/me/waiver"] {
        assert_eq!(withdraw("photos").header("location"), Some(place));
        assert_eq!(given(), [1, 0]);
    }
    let page = browser.get("/me/waiver").page();
    assert!(page.contains("Photos and videos: not agreed, ") && !page.contains("/me/waiver/consents"), "{page}");
}

#[test]
fn a_site_without_waivers_has_no_such_page() {
    let site = crate::desk::demo();
    let browser = own_pages(&site, &site.flyer("jane"));
    for path in ["/me/waiver", "/me/waiver.pdf?number=1"] {
        assert_eq!(browser.get(path).status, 404, "{path}");
    }
    for path in ["/me", "/me/card"] {
        assert!(!browser.get(path).page().contains("/me/waiver"), "{path}");
    }
}
