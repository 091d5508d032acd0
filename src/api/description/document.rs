//! The OpenAPI document, generated from the table of routes, the declared bodies, and the files of `assets/api`: one file for
//! each group, with descriptions, examples and the schemas of answers.
//!
//! The files have abbreviations of OpenAPI: a shared parameter, header or answer is a name, a `$ref` is the name of a
//! schema, and `json` is the content of that type. The parts that follow from the table are not in the files: credentials,
//! the schema of a body, and the parameters and refusals of each kind of operation.

use super::{items, types};
use crate::http::body::{SHARED, shared};
use crate::http::row::{CallerKind, Row};
use http::Method;
use serde_json::{Map, Value, json};

const DOCUMENT: &str = include_str!("../../../assets/api/document.json");
/// The schemas of field types.
const TYPES: &str = include_str!("../../../assets/api/types.json");
/// The groups, in the order of the document.
const GROUPS: [&str; 9] = [
    include_str!("../../../assets/api/partner-metrics.json"),
    include_str!("../../../assets/api/reports.json"),
    include_str!("../../../assets/api/authentication.json"),
    include_str!("../../../assets/api/profile.json"),
    include_str!("../../../assets/api/logbook.json"),
    include_str!("../../../assets/api/public.json"),
    include_str!("../../../assets/api/callbacks.json"),
    include_str!("../../../assets/api/notifications.json"),
    include_str!("../../../assets/api/site.json"),
];

/// The whole document.
pub(super) fn write(rows: &[&Row]) -> Value {
    let mut document = read(DOCUMENT);
    let mut paths = json!({});
    let mut schemas = object(read(TYPES));
    for mut group in GROUPS.map(read) {
        push(&mut document["tags"], group["tag"].take());
        let tag = document["tags"].as_array().and_then(|tags| tags.last()).map(|tag| tag["name"].clone());
        schemas.extend(object(group["schemas"].take()));
        for (key, operation) in object(group["operations"].take()) {
            let (method, path) = key.split_once(' ').unwrap_or_default();
            let row =
                rows.iter().find(|row| !row.is_page() && row.method.as_str() == method && same_path(row.path, path));
            let Some(row) = row else { continue };
            let item = &mut paths[path];
            if row.base.is_empty() {
                item["servers"] = json!([{ "url": "/", "description": "Outside `/api`." }]);
            }
            item[method.to_lowercase()] = describe(row, operation, &tag);
        }
    }
    for body in rows.iter().filter_map(|row| row.body) {
        schemas.insert(body.name.to_owned(), (body.schema)());
    }
    spread_answers(&mut document["components"]["responses"]);
    spread_answers(&mut document["x-everywhere"]["responses"]);
    document["paths"] = paths;
    let used = document["paths"].to_string() + &Value::Object(schemas.clone()).to_string();
    let optional: Vec<_> = schemas.iter().filter_map(|(name, schema)| optional(name, schema, &used)).collect();
    schemas.extend(optional);
    let codes = items(&schemas["RefusalCode"]["x-codes"]).map(|one| one["const"].clone()).collect::<Vec<_>>();
    schemas["RefusalCode"]["examples"] = codes.into();
    document["components"]["schemas"] = Value::Object(schemas);
    name_schemas(&mut document);
    types::name(&mut document);
    document
}

/// The optional variant of a type, if a field uses it.
fn optional(name: &str, schema: &Value, used: &str) -> Option<(String, Value)> {
    let own = format!("Optional{name}");
    used.contains(&format!("{SHARED}{own}\"")).then(|| {
        let about = schema["description"].as_str().unwrap_or("").trim_end_matches('.');
        let (zero, choices) = match name {
            "Moment" => ("`null`, blank text and 0 count", json!([{ "const": 0 }, { "const": "0" }])),
            _ => ("`null` and blank text count", json!([])),
        };
        let mut any = vec![shared(name), shared("Blank")];
        any.extend(choices.as_array().into_iter().flatten().cloned());
        (own, json!({ "description": format!("{about}; {zero} as absent."), "anyOf": any }))
    })
}

/// An operation of a file, completed from its row.
fn describe(row: &Row, mut operation: Value, tag: &Option<Value>) -> Value {
    operation["tags"] = json!([tag]);
    if operation["security"].is_null() {
        operation["security"] = security(row);
    }
    if row.ours {
        operation["x-beside-contract"] = true.into();
    }
    let parameters = parameters(row, operation["parameters"].take());
    let (lists, pages) = (parameters.contains(&"Limit".into()), parameters.contains(&"Offset".into()));
    operation["parameters"] = parameters.into_iter().map(|one| reference("parameters", one)).collect();
    let mut body = operation["requestBody"].take();
    if let Some(declared) = &row.body {
        for media in body["content"].as_object_mut().into_iter().flat_map(Map::values_mut) {
            media["schema"] = shared(declared.name);
        }
        if body["json"].is_object() {
            body["json"]["schema"] = shared(declared.name);
        }
    }
    let takes_json = body["json"].is_object();
    let mut responses = refusals(row, takes_json, pages);
    for (status, response) in object(operation["responses"].take()) {
        let response = answer(row, &status, response, lists);
        responses.insert(status, response);
    }
    // Linters expect a refusal of the caller everywhere. An operation without one of its own has that of any operation.
    if !responses.keys().any(|status| status.starts_with('4')) {
        responses.insert("421".to_owned(), reference("responses", "UnknownHost".into()));
    }
    operation["responses"] = Value::Object(responses);
    if !body.is_null() {
        operation["requestBody"] = spread(body);
    }
    let empty = |name: &str, value: &Value| value.is_null() || (name == "parameters" && *value == json!([]));
    object(operation).into_iter().filter(|(name, value)| !empty(name, value)).collect()
}

