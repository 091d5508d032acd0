//! The description as a collection of requests for Postman (v2.1), which Bruno and other programs import: every operation with
//! its example, in the groups of the document, and before them the steps of a first booking. Its script signs for partners.

use super::page::Operation;
use super::{Description, SAMPLE_ADDRESS, items, members, sample, text};
use serde_json::{Value, json};

const FORMAT: &str = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json";
/// Runs before each request.
const SCRIPT: &str = include_str!("../../../assets/api/collection.js");
/// The steps of a first booking: operations, with their own bodies, path parameters, and what is kept of the answers; and
/// the variables of the collection.
const FIRST_BOOKING: &str = include_str!("../../../assets/api/first-booking.json");

/// The collection, with [`SAMPLE_ADDRESS`] as the site's.
pub(super) fn write(description: &Description) -> String {
    let (document, operations) = (&description.0, description.operations());
    let first: Value = serde_json::from_str(FIRST_BOOKING).expect("the steps are JSON: a test reads them");
    let group = |tag: &Value| {
        let of_group = operations.iter().filter(|one| one.value["tags"][0] == tag["name"]);
        let requests: Vec<Value> = of_group.map(|one| description.request(one, &Value::Null)).collect();
        json!({ "name": tag["name"], "description": tag["description"], "item": requests })
    };
    let steps: Vec<Value> = items(&first["steps"]).filter_map(|step| description.step(step, &operations)).collect();
    let own = json!({ "name": first["name"], "description": first["description"], "item": steps });
    let folders: Vec<Value> = std::iter::once(own).chain(items(&document["tags"]).map(group)).collect();
    let addresses = [("site", SAMPLE_ADDRESS.to_owned()), ("api", format!("{SAMPLE_ADDRESS}/api"))]
        .map(|(key, value)| variable(key, value));
    let others = members(&first["variables"]).map(|(key, value)| variable(key, text(value).to_owned()));
    let collection = json!({
        "info": { "name": document["info"]["title"], "description": document["info"]["summary"], "schema": FORMAT },
        "variable": addresses.into_iter().chain(others).collect::<Vec<_>>(),
        "event": [event("prerequest", SCRIPT)],
        "item": folders,
    });
    collection.to_string()
}

fn variable(key: &str, value: String) -> Value {
    json!({ "key": key, "value": value })
}

fn event(listen: &str, script: &str) -> Value {
    json!({ "listen": listen, "script": { "type": "text/javascript", "exec": script.lines().collect::<Vec<_>>() } })
}

impl Description {
    /// A step of the first booking: the request of its operation, and a script that keeps values of the answer.
    fn step(&self, step: &Value, operations: &[Operation]) -> Option<Value> {
        let operation = operations.iter().find(|one| one.value["operationId"] == step["operation"])?;
        let mut request = self.request(operation, step);
        let mut script = "const answer = pm.response.json();\n\
            pm.test('It is done', () => pm.expect(pm.response.code < 300 && answer.status !== false, answer.message).to.be.true);\n"
            .to_owned();
        for (name, field) in members(&step["keep"]) {
            script.push_str(&format!("pm.collectionVariables.set('{name}', answer.{});\n", text(field)));
        }
        request["event"] = json!([event("test", &script)]);
        Some(request)
    }

    /// A request with the operation's examples. `step` may have its own body and path parameters.
    fn request(&self, operation: &Operation, step: &Value) -> Value {
        let value = operation.value;
        let mut headers: Vec<Value> = sample::headers(value, false).into_iter().filter_map(header).collect();
        let names = |scheme: &str| items(&value["security"]).any(|way| way.get(scheme).is_some());
        if names("partnerSignature") || names("requestSignature") {
            headers.retain(|one| one["key"] != "client-id" && one["key"] != "token");
            headers.extend([("client-id", "{{client_id}}"), ("token", "{{signed}}")].map(pair));
        }
        if names("requestSignature") {
            headers.extend([("x-timestamp", "{{now}}"), ("x-nonce", "{{nonce}}")].map(pair));
        }
        let (kind, body) = body(value, step);
        headers.extend(kind.map(|kind| pair(("Content-Type", kind))));
        json!({
            "name": value["summary"],
            "request": {
                "method": operation.method, "header": headers, "url": self.address(operation, step), "body": body,
                "description": value["description"],
            },
            // One operation of the contract reads a body with GET.
            "protocolProfileBehavior": { "disableBodyPruning": true },
        })
    }

    /// The address with the examples of its path; what a query may say beside is there and turned off.
    fn address(&self, operation: &Operation, step: &Value) -> Value {
        let base = if operation.base.is_empty() { "{{site}}" } else { "{{api}}" };
        let (mut path, mut query) = (operation.path.to_owned(), Vec::new());
        for parameter in items(&operation.value["parameters"]).map(|one| self.resolve(one)) {
            let name = text(&parameter["name"]);
            let example = step["path"].get(name).unwrap_or(&parameter["example"]);
            let example = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
            match text(&parameter["in"]) {
                "path" => path = path.replace(&format!("{{{name}}}"), &example),
                "query" => query.push(json!({
                    "key": name, "value": example, "description": parameter["description"],
                    "disabled": parameter["required"] != true,
                })),
                _ => {}
            }
        }
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        json!({ "raw": format!("{base}{path}"), "host": [base], "path": parts, "query": query })
    }
}

/// A header of a sample, its shell variables as variables of the collection.
fn header(sample: &str) -> Option<Value> {
    let (key, value) = sample.split_once(": ")?;
    let mut parts = value.split('$');
    let mut filled = parts.next()?.to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(part.len());
        filled.push_str(&format!("{{{{{}}}}}{}", &part[..end], &part[end..]));
    }
    Some(pair((key, &filled)))
}

fn pair((key, value): (&str, &str)) -> Value {
    json!({ "key": key, "value": value })
}

/// The type of a body and the body: of the step, else the example of the operation.
fn body(operation: &Value, step: &Value) -> (Option<&'static str>, Value) {
    let content = &operation["requestBody"]["content"];
    let example = step.get("body").unwrap_or(&content["application/json"]["example"]);
    if !example.is_null() {
        let raw = serde_json::to_string_pretty(example).unwrap_or_default();
        let options = json!({ "raw": { "language": "json" } });
        return (Some("application/json"), json!({ "mode": "raw", "raw": raw, "options": options }));
    }
    if content.get("image/jpeg").is_some() {
        return (Some("image/jpeg"), json!({ "mode": "file", "file": { "src": "picture.jpg" } }));
    }
    (None, Value::Null)
}
