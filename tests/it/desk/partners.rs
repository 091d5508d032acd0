//! Partners at the desk: add, rotate, revoke, refused calls, expected digests, and restored users.

use super::{Clerk, HOSTILE, demo};
use crate::harness::{Caller, Site};
use http::Method;
use serde_json::json;
use tunneldesk::keys::{hex, hmac_sha256};
use tunneldesk::store::tables::partners;

const USERS: &str = "/external/partner-metrics/op";

fn number(site: &Site, partner: &Caller) -> i64 {
    let client_id = partner.client_id().to_owned();
    site.change(|tx| Ok(partners::find(tx, &client_id)?.expect("it was made").partner_id)).0
}

/// The text of the page between two other texts.
fn between<'p>(page: &'p str, before: &str, after: &str) -> &'p str {
    page.split(before).nth(1).unwrap_or_else(|| panic!("{before} is not in {page}")).split(after).next().unwrap()
}

#[test]
fn an_admin_adds_a_partner_and_its_secret_works_and_is_shown_once() {
    let site = demo();
    let admin = Clerk::at(&site, &site.admin());
    let form = [("name", "Sky Bookings"), ("networks", "127.0.0.0/8\n10.0.0.5"), ("per_minute", "600")];
    let made = admin.post("/desk/partners", &form);
    assert_eq!((made.status, made.header("cache-control")), (200, Some("no-store")), "{made}");
    let page = made.page();
    let client_id = between(&page, "<dd><code>", "<").to_owned();
    let secret = between(&page, "class=\"secret\">", "<").to_owned();
    assert_eq!((client_id.len(), secret.len()), (16, 64), "{page}");
    let signature = hex(&hmac_sha256(secret.as_bytes(), &[b""]));
    let stranger = site.stranger();
    let asking = stranger.ask(Method::GET, USERS).header("client-id", &client_id).header("token", &signature);
    asking.send().ok();
    for path in ["/desk/partners".to_owned(), between(&page, "class=\"action\" href=\"", "\"").to_owned()] {
        let page = admin.get(&path).page();
        assert!(page.contains("Sky Bookings") && !page.contains(&secret), "{path}: {page}");
        assert!(page.contains("10.0.0.5/32"), "{path}: {page}");
    }
}

#[test]
fn a_refused_form_keeps_what_was_typed_and_names_the_mistake() {
    let site = demo();
    let admin = Clerk::at(&site, &site.admin());
    for (form, said) in [
        ([("name", ""), ("networks", ""), ("per_minute", "1")], "Give the partner a name"),
        ([("name", HOSTILE), ("networks", "10.0.0.0/99"), ("per_minute", "1")], "10.0.0.0/99 is neither"),
        ([("name", "x"), ("networks", HOSTILE), ("per_minute", "1")], "is neither an address"),
        ([("name", "x"), ("networks", ""), ("per_minute", "many")], "a whole number"),
    ] {
        let refused = admin.post("/desk/partners", &form);
        assert!(refused.status == 422 && refused.page().contains(said), "{refused}");
        assert!(!refused.page().contains("<script>") && !refused.page().contains("<img src=x"), "{refused}");
    }
    assert!(admin.get("/desk/partners").page().contains("No partner yet"), "nothing was made");
}

#[test]
fn only_admins_add_or_revoke_partners() {
    let site = demo();
    let partner = site.partner();
    let id = number(&site, &partner);
    let clerk = Clerk::at(&site, &site.desk());
    let rows = site.rows();
    let card = format!("/desk/partners/{id}");
    for path in ["/desk/partners", &card] {
        let refused = clerk.get(path);
        assert!(refused.status == 403 && refused.page().contains("Admins only"), "{refused}");
    }
    assert!(!clerk.get("/desk").page().contains("/desk/partners"), "no link that leads to a refusal");
    for path in ["/terms", "/rotate", "/revoke", "/digest"].map(|end| format!("{card}{end}")) {
        assert_eq!(clerk.post(&path, &[("name", "x"), ("keep_days", "0")]).status, 403, "{path}");
    }
    assert_eq!(clerk.post("/desk/partners", &[("name", "x")]).status, 403);
    assert_eq!(clerk.get(&format!("{card}/digest")).status, 403, "a digest opens what its body asks for");
    assert_eq!(site.rows(), rows);
    partner.get(USERS).ok();
}

