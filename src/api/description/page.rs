//! The description as one page of HTML: groups in the document's order, operations in the table's.

use super::escape;
use super::words::{anchor, blocks, line};
use super::{Description, items, members, text};
use crate::routes::{ROUTES, Route};
use serde_json::Value;

const PAGE: &str = include_str!("../../../assets/templates/docs.html");
/// What whoever receives the history must do: no operation of ours.
const UPSTREAM: &str = include_str!("../../../assets/templates/upstream.html");

/// A row of the table with what is said of it.
pub struct Operation<'a> {
    pub method: &'static str,
    pub path: &'a str,
    pub base: &'static str,
    pub value: &'a Value,
}

impl Operation<'_> {
    /// What comes before the path, as the samples call it.
    pub fn place(&self) -> &'static str {
        if self.base.is_empty() { "$site" } else { "$api" }
    }

    fn name(&self) -> &str {
        text(&self.value["operationId"])
    }
}

pub fn write(description: &Description) -> String {
    let document = &description.0;
    let operations: Vec<Operation> = ROUTES.iter().filter_map(|route| description.find(route)).collect();
    let groups: Vec<(&Value, Vec<&Operation>)> = items(&document["tags"])
        .map(|tag| (tag, operations.iter().filter(|one| one.value["tags"][0] == tag["name"]).collect()))
        .collect();
    let places = [
        ("{title}", escape(text(&document["info"]["title"]))),
        ("{summary}", escape(text(&document["info"]["summary"]))),
        ("{contents}", groups.iter().map(|(tag, of)| contents(tag, of)).collect()),
        ("{introduction}", blocks(text(&document["info"]["description"]))),
        ("{credentials}", credentials(description)),
        ("{types}", description.types()),
        ("{codes}", codes(description)),
        ("{everywhere}", description.refusals(&document["x-everywhere"]["responses"])),
        ("{upstream}", UPSTREAM.to_owned()),
        ("{groups}", groups.iter().map(|(tag, of)| group(description, tag, of)).collect()),
    ];
    places.iter().fold(PAGE.to_owned(), |html, (place, value)| html.replace(place, value))
}

impl Description {
    fn find(&self, route: &'static Route) -> Option<Operation<'_>> {
        let mut paths = members(&self.0["paths"]);
        let (path, item) = paths.find(|(path, _)| unnamed(path).eq(unnamed(route.path)))?;
        let value = item.get(route.method.as_str().to_lowercase())?;
        Some(Operation { method: route.method.as_str(), path, base: route.base, value })
    }

    /// Statuses with what they mean, but those of an operation that was done.
    fn refusals(&self, responses: &Value) -> String {
        let rows = members(responses).filter(|(status, _)| !status.starts_with('2')).map(|(status, response)| {
            let about = line(text(&self.resolve(response)["description"]));
            format!("<tr><td><code>{status}</code></td><td>{about}</td></tr>")
        });
        format!(
            "<div class=\"wide\"><table class=\"statuses\"><tbody>{}</tbody></table></div>",
            rows.collect::<String>()
        )
    }
}

/// A path's parts, its places without their names: two rows of the table name the same place differently, and the
/// description may not.
fn unnamed(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part })
}

fn contents(tag: &Value, operations: &[&Operation]) -> String {
    let name = text(&tag["name"]);
    let links = operations.iter().map(|one| {
        let title = line(text(&one.value["summary"]));
        format!(
            "<li><a href=\"#{}\"><span class=\"method {}\">{}</span>{title}</a></li>",
            one.name(),
            one.method,
            one.method
        )
    });
    format!("<details><summary>{}</summary><ul>{}</ul></details>", escape(name), links.collect::<String>())
}

fn group(description: &Description, tag: &Value, operations: &[&Operation]) -> String {
    let name = text(&tag["name"]);
    let shown: String = operations.iter().map(|one| operation(description, one)).collect();
    format!("<h2 id=\"{}\">{}</h2>{}{shown}", anchor(name), escape(name), blocks(text(&tag["description"])))
}

/// Closed until it is looked for: a browser opens it for whoever follows a link into it.
fn operation(description: &Description, operation: &Operation) -> String {
    let Operation { method, path, base, value } = operation;
    let beside =
        if value["x-beside-contract"] == true { " <span class=\"ours\">beside the contract</span>" } else { "" };
    let path = path.replace('/', "/\u{200b}").replace('{', "<var>{").replace('}', "}</var>");
    let head = format!(
        "<summary><span class=\"method {method}\">{method}</span><code>{base}{path}</code><span class=\"title\">{}</span></summary>",
        line(text(&value["summary"]))
    );
    let mut body = blocks(text(&value["description"]));
    body.push_str(&format!("<p class=\"access\">{}{beside}</p>", access(description, value)));
    body.push_str(&parameters(description, value));
    body.push_str(&request(description, value));
    body.push_str(&format!("<h4>Try it</h4><pre><code>{}</code></pre>", escape(&description.sample(operation))));
    body.push_str(&answers(description, value));
    format!("<details class=\"operation\">{head}<div id=\"{}\" class=\"body\">{body}</div></details>", operation.name())
}

