//! What people read: texts by key in every language of the product, chosen by `accept-language`.

use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

/// A language that the product speaks completely.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    #[default]
    English,
    German,
    French,
    Spanish,
}

type Catalogue = HashMap<String, String>;

/// The texts of one language: one file a part of the product, the same parts in every language.
macro_rules! texts {
    ($language:literal) => {
        [
            include_str!(concat!("../assets/translations/", $language, "/factor.json")),
            include_str!(concat!("../assets/translations/", $language, "/foundation.json")),
            include_str!(concat!("../assets/translations/", $language, "/messages.json")),
            include_str!(concat!("../assets/translations/", $language, "/certificate.json")),
            include_str!(concat!("../assets/translations/", $language, "/mail.json")),
            include_str!(concat!("../assets/translations/", $language, "/passkeys.json")),
            include_str!(concat!("../assets/translations/", $language, "/account.json")),
            include_str!(concat!("../assets/translations/", $language, "/social.json")),
        ]
    };
}

static CATALOGUES: LazyLock<[Catalogue; 4]> =
    LazyLock::new(|| [texts!("en"), texts!("de"), texts!("fr"), texts!("es")].map(|parts| read(&parts)));

fn read(parts: &[&str]) -> Catalogue {
    let part = |text: &&str| -> Catalogue { serde_json::from_str(text).expect("translations are flat JSON objects") };
    parts.iter().flat_map(part).collect()
}

impl Language {
    pub const ALL: [Language; 4] = [Language::English, Language::German, Language::French, Language::Spanish];

    /// ISO 639-1.
    pub fn tag(self) -> &'static str {
        ["en", "de", "fr", "es"][self as usize]
    }

    /// The best match for an `accept-language` value: by quality, then by order; a region is ignored where only the
    /// language is known. English when nothing matches.
    pub fn accepted(header: &str) -> Language {
        let mut best = (0.0_f32, Language::English);
        for choice in header.split(',').take(20) {
            let mut parts = choice.split(';');
            let primary = parts.next().unwrap_or("").trim().split('-').next().unwrap_or("").to_ascii_lowercase();
            let quality =
                parts.find_map(|p| p.trim().strip_prefix("q=")).map_or(1.0, |q| q.trim().parse().unwrap_or(0.0));
            if let Some(language) = Language::ALL.into_iter().find(|l| l.tag() == primary)
                && quality > best.0
            {
                best = (quality, language);
            }
        }
        best.1
    }

    /// The text of a key with `{name}` replaced; the key itself where it is unknown, which a test keeps from happening.
    pub fn say(self, text: &Text) -> String {
        let Some(pattern) = CATALOGUES[self as usize].get(text.key) else { return text.key.to_owned() };
        let mut said = String::with_capacity(pattern.len() + 16);
        let mut rest = pattern.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            said.push_str(before);
            let (name, tail) = after.split_once('}').unwrap_or((after, ""));
            match text.values.iter().find(|(known, _)| *known == name) {
                Some((_, value)) => said.push_str(value),
                None => _ = write!(said, "{{{name}}}"),
            }
            rest = tail;
        }
        said.push_str(rest);
        said
    }

    /// Every key and pattern of this language.
    pub fn texts(self) -> &'static HashMap<String, String> {
        &CATALOGUES[self as usize]
    }
}

/// A text in no language yet: its key, and the values for its places.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    key: &'static str,
    values: Vec<(&'static str, String)>,
}

impl Text {
    pub fn new(key: &'static str) -> Text {
        Text { key, values: Vec::new() }
    }

    pub fn with(mut self, name: &'static str, value: impl ToString) -> Text {
        self.values.push((name, value.to_string()));
        self
    }

    pub fn key(&self) -> &'static str {
        self.key
    }

    pub fn in_english(&self) -> String {
        Language::English.say(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_wins_then_order_and_a_region_does_not_matter() {
        for (header, language) in [
            ("de", Language::German),
            ("fr-CA, de;q=0.9", Language::French),
            ("xx, es;q=0.4, de;q=0.7", Language::German),
            ("en;q=0.1, fr;q=0", Language::English),
            ("", Language::English),
            ("zz;q=banana, *", Language::English),
        ] {
            assert_eq!(Language::accepted(header), language, "{header}");
        }
    }

    #[test]
    fn every_language_has_the_same_keys_and_the_same_places() {
        let places = |text: &str| {
            let mut names: Vec<_> =
                text.split('{').skip(1).filter_map(|p| p.split('}').next()).map(str::to_owned).collect();
            names.sort();
            names
        };
        let english = Language::English.texts();
        for language in Language::ALL {
            let other = language.texts();
            assert_eq!(other.len(), english.len(), "{}", language.tag());
            for (key, pattern) in english {
                let translated = other.get(key).unwrap_or_else(|| panic!("{} lacks {key}", language.tag()));
                assert_eq!(places(translated), places(pattern), "{} {key}", language.tag());
            }
        }
    }

    #[test]
    fn places_are_filled_and_unknown_ones_stay_visible() {
        let text = Text::new("field.too_long").with("max", 8);
        assert!(text.in_english().contains('8'), "{}", text.in_english());
    }
}
