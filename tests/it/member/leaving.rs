//! Leaving: a week to take it back, in which nothing else works; who may not leave; and what is kept of a ban.

use super::own_pages;
use crate::desk::kiosk::paired;
use crate::desk::{Clerk, demo};
use crate::harness::{Caller, PASSWORD, Site};
use serde_json::json;
use std::time::Duration;

const PATH: &str = "/me/leaving";
const DAY: Duration = Duration::from_secs(86_400);

/// Runs what the server does each minute.
fn minute(site: &Site) {
    tunneldesk::jobs::purge_all_expired(site.inside()).unwrap();
}

fn is_erased(site: &Site, member: &Caller) -> bool {
    let sql = "SELECT EXISTS (SELECT 1 FROM erasures WHERE member_id = ?1)";
    site.change(|tx| Ok(tx.get(sql, [member.id])?))
}

fn ask(site: &Site, who: &Caller) -> Clerk {
    let browser = own_pages(site, who);
    let asked = browser.post(PATH, &[]);
    assert_eq!(asked.header("location"), Some(PATH), "{asked}");
    browser
}

#[test]
fn for_a_week_a_sign_in_only_takes_it_back_and_then_the_account_is_gone() {
    let site = demo();
    let jane = site.flyer("jane");
    let pin = site.pin(&jane);
    let other = own_pages(&site, &jane);
    let browser = own_pages(&site, &jane);
    let page = browser.get(PATH).page();
    assert!(page.contains("A week to change your mind") && page.contains("without your name"), "{page}");
    site.advance(Duration::from_secs(11 * 60));
    let asks = browser.post(PATH, &[]);
    assert_eq!(asks.header("location"), Some("/me/account/prove?to=%2Fme%2Fleaving"), "an old proof is none: {asks}");
    browser.post("/me/account/prove", &[("password", PASSWORD), ("to", PATH)]);
    for _ in 0..2 {
        assert_eq!(browser.post(PATH, &[]).header("location"), Some(PATH));
    }
    assert!(browser.get(PATH).page().contains("Keep my account"));
    assert_eq!(other.get("/me").header("location"), Some("/me/sign-in"), "other devices are signed out");
    for page in ["/me", "/me/logbook", "/me/account/email", "/me/account/data.json"] {
        assert_eq!(browser.get(page).header("location"), Some(PATH), "{page}");
    }
    let changed = browser.post("/me/account/email", &[("email", "new@example.org"), ("password", PASSWORD)]);
    assert_eq!(changed.header("location"), Some(PATH), "a change of address stops nothing: {changed}");
    assert_eq!(jane.get("/account/profile/user").status, 401, "the app's session has ended");
    let login = site.stranger().post("/auth/login", json!({ "username": jane.name, "password": PASSWORD })).ok_json();
    assert!(login["status"] == false && login["message"].as_str().unwrap().contains("own pages"), "{login}");
    let id = jane.id.to_string();
    let kiosk = paired(&site).post("/kiosk/number", &[("number", &id), ("pin", &pin)]);
    assert_ne!(kiosk.header("location"), Some("/kiosk/home"), "the PIN has ended");

    site.advance(6 * DAY);
    minute(&site);
    assert!(!is_erased(&site, &jane));
    let back = own_pages(&site, &jane);
    assert_eq!(back.get("/me").header("location"), Some(PATH));
    assert_eq!(back.post("/me/leaving/stop", &[]).header("location"), Some("/me/account?done=stays"));
    assert_eq!((back.get("/me").status, browser.get("/me").status), (200, 200));
    site.advance(2 * DAY);
    minute(&site);
    assert!(!is_erased(&site, &jane), "it was taken back");

    ask(&site, &jane);
    site.advance(7 * DAY);
    minute(&site);
    assert!(is_erased(&site, &jane));
    let refused = Clerk::outside(&site).post("/me/sign-in", &[("username", &jane.name), ("password", PASSWORD)]);
    assert_eq!(refused.status, 422, "{refused}");
}

#[test]
fn every_address_is_told_and_the_link_to_a_replaced_one_takes_it_back() {
    let site = demo();
    let jane = site.member("jane");
    site.change(|tx| {
        let sql = "UPDATE members SET email = 'owner@example.org', phone = '+41791234567', phone_confirmed_at = 1 WHERE member_id = ?1";
        Ok(tx.run(sql, [jane.id])?)
    });
    // A thief with the password changes the address first.
    let thief = own_pages(&site, &jane);
    thief.post("/me/account/email", &[("email", "thief@example.org"), ("password", PASSWORD)]);
    let code = site.mails().pop().expect("a mail")["values"]["passcode"].as_str().unwrap().to_owned();
    let taken = thief.post("/me/account/email/code", &[("email", "thief@example.org"), ("code", &code)]);
    assert_eq!(taken.header("location"), Some("/me/account?done=email"), "{taken}");
    site.advance(Duration::from_secs(60));
    assert_eq!(thief.post(PATH, &[]).header("location"), Some(PATH));
    let told: Vec<(String, String)> = site
        .mails()
        .into_iter()
        .filter(|one| one["values"]["event"] == "leaving")
        .map(|one| {
            (one["recipient"].as_str().unwrap().to_owned(), one["values"]["token"].as_str().unwrap_or("").to_owned())
        })
        .collect();
    for address in ["owner@example.org", "thief@example.org", "+41791234567"] {
        assert!(told.iter().any(|(to, _)| to == address), "{address}: {told:?}");
    }
    let token = &told.iter().find(|(to, _)| to == "owner@example.org").unwrap().1;
    let undone = Clerk::outside(&site).post("/undo", &[("token", token)]);
    assert!(undone.status == 200 && undone.page().contains("The change is undone"), "{undone}");
    assert_eq!(thief.get("/me").status, 303);
    let reach = "SELECT email FROM members WHERE member_id = ?1 AND leaves_at IS NULL AND password_hash IS NULL";
    assert_eq!(site.change(|tx| Ok(tx.find::<String>(reach, [jane.id])?)).as_deref(), Some("owner@example.org"));
    site.advance(8 * DAY);
    minute(&site);
    assert!(!is_erased(&site, &jane));
}

