//! Tests of every page, generated from the route table.

use super::{Clerk, demo};
use crate::harness::{Reply, Site};
use crate::member::own_pages;
use http::Method;
use tunneldesk::routes::{PAGES, ROUTES};

/// A path in which every parameter names an existing object.
pub fn path(path: &str) -> String {
    let numbers = [
        "{booking_id}",
        "{member_id}",
        "{partner_id}",
        "{user_id}",
        "{message_id}",
        "{contact_id}",
        "{entry_id}",
        "{kiosk_id}",
        "{payment_id}",
        "{closing_id}",
        "{invitation_id}",
        "{child_id}",
        "{hook_id}",
    ];
    let path = path.replace("{file}", "desk.css").replace("{skill}", "10101");
    numbers.iter().fold(path, |path, place| path.replace(place, "1"))
}

#[test]
fn page_routes_are_outside_the_api_and_have_their_own_access() {
    for page in PAGES {
        assert!(page.is_page() && page.base.is_empty() && !page.path.starts_with("/api"), "{}", page.path);
        assert!(page.path == "/" || !page.path.ends_with('/'), "{}", page.path);
        assert!([Method::GET, Method::POST].contains(&page.method), "forms know no other method: {}", page.path);
        let inside = page.path == "/desk" || page.path.starts_with("/desk/");
        assert!(page.caller() == "desk" || !inside || page.path.starts_with("/desk/sign-in"), "{} is open", page.path);
        let own = page.path == "/me" || page.path.starts_with("/me/");
        assert!((page.caller() == "own") == (own && !page.path.starts_with("/me/sign-in")), "{} is open", page.path);
    }
    assert!(ROUTES.iter().all(|row| !row.is_page()));
}

#[test]
fn only_clerks_see_pages_of_the_desk() {
    let site = demo();
    let jane = site.member("jane");
    let stranger = Clerk::outside(&site);
    let member = Clerk::outside(&site);
    member.cookies.borrow_mut().insert("desk".to_owned(), jane.token().to_owned());
    let sync = Clerk::outside(&site);
    sync.cookies.borrow_mut().insert("desk".to_owned(), site.sync().token().to_owned());
    let rows = site.rows();
    for page in PAGES.iter().filter(|page| page.caller() == "desk") {
        for somebody in [&stranger, &member, &sync] {
            let reply = match page.method == Method::GET {
                true => somebody.get(&path(page.path)),
                false => somebody.post(&path(page.path), &[]),
            };
            let sent = reply.header("location").is_some_and(|place| place.starts_with("/desk/sign-in"));
            assert!(reply.status == 303 && sent && reply.body.is_empty(), "{reply}");
        }
    }
    // Signing out is a row of the desk too: it ends no session of a member who is not a clerk.
    assert_eq!(site.rows(), rows, "nothing was written, and no session ended");
}

#[test]
fn only_a_kiosk_and_its_guest_see_pages_of_the_kiosk() {
    let site = demo();
    let (stranger, clerk) = (Clerk::outside(&site), Clerk::at(&site, &site.desk()));
    let kiosk = super::kiosk::paired(&site);
    let rows = site.rows();
    for page in PAGES.iter().filter(|page| ["kiosk", "guest"].contains(&page.caller())) {
        for somebody in [&stranger, &clerk, &kiosk] {
            if page.caller() == "kiosk" && std::ptr::eq(somebody, &kiosk) {
                continue;
            }
            let reply = match page.method == Method::GET {
                true => somebody.get(&path(page.path)),
                false => somebody.post(&path(page.path), &[]),
            };
            assert_eq!((reply.status, reply.header("location")), (303, Some("/kiosk")), "{} {reply}", page.path);
            assert!(reply.body.is_empty(), "{reply}");
        }
    }
    assert_eq!(site.rows(), rows, "nothing was written");
}

/// The paths that only take a form, of the desk and of the kiosk.
fn form_addresses() -> Vec<&'static str> {
    let has_page = |path: &str| PAGES.iter().any(|one| one.method == Method::GET && one.path == path);
    let forms = PAGES.iter().filter(|one| one.method == Method::POST && !has_page(one.path)).map(|one| one.path);
    forms.filter(|path| ["/desk", "/kiosk", "/me"].iter().any(|part| path.starts_with(part))).collect()
}

/// What a browser finds at an address, after redirects.
fn led_to(clerk: &Clerk, path: &str) -> (String, Reply) {
    let (mut address, mut reply) = (path.to_owned(), clerk.get(path));
    for _ in 0..3 {
        let Some(next) = reply.header("location").map(str::to_owned) else { break };
        assert_eq!(reply.status, 303, "{address}: {reply}");
        (address, reply) = (next.clone(), clerk.get(&next));
    }
    (address, reply)
}

