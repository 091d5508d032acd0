//! The texts of the product, for clients that show them.

use super::in_language;
use crate::http::Answer;
use crate::http::body::ParsedBody;
use crate::http::call::Call;
use crate::http::field_types::{Name, Named};
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use serde::Serialize;
use std::collections::BTreeMap;

/// The key prefixes of texts for mails alone.
const WITHHELD: [&str; 2] = ["mail.", "headline."];

crate::body! {
    pub(crate) struct TranslationsQuery {
        language: Option<Name<Language>>,
    }
}

impl Named for Language {
    const NAMES: &'static [(&'static str, Language)] =
        &[("en", Language::English), ("de", Language::German), ("fr", Language::French), ("es", Language::Spanish)];

    /// Finds a language by its tag, which may have a region.
    fn named(text: &str) -> Option<Language> {
        Language::find(text)
    }
}

#[derive(Serialize)]
struct TranslationsReply {
    status: bool,
    /// The language of the texts.
    language: &'static str,
    languages: [LanguageReply; 4],
    /// By key; `{name}` in a text is a placeholder.
    data: BTreeMap<&'static str, &'static str>,
}

#[derive(Serialize)]
struct LanguageReply {
    code: &'static str,
    /// The language's name in the language itself.
    name: &'static str,
}

/// `GET /public/translations`: every text in the caller's language, or in the one that `language` asks for.
pub(crate) fn get(_: &Site, call: &Call) -> Answer {
    let TranslationsQuery { language } = ParsedBody::read(call.query()).finish()?;
    let language = language.unwrap_or(call.language());
    let shown = |key: &str| !WITHHELD.iter().any(|prefix| key.starts_with(prefix));
    let texts = language.texts().iter().map(|(key, text)| (key.as_str(), text.as_str()));
    let body = TranslationsReply {
        status: true,
        language: language.tag(),
        languages: Language::ALL.map(|one| LanguageReply { code: one.tag(), name: one.name() }),
        data: texts.filter(|(key, _)| shown(key)).collect(),
    };
    Ok(in_language(reply::ok(&body), language))
}
