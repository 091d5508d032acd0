//! The OpenAPI document, generated from the table of routes, the bodies, answers and operations that the modules declare, and two
//! files of `assets/api`: what all operations share, and the types of fields.
//!
//! Files and declarations have abbreviations of OpenAPI: a shared parameter, header or answer is a name, a `$ref` is the name
//! of a schema, and `json` is the content of that type. What follows from a row of the table is declared nowhere: credentials,
//! the schema of a body, and the parameters and refusals of each kind of operation.

use super::page::unnamed;
use super::{items, members, refusals, text, types};
use crate::http::answer::{FieldOfAnswer, Operation, Schemas, overlay};
use crate::http::body::{SHARED, shared};
use crate::http::reply::Refusal;
use crate::http::row::{CallerKind, Row};
use http::Method;
use serde_json::{Map, Value, json};

const DOCUMENT: &str = include_str!("../../../assets/api/document.json");
/// The schemas of field types.
const TYPES: &str = include_str!("../../../assets/api/types.json");
/// The whole document.
pub(super) fn write(rows: &[&Row]) -> Value {
    let mut document = read(DOCUMENT);
    let mut schemas = Schemas(object(read(TYPES)));
    Refusal::show(&mut schemas);
    let codes = refusals::codes();
    let mut paths = json!({});
    for row in rows.iter().filter(|row| !row.is_page()) {
        let path = path(row, rows);
        let Some(operation) = describe(row, &path, &document, &mut schemas) else { continue };
        let item = &mut paths[&path];
        if row.base.is_empty() {
            item["servers"] = json!([{ "url": "/", "description": "Outside `/api`." }]);
        }
        item[row.method.as_str().to_lowercase()] = operation;
    }
    let mut schemas = schemas.0;
    for body in rows.iter().filter_map(|row| row.body) {
        schemas.insert(body.name.to_owned(), (body.schema)());
    }
    for answers in ["/components/responses", "/x-everywhere/responses"] {
        let Some(answers) = document.pointer_mut(answers) else { continue };
        refusals::complete(answers);
        *answers = object(answers.take()).into_iter().map(|(key, one)| (key, reference("responses", one))).collect();
    }
    document["paths"] = paths;
    let used = document["paths"].to_string() + &Value::Object(schemas.clone()).to_string();
    let optional: Vec<_> = schemas.iter().filter_map(|(name, schema)| optional(name, schema, &used)).collect();
    schemas.extend(optional);
    schemas["RefusalCode"]["examples"] = items(&codes).map(|one| one["const"].clone()).collect();
    schemas["RefusalCode"]["x-codes"] = codes;
    document["components"]["schemas"] = Value::Object(schemas);
    forget_sources(&mut document);
    name_schemas(&mut document);
    types::name(&mut document);
    document
}

/// Removes what only this module reads.
fn forget_sources(document: &mut Value) {
    let tags = document["tags"].as_array_mut().into_iter().flatten();
    for map in tags.filter_map(Value::as_object_mut) {
        map.remove("x-paths");
    }
    if let Some(document) = document.as_object_mut() {
        document.remove("x-path-parameters");
    }
}

