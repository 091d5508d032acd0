//! A browser with one open page, driven over WebDriver.

use super::chromium::{Chromium, idle};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

pub const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
/// How long the harness leaves the page alone before it looks again whether it is as far.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// The script of axe-core, which finds accessibility faults of a page.
static AXE: LazyLock<String> = LazyLock::new(|| {
    let root = env!("CARGO_MANIFEST_DIR");
    let installed = Command::new(format!("{root}/tests/install-axe")).status().expect("tests/install-axe runs");
    assert!(installed.success(), "axe-core can be installed");
    std::fs::read_to_string(format!("{root}/target/axe/axe.min.js")).expect("axe-core is there")
});

/// One test's browser: a window in a context of its own, which has its own cookies, stores, cache and authenticators.
pub struct Browser {
    /// Taken when the browser is closed.
    chromium: Option<Chromium>,
    context: String,
}

impl Browser {
    /// A new context, in a process that another test has left or in a new one.
    pub fn open() -> Browser {
        let idle = idle().pop();
        Browser::within(idle.unwrap_or_else(|| Chromium::start(&[])))
    }

    /// As [`Browser::open`], in a process of its own with these additional switches.
    pub fn open_with(switches: &[String]) -> Browser {
        Browser::within(Chromium::start(switches))
    }

    fn within(mut chromium: Chromium) -> Browser {
        let context = chromium.new_context();
        Browser { chromium: Some(chromium), context }
    }

    /// Sends a WebDriver command to the session.
    pub fn order(&self, path: &str, body: Value) -> Value {
        self.chromium.as_ref().expect("the browser is open").order(path, body)
    }

    pub fn go(&self, url: &str) {
        self.order("/url", json!({ "url": url }));
    }

    /// Runs a script in the page and returns its value.
    pub fn run(&self, script: &str, args: Value) -> Value {
        self.order("/execute/sync", json!({ "script": script, "args": args }))
    }

    /// The path of the open page.
    pub fn path(&self) -> String {
        self.run("return location.pathname", json!([])).as_str().expect("a page has a path").to_owned()
    }

    /// The visible text of the page.
    pub fn text(&self) -> String {
        self.run("return document.body.innerText", json!([])).as_str().unwrap_or_default().to_owned()
    }

    /// The name of the control that has the focus, as a screen reader says it.
    pub fn focused(&self) -> String {
        let name = "const one = document.activeElement, by = one.getAttribute('aria-labelledby')?.split(' ');
            return by?.map(id => document.getElementById(id).textContent).join(' ') ?? one.getAttribute('aria-label') ?? one.innerText";
        self.run(name, json!([])).as_str().unwrap_or_default().to_owned()
    }

