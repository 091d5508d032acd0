//! Every own page in a real Chromium, as the pages of the desk are judged.

use super::own_pages;
use crate::desk::{HOSTILE, book, pages};
use crate::harness::{Browser, PASSWORD, Site};
use serde_json::json;

#[test]
fn every_own_page_is_accessible_and_small() {
    let site = Site::open_with(|config| (config.yearly_fee_cents, config.waiver.required) = (3_000, true));
    let jane = site.flyer("jane");
    site.change(|tx| {
        let text = "INSERT INTO site_texts VALUES ('waiver', 1, 'en', 'Waiver', 'At my own risk.', '', zeroblob(32), 1, ?1, NULL)";
        tx.run(text, [tx.now() - 1])?;
        let unconfirmed = "UPDATE members SET screen_name = ?2, email_confirmed_at = NULL WHERE member_id = ?1";
        Ok(tx.run(unconfirmed, (jane.id, HOSTILE))?)
    });
    site.note(&jane, "notice.password_changed", json!({}));
    for at in [90_000, 400_000, -90_000] {
        book(&site, &jane, at);
    }
    site.brief(&jane, "Flyer");
    let ines = site.signer("ines", &[("Instructor", "4")]);
    let entry = site.ask_for(&jane, "10102", &ines);
    let denied = json!({ "comment_denial": format!("late stops {HOSTILE}") });
    ines.post(&format!("/account/logbook/entries/{entry}/deny"), denied).ok();
    let entry: &'static str = format!("/me/logbook/entries/{entry}").leak();
    let child = site.member("ada");
    site.change(|tx| {
        tx.run(
            "UPDATE members SET real_name = 'Ada Kind', dob = ?2 WHERE member_id = ?1",
            (child.id, tx.now().0 / 86_400 * 86_400 - 4_000 * 86_400),
        )?;
        let sql = "INSERT INTO guardianships (child_id, guardian_id, relation, made_at) VALUES (?1, ?2, 'parent', ?3)";
        Ok(tx.run(sql, (child.id, jane.id, tx.now()))?)
    });
    book(&site, &child, 90_000);
    let child: &'static str = format!("/me/children/{}", child.id).leak();
    let browser = Browser::open();
    browser.resize(1280, 800, false);
    browser.go(&format!("{}/me/sign-in", site.origin()));
    let page = |name, path, shows| pages::Page { name, path, shows };
    pages::look(&site, &browser, &page("own-sign-in", "/me/sign-in?ended=1", "Please begin again"));
    let fill = "const [name, password] = arguments, form = document.forms[0];
                form.username.value = name; form.password.value = password; form.requestSubmit()";
    browser.run(fill, json!([jane.name, PASSWORD]));
    browser.wait("return location.pathname === '/me'");
    for shown in [
        page("own-home", "/me", "Sign the waiver"),
        page("own-card", "/me/card", "Make a code"),
        page("own-logbook", "/me/logbook", "Add flight time"),
        page("own-time", "/me/logbook/time", "Minutes (12)"),
        page("own-skills", "/me/logbook/sign-off", "Which skill did you show?"),
        page("own-signers", "/me/logbook/sign-off/10101", "A tap sends the request"),
        page("own-entry", entry, "Fix and ask again"),
        page("own-papers", "/me/papers", "The logbook as PDF"),
        page("own-bookings", "/me/bookings", "Can be cancelled until"),
        page("own-payments", "/me/payments", "No payments yet"),
        page("own-notices", "/me/notices", "Mark all as read"),
        page("own-family", "/me/waiver", "Waiver and family"),
        page("own-account", "/me/account", "Make a new PIN"),
        page("own-profile", "/me/account/profile", "Name that others see"),
        page("own-photo", "/me/account/photo", "My photo"),
        page("own-email", "/me/account/email", "Send a code"),
        page("own-phone", "/me/account/phone", "Your telephone number"),
        page("own-security", "/me/account/security", "Set up an authenticator app"),
        page("own-prove", "/me/account/prove", "Confirm that it is you"),
        page("own-questions", "/me/account/questions", "Answer a question"),
        page("own-leaving", "/me/leaving", "A week to change your mind"),
        page("own-child", child, "Ada Kind"),
        page("own-refusal", "/me/nothing", "There is nothing here"),
    ] {
        pages::look(&site, &browser, &shown);
    }
    browser.go(&format!("{}/me/card", site.origin()));
    browser.run("document.querySelector('form[action$=\"/code\"]').requestSubmit()", json!([]));
    browser.wait("return document.querySelectorAll('.code-picture').length === 2");
    pages::judge(&browser, "own-kiosk-code");

    let protected = site.protect(&site.member("mark"));
    browser.order("/cookie", json!({ "cookie": { "name": "me", "value": "x", "path": "/me" } }));
    browser.go(&format!("{}/me/sign-in", site.origin()));
    browser.run(fill, json!([protected.member.name, PASSWORD]));
    browser.wait("return location.pathname === '/me/sign-in/code'");
    pages::look(&site, &browser, &page("own-code", "/me/sign-in/code", "Your code"));
    site.ask_for(&site.member("kim"), "10101", &ines);
    browser.order("/cookie", json!({ "cookie": { "name": "me", "value": "x", "path": "/me" } }));
    browser.go(&format!("{}/me/sign-in", site.origin()));
    browser.run(fill, json!([ines.name, PASSWORD]));
    browser.wait("return location.pathname === '/me'");
    pages::look(&site, &browser, &page("own-signing", "/me/signing", "What your signature attests"));
    pages::look(&site, &browser, &page("own-record", "/me/signing/record", "Member numbers of the students"));
    assert_eq!(own_pages(&site, &jane).get("/me").status, 200, "Jane was not signed out elsewhere");
}
