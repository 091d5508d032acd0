//! The refusals of the API description. The files name the code of each and what it is about; status, headers and the example
//! of the envelope follow from the code.

use super::{members, text};
use crate::http::answer::prose;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use serde_json::{Value, json};

/// The request id in the examples.
const REQUEST_ID: &str = "5d41402abc4b2a76";
/// How the text of a code begins that no operation answers.
const ON_PAGES_ALONE: &str = "On pages alone:";

/// The codes that operations answer, each with its status and text, by status.
pub(super) fn codes() -> Value {
    let mut kinds = Failure::KINDS.to_vec();
    kinds.sort_by_key(|(_, status, _)| *status);
    let texts = kinds.into_iter().map(|(code, status, text)| (code, status, prose(text)));
    let answered = texts.filter(|(.., text)| !text.starts_with(ON_PAGES_ALONE));
    answered
        .map(|(code, status, text)| json!({ "const": code, "description": format!("{}: {text}", status.as_str()) }))
        .collect()
}

/// Completes each refusal in a list of shared answers, in which those of other kinds stay as they are.
pub(super) fn complete(answers: &mut Value) {
    for answer in answers.as_object_mut().into_iter().flat_map(|answers| answers.values_mut()) {
        if answer["code"].is_string() {
            *answer = whole(answer.take());
        }
    }
}

/// The status of a shared refusal.
pub(super) fn status(refusals: &Value, name: &str) -> &'static str {
    status_of_code(text(&refusals[name]["code"]))
}

/// A shared refusal, or else the one with this code, and its status, where an operation says of its own what it is about.
pub(super) fn own(refusals: &Value, name: &str, about: &str) -> (&'static str, Value) {
    let mut short = refusals.get(name).cloned().unwrap_or_else(|| json!({ "code": name }));
    short["description"] = about.into();
    (status_of_code(text(&short["code"])), whole(short))
}

fn status_of_code(code: &str) -> &'static str {
    Failure::KINDS.iter().find(|(kind, ..)| *kind == code).map_or("", |(_, status, _)| status.as_str())
}

/// A refusal as the document has it.
fn whole(mut short: Value) -> Value {
    let code = short["code"].take();
    let own = Language::English.texts().get(text(&code)).cloned();
    let message = short["message"].as_str().map(str::to_owned).or(own);
    let mut example = json!({ "status": false, "code": code, "message": message, "request_id": REQUEST_ID });
    for (field, value) in members(&short["example"]) {
        example[field] = value.clone();
    }
    let mut headers = json!({ "x-request-id": header("RequestId") });
    match status_of_code(text(&code)) {
        "401" => headers["WWW-Authenticate"] = header("Challenge"),
        "429" | "503" => headers["Retry-After"] = header("RetryAfter"),
        _ => {}
    }
    for (name, value) in members(&short["headers"]) {
        headers[name] = value.clone();
    }
    let schema = short.get("schema").cloned().unwrap_or_else(|| json!({ "$ref": "Refusal" }));
    json!({
        "description": short["description"], "headers": headers,
        "content": { "application/json": { "schema": schema, "example": example } },
    })
}

fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}
