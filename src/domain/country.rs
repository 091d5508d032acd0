//! Countries: codes, names and calling codes.

use super::unicode::folded;
use crate::i18n::language::Language;
use phonenumber::country::Id;
use phonenumber::metadata::DATABASE;
use std::sync::LazyLock;

/// A country as one language names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Country {
    /// ISO 3166-1 alpha-2; for the few territories that only telephone plans separate, the code in use.
    pub code: &'static str,
    /// ISO 3166-1 alpha-3; empty where there is none.
    pub code3: &'static str,
    pub name: &'static str,
    /// The calling code with its plus; empty where the country has none.
    pub dial_code: String,
}

/// In the order of [`Language`]: one line a country, sorted by the language's rules (see `assets/countries`).
const NAMES: [&str; 5] = [
    include_str!("../../assets/countries/en.tsv"),
    include_str!("../../assets/countries/de.tsv"),
    include_str!("../../assets/countries/fr.tsv"),
    include_str!("../../assets/countries/es.tsv"),
    include_str!("../../assets/countries/it.tsv"),
];
/// Codes in common use that ISO 3166 only reserves, and the official code.
const RESERVED: [(&str, &str); 2] = [("UK", "GB"), ("EL", "GR")];

static COUNTRIES: LazyLock<[Vec<Country>; 5]> = LazyLock::new(|| NAMES.map(|text| text.lines().map(read).collect()));

/// Every country, sorted by name.
pub(crate) fn all(language: Language) -> &'static [Country] {
    // No country has a name with ß.
    let language = if language == Language::SwissGerman { Language::German } else { language };
    &COUNTRIES[language as usize]
}

/// The country of a two-letter or three-letter code, in any case.
pub(crate) fn find(language: Language, code: &str) -> Option<&'static Country> {
    let is = |known: &str| !known.is_empty() && known.eq_ignore_ascii_case(code);
    all(language).iter().find(|country| is(country.code) || is(country.code3))
}

/// Parses a country in a form: its code of two or three letters, its name in any of the product's languages, or its
/// calling code. Returns the two letters.
pub(crate) fn parse(text: &str) -> Option<&'static str> {
    let text = folded(text.trim());
    let named = |language| all(language).iter().find(|country| folded(country.name) == text);
    find_dialled(&text).or_else(|| Language::ALL.into_iter().find_map(named).map(|country| country.code))
}

/// The two letters of a country by its code of two or three letters or its calling code (`41`, `+41`, `0041`). For a
/// shared calling code, the main country.
pub(crate) fn find_dialled(code: &str) -> Option<&'static str> {
    let code = code.trim();
    let reserved = RESERVED.iter().find(|(known, _)| known.eq_ignore_ascii_case(code)).map(|(_, code)| *code);
    if let Some(country) = find(Language::English, reserved.unwrap_or(code)) {
        return Some(country.code);
    }
    let digits = code.strip_prefix('+').or_else(|| code.strip_prefix("00")).unwrap_or(code).trim();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let plans = DATABASE.by_code(&digits.parse::<u16>().ok()?)?;
    let plan = plans.iter().find(|plan| plan.is_main_country_for_code()).or(plans.first())?;
    find(Language::English, plan.id()).map(|country| country.code)
}

fn read(line: &'static str) -> Country {
    let mut parts = line.split('\t');
    let mut part = || parts.next().expect("a line has three parts");
    let (code, code3, name) = (part(), part(), part());
    Country { code, code3, name, dial_code: dial_code(code) }
}

