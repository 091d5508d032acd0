//! The API description as a judge: every answer that a test receives is checked against the document's description of
//! its operation.

use super::Reply;
use jsonschema::{Registry, Validator};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use tunneldesk::api::description::text_with_samples;
use tunneldesk::http::row::Row;
use tunneldesk::routes::{ROUTES, Route};

const METHODS: [&str; 5] = ["get", "post", "put", "delete", "patch"];
/// The name under which schemas refer to the document.
const URI: &str = "urn:tunneldesk:description";

pub static DESCRIPTION: LazyLock<Description> = LazyLock::new(Description::read);

/// The document as every site serves it, except the address in its samples.
pub fn text() -> String {
    let rows: Vec<&Row> = ROUTES.iter().map(|route| &route.row).collect();
    text_with_samples(&rows)
}

pub struct Description {
    pub document: Value,
    pub operations: Vec<Operation>,
    registry: Registry<'static>,
    /// The validators by schema; each is made once.
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

/// One operation of the document.
pub struct Operation {
    /// In upper case.
    pub method: String,
    /// The path as written in the document.
    pub path: String,
    /// The prefix of the path: `/api`, or nothing.
    pub base: String,
    pub value: Value,
    /// The segments of the whole path.
    parts: Vec<String>,
}

impl Operation {
    /// Whether the operation is this row of the table.
    pub fn describes(&self, row: &Route) -> bool {
        self.method == row.method.as_str() && self.base == row.base && unnamed(&self.path) == unnamed(row.path)
    }

    fn fits(&self, method: &str, segments: &[&str]) -> bool {
        self.method == method
            && self.parts.len() == segments.len()
            && self
                .parts
                .iter()
                .zip(segments)
                .all(|(part, given)| part == given || (part.starts_with('{') && !given.is_empty()))
    }
}

impl Description {
    fn read() -> Description {
        let document: Value = serde_json::from_str(&text()).expect("the description is JSON");
        let base_of = |of: &Value| of["servers"][0]["url"].as_str().map(|url| url.trim_end_matches('/').to_owned());
        let everywhere = base_of(&document).expect("the document names its server");
        let items = document["paths"].as_object().expect("the document has paths").iter();
        let operations = items.flat_map(|(path, item)| {
            let base = base_of(item).unwrap_or_else(|| everywhere.clone());
            let methods = METHODS.iter().filter_map(|method| Some((*method, item.get(*method)?.clone())));
            methods
                .map(move |(method, value)| {
                    let (method, path, base) = (method.to_uppercase(), path.clone(), base.clone());
                    let whole = format!("{base}{path}");
                    let parts = whole.trim_matches('/').split('/').map(str::to_owned).collect();
                    Operation { method, path, base, value, parts }
                })
                .collect::<Vec<_>>()
        });
        let operations = operations.collect();
        let registry = Registry::new().add(URI, document.clone()).and_then(|registry| registry.prepare());
        let registry = registry.expect("the document can be referred to");
        Description { document, operations, registry, validators: Mutex::default() }
    }

    /// The operation that a request calls; `None` for an unknown path or method.
    pub fn find(&self, method: &str, path: &str) -> Option<&Operation> {
        let path = path.split(['?', '#']).next().unwrap_or("");
        let path = path.strip_prefix('/')?;
        let segments: Vec<&str> = path.strip_suffix('/').unwrap_or(path).split('/').collect();
        let method = if method == "HEAD" { "GET" } else { method };
        let mut fitting = self.operations.iter().filter(|operation| operation.fits(method, &segments));
        // A path without parameters has precedence over one with parameters.
        let first = fitting.next()?;
        Some(fitting.find(|other| !other.path.contains('{')).filter(|_| first.path.contains('{')).unwrap_or(first))
    }

    /// The value that a `$ref` refers to, or the value itself.
    pub fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str().and_then(|target| target.strip_prefix('#')) {
            Some(pointer) => self.document.pointer(pointer).unwrap_or_else(|| panic!("{pointer} leads nowhere")),
            None => value,
        }
    }

    /// Every violation of the schema by the value, each with its location; empty if the value is valid.
    pub fn problems(&self, schema: &Value, value: &Value) -> Vec<String> {
        let validator = self.validator(schema);
        validator.iter_errors(value).map(|e| format!("{}: {e}", e.instance_path())).collect()
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let key = schema.to_string();
        let mut known = self.validators.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || {
            // References within the document are resolved in the document.
            let absolute: Value = serde_json::from_str(&key.replace("\"#/", &format!("\"{URI}#/"))).unwrap();
            let made = jsonschema::draft202012::options().with_registry(&self.registry).should_validate_formats(false);
            Arc::new(made.build(&absolute).unwrap_or_else(|e| panic!("{key} is no schema: {e}")))
        };
        known.entry(key.clone()).or_insert_with(make).clone()
    }

    /// Panics unless the document permits this answer for this operation.
    #[track_caller]
    pub fn check(&self, method: &str, path: &str, reply: &Reply) {
        let Some(operation) = self.find(method, path) else { return };
        let name = format!("{} {}", operation.method, operation.path);
        let status = reply.status.to_string();
        let described = [&operation.value["responses"], &self.document["x-everywhere"]["responses"]];
        let response = described.iter().find_map(|responses| responses.get(&status));
        let response = response.unwrap_or_else(|| panic!("{name} is not described to answer {status}: {reply}"));
        let response = self.resolve(response);
        for (header, described) in response["headers"].as_object().into_iter().flatten() {
            let described = self.resolve(described);
            let Some(said) = reply.header(header) else {
                assert!(described["required"] != true, "{name} is described to send {header}: {reply}");
                continue;
            };
            let value =
                if described["schema"]["type"] == "integer" { json!(said.parse::<i64>().ok()) } else { json!(said) };
            let problems = self.problems(&described["schema"], &value);
            assert!(problems.is_empty(), "{name} sends another {header} than described: {problems:?} in {reply}");
        }
        if method != "HEAD" {
            self.check_body(&name, response, reply);
        }
    }

    #[track_caller]
    fn check_body(&self, name: &str, response: &Value, reply: &Reply) {
        let Some(content) = response["content"].as_object() else {
            assert!(reply.body.is_empty(), "{name} is described without a body for this: {reply}");
            return;
        };
        let kind = reply.header("content-type").and_then(|kind| kind.split(';').next()).unwrap_or("nothing");
        let media = content.get(kind).unwrap_or_else(|| panic!("{name} is not described to send {kind}: {reply}"));
        if kind == "application/json" {
            let body = reply.json();
            let problems = self.problems(&media["schema"], &body);
            assert!(problems.is_empty(), "{name} is not as described: {problems:#?} in {reply}");
        }
    }
}

/// The segments of a path, with empty parameter names: two rows of the table may name the same parameter differently,
/// while a description may not.
fn unnamed(path: &str) -> Vec<&str> {
    path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part }).collect()
}

/// A reference to a schema of the document, for tests of the judge itself.
pub fn described(schema: &str) -> Value {
    json!({ "$ref": format!("#/components/schemas/{schema}") })
}