#[test]
fn secrets_are_rotated_terms_changed_and_access_revoked() {
    let site = demo();
    let partner = site.partner();
    let (id, admin) = (number(&site, &partner), Clerk::at(&site, &site.admin()));
    let card = format!("/desk/partners/{id}");
    let rotated = admin.post(&format!("{card}/rotate"), &[("keep_days", "3")]);
    let secret = between(&rotated.page(), "class=\"secret\">", "<").to_owned();
    partner.get(USERS).ok();
    assert!(admin.get(&card).page().contains("active, two secrets"));
    let signature = hex(&hmac_sha256(secret.as_bytes(), &[b""]));
    site.stranger().ask(Method::GET, USERS).header("token", &signature).send().ok();
    admin.post(&format!("{card}/rotate"), &[("keep_days", "0"), ("end_older", "1")]);
    partner.get(USERS).refused(401);

    let changed =
        admin.post(&format!("{card}/terms"), &[("networks", "10.9.8.7"), ("strict", "1"), ("per_minute", "")]);
    assert_eq!(changed.header("location"), Some(format!("{card}?done=changed").as_str()), "{changed}");
    let page = admin.get(&card).page();
    assert!(page.contains("10.9.8.7/32") && page.contains(" checked"), "{page}");

    let refused = admin.post(&format!("{card}/revoke"), &[("name", "another")]);
    let page = refused.page();
    assert!(refused.status == 422 && page.contains("nothing was revoked") && page.contains(&card), "{page}");
    assert!(page.contains(&format!("data-address=\"{card}\"")), "the list renews itself from there: {page}");
    let name = format!("Partner {}", partner.client_id());
    assert_eq!(admin.post(&format!("{card}/revoke"), &[("name", &name)]).status, 303);
    assert!(admin.get(&card).page().contains("revoked for good"));
    assert_eq!(admin.post(&format!("{card}/rotate"), &[("keep_days", "0")]).status, 409);
}

#[test]
fn a_refused_call_is_listed_with_the_reason_in_words() {
    let site = demo();
    let (partner, strict) = (site.partner(), site.strict_partner());
    let far = site.partner_with(false, &["10.0.0.0/8"], None);
    let clerk = Clerk::at(&site, &site.admin());
    let client_id = partner.client_id().to_owned();
    let stranger = site.stranger();
    let ask = |client_id: &str| stranger.ask(Method::GET, USERS).header("client-id", client_id);
    ask(&client_id).send().refused(401);
    ask(&client_id).header("token", "not hex").send().refused(401);
    ask(&client_id).header("token", &"0".repeat(64)).send().refused(401);
    ask("<script>alert(1)</script>").header("token", &"0".repeat(64)).send().refused(401);
    far.get(USERS).refused(403);
    partner.post(USERS, json!({ "email": "no address" })).refused(422);
    site.revoke(&strict);
    strict.get(USERS).refused(401);

    let page = clerk.get("/desk/partners").page();
    for said in [
        "which carries the signature, is missing",
        "not a digest of 64 hex digits",
        "does not fit the body",
        "No partner has the client-id &#60;script&#62;alert(1)&#60;/script&#62;",
        "The address 127.0.0.1 is not on this partner",
        "This partner is revoked",
        "email: ",
    ] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let card = clerk.get(&format!("/desk/partners/{}", number(&site, &partner))).page();
    assert!(card.contains("does not fit the body") && !card.contains("not on this partner"), "{card}");
}

