//! The description compared with the table of operations, in both directions.

use crate::harness::description::{DESCRIPTION, Operation};
use std::collections::BTreeSet;
use tunneldesk::routes::{ROUTES, Route};

fn name(route: &Route) -> String {
    format!("{} {}{}", route.method, route.base, route.path)
}

fn described(operation: &Operation) -> String {
    format!("{} {}{}", operation.method, operation.base, operation.path)
}

#[test]
fn every_row_is_described_and_nothing_else_is() {
    let operations = &DESCRIPTION.operations;
    let missing: Vec<String> =
        ROUTES.iter().filter(|row| operations.iter().filter(|one| one.describes(row)).count() != 1).map(name).collect();
    assert!(missing.is_empty(), "in the table and not described, or twice: {missing:#?}");
    let extra = operations.iter().filter(|one| !ROUTES.iter().any(|row| one.describes(row)));
    let extra: BTreeSet<String> = extra.map(described).collect();
    assert!(extra.is_empty(), "described and not in the table: {extra:#?}");
}

/// The caller that the description's credentials imply.
fn caller(operation: &Operation) -> &'static str {
    let security = operation.value["security"].as_array().expect("an operation says who may call");
    let schemes: BTreeSet<&str> =
        security.iter().flat_map(|one| one.as_object().unwrap().keys().map(String::as_str)).collect();
    let has = |scheme: &str| schemes.contains(scheme);
    if operation.value.get("x-signed-body").is_some() || has("mailSignature") || has("paymentSignature") {
        return "callback";
    }
    let optional = security.iter().any(|one| one.as_object().is_some_and(serde_json::Map::is_empty));
    match () {
        () if security.is_empty() || optional => "open",
        () if has("ticket") => "listening",
        () if has("partnerSignature") || has("requestSignature") => "partner",
        () if has("standbyToken") => "standby",
        () if has("staffSession") => "staff",
        () if has("bookingToken") => "bearer",
        () => "member",
    }
}

#[test]
fn the_described_credentials_are_those_of_the_table() {
    for route in ROUTES {
        let operation = DESCRIPTION.operations.iter().find(|one| one.describes(route)).unwrap();
        assert_eq!(caller(operation), route.caller(), "{}", name(route));
        let client_id = operation.value["security"].to_string().contains("clientId");
        assert_eq!(client_id, route.client_id, "client-id of {}", name(route));
        assert_eq!(operation.value["x-beside-contract"] == true, route.ours, "{}", name(route));
    }
}