#[test]
fn the_last_admin_stays_and_a_second_one_goes_with_the_role() {
    let site = Site::open();
    let anna = site.protect(&site.admin());
    let sign_in = |admin: &crate::harness::Protected| {
        let browser = Clerk::outside(&site);
        browser.post("/me/sign-in", &[("username", &admin.member.name), ("password", PASSWORD)]);
        let code = admin.authenticator.code(site.now());
        let form = [("username", &*admin.member.name), ("code", &code)];
        assert_eq!(browser.post("/me/sign-in/code", &form).status, 303);
        browser
    };
    let browser = sign_in(&anna);
    let refused = browser.post(PATH, &[]);
    assert!(refused.status == 403 && refused.page().contains("only admin"), "{refused}");
    let berta = site.member("berta");
    site.change(|tx| Ok(tx.run("UPDATE members SET role = 'admin' WHERE member_id = ?1", [berta.id])?));
    assert_eq!(browser.post(PATH, &[]).header("location"), Some(PATH));
    // The other admin is banned meanwhile, so the first one is needed again.
    site.change(|tx| Ok(tx.run("UPDATE members SET banned_at = 1 WHERE member_id = ?1", [berta.id])?));
    site.advance(8 * DAY);
    minute(&site);
    assert!(!is_erased(&site, &anna.member));
    site.change(|tx| Ok(tx.run("UPDATE members SET banned_at = NULL WHERE member_id = ?1", [berta.id])?));
    let again = sign_in(&anna);
    assert_eq!(again.post(PATH, &[]).header("location"), Some(PATH));
    site.advance(8 * DAY);
    minute(&site);
    assert!(is_erased(&site, &anna.member));
}

#[test]
fn a_ban_outlives_the_account_under_the_hash_of_its_address() {
    let site = demo();
    let jane = site.member("jane");
    site.change(|tx| Ok(tx.run("UPDATE members SET email = 'jane@example.org' WHERE member_id = ?1", [jane.id])?));
    ask(&site, &jane);
    let until = site.now() + 20 * 86_400;
    site.change(|tx| {
        let ban = "UPDATE members SET banned_at = ?2, banned_until = ?3 WHERE member_id = ?1";
        Ok(tx.run(ban, (jane.id, tx.now(), until))?)
    });
    site.advance(8 * DAY);
    minute(&site);
    assert!(is_erased(&site, &jane), "a ban keeps nobody's data");
    let kept = || site.change(|tx| Ok(tx.get::<i64>("SELECT count(*) FROM kept_bans", [])?));
    assert_eq!(kept(), 1);
    let again = |name: &str, address: &str| {
        let member = site.member(name);
        site.change(|tx| {
            let claim = "UPDATE members SET email = ?2, email_confirmed_at = NULL WHERE member_id = ?1";
            Ok(tx.run(claim, (member.id, address))?)
        });
        site.shell(&["member", "confirm", name]);
        let ban = "SELECT banned_until FROM members WHERE member_id = ?1 AND banned_at IS NOT NULL";
        site.change(|tx| Ok(tx.find::<i64>(ban, [member.id])?))
    };
    assert_eq!(again("mark", "mark@example.org"), None);
    assert_eq!((again("jane2", "Jane@example.org"), kept()), (Some(until), 0), "the ban is the new account's");
    site.advance(13 * DAY);
    minute(&site);
    let banned = "SELECT count(*) FROM members WHERE username = 'jane2' AND banned_at IS NOT NULL";
    assert_eq!(site.change(|tx| Ok(tx.get::<i64>(banned, [])?)), 0, "and ends as it was to");
}

#[test]
fn whoever_asks_and_takes_it_back_again_and_again_is_stopped_before_the_addresses_are_flooded() {
    let site = demo();
    let jane = site.flyer("jane");
    let browser = own_pages(&site, &jane);
    let asked: Vec<u16> = (0..8)
        .map(|_| {
            let asked = browser.post(PATH, &[]).status;
            browser.post(&format!("{PATH}/stop"), &[]);
            asked
        })
        .collect();
    assert_eq!(asked, [303, 303, 303, 303, 303, 429, 429, 429]);
}
