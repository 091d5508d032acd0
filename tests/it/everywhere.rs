//! Rules that hold for every operation: refusals, languages, request ids, caching, bodies.

use crate::harness::{Reply, Request, Site};
use crate::world::{PICTURE, World};
use http::Method;
use serde_json::json;
use std::collections::BTreeSet;
use tunneldesk::routes::{ROUTES, Route};

const KIB: usize = 1024;

/// Rows that read JSON from their body.
fn built_with_a_body() -> impl Iterator<Item = &'static Route> {
    let reads = |route: &&Route| [Method::POST, Method::PUT].contains(&route.method);
    ROUTES.iter().filter(reads).filter(|route| route.path != PICTURE)
}

/// Rows that read nothing from their body.
const BODILESS: [&str; 8] = [
    "/events/ticket",
    "/account/profile/booking-pin",
    "/account/profile/kiosk-code",
    "/auth/logout",
    "/account/profile/remove-media",
    "/account/notifications/read/{notification_id}",
    "/account/logbook/entries/{entry_id}/suspend",
    "/account/logbook/entries/{entry_id}/reinstate",
];

/// Sends the row's good request with another body and content type, from its right caller, who signs that body.
fn with_body(world: &World, route: &Route, body: &[u8], kind: Option<&str>) -> Reply {
    let caller = world.right_caller(route);
    let mut request = world.request(route, &caller);
    request.headers.retain(|(name, _)| name != "content-type");
    request.body = body.to_vec();
    caller.send(&kind.into_iter().fold(request, |request, kind| request.header("content-type", kind)))
}

#[test]
fn a_refusal_has_the_same_shape_wherever_it_is_made() {
    let site = Site::open();
    let (stranger, jane, partner) = (site.stranger(), site.member("jane"), site.partner());
    stranger.get("/account/profile/user").refused(401);
    jane.get("/account/logbook/time/999999").refused(403);
    jane.delete("/account/logbook/999999").refused(404);
    jane.get("/nothing").refused(404);
    jane.ask(Method::PATCH, "/account/profile/user").send().refused(405);
    jane.post("/account/logbook/time/", json!({})).refused(422);
    jane.ask(Method::POST, "/account/logbook/time/").body("{").send().refused(400);
    partner.post("/external/partner-metrics/op", json!({ "email": "ann@example.com" })).ok();
    partner.post("/external/partner-metrics/op", json!({ "email": "ann@example.com" })).refused(409);
}

/// Values that no field of any body accepts. All but the first are JSON that a program can write and few can read.
fn bad_values() -> [String; 4] {
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    ["{\"a\":1}".to_owned(), "\"\\ud83d\"".to_owned(), "1e400".to_owned(), deep]
}

#[test]
fn every_bad_field_is_named_at_once() {
    let world = World::open();
    for route in built_with_a_body().filter(|route| !BODILESS.contains(&route.path)) {
        let caller = world.right_caller(route);
        let good: serde_json::Value = serde_json::from_slice(&world.request(route, &caller).body).unwrap();
        // The events of a mail provider are JSON text of their own, in which a list of anything is a batch.
        let values = bad_values();
        for value in values.iter().take(if route.path == "/mail-webhook" { 1 } else { values.len() }) {
            let bad: Vec<String> = good.as_object().unwrap().keys().map(|key| format!("\"{key}\":{value}")).collect();
            let bad = format!("{{{}}}", bad.join(","));
            let reply = with_body(&world, route, bad.as_bytes(), Some("application/json")).refused(422);
            let named: BTreeSet<String> = reply.bad_fields().into_iter().collect();
            let echoed = ["success", "message", "salt", "status"];
            let read = good.as_object().unwrap().keys().filter(|key| !echoed.contains(&key.as_str()));
            let missed: BTreeSet<_> = read.filter(|key| !named.contains(*key)).collect();
            assert!(missed.is_empty(), "{missed:?} are not named: {reply}");
        }
    }
}