#[test]
fn the_usual_mistakes_of_a_signature_are_named_and_repeats_are_counted() {
    let site = demo();
    let admin = Clerk::at(&site, &site.admin());
    let page = admin.post("/desk/partners", &[("name", "Sky"), ("per_minute", "0")]).page();
    let (client_id, secret) = (between(&page, "<dd><code>", "<"), between(&page, "class=\"secret\">", "<"));
    let card = between(&page, "class=\"action\" href=\"", "\"").to_owned();
    let decoded = tunneldesk::keys::unhex(secret).unwrap();
    let body = " {\"email\":\"a@example.org\"}\n";
    for (digest, said) in [
        (hmac_sha256(&decoded, &[body.as_bytes()]), "was decoded from hex"),
        (hmac_sha256(secret.as_bytes(), &[b"5.", body.as_bytes()]), "the timestamp was signed too"),
        (hmac_sha256(secret.as_bytes(), &[body.trim().as_bytes()]), "without the spaces or line breaks"),
        (hmac_sha256(secret.as_bytes(), &[b"{}"]), "An empty body was signed"),
    ] {
        let ask = || {
            let stranger = site.stranger();
            let ask = stranger.ask(Method::POST, USERS).header("client-id", client_id).body(body);
            ask.header("x-timestamp", "5").header("token", &hex(&digest)).send().refused(401);
        };
        ask();
        ask();
        let card = admin.get(&card).page().to_lowercase();
        assert!(card.contains(&said.to_lowercase()) && card.contains("× 2"), "{said}: {card}");
    }
}

#[test]
fn the_expected_digest_is_shown_for_each_way_the_body_may_have_been_sent() {
    let site = demo();
    let admin = Clerk::at(&site, &site.admin());
    let page = admin.post("/desk/partners", &[("name", "Sky"), ("per_minute", "0")]).page();
    let secret = between(&page, "class=\"secret\">", "<").to_owned();
    let path = format!("{}/digest", between(&page, "class=\"action\" href=\"", "\""));
    assert_eq!(admin.get(&path).status, 200);
    let rows = site.rows();
    let expected = hex(&hmac_sha256(secret.as_bytes(), &[b"{\n}"]));
    let shown = admin.post(&path, &[("body", "{\r\n}\r\n"), ("token", &expected.to_uppercase())]).page();
    assert!(shown.contains(&expected) && shown.contains("The digest that was sent is right"), "{shown}");
    let hostile = admin.post(&path, &[("body", HOSTILE), ("token", HOSTILE)]).page();
    assert!(hostile.contains(&hex(&hmac_sha256(secret.as_bytes(), &[HOSTILE.as_bytes()]))), "{hostile}");
    assert!(hostile.contains("is none of these") && !hostile.contains("<script>"), "{hostile}");
    for page in [&shown, &hostile] {
        assert!(!page.contains(&secret), "the secret is never shown");
    }
    assert_eq!(site.rows(), rows, "nothing is kept");
}

#[test]
fn all_deleted_users_are_restored_however_many_newer_ones_cannot_be() {
    let site = demo();
    let partner = site.partner();
    let number = number(&site, &partner);
    // From the oldest: ten that can be restored, a person who was erased, 501 whose addresses have new records.
    site.change(|tx| {
        let many = "INSERT INTO partner_users (partner_id, email, created_at, updated_at, deleted_at)
                    WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2)
                    SELECT ?1, ?3 || i || '@example.org', i, i, ?4 FROM n";
        tx.run(many, (number, 10, "old", Some(100)))?;
        tx.run(many, (number, 501, "new", Some(300)))?;
        tx.run(many, (number, 501, "new", None::<i64>))?;
        let erased = "INSERT INTO partner_users (partner_id, email, created_at, updated_at, deleted_at) VALUES (?1, '', 1, 1, 200)";
        Ok(tx.run(erased, [number])?)
    });
    let clerk = Clerk::at(&site, &site.admin());
    let card = format!("/desk/partners/{number}");
    let restore = |path: &str| clerk.post(&format!("{card}/users/{path}"), &[]).header("location").unwrap().to_owned();
    assert!(restore("restore").contains("done=restored"));
    let left = |condition: &str| -> i64 {
        let sql = format!("SELECT count(*) FROM partner_users WHERE deleted_at IS NOT NULL AND {condition}");
        site.change(|tx| Ok(tx.get(&sql, [])?))
    };
    assert_eq!((left("email GLOB 'old*'"), left("email GLOB 'new*'"), left("email = ''")), (0, 501, 1));
    assert!(restore("restore").contains("done=nothing"));
    let erased: i64 = site.change(|tx| Ok(tx.get("SELECT user_id FROM partner_users WHERE email = ''", [])?));
    assert!(restore(&format!("{erased}/restore")).contains("done=nothing"), "an erased person stays so");
}

