//! The page behind the QR code: what it shows a stranger of a certificate, and what it does not.

use crate::harness::{Caller, Reply, Site, sheets};
use http::Method;
use serde_json::json;

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

/// A certificate issued to a new member of this name.
fn issued(site: &Site, real_name: &str) -> (Caller, String) {
    let holder = site.member(&format!("holder{}", site.next_number()));
    let sql = "UPDATE members SET screen_name = 'Secret Nickname', real_name = ?2 WHERE member_id = ?1";
    site.change(|tx| Ok(tx.run(sql, (holder.id, real_name))?));
    site.hold(&holder, "Flyer", "3", "Static", site.now());
    let row = holder.get("/account/profile/certificate-list").ok().json()[0].clone();
    holder.post("/account/profile/get-certificate", row).ok();
    let code = site.codes(&holder).remove(0);
    (holder, code)
}

fn look(site: &Site, code: &str, accept: &str) -> Reply {
    let stranger = site.stranger();
    stranger.ask_at_root(Method::GET, &format!("/verify/{code}")).header("accept", accept).send()
}

fn page(reply: &Reply) -> String {
    assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"), "{reply}");
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    assert!(reply.header("vary").unwrap().contains("accept"), "{reply}");
    String::from_utf8(reply.body.clone()).unwrap()
}

#[test]
fn a_program_gets_json_and_a_browser_a_page() {
    let site = Site::open();
    let (_, code) = issued(&site, "Jane <b>&amp; \"Mark\"</b> {facts}");
    for accept in ["*/*", "application/json", "text/html;q=0.5, application/json"] {
        let verdict = look(&site, &code, accept).ok().json();
        let told = json!({ "status": true, "valid": true, "message": "This certificate is valid.", "level": "Static Level 3",
                           "holder": "Jane <b>&amp; \"Mark\"</b> {facts}", "entry_date": site.now(), "site": "Windwerk" });
        assert_eq!(verdict, told);
    }
    let html = page(&look(&site, &code, BROWSER).ok());
    assert!(html.contains("Jane &#60;b&#62;&#38;amp; &#34;Mark&#34;&#60;/b&#62; {facts}"), "{html}");
    for part in ["Static Level 3", "28 May 2026", "Windwerk", "This certificate is valid."] {
        assert!(html.contains(part), "{part} is not in {html}");
    }
    for inline in ["<b>", "style=", "<style", "<script", "onload", "Secret", "@example.com"] {
        assert!(!html.contains(inline), "{inline} is in {html}");
    }
    for sheet in sheets(&html) {
        let style = site.stranger().ask_at_root(Method::GET, &sheet).send().ok();
        assert_eq!(style.header("content-type"), Some("text/css; charset=utf-8"));
    }
}

#[test]
fn its_day_is_the_day_of_the_site() {
    let site = Site::open();
    let (holder, code) = issued(&site, "Jane");
    let said = |zone: &str| {
        site.change(
            |tx| Ok(tx.run("UPDATE tunnels SET time_zone = ?2 WHERE tunnel_id = ?1", (Site::TUNNEL_ID, zone))?),
        );
        let row = holder.get("/account/profile/certificate-list").ok().json()[0].clone();
        let pdf = holder.post("/account/profile/get-certificate", row).ok().json();
        (page(&look(&site, &code, BROWSER).ok()), pdf)
    };
    let ((west, on_paper_west), (east, on_paper_east)) = (said("Pacific/Pago_Pago"), said("Pacific/Kiritimati"));
    let day = |html: &str| ["27 May 2026", "28 May 2026", "29 May 2026"].iter().position(|day| html.contains(day));
    assert_eq!(day(&west).unwrap() + 1, day(&east).unwrap(), "25 hours lie between them: {west} {east}");
    assert_ne!(on_paper_west, on_paper_east);
}

#[test]
fn a_code_is_read_as_it_is_printed_and_a_wrong_one_is_404() {
    let site = Site::open();
    let (_, code) = issued(&site, "Jane");
    let printed: Vec<String> =
        code.to_uppercase().as_bytes().chunks(4).map(|four| String::from_utf8(four.to_vec()).unwrap()).collect();
    look(&site, &printed.join("-"), "*/*").ok();
    let other = if code.starts_with('0') { "1" } else { "0" };
    for wrong in [&*format!("{other}{}", &code[1..]), &code[1..], "x", "%00", "..%2f..", &"0".repeat(5000)] {
        look(&site, wrong, "*/*").refused(404);
        let html = page(&look(&site, wrong, BROWSER));
        assert!(html.contains("There is no certificate with this number"), "{html}");
    }
    assert_eq!(look(&site, "x", BROWSER).status, 404);
}

#[test]
fn each_certificate_has_a_code_of_its_own_that_another_site_does_not_share() {
    let (site, other) = (Site::open(), Site::another());
    let codes = [issued(&site, "Jane").1, issued(&site, "Jane").1, issued(&other, "Jane").1];
    assert!(codes[0] != codes[1] && codes[0] != codes[2] && codes.iter().all(|code| code.len() == 24), "{codes:?}");
    look(&other, &codes[0], "*/*").refused(404);
}

#[test]
fn suspending_a_level_voids_its_certificate_and_reinstating_it_restores_it() {
    let site = Site::open();
    let (jane, code) = issued(&site, "Jane");
    let valid = || look(&site, &code, "*/*").ok().json()["valid"].clone();
    let change = |sql: &str| site.change(|tx| Ok(tx.run(sql, [jane.id])?));
    assert_eq!(valid(), true);
    change("UPDATE holdings SET since = since + 1 WHERE member_id = ?1");
    assert_eq!(valid(), false);
    change("UPDATE holdings SET since = since - 1 WHERE member_id = ?1");
    assert_eq!(valid(), true);
    change("DELETE FROM holdings WHERE member_id = ?1");
    let told = look(&site, &code, "*/*").ok().json();
    assert_eq!((&told["valid"], &told["message"]), (&json!(false), &json!("This certificate is no longer valid.")));
    assert!(page(&look(&site, &code, BROWSER).ok()).contains("no longer valid"));
}

#[test]
fn the_certificate_of_an_erased_member_is_void_and_shows_no_name() {
    let site = Site::open();
    let (jane, code) = issued(&site, "Jane");
    site.change(|tx| Ok(tx.run("UPDATE certificates SET member_id = NULL WHERE member_id = ?1", [jane.id])?));
    let told = look(&site, &code, "*/*").ok().json();
    assert_eq!((&told["valid"], &told["holder"]), (&json!(false), &json!("")));
    assert!(!page(&look(&site, &code, BROWSER).ok()).contains("Jane"));
}

#[test]
fn the_page_speaks_the_reader_s_language() {
    let site = Site::open();
    let (_, code) = issued(&site, "Jane");
    let languages = [
        ("de", "gültig", "Static Level 3 (Statik Stufe 3)"),
        ("fr", "valable", "Static Level 3 (Statique Niveau 3)"),
        ("es", "válido", "Static Level 3 (Estático Nivel 3)"),
    ];
    for (tag, words, level) in languages {
        let path = format!("/verify/{code}");
        let stranger = site.stranger();
        let asking = stranger.ask_at_root(Method::GET, &path).header("accept", BROWSER);
        let reply = asking.header("accept-language", tag).send().ok();
        let html = page(&reply);
        assert!([words, level, &format!("lang=\"{tag}\"")].iter().all(|part| html.contains(part)), "{reply}");
    }
}
