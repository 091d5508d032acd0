//! The languages of the product, and the choice of one by `accept-language`.

/// The choices of an `accept` header that are read.
const CHOICES_MAX: usize = 20;

/// A language of the product.
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
    /// `it`.
    Italian,
    /// `de` as Switzerland and Liechtenstein spell it: with ss for ß. Nobody asks for it: a site there reads German so, see
    /// [`Language::spelt_as`].
    SwissGerman,
}

/// The ISO 639-1 codes, in the order of [`Language`].
const TAGS: [&str; 6] = ["en", "de", "fr", "es", "it", "de"];

/// What stands before a region: `de-CH`, and `de_CH` as operating systems write it.
const BEFORE_REGION: [char; 2] = ['-', '_'];

impl Language {
    /// The languages in the order in which they are offered.
    pub const ALL: [Language; 5] =
        [Language::English, Language::German, Language::French, Language::Italian, Language::Spanish];

    /// The ISO 639-1 code.
    pub fn tag(self) -> &'static str {
        TAGS[self as usize]
    }

    /// The name in the language itself.
    pub fn name(self) -> &'static str {
        ["English", "Deutsch", "Français", "Español", "Italiano", "Deutsch"][self as usize]
    }

    /// A label and its value: `Label: value`, with the narrow space before the colon in French.
    pub(crate) fn labelled(self, label: &str, value: &str) -> String {
        format!("{label}{}{value}", self.colon())
    }

    /// The colon between a label and its value.
    pub(crate) fn colon(self) -> &'static str {
        if self == Language::French { "\u{202f}: " } else { ": " }
    }

    /// The language of a tag; a region is ignored.
    pub(crate) fn find(tag: &str) -> Option<Language> {
        let primary = tag.split(BEFORE_REGION).next().unwrap_or("");
        Language::ALL.into_iter().find(|language| language.tag().eq_ignore_ascii_case(primary))
    }

    /// The language that most people of a country (ISO 3166-1 alpha-2) read.
    pub(crate) fn of_country(code: &str) -> Language {
        match code {
            "DE" | "AT" | "CH" | "LI" => Language::German,
            "FR" | "BE" | "LU" | "MC" => Language::French,
            "IT" | "SM" | "VA" => Language::Italian,
            "ES" | "MX" | "AR" | "CL" | "CO" | "PE" | "UY" => Language::Spanish,
            _ => Language::English,
        }
    }

    /// German as a country (ISO 3166-1 alpha-2) spells it.
    pub(crate) fn german_of_country(code: &str) -> Language {
        if matches!(code, "CH" | "LI") { Language::SwissGerman } else { Language::German }
    }

    /// The language itself; German in the spelling of `german`.
    pub(crate) fn spelt_as(self, german: Language) -> Language {
        if self == Language::German { german } else { self }
    }

    /// The tags that [`Language::find`] knows, for the text of a refusal.
    pub(crate) fn tags() -> String {
        TAGS[..Language::ALL.len()].join(", ")
    }

    /// The best language for an `accept-language` value: by quality, then by order; regions are ignored. `None` where no
    /// language matches.
    pub(crate) fn accepted(header: &str) -> Option<Language> {
        let mut best = (0.0_f32, None);
        for (tag, quality) in weighed(header) {
            if let Some(language) = Language::find(tag)
                && quality > best.0
            {
                best = (quality, Some(language));
            }
        }
        best.1
    }
}

/// The choices of an `accept` header, each with its weight (`q=`): from 0, which refuses it, to 1; 0 where it is malformed.
pub(crate) fn weighed(header: &str) -> impl Iterator<Item = (&str, f32)> {
    let parse = |text: &str| text.trim().parse().ok().filter(|weight| (0.0..=1.0).contains(weight)).unwrap_or(0.0);
    header.split(',').take(CHOICES_MAX).map(move |choice| {
        let mut parts = choice.split(';');
        let name = parts.next().unwrap_or("").trim();
        let weight = parts.find_map(|part| part.trim().strip_prefix(['q', 'Q'])?.strip_prefix('='));
        (name, weight.map_or(1.0, parse))
    })
}