#[test]
fn what_stands_in_an_unknown_field_is_no_problem() {
    for value in bad_values() {
        let world = World::open();
        for route in built_with_a_body() {
            let caller = world.right_caller(route);
            let good = world.request(route, &caller).body;
            let open = good.strip_suffix(b"}").unwrap_or(b"{\"other\":0");
            let body = [open, b",\"unknown\":", value.as_bytes(), b"}"].concat();
            let reply = with_body(&world, route, &body, Some("application/json"));
            assert!(reply.status < 400, "{reply} to {value:.20}");
        }
    }
}

#[test]
fn what_is_not_json_is_400_and_what_is_not_an_object_422() {
    let world = World::open();
    for route in built_with_a_body().filter(|route| !BODILESS.contains(&route.path)) {
        for body in [&b"{"[..], b"email=a", b"{\"a\":\"\xff\"}", b"{} {}", b"nul"] {
            with_body(&world, route, body, None).refused(400);
        }
        for body in ["[]", "1", "\"text\"", "null", "true"] {
            with_body(&world, route, body.as_bytes(), None).refused(422);
        }
    }
}

#[test]
fn a_compressed_body_is_415_in_words() {
    let world = World::open();
    for route in ROUTES.iter().filter(|route| [Method::POST, Method::PUT].contains(&route.method)) {
        let caller = world.right_caller(route);
        let good = world.request(route, &caller);
        for coding in ["gzip", "identity, br"] {
            let packed = good.clone().header("content-encoding", coding).header("accept-language", "de");
            let reply = caller.send(&packed).refused(415).json();
            assert_eq!(reply["code"], "unsupported_encoding", "{reply}");
            assert_eq!(reply["message"], "Den Inhalt unkomprimiert senden, ohne Content-Encoding.");
        }
        caller.send(&good.header("content-encoding", "identity")).ok();
    }
}

#[test]
fn a_byte_order_mark_before_the_json_is_ignored() {
    let world = World::open();
    let mark = b"\xef\xbb\xbf";
    for route in built_with_a_body().filter(|route| !BODILESS.contains(&route.path)) {
        let caller = world.right_caller(route);
        let good = world.request(route, &caller);
        caller.send(&Request { body: [mark, good.body.as_slice()].concat(), ..good }).ok();
        with_body(&world, route, &[mark.as_slice(), mark, b"{}"].concat(), None).refused(400);
    }
}

#[test]
fn json_is_taken_by_that_name_or_without_one_and_nothing_else() {
    let world = World::open();
    for route in built_with_a_body().filter(|route| !BODILESS.contains(&route.path)) {
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
            "application/jsonx",
            "text/json",
            "*/*",
        ] {
            // The senders of callbacks send forms.
            if kind == "application/x-www-form-urlencoded" && route.caller() == "callback" {
                continue;
            }
            with_body(&world, route, b"{}", Some(kind)).refused(415);
        }
        for kind in [
            None,
            Some("application/json"),
            Some("Application/JSON; charset=utf-8"),
            Some("application/merge-patch+json"),
        ] {
            let caller = world.right_caller(route);
            let mut request = world.request(route, &caller);
            request.headers.retain(|(name, _)| name != "content-type");
            caller.send(&kind.into_iter().fold(request, |request, kind| request.header("content-type", kind))).ok();
        }
    }
}

#[test]
fn a_body_has_64_kib_and_a_callback_s_1_mib_and_not_a_byte_more() {
    let world = World::open();
    for route in built_with_a_body().filter(|route| !BODILESS.contains(&route.path)) {
        let caller = world.right_caller(route);
        let good = world.request(route, &caller);
        let padded = |bytes: usize| Request {
            body: [good.body.clone(), vec![b' '; bytes - good.body.len()]].concat(),
            ..good.clone()
        };
        let most = if route.caller() == "callback" { 1024 * KIB } else { 64 * KIB };
        caller.send(&padded(most + 1)).refused(413);
        caller.send(&padded(most)).ok();
    }
}

