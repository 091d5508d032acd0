//! The API description: an OpenAPI document generated from the table and the bodies, and made from it a page for people and a
//! collection of requests.

mod collection;
mod document;
mod fields;
mod page;
mod refusals;
mod sample;
mod types;
mod words;

pub use types::name as name_types;

use crate::documents::markup::escape;
use crate::domain::ids::TunnelId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::gzip;
use crate::http::reply::{self, Reply};
use crate::http::row::{Row, rows};
use crate::i18n::language::Language;
use crate::site::Site;
use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

/// The address in the samples, which a site replaces by its own.
const SAMPLE_ADDRESS: &str = "http://localhost:8080";
/// Where the samples name a tunnel, a site puts its own number.
const SAMPLE_TUNNEL: &str = "TUNNEL_ID";
/// The page may load the site's own style and script, and do nothing else.
const PAGE_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);

/// The description of a site, the same for every client: made and compressed once.
struct Edition {
    /// The site's address and its tunnel in the samples.
    place: (String, TunnelId),
    document: Text,
    page: Text,
    collection: Text,
}

/// A text and its compressed form.
struct Text {
    plain: Bytes,
    packed: Bytes,
}

/// The edition of this process's site. Tests have several sites, one after the other.
static EDITION: Mutex<Option<Arc<Edition>>> = Mutex::new(None);

impl Edition {
    fn of(site: &Site) -> Arc<Edition> {
        let place = (site.public_url(), site.tunnel_id);
        let mut current = EDITION.lock().unwrap_or_else(PoisonError::into_inner);
        match &*current {
            Some(edition) if edition.place == place => edition.clone(),
            _ => current.insert(Arc::new(Edition::make(place))).clone(),
        }
    }

    fn make(place: (String, TunnelId)) -> Edition {
        let (address, tunnel_id) = (&place.0, place.1.to_string());
        let quoted = Value::from(address.as_str()).to_string();
        let document = text_with_samples(rows()).replace(SAMPLE_ADDRESS, quoted.trim_matches('"'));
        let description = Description::read(&document);
        let page = page::write(&description).replace(SAMPLE_ADDRESS, address).replace(SAMPLE_TUNNEL, &tunnel_id);
        let collection = collection::write(&description).replace(SAMPLE_ADDRESS, quoted.trim_matches('"'));
        let collection = collection.replace(SAMPLE_TUNNEL, &tunnel_id);
        Edition { place, document: Text::new(document), page: Text::new(page), collection: Text::new(collection) }
    }
}

impl Text {
    fn new(plain: String) -> Text {
        Text { packed: gzip::pack_for_all(plain.as_bytes()), plain: plain.into() }
    }
}

/// The document, with [`SAMPLE_ADDRESS`] in its samples.
pub fn text_with_samples(rows: &[&Row]) -> String {
    document::write(rows).to_string()
}

/// The document, as JSON.
struct Description(Value);

impl Description {
    fn read(document: &str) -> Description {
        Description(serde_json::from_str(document).expect("the description is JSON: a test reads it"))
    }

    /// The value that a `$ref` leads to, or the value itself.
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

crate::operation! {
    /// This description
    ///
    /// OpenAPI 3.1.
    DOCUMENT = "openapi"
        .also(|| json!({
            "responses": {
                "200": {
                    "description": "The description.",
                    "json": {
                        "schema": {
                            "type": "object", "required": ["openapi", "info", "paths"],
                            "properties": {
                                "openapi": { "const": "3.1.0" }, "info": { "type": "object" },
                                "paths": { "type": "object" },
                            },
                        },
                        "example": {
                            "openapi": "3.1.0", "info": { "title": "tunneldesk", "version": "1" }, "paths": {},
                        },
                    },
                },
            },
        }))
}

pub(crate) fn document(site: &Site, _: &Call) -> Answer {
    Ok(json(&Edition::of(site).document))
}

crate::operation! {
    /// This description as a collection of requests
    ///
    /// For Postman, Bruno and others that import a collection of Postman (v2.1): every operation with its example,
    /// and the steps of a first booking. A script signs the requests of partners.
    COLLECTION = "collection"
        .also(|| json!({
            "responses": {
                "200": {
                    "description": "The collection.",
                    "json": {
                        "schema": {
                            "type": "object", "required": ["info", "variable", "event", "item"],
                            "properties": {
                                "info": { "type": "object", "additionalProperties": true },
                                "variable": {
                                    "type": "array",
                                    "items": { "type": "object", "additionalProperties": true },
                                },
                                "event": {
                                    "type": "array",
                                    "items": { "type": "object", "additionalProperties": true },
                                },
                                "item": {
                                    "type": "array",
                                    "items": { "type": "object", "additionalProperties": true },
                                },
                            },
                        },
                        "example": {
                            "info": { "name": "tunneldesk" }, "variable": [], "event": [], "item": [],
                        },
                    },
                },
            },
        }))
}

pub(crate) fn collection(site: &Site, _: &Call) -> Answer {
    Ok(json(&Edition::of(site).collection))
}

crate::operation! {
    /// The schema of a batch upstream
    ///
    /// JSON Schema (2020-12), version 1, for whoever writes a receiver of the partner metrics. A version only grows.
    UPSTREAM_BATCH = "upstream_batch"
        .also(|| json!({
            "responses": {
                "200": {
                    "description": "The schema.",
                    "json": {
                        "schema": {
                            "type": "object", "required": ["title", "type", "properties"],
                            "properties": {
                                "title": { "type": "string" }, "type": { "const": "object" },
                                "properties": { "type": "object" },
                            },
                            "additionalProperties": true,
                        },
                        "example": { "title": "A batch upstream, version 1", "type": "object", "properties": {} },
                    },
                },
            },
        }))
}

pub(crate) fn upstream_batch(_: &Site, _: &Call) -> Answer {
    Ok(reply::bytes("application/json", include_str!("../../../assets/api/upstream-batch-1.json")))
}

fn json(Text { plain, packed }: &Text) -> Reply {
    reply::bytes("application/json", plain.clone()).with_packed(packed.clone())
}

crate::operation! {
    /// This description as a page
    ///
    /// For people, made from the same document.
    PAGE = "docs"
        .prints("text/html", "<!doctype html>", "The page.")
}

pub(crate) fn page(site: &Site, _: &Call) -> Answer {
    let Text { plain, packed } = &Edition::of(site).page;
    let reply = reply::page(StatusCode::OK, Language::English, plain.clone()).with_packed(packed.clone());
    Ok(reply.with_header(header::CONTENT_SECURITY_POLICY, PAGE_POLICY))
}
