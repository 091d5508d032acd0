//! The texts of the product, for clients that show them.

use super::in_language;
use crate::http::Answer;
use crate::http::answer::True;
use crate::http::body::ParsedBody;
use crate::http::call::Call;
use crate::http::field_types::{Name, Named};
use crate::http::reply;
use crate::i18n::language::Language;
use crate::site::Site;
use serde_json::json;
use std::collections::BTreeMap;

/// The key prefixes of texts for mails alone.
const WITHHELD: [&str; 2] = ["mail.", "headline."];

crate::body! {
    pub(crate) struct TranslationsQuery {
        language: Option<Name<Language>>,
    }
}

impl Named for Language {
    const NAMES: &'static [(&'static str, Language)] = &[
        ("en", Language::English),
        ("de", Language::German),
        ("fr", Language::French),
        ("it", Language::Italian),
        ("es", Language::Spanish),
    ];

    /// Finds a language by its tag, which may have a region.
    fn named(text: &str) -> Option<Language> {
        Language::find(text)
    }
}

crate::answer! {
    struct Translations {
        status: True,
        /// The language of the texts.
        language: &'static str ["en", "de", "fr", "it", "es"] = "en",
        languages: Vec<LanguageReply>,
        /// Texts by key; `{name}` in one is a place for a value.
        data: BTreeMap<&'static str, &'static str> = { "done.saved": "Saved." },
    }
}

crate::answer! {
    inline struct LanguageReply {
        code: &'static str ["en", "de", "fr", "it", "es"] = "en",
        /// As its speakers call it.
        name: &'static str = "English",
    }
}

crate::operation! {
    /// The product's texts
    ///
    /// Every text in the caller's language, or in the one that `language` asks for.
    GET = "translations"
        .takes(&["AcceptLanguage"])
        .refuses(&["Invalid"])
        .answers::<Translations>("The texts.")
        .example(|| json!({
            "languages": [{ "code": "en", "name": "English" }, { "code": "de", "name": "Deutsch" }],
        }))
        .also(|| json!({
            "parameters": [
                {
                    "name": "language", "in": "query", "description": "Counts before `accept-language`.",
                    "schema": { "anyOf": [{ "enum": ["en", "de", "fr", "it", "es"] }, { "const": "" }] },
                    "example": "de",
                },
            ],
        }))
}

pub(crate) fn get(_: &Site, call: &Call) -> Answer {
    let TranslationsQuery { language } = ParsedBody::read(call.query()).finish()?;
    let language = language.unwrap_or(call.language()).spelt_as(call.german);
    let shown = |key: &str| !WITHHELD.iter().any(|prefix| key.starts_with(prefix));
    let texts = language.texts().iter().map(|(key, text)| (key.as_str(), text.as_str()));
    let body = Translations {
        status: true,
        language: language.tag(),
        languages: Language::ALL.map(|one| LanguageReply { code: one.tag(), name: one.name() }).into(),
        data: texts.filter(|(key, _)| shown(key)).collect(),
    };
    Ok(in_language(reply::ok(&body), language))
}