    /// Presses keys one after the other, wherever the focus is. `\u{E004}` is Tab, `\u{E007}` Enter.
    pub fn press(&self, keys: &str) {
        let actions: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key.to_string() })))
            .collect();
        self.order("/actions", json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }));
    }

    /// Runs a script until it returns a true value, and returns that. Each attempt runs in the present page, because
    /// the previous page may be gone.
    #[track_caller]
    pub fn wait(&self, script: &str) -> Value {
        let until = Instant::now() + ANSWER_TIME_MAX;
        loop {
            let found = self.run(script, json!([]));
            if found != json!(null) && found != json!(false) {
                return found;
            }
            assert!(Instant::now() < until, "never came: {script}; there is {} {}", self.path(), self.text());
            std::thread::sleep(LOOK_INTERVAL);
        }
    }

    /// Sets the window size and the colour scheme.
    pub fn resize(&self, width: u32, height: u32, dark: bool) {
        let phone = width < 600;
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": phone }),
        );
        let scheme = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.devtools("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    pub fn devtools(&self, command: &str, params: Value) -> Value {
        self.order("/goog/cdp/execute", json!({ "cmd": command, "params": params }))
    }

    /// Runs a script in every page opened from now on, before the page's own scripts.
    pub fn prepare(&self, script: &str) {
        self.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": script }));
    }

    /// The cumulative layout shift of the open page. Shifts caused by a key or a click do not count.
    pub fn moved(&self) -> f64 {
        let script = "const done = arguments[0]; let sum = 0;
            new PerformanceObserver(list => list.getEntries().forEach(one => sum += one.hadRecentInput ? 0 : one.value))
                .observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(sum), 50);";
        self.order("/execute/async", json!({ "script": script, "args": [] })).as_f64().expect("a sum")
    }

    /// The elements of the open page that were shifted, each with its place before and after.
    pub fn what_moved(&self) -> String {
        let script =
            "const done = arguments[0], said = [], at = one => [one.x, one.y, one.width, one.height].map(Math.round);
            new PerformanceObserver(list => list.getEntries().forEach(one => one.sources.forEach(part => said.push(
                `${part.node?.outerHTML?.slice(0, 80)} from ${at(part.previousRect)} to ${at(part.currentRect)}`))))
                .observe({ type: 'layout-shift', buffered: true }); setTimeout(() => done(said.join('; ')), 50);";
        self.order("/execute/async", json!({ "script": script, "args": [] })).as_str().unwrap_or_default().to_owned()
    }

    /// A screenshot of the whole page, as PNG.
    pub fn picture(&self) -> Vec<u8> {
        use base64::Engine;
        let taken = self.devtools("Page.captureScreenshot", json!({ "captureBeyondViewport": true }));
        let data = taken["data"].as_str().expect("a picture");
        base64::engine::general_purpose::STANDARD.decode(data).expect("base64")
    }

    /// The faults that axe-core finds in the open page: each rule with the elements that break it.
    pub fn violations(&self) -> Vec<String> {
        self.violations_of(json!(null))
    }

    /// As [`Browser::violations`], by these rules alone, or by all that axe-core applies by default.
    pub fn violations_of(&self, rules: Value) -> Vec<String> {
        // The driver injects the script, which the page's policy therefore permits; once a page, because it is half a
        // megabyte.
        if self.run("return typeof axe === 'undefined'", json!([])) == json!(true) {
            self.run(&AXE, json!([]));
        }
        let script = "const [rules, done] = arguments, options = { resultTypes: ['violations'], ...rules && { runOnly: rules } };
            axe.run(document, options).then(
            r => done(r.violations.map(v => v.id + ': ' + v.nodes.map(n => n.html + ' ' + n.failureSummary).join(' | '))),
            e => done([String(e)]));";
        let found = self.order("/execute/async", json!({ "script": script, "args": [rules] }));
        let found = found.as_array().expect("a list").iter();
        found.map(|one| one.as_str().unwrap_or_default().to_owned()).collect()
    }

    /// The lines written to the page's console since the last call, including refusals of its policy.
    pub fn complaints(&self) -> Vec<String> {
        let log = self.order("/se/log", json!({ "type": "browser" }));
        let lines = log.as_array().expect("a list").iter();
        lines.map(|line| line["message"].as_str().unwrap_or_default().to_owned()).collect()
    }

    /// Adds a virtual authenticator whose user is always present and verified, or never.
    pub fn add_authenticator(&self, verified: bool) -> String {
        let authenticator = json!({
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
            "isUserConsenting": true, "isUserVerified": verified,
        });
        self.order("/webauthn/authenticator", authenticator).as_str().expect("its number").to_owned()
    }

    pub fn set_verified(&self, authenticator: &str, verified: bool) {
        self.order(&format!("/webauthn/authenticator/{authenticator}/uv"), json!({ "isUserVerified": verified }));
    }
}

impl Drop for Browser {
    /// What the test has stored ends with its context. After a failure the process ends too, whatever it is in.
    fn drop(&mut self) {
        let Some(mut chromium) = self.chromium.take() else { return };
        if !std::thread::panicking() {
            chromium.end_context(&self.context);
            if chromium.is_shared {
                idle().push(chromium);
            }
        }
    }
}
