//! A real browser with a virtual authenticator makes a passkey and signs in with it.

use super::{LIST, OPTION, VERIFY, open, refused};
use crate::harness::{Reply, Site};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
/// What a browser in a closed room must not try.
const FLAGS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
];

/// Runs in the page: asks the site, asks the authenticator, and gives the site the answer. The last argument is where
/// the outcome goes.
const CEREMONY: &str = r#"
    const [option, verify, token, body, done] = arguments;
    const post = async (path, body) => {
        const headers = { 'content-type': 'application/json' };
        if (token) headers.authorization = 'Bearer ' + token;
        const reply = await fetch('/api' + path, { method: 'POST', headers, body: JSON.stringify(body) });
        return reply.json();
    };
    (async () => {
        const asked = (await post(option, body)).publicKey;
        const credential = token
            ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) })
            : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) });
        const text = JSON.stringify(credential.toJSON());
        return { asked, text, reply: await post(verify, { credential: text }) };
    })().then(done, error => done({ error: String(error) }));
"#;

/// Chromium with one page open, and the process that drives it; both end with the test.
struct Browser {
    driver: Child,
    base: String,
    agent: ureq::Agent,
    session: String,
    _profile: TempDir,
}

impl Browser {
    fn open() -> Browser {
        let (driver, port) = start_driver();
        let config = ureq::Agent::config_builder().http_status_as_error(false).timeout_global(Some(ANSWER_TIME_MAX));
        let profile = tempfile::tempdir().unwrap();
        let mut browser = Browser {
            driver,
            base: format!("http://127.0.0.1:{port}"),
            agent: config.build().new_agent(),
            session: String::new(),
            _profile: profile,
        };
        let mut flags: Vec<String> = FLAGS.map(str::to_owned).into();
        flags.push(format!("--user-data-dir={}", browser._profile.path().display()));
        let options = json!({ "browserName": "chrome", "goog:chromeOptions": { "args": flags } });
        let opened = browser.tell("/session", &json!({ "capabilities": { "alwaysMatch": options } }));
        browser.session = format!("/session/{}", opened["sessionId"].as_str().expect("a session"));
        browser.order("/timeouts", json!({ "script": ANSWER_TIME_MAX.as_millis() as u64 }));
        browser
    }

    /// An order to the open page or its browser.
    fn order(&self, path: &str, body: Value) -> Value {
        self.tell(&format!("{}{path}", self.session), &body)
    }

    fn tell(&self, path: &str, body: &Value) -> Value {
        let url = format!("{}{path}", self.base);
        let mut answer = self.agent.post(&url).send_json(body).unwrap_or_else(|e| panic!("{path}: {e}"));
        let said: Value = answer.body_mut().read_json().unwrap_or_else(|e| panic!("{path}: {e}"));
        assert_eq!(answer.status(), 200, "{path}: {said}");
        said["value"].clone()
    }

    /// An authenticator inside the machine whose owner is always there and verified, or never.
    fn add_authenticator(&self, verified: bool) -> String {
        let authenticator = json!({
            "protocol": "ctap2", "transport": "internal", "hasResidentKey": true, "hasUserVerification": true,
            "isUserConsenting": true, "isUserVerified": verified,
        });
        self.order("/webauthn/authenticator", authenticator).as_str().expect("its number").to_owned()
    }

    fn set_verified(&self, authenticator: &str, verified: bool) {
        self.order(&format!("/webauthn/authenticator/{authenticator}/uv"), json!({ "isUserVerified": verified }));
    }

    /// Makes a passkey where there is a token, else signs in.
    fn perform(&self, token: &str, body: Value) -> Value {
        self.order("/execute/async", json!({ "script": CEREMONY, "args": [OPTION, VERIFY, token, body] }))
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            _ = self.agent.delete(format!("{}{}", self.base, self.session)).call();
        }
        _ = self.driver.kill();
        _ = self.driver.wait();
    }
}

/// On a port of its own choice, which it says when it is ready.
fn start_driver() -> (Child, u16) {
    let started = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
    let mut driver = started.expect("chromedriver is here: tests/install-chromium installs it");
    let mut lines = BufReader::new(driver.stdout.take().expect("its output is ours")).lines();
    let port = lines.by_ref().map_while(Result::ok).find_map(|line| {
        line.strip_prefix("ChromeDriver was started successfully on port ")?.trim_end_matches('.').parse().ok()
    });
    // It may say more, and must not stop because nobody listens.
    std::thread::spawn(move || lines.for_each(drop));
    (driver, port.expect("chromedriver says its port"))
}

fn open_page(site: &Site) -> Browser {
    let browser = Browser::open();
    browser.order("/url", json!({ "url": format!("{}/healthz", site.origin()) }));
    browser
}

#[test]
fn a_real_browser_makes_a_passkey_and_signs_in_with_it() {
    let site = open();
    let jane = site.member("jane");
    let browser = open_page(&site);
    let authenticator = browser.add_authenticator(true);
    let made = browser.perform(jane.token(), json!({ "device_id": 3, "name": "Laptop" }));
    assert_eq!((&made["reply"]["status"], &made["reply"]["member_id"]), (&json!(true), &json!(jane.id)), "{made}");
    assert_eq!(jane.get(LIST).ok().json()["data"][0]["name"], "Laptop");

    let signed_in = browser.perform("", json!({ "username": "jane", "device_id": 3 }));
    assert_eq!(signed_in["reply"]["status"], true, "{signed_in}");
    let token = signed_in["reply"]["token"].as_str().expect("a token").to_owned();
    let anew = jane.with(crate::harness::Credential::Token { header: "token", prefix: "", token });
    assert_eq!(anew.get("/account/profile/user").ok().json()["username"], "jane");

    // What the browser sent once is worth nothing twice.
    let repeat: Reply = site.stranger().post(VERIFY, json!({ "credential": signed_in["text"] })).ok();
    refused(&repeat);
    let again = site.stranger().post(VERIFY, json!({ "credential": made["text"] })).ok();
    refused(&again);

    browser.set_verified(&authenticator, false);
    let unverified = browser.perform("", json!({ "username": "jane" }));
    assert!(unverified["error"].as_str().is_some_and(|e| e.contains("NotAllowedError")), "{unverified}");
    browser.set_verified(&authenticator, true);
    let twice = browser.perform(jane.token(), json!({}));
    assert!(twice["error"].as_str().is_some_and(|e| e.contains("InvalidStateError")), "the same device twice: {twice}");
    assert_eq!(browser.perform("", json!({ "username": "jane" }))["reply"]["status"], true);
    let nobody = browser.perform("", json!({ "username": "nobody" }));
    assert!(nobody["error"].as_str().is_some_and(|e| e.contains("NotAllowedError")), "{nobody}");
}
