//! Operations for everybody, without credentials.

pub(crate) mod contact;
pub(crate) mod countries;
pub(crate) mod translations;
pub(crate) mod tunnels;

use crate::http::reply::Reply;
use crate::i18n::language::Language;
use http::{HeaderValue, header};

/// A cache must not give one language to a reader of another.
fn in_language(reply: Reply, language: Language) -> Reply {
    reply
        .with_header(header::CONTENT_LANGUAGE, HeaderValue::from_static(language.tag()))
        .with_header(header::VARY, HeaderValue::from_static("accept-language, ~accept-language"))
}
