//! The description as generators of clients need it.

use crate::harness::description::DESCRIPTION;
use serde_json::Value;

/// Calls `look` with the place of every schema below, and the schema.
fn walk(value: &Value, place: &str, look: &mut impl FnMut(&str, &serde_json::Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            look(place, map);
            let schemas =
                map.iter().filter(|(key, _)| !["default", "example", "examples", "x-codes"].contains(&key.as_str()));
            schemas.for_each(|(key, one)| walk(one, &format!("{place}/{key}"), look));
        }
        Value::Array(list) => list.iter().enumerate().for_each(|(n, one)| walk(one, &format!("{place}/{n}"), look)),
        _ => {}
    }
}

#[test]
fn every_enumeration_names_its_type_and_every_list_its_items() {
    let (mut enumerations, mut untyped) = (0, Vec::new());
    walk(&DESCRIPTION.document, "", &mut |place, schema| {
        // The fields of an object may have any name.
        if place.ends_with("/properties") {
            return;
        }
        if schema.contains_key("enum") || schema.contains_key("const") {
            enumerations += 1;
            let typed = schema.get("type").is_some_and(|kind| {
                let named = kind.as_array().map_or(1, |kinds| kinds.iter().filter(|one| *one != "null").count());
                named == 1
            });
            untyped.extend((!typed).then(|| place.to_owned()));
        }
        if schema.get("type").is_some_and(|kind| kind == "array") && !schema.contains_key("items") {
            untyped.push(place.to_owned());
        }
    });
    assert!(enumerations > 50, "the document was not read: {enumerations}");
    assert!(untyped.is_empty(), "{untyped:#?}");
}

/// A client that was made today reads the codes of tomorrow.
#[test]
fn the_code_of_a_refusal_is_open_to_new_codes() {
    let code = &DESCRIPTION.document["components"]["schemas"]["RefusalCode"];
    assert_eq!(code["type"], "string");
    assert!(code["examples"].as_array().is_some_and(|codes| codes.len() > 30), "{code}");
    assert_eq!(DESCRIPTION.problems(code, &"code_of_tomorrow".into()), [""; 0]);
}

#[test]
fn security_questions_name_every_field_of_the_account_access_body() {
    let path = "/auth/account-access/security-questions";
    let body = DESCRIPTION.document["paths"][path]["get"]["requestBody"]["description"].as_str().unwrap().to_owned();
    for field in ["username", "option", "password", "passcode", "answer_3", "answer_4", "answer_9"] {
        assert!(body.contains(&format!("`{field}`")), "{field} is not in {body}");
    }
}