/// Who may call, in words that lead to the credentials.
fn access(description: &Description, operation: &Value) -> String {
    let words = |scheme: &str| {
        let title = text(&description.0["components"]["securitySchemes"][scheme]["x-title"]);
        format!("<a href=\"#scheme-{scheme}\">{}</a>", escape(title))
    };
    let ways = items(&operation["security"]).map(|way| {
        let parts: Vec<String> = members(way).map(|(scheme, _)| words(scheme)).collect();
        if parts.is_empty() { "nothing".to_owned() } else { parts.join(" and ") }
    });
    let ways: Vec<String> = ways.collect();
    if let Some(field) = operation["x-signed-body"].as_str() {
        return format!("Signed in its field <code>{field}</code>.");
    }
    if ways.is_empty() { "For anybody.".to_owned() } else { format!("Needs {}.", ways.join(", or ")) }
}

fn parameters(description: &Description, operation: &Value) -> String {
    let rows: String = items(&operation["parameters"])
        .map(|one| description.resolve(one))
        .map(|one| {
            let may = if one["required"] == true { "" } else { " <span class=\"may\">optional</span>" };
            let (name, place) = (escape(text(&one["name"])), text(&one["in"]));
            let place = if place == "path" { "in the path" } else { place };
            let about = line(text(&one["description"]));
            format!("<tr><td><code>{name}</code>{may}</td><td class=\"kind\">{place}</td><td>{about}</td></tr>")
        })
        .collect();
    if rows.is_empty() {
        return rows;
    }
    format!(
        "<h4>Path, query and headers</h4><div class=\"wide\"><table class=\"fields\"><tbody>{rows}</tbody></table></div>"
    )
}

fn request(description: &Description, operation: &Value) -> String {
    let kinds: Vec<(&String, &Value)> = members(&operation["requestBody"]["content"]).collect();
    let Some((_, first)) = kinds.first() else { return String::new() };
    let names: Vec<String> = kinds.iter().map(|(kind, _)| format!("<code>{kind}</code>")).collect();
    format!("<h4>Body: {}</h4>{}", names.join(" or "), description.tables(&first["schema"]))
}

fn answers(description: &Description, operation: &Value) -> String {
    let done =
        members(&operation["responses"]).filter(|(status, _)| status.starts_with('2')).map(|(status, response)| {
            let response = description.resolve(response);
            let about = line(text(&response["description"]));
            let shown: String =
                members(&response["content"]).map(|(kind, media)| answer(description, kind, media)).collect();
            format!("<h4><code>{status}</code> {about}</h4>{shown}")
        });
    let done: String = done.collect();
    format!("{done}<h4>Otherwise</h4>{}", description.refusals(&operation["responses"]))
}

fn answer(description: &Description, kind: &str, media: &Value) -> String {
    if kind != "application/json" {
        return format!("<p class=\"kind\">As <code>{kind}</code>.</p>");
    }
    let example = serde_json::to_string_pretty(&media["example"]).unwrap_or_default();
    let tables = description.tables(&media["schema"]);
    format!(
        "{tables}<details class=\"example\"><summary>Example</summary><pre><code>{}</code></pre></details>",
        escape(&example)
    )
}

fn credentials(description: &Description) -> String {
    let schemes = members(&description.0["components"]["securitySchemes"]).map(|(name, scheme)| {
        let (title, about) = (escape(text(&scheme["x-title"])), line(text(&scheme["description"])));
        let header = match text(&scheme["in"]) {
            "header" => text(&scheme["name"]),
            _ => "Authorization",
        };
        format!("<tr id=\"scheme-{name}\"><td>{title}</td><td class=\"header\"><code>{header}</code></td><td>{about}</td></tr>")
    });
    schemes.collect()
}

fn codes(description: &Description) -> String {
    let listed = items(&description.0["components"]["schemas"]["RefusalCode"]["oneOf"]).map(|one| {
        let (status, about) = text(&one["description"]).split_once(": ").unwrap_or_default();
        let code = escape(text(&one["const"]));
        format!(
            "<tr><td><code>{status}</code></td><td class=\"header\"><code>{code}</code></td><td>{}</td></tr>",
            line(about)
        )
    });
    listed.collect()
}
