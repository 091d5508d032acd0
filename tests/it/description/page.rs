//! The description as served: to programs unchanged, to people as a page made from it.

use crate::harness::description::{DESCRIPTION, text};
use crate::harness::{Browser, Site, sheets};
use http::Method;
use serde_json::json;
use std::collections::BTreeSet;
use tunneldesk::routes::ROUTES;

fn page() -> String {
    let site = Site::open();
    let reply = site.stranger().ask_at_root(Method::GET, "/docs").send().ok();
    assert_eq!(reply.header("content-type"), Some("text/html; charset=utf-8"));
    let policy = reply.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    String::from_utf8(reply.body).unwrap()
}

/// The address at which the site says that the description is served.
fn address(site: &Site) -> String {
    format!("http://{}:{}", Site::NAME, site.address().port())
}

#[test]
fn samples_call_the_site_that_gives_them_out() {
    let (one, other) =
        (Site::open(), Site::open_with(|config| config.public_url = Some("https://tunnel.example.com".to_owned())));
    for (site, own) in [(&one, address(&one)), (&other, "https://tunnel.example.com".to_owned()), (&one, address(&one))]
    {
        for path in ["/docs", "/api/openapi.json", "/api/collection.json"] {
            let reply = site.stranger().ask_at_root(Method::GET, path).send().ok();
            let text = String::from_utf8(reply.body).unwrap();
            let said = if path.contains("collection") { own.clone() } else { format!("site={own}") };
            assert!(text.contains(&said) && !text.contains("localhost:8080"), "{path} of {own}");
        }
    }
}

#[test]
fn samples_name_skills_of_the_catalogue_and_send_a_picture_from_a_file() {
    let catalogue = include_str!("../../../assets/catalogue/catalogue.json");
    let text = text();
    let mut named = text.split("\"skill\":\"").skip(1).peekable();
    assert!(named.peek().is_some());
    for rest in named {
        let skill = rest.split('"').next().unwrap();
        assert!(catalogue.contains(&format!("\"skill\": \"{skill}\"")), "{skill} is no skill of the catalogue");
    }
    let html = page();
    let (_, sample) = html.split_once("/account/profile/media").expect("an operation that sends a picture");
    assert!(sample.contains("--data-binary @picture.jpg"), "{sample}");
}

/// The shell variables that a text uses.
fn variables(text: &str) -> BTreeSet<&str> {
    let rest = text.split('$').skip(1);
    let names =
        rest.map(|rest| &rest[..rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len())]);
    names.filter(|name| !name.is_empty()).collect()
}

#[test]
fn the_introduction_sets_or_names_every_variable_of_a_sample() {
    let html = page();
    let (introduction, samples) = html.split_once("<h3").expect("operations have headings");
    let used = variables(samples);
    assert!(used.len() >= 7, "{used:?}");
    for name in used {
        let lines = [format!("\n{name}="), format!("<code>{name}="), format!("<code>{name}</code>")];
        let is_known = name == "body" || lines.iter().any(|line| introduction.contains(line));
        assert!(is_known, "${name} is set nowhere");
    }
}

#[test]
fn the_document_is_served_as_it_is_and_known_by_its_etag() {
    let site = Site::open();
    let stranger = site.stranger();
    let reply = stranger.get("/openapi.json").ok();
    let own = text().replace("http://localhost:8080", &address(&site));
    assert_eq!((reply.header("content-type"), reply.body.as_slice()), (Some("application/json"), own.as_bytes()));
    let etag = reply.header("etag").unwrap().to_owned();
    let again = stranger.ask(Method::GET, "/openapi.json").header("if-none-match", &etag).send();
    assert_eq!((again.status, again.body.len()), (304, 0));
}

