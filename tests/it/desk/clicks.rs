//! The most frequent tasks, from *Today*, in a real Chromium, with counted clicks: at most three to check in, four to add twelve
//! minutes, four to sign a skill.

use super::day;
use crate::harness::{Browser, PASSWORD, Site};
use serde_json::json;

/// Clicks the element as a person would, and counts the click.
fn click(browser: &Browser, clicks: &mut u32, selector: &str) {
    *clicks += 1;
    browser.run("document.querySelector(arguments[0]).click()", json!([selector]));
}

fn fill(browser: &Browser, id: &str, text: &str) {
    let set = "const field = document.getElementById(arguments[0]); field.value = arguments[1];
               field.dispatchEvent(new Event('input', { bubbles: true }))";
    browser.run(set, json!([id, text]));
}

#[test]
fn the_most_frequent_tasks_take_few_clicks() {
    let site = Site::open_with(|config| config.demo = true);
    day(&site);
    let desk = site.desk();
    let browser = Browser::open();
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    fill(&browser, "username", &desk.name);
    fill(&browser, "password", PASSWORD);
    browser.run("document.forms[0].requestSubmit()", json!([]));
    browser.wait("return location.pathname === '/desk'");

    let mut clicks = 0;
    click(&browser, &mut clicks, "#coming button");
    browser.wait("return document.querySelector('[role=status]')?.innerText === 'Checked in: Jane Okonkwo-Schmidt.'");
    assert!(clicks <= 3, "{clicks} to check in");

    let mut clicks = 0;
    click(&browser, &mut clicks, ".arrivals [href*=members]");
    browser.wait("return !!document.getElementById('minutes') && location.pathname === '/desk/members/1'");
    click(&browser, &mut clicks, "#minutes");
    fill(&browser, "minutes", "12");
    click(&browser, &mut clicks, "#add-time button");
    browser.wait("return document.querySelector('[role=status]')?.innerText.includes('in the logbook')");
    assert!(clicks <= 4, "{clicks} to add twelve minutes");

    let mut clicks = 0;
    browser.go(&format!("{}/desk", site.origin()));
    click(&browser, &mut clicks, "nav a[href='/desk/sign-offs']");
    browser.wait("return location.pathname === '/desk/sign-offs'");
    click(&browser, &mut clicks, ".queues a.button");
    browser.wait("return document.activeElement?.id === 'password'");
    fill(&browser, "password", PASSWORD);
    click(&browser, &mut clicks, "form[action$='/sign'] button");
    browser.wait("return document.querySelector('[role=status]')?.innerText.startsWith('Signed: ')");
    assert!(clicks <= 4, "{clicks} to sign a skill");

    // A colleague takes over on the open page, with one click and six digits.
    let (pin, ben) = (site.pin(&desk), site.desk());
    browser.go(&format!("{}/desk/sign-in?another=1", site.origin()));
    fill(&browser, "username", &ben.name);
    fill(&browser, "password", PASSWORD);
    browser.run("document.forms[0].requestSubmit()", json!([]));
    browser.wait("return location.pathname === '/desk'");
    browser.go(&format!("{}/desk/reports", site.origin()));
    let mut clicks = 0;
    click(&browser, &mut clicks, ".who a[href*='/change']");
    browser.wait("return document.activeElement?.id === 'pin' && document.querySelector('dialog[open]')");
    assert_eq!(browser.run("return location.pathname", json!([])), "/desk/reports");
    browser.press("\u{e00c}");
    browser.wait("return !document.querySelector('dialog')");
    click(&browser, &mut clicks, ".who a[href*='/change']");
    browser.wait("return document.activeElement?.id === 'pin'");
    browser.press(&pin);
    let name = format!(
        "return document.querySelector('.who .me')?.innerText === {:?} && location.pathname === '/desk/reports'",
        desk.name
    );
    browser.wait(&name);

    // The search finds a member while the name is typed, in spite of a typing error.
    browser.go(&format!("{}/desk/members", site.origin()));
    fill(&browser, "q", "okonkow");
    browser.wait("return document.querySelectorAll('#found li').length === 1");
    browser.wait("return document.querySelector('#found .name')?.innerText === 'Jane Okonkwo-Schmidt'");
    browser.wait("return location.search === '?q=okonkow'");
    assert_eq!(browser.complaints(), [""; 0]);
}