fn dial_code(code: &str) -> String {
    let region = code.parse::<Id>().ok().and_then(|id| DATABASE.by_id(id.as_ref()));
    region.map_or_else(String::new, |region| format!("+{}", region.country_code()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::phone;
    use std::collections::BTreeSet;

    #[test]
    fn every_language_names_every_country_of_the_standard_and_three_more() {
        let iso: BTreeSet<(&str, &str)> = rust_iso3166::ALL.iter().map(|one| (one.alpha2, one.alpha3)).collect();
        let ours = BTreeSet::from([("AC", ""), ("TA", ""), ("XK", "XKX")]);
        let wanted: BTreeSet<(&str, &str)> = iso.union(&ours).copied().collect();
        for language in Language::ALL {
            let named: BTreeSet<(&str, &str)> = all(language).iter().map(|one| (one.code, one.code3)).collect();
            assert_eq!(named, wanted, "{language:?}");
            assert_eq!(all(language).len(), wanted.len(), "{language:?} names one twice");
            let names: BTreeSet<&str> = all(language).iter().map(|one| one.name).collect();
            assert!(names.len() == wanted.len() && names.iter().all(|name| name.trim() == *name && !name.is_empty()));
        }
    }

    #[test]
    fn countries_are_called_what_people_call_them_and_stand_where_they_look() {
        for (language, code, name, before) in [
            (Language::English, "AX", "Åland Islands", "AL"),
            (Language::German, "AT", "Österreich", "PK"),
            (Language::French, "US", "États-Unis", "ET"),
            (Language::Spanish, "ES", "España", "US"),
            (Language::German, "HK", "Hongkong", "IN"),
        ] {
            assert_eq!(find(language, code).unwrap().name, name);
            let place = |code: &str| all(language).iter().position(|one| one.code == code).unwrap();
            assert!(place(code) < place(before), "{name} stands before {before}");
        }
        assert_eq!(find(Language::German, "che"), find(Language::German, "CH"));
        assert_eq!((find(Language::English, ""), find(Language::English, "ZZ")), (None, None));
    }

    /// Signup accepts every country that the telephone library knows by two letters.
    #[test]
    fn every_country_that_signup_accepts_is_there_with_the_code_one_dials() {
        let mut accepted = 0;
        for (first, second) in ('A'..='Z').flat_map(|a| ('A'..='Z').map(move |b| (a, b))) {
            let code = format!("{first}{second}");
            let Some(region) = code.parse::<Id>().ok().and_then(|id| DATABASE.by_id(id.as_ref())) else { continue };
            let country = find(Language::English, &code).unwrap_or_else(|| panic!("{code} is missing"));
            assert_eq!(country.dial_code, format!("+{}", region.country_code()));
            accepted += 1;
        }
        assert!(accepted > 240, "{accepted}");
        let dialled: Vec<&str> =
            ["CH", "US", "CA", "GB", "XK"].map(|code| &*find(Language::English, code).unwrap().dial_code).into();
        assert_eq!(dialled, ["+41", "+1", "+1", "+44", "+383"]);
        assert_eq!(phone::parse("CH", "044 668 18 00"), phone::parse("+41", "044 668 18 00"));
    }

    #[test]
    fn a_country_is_read_by_its_codes_its_names_and_what_one_dials() {
        for text in ["CH", "ch", " che ", "Switzerland", "SCHWEIZ", "suisse", "Suiza", "Svizzera", "41", "+41", "0041"]
        {
            assert_eq!(parse(text), Some("CH"), "{text}");
        }
        for (text, code) in [
            ("1", "US"),
            ("7", "RU"),
            ("44", "GB"),
            ("39", "IT"),
            ("uk", "GB"),
            ("O\u{308}sterreich", "AT"),
            ("Côte d'Ivoire", "CI"),
            ("Cote d'Ivoire", "CI"),
            ("espana", "ES"),
            ("Stati Uniti", "US"),
        ] {
            assert_eq!(parse(text), Some(code), "{text}");
        }
        for text in ["", "+", "ZZ", "999", "800", "41x", "Atlantis", "4141", "-41", "+ +41"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn who_has_no_number_has_no_code_to_dial() {
        let silent: Vec<&str> =
            all(Language::English).iter().filter(|one| one.dial_code.is_empty()).map(|one| one.code).collect();
        assert_eq!(silent, ["AQ", "BV", "TF", "HM", "PN", "GS", "UM"]);
    }
}