/// The path of a row. Two paths that differ only in the name of a parameter are one path, whose parameter is `id`.
fn path(row: &Row, rows: &[&Row]) -> String {
    let alike = |other: &&&Row| !other.is_page() && unnamed(other.path).eq(unnamed(row.path));
    let others: Vec<&str> = rows.iter().filter(alike).map(|other| other.path).collect();
    let parts = row.path.split('/').enumerate().map(|(at, part)| {
        let same = others.iter().all(|other| other.split('/').nth(at) == Some(part));
        if same { part } else { "{id}" }
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The name of the group of a path: that of its longest beginning.
fn tag(path: &str, document: &Value) -> Value {
    let begins = |tag: &Value| {
        let begins = items(&tag["x-paths"]).map(text).filter(|begin| path.starts_with(begin));
        begins.map(str::len).max().unwrap_or(0)
    };
    items(&document["tags"]).max_by_key(|tag| begins(tag)).map_or(Value::Null, |tag| tag["name"].clone())
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

/// The operation of a row, completed by what follows from the row.
fn describe(row: &Row, path: &str, document: &Value, schemas: &mut Schemas) -> Option<Value> {
    let mut operation = declare(row, path, row.operation?, document, schemas);
    operation["tags"] = json!([tag(row.path, document)]);
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
    Some(object(operation).into_iter().filter(|(name, value)| !empty(name, value)).collect())
}

/// A declared operation, with the parameters of its path, the refusals of its caller, and what a list has.
fn declare(row: &Row, path: &str, declared: &Operation, document: &Value, schemas: &mut Schemas) -> Value {
    let mut operation = declared.describe(schemas);
    let mut parameters = path_parameters(row, path, document);
    parameters.extend(declared.parameters.iter().map(|name| Value::from(*name)));
    let answer = &operation["responses"]["200"]["json"]["schema"];
    let is_list = answer["$ref"].as_str().is_some_and(|name| schemas.0[name]["type"] == "array");
    if row.method == Method::GET && is_list {
        parameters.extend(["Limit", "Offset"].map(Value::from));
    }
    operation["parameters"] = parameters.into();
    if let Some(body) = row.body.filter(|_| operation["requestBody"].is_object())
        && ["required", "anyOf"].iter().any(|keyword| (body.schema)()[keyword].is_array())
    {
        operation["requestBody"]["required"] = true.into();
    }
    let refusals = &document["components"]["responses"];
    for name in refusals_of_caller(row, declared).into_iter().chain(declared.refusals.iter().copied()) {
        operation["responses"][refusals::status(refusals, name)] = name.into();
    }
    for (name, about) in declared.own_refusals {
        let (status, refusal) = refusals::own(refusals, name, about);
        operation["responses"][status] = refusal;
    }
    if declared.is_page_too {
        for answer in operation["responses"].as_object_mut().into_iter().flat_map(Map::values_mut) {
            if answer.is_object() {
                answer["content"]["text/html"] = json!({ "schema": { "type": "string" } });
            }
        }
    }
    declared.adjust(&mut operation);
    if row.caller_kind == CallerKind::Callback && operation["requestBody"].is_object() {
        let body = &mut operation["requestBody"];
        body["content"]["application/x-www-form-urlencoded"] = body["json"].clone();
    }
    operation
}

/// The parameters in the path: shared ones, else each as the file has it under its name.
fn path_parameters(row: &Row, path: &str, document: &Value) -> Vec<Value> {
    let shared = &document["components"]["parameters"];
    let inner = |part: &'static str| part.strip_prefix('{')?.strip_suffix('}');
    let pairs = row.path.split('/').zip(path.split('/'));
    let parameters = pairs.filter_map(|(part, named)| {
        let (name, named) = (inner(part)?, named.trim_matches(['{', '}']));
        let is_it = |one: &Value| one["in"] == "path" && one["name"] == name;
        if let Some((key, _)) = members(shared).find(|(_, one)| is_it(one)) {
            return Some(key.as_str().into());
        }
        let mut own = json!({ "name": named, "in": "path", "required": true, "schema": { "type": "string" } });
        overlay(&mut own, document["x-path-parameters"][name].clone());
        Some(own)
    });
    parameters.collect()
}

/// The refusals that all operations with such a caller have, and that of a number that may not be known.
fn refusals_of_caller(row: &Row, declared: &Operation) -> Vec<&'static str> {
    let caller = row.caller_kind;
    let mut names = match caller {
        CallerKind::Partner => vec!["BadSignature", "AddressNotAllowed"],
        CallerKind::Callback => vec!["BadCallback"],
        CallerKind::Open => vec![],
        _ => vec!["NotSignedIn", "NotAllowed"],
    };
    names.extend(row.path.contains('{').then_some("NotFound"));
    names.extend(
        declared.has_pace.unwrap_or(caller != CallerKind::Open || row.method != Method::GET).then_some("TooFast"),
    );
    names
}

/// The credentials that the row requires.
fn security(row: &Row) -> Value {
    match row.caller_kind {
        CallerKind::Partner if row.signs_request => json!([{ "requestSignature": [] }]),
        CallerKind::Partner if row.client_id => json!([{ "partnerSignature": [], "clientId": [] }]),
        CallerKind::Partner => json!([{ "partnerSignature": [] }]),
        CallerKind::Staff => json!([{ "staffSession": [] }]),
        CallerKind::Member => json!([{ "session": [] }, { "sessionInToken": [] }]),
        CallerKind::Listening => {
            json!([{ "session": [] }, { "sessionInToken": [] }, { "ticket": [] }, { "requestSignature": [] }])
        }
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

fn read(file: &str) -> Value {
    serde_json::from_str(file).expect("the files of the description are JSON: a test reads them")
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => Map::new(),
    }
}
