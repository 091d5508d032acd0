//! Every page in a real Chromium: on a screen and on a telephone, light and dark. Its picture is kept under
//! `target/screens/` to be looked at, axe-core finds nothing, nothing is loaded from elsewhere, nothing moves, and it is
//! light.

use super::day;
use crate::harness::{Browser, PASSWORD, Site};
use serde_json::json;
use std::path::PathBuf;

const SCREENS: [(&str, u32, u32); 2] = [("screen", 1280, 800), ("phone", 390, 844)];
/// All that a page needs, as it goes over the wire.
const PAGE_BYTES_MAX: u64 = 100_000;
/// Beyond this people notice that something moved.
const SHIFT_MAX: f64 = 0.01;

/// A page: the name of its picture, its path, and a text that shows that it is the right one.
struct Page {
    name: &'static str,
    path: &'static str,
    shows: &'static str,
}

/// Those that anybody is shown.
const OUTSIDE: &[Page] = &[
    Page { name: "sign-in", path: "/desk/sign-in", shows: "Sign in to the desk" },
    Page { name: "sign-in-ended", path: "/desk/sign-in?ended=1", shows: "Please begin again" },
    Page { name: "refusal", path: "/desk/nothing", shows: "That did not work" },
];

/// Those of a clerk who is signed in. A page of the desk is not done before it stands here.
const INSIDE: &[Page] = &[
    Page { name: "today", path: "/desk", shows: "Jane Okonkwo-Schmidt" },
    Page { name: "today-done", path: "/desk?all&done=booked", shows: "Booked." },
];

#[test]
fn every_page_is_fit_to_be_seen() {
    let site = Site::open();
    day(&site);
    let desk = site.desk();
    let browser = Browser::open();
    OUTSIDE.iter().for_each(|page| look(&site, &browser, page));

    browser.go(&format!("{}/desk/sign-in", site.origin()));
    let fill = "const [name, password] = arguments, form = document.forms[0];
                form.username.value = name; form.password.value = password; form.requestSubmit()";
    browser.run(fill, json!([desk.name, PASSWORD]));
    browser.wait("return location.pathname === '/desk/sign-in/setup'");
    let setup = Page { name: "setup", path: "/desk/sign-in/setup", shows: "Set up your authenticator" };
    look(&site, &browser, &setup);
    let secret = browser.run("return document.querySelector('.secret').innerText", json!([]));
    let secret = secret.as_str().unwrap().replace(' ', "");
    let app = crate::harness::Authenticator::scan(&json!({ "secret": secret }));
    let send = "const form = document.forms[0]; form.code.value = arguments[0]; form.requestSubmit()";
    browser.run(send, json!([app.code(site.now())]));
    browser.wait("return document.querySelectorAll('.codes li').length === 10");
    judge(&browser, "recovery-codes");
    INSIDE.iter().for_each(|page| look(&site, &browser, page));

    // Somebody else's turn.
    browser.order("/cookie", json!({ "cookie": { "name": "desk", "value": "x" } }));
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.run(fill, json!([desk.name, PASSWORD]));
    browser.wait("return location.pathname === '/desk/sign-in/code'");
    look(&site, &browser, &Page { name: "code", path: "/desk/sign-in/code?by=app", shows: "Your code" });
}

fn look(site: &Site, browser: &Browser, page: &Page) {
    browser.complaints();
    browser.go(&format!("{}{}", site.origin(), page.path));
    assert!(browser.text().contains(page.shows), "{}: {}", page.name, browser.text());
    let shift = "const done = arguments[0]; let sum = 0;
                 new PerformanceObserver(list => list.getEntries().forEach(one => sum += one.value))
                     .observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(sum), 50);";
    let moved = browser.order("/execute/async", json!({ "script": shift, "args": [] })).as_f64().unwrap();
    assert!(moved < SHIFT_MAX, "{} moves by {moved}", page.name);
    judge(browser, page.name);
    let complaints: Vec<String> = browser.complaints();
    let others = complaints.iter().filter(|line| !line.contains("404 (Not Found)") || page.name != "refusal");
    assert_eq!(others.collect::<Vec<_>>(), [""; 0], "{}", page.name);
}

/// The open page, in every size and both schemes.
fn judge(browser: &Browser, name: &str) {
    for (screen, width, height) in SCREENS {
        for dark in [false, true] {
            browser.resize(width, height, dark);
            let scheme = if dark { "dark" } else { "light" };
            let what = format!("{name}-{screen}-{scheme}");
            keep(&what, &browser.picture());
            assert_eq!(browser.violations(), [""; 0], "{what}");
            let overflow = browser.run("return document.documentElement.scrollWidth - innerWidth", json!([]));
            assert!(overflow.as_i64().unwrap() <= 0, "{what} is wider than the screen by {overflow}");
        }
    }
    let bytes = "return performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
                 .reduce((sum, one) => sum + (one.transferSize || one.encodedBodySize), 0)";
    let bytes = browser.run(bytes, json!([])).as_u64().unwrap();
    assert!((500..PAGE_BYTES_MAX).contains(&bytes), "{name} weighs {bytes} bytes");
    let elsewhere = "return performance.getEntriesByType('resource').map(one => one.name).filter(url => !url.startsWith(location.origin))";
    assert_eq!(browser.run(elsewhere, json!([])), json!([]), "{name} loads from elsewhere");
}

fn keep(name: &str, picture: &[u8]) {
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/screens");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join(format!("{name}.png")), picture).unwrap();
}
