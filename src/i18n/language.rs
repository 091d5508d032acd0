//! The product's texts, by key in every language.

pub use super::languages::Language;
pub(crate) use super::languages::weighed;
pub use super::text::Text;
pub(crate) use super::text::TextKey;

use super::number::grouped;
use super::text::Value;
use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::LazyLock;

type Catalogue = HashMap<String, String>;

/// The texts of one language: one file for each part of the product, the same parts in every language.
macro_rules! texts {
    ($language:literal) => {
        [
            include_str!(concat!("../../assets/translations/", $language, "/factor.json")),
            include_str!(concat!("../../assets/translations/", $language, "/foundation.json")),
            include_str!(concat!("../../assets/translations/", $language, "/messages.json")),
            include_str!(concat!("../../assets/translations/", $language, "/certificate.json")),
            include_str!(concat!("../../assets/translations/", $language, "/mail.json")),
            include_str!(concat!("../../assets/translations/", $language, "/passkeys.json")),
            include_str!(concat!("../../assets/translations/", $language, "/account.json")),
            include_str!(concat!("../../assets/translations/", $language, "/callbacks.json")),
            include_str!(concat!("../../assets/translations/", $language, "/social.json")),
            include_str!(concat!("../../assets/translations/", $language, "/public.json")),
            include_str!(concat!("../../assets/translations/", $language, "/notices.json")),
            include_str!(concat!("../../assets/translations/", $language, "/lookups.json")),
            include_str!(concat!("../../assets/translations/", $language, "/skills.json")),
            include_str!(concat!("../../assets/translations/", $language, "/advice.json")),
            include_str!(concat!("../../assets/translations/", $language, "/tls.json")),
            include_str!(concat!("../../assets/translations/", $language, "/health.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk.json")),
            include_str!(concat!("../../assets/translations/", $language, "/lists.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_members.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_sign_offs.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_partners.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_payments.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_till.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_new_member.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_messages.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_reports.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_site.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_audit.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_card.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_today.json")),
            include_str!(concat!("../../assets/translations/", $language, "/desk_account.json")),
            include_str!(concat!("../../assets/translations/", $language, "/pages.json")),
            include_str!(concat!("../../assets/translations/", $language, "/kiosk.json")),
            include_str!(concat!("../../assets/translations/", $language, "/me.json")),
            include_str!(concat!("../../assets/translations/", $language, "/waiver.json")),
        ]
    };
}

static CATALOGUES: LazyLock<[Catalogue; 6]> = LazyLock::new(|| {
    let parts = [texts!("en"), texts!("de"), texts!("fr"), texts!("es"), texts!("it")];
    let [en, de, fr, es, it] = parts.map(|parts| read(&parts));
    let fr = fr.into_iter().map(|(key, text)| (key, with_french_spaces(&text))).collect();
    let swiss = de.iter().map(|(key, text)| (key.clone(), in_swiss(text))).collect();
    [en, de, fr, es, it, swiss]
});

/// A German text as Swiss people spell it.
pub(crate) fn in_swiss(text: &str) -> String {
    text.replace('ß', "ss")
}

/// A French text with a narrow space before each `?`, `!`, `:` and `;` that ends a word, at which no line breaks. It is put there
/// for texts that have a plain space or none.
pub(crate) fn with_french_spaces(text: &str) -> String {
    let mut spaced = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(letter) = rest.next() {
        let ends_word = rest.peek().is_none_or(|next| next.is_whitespace());
        if ends_word && matches!(letter, '?' | '!' | ':' | ';') {
            spaced.truncate(spaced.trim_end().len());
            spaced.push('\u{202f}');
        }
        spaced.push(letter);
    }
    spaced
}

fn read(parts: &[&str]) -> Catalogue {
    let part = |text: &&str| -> Catalogue { serde_json::from_str(text).expect("translations are flat JSON objects") };
    parts.iter().flat_map(part).collect()
}

impl Language {
    /// The text of a key with its placeholders filled in, and the sentences that follow it; the key itself where it is
    /// unknown, which a test excludes.
    pub fn say(self, text: &Text) -> String {
        let value = |name: &str| {
            let (_, value) = text.values.iter().find(|(known, _)| *known == name)?;
            Some(match value {
                Value::Plain(text) => Cow::Borrowed(text.as_str()),
                Value::Count(count) => Cow::Owned(grouped(self, *count)),
            })
        };
        let mut said = self.fill(text.key, value);
        for sentence in &text.following {
            said.push(' ');
            said.push_str(&self.say(sentence));
        }
        said
    }

