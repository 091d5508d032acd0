//! Targets of mailed links: confirmation of an address and password recovery, in any browser.

use super::{Clerk, HOSTILE};
use crate::harness::{PASSWORD, Site};
use serde_json::json;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::security_answers;

const NEW: &str = "four dry socks in a row";

/// A value of a waiting mail.
fn mailed(site: &Site, name: &str) -> String {
    site.mails().pop().expect("a mail waits")["values"][name].as_str().unwrap().to_owned()
}

fn login(site: &Site, password: &str) -> serde_json::Value {
    site.stranger().post("/auth/login", json!({"username": "jane", "password": password})).ok().json()
}

#[test]
fn a_mailed_link_opens_a_page_whose_button_confirms_the_address() {
    let site = Site::open();
    let body = json!({"username": "jane", "password": PASSWORD, "email": "jane@example.com", "real_name": "Jane", "terms": true});
    site.stranger().post("/auth/signup", body).ok();
    let (browser, token) = (Clerk::outside(&site), mailed(&site, "token"));
    let asked = browser.get(&format!("/confirm?token={token}"));
    assert!(asked.status == 200 && asked.page().contains(&format!("value=\"{token}\"")), "{asked}");
    assert_eq!(login(&site, PASSWORD)["confirmationPending"], 1, "mail servers follow links too: looking does nothing");
    let done = browser.post("/confirm", &[("token", &token)]);
    assert!(done.page().contains("Your e-mail address is confirmed."), "{done}");
    assert_eq!(login(&site, PASSWORD)["confirmationPending"], 0);
    assert!(browser.post("/confirm", &[("token", &token)]).page().contains("was used before"));
    let wrong = browser.post("/confirm", &[("token", HOSTILE)]);
    assert!(wrong.status == 422 && wrong.page().contains("/confirm/again"), "{wrong}");
    assert!(!wrong.page().contains("<script>alert"), "{wrong}");
    let again = browser.post("/confirm/again", &[("token", HOSTILE)]);
    assert!(again.page().contains("a new link is on its way"), "{again}");
    let cut = browser.get("/confirm");
    assert!(cut.status == 422 && cut.page().contains("Part of the link is missing"), "a link without a token: {cut}");
}

#[test]
fn an_expired_link_offers_a_new_one_that_works() {
    let site = Site::open();
    let body = json!({"username": "jane", "password": PASSWORD, "email": "jane@example.com", "real_name": "Jane", "terms": true});
    site.stranger().post("/auth/signup", body).ok();
    let (browser, old) = (Clerk::outside(&site), mailed(&site, "token"));
    site.advance(std::time::Duration::from_secs(25 * 3600));
    assert_eq!(browser.post("/confirm", &[("token", &old)]).status, 422);
    browser.post("/confirm/again", &[("token", &old)]);
    let new = mailed(&site, "token");
    assert_ne!(old, new);
    assert!(browser.post("/confirm", &[("token", &new)]).page().contains("is confirmed"));
}

#[test]
fn a_lost_password_is_replaced_by_code_and_answers() {
    let site = Site::open();
    let jane = site.member("jane");
    let answer = site.inside().hash("volvo");
    site.change(|tx| Ok(security_answers::set(tx, MemberId(jane.id), 3, &answer)?));
    let browser = Clerk::outside(&site);
    assert_eq!(browser.get("/recover").status, 200);
    let asked = browser.post("/recover", &[("username", "jane"), ("option", "email")]).page();
    assert!(asked.contains("a passcode is on its way") && asked.contains("name=\"answer_3\""), "{asked}");
    let code = mailed(&site, "passcode");
    let set = |fields: &[(&str, &str)]| {
        let own = [("username", "jane"), ("passcode", &code)];
        browser.post("/recover/password", &[&own[..], fields].concat())
    };
    let weak = set(&[("answer_3", "volvo"), ("password", "aaaaaaaaaa")]);
    assert!(weak.status == 422 && weak.page().contains("class=\"problem\""), "{weak}");
    let wrong = set(&[("answer_3", "saab"), ("password", NEW)]);
    assert!(wrong.status == 422 && wrong.page().contains("are wrong or have expired"), "{wrong}");
    let done = set(&[("answer_3", " VOLVO "), ("password", NEW)]);
    assert!(done.status == 200 && done.page().contains("Your new password is set."), "{done}");
    assert_eq!(
        (login(&site, NEW)["status"].clone(), login(&site, PASSWORD)["status"].clone()),
        (json!(true), json!(false))
    );
}

#[test]
fn recovery_does_not_reveal_whether_a_username_exists() {
    let site = Site::open();
    site.member("jane");
    let browser = Clerk::outside(&site);
    let pages = ["jane", "nobody"].map(|name| {
        let asked = browser.post("/recover", &[("username", name), ("option", "email")]);
        let wrong = [("username", name), ("passcode", "000000"), ("password", NEW)];
        let refused = browser.post("/recover/password", &wrong);
        // Decoy questions depend on the name, so the pages differ in the questions; they must not differ in anything
        // else.
        let plain = |page: String| {
            let labels = page.split("<label for=\"answer_").enumerate();
            let without = labels.map(|(n, part)| if n == 0 { part } else { part.split_once("</label>").unwrap().1 });
            let without: String = without
                .flat_map(|part| part.split("\"answer_"))
                .map(|part| part.trim_start_matches(char::is_numeric))
                .collect();
            without.replace(name, "NAME")
        };
        (asked.status, plain(asked.page()), refused.status, plain(refused.page()))
    });
    assert_eq!(pages[0], pages[1]);
    let have = browser.post("/recover", &[("username", HOSTILE), ("have", "1")]).page();
    assert!(have.contains("name=\"passcode\"") && !have.contains("<script>alert"), "{have}");
    assert_eq!(site.mails().len(), 1, "a code goes out only where it was asked for and somebody is there");
}

#[test]
fn a_recovery_without_a_name_is_asked_for_it_in_words() {
    let site = Site::open_with(|config| config.limits.recoveries_per_hour_per_address = 1_000);
    for (language, said) in
        [("en", "Type your username"), ("de", "Gib deinen Benutzernamen"), ("it", "Scrivi il tuo nome")]
    {
        let browser = Clerk::outside(&site);
        let origin = browser.origin.clone();
        let post = |path: &str, form: &[(&str, &str)]| {
            browser.post_from(path, form, &[("origin", &origin), ("accept-language", language)])
        };
        for form in [&[("username", " "), ("option", "email")][..], &[("username", ""), ("have", "1")], &[]] {
            let refused = post("/recover", form);
            assert!(refused.status == 422 && refused.page().contains(said), "{language} {form:?}: {refused}");
            assert!(refused.page().contains("action=\"/recover\""), "the form is there again: {refused}");
        }
        let refused = post("/recover/password", &[("passcode", "123456"), ("password", NEW)]);
        assert!(refused.status == 422 && !refused.page().contains("username: "), "{refused}");
    }
}
