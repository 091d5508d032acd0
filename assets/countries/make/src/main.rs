//! Writes the names of the countries, for `assets/countries`: the codes of ISO 3166, and those that only telephones
//! know, with the names of the Unicode CLDR, a file a language, sorted as that language sorts.

use icu_collator::{Collator, options::CollatorOptions};
use icu_experimental::displaynames::{DisplayNamesOptions, Style, multi::RegionDisplayNames};
use icu_locale_core::{Locale, subtags::Region};

/// Not in ISO 3166, but with a calling code of their own.
const TELEPHONES_ONLY: [(&str, &str); 3] = [("AC", ""), ("TA", ""), ("XK", "XKX")];
/// Their long names begin with what they are, and nobody looks there.
const SHORT: [&str; 3] = ["HK", "MO", "PS"];

fn main() {
    let dir = std::env::args().nth(1).expect("the directory to write to");
    for tag in ["en", "de", "fr", "es", "it"] {
        let locale: Locale = tag.parse().unwrap();
        let mut options = DisplayNamesOptions::default();
        let long = RegionDisplayNames::try_new(locale.clone().into(), options).unwrap();
        options.style = Some(Style::Short);
        let short = RegionDisplayNames::try_new(locale.clone().into(), options).unwrap();
        let iso = rust_iso3166::ALL.iter().map(|one| (one.alpha2, one.alpha3));
        let mut rows: Vec<(&str, &str, &str)> = iso
            .chain(TELEPHONES_ONLY)
            .map(|(code, code3)| {
                let region: Region = code.parse().unwrap();
                let names = if SHORT.contains(&code) { &short } else { &long };
                (code, code3, names.of(region).unwrap_or_else(|| panic!("{code} has no name in {tag}")))
            })
            .collect();
        let collator = Collator::try_new(locale.into(), CollatorOptions::default()).unwrap();
        rows.sort_by(|one, other| collator.compare(one.2, other.2));
        let text: String = rows.iter().map(|(code, code3, name)| format!("{code}\t{code3}\t{name}\n")).collect();
        std::fs::write(format!("{dir}/{tag}.tsv"), text).unwrap();
    }
}
