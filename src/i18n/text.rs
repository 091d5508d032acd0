//! A text whose language is not chosen yet.

use super::languages::Language;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value of a placeholder.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Plain(String),
    /// A number that is written as the language writes numbers.
    Count(i64),
}

/// A text before a language is chosen: its key, the values of its placeholders, and the sentences that follow it.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    pub(super) key: &'static str,
    pub(super) values: Vec<(&'static str, Value)>,
    pub(super) following: Vec<Text>,
}

impl Text {
    /// The text with this key in `assets/translations`.
    pub fn new(key: &'static str) -> Text {
        Text { key, values: Vec::new(), following: Vec::new() }
    }

    /// Adds a value for the placeholder `{name}`.
    pub fn with(mut self, name: &'static str, value: impl ToString) -> Text {
        self.values.push((name, Value::Plain(value.to_string())));
        self
    }

    /// Adds a number for the placeholder `{name}`, with the thousands separators of the language.
    pub fn with_count(mut self, name: &'static str, count: impl TryInto<i64>) -> Text {
        self.values.push((name, Value::Count(count.try_into().unwrap_or(i64::MAX))));
        self
    }

    /// The text of a key that a row names, with the values of `value` in its placeholders; `None` where there is no
    /// such text.
    pub(crate) fn find(key: &str, value: impl Fn(&str) -> Option<String>) -> Option<Text> {
        let (key, pattern) = Language::default().texts().get_key_value(key)?;
        let places = pattern.split('{').skip(1).filter_map(|rest| rest.split_once('}'));
        Some(places.fold(Text::new(key), |text, (name, _)| match value(name) {
            Some(said) => text.with(name, said),
            None => text,
        }))
    }

    /// Appends sentences.
    pub(crate) fn followed_by(mut self, sentences: impl IntoIterator<Item = Text>) -> Text {
        self.following.extend(sentences);
        self
    }

    /// The key in `assets/translations`.
    pub fn key(&self) -> &'static str {
        self.key
    }

    pub(crate) fn in_english(&self) -> String {
        Language::English.say(self)
    }
}

/// The key of a text, as an outcome keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TextKey(&'static str);

impl TextKey {
    pub(crate) fn name(self) -> &'static str {
        self.0
    }
}

impl From<&'static str> for TextKey {
    fn from(key: &'static str) -> TextKey {
        TextKey(key)
    }
}

impl From<TextKey> for Text {
    fn from(key: TextKey) -> Text {
        Text::new(key.0)
    }
}

impl Serialize for TextKey {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.0)
    }
}

impl<'de> Deserialize<'de> for TextKey {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<TextKey, D::Error> {
        let key = String::deserialize(from)?;
        let text = Text::find(&key, |_| None);
        text.map(|text| TextKey(text.key)).ok_or_else(|| D::Error::custom("no text has this key"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_where_there_is_such_a_text() {
        let json = serde_json::to_string(&TextKey::from("not_found")).unwrap();
        assert_eq!(serde_json::from_str::<TextKey>(&json).unwrap(), TextKey::from("not_found"));
        assert!(serde_json::from_str::<TextKey>("\"no such key\"").is_err());
    }

    #[test]
    fn a_text_is_found_by_the_key_that_a_row_names() {
        let found = Text::find("field.too_long", |name| (name == "max").then(|| "8".to_owned())).unwrap();
        assert_eq!(found, Text::new("field.too_long").with("max", 8));
        assert_eq!(Text::find("field.too_long", |_| None), Some(Text::new("field.too_long")));
        assert_eq!(Text::find("no such key", |_| None), None);
    }

    #[test]
    fn places_are_filled_and_unknown_ones_stay_visible() {
        let text = Text::new("field.too_long").with("max", 8);
        assert!(text.in_english().contains('8'), "{}", text.in_english());
    }

    #[test]
    fn counts_are_written_as_the_language_writes_numbers() {
        let text = Text::new("site.sync_waits").with_count("rows", 8_700);
        assert!(text.in_english().contains("8,700") && Language::German.say(&text).contains("8.700"));
        assert!(Text::new("site.sync_waits").with("rows", 8_700).in_english().contains("8700"), "other values stay");
    }

    #[test]
    fn sentences_follow_in_the_same_language() {
        let text = Text::new("field.missing").followed_by([Text::new("not_found"), Text::new("exists")]);
        let say = |key| Language::German.say(&Text::new(key));
        let joined = [say("field.missing"), say("not_found"), say("exists")].join(" ");
        assert_eq!(Language::German.say(&text), joined);
    }
}
