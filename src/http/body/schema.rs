//! A body as a JSON schema of the API description.

use super::Body;
use serde_json::{Map, Value, json};

/// The JSON schema of a body under construction.
pub(crate) struct Object(Map<String, Value>);

impl Object {
    /// The schema of a body.
    pub(crate) fn of<B: Body>() -> Value {
        let mut object = Object(Map::new());
        object.also(json!({ "type": "object", "properties": {}, "required": [] }));
        B::describe(&mut object);
        if object.0["required"] == json!([]) {
            object.0.remove("required");
        }
        Value::Object(object.0)
    }

    pub(crate) fn add(&mut self, name: &str, mut schema: Value, about: &str) {
        if !about.is_empty() {
            schema["description"] = about.trim().into();
        }
        self.0["properties"][name] = schema;
    }

    pub(super) fn require(&mut self, name: &str) {
        self.0["required"].as_array_mut().expect("Object::of begins with a list").push(name.into());
    }

    /// Adds keywords to the whole schema.
    pub(crate) fn also(&mut self, keywords: Value) {
        let Value::Object(keywords) = keywords else { return };
        self.0.extend(keywords);
    }
}

/// The schema of a row's body.
#[derive(Clone, Copy)]
pub struct BodySchema {
    /// The name of the schema in the description.
    pub name: &'static str,
    /// Makes the JSON schema.
    pub schema: fn() -> Value,
}

impl BodySchema {
    pub(crate) const fn of<B: Body>() -> BodySchema {
        BodySchema { name: B::NAME, schema: Object::of::<B> }
    }
}

/// The path of the schemas that fields share.
pub(crate) const SHARED: &str = "#/components/schemas/";

/// A reference to a schema that fields share.
pub(crate) fn shared(name: &str) -> Value {
    json!({ "$ref": format!("{SHARED}{name}") })
}

/// The schema of an optional field: `null` and blank text count as absent.
pub(super) fn or_blank(mut schema: Value) -> Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|target| target.strip_prefix(SHARED)) {
        schema["$ref"] = format!("{SHARED}Optional{name}").into();
        return schema;
    }
    // A schema without keywords accepts blank text already.
    if schema == json!({}) {
        return schema;
    }
    match schema.get_mut("anyOf").and_then(Value::as_array_mut) {
        Some(choices) => choices.push(shared("Blank")),
        None => schema = json!({ "anyOf": [schema, shared("Blank")] }),
    }
    schema
}
