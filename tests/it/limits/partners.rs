//! Partners that guess PINs.

use crate::desk::Clerk;
use crate::harness::{Caller, Reply, Site};
use http::Method;
use serde_json::json;
use std::time::Duration;

const GENERATE: &str = "/external/partner-metrics/op/generate-token";

fn guess(partner: &Caller, member_id: i64, pin: &str) -> Reply {
    partner.post(GENERATE, json!({"member_id": member_id, "member_pin": pin})).ok()
}

#[test]
fn a_partner_that_sprays_pins_is_paused_and_the_desk_is_told() {
    let site = Site::open_with(|config| config.demo = true);
    let (partner, other, admin, jane) = (site.partner(), site.partner(), site.admin(), site.member("jane"));
    let pin = site.pin(&jane);
    let wrong = guess(&partner, 1_000, "000000").json();
    for n in 1..31 {
        let reply = guess(&partner, 1_000 + n, "000000");
        assert_eq!((reply.json(), reply.header("retry-after")), (wrong.clone(), None));
    }
    let before = site.rows();
    let reply = guess(&partner, jane.id, &pin);
    assert_eq!(reply.json(), wrong, "the right PIN gets the answer of a wrong one");
    assert_eq!(reply.header("retry-after"), Some("900"));
    let body = json!({"member_id": jane.id, "member_pin": pin});
    for n in 0..3 {
        let asking = partner.ask(Method::POST, GENERATE).json(&body);
        asking.header("idempotency-key", &format!("key-{n}")).send().ok();
    }
    assert_eq!(site.rows(), before, "a pause writes nothing, keys or not");
    assert_eq!(guess(&other, jane.id, &pin).json()["status"], true, "another partner goes on");

    let paused = |site: &Site| {
        let sql = "SELECT count(*) FROM audit WHERE action = 'partner.paused' AND subject = ?1";
        let whom = format!("partner:{}", partner.client_id());
        site.change(|tx| Ok(tx.get::<i64>(sql, [&whom])?))
    };
    assert_eq!(paused(&site), 1);
    let fact = tunneldesk::ops::health::check(site.inside(), tunneldesk::ops::health::Depth::Quick);
    let fact = fact.into_iter().find(|fact| fact.name == "partners").unwrap();
    assert_eq!(
        (fact.text.key(), fact.figure.map(|figure| (figure.unit, figure.value))),
        ("health.partners.paused", Some(("paused", 1)))
    );
    let clerk = Clerk::at(&site, &admin);
    assert!(clerk.get("/desk/partners").page().contains("paused for 15 min"));

    site.advance(Duration::from_secs(901));
    assert_eq!(guess(&partner, jane.id, &pin).json()["status"], true);
    assert!(!clerk.get("/desk/partners").page().contains("paused for"));
}

#[test]
fn a_partner_whose_members_mistype_now_and_then_is_never_paused() {
    let site = Site::open();
    let partner = site.partner();
    for n in 0..100 {
        assert_eq!(guess(&partner, 1_000 + n, "000000").header("retry-after"), None, "{n}");
        site.advance(Duration::from_secs(61));
    }
}