#[test]
fn a_request_id_is_taken_when_well_formed_and_made_otherwise() {
    let site = Site::open();
    let id_of = |given: Option<&str>| {
        let asking = site.stranger();
        let request = Request::new(&Method::GET, "/api/account/profile/user");
        let reply = asking
            .send(&given.into_iter().fold(request, |request, id| request.header("x-request-id", id)))
            .refused(401);
        reply.header("x-request-id").unwrap().to_owned()
    };
    for good in ["abcdefgh", "0f8fad5b-d9cb-469f-a165-70867728950e", "a.b_c-1234", &"x".repeat(128)] {
        assert_eq!(id_of(Some(good)), good);
    }
    let made: BTreeSet<String> =
        [None, Some("short"), Some("has spaces inside"), Some("quote\"quote"), Some(&*"x".repeat(129))]
            .map(id_of)
            .into();
    assert_eq!(made.len(), 5, "each made id is new: {made:?}");
    assert!(made.iter().all(|id| id.len() >= 8 && id.bytes().all(|b| b.is_ascii_alphanumeric())), "{made:?}");
}

#[test]
fn every_answer_bears_a_request_id_and_is_not_sniffed_or_kept_by_others() {
    let world = World::open();
    for route in ROUTES {
        let caller = world.right_caller(route);
        for reply in
            [caller.send(&world.request(route, &caller)), world.site.stranger().send(&world.request(route, &caller))]
        {
            assert!(reply.header("x-request-id").is_some_and(|id| id.len() >= 8), "{reply}");
            assert_eq!(reply.header("x-content-type-options"), Some("nosniff"), "{reply}");
            let policy = reply.header("cache-control").unwrap_or("");
            let private = policy.contains("no-store");
            let public_read = route.caller() == "open" && route.method == Method::GET;
            assert!(private || (public_read && policy.contains("no-cache")), "cache-control is {policy:?}: {reply}");
        }
    }
}

#[test]
fn a_get_that_was_seen_is_304_until_something_changes() {
    let world = World::open();
    for route in ROUTES.iter().filter(|route| route.method == Method::GET) {
        let caller = world.right_caller(route);
        let request = world.request(route, &caller);
        let first = caller.send(&request).ok();
        let etag = first.header("etag").unwrap_or_else(|| panic!("no etag: {first}")).to_owned();
        for known in [etag.clone(), format!("W/{etag}"), format!("\"other\", {etag}"), "*".to_owned()] {
            let again = caller.send(&request.clone().header("if-none-match", &known));
            assert_eq!(
                (again.status, again.body.len(), again.header("etag")),
                (304, 0, Some(&*etag)),
                "{known}: {again}"
            );
        }
        caller.send(&request.clone().header("if-none-match", "\"other\"")).ok();
    }
    let path = format!("/account/logbook/time/{}", world.jane.id);
    let before = world.jane.get(&path).ok().header("etag").unwrap().to_owned();
    world.entry(&world.jane);
    assert_ne!(world.jane.get(&path).ok().header("etag").unwrap(), before);
}

#[test]
fn refusals_speak_the_caller_s_language() {
    let site = Site::open();
    let message = |header: &str, value: &str| {
        let reply = site.stranger().ask(Method::GET, "/account/profile/user").header(header, value).send().refused(401);
        (reply.json()["message"].as_str().unwrap().to_owned(), reply.header("content-language").unwrap().to_owned())
    };
    let english = message("accept-language", "en");
    let mut said = BTreeSet::from([english.clone()]);
    for tag in ["de", "fr", "it", "es"] {
        let here = message("accept-language", tag);
        assert_eq!(here.1, tag);
        for header in ["accept-language", "~accept-language"] {
            assert_eq!(message(header, &format!("{tag}-XX, en;q=0.5")), here, "{header}: {tag}");
        }
        said.insert(here);
    }
    assert_eq!(said.len(), 5, "{said:?}");
    assert_eq!(message("accept-language", "tlh, zz;q=0.3"), english);
    // The program sets the first language, and its library adds the second.
    for (tilde, added, tag) in [("de", "*", "de"), ("fr", "es", "fr"), ("tlh", "es", "es")] {
        let stranger = site.stranger();
        let asked = stranger.ask(Method::GET, "/account/profile/user");
        let reply = asked.header("~accept-language", tilde).header("accept-language", added).send().refused(401);
        assert_eq!(reply.header("content-language"), Some(tag), "{tilde} beside {added}");
    }
    assert_eq!(message("accept-language", ";;;,,q=,=;q=9999999999999999999"), english);
}

