//! The description as one page of HTML: groups in the document's order, operations in the table's.

use super::fields::{NamedType, Table};
use super::words::{Html, anchor, blocks, line};
use super::{Description, items, members, text};
use crate::http::assets;
use crate::http::row::{Row, rows};
use askama::Template;
use serde_json::Value;

#[derive(Template)]
#[template(path = "docs/page.html", config = "assets/templates/askama.toml")]
struct Page<'a> {
    title: &'a str,
    summary: &'a str,
    introduction: Html,
    groups: Vec<Group<'a>>,
    credentials: Vec<Credential<'a>>,
    types: Vec<NamedType<'a>>,
    codes: Vec<Code<'a>>,
    /// The refusals that any operation may answer with.
    everywhere: Vec<Status<'a>>,
}

impl Page<'_> {
    fn asset(&self, name: &str) -> String {
        assets::path(name)
    }
}

struct Group<'a> {
    name: &'a str,
    anchor: String,
    description: Html,
    operations: Vec<ShownOperation<'a>>,
}

/// An operation as the page shows it.
struct ShownOperation<'a> {
    name: &'a str,
    method: &'static str,
    base: &'static str,
    path: Html,
    title: Html,
    description: Html,
    /// The field with the signature.
    signed_in: Option<&'a str>,
    /// The alternative sets of credentials: name and title of each credential.
    ways: Vec<Vec<(&'a str, &'a str)>>,
    beside_contract: bool,
    parameters: Vec<Parameter<'a>>,
    body: Option<Body<'a>>,
    sample: String,
    answers: Vec<Reply<'a>>,
    refusals: Vec<Status<'a>>,
}

struct Parameter<'a> {
    name: &'a str,
    place: &'a str,
    required: bool,
    description: Html,
}

struct Body<'a> {
    kinds: Vec<&'a str>,
    tables: Vec<Table>,
}

struct Reply<'a> {
    status: &'a str,
    description: Html,
    media: Vec<Media<'a>>,
}

struct Media<'a> {
    kind: &'a str,
    tables: Vec<Table>,
    /// Only for JSON.
    example: Option<String>,
}

struct Status<'a> {
    status: &'a str,
    description: Html,
}

struct Credential<'a> {
    name: &'a str,
    title: &'a str,
    header: &'a str,
    description: Html,
}

struct Code<'a> {
    status: &'a str,
    code: &'a str,
    description: Html,
}

/// A row of the table, and its operation in the document.
pub(super) struct Operation<'a> {
    pub method: &'static str,
    pub path: &'a str,
    pub base: &'static str,
    pub value: &'a Value,
}

impl Operation<'_> {
    /// The shell variable of the path's prefix in samples.
    pub(super) fn prefix(&self) -> &'static str {
        if self.base.is_empty() { "$site" } else { "$api" }
    }
}

pub(super) fn write(description: &Description) -> String {
    let document = &description.0;
    let operations = description.operations();
    let page = Page {
        title: text(&document["info"]["title"]),
        summary: text(&document["info"]["summary"]),
        introduction: blocks(text(&document["info"]["description"])),
        groups: items(&document["tags"]).map(|tag| description.group(tag, &operations)).collect(),
        credentials: description.credentials(),
        types: description.types(),
        codes: description.codes(),
        everywhere: description.refusals(&document["x-everywhere"]["responses"]),
    };
    // Writing to memory fails only where a value's own `Display` does, and none of ours does.
    page.render().unwrap_or_default()
}