/// The credentials that the row requires.
fn security(row: &Row) -> Value {
    match row.caller_kind {
        CallerKind::Partner if row.signs_request => json!([{ "requestSignature": [] }]),
        CallerKind::Partner if row.client_id => json!([{ "partnerSignature": [], "clientId": [] }]),
        CallerKind::Partner => json!([{ "partnerSignature": [] }]),
        CallerKind::Staff => json!([{ "staffSession": [] }]),
        CallerKind::Member => json!([{ "session": [] }, { "sessionInToken": [] }]),
        CallerKind::Bearer => json!([{ "session": [] }, { "sessionInToken": [] }, { "bookingToken": [] }]),
        CallerKind::Standby => json!([{ "standbyToken": [] }]),
        _ => json!([]),
    }
}

/// The parameters of an operation: its own, and those of its kind.
fn parameters(row: &Row, own: Value) -> Vec<Value> {
    let mut all = match own {
        Value::Array(own) => own,
        _ => Vec::new(),
    };
    if row.caller_kind == CallerKind::Partner {
        all.extend((!row.client_id).then(|| "ClientId".into()));
        let signed = if row.signs_request { ["SignedTimestamp", "SignedNonce"] } else { ["Timestamp", "Nonce"] };
        all.extend(signed.map(Value::from));
    }
    match row.method {
        Method::GET => all.push("IfNoneMatch".into()),
        Method::POST if is_keyed(row) => all.push("IdempotencyKey".into()),
        _ => {}
    }
    all
}

/// Whether a `POST` accepts an `Idempotency-Key`. The others are safe to repeat.
fn is_keyed(row: &Row) -> bool {
    !matches!(row.caller_kind, CallerKind::Callback | CallerKind::Standby)
}

/// The refusals of each kind of operation.
fn refusals(row: &Row, takes_json: bool, pages: bool) -> Map<String, Value> {
    let reads = row.method == Method::GET;
    let keyed = row.method == Method::POST && is_keyed(row);
    let kinds = [
        ("304", "NotModified", reads),
        ("400", "BadRequest", takes_json),
        ("413", "TooLarge", takes_json),
        ("415", "UnsupportedType", takes_json),
        ("422", "Invalid", takes_json || keyed || pages),
        ("503", "Unavailable", true),
        ("507", "DiskFull", !reads),
    ];
    let due = kinds.into_iter().filter(|(.., due)| *due);
    due.map(|(status, name, _)| (status.to_owned(), reference("responses", name.into()))).collect()
}

/// An answer of a file, completed by the headers of reads and lists.
fn answer(row: &Row, status: &str, response: Value, lists: bool) -> Value {
    let mut response = spread(reference("responses", response));
    if row.method == Method::GET && status == "200" && response["headers"].is_null() {
        let headers = [("ETag", "ETag"), ("X-Total-Count", "TotalCount"), ("Link", "NextPage")];
        let due = headers.into_iter().take(if lists { 3 } else { 1 });
        response["headers"] = due.map(|(header, name)| (header, reference("headers", name.into()))).collect();
    }
    if response["headers"].as_object().is_none_or(Map::is_empty)
        && let Some(response) = response.as_object_mut()
    {
        response.remove("headers");
    }
    response
}

/// Expands `json` to the content of that type.
fn spread(mut body: Value) -> Value {
    if let Some(media) = body.as_object_mut().and_then(|body| body.remove("json")) {
        body["content"]["application/json"] = media;
    }
    body
}

fn spread_answers(answers: &mut Value) {
    let spread_one = |(key, one)| (key, spread(reference("responses", one)));
    *answers = object(answers.take()).into_iter().map(spread_one).collect();
}

/// Expands a name to a reference to a component.
fn reference(kind: &str, value: Value) -> Value {
    match value {
        Value::String(name) => json!({ "$ref": format!("#/components/{kind}/{name}") }),
        whole => whole,
    }
}

/// Expands every `$ref` that is the name of a schema.
fn name_schemas(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(target)) = map.get_mut("$ref")
                && !target.starts_with('#')
            {
                target.insert_str(0, SHARED);
            }
            map.values_mut().for_each(name_schemas);
        }
        Value::Array(list) => list.iter_mut().for_each(name_schemas),
        _ => {}
    }
}

/// Whether two paths are the same except for the names of their parameters.
fn same_path(one: &str, other: &str) -> bool {
    super::page::unnamed(one).eq(super::page::unnamed(other))
}

fn read(text: &str) -> Value {
    serde_json::from_str(text).expect("the files of the description are JSON: a test reads them")
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}

fn push(list: &mut Value, one: Value) {
    match list {
        Value::Array(list) => list.push(one),
        _ => *list = json!([one]),
    }
}
