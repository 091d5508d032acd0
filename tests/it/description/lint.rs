//! The description as a document: every reference leads somewhere, and every example is valid.

use crate::harness::description::{DESCRIPTION, Operation};
use serde_json::Value;
use std::collections::BTreeSet;
use tunneldesk::i18n::language::Language;

/// Calls `look` with the pointer of every value in the document and the value.
fn walk(value: &Value, place: &str, look: &mut impl FnMut(&str, &Value)) {
    look(place, value);
    match value {
        Value::Object(map) => map.iter().for_each(|(key, one)| walk(one, &format!("{place}/{key}"), look)),
        Value::Array(list) => list.iter().enumerate().for_each(|(n, one)| walk(one, &format!("{place}/{n}"), look)),
        _ => {}
    }
}

fn references() -> Vec<(String, String)> {
    let mut found = Vec::new();
    walk(&DESCRIPTION.document, "", &mut |place, value| {
        if let Some(target) = value.get("$ref").and_then(Value::as_str) {
            found.push((place.to_owned(), target.to_owned()));
        }
    });
    assert!(found.len() > 500, "the document was not read");
    found
}

#[test]
fn every_reference_leads_somewhere_and_every_component_is_used() {
    let found = references();
    for (place, target) in &found {
        let pointer = target.strip_prefix('#').unwrap_or_else(|| panic!("{place} refers to {target}"));
        assert!(DESCRIPTION.document.pointer(pointer).is_some(), "{place} refers to {target}, which is not there");
    }
    // Linters do not read extensions (`x-…`), so a component that only they refer to is unused for them.
    let used: BTreeSet<&str> =
        found.iter().filter(|(place, _)| !place.starts_with("/x-")).map(|(_, target)| target.as_str()).collect();
    let schemes = DESCRIPTION.operations.iter().map(|one| one.value["security"].to_string()).collect::<String>();
    for (kind, components) in DESCRIPTION.document["components"].as_object().unwrap() {
        for name in components.as_object().unwrap().keys() {
            let used = match kind.as_str() {
                "securitySchemes" => schemes.contains(&format!("\"{name}\"")),
                _ => used.contains(format!("#/components/{kind}/{name}").as_str()),
            };
            assert!(used, "{kind}/{name} is not used");
        }
    }
}

#[test]
fn every_operation_has_a_name_of_its_own_a_known_group_and_a_summary() {
    let tags: BTreeSet<&str> =
        DESCRIPTION.document["tags"].as_array().unwrap().iter().map(|tag| tag["name"].as_str().unwrap()).collect();
    let mut names = BTreeSet::new();
    for Operation { method, path, value, .. } in &DESCRIPTION.operations {
        let name = value["operationId"].as_str().unwrap_or_else(|| panic!("{method} {path} has no operationId"));
        assert!(names.insert(name), "{name} stands twice");
        let of = value["tags"].as_array().unwrap_or_else(|| panic!("{name} has no tags"));
        assert!(of.len() == 1 && tags.contains(of[0].as_str().unwrap()), "{name} is in {of:?}");
        assert!(value["summary"].as_str().is_some_and(|text| !text.is_empty()), "{name} has no summary");
        let done = value["responses"].as_object().unwrap().keys().filter(|status| status.starts_with('2')).count();
        assert!(done >= 1, "{name} says nothing of being done");
        let refused = value["responses"].as_object().unwrap().keys().any(|status| status.starts_with('4'));
        assert!(refused, "{name} says nothing of being refused");
    }
    let begin = |path: &str| path.split('/').nth(1).unwrap_or_default().to_owned();
    let is_site_s = |one: &&Operation| one.value["tags"][0] == "Site";
    let (of_site, others): (Vec<_>, Vec<_>) = DESCRIPTION.operations.iter().partition(is_site_s);
    let begins: BTreeSet<String> = others.iter().map(|one| begin(&one.path)).collect();
    let strays: Vec<_> = of_site.iter().map(|one| &one.path).filter(|path| begins.contains(&begin(path))).collect();
    assert!(strays.is_empty(), "{strays:?} begin as no group does: see x-paths in assets/api/document.json");
    let used: BTreeSet<&str> =
        DESCRIPTION.operations.iter().map(|one| one.value["tags"][0].as_str().unwrap()).collect();
    assert_eq!(used, tags, "a group without operations");
}

#[test]
fn every_placeholder_of_a_path_is_described_as_a_parameter() {
    for Operation { method, path, value, .. } in &DESCRIPTION.operations {
        let places: BTreeSet<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        let parameters = value["parameters"].as_array().map(Vec::as_slice).unwrap_or(&[]);
        let declared: BTreeSet<&str> = parameters
            .iter()
            .map(|one| DESCRIPTION.resolve(one))
            .filter(|one| one["in"] == "path")
            .map(|one| one["name"].as_str().unwrap())
            .collect();
        assert_eq!(places, declared, "{method} {path}");
    }
}

/// What redocly and spectral ask beside these tests. `additionalProperties` says that an object has members of which the
/// description does not tell: examples may show them.
#[test]
fn the_description_has_a_contact_no_empty_alternative_and_no_example_beyond_its_schema() {
    assert!(DESCRIPTION.document["info"]["contact"]["name"].is_string());
    walk(&DESCRIPTION.document["components"]["schemas"], "", &mut |place, value| {
        let empty = value["anyOf"].as_array().is_some_and(|choices| choices.contains(&serde_json::json!({})));
        assert!(!empty, "{place} has an alternative that everything fits");
    });
    let options = &DESCRIPTION.document["components"]["schemas"]["PasskeyOptions"]["properties"]["publicKey"];
    assert_eq!(options["additionalProperties"], true);
}

