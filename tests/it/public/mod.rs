//! The public group.

mod contact;
mod countries;
mod translations;
mod tunnels;

use crate::harness::{Reply, Site};
use http::Method;

/// The answer to a stranger with this language.
fn get_in(site: &Site, language: &str, path: &str) -> Reply {
    site.stranger().ask(Method::GET, path).header("accept-language", language).send()
}
