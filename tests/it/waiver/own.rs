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
