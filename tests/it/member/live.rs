//! Own pages that are open hear of what happens, in a real Chromium.

use crate::harness::{Browser, PASSWORD, Site};
use serde_json::json;

#[test]
fn an_open_page_shows_what_happened_meanwhile_without_being_loaded_again() {
    let site = Site::open();
    let jane = site.flyer("jane");
    let browser = Browser::open();
    browser.go(&format!("{}/me/sign-in", site.origin()));
    let fill = "const [name, password] = arguments, form = document.forms[0];
                form.username.value = name; form.password.value = password; form.requestSubmit()";
    browser.run(fill, json!([jane.name, PASSWORD]));
    browser.wait("return location.pathname === '/me' && document.getElementById('tiles')");
    browser.run("window.marked = true", json!([]));
    assert!(!browser.text().contains("7:41"));
    // The stream may begin after the first flight: each is heard of, or read with the next.
    for minutes in [150, 150, 151] {
        let body = json!({ "entry_date": site.now(), "tunnel": "7", "comment": "", "time": minutes });
        jane.post("/account/logbook/time/", body).ok();
    }
    browser.wait("return window.marked && document.getElementById('tiles').innerText.includes('7:41')");
}
