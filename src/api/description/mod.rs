//! The API description, for programs as it stands in `assets/openapi.json`, and for people as a page made from it.

mod fields;
mod page;
mod sample;
mod words;

use crate::call::Call;
use crate::language::Language;
use crate::markup::escape;
use crate::reply;
use crate::routes::Answer;
use crate::site::Site;
use http::StatusCode;
use serde_json::Value;
use std::sync::LazyLock;

const DOCUMENT: &str = include_str!("../../../assets/openapi.json");

/// Made once: it is the same for everybody.
static PAGE: LazyLock<String> = LazyLock::new(|| page::write(&Description::read()));

/// The document, with its references followed.
struct Description(Value);

impl Description {
    fn read() -> Description {
        Description(serde_json::from_str(DOCUMENT).expect("the description is JSON: a test reads it"))
    }

    /// What a `$ref` leads to, or the value itself.
    fn resolve<'a>(&'a self, value: &'a Value) -> &'a Value {
        let target = value["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
        target.and_then(|pointer| self.0.pointer(pointer)).unwrap_or(value)
    }
}

/// The items of a list; none where it is no list.
fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// The members of an object; none where it is no object.
fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

/// `GET /openapi.json`: the description.
pub fn document(_: &Site, _: &Call) -> Answer {
    Ok(reply::bytes("application/json", DOCUMENT))
}

/// `GET /docs`: the description as a page.
pub fn page(_: &Site, _: &Call) -> Answer {
    Ok(reply::page(StatusCode::OK, Language::English, PAGE.clone()))
}