    /// The text of a key, with the values of `value` in its placeholders; for pages that repeat a text many times.
    pub fn fill<'v, V: Into<Cow<'v, str>>>(self, key: &str, value: impl Fn(&str) -> Option<V>) -> String {
        let Some(pattern) = CATALOGUES[self as usize].get(key) else { return key.to_owned() };
        let mut said = String::with_capacity(pattern.len() + 16);
        let mut rest = pattern.as_str();
        while let Some((before, after)) = rest.split_once('{') {
            said.push_str(before);
            let (name, tail) = after.split_once('}').unwrap_or((after, ""));
            match value(name) {
                Some(value) => said.push_str(&value.into()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quality_wins_then_order_and_a_region_does_not_matter() {
        use Language::{English, French, German, Spanish};
        for (header, language) in [
            ("de", Some(German)),
            ("fr-CA, de;q=0.9", Some(French)),
            ("xx, es;q=0.4, de;q=0.7", Some(German)),
            ("en;q=0.1, fr;q=0", Some(English)),
            ("", None),
            ("zz;q=banana, *", None),
            ("fr;q=9, es;q=inf, en;q=nan, de;q=0.1", Some(German)),
            ("es-419,es;q=0.9,en;q=0.8", Some(Spanish)),
            ("fr;Q=0.1, de_CH-1996;Q=0.9", Some(German)),
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
                assert!(!translated.trim().is_empty(), "{} {key} says nothing", language.tag());
            }
        }
    }

    #[test]
    fn a_label_has_the_colon_of_its_language() {
        assert_eq!(Language::English.labelled("Name", "Jane"), "Name: Jane");
        assert_eq!(Language::French.labelled("Nom", "Jane"), "Nom\u{202f}: Jane");
    }

    /// Words that stand beside the catalogue's word for the same thing: desk, safety brief, logbook, e-mail, member, signature, site.
    const OTHER_WORDS: [(Language, &[&str]); 4] = [
        (
            Language::German,
            &[
                "theke",
                "am schalter",
                "check-in",
                "tresen",
                "rezeption",
                "abnahme",
                "abnehm",
                "abgenommen",
                "abzeichn",
                "abgezeichn",
                "abzuzeichn",
                "flugbuch",
                "fähigkeit",
                "lehrperson",
                " site",
                "«",
            ],
        ),
        (
            Language::French,
            &[
                "guichet",
                "comptoir",
                "courriel",
                "consignes de sécurité",
                "aptitude",
                "instructeur",
                "administrateur",
                "voleur",
            ],
        ),
        (Language::Spanish, &["mostrador", "cuaderno", "charla", "validaciones", "socio"]),
        (
            Language::Italian,
            &[
                "sportello",
                "istruzioni di sicurezza",
                "socio",
                "dichiarazione",
                "questo sito",
                "il tunnel",
                "struttura",
            ],
        ),
    ];

    #[test]
    fn a_thing_has_one_word_in_each_language() {
        for (language, words) in OTHER_WORDS {
            for (key, text) in language.texts() {
                let text = text.to_lowercase();
                let found = words.iter().find(|word| text.contains(**word));
                assert_eq!(found, None, "{} {key}: {text}", language.tag());
            }
        }
    }

    #[test]
    fn the_problem_of_a_field_is_a_sentence() {
        for language in Language::ALL {
            for (key, text) in language.texts() {
                if !(key.starts_with("field.") || key.starts_with("list.")) {
                    continue;
                }
                let begins = text.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit() || c == '{');
                assert!(begins && text.ends_with('.'), "{} {key}: {text}", language.tag());
            }
        }
    }

    #[test]
    fn french_marks_have_a_narrow_space_that_does_not_break() {
        for (key, text) in Language::French.texts() {
            let letters: Vec<char> = text.chars().collect();
            for (place, mark) in letters.iter().enumerate().filter(|(_, mark)| matches!(mark, '?' | '!' | ':' | ';')) {
                let ends_word = letters.get(place + 1).is_none_or(|next| next.is_whitespace());
                let before = place.checked_sub(1).map(|before| letters[before]);
                assert_eq!(ends_word, before == Some('\u{202f}'), "{key}: {mark} in {text}");
            }
        }
        assert_eq!(
            with_french_spaces("Oui? Non : à 12:05 ; https://a"),
            "Oui\u{202f}? Non\u{202f}: à 12:05\u{202f}; https://a"
        );
    }

    #[test]
    fn german_is_written_with_sharp_s_and_in_switzerland_without() {
        const IN_SWISS: [&str; 9] =
            ["ausser", "gross", "grösse", "weiss", "heiss", "schliess", "strass", "liess", "gemäss"];
        for (key, text) in Language::German.texts() {
            let found = IN_SWISS.iter().find(|word| text.to_lowercase().contains(**word));
            assert_eq!(found, None, "{key}: {text}");
            let swiss = &Language::SwissGerman.texts()[key];
            assert!(!swiss.contains('ß') && swiss.replace("ss", "ß") == text.replace("ss", "ß"), "{key}: {swiss}");
        }
        assert_eq!(Language::German.spelt_as(Language::german_of_country("CH")), Language::SwissGerman);
        assert_eq!(Language::German.spelt_as(Language::german_of_country("AT")), Language::German);
        assert_eq!(Language::French.spelt_as(Language::SwissGerman), Language::French);
    }

    /// Prefixes of what members read; all other texts are the desk's, or both read them.
    const TO_MEMBERS: [&str; 38] = [
        "me.",
        "kiosk.",
        "notice.",
        "subject.",
        "headline.",
        "mail.",
        "claim.",
        "confirm.",
        "recover.",
        "verify.",
        "undo.",
        "leaving.",
        "deletion.",
        "waiver.",
        "advice.",
        "board.",
        "recovery.",
        "confirmation.",
        "done.",
        "passkey.",
        "factor.",
        "category.",
        "sign_in.",
        "question.",
        "signing.",
        "signer.",
        "social.",
        "contact.",
        "phone.",
        "ca.",
        "passcode",
        "passkeys_",
        "second_factor",
        "nothing_confirmed",
        "unsupported_picture",
        "code_missing",
        "reauthentication_needed",
        "certificate.",
    ];
    /// Of these, what the desk reads.
    const TO_DESK: [&str; 2] = ["kiosk.desk_", "kiosk.name_missing"];

    /// What tells how a text speaks to its reader.
    fn says(text: &str, words: &[&str]) -> bool {
        let text = format!(" {text} ").replace(['.', ',', ':', ';', '!', '?', '„', '“'], " ");
        words.iter().any(|word| text.contains(word))
    }

    #[test]
    fn members_and_the_desk_are_each_spoken_to_in_one_way() {
        let familiar = [
            " du ", " Du ", " dich ", " dir ", " dein", " Dein", " Gib ", " Sieh ", " Wähle ", " Sende ", " Prüfe ",
            " Frag ", " Lass ",
        ];
        let formal = ["en Sie ", " sind Sie ", " Ihre ", " Ihren ", " Ihrem ", " Ihrer "];
        let starts = |key: &str, prefixes: &[&str]| prefixes.iter().any(|prefix| key.starts_with(prefix));
        for (key, german) in Language::German.texts() {
            let to_members = starts(key, &TO_MEMBERS) && !starts(key, &TO_DESK);
            assert!(to_members || !says(german, &familiar), "the desk says du: {key}: {german}");
            let to_desk = !to_members && key.contains('.') && !key.starts_with("field.");
            assert!(to_desk || !says(german, &formal), "members, or both, hear Sie: {key}: {german}");
            let italian = &Language::Italian.texts()[key];
            assert!(to_members || !says(italian, &[" tuo ", " tua ", " tuoi ", " tue ", " ti "]), "{key}: {italian}");
            let french = &Language::French.texts()[key];
            assert!(
                !says(french, &[" tu ", " ton ", " ta ", " tes ", "Saisis ", "Choisis ", "Donne ", "Imprime "]),
                "{key}: {french}"
            );
        }
    }

    #[test]
    fn no_italian_article_stands_before_a_value_because_some_would_contract_it() {
        let mails = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/mail/it")).unwrap();
        let mails = mails.map(|mail| std::fs::read_to_string(mail.unwrap().path()).unwrap());
        for text in Language::Italian.texts().values().cloned().chain(mails) {
            let words: Vec<&str> = text.split_whitespace().collect();
            let contracts =
                |pair: &&[&str]| ["il", "al", "dal", "del", "nel"].contains(&pair[0]) && pair[1].starts_with('{');
            assert_eq!(words.windows(2).find(contracts), None);
        }
    }
}
