//! What the API description says of an operation beside what follows from its row of the table.

use super::shape::{overlay, prose};
use super::{FieldOfAnswer, Schemas, Shown};
use http::StatusCode;
use serde_json::{Value, json};

/// The description of an operation. Credentials, the schema of the body, and the parameters and refusals that all operations
/// of its kind have follow from its row.
pub struct Operation {
    /// Its name for programs.
    pub(crate) id: &'static str,
    /// The lines of the comment.
    text: &'static [&'static str],
    /// Names of shared parameters.
    pub(crate) parameters: &'static [&'static str],
    /// Names of refusals of its own.
    pub(crate) refusals: &'static [&'static str],
    /// Whether callers are told to slow down, where its kind is not alike in that.
    pub(crate) has_pace: Option<bool>,
    /// An example of the body.
    body: Option<fn() -> Value>,
    status: StatusCode,
    /// What the answer is.
    about: &'static str,
    show: Option<fn(&mut Schemas) -> Shown>,
    /// What is other in the example than in those of the fields.
    example: Option<fn() -> Value>,
    /// Names of headers of the answer, and of their descriptions.
    headers: &'static [(&'static str, &'static str)],
    /// The type of an answer that is no JSON; with an example it is a text.
    media: Option<(&'static str, Option<&'static str>)>,
    /// Whether browsers get a page instead.
    pub(crate) is_page_too: bool,
    /// Refusals with what they are about here.
    pub(crate) own_refusals: &'static [(&'static str, &'static str)],
    /// What is other than in all operations of its kind.
    more: Option<fn() -> Value>,
}

impl Operation {
    pub(crate) const fn new(id: &'static str, text: &'static [&'static str]) -> Operation {
        Operation {
            id,
            text,
            parameters: &[],
            refusals: &[],
            has_pace: None,
            body: None,
            status: StatusCode::OK,
            about: "",
            show: None,
            example: None,
            headers: &[],
            media: None,
            is_page_too: false,
            own_refusals: &[],
            more: None,
        }
    }

    /// 200 with this, and what it is.
    pub(crate) const fn answers<K: FieldOfAnswer>(mut self, about: &'static str) -> Operation {
        self.about = about;
        self.show = Some(K::show);
        self
    }

    /// 201 with this, and what it is.
    pub(crate) const fn creates<K: FieldOfAnswer>(self, about: &'static str) -> Operation {
        Operation { status: StatusCode::CREATED, ..self.answers::<K>(about) }
    }

    /// 200 with a file of this type, and what it is.
    pub(crate) const fn gives(self, kind: &'static str, about: &'static str) -> Operation {
        Operation { media: Some((kind, None)), about, ..self }
    }

    /// 200 with text of this type, an example, and what it is.
    pub(crate) const fn prints(self, kind: &'static str, example: &'static str, about: &'static str) -> Operation {
        Operation { media: Some((kind, Some(example))), about, ..self }
    }

    /// Browsers get a page instead.
    pub(crate) const fn or_page(self) -> Operation {
        Operation { is_page_too: true, ..self }
    }

    /// What is other in the example of the answer than in the examples of its fields.
    pub(crate) const fn example(self, example: fn() -> Value) -> Operation {
        Operation { example: Some(example), ..self }
    }

    /// An example of the body.
    pub(crate) const fn body(self, example: fn() -> Value) -> Operation {
        Operation { body: Some(example), ..self }
    }

    /// Parameters beside those of its path, by name.
    pub(crate) const fn takes(self, parameters: &'static [&'static str]) -> Operation {
        Operation { parameters, ..self }
    }

    /// Refusals beside those of its kind, by name.
    pub(crate) const fn refuses(self, refusals: &'static [&'static str]) -> Operation {
        Operation { refusals, ..self }
    }

    /// Refusals by name, or by code where no other operation has it, each with what it is about here.
    pub(crate) const fn refuses_as(self, own_refusals: &'static [(&'static str, &'static str)]) -> Operation {
        Operation { own_refusals, ..self }
    }

    /// 429 where its kind has none, or the reverse.
    pub(crate) const fn paced(self, has_pace: bool) -> Operation {
        Operation { has_pace: Some(has_pace), ..self }
    }

    /// Headers of the answer, each with the name of its description.
    pub(crate) const fn headers(self, headers: &'static [(&'static str, &'static str)]) -> Operation {
        Operation { headers, ..self }
    }

    /// The parts of the description in which this operation differs from all others of its kind, as the document has them.
    pub(crate) const fn also(self, more: fn() -> Value) -> Operation {
        Operation { more: Some(more), ..self }
    }

    /// The operation as the document has it, as far as it does not follow from its row.
    pub(crate) fn describe(&self, schemas: &mut Schemas) -> Value {
        let (title, text) = self.text.split_first().unwrap_or((&"", &[]));
        let mut operation =
            json!({ "operationId": self.id, "summary": title.trim(), "description": prose(text), "responses": {} });
        if let Some(example) = self.body {
            operation["requestBody"]["json"]["example"] = example();
        }
        if !self.about.is_empty() {
            operation["responses"][self.status.as_str()] = self.answer(schemas);
        }
        operation
    }

    /// Puts what is other than usual upon the operation; its parameters are added to the others.
    pub(crate) fn adjust(&self, operation: &mut Value) {
        let Some(mut more) = self.more.map(|more| more()) else { return };
        let own = more.as_object_mut().and_then(|more| more.remove("parameters"));
        if let (Some(all), Some(Value::Array(own))) = (operation["parameters"].as_array_mut(), own) {
            all.extend(own);
        }
        overlay(operation, more);
    }

    fn answer(&self, schemas: &mut Schemas) -> Value {
        let mut answer = json!({ "description": self.about });
        if let Some(Shown { schema, mut example }) = self.show.map(|show| show(schemas)) {
            if let Some(over) = self.example {
                overlay(example.get_or_insert(Value::Null), over());
            }
            answer["json"] = json!({ "schema": schema, "example": example });
        }
        if let Some((kind, example)) = self.media {
            answer["content"][kind] = match example {
                Some(example) => json!({ "schema": { "type": "string", "minLength": 1 }, "example": example }),
                None => json!({ "schema": { "type": "string", "format": "binary", "contentMediaType": kind } }),
            };
        }
        for (header, name) in self.headers {
            answer["headers"][header] = json!({ "$ref": format!("#/components/headers/{name}") });
        }
        answer
    }
}