#[test]
fn users_that_a_partner_deleted_are_restored() {
    let site = demo();
    let partner = site.partner();
    let clerk = Clerk::at(&site, &site.admin());
    let card = format!("/desk/partners/{}", number(&site, &partner));
    let make = |email: &str| partner.post(USERS, json!({ "email": email })).json()["id"].as_i64().unwrap();
    let delete = |id: i64| partner.ask(Method::DELETE, &format!("{USERS}/{id}")).send().ok();
    let ids = ["a@example.org", "b@example.org", "c@example.org"].map(make);
    ids.iter().for_each(|id| _ = delete(*id));
    make("c@example.org");
    let restore = |id: i64| clerk.post(&format!("{card}/users/{id}/restore"), &[]);
    assert!(restore(ids[0]).header("location").unwrap().contains("done=restored"));
    assert!(restore(ids[0]).header("location").unwrap().contains("done=nothing"), "it is there already");
    assert!(restore(ids[2]).header("location").unwrap().contains("done=taken"));
    assert_eq!(partner.get(&format!("{USERS}/{}", ids[0])).ok().json()["email"], "a@example.org");
    partner.get(&format!("{USERS}/{}", ids[1])).refused(404);
    let all = clerk.post(&format!("{card}/users/restore"), &[]);
    assert!(all.header("location").unwrap().contains("done=restored"), "{all}");
    partner.get(&format!("{USERS}/{}", ids[1])).ok();
    let history = site.sync().post("/admin/reports/external/partner-metrics/history", json!({})).ok().json();
    assert_eq!(history["data"][0]["detail"], json!({ "restored_by": "desk" }), "and it fits the description");
    let another = site.partner();
    let elsewhere = format!("/desk/partners/{}/users/{}/restore", number(&site, &another), ids[2]);
    assert!(clerk.post(&elsewhere, &[]).header("location").unwrap().contains("done=nothing"), "of this partner alone");
}

#[test]
fn each_deleted_user_is_on_some_page_of_the_list() {
    let site = demo();
    let number = number(&site, &site.partner());
    let many = "INSERT INTO partner_users (partner_id, email, created_at, updated_at, deleted_at)
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 101)
                SELECT ?1, 'user' || i || '@example.org', i, i, 1000 + i FROM n";
    site.change(|tx| Ok(tx.run(many, [number])?));
    let clerk = Clerk::at(&site, &site.admin());
    let card = format!("/desk/partners/{number}");
    let older = |skip: i64| format!("<a href=\"{card}?skip={skip}#deleted\">Older</a>");
    let page = |path: &str| String::from_utf8(clerk.get(path).body).unwrap();
    let (first, second, third) = (page(&card), page(&format!("{card}?skip=50")), page(&format!("{card}?skip=100")));
    assert!(first.contains(">user101@example.org<") && first.contains(&older(50)) && !first.contains(">Newer<"));
    assert!(second.contains(">user51@example.org<") && second.contains(&older(100)) && second.contains(">Newer<"));
    assert!(
        third.contains(">user1@example.org<") && !third.contains(">user2@example.org<") && !third.contains(">Older<")
    );
    assert!(page(&format!("{card}?skip=101")).contains(">Newer<"), "whoever restored the last of a page can go back");
}
