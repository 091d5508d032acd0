//! Own pages that are open hear of what happens, in a real Chromium.

use crate::harness::{Browser, PASSWORD, Site};
use serde_json::json;

/// The page's stream begins late, as over a slow network.
const LATE: &str = "const Stream = window.EventSource;
    window.EventSource = class extends EventTarget {
        static OPEN = 1; static CLOSED = 2; readyState = 0;
        constructor(url) {
            super();
            setTimeout(() => {
                this.stream = new Stream(url);
                ['open', 'changed'].forEach(kind => this.stream.addEventListener(kind, () => {
                    this.readyState = 1;
                    this.dispatchEvent(new Event(kind));
                }));
            }, 1500);
        }
        close() { this.stream?.close(); }
    };";

fn signed_in(site: &Site, name: &str, script: &str) -> Browser {
    let browser = Browser::open();
    browser.prepare(script);
    browser.go(&format!("{}/me/sign-in", site.origin()));
    let fill = "const [name, password] = arguments, form = document.forms[0];
                form.username.value = name; form.password.value = password; form.requestSubmit()";
    browser.run(fill, json!([name, PASSWORD]));
    browser.wait("return location.pathname === '/me' && document.getElementById('tiles')");
    browser.run("window.marked = true", json!([]));
    browser
}

#[test]
fn what_changed_before_the_stream_of_a_page_opened_is_shown_once_it_is_open() {
    let site = Site::open();
    let jane = site.flyer("jane");
    let browser = signed_in(&site, &jane.name, LATE);
    let body = json!({ "entry_date": site.now(), "tunnel": "7", "comment": "", "time": 151 });
    jane.post("/account/logbook/time/", body).ok();
    browser.wait("return window.marked && document.getElementById('tiles').innerText.includes('2:41')");
}

#[test]
fn an_open_page_shows_what_happened_meanwhile_without_being_loaded_again() {
    let site = Site::open();
    let jane = site.flyer("jane");
    let browser = signed_in(&site, &jane.name, "");
    assert!(!browser.text().contains("7:41"));
    // The stream may begin after the first flight: each is heard of, or read with the next.
    for minutes in [150, 150, 151] {
        let body = json!({ "entry_date": site.now(), "tunnel": "7", "comment": "", "time": minutes });
        jane.post("/account/logbook/time/", body).ok();
    }
    browser.wait("return window.marked && document.getElementById('tiles').innerText.includes('7:41')");
}
