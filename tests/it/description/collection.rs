//! The collection of requests that is made from the description. `tests/clients/run postman bruno` sends its first booking with
//! those programs; here a reading of it that knows no more than variables does.

use crate::harness::description::DESCRIPTION;
use crate::harness::{Site, sign};
use http::Method;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn collection(site: &Site) -> Value {
    site.stranger().get("/collection.json").ok_json()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The names between doubled braces.
fn variables(text: &str) -> BTreeSet<&str> {
    text.split("{{").skip(1).filter_map(|rest| Some(rest.split_once("}}")?.0)).collect()
}

fn header<'a>(request: &'a Value, name: &str) -> Option<&'a str> {
    list(&request["header"]).iter().find(|one| one["key"] == name)?["value"].as_str()
}

#[test]
fn the_collection_has_every_operation_in_its_group() {
    let collection = collection(&Site::open());
    assert_eq!(collection["info"]["schema"], "https://schema.getpostman.com/json/collection/v2.1.0/collection.json");
    let groups = &list(&collection["item"])[1..];
    for operation in &DESCRIPTION.operations {
        let group = groups.iter().find(|one| one["name"] == operation.value["tags"][0]).expect("a folder of the group");
        let wanted: Vec<&str> = operation.path.trim_start_matches('/').split('/').collect();
        let same = |one: &&Value| {
            let path = list(&one["request"]["url"]["path"]);
            let fits = |(given, wanted): (&Value, &&str)| given == wanted || wanted.starts_with('{');
            one["name"] == operation.value["summary"]
                && one["request"]["method"] == operation.method.as_str()
                && path.len() == wanted.len()
                && path.iter().zip(&wanted).all(fits)
        };
        let request =
            &list(&group["item"]).iter().find(same).unwrap_or_else(|| panic!("{}", operation.path))["request"];
        let url = &request["url"];
        let path: Vec<&str> = list(&url["path"]).iter().map(|part| part.as_str().unwrap()).collect();
        let base = if operation.base.is_empty() { "{{site}}" } else { "{{api}}" };
        assert_eq!(url["raw"], format!("{base}/{}", path.join("/")));
        let security = operation.value["security"].to_string();
        let signed = ["partnerSignature", "requestSignature"].iter().any(|one| security.contains(one));
        assert_eq!(signed, header(request, "token") == Some("{{signed}}"), "{}", operation.path);
        assert_eq!(security.contains("requestSignature"), header(request, "x-nonce").is_some(), "{}", operation.path);
    }
    let requests: usize = groups.iter().map(|group| list(&group["item"]).len()).sum();
    assert_eq!(requests, DESCRIPTION.operations.len());
}

#[test]
fn every_variable_of_the_collection_is_declared_or_set_by_its_script() {
    let collection = collection(&Site::open());
    let script = collection["event"][0]["script"]["exec"].to_string();
    let declared: BTreeSet<&str> =
        list(&collection["variable"]).iter().map(|one| one["key"].as_str().unwrap()).collect();
    let text = collection["item"].to_string();
    let used = variables(&text);
    assert!(used.len() > 10, "{used:?}");
    for name in used {
        assert!(declared.contains(name) || script.contains(&format!("pm.variables.set('{name}'")), "{name}");
    }
}

#[test]
fn the_first_booking_of_the_collection_works_when_its_requests_are_sent_in_order() {
    let site = Site::open();
    let (collection, partner) = (collection(&site), site.partner());
    let mut known: BTreeMap<String, String> = list(&collection["variable"])
        .iter()
        .map(|one| (one["key"].as_str().unwrap().to_owned(), one["value"].as_str().unwrap().to_owned()))
        .collect();
    let set = |known: &mut BTreeMap<String, String>, name: &str, value: String| known.insert(name.to_owned(), value);
    set(&mut known, "username", "collector".to_owned());
    set(&mut known, "client_id", partner.client_id().to_owned());
    set(&mut known, "now", site.now().to_string());
    set(&mut known, "tomorrow", (site.now() + 86_400).to_string());
    for (number, step) in list(&collection["item"][0]["item"]).iter().enumerate() {
        set(&mut known, "nonce", format!("nonce-of-this-step-{number}"));
        let fill = |text: &str| {
            known.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("{{{{{name}}}}}"), value))
        };
        let request = &step["request"];
        let (method, body) = (request["method"].as_str().unwrap(), fill(request["body"]["raw"].as_str().unwrap_or("")));
        let path = fill(request["url"]["raw"].as_str().unwrap().strip_prefix("{{api}}").unwrap());
        let whole = format!("{}.{}.{method} /api{path}.{body}", known["now"], known["nonce"]);
        let signed =
            sign(partner.secret(), if header(request, "x-nonce").is_some() { &whole } else { &body }.as_bytes());
        let stranger = site.stranger();
        let mut asking = stranger.ask(Method::from_bytes(method.as_bytes()).unwrap(), &path).body(body);
        for one in list(&request["header"]) {
            let value = fill(one["value"].as_str().unwrap()).replace("{{signed}}", &signed);
            asking = asking.header(one["key"].as_str().unwrap(), &value);
        }
        let answer = asking.send().ok_json();
        assert_ne!(answer["status"], false, "{} {answer}", step["name"]);
        for line in list(&step["event"][0]["script"]["exec"]).iter().filter_map(Value::as_str) {
            let kept = line.strip_prefix("pm.collectionVariables.set('").and_then(|rest| rest.strip_suffix(");"));
            let Some((name, field)) = kept.and_then(|kept| kept.split_once("', answer.")) else { continue };
            let value = answer.pointer(&format!("/{}", field.replace('.', "/"))).expect("the answer has the field");
            set(&mut known, name, value.as_str().map_or_else(|| value.to_string(), str::to_owned));
        }
        if number == 0 {
            site.shell(&["member", "confirm", "collector"]);
        }
    }
    let ended = "SELECT ended_as FROM bookings";
    assert_eq!(site.change(|tx| Ok(tx.list::<Option<String>>(ended, [])?)), [Some("cancelled".to_owned())]);
}