/// Two paths that differ only in the names of their parameters are the same path.
#[test]
fn no_two_paths_are_the_same() {
    let mut seen = BTreeSet::new();
    for path in DESCRIPTION.document["paths"].as_object().unwrap().keys() {
        let bare: Vec<&str> = path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part }).collect();
        assert!(seen.insert(bare.join("/")), "{path} stands twice");
    }
}

#[track_caller]
fn check_example(what: &str, schema: &Value, example: &Value) {
    let problems = DESCRIPTION.problems(schema, example);
    assert!(problems.is_empty(), "the example of {what} is none: {problems:#?}\n{example:#}");
}

/// Checks the media types of requests and answers; pictures and texts for programs need no example.
fn check_content(what: &str, content: &Value) {
    for (kind, media) in content.as_object().into_iter().flatten() {
        let readable = kind.ends_with("json") || kind.ends_with("urlencoded");
        assert!(!readable || media.get("example").is_some(), "{what} has no example of {kind}");
        if let Some(example) = media.get("example") {
            check_example(&format!("{what} ({kind})"), &media["schema"], example);
        }
    }
}

#[test]
fn everything_has_an_example_that_fits_its_own_schema() {
    for Operation { method, path, value, .. } in &DESCRIPTION.operations {
        let name = format!("{method} {path}");
        for parameter in value["parameters"].as_array().into_iter().flatten() {
            let parameter = DESCRIPTION.resolve(parameter);
            let what = format!("{} of {name}", parameter["name"]);
            assert!(parameter["description"].is_string(), "{what} has no description");
            check_example(
                &what,
                &parameter["schema"],
                parameter.get("example").unwrap_or_else(|| panic!("{what} has none")),
            );
        }
        check_content(&format!("the body of {name}"), &value["requestBody"]["content"]);
        for (status, response) in value["responses"].as_object().unwrap() {
            check_content(&format!("{status} of {name}"), &DESCRIPTION.resolve(response)["content"]);
        }
    }
    for (name, response) in DESCRIPTION.document["components"]["responses"].as_object().unwrap() {
        check_content(name, &response["content"]);
    }
}

/// Every refusal has the same shape.
#[test]
fn every_refusal_is_the_envelope() {
    for Operation { method, path, value, .. } in &DESCRIPTION.operations {
        for (status, response) in value["responses"].as_object().unwrap() {
            if ["4", "5"].iter().any(|kind| status.starts_with(kind)) {
                let schema = &DESCRIPTION.resolve(response)["content"]["application/json"]["schema"];
                assert!(schema.to_string().contains("#/components/schemas/Refusal"), "{status} of {method} {path}");
            }
        }
    }
}

/// Clients of the contract know no envelope for lists: the answer to a `GET` is the array itself.
/// Texts of a code that are more exact than its own.
const MORE_EXACT: [(&str, &str); 1] = [("email_not_confirmed", "phone.email_first")];

#[test]
fn the_messages_of_examples_are_those_that_the_server_sends() {
    let texts = Language::English.texts();
    let fits = |pattern: &str, message: &str| {
        let mut rest = Some(message);
        for part in pattern.split('{').map(|part| part.split_once('}').map_or(part, |(_, after)| after)) {
            rest = rest.and_then(|rest| rest.split_once(part).map(|(_, after)| after));
        }
        rest.is_some()
    };
    let mut refusals = 0;
    walk(&DESCRIPTION.document, "", &mut |place, value| {
        let (Some(code), Some(message)) = (value["code"].as_str(), value["message"].as_str()) else { return };
        if value["status"] != false {
            return;
        }
        refusals += 1;
        let exact = MORE_EXACT.iter().filter(|(of, _)| *of == code).map(|(_, key)| *key);
        let known =
            std::iter::once(code).chain(exact).any(|key| texts.get(key).is_some_and(|text| fits(text, message)));
        assert!(known, "{place}: {message:?} is not the text of {code}");
    });
    assert!(refusals > 20, "the document was not read");
}

#[test]
fn every_list_that_a_get_answers_is_a_bare_array_of_which_the_headers_say_the_rest() {
    let mut lists = 0;
    for Operation { method, path, value, .. } in DESCRIPTION.operations.iter().filter(|one| one.method == "GET") {
        let done = &value["responses"]["200"];
        let schema = DESCRIPTION.resolve(&done["content"]["application/json"]["schema"]);
        assert_ne!(
            DESCRIPTION.resolve(&schema["properties"]["data"])["type"],
            "array",
            "{method} {path} wraps its list"
        );
        // Events have no end and no number in all: a client reads on after the last.
        if schema["type"] == "array" && path != "/events" {
            lists += 1;
            let named = |header: &str| DESCRIPTION.resolve(&done["headers"][header]).is_object();
            assert!(named("X-Total-Count") && named("Link"), "{method} {path} does not say how long its list is");
            let asked = value["parameters"].to_string();
            assert!(asked.contains("/Limit\"") && asked.contains("/Offset\""), "{method} {path} has no parts");
        }
    }
    assert!(lists >= 20, "{lists} lists are described");
}