#[test]
fn the_page_has_every_operation_and_every_link_leads_somewhere() {
    let html = page();
    for operation in DESCRIPTION.operations.iter().filter(|one| ROUTES.iter().any(|row| one.describes(row))) {
        let name = operation.value["operationId"].as_str().unwrap();
        assert!(html.contains(&format!("<div id=\"{name}\"")), "{name} is not on the page");
    }
    let links: Vec<&str> = html.split("href=\"#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(links.len() > 200, "{} links", links.len());
    for link in links {
        assert!(html.contains(&format!("id=\"{link}\"")), "#{link} leads nowhere");
    }
}

/// The content security policy forbids inline and foreign content, so such content would not work.
#[test]
fn the_page_has_nothing_inline_nothing_from_elsewhere_and_no_place_left_empty() {
    let html = page();
    let scripts: Vec<&str> = html.split("<script").skip(1).filter_map(|rest| rest.split("</script>").next()).collect();
    assert!(scripts.len() == 1 && scripts[0].starts_with(" src=\"/assets/docs."), "{scripts:?}");
    assert!(scripts[0].ends_with("\" defer>"), "{scripts:?}");
    for inline in ["style=", "<style", "onclick", "src=\"http", "href=\"http"] {
        assert!(!html.contains(inline), "{inline} is in the page");
    }
    for place in ["{title}", "{contents}", "{introduction}", "{groups}", "{codes}", "{types}", "**", "```", "`"] {
        assert!(!html.contains(place), "{place} is in the page");
    }
    let site = Site::open();
    for sheet in sheets(&html) {
        let style = site.stranger().ask_at_root(Method::GET, &sheet).send().ok();
        assert_eq!(style.header("content-type"), Some("text/css; charset=utf-8"));
    }
}

#[test]
fn a_partner_finds_the_vectors_and_a_command_that_signs() {
    let html = page();
    for part in [
        "c9d012234073d5d59abfecded311a546c5d2801482505a44e7842ab13ea92fae",
        "309042b1fdb688e9d4935db0c14de10cb4b051b91ef9dba5626460cc076d5f9d",
        "openssl dgst -sha256 -hmac &quot;$secret&quot;",
        "--json &#34;$body&#34; \\\n  -H &#34;token: $(sign &#34;$body&#34;)&#34;",
    ] {
        assert!(html.contains(part), "{part} is not in the page");
    }
}

#[test]
fn a_search_leaves_the_operations_that_say_all_of_its_words() {
    let site = Site::open();
    let browser = Browser::open();
    browser.go(&format!("{}/docs", site.origin()));
    let shown = "return [...document.querySelectorAll('main details.operation')].filter(one => one.checkVisibility())
                 .map(one => one.querySelector('.body').id)";
    let all = browser.run(shown, json!([])).as_array().unwrap().len();
    assert!(all > 70, "{all} operations");
    browser.press("/comment_denial PUT");
    browser.wait("return document.getElementById('found').textContent.startsWith('1 of')");
    assert_eq!(browser.run(shown, json!([])), json!(["editSkill"]));
    browser.press("\u{E007}");
    browser.wait("return location.hash === '#editSkill' && document.querySelector('#editSkill').checkVisibility()");
    browser.run("document.getElementById('search').focus()", json!([]));
    browser.press("\u{E00C}");
    assert_eq!(browser.run(shown, json!([])).as_array().unwrap().len(), all, "Escape ends the search");
    assert_eq!(browser.complaints(), [""; 0]);
}

/// A path that is copied from the page works, and a search for it finds it: it has no characters that nobody sees.
#[test]
fn a_path_on_the_page_is_the_path_itself() {
    let site = Site::open();
    let browser = Browser::open();
    browser.go(&format!("{}/docs#createPartnerUser", site.origin()));
    let path = "const code = document.querySelector('#createPartnerUser').parentElement.querySelector('summary code');
                getSelection().selectAllChildren(code); return [code.textContent, getSelection().toString()]";
    let plain = "/api/external/partner-metrics/op";
    assert_eq!(browser.run(path, json!([])), json!([plain, plain]));
    browser.run("document.getElementById('search').focus()", json!([]));
    browser.press(plain);
    browser.wait("return document.getElementById('found').textContent.startsWith('6 of')");
}
