//! Operations without credentials.

pub(crate) mod contact;
pub(crate) mod countries;
pub(crate) mod translations;
pub(crate) mod tunnels;

use crate::http::reply::Reply;
use crate::i18n::language::Language;
use http::{HeaderValue, header};

/// The reply with its language, by which caches must distinguish it.
fn in_language(reply: Reply, language: Language) -> Reply {
    reply
        .with_header(header::CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()))
        .with_header(header::VARY, HeaderValue::from_static("accept-language, ~accept-language"))
}
