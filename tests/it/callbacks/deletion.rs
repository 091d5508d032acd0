//! Deletions requested through the social network: which data are deleted, which stay, and that both are so.

use super::*;
use crate::harness::senders::{APP_SECRET, signed_request};
use crate::harness::{Credential, Request};
use http::Method;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::social_links;

fn request(user_id: &str, issued_at: i64) -> Value {
    let payload = json!({ "algorithm": "HMAC-SHA256", "issued_at": issued_at, "user_id": user_id });
    json!({ "signed_request": signed_request(APP_SECRET, &payload) })
}

pub fn ask(site: &Site, user_id: &str, issued_at: i64) -> String {
    let accepted = site.stranger().post("/social-data-deletion", request(user_id, issued_at)).ok().json();
    let code = accepted["confirmation_code"].as_str().unwrap().to_owned();
    let url = format!("https://tunnel.example.com/api/social-data-deletion-status?id={code}");
    assert_eq!(accepted, json!({ "url": url, "confirmation_code": code }));
    assert!(code.len() >= 32 && code.bytes().all(|byte| byte.is_ascii_hexdigit()), "{code}");
    code
}

fn outcome(site: &Site, code: &str) -> String {
    let path = format!("/social-data-deletion-status?code={code}");
    site.stranger().get(&path).ok().json()["outcome"].as_str().unwrap().to_owned()
}

/// A new, signed-in member from Facebook.
pub fn facebook_member(site: &Site, user_id: &str, name: &str) -> Caller {
    let payload = json!({ "algorithm": "HMAC-SHA256", "issued_at": site.now(), "user_id": user_id });
    let params = json!({ "signed_request": signed_request(APP_SECRET, &payload) }).to_string();
    let body = json!({ "params": params, "socialType": "facebook", "user": json!({ "name": name }).to_string() });
    let welcome = site.stranger().post("/auth/social", body).ok().json();
    assert_eq!(welcome["status"], true, "{welcome}");
    let token = welcome["token"].as_str().unwrap().to_owned();
    let credential = Credential::Token { header: "authorization", prefix: "Bearer ", token };
    let mut member = site.stranger().with(credential);
    member.id = welcome["member_id"].as_i64().unwrap();
    member
}

#[test]
fn an_account_that_only_the_network_opened_is_erased_with_the_link() {
    let site = Site::with_senders();
    let zoe = facebook_member(&site, "900001", "Zoe Quillfeather");
    let profile = zoe.get("/account/profile/user").ok().json();
    let username = profile["username"].as_str().unwrap().to_owned();
    assert_eq!(profile["real_name"], "Zoe Quillfeather");
    // Rows in several tables: flight time, a picture, a payment, a signature for another member.
    zoe.post(
        "/account/logbook/time/",
        json!({ "entry_date": site.now() - 60, "time": 12, "comment": "with Zoe Quillfeather" }),
    )
    .ok();
    zoe.send(&picture()).ok();
    verdict(&site, &event("evt_1", "payment_intent.succeeded", intent("pi_1", Some(&zoe))));
    let mark = site.flyer("mark");
    let skill = site.skill(&mark, "open");
    site.change(|tx| Ok(tx.run("UPDATE entries SET instructor_id = ?2 WHERE entry_id = ?1", (skill, zoe.id))?));
    let before = site.rows();

    let code = ask(&site, "900001", site.now());
    assert_eq!(outcome(&site, &code), "erased");
    zoe.get("/account/profile/user").refused(401);
    for trace in ["Quillfeather", "900001", &username] {
        assert_eq!(site.holds_text(trace), [""; 0], "{trace} is still there");
    }
    let after = site.rows();
    for table in ["members", "entries", "payments"] {
        assert_eq!(after[table], before[table], "{table} must be kept");
    }
    for table in ["media", "social_links", "notices"] {
        assert_eq!(after[table], 0, "{table}");
    }
    let sql = "SELECT count(*) FROM entries WHERE entry_id = ?1 AND instructor_id = ?2";
    assert_eq!(site.change(|tx| Ok(tx.get::<i64>(sql, (skill, zoe.id))?)), 1);
    // The same person signing in again becomes a new member.
    assert_ne!(facebook_member(&site, "900001", "Zoe Quillfeather").id, zoe.id);
}

fn picture() -> Request {
    let request = Request::new(&Method::POST, "/api/account/profile/media").header("content-type", "image/png");
    Request { body: crate::harness::pictures::png(20, 10), ..request }
}

#[test]
fn an_account_with_another_way_in_stays_without_the_link_its_name_and_its_sessions() {
    let site = Site::with_senders();
    let zoe = facebook_member(&site, "900002", "Zoe Quillfeather");
    let hash = "UPDATE members SET password_hash = (SELECT password_hash FROM members WHERE username = 'jane'), real_name = 'Z. Chosen' WHERE member_id = ?1";
    site.member("jane");
    site.change(|tx| Ok(tx.run(hash, [zoe.id])?));
    let code = ask(&site, "900002", site.now());
    assert_eq!(outcome(&site, &code), "unlinked");
    zoe.get("/account/profile/user").refused(401);
    let profile = site.again(&zoe).get("/account/profile/user").ok().json();
    assert_eq!(profile["screen_name"], profile["username"], "the name that came with the link went with it");
    assert_eq!(profile["real_name"], "Z. Chosen", "the name that she chose stays");
    assert_eq!(site.holds_text("Zoe Quillfeather"), [""; 0]);
    assert_eq!(site.rows()["social_links"], 0);
}

#[test]
fn a_staff_account_is_never_erased_by_a_network() {
    let site = Site::with_senders();
    let desk = site.desk();
    site.change(|tx| {
        tx.run("UPDATE members SET password_hash = NULL, email_confirmed_at = NULL WHERE member_id = ?1", [desk.id])?;
        Ok(social_links::insert(tx, "facebook", "900003", MemberId(desk.id), "")?)
    });
    assert_eq!(outcome(&site, &ask(&site, "900003", site.now())), "unlinked");
}

#[test]
fn the_same_person_gets_the_same_code_until_there_is_something_new_to_delete() {
    let site = Site::with_senders();
    let zoe = facebook_member(&site, "900004", "Zoe");
    let first = ask(&site, "900004", site.now());
    assert_eq!(ask(&site, "900004", site.now()), first, "the same request");
    assert_eq!(ask(&site, "900004", site.now() + 1), first, "another request, and nothing came since");
    assert_ne!(ask(&site, "900005", site.now()), first, "somebody else");
    let back = facebook_member(&site, "900004", "Zoe");
    assert_ne!(back.id, zoe.id);
    assert_eq!(ask(&site, "900004", site.now()), first, "an old request that comes again deletes nothing new");
    back.get("/account/profile/user").ok();
    let second = ask(&site, "900004", site.now() + 2);
    assert_ne!(second, first);
    back.get("/account/profile/user").refused(401);
    assert_eq!((outcome(&site, &first), outcome(&site, &second)), ("erased".to_owned(), "erased".to_owned()));
}

#[test]
fn an_unknown_person_is_told_so_and_a_sign_in_request_deletes_nothing() {
    let site = Site::with_senders();
    assert_eq!(outcome(&site, &ask(&site, "900006", 1_291_836_800)), "nothing");
    facebook_member(&site, "900007", "Zoe");
    let payload = json!({ "algorithm": "HMAC-SHA256", "issued_at": site.now(), "user_id": "900007", "code": "abc" });
    let body = json!({ "signed_request": signed_request(APP_SECRET, &payload) });
    site.stranger().post("/social-data-deletion", body).refused(401);
    assert_eq!(site.rows()["social_links"], 1);
}
