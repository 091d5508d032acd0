//! The languages of the product, and the choice of one by `accept-language`.

/// A language of the product. All but Italian cover the whole product; Italian covers what members read: their own pages, the
/// kiosk, mails, printed documents and the pages that mails link to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Language {
    /// `en`; also the fallback where a language is unknown.
    #[default]
    English,
    /// `de`.
    German,
    /// `fr`.
    French,
    /// `es`.
    Spanish,
    /// `it`. Only texts for members; other texts fall back to English.
    Italian,
}

/// The ISO 639-1 codes, in the order of [`Language`].
const TAGS: [&str; 5] = ["en", "de", "fr", "es", "it"];

/// What stands before a region: `de-CH`, and `de_CH` as operating systems write it.
const BEFORE_REGION: [char; 2] = ['-', '_'];

impl Language {
    /// The languages of the whole product.
    pub const ALL: [Language; 4] = [Language::English, Language::German, Language::French, Language::Spanish];
    /// The languages that a kiosk offers.
    pub(crate) const AT_KIOSK: [Language; 5] =
        [Language::English, Language::German, Language::French, Language::Italian, Language::Spanish];

    /// The ISO 639-1 code.
    pub fn tag(self) -> &'static str {
        TAGS[self as usize]
    }

    /// The name in the language itself.
    pub fn name(self) -> &'static str {
        ["English", "Deutsch", "Français", "Español", "Italiano"][self as usize]
    }

    /// A label and its value: `Label: value`, with the blank before the colon in French.
    pub(crate) fn labelled(self, label: &str, value: &str) -> String {
        format!("{label}{}{value}", self.colon())
    }

    /// The colon between a label and its value.
    pub(crate) fn colon(self) -> &'static str {
        if self == Language::French { "\u{a0}: " } else { ": " }
    }

    /// The language itself where it covers the whole product; otherwise English.
    pub fn whole(self) -> Language {
        if Language::ALL.contains(&self) { self } else { Language::default() }
    }

    /// The language of a tag among [`Language::ALL`]; a region is ignored.
    pub(crate) fn find(tag: &str) -> Option<Language> {
        let primary = tag.split(BEFORE_REGION).next().unwrap_or("");
        Language::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }

    /// The language of a member's tag among [`Language::AT_KIOSK`]; a region is ignored.
    pub(crate) fn of_member(tag: &str) -> Option<Language> {
        let primary = tag.split(BEFORE_REGION).next().unwrap_or("");
        Language::AT_KIOSK.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }

    /// The language that most people of a country (ISO 3166-1 alpha-2) read, among those of the whole product.
    pub(crate) fn of_country(code: &str) -> Language {
        match code {
            "DE" | "AT" | "CH" | "LI" => Language::German,
            "FR" | "BE" | "LU" | "MC" => Language::French,
            "ES" | "MX" | "AR" | "CL" | "CO" | "PE" | "UY" => Language::Spanish,
            _ => Language::English,
        }
    }

    /// The tags that [`Language::of_member`] knows, for the text of a refusal.
    pub(crate) fn member_tags() -> String {
        TAGS.join(", ")
    }

    /// The best of the `known` languages for an `accept-language` value: by quality, then by order; regions are
    /// ignored. `None` where no language matches.
    pub(crate) fn accepted(header: &str, known: &[Language]) -> Option<Language> {
        let mut best = (0.0_f32, None);
        for choice in header.split(',').take(20) {
            let mut parts = choice.split(';');
            let primary =
                parts.next().unwrap_or("").trim().split(BEFORE_REGION).next().unwrap_or("").to_ascii_lowercase();
            let weight = parts.find_map(|part| part.trim().strip_prefix(['q', 'Q'])?.strip_prefix('='));
            let quality = weight.map_or(1.0, quality);
            if let Some(language) = known.iter().copied().find(|l| l.tag() == primary)
                && quality > best.0
            {
                best = (quality, Some(language));
            }
        }
        best.1
    }
}

/// Parses the weight of a language (`q=`): from 0 to 1, and 0 where it is malformed.
fn quality(text: &str) -> f32 {
    text.trim().parse().ok().filter(|quality| (0.0..=1.0).contains(quality)).unwrap_or(0.0)
}
