//! The schemas of the API description as tables of fields, for its page. Nested fields have dotted names: `rows[].name`.

use super::escape;
use super::words::{Html, line};
use super::{Description, items, members, text};
use serde_json::Value;

/// The depth of nested fields in a table: more than any schema of ours has. The limit ends recursive schemas.
const DEPTH_MAX: usize = 6;

/// A schema on the page: its description, its type in a few words, and its fields, if it has some.
pub(super) struct Table {
    pub description: Html,
    pub kind: Html,
    pub fields: Vec<Field>,
}

/// One line of the table.
pub(super) struct Field {
    pub name: String,
    pub kind: Html,
    /// The field is required and may not be blank.
    pub required: bool,
    pub description: Html,
}

/// A named schema without fields, such as an enumeration: the page describes it once, and fields link to it.
pub(super) struct NamedType<'a> {
    pub name: &'a str,
    pub kind: Html,
    pub description: Html,
}

impl Description {
    /// The tables of a schema: one for each alternative (`anyOf`) that has fields, else one for the whole schema.
    pub(super) fn tables(&self, schema: &Value) -> Vec<Table> {
        let schema = self.resolve(schema);
        let has_fields = |one: &&Value| self.is_object(one) || self.is_object(&self.resolve(one)["items"]);
        let shapes: Vec<&Value> = items(&schema["anyOf"]).filter(has_fields).collect();
        if shapes.is_empty() {
            return vec![self.table(schema)];
        }
        shapes.iter().map(|shape| self.table(self.resolve(shape))).collect()
    }

    /// The table of an object; for a list, that of its items.
    fn table(&self, schema: &Value) -> Table {
        let mut fields = Vec::new();
        let row = self.resolve(&schema["items"]);
        self.collect(if row.is_object() { row } else { schema }, "", 0, &mut fields);
        Table { description: line(text(&schema["description"])), kind: Html::of(self.kind(schema)), fields }
    }

    fn is_object(&self, schema: &Value) -> bool {
        self.resolve(schema)["properties"].is_object()
    }

    /// Appends the fields of an object to `fields`: the required ones in the order of `required`, then the others, and the
    /// fields of an object or list of objects after its own line. `prefix`: the dotted name up to here, with its last dot.
    fn collect(&self, schema: &Value, prefix: &str, depth: usize, fields: &mut Vec<Field>) {
        let properties = &schema["properties"];
        let required: Vec<&str> =
            items(&schema["required"]).map(text).filter(|name| properties.get(name).is_some()).collect();
        let others = members(properties).map(|(name, _)| name.as_str()).filter(|name| !required.contains(name));
        for name in required.iter().copied().chain(others) {
            let (own, inner) = (&properties[name], self.resolve(&properties[name]));
            let (below, listed) = if self.is_object(&inner["items"]) { (&inner["items"], "[]") } else { (inner, "") };
            let full = format!("{prefix}{name}{listed}");
            let nested = self.is_object(below) && depth < DEPTH_MAX;
            let (kind, optional) = if nested {
                (if listed.is_empty() { "object" } else { "list of objects" }.to_owned(), false)
            } else {
                (self.kind(own), self.may_be_blank(own))
            };
            let (kind, description) = (Html::of(kind), self.description(own));
            fields.push(Field {
                name: full.clone(),
                kind,
                required: required.contains(&name) && !optional,
                description,
            });
            if nested {
                self.collect(self.resolve(below), &format!("{full}."), depth + 1, fields);
            }
        }
    }

    /// Whether a schema also accepts a blank text. Those schemas have names that begin with `Optional`.
    fn may_be_blank(&self, schema: &Value) -> bool {
        text(&schema["$ref"]).contains("/Optional")
    }

    /// The description of a field, with its limits. A field without a description has that of its schema, unless the page
    /// describes that schema as a [`NamedType`], to which the field links.
    fn description(&self, own: &Value) -> Html {
        let shared = text(&own["$ref"]);
        let text_of_field = match text(&own["description"]) {
            "" if shared.is_empty() || self.is_object(own) || self.resolve(own)["items"].is_object() => {
                text(&self.resolve(own)["description"])
            }
            text_of_field => text_of_field,
        };
        let mut parts: Vec<String> =
            if text_of_field.is_empty() { Vec::new() } else { vec![line(text_of_field).to_string()] };
        parts.extend(bounds(own).or_else(|| bounds(self.resolve(own)).filter(|_| shared.is_empty())));
        Html::of(parts.join(" "))
    }

    /// The type of a schema in a few words, as HTML: `string or integer`, the values of an enumeration, or a link to a type.
    pub(super) fn kind(&self, schema: &Value) -> String {
        if let Some(name) = text(&schema["$ref"]).strip_prefix("#/components/schemas/") {
            let plain = name.strip_prefix("Optional").unwrap_or(name);
            let shared = self.resolve(schema);
            let alone = self.is_object(schema) || shared["items"].is_object();
            return if alone { self.kind(shared) } else { format!("<a href=\"#type-{plain}\">{plain}</a>") };
        }
        if let Some(value) = schema.get("const") {
            return code(value);
        }
        if schema["enum"].is_array() {
            return items(&schema["enum"]).map(code).collect::<Vec<_>>().join(" · ");
        }
        let choices: Vec<String> = items(&schema["anyOf"])
            .filter(|one| !text(&one["$ref"]).ends_with("/Blank"))
            .map(|one| self.kind(one))
            .collect();
        if !choices.is_empty() {
            let mut seen: Vec<String> = Vec::new();
            choices.into_iter().for_each(|one| {
                if !seen.contains(&one) {
                    seen.push(one)
                }
            });
            return seen.join(" or ");
        }
        if schema["items"].is_object() {
            return format!("list of {}", self.kind(&schema["items"]));
        }
        match &schema["type"] {
            Value::Array(types) => types.iter().map(text).collect::<Vec<_>>().join(" or "),
            Value::String(one) => one.clone(),
            _ => "anything".to_owned(),
        }
    }

    /// The named schemas without fields, without the `Optional` variants of others.
    pub(super) fn types(&self) -> Vec<NamedType<'_>> {
        let own = |(name, schema): &(&String, &Value)| {
            let listed = schema["anyOf"].is_array()
                || schema["$ref"].is_string()
                || schema["enum"].is_array()
                || schema["type"] == "string";
            listed && !name.starts_with("Optional") && !self.is_object(schema)
        };
        let listed = members(&self.0["components"]["schemas"]).filter(own).map(|(name, schema)| NamedType {
            name,
            kind: Html::of(self.kind(schema)),
            description: line(text(&schema["description"])),
        });
        listed.collect()
    }
}

/// A JSON value as HTML code; a text without quotes, unless empty.
fn code(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "<code>\"\"</code>".to_owned(),
        Value::String(text) => format!("<code>{}</code>", escape(text)),
        other => format!("<code>{other}</code>"),
    }
}

/// The limits of a schema as a sentence: the length of a text, else the range of a number. `None` without such limits.
fn bounds(schema: &Value) -> Option<String> {
    if let Some(most) = schema["maxLength"].as_u64() {
        return Some(format!("At most {most} characters."));
    }
    let (least, most) = (schema["minimum"].as_i64()?, schema["maximum"].as_i64()?);
    (most < i64::MAX).then(|| format!("{least} to {most}."))
}
