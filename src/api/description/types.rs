//! Completes the schemas for programs that make clients from them: each `enum` and `const` names its type.

use serde_json::{Map, Value, json};

/// Keys whose values are data, and no schemas.
const DATA: [&str; 4] = ["default", "example", "examples", "x-codes"];

/// Names the type of each `enum` and `const` below. An `enum` of several types becomes one alternative for each type.
pub fn name(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.iter_mut().filter(|(key, _)| !DATA.contains(&key.as_str())).for_each(|(_, one)| name(one));
            name_own(map);
        }
        Value::Array(list) => list.iter_mut().for_each(name),
        _ => {}
    }
}

fn name_own(schema: &mut Map<String, Value>) {
    if schema.contains_key("type") {
        return;
    }
    if let Some(own) = schema.get("const").map(kind) {
        schema.insert("type".to_owned(), own.into());
        return;
    }
    let Some(values) = schema.get("enum").and_then(Value::as_array) else { return };
    let mut kinds: Vec<&str> = Vec::new();
    values.iter().map(kind).for_each(|own| {
        if !kinds.contains(&own) {
            kinds.push(own);
        }
    });
    let named = kinds.iter().filter(|own| **own != "null").count();
    if named > 1 {
        let of = |own: &str| values.iter().filter(|value| kind(value) == own).cloned().collect::<Vec<_>>();
        let split: Vec<Value> = kinds.iter().map(|own| json!({ "type": own, "enum": of(own) })).collect();
        schema.remove("enum");
        schema.insert("anyOf".to_owned(), split.into());
    } else {
        let own = if kinds.len() == 1 { kinds[0].into() } else { json!(kinds) };
        schema.insert("type".to_owned(), own);
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
