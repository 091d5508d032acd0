//! The product's texts, by key in every language.

pub use super::languages::Language;
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

/// Italian texts: the own parts of the kiosk and of the members' pages, texts of other parts that a kiosk shows, and texts that members read elsewhere.
const ITALIAN: [&str; 6] = [
    include_str!("../../assets/translations/it/kiosk.json"),
    include_str!("../../assets/translations/it/me.json"),
    include_str!("../../assets/translations/it/shared.json"),
    include_str!("../../assets/translations/it/member.json"),
    include_str!("../../assets/translations/it/paper.json"),
    include_str!("../../assets/translations/it/waiver.json"),
];

static CATALOGUES: LazyLock<[Catalogue; 5]> = LazyLock::new(|| {
    let [en, de, fr, es] = [texts!("en"), texts!("de"), texts!("fr"), texts!("es")].map(|parts| read(&parts));
    let fr = fr.into_iter().map(|(key, text)| (key, with_french_spaces(&text))).collect();
    [en, de, fr, es, read(&ITALIAN)]
});

/// French has a narrow space before these marks, at which no line breaks.
fn with_french_spaces(text: &str) -> String {
    ["?", "!", ":", ";"]
        .iter()
        .fold(text.to_owned(), |text, mark| text.replace(&format!(" {mark}"), &format!("\u{202f}{mark}")))
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
        let found = CATALOGUES[self as usize].get(key);
        let Some(pattern) = found.or_else(|| CATALOGUES[self.whole() as usize].get(key)) else {
            return key.to_owned();
        };
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
            assert_eq!(Language::accepted(header, &Language::ALL), language, "{header}");
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
        assert_eq!(Language::French.labelled("Nom", "Jane"), "Nom\u{a0}: Jane");
    }

    /// Words that stand beside the catalogue's word for the same thing: desk, safety brief, logbook, e-mail, member.
    const OTHER_WORDS: [(Language, &[&str]); 4] = [
        (Language::German, &["theke", "am schalter", "check-in", "tresen", "rezeption"]),
        (Language::French, &["guichet", "comptoir", "courriel", "consignes de sécurité"]),
        (Language::Spanish, &["mostrador", "cuaderno", "charla", "validaciones", "socio"]),
        (Language::Italian, &["sportello", "istruzioni di sicurezza", "socio"]),
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
        for language in Language::AT_KIOSK {
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
    fn italian_says_what_a_kiosk_says_with_the_same_places() {
        let kiosk = |key: &str| {
            key.starts_with("kiosk.")
                || SAID_AT_KIOSKS.iter().any(|part| key == *part || part.ends_with('.') && key.starts_with(part))
        };
        let italian = Language::Italian.texts();
        for (key, pattern) in Language::English.texts().iter().filter(|(key, _)| kiosk(key)) {
            let said = italian.get(key).unwrap_or_else(|| panic!("it lacks {key}"));
            let places = |text: &str| text.split('{').skip(1).filter_map(|p| p.split('}').next()).count();
            assert_eq!(places(said), places(pattern), "{key}");
            assert!(!said.trim().is_empty(), "{key} says nothing");
        }
        assert!(italian.keys().all(|key| kiosk(key)), "a text of another part is in Italian: put its part on the list");
        assert_eq!(Language::Italian.say(&Text::new("desk.today")), "Today", "the rest is said in English");
    }

    /// Prefixes of keys in other parts whose texts a kiosk shows, or members read elsewhere.
    const SAID_AT_KIOSKS: [&str; 125] = [
        "board.title",
        "board.nobody",
        "board.free",
        "board.free_hour",
        "board.here",
        "board.later",
        "board.away",
        "board.pair_title",
        "certificate.",
        "printout.",
        "till.receipt",
        "till.receipt_from",
        "till.receipt_for",
        "till.membership",
        "till.kind",
        "till.cash",
        "till.terminal",
        "till.voucher",
        "till.free",
        "till.paid_until",
        "till.reason",
        "till.clerk",
        "till.member",
        "till.undo_title",
        "till.undoes",
        "till.issuer",
        "till.tax_number",
        "till.undone_long",
        "desk.number",
        "short_month.",
        "short_date",
        "short_date.",
        "mail.",
        "notice.",
        "headline.",
        "subject.",
        "advice.",
        "claim.",
        "confirm.",
        "undo.",
        "recover.",
        "verify.",
        "field.missing",
        "field.email",
        "field.username",
        "field.too_long",
        "field.control_characters",
        "field.password_length",
        "field.password_own",
        "field.password_weak",
        "field.terms",
        "field.dob",
        "field.no_such_day",
        "field.year_short",
        "field.not_moment",
        "exists",
        "username_taken",
        "too_fast",
        "waiver.",
        "papers.at_kiosk",
        "papers.at_phone",
        "papers.at_desk",
        "papers.at_app",
        "family.guardian_minor",
        "family.dob_missing",
        "family.is_adult",
        "family.too_many",
        "waiver_missing",
        "waiver_changed",
        "progression.",
        "month.",
        "date.",
        "signer.",
        "skill_taken",
        "email_not_confirmed",
        "field.brief_first",
        "field.level_first",
        "field.unknown_skill",
        "foreign_form",
        "plain_form",
        "not_found",
        "desk.no_page",
        "desk.not_so_fast",
        "desk.fields_wrong",
        "overloaded",
        "broken",
        "confirmation.",
        "recovery.",
        "deletion.",
        "done.email_confirmed",
        "desk.refused",
        "desk.not_here",
        "skill_suspended",
        "logbook_full",
        "field.brief_suspended",
        "field.phone",
        "field.phone_country",
        "field.picture",
        "field.picture_pixels",
        "field.picture_memory",
        "logbook_full.unconfirmed",
        "not_allowed",
        "code_missing",
        "leaving.",
        "me.",
        "sign_in.wrong",
        "sign_in.banned",
        "question.",
        "factor.none_waits",
        "nothing_confirmed",
        "second_factor_required",
        "second_factor_off",
        "passkeys_full",
        "factor.totp_due",
        "factor.unreachable",
        "factor.passcodes_used_up",
        "factor.clock_suspect",
        "factor.unreadable",
        "passcode.sent",
        "desk.booking_changed",
        "field.wrong_password",
        "field.no_password",
        "field.not_confirmed",
        "field.unknown_tunnel",
        "field.username_own",
    ];
}
