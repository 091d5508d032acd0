//! A session that ends while a clerk types, and a form that is refused for a reason without a field: what was typed is there
//! again, for the same clerk, in a real Chromium.

use super::{Clerk, day, demo};
use crate::harness::{Browser, Caller, PASSWORD, Site};
use serde_json::json;
use tunneldesk::store::tables::partners;

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

/// Whether a text is anywhere on the page, in a field, or in what the browser keeps for the tab.
fn knows(browser: &Browser, text: &str) -> bool {
    let script = "return [document.body.innerText, sessionStorage.kept, ...[...document.querySelectorAll('input, textarea')].map(one => one.value)]
        .some(one => one?.includes(arguments[0]))";
    browser.run(script, json!([text])) == true
}

#[test]
fn what_a_clerk_typed_is_not_shown_to_another_clerk_in_the_same_tab() {
    let site = demo();
    day(&site);
    let (desk, admin) = (site.desk(), site.admin());
    let browser = Browser::open();
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    sign_in(&browser, &desk);
    let type_note = "const one = document.querySelector('form[action$=\"/note\"]'); one.text.value = 'owes me ten francs'; one.requestSubmit()";
    let lose = || {
        browser.go(&format!("{}/desk/members/1", site.origin()));
        end_sessions(&site, &desk);
        browser.run(type_note, json!([]));
        browser.wait("return location.pathname === '/desk/sign-in'");
        assert!(knows(&browser, "owes me ten francs"));
    };
    lose();
    sign_in(&browser, &admin);
    browser.wait("return location.pathname === '/desk/members/1' && document.readyState === 'complete'");
    assert!(!knows(&browser, "owes me ten francs"), "{}", browser.text());
    assert!(!browser.text().contains("what you typed is here"), "{}", browser.text());
    // The first clerk does not get it back later either.
    browser.run("document.querySelector('.who button').click()", json!([]));
    browser.wait("return location.pathname === '/desk/sign-in'");
    sign_in(&browser, &desk);
    assert!(!knows(&browser, "owes me ten francs"));
}

#[test]
fn signing_out_forgets_what_was_typed() {
    let site = demo();
    day(&site);
    let desk = site.desk();
    let browser = Browser::open();
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    sign_in(&browser, &desk);
    // The note is sent from one page, and the clerk signs out on another before the answer comes.
    browser.run("sessionStorage.kept = JSON.stringify({ fields: [['text', 'owes me ten francs']] })", json!([]));
    let both = "dispatchEvent(new Event('pageshow')); const note = Object.assign(document.createElement('form'), { method: 'post' });
        note.setAttribute('action', '/desk/members/1/note'); note.innerHTML = '<input name=text value=\"owes me ten francs\">'; document.body.append(note);
        note.addEventListener('submit', event => event.preventDefault()); note.requestSubmit(); document.querySelector('.who button').click()";
    browser.run(both, json!([]));
    browser.wait("return location.pathname === '/desk/sign-in' && document.readyState === 'complete'");
    assert!(!knows(&browser, "owes me ten francs"), "the browser keeps it after the clerk has signed out");
}

#[test]
fn a_form_refused_without_a_field_is_there_again_with_the_reason_beside_it() {
    let site = demo();
    let client = site.partner().client_id().to_owned();
    let partner = site.change(|tx| Ok(partners::find(tx, &client)?.expect("it was made").partner_id));
    let (admin, card) = (site.admin(), format!("/desk/partners/{partner}"));
    let browser = Browser::open();
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    sign_in(&browser, &admin);

    browser.go(&format!("{}{card}", site.origin()));
    let rotate = "const one = document.querySelector('form[action$=\"/rotate\"]'); one.noValidate = true; one.keep_days.value = '99'; one.requestSubmit()";
    browser.run(rotate, json!([]));
    browser.wait("return document.querySelector('[role=alert].problem + form')?.action.endsWith('/rotate')");
    assert_eq!(browser.path(), card);
    assert_eq!(
        browser.run("return document.querySelector('form[action$=\"/rotate\"]').keep_days.value", json!([])),
        "99"
    );
    let seen = "const box = document.querySelector('.problem').getBoundingClientRect(); return box.top >= 0 && box.bottom <= innerHeight";
    assert_eq!(browser.run(seen, json!([])), true);
    // The reason is said once.
    browser.go(&format!("{}{card}", site.origin()));
    assert_eq!(browser.run("return document.querySelectorAll('.problem').length", json!([])), 0);

    // A colleague has revoked the partner: the form is gone, and the reason stands first.
    let other = Clerk::at(&site, &admin);
    let name = site.change(|tx| Ok(partners::find(tx, &client)?.expect("it was made").name));
    assert_eq!(other.post(&format!("{card}/revoke"), &[("name", &name)]).status, 303);
    browser.run(rotate.replace("99", "7").as_str(), json!([]));
    browser.wait("return !!document.querySelector('main > [role=alert].problem:first-child')");
    assert_eq!(browser.path(), card);
}

#[test]
fn a_colleague_who_takes_over_goes_on_with_the_form_that_is_half_filled() {
    let site = demo();
    let (ann, ben) = (site.desk(), site.desk());
    let pin = site.pin(&ben);
    let browser = Browser::open();
    for who in [&ben, &ann] {
        browser.go(&format!("{}/desk/sign-in?another=1", site.origin()));
        sign_in(&browser, who);
    }
    browser.go(&format!("{}/desk/new-member", site.origin()));
    browser.press("Ada Lovelace");
    browser.run("document.querySelector('.who a[href^=\"/desk/sign-in/change\"]').click()", json!([]));
    browser.wait("return !!document.querySelector('dialog[open] #pin')");
    for (typed, lands) in [("000000", "/desk/sign-in/change"), (&*pin, "/desk/new-member")] {
        let enter =
            "const form = document.getElementById('change'); form.pin.value = arguments[0]; form.requestSubmit()";
        browser.run(enter, json!([typed]));
        let landed = format!(
            "return location.pathname === '{lands}' && !document.querySelector('dialog') && document.readyState === 'complete'"
        );
        browser.wait(&landed);
    }
    browser.wait("return document.getElementById('real_name').value === 'Ada Lovelace'");
    assert!(browser.text().contains("typed before the change of clerk"), "{}", browser.text());
    // A change that is called off keeps nothing.
    browser.go(&format!("{}/desk/members/1", site.origin()));
    browser.go(&format!("{}/desk/new-member", site.origin()));
    assert!(!knows(&browser, "Ada Lovelace"), "{}", browser.text());
}

#[test]
fn a_form_that_is_half_filled_stays_so_when_another_of_the_page_is_sent() {
    let site = demo();
    day(&site);
    let desk = site.desk();
    let browser = Browser::open();
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    sign_in(&browser, &desk);
    browser.run("const one = document.getElementById('member'); one.focus()", json!([]));
    browser.press("Ada Lovel");
    browser.run("document.querySelector('#coming button[formaction$=check-in]').click()", json!([]));
    browser.wait("return location.search.includes('done=arrived') && document.readyState === 'complete'");
    browser.wait("return document.getElementById('member').value === 'Ada Lovel'");
    // On another page, and once it is sent, it is forgotten.
    browser.go(&format!("{}/desk/members/1", site.origin()));
    browser.go(&format!("{}/desk", site.origin()));
    assert!(!knows(&browser, "Ada Lovel"), "{}", browser.text());
}
