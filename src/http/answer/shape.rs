//! The schemas and examples of answers, under construction.

use super::{FieldOfAnswer, StructOfAnswer};
use serde_json::{Map, Value, json};

/// The schema of a value, and an example where one is known.
pub(crate) struct Shown {
    pub schema: Value,
    pub example: Option<Value>,
}

/// The schemas that have names.
#[derive(Default)]
pub(crate) struct Schemas(pub Map<String, Value>);

/// The description of a struct under construction.
pub(crate) struct Shape<'a> {
    schemas: &'a mut Schemas,
    properties: Map<String, Value>,
    required: Vec<&'static str>,
    example: Map<String, Value>,
}

/// What the declaration of a field says beside its kind.
pub(crate) struct ShapeField {
    key: &'static str,
    about: String,
    keywords: Value,
    example: Option<Value>,
}

impl Shown {
    pub(super) fn of(schema: Value) -> Shown {
        Shown { schema, example: None }
    }
}

impl Schemas {
    /// The schema of a struct; with a name, a reference to it.
    pub(crate) fn object<T: StructOfAnswer>(&mut self, name: Option<&'static str>, about: &[&str]) -> Shown {
        let mut shape = Shape { schemas: self, properties: Map::new(), required: Vec::new(), example: Map::new() };
        T::describe_fields(&mut shape);
        let Shape { properties, required, example, .. } = shape;
        let mut schema = json!({ "type": "object", "additionalProperties": false, "properties": properties });
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        Shown { schema: self.named(name, about, schema), example: Some(example.into()) }
    }

    /// The schema of a kind with a name, as a reference to it.
    pub(crate) fn kind<K: FieldOfAnswer>(&mut self, name: &'static str, about: &[&str]) -> Shown {
        let Shown { schema, example } = K::show(self);
        Shown { schema: self.named(Some(name), about, schema), example }
    }

    fn named(&mut self, name: Option<&str>, about: &[&str], mut schema: Value) -> Value {
        let about = prose(about);
        if !about.is_empty() {
            schema["description"] = about.into();
        }
        let Some(name) = name else { return schema };
        self.0.insert(name.to_owned(), schema);
        json!({ "$ref": name })
    }
}

impl Shape<'_> {
    pub(super) fn schemas(&mut self) -> &mut Schemas {
        self.schemas
    }

    pub(super) fn add(&mut self, field: ShapeField, shown: Shown, is_always_there: bool) {
        let ShapeField { key, about, keywords, example } = field;
        let mut schema = shown.schema;
        let takes_null = schema["type"].as_array().is_some_and(|types| types.contains(&"null".into()));
        if !about.is_empty() {
            schema["description"] = about.into();
        }
        overlay(&mut schema, keywords);
        if takes_null && let Some(values) = schema["enum"].as_array_mut() {
            values.push(Value::Null);
        }
        if let Some(map) = schema.as_object_mut() {
            map.retain(|_, value| !value.is_null());
        }
        self.properties.insert(key.to_owned(), schema);
        if is_always_there {
            self.required.push(key);
        }
        // A field that some answers lack has an example where its declaration says one.
        let default = shown.example.filter(|_| is_always_there);
        if let Some(example) = example.or(default) {
            self.example.insert(key.to_owned(), example);
        }
    }
}

impl ShapeField {
    pub(crate) fn new(key: &'static str, about: &[&str]) -> ShapeField {
        ShapeField { key, about: prose(about), keywords: json!({}), example: None }
    }

    /// Ends the text, where there is one, by the unit of the value.
    pub(super) fn in_unit(mut self, unit: &str) -> ShapeField {
        if !self.about.is_empty() && !unit.is_empty() {
            self.about = format!("{} {unit}", self.about);
        }
        self
    }

    pub(crate) fn one_of(mut self, values: Value) -> ShapeField {
        self.keywords["enum"] = values;
        self
    }

    pub(crate) fn also(mut self, keywords: Value) -> ShapeField {
        overlay(&mut self.keywords, keywords);
        self
    }

    pub(crate) fn example(mut self, example: Value) -> ShapeField {
        self.example = Some(example);
        self
    }
}

/// The text of a comment: an empty line begins a paragraph, and a line of a list stays a line.
pub(crate) fn prose(lines: &[&str]) -> String {
    let mut text = String::new();
    for line in lines.iter().map(|line| line.trim()) {
        let gap = match () {
            () if text.is_empty() || text.ends_with('\n') => "",
            () if line.is_empty() => "\n\n",
            () if line.starts_with("- ") => "\n",
            () => " ",
        };
        text.push_str(gap);
        text.push_str(line);
    }
    text.trim_end().to_owned()
}

/// Puts `over` upon a value: members upon the members of the same name, rows upon rows, anything else in its place.
pub(crate) fn overlay(value: &mut Value, over: Value) {
    match (value, over) {
        (Value::Object(map), Value::Object(over)) => {
            over.into_iter().for_each(|(key, one)| overlay(map.entry(key).or_insert(Value::Null), one));
        }
        (Value::Array(list), Value::Array(over)) if list.len() == over.len() => {
            list.iter_mut().zip(over).for_each(|(value, one)| overlay(value, one));
        }
        (value, over) => *value = over,
    }
}
