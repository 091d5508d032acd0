//! The judge itself: an answer that differs from its description is noticed, whatever the difference.

use crate::harness::Reply;
use crate::harness::description::{DESCRIPTION, described};
use http::HeaderMap;
use serde_json::json;

const PATH: &str = "/api/auth/logout";

fn reply(status: u16, kind: &str, body: &str) -> Reply {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", kind.parse().unwrap());
    headers.insert("x-request-id", "0123456789abcdef".parse().unwrap());
    Reply { status, headers, body: body.as_bytes().to_vec(), asked: format!("POST {PATH}") }
}

/// Whether the judge accepts the answer.
fn passes(method: &str, path: &str, reply: Reply) -> bool {
    std::panic::catch_unwind(|| DESCRIPTION.check(method, path, &reply)).is_ok()
}

#[test]
fn a_wrong_type_a_missing_field_one_too_many_another_status_and_another_type_are_noticed() {
    let good = r#"{"status":true,"message":""}"#;
    assert!(passes("POST", PATH, reply(200, "application/json", good)));
    for body in [
        r#"{"status":1,"message":""}"#,
        r#"{"status":true}"#,
        r#"{"status":true,"message":"","token":"x"}"#,
        r#"[]"#,
        "nothing",
        "",
    ] {
        assert!(!passes("POST", PATH, reply(200, "application/json", body)), "{body}");
    }
    assert!(!passes("POST", PATH, reply(201, "application/json", good)), "an undescribed status");
    assert!(!passes("POST", PATH, reply(200, "text/html", good)), "an undescribed type");
    assert!(!passes("GET", "/healthz", reply(200, "text/plain", "alive\n")), "a header that is described and not sent");
}

#[test]
fn a_path_without_an_operation_is_not_judged() {
    assert!(passes("GET", "/api/nothing", reply(404, "application/json", "{}")));
    assert!(passes("PATCH", PATH, reply(405, "application/json", "{}")));
}

#[test]
fn a_path_without_parameters_is_found_before_one_with_them() {
    let found = DESCRIPTION.find("POST", "/api/external/partner-metrics/op/generate-token/?a=1").unwrap();
    assert_eq!(found.value["operationId"], "generateToken");
    let found = DESCRIPTION.find("HEAD", "/api/external/partner-metrics/op/generate-token").unwrap();
    assert_eq!(found.value["operationId"], "getPartnerUser");
    assert!(DESCRIPTION.find("GET", "/healthz").is_some() && DESCRIPTION.find("GET", "/api/healthz").is_none());
}

#[test]
fn numbers_as_text_are_described_as_they_are_read() {
    let fits = |schema: &str, value| DESCRIPTION.problems(&described(schema), &value).is_empty();
    for (schema, good) in [
        ("Id", json!("7")),
        ("Id", json!(7.0)),
        ("OptionalId", json!("")),
        ("OptionalId", json!(null)),
        ("Moment", json!(1_780_000_000_000_i64)),
        ("Moment", json!(" 1780000000 ")),
        ("FlightMinutes", json!("1:05")),
        ("FlightMinutes", json!("600")),
        ("Line", json!(12)),
        ("Line", json!(" a b ")),
        ("Lines", json!("a\nb\tc")),
        ("Flag", json!("true")),
        ("Email", json!("Jane.Doe+x@mail.example.co.uk")),
        ("Username", json!("a.b-c_9")),
    ] {
        assert!(fits(schema, good.clone()), "{schema}: {good}");
    }
    for (schema, bad) in [
        ("Id", json!("0")),
        ("Id", json!(0)),
        ("Id", json!("")),
        ("Id", json!(1.5)),
        ("Moment", json!("tomorrow")),
        ("Moment", json!(1e300)),
        ("FlightMinutes", json!("0:00")),
        ("FlightMinutes", json!("601")),
        ("FlightMinutes", json!("10:01")),
        ("Line", json!(" ")),
        ("Line", json!("a\nb")),
        ("Line", json!(["a"])),
        ("Lines", json!("a\u{7}b")),
        ("Flag", json!("yes")),
        ("Email", json!("a@b")),
        ("Username", json!("ab")),
    ] {
        assert!(!fits(schema, bad.clone()), "{schema}: {bad}");
    }
}
