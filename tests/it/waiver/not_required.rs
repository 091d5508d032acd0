//! A site that requires no waivers shows none, and reads no waiver table: the tables are renamed in this test.

use crate::desk::kiosk::{enter, paired};
use crate::desk::{Clerk, book, table};
use crate::harness::Site;
use http::Method;
use serde_json::{Value, json};
use tunneldesk::routes::PAGES;

const TABLES: [&str; 11] = [
    "brief_pictures",
    "site_texts",
    "site_text_drafts",
    "waiver_signatures",
    "waiver_decisions",
    "waiver_overrides",
    "guardianships",
    "emergency_contacts",
    "consents",
    "brief_confirmations",
    "signing_links",
];
/// Words of the waiver that no page may contain.
const WORDS: [&str; 7] =
    ["waiver", "guardian", "/kiosk/family", "/kiosk/brief", "/desk/texts", "href=\"/sign", "/kiosk/book\""];
/// Where a waiver can be required.
const SETTINGS: &str = "/desk/site/settings";
/// Pages that exist only for waivers.
const ITS_OWN: [&str; 11] = [
    "/desk/texts/picture.jpg",
    "/kiosk/brief.jpg",
    "/desk/waivers",
    "/desk/texts",
    "/desk/texts/edit",
    "/desk/texts/version",
    "/desk/members/{member_id}/waiver",
    "/desk/members/{member_id}/waiver.pdf",
    "/kiosk/waiver",
    "/kiosk/brief",
    "/kiosk/family",
];

/// Renames the tables, away or back.
fn rename(site: &Site, away: bool) {
    site.change(|tx| {
        for name in TABLES {
            let (from, to) =
                if away { (name.to_owned(), format!("off_{name}")) } else { (format!("off_{name}"), name.to_owned()) };
            tx.run(&format!("ALTER TABLE {from} RENAME TO {to}"), [])?;
        }
        Ok(())
    });
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().unwrap().keys().cloned().collect()
}

#[test]
fn without_required_waivers_no_page_or_reply_mentions_them_and_no_query_reads_them() {
    let site = Site::open_with(|config| config.demo = true);
    let (admin, jane, kiosk, partner) =
        (Clerk::at(&site, &site.admin()), site.flyer("jane"), paired(&site), site.partner());
    let booking = book(&site, &jane, 60);
    enter(&site, &kiosk, &jane);
    partner.post("/external/partner-metrics/op", json!({ "email": "jane@example.com" })).ok();
    rename(&site, true);

    let mut seen = 0;
    for page in PAGES.iter().filter(|page| page.method == Method::GET && !page.live) {
        let path = table::path(&page.path.replace("{member_id}", &jane.id.to_string()));
        let reply = match page.caller() {
            "desk" => admin.get(&path),
            _ => kiosk.get(&path),
        };
        assert!(reply.status < 500, "{path} asks the file: {reply}");
        let is_own =
            ITS_OWN.contains(&page.path) || page.path.starts_with("/kiosk/family") || page.path == "/kiosk/book";
        assert!(!is_own || reply.status == 404, "{path} is there: {reply}");
        if reply.status == 200 && !["/assets/{file}", SETTINGS].contains(&page.path) {
            let text = String::from_utf8_lossy(&reply.body).to_lowercase();
            let found: Vec<_> = WORDS.iter().filter(|word| text.contains(**word)).collect();
            assert!(found.is_empty(), "{path} says {found:?}");
            seen += 1;
        }
    }
    assert!(seen > 25, "{seen} pages");
    for path in ["/sign?code=x", "/kiosk/waiver", "/api/account/profile/waiver"] {
        assert_eq!(kiosk.get(path).status, if path.starts_with("/api") { 401 } else { 404 }, "{path}");
    }
    jane.get("/account/profile/waiver").refused(404);
    jane.post("/account/profile/waiver", json!({})).refused(404);
    let user = jane.get("/account/profile/user").ok().json();
    assert!(
        !keys(&user).iter().any(|key| ["may_check_in", "waiver", "guardian", "brief"].contains(&key.as_str())),
        "{user}"
    );
    let sent = json!({
        "member_id": jane.id, "member_pin": site.pin(&jane), "registration_id": 1, "flight_date": site.now() + 60,
        "minutes_booked": 12, "tunnel_id": Site::TUNNEL_ID,
    });
    let token = partner.post("/external/partner-metrics/op/generate-token", sent).ok().json();
    assert_eq!(keys(&token), ["booking", "message", "status", "token"]);
    let user = partner.get("/external/partner-metrics/op/1").ok().json();
    assert_eq!(keys(&user), ["created_at", "email", "id", "member_id", "message", "status", "updated_at"]);
    jane.post("/account/logbook/time/", json!({ "entry_date": site.now(), "time": 12 })).ok();
    assert_eq!(
        kiosk.post(&format!("/kiosk/bookings/{booking}/check-in"), &[]).header("location"),
        Some("/kiosk/home?done=arrived")
    );
    assert_eq!(kiosk.post("/kiosk/time", &[("minutes", "5")]).status, 303);
    assert_eq!(kiosk.post("/kiosk/leave", &[]).status, 303);
    rename(&site, false);
}
