//! A real browser with a virtual authenticator makes a passkey and signs in with it.

use super::{LIST, OPTION, VERIFY, open, refused};
use crate::harness::{Browser, Reply, Site};
use serde_json::{Value, json};

/// Runs in the page: gets the options from the site, calls the authenticator, and posts its answer to the site. The
/// last argument is the callback for the outcome.
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
        // Where there is no key to be found a browser may wait as long as it is allowed to.
        asked.timeout = 20000;
        const credential = token
            ? await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) })
            : await navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(asked) });
        const text = JSON.stringify(credential.toJSON());
        return { asked, text, reply: await post(verify, { credential: text }) };
    })().then(done, error => done({ error: String(error) }));
"#;

/// Makes a passkey if `token` is not empty; otherwise signs in.
fn perform(browser: &Browser, token: &str, body: Value) -> Value {
    browser.order("/execute/async", json!({ "script": CEREMONY, "args": [OPTION, VERIFY, token, body] }))
}

fn open_page(site: &Site) -> Browser {
    let browser = Browser::open();
    browser.go(&format!("{}/healthz", site.origin()));
    browser
}

#[test]
fn a_real_browser_makes_a_passkey_and_signs_in_with_it() {
    let site = open();
    let jane = site.member("jane");
    let browser = open_page(&site);
    let authenticator = browser.add_authenticator(true);
    let made = perform(&browser, jane.token(), json!({ "device_id": 3, "name": "Laptop" }));
    assert_eq!((&made["reply"]["status"], &made["reply"]["member_id"]), (&json!(true), &json!(jane.id)), "{made}");
    assert_eq!(jane.get(LIST).ok().json()[0]["name"], "Laptop");

    let signed_in = perform(&browser, "", json!({ "username": "jane", "device_id": 3 }));
    assert_eq!(signed_in["reply"]["status"], true, "{signed_in}");
    let token = signed_in["reply"]["token"].as_str().expect("a token").to_owned();
    let anew = jane.with(crate::harness::Credential::Token { header: "token", prefix: "", token });
    assert_eq!(anew.get("/account/profile/user").ok().json()["username"], "jane");

    // An answer that the browser has sent is refused when it is sent again.
    let repeat: Reply = site.stranger().post(VERIFY, json!({ "credential": signed_in["text"] })).ok();
    refused(&repeat);
    let again = site.stranger().post(VERIFY, json!({ "credential": made["text"] })).ok();
    refused(&again);

    browser.set_verified(&authenticator, false);
    let unverified = perform(&browser, "", json!({ "username": "jane" }));
    assert!(unverified["error"].as_str().is_some_and(|e| e.contains("NotAllowedError")), "{unverified}");
    browser.set_verified(&authenticator, true);
    let twice = perform(&browser, jane.token(), json!({}));
    assert!(twice["error"].as_str().is_some_and(|e| e.contains("InvalidStateError")), "the same device twice: {twice}");
    assert_eq!(perform(&browser, "", json!({ "username": "jane" }))["reply"]["status"], true);
    let nobody = perform(&browser, "", json!({ "username": "nobody" }));
    assert!(nobody["error"].as_str().is_some_and(|e| e.contains("NotAllowedError")), "{nobody}");
}