impl Description {
    /// The operations of the document, in the table's order.
    pub(super) fn operations(&self) -> Vec<Operation<'_>> {
        rows().iter().filter(|row| !row.is_page()).filter_map(|row| self.find(row)).collect()
    }

    fn find(&self, route: &'static Row) -> Option<Operation<'_>> {
        let mut paths = members(&self.0["paths"]);
        let (path, item) = paths.find(|(path, _)| unnamed(path).eq(unnamed(route.path)))?;
        let value = item.get(route.method.as_str().to_lowercase())?;
        Some(Operation { method: route.method.as_str(), path, base: route.base, value })
    }

    fn group<'a>(&'a self, tag: &'a Value, operations: &[Operation<'a>]) -> Group<'a> {
        let name = text(&tag["name"]);
        let of_group = operations.iter().filter(|one| one.value["tags"][0] == tag["name"]);
        Group {
            name,
            anchor: anchor(name),
            description: blocks(text(&tag["description"])),
            operations: of_group.map(|one| self.operation(one)).collect(),
        }
    }

    fn operation<'a>(&'a self, operation: &Operation<'a>) -> ShownOperation<'a> {
        let value = operation.value;
        ShownOperation {
            name: text(&value["operationId"]),
            method: operation.method,
            base: operation.base,
            path: Html::path(operation.path),
            title: line(text(&value["summary"])),
            description: blocks(text(&value["description"])),
            signed_in: value["x-signed-body"].as_str(),
            ways: items(&value["security"]).map(|way| self.way(way)).collect(),
            beside_contract: value["x-beside-contract"] == true,
            parameters: items(&value["parameters"]).map(|one| parameter(self.resolve(one))).collect(),
            body: self.body(value),
            sample: self.sample(operation),
            answers: self.answers(value),
            refusals: self.refusals(&value["responses"]),
        }
    }

    fn way<'a>(&'a self, way: &'a Value) -> Vec<(&'a str, &'a str)> {
        let title = |scheme: &str| text(&self.0["components"]["securitySchemes"][scheme]["x-title"]);
        members(way).map(|(scheme, _)| (scheme.as_str(), title(scheme))).collect()
    }

    fn body<'a>(&'a self, operation: &'a Value) -> Option<Body<'a>> {
        let content = &operation["requestBody"]["content"];
        let (_, first) = members(content).next()?;
        let kinds = members(content).map(|(kind, _)| kind.as_str()).collect();
        Some(Body { kinds, tables: self.tables(&first["schema"]) })
    }

    fn answers<'a>(&'a self, operation: &'a Value) -> Vec<Reply<'a>> {
        let done = members(&operation["responses"]).filter(|(status, _)| status.starts_with('2'));
        done.map(|(status, response)| {
            let response = self.resolve(response);
            let media = members(&response["content"]).map(|(kind, media)| self.media(kind, media)).collect();
            Reply { status, description: line(text(&response["description"])), media }
        })
        .collect()
    }

    fn media<'a>(&'a self, kind: &'a str, media: &'a Value) -> Media<'a> {
        if kind != "application/json" {
            return Media { kind, tables: Vec::new(), example: None };
        }
        let example = serde_json::to_string_pretty(&media["example"]).unwrap_or_default();
        Media { kind, tables: self.tables(&media["schema"]), example: Some(example) }
    }

    /// The statuses of refusals, with their descriptions.
    fn refusals<'a>(&'a self, responses: &'a Value) -> Vec<Status<'a>> {
        let others = members(responses).filter(|(status, _)| !status.starts_with('2'));
        let description = |response| line(text(&self.resolve(response)["description"]));
        others.map(|(status, response)| Status { status, description: description(response) }).collect()
    }

    fn credentials(&self) -> Vec<Credential<'_>> {
        let schemes = members(&self.0["components"]["securitySchemes"]).map(|(name, scheme)| Credential {
            name,
            title: text(&scheme["x-title"]),
            header: if scheme["in"] == "header" { text(&scheme["name"]) } else { "Authorization" },
            description: line(text(&scheme["description"])),
        });
        schemes.collect()
    }

    fn codes(&self) -> Vec<Code<'_>> {
        let listed = items(&self.0["components"]["schemas"]["RefusalCode"]["x-codes"]).map(|one| {
            let (status, description) = text(&one["description"]).split_once(": ").unwrap_or_default();
            Code { status, code: text(&one["const"]), description: line(description) }
        });
        listed.collect()
    }
}

/// The segments of a path, its parameters without names: two rows of the table may name the same parameter differently.
pub(super) fn unnamed(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part })
}

fn parameter(one: &Value) -> Parameter<'_> {
    let place = text(&one["in"]);
    Parameter {
        name: text(&one["name"]),
        place: if place == "path" { "in the path" } else { place },
        required: one["required"] == true,
        description: line(text(&one["description"])),
    }
}
