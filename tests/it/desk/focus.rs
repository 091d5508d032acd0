//! Where a clerk goes on after a refusal: at the field that is wrong, and in sight, in a real Chromium.

use super::{Clerk, book};
use crate::harness::{Browser, Caller, PASSWORD, Site};
use serde_json::json;

/// A screen of a desk.
const SCREEN: (u32, u32) = (1280, 800);

fn desk(site: &Site, who: &Caller) -> Browser {
    let browser = Browser::open();
    browser.resize(SCREEN.0, SCREEN.1, false);
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.wait("return document.activeElement?.id === 'username'");
    browser.press(&format!("{}\u{E004}{PASSWORD}\u{E007}", who.name));
    browser.wait("return location.pathname === '/desk' && document.readyState === 'complete'");
    browser
}

/// Sends the form with these values, past what the browser itself would refuse, and waits for the problem.
#[track_caller]
fn refuse(browser: &Browser, form: &str, values: &[(&str, &str)], focused: &str) {
    for (name, value) in values {
        let set = "document.querySelector(arguments[0]).elements[arguments[1]].value = arguments[2]";
        browser.run(set, json!([form, name, value]));
    }
    browser.run("window.stale = true; const one = document.querySelector(arguments[0]); one.noValidate = true; one.requestSubmit()", json!([form]));
    browser.wait("return !window.stale && document.readyState === 'complete' && !!document.querySelector('.problem[role=alert]:not([hidden])')");
    // A browser obeys `autofocus` when it draws, which may be after the page is complete.
    browser.wait(&format!("return document.activeElement.id === '{focused}'"));
    let seen = "const seen = one => { const box = one.getBoundingClientRect(), top = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
            return one === top || one.contains(top) || top?.contains(one) && top !== document.body; };
        return seen(document.activeElement) && seen(document.querySelector('.problem[role=alert]:not([hidden])'))";
    assert_eq!(browser.run(seen, json!([])), true, "{form} {values:?} is out of sight");
}

#[test]
fn a_refused_form_has_the_focus_at_the_wrong_field_and_both_are_in_sight() {
    let site = Site::open_with(|config| {
        (config.demo, config.yearly_fee_cents) = (true, 3_000);
    });
    let (jane, who) = (site.flyer("jane"), site.desk());
    let ids: Vec<i64> = (0..60).map(|n| book(&site, &jane, 60 * n)).collect();
    let browser = desk(&site, &who);
    let go = |path: &str| browser.go(&format!("{}{path}", site.origin()));
    let booking = format!("/desk/bookings/{}", ids[0]);
    for (name, value, focused) in [("minutes", "x", "minutes"), ("clock", "", "day")] {
        go(&booking);
        refuse(&browser, "form[action$='/move']", &[(name, value)], focused);
    }
    go("/desk/new-member");
    refuse(&browser, ".newcomer", &[("real_name", "Ada"), ("dob", "2090-01-01")], "dob");
    go("/desk/new-member");
    refuse(&browser, ".newcomer", &[("real_name", "Ada")], "terms");
    go(&format!("/desk/members/{}", jane.id));
    refuse(&browser, "form[action$='/card']", &[("card", "?!")], "card");
    assert_eq!(browser.run("return document.getElementById('card').value", json!([])), "?!", "what was typed stays");
    go("/desk/account");
    refuse(&browser, "form[action$='/password']", &[("current", "x"), ("password", "y"), ("again", "z")], "current");
    go("/desk/till");
    refuse(&browser, "form[action$='/close']", &[("counted", "5"), ("left", "0")], "note");
    refuse(&browser, "form[action$='/close']", &[("counted", "0"), ("left", "7")], "left");

    // The note is the last part beside a list that is many screens long.
    go("/desk");
    let clerk = Clerk::at(&site, &site.desk());
    assert_eq!(clerk.post("/desk/shift-note", &[("text", "Fan 2 hums")]).status, 303);
    refuse(&browser, "form[action$='/shift-note']", &[("text", "Suits are wet")], "shift-text");
}
