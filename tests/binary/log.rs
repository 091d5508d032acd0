//! The log of a busy day: one line a request with what is needed, and nothing that is a secret or somebody's own.

use crate::harness::{Caller, Desk, text};
use serde_json::{Value, json};

const PERSONAL: [&str; 8] = [
    "quixotica",
    "Wilhelmina Quixote",
    "mina.quixote@example.net",
    "+41 79 555 01 23",
    "violet-anvil-harbour-93",
    "wrong-violet-anvil-94",
    "Rosinante",
    "a comment for Sancho",
];

/// A day with every kind of request, right and wrong; what must not be in the log of it.
fn busy_day(desk: &Desk, server: &crate::harness::Server) -> Vec<String> {
    let [username, name, email, phone, password, wrong, answer, comment] = PERSONAL;
    let mut http = server.client();
    let signup = json!({"username": username, "password": password, "email": email, "real_name": name, "phone": phone,
        "question_1": "1", "answer_1": answer, "terms": true, "screen_name": username});
    let member_id = http.post(&Caller::Anyone, "/api/auth/signup", &signup).ok()["member_id"].as_i64().unwrap();
    http.post(&Caller::Anyone, "/api/auth/signup", &signup).refused(409);
    http.post(&Caller::Anyone, "/api/auth/signup/check-username", &json!({"username": username})).ok();
    http.sign_in(username, wrong);
    desk.json(&["member", "confirm", username]);
    let session = server.sign_in(username, password);
    let pin = text(&http.post(&session, "/api/account/profile/booking-pin", &Value::Null).ok()["pin"]).to_owned();
    let secret = desk.json(&["partner", "add", "Skyline"]);
    let partner = Caller::partner(text(&secret["client_id"]), text(&secret["secret"]));
    let user = http.post(&partner, "/api/external/partner-metrics/op", &json!({"email": email})).ok();
    http.get(&partner, &format!("/api/external/partner-metrics/op/{}?email={email}", user["id"])).ok();
    let booking = json!({"member_id": member_id, "member_pin": pin, "flight_date": 1_700_000_000, "minutes_booked": 12, "tunnel_id": 1});
    let token = http.post(&partner, "/api/external/partner-metrics/op/generate-token", &booking).ok();
    let token = text(&token["token"]).to_owned();
    http.get(&Caller::session(&token), "/api/account/profile/user").ok();
    http.get(&Caller::session(&token), &format!("/api/nowhere/{email}/{token}")).refused(404);
    http.post(
        &session,
        "/api/account/logbook/time/",
        &json!({"entry_date": 1_700_000_000, "time": "x", "comment": comment}),
    )
    .refused(422);
    http.post(
        &session,
        "/api/account/logbook/time/",
        &json!({"entry_date": 1_700_000_000, "time": 9, "comment": comment}),
    )
    .ok();
    server
        .raw(
            format!("POST /api/auth/login HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{}", &password[..9])
                .as_bytes(),
        )
        .unwrap()
        .refused(400);
    let reset = desk.json(&["member", "reset-password", username]);
    let (Caller::Session(session), sync) = (session, desk.sync_session()) else { unreachable!() };
    let Caller::Session(sync) = sync else { unreachable!() };
    let secrets = [session, sync, token, pin, text(&secret["secret"]).to_owned(), text(&reset["password"]).to_owned()];
    secrets.into_iter().chain(PERSONAL.map(str::to_owned)).collect()
}

#[test]
fn a_log_of_a_busy_day_has_a_line_a_request_and_nothing_of_anybody() {
    let desk = Desk::with_site();
    let server = desk.serve_with(&[("TUNNELDESK_LOG_LEVEL", "trace")]);
    let unspeakable = busy_day(&desk, &server);
    let ended = server.stop();
    let whole = format!("{}\n{}", ended.log.join("\n"), ended.out);
    for word in unspeakable {
        assert!(!whole.to_lowercase().contains(&word.to_lowercase()), "{word} is in the log:\n{whole}");
    }
    let lines: Vec<Value> = ended.log.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    let requests: Vec<&Value> = lines.iter().filter(|line| line["message"] == "request").collect();
    assert_eq!(requests.len(), 14);
    for line in &requests {
        for field in ["id", "method", "route", "who", "timestamp", "level"] {
            assert!(line[field].is_string(), "{field}: {line}");
        }
        assert!(line["status"].is_u64() && line["micros"].is_u64(), "{line}");
    }
    let is = |line: &Value, route: &str, who: &str| line["route"] == route && line["who"] == who;
    assert!(requests.iter().any(|line| is(line, "/external/partner-metrics/op/{id}", "partner:1")));
    assert!(requests.iter().any(|line| is(line, "/account/logbook/time/", "member:1") && line["status"] == 422));
    assert!(requests.iter().any(|line| is(line, "/account/profile/user", "booking-of:1")));
}

#[test]
fn a_request_id_is_the_same_in_the_answer_and_the_log() {
    let (_desk, server) = Desk::with_site().serve_kept();
    let answer =
        server.raw(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx-request-id: kiosk-42-0001\r\n\r\n").unwrap();
    assert_eq!(answer.header("x-request-id"), Some("kiosk-42-0001"));
    let made = server.get(&Caller::Anyone, "/healthz").header("x-request-id").unwrap().to_owned();
    let log = server.stop().log.join("\n");
    assert!(log.contains(r#""id":"kiosk-42-0001""#) && log.contains(&made), "{log}");
}