#[test]
fn field_problems_and_unknown_paths_are_in_the_caller_s_language_too() {
    let site = Site::open();
    let jane = site.member("jane");
    let ask = |tag: &str| {
        let reply = jane
            .ask(Method::POST, "/account/logbook/time/")
            .header("accept-language", tag)
            .json(&json!({}))
            .send()
            .refused(422);
        let unknown = jane.ask(Method::GET, "/nothing").header("~accept-language", tag).send().refused(404);
        (reply.json()["errors"][0]["message"].to_string(), unknown.json()["message"].to_string())
    };
    let said: Vec<_> = ["en", "de", "fr", "it", "es"].map(ask).into();
    assert_eq!(said.iter().map(|s| &s.0).collect::<BTreeSet<_>>().len(), 5, "{said:?}");
    assert_eq!(said.iter().map(|s| &s.1).collect::<BTreeSet<_>>().len(), 5, "{said:?}");
}

#[test]
fn numbers_come_as_text_and_text_as_numbers_and_unknown_fields_are_ignored() {
    let site = Site::open();
    let jane = site.member("jane");
    let now = site.now();
    for body in [
        json!({ "entry_date": now, "time": 65, "comment": 7 }),
        json!({ "entry_date": now.to_string(), "time": "65", "unknown": [{}] }),
        json!({ "entry_date": now * 1000, "time": "1:05", "tunnel": Site::TUNNEL_ID, "comment": "  7 " }),
        json!({ "entry_date": now as f64 + 0.75, "time": "65.0" }),
        json!({ "entry_date": format!("{now}.999"), "time": 65, "tunnel": "7.0" }),
        json!({ "entry_date": format!(" {now} "), "time": 65.0, "tunnel": "", "comment": null }),
    ] {
        let entry_id = jane.post("/account/logbook/time/", &body).ok().json()["entry_id"].clone();
        let entries = jane.get(&format!("/account/logbook/time/{}", jane.id)).ok().json();
        let entry = entries.as_array().unwrap().iter().find(|e| e["entry_id"] == entry_id).unwrap().clone();
        assert_eq!((&entry["entry_date"], &entry["time"]), (&json!(now), &json!("65")), "{body}");
    }
}

#[test]
fn lists_come_in_pages_that_the_query_chooses() {
    let world = World::open();
    for _ in 0..3 {
        world.entry(&world.jane);
        world.partner_user(&world.partner);
    }
    let logbook = format!("/account/logbook/time/{}", world.jane.id);
    for (caller, path) in [(&world.jane, logbook.as_str()), (&world.partner, "/external/partner-metrics/op")] {
        let all = caller.get(path).ok();
        let (rows, total) = (all.rows(), all.total());
        assert_eq!((rows.len() as i64, all.header("link")), (total, None), "{all}");
        let page = caller.get(&format!("{path}?limit=1&offset=1")).ok();
        assert_eq!((&page.rows()[..], page.total()), (&rows[1..2], total));
        let next = format!("</api{path}?limit=1&offset=2>; rel=\"next\"");
        assert_eq!(page.header("link"), Some(next.as_str()), "{page}");
        let head = caller.ask(Method::HEAD, &format!("{path}/?offset=1&limit=1")).send();
        assert_eq!((head.total(), head.header("link").is_some()), (total, true), "HEAD answers like GET");
        let beyond = caller.get(&format!("{path}?limit=5000&offset=999")).ok();
        assert_eq!((beyond.rows(), beyond.total(), beyond.header("link")), (vec![], total, None));
        for bad in ["limit=0", "limit=5001", "limit=x", "offset=-1", "limit=1.5", "offset=1e3", "limit=%00"] {
            caller.get(&format!("{path}?{bad}")).refused(422);
        }
    }
}