#[test]
fn the_address_of_a_form_leads_to_the_page_that_has_the_form() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.waiver.required = true;
    });
    super::day(&site);
    super::behind_the_counter(&site);
    let admin = Clerk::at(&site, &site.admin());
    let kiosk = super::kiosk::paired(&site);
    super::kiosk::enter(&site, &kiosk, &site.flyer("kim"));
    let jane = own_pages(&site, &site.flyer("june"));
    let request: i64 = site.change(|tx| Ok(tx.get("SELECT max(entry_id) FROM entries WHERE kind = 'skill'", [])?));
    let request = format!("/sign-offs/{request}/");
    let rows = site.rows();
    let all = form_addresses();
    assert!(all.len() > 60, "{all:?}");
    for path in all.iter().copied() {
        let concrete = self::path(path).replace("/partners/1/", "/partners/5/").replace("/sign-offs/1/", &request);
        let browser = match path.split('/').nth(1) {
            Some("kiosk") => &kiosk,
            Some("me") => &jane,
            _ => &admin,
        };
        let (address, reply) = led_to(browser, &concrete);
        // Nobody has paid on this site.
        // The entries that these pages name are not June's.
        let foreign = ["/desk/till/entries/", "/me/logbook/"].iter().any(|part| path.starts_with(part));
        let status = if foreign { 404 } else { 200 };
        assert_eq!(reply.status, status, "{path} leads to {address}: {reply}");
        assert!(reply.page().starts_with("<!doctype html>"), "{path} leads to {address}");
    }
    // Pages that are not directly above their forms.
    for (path, there) in [
        ("/desk/members/1/guardians/end", "/desk/members/1/waiver"),
        ("/desk/members/1/photo/remove", "/desk/members/1"),
        ("/desk/members/1/ban/lift", "/desk/members/1?tab=security"),
        ("/desk/members/1/slip", "/desk/members/1/welcome"),
        ("/desk/site/invitations/1/withdraw", "/desk/site/users"),
        ("/desk/texts/picture/remove", "/desk/texts?kind=brief"),
    ] {
        assert_eq!(admin.get(path).header("location"), Some(there), "{path}");
        assert_eq!(admin.head(path).header("location"), Some(there), "HEAD {path}");
    }
    // Who is not there is not found.
    for path in all.iter().filter(|path| path.starts_with("/desk/members/{") || path.starts_with("/desk/bookings/{")) {
        let unknown = path.replace("{member_id}", "99999").replace("{booking_id}", "99999").replace("{entry_id}", "1");
        assert_eq!(led_to(&admin, &unknown).1.status, 404, "{unknown}");
    }
    assert_eq!(site.rows(), rows, "an address that is opened sends no form");
}

#[test]
fn a_form_of_another_origin_changes_nothing() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    let rows = site.rows();
    let origin = format!("http://{}", site.address());
    for page in PAGES.iter().filter(|page| page.method == Method::POST) {
        for headers in [
            &[][..],
            &[("origin", "null")],
            &[("origin", "https://evil.example")],
            &[("origin", "http://127.0.0.1:1")],
            &[("sec-fetch-site", "same-site")],
            &[("sec-fetch-site", "cross-site")],
            &[("origin", &origin), ("sec-fetch-site", "cross-site")],
            &[("origin", "https://evil.example"), ("sec-fetch-site", "same-origin")],
        ] {
            let reply = clerk.post_from(&path(page.path), &[("username", "jane"), ("password", "x")], headers);
            assert_eq!(reply.status, 403, "{headers:?} {reply}");
            assert!(reply.page().contains("did not come from a page of this site"), "{reply}");
        }
    }
    assert_eq!(site.rows(), rows, "nothing was written");
    assert_eq!(clerk.get("/desk").status, 200, "the session lives");
}

#[test]
fn every_page_has_a_content_policy_and_is_not_cached() {
    let site = demo();
    super::day(&site);
    let clerk = Clerk::at(&site, &site.desk());
    for path in ["/desk", "/desk/sign-in/code", "/desk/nothing", "/desk/members/999/photo"] {
        let reply = clerk.get(path);
        if reply.status == 303 {
            continue;
        }
        let policy = reply.header("content-security-policy").unwrap_or_default();
        assert!(policy.starts_with("default-src 'none'; style-src 'self'; script-src 'self';"), "{path}: {policy}");
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(reply.header("cache-control"), Some("no-store"), "{path}");
        assert!(reply.page().starts_with("<!doctype html>"), "{path}");
    }
}

#[test]
fn assets_are_named_by_the_hash_of_their_content() {
    let site = Site::open();
    let page = Clerk::outside(&site).get("/desk/sign-in").page();
    let named: Vec<&str> = page.split("\"/assets/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(named.len() >= 3, "{named:?}");
    for name in named {
        let reply = Clerk::outside(&site).get(&format!("/assets/{name}"));
        assert_eq!(reply.status, 200, "{reply}");
        assert_eq!(reply.header("cache-control"), Some("public, max-age=31536000, immutable"));
    }
    assert_eq!(Clerk::outside(&site).get("/assets/desk.css").status, 404);
}

#[test]
fn every_text_key_of_the_pages_is_in_the_catalogue() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let texts = tunneldesk::i18n::language::Language::English.texts();
    let mut named = 0;
    let pages = ["desk", "kiosk", "member", "public"]
        .map(|dir| std::fs::read_dir(root.join("assets/templates").join(dir)).unwrap());
    for entry in pages.into_iter().flatten() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        for key in text.split("say(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
            assert!(texts.contains_key(key), "{}: {key}", path.display());
            named += 1;
        }
    }
    assert!(named > 30, "the templates were not read");
}

/// If two files had the same key, one page would show the text of the other.
#[test]
fn no_text_key_is_in_two_files() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/translations");
    for language in ["en", "de", "fr", "it", "es"] {
        let mut seen = std::collections::BTreeMap::new();
        for entry in std::fs::read_dir(root.join(language)).unwrap() {
            let path = entry.unwrap().path();
            let texts = std::fs::read_to_string(&path).unwrap();
            let keys = texts.lines().filter_map(|line| line.trim_start().strip_prefix('"')?.split_once("\":"));
            for (key, _) in keys {
                let before = seen.insert(key.to_owned(), path.clone());
                assert_eq!(before, None, "{key} stands in {} too", path.display());
            }
        }
        assert!(seen.len() > 500, "{language}: the texts were not read");
    }
}
