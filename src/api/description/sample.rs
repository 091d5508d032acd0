//! The sample of an operation on the page of the API description: a shell command. The page's introduction sets `$site` and
//! `$api` and defines `sign`; the reader sets the credentials, such as `$session`.

use super::page::Operation;
use super::{Description, items, text};
use serde_json::Value;

const LINE_CHARS_MAX: usize = 80;

impl Description {
    /// A `curl` command that sends the example of the operation's body, if the operation has one; a picture is read from a
    /// file.
    pub(super) fn sample(&self, operation: &Operation) -> String {
        let value = operation.value;
        let body = &value["requestBody"]["content"]["application/json"]["example"];
        let mut lines = Vec::new();
        if !body.is_null() {
            lines.push(format!("body='{}'", json(body).replace('\'', "'\\''")));
        }
        let picture = value["requestBody"]["content"].get("image/jpeg");
        let method = operation.method;
        let plain = method == if body.is_null() && picture.is_none() { "GET" } else { "POST" };
        let how = if plain { String::new() } else { format!(" -X {method}") };
        let mut command = format!("curl{how} \"{}{}\"", operation.prefix(), self.filled(operation));
        if !body.is_null() {
            command.push_str(" --json \"$body\"");
        }
        if picture.is_some() {
            command.push_str(" --data-binary @picture.jpg \\\n  -H \"content-type: image/jpeg\"");
        }
        for header in headers(value, !body.is_null()) {
            command.push_str(&format!(" \\\n  -H \"{header}\""));
        }
        if value["security"][0]["requestSignature"].is_array() {
            lines.push("now=$(date +%s)\nnonce=$(openssl rand -hex 16)".to_owned());
            let signed = format!("$now.$nonce.{method} {}.$body", self.filled(operation));
            let signed = if body.is_null() { signed.trim_end_matches("$body").to_owned() } else { signed };
            command.push_str(" \\\n  -H \"x-timestamp: $now\" -H \"x-nonce: $nonce\"");
            command.push_str(&format!(" \\\n  -H \"token: $(sign \"{signed}\")\""));
        }
        lines.push(command);
        lines.join("\n")
    }

    /// The path with the examples of its parameters, and the required query fields with theirs.
    fn filled(&self, operation: &Operation) -> String {
        let mut path = operation.path.to_owned();
        let mut query = Vec::new();
        for parameter in items(&operation.value["parameters"]).map(|one| self.resolve(one)) {
            let (name, example) = (text(&parameter["name"]), &parameter["example"]);
            let example = example.as_str().map_or_else(|| example.to_string(), str::to_owned);
            match text(&parameter["in"]) {
                "path" => path = path.replace(&format!("{{{name}}}"), &example),
                "query" if parameter["required"] == true => query.push(format!("{name}={example}")),
                _ => {}
            }
        }
        if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
    }
}

/// JSON on one line, or indented where the line would be longer than [`LINE_CHARS_MAX`].
fn json(body: &Value) -> String {
    let short = body.to_string();
    if short.len() <= LINE_CHARS_MAX { short } else { serde_json::to_string_pretty(body).unwrap_or(short) }
}

/// The headers of the credentials: of the first set, where the operation accepts alternative ones.
pub(super) fn headers(operation: &Value, has_body: bool) -> Vec<&'static str> {
    let first = operation["security"][0].as_object();
    let schemes = first.into_iter().flat_map(|one| one.keys());
    schemes
        .filter_map(|scheme| match scheme.as_str() {
            "session" => Some("Authorization: Bearer $session"),
            "staffSession" => Some("token: $staff_session"),
            "partnerSignature" if has_body => Some("token: $(sign \"$body\")"),
            "partnerSignature" => Some("token: $(sign '')"),
            "clientId" => Some("client-id: $client_id"),
            "mailSignature" => Some("X-Mandrill-Signature: $signature"),
            "paymentSignature" => Some("Stripe-Signature: t=$now,v1=$signature"),
            _ => None,
        })
        .collect()
}
