//! A session that ends while a clerk types: what was typed is there again after the sign-in, in a real Chromium.

use super::{day, demo};
use crate::harness::{Browser, Caller, PASSWORD, Site};
use serde_json::json;

fn sign_in(browser: &Browser, who: &Caller) {
    browser.wait("return document.activeElement?.id === 'username' && document.readyState === 'complete'");
    browser.run(
        "const form = document.forms[0]; [form.username.value, form.password.value] = arguments; form.requestSubmit()",
        json!([who.name, PASSWORD]),
    );
    browser.wait("return !location.pathname.startsWith('/desk/sign-in') && document.readyState === 'complete'");
}

/// Ends the session as a night does.
fn end_sessions(site: &Site, who: &Caller) {
    site.change(|tx| Ok(tx.run("DELETE FROM sessions WHERE member_id = ?1", [who.id])?));
}

#[test]
fn what_was_typed_when_the_session_had_ended_is_there_again_after_the_sign_in() {
    let site = demo();
    day(&site);
    let desk = site.desk();
    let browser = Browser::open();
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    sign_in(&browser, &desk);
    let send = |path: &str, script: &str| {
        browser.go(&format!("{}{path}", site.origin()));
        end_sessions(&site, &desk);
        browser.run(script, json!([]));
        browser.wait("return location.pathname === '/desk/sign-in'");
        assert!(browser.text().contains("what you sent was not saved"), "{}", browser.text());
        sign_in(&browser, &desk);
    };

    let typed = "const one = document.querySelector('form[action$=\"/note\"]'); one.text.value = 'came by bus'; one.requestSubmit()";
    send("/desk/members/1", typed);
    assert_eq!(browser.path(), "/desk/members/1");
    browser.wait("return document.querySelector('form[action$=\"/note\"]').text.value === 'came by bus'");
    assert!(browser.text().contains("what you typed is here"), "{}", browser.text());
    assert_eq!(browser.focused(), "Save note");
    browser.run("document.activeElement.click()", json!([]));
    browser.wait("return document.querySelector('[role=status]')?.innerText === 'The note is saved.'");
    browser.go(&format!("{}/desk/members/1", site.origin()));
    assert!(!browser.text().contains("what you typed is here"), "{}", browser.text());

    // A password is not kept, and ticks are.
    let typed = "const one = document.querySelector('form[action=\"/desk/members/1/record\"]');
        one.querySelector('[type=checkbox]').click(); one.username.value = 'ines'; one.password.value = 'secret'; one.noValidate = true; one.requestSubmit()";
    send("/desk/members/1/record", typed);
    let there = "const one = document.querySelector('form[action=\"/desk/members/1/record\"]');
        return [one.querySelector('[type=checkbox]').checked, one.username.value, one.password.value].join(' ')";
    assert_eq!(browser.run(there, json!([])), "true ines ");

    // A form that was refused stands on a page without an address of its own.
    browser.go(&format!("{}/desk/members/1", site.origin()));
    let wrong = "const one = document.querySelector('#add-time form'); one.noValidate = true; one.minutes.value = 'x'; one.requestSubmit()";
    browser.run(wrong, json!([]));
    browser.wait("return location.pathname === '/desk/members/1/time' && !!document.querySelector('#problem')");
    end_sessions(&site, &desk);
    browser.run(
        "const one = document.querySelector('#add-time form'); one.minutes.value = '17'; one.requestSubmit()",
        json!([]),
    );
    browser.wait("return location.pathname === '/desk/sign-in'");
    sign_in(&browser, &desk);
    assert_eq!(browser.path(), "/desk/members/1");
    browser.wait("return document.getElementById('minutes').value === '17'");
    // A browser notes each refused form.
    let complaints: Vec<String> =
        browser.complaints().into_iter().filter(|line| !line.contains("status of 422")).collect();
    assert_eq!(complaints, [""; 0]);
}
