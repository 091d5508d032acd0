//! Days and times in the order of the page's language, in a browser of another.

use super::day;
use crate::harness::{Browser, PASSWORD, Site};
use serde_json::json;

#[test]
fn a_german_page_in_an_english_browser_takes_days_and_times_as_germans_write_them() {
    let site = Site::open_with(|config| config.demo = true);
    day(&site);
    let desk = site.desk();
    let browser = Browser::open();
    let agent = browser.run("return navigator.userAgent", json!([]));
    browser.devtools("Network.setUserAgentOverride", json!({ "userAgent": agent, "acceptLanguage": "de-CH" }));
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    let sign_in =
        "const form = document.forms[0]; [form.username.value, form.password.value] = arguments; form.requestSubmit()";
    browser.run(sign_in, json!([desk.name, PASSWORD]));
    browser.wait("return location.pathname === '/desk'");
    assert_eq!(browser.run("return document.documentElement.lang", json!([])), "de");
    let shown = browser.wait("return document.querySelector('.days .typed-day')?.value");
    let shown = shown.as_str().unwrap_or_default();
    assert!(shown.split('.').map(str::len).eq([2, 2, 4]), "{shown}");
    let value = |selector: &str| browser.run("return document.querySelector(arguments[0]).value", json!([selector]));

    browser.go(&format!("{}/desk/new-member", site.origin()));
    browser.wait("return !!document.querySelector('.typed-day')");
    let typed = |id: &str, text: &str| {
        let set = "const field = document.getElementById(arguments[0]); field.focus(); field.value = arguments[1];
                   field.dispatchEvent(new Event('input', { bubbles: true })); field.dispatchEvent(new Event('change', { bubbles: true }))";
        browser.run(set, json!([id, text]));
    };
    for (text, day) in
        [("3.2.1985", "1985-02-03"), ("03021985", "1985-02-03"), ("31.02.1985", ""), ("3.2.16", "2016-02-03"), ("", "")]
    {
        typed("dob", text);
        assert_eq!(value("[name=dob]"), day, "{text}");
    }
    typed("dob", "3.2.1985");
    assert_eq!(value("#dob"), "03.02.1985");

    browser.go(&format!("{}/desk", site.origin()));
    browser.wait("return document.querySelectorAll('.typed-day').length > 1");
    for (text, clock) in [("9.15", "09:15"), ("2145", "21:45"), ("24:00", "")] {
        typed("clock", text);
        assert_eq!(value("[name=clock]"), clock, "{text}");
    }
}
