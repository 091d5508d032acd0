//! Limits on changes in a day, and on the rows that one person can leave behind.

use super::DAY;
use crate::desk::Clerk;
use crate::harness::Site;
use http::Method;
use serde_json::{Value, json};
use tunneldesk::auth::RateLimiter;
use tunneldesk::auth::new_token;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::domain::role::Role;
use tunneldesk::store::tables::{notices, sessions};

const TIME: &str = "/account/logbook/time/";
const HISTORY: &str = "/admin/reports/external/partner-metrics/history";

fn flight(site: &Site) -> Value {
    json!({"entry_date": site.now() - 60, "time": "10"})
}

#[test]
fn a_person_makes_so_many_changes_a_day_and_looks_as_often_as_wanted() {
    let site = Site::open_with(|config| config.limits.changes_per_day_per_member = 3);
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    for _ in 0..3 {
        jane.post(TIME, flight(&site)).ok();
    }
    let refused = jane.post(TIME, flight(&site)).refused(429);
    assert!(refused.header("retry-after").is_some());
    jane.post("/account/logbook/member/time/", flight(&site)).refused(429);
    jane.ask(Method::POST, "/account/profile/booking-pin").send().refused(429);
    for _ in 0..5 {
        jane.get("/account/profile/user").ok();
    }
    mark.post(TIME, flight(&site)).ok();
    jane.ask(Method::POST, "/auth/logout").send().ok();
}

#[test]
fn senders_of_callbacks_and_the_staff_of_the_api_have_a_pace_each() {
    let site = Site::with_senders();
    site.inside().set_state(RateLimiter::costing(2_000));
    let (processor, sync, other) = (site.processor(), site.sync(), site.sync());
    let event = |n: i32| json!({"id": format!("evt_{n}"), "object": "event", "type": "customer.created", "created": site.now(), "data": {"object": {}}});
    (0..3).for_each(|n| drop(processor.post("/payment-webhook", event(n)).ok()));
    assert!(processor.post("/payment-webhook", event(3)).refused(429).header("retry-after").is_some());
    let mail = json!({"mail_events": []});
    site.mail_provider().post("/mail-webhook", mail).ok();
    (0..30).for_each(|_| drop(sync.post(HISTORY, json!({})).ok()));
    assert!(sync.post(HISTORY, json!({})).refused(429).header("retry-after").is_some());
    other.post(HISTORY, json!({})).ok();
}

#[test]
fn members_and_clerks_look_faster_than_a_person_can_and_a_page_says_when_to_go_on() {
    const USER: &str = "/account/profile/user";
    let site = Site::open_with(|config| config.demo = true);
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let desk = Clerk::at(&site, &site.desk());
    site.inside().set_state(RateLimiter::costing(20_000));
    (0..3).for_each(|_| drop(jane.get(USER).ok()));
    assert!(jane.get(USER).refused(429).header("retry-after").is_some());
    mark.get(USER).ok();
    (0..3).for_each(|_| assert_eq!(desk.get("/desk/kiosks").status, 200));
    let refused = desk.get("/desk/kiosks");
    assert!(refused.status == 429 && refused.page().contains("Wait 1 min, then try again"), "{refused}");
}

#[test]
fn a_logbook_is_full_at_some_point_and_sooner_without_a_confirmed_address() {
    let site = Site::open();
    for (name, most, said, confirmed) in [("jane", 50_000, "50,000", true), ("new", 1_000, "1,000", false)] {
        let member = site.member(name);
        site.change(|tx| {
            if !confirmed {
                tx.run("UPDATE members SET email_confirmed_at = NULL WHERE member_id = ?1", [member.id])?;
            }
            let sql = "WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < ?2)
                       INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, created_at, updated_at)
                       SELECT ?1, 'time', 'open', ?3, 1, ?4, ?1, ?3, ?3 FROM n";
            Ok(tx.run(sql, (member.id, most, tx.now() - 86_400, Site::TUNNEL_ID))?)
        });
        let entry_id = member.post(TIME, flight(&site)).ok().json()["entry_id"].clone();
        let refused = member.post(TIME, flight(&site)).refused(409);
        assert_eq!(refused.json()["code"], "logbook_full");
        assert!(refused.json()["message"].as_str().unwrap().contains(said), "{refused}");
        member.delete(&format!("/account/logbook/{entry_id}")).ok();
        member.post(TIME, flight(&site)).ok();
    }
}

#[test]
fn the_rows_of_sign_ins_and_notices_of_a_member_are_limited() {
    let site = Site::open();
    let jane = site.member("jane");
    let (_, newest) = new_token();
    site.change(|tx| {
        for n in 0..600 {
            sessions::insert(tx, &new_token().1, MemberId(jane.id), Role::Member, "it")?;
            sessions::insert_booking_token(tx, &new_token().1, MemberId(jane.id), None, tx.now() + n)?;
        }
        sessions::insert(tx, &newest, MemberId(jane.id), Role::Member, "it")?;
        for _ in 0..5_100 {
            notices::insert(tx, MemberId(jane.id), "notice.pin_paused", "{\"minutes\": 15}")?;
        }
        Ok(())
    });
    let rows = site.rows();
    assert_eq!((rows["sessions"], rows["booking_tokens"], rows["notices"]), (500, 200, 5_000));
    let kept = site.change(|tx| Ok(sessions::find(tx, &newest, tx.now())?));
    assert!(kept.is_some(), "the newest session stays");
}

#[test]
fn expired_rows_are_purged_in_any_number() {
    let site = Site::open();
    site.change(|tx| {
        let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
                   INSERT INTO counted (count_key, counted_at) SELECT randomblob(32), ?1 FROM n";
        Ok(tx.run(sql, [tx.now()])?)
    });
    site.advance(2 * DAY);
    assert_eq!(tunneldesk::jobs::purge_all_expired(&site.for_a_job()).unwrap(), 5_000);
    assert_eq!(site.rows()["counted"], 0);
}
