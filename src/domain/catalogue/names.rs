//! The names of the catalogue's programmes, tracks, levels, skills and safety records in every language. Names of a site's own extension
//! are not translated.

use super::Catalogue;
use crate::i18n::language::{Language, in_swiss};
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

/// One line a name: in English, German, French, Spanish and Italian, in the order of [`Language`]; and as Swiss people spell German.
static NAMES: LazyLock<HashMap<&str, [Cow<str>; 5]>> = LazyLock::new(|| {
    let lines = include_str!("../../../assets/catalogue/names.tsv").lines().skip(1);
    let read = |line: &'static str| {
        let mut cells = line.split('\t');
        let english = cells.next()?;
        let [de, fr, es, it] = [cells.next()?, cells.next()?, cells.next()?, cells.next()?];
        let swiss = Cow::Owned(in_swiss(de));
        Some((english, [de.into(), fr.into(), es.into(), it.into(), swiss]))
    };
    lines.filter_map(read).collect()
});

/// The name in this language; unchanged where the list lacks it.
pub(crate) fn say(language: Language, english: &str) -> &str {
    let place = match language {
        Language::English => return english,
        Language::German => 0,
        Language::French => 1,
        Language::Spanish => 2,
        Language::Italian => 3,
        Language::SwissGerman => 4,
    };
    NAMES.get(english).map_or(english, |names| &names[place])
}

/// The names of the level and the skill of an entry in this language; see [`Catalogue::names`].
pub(crate) fn of_entry(
    language: Language,
    catalogue: &Catalogue,
    (cat_group, cat_id, skill): (&str, &str, &str),
) -> (String, String) {
    let (level, skill) = catalogue.names(cat_group, cat_id, skill);
    (say(language, &level).to_owned(), say(language, &skill).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_of_the_built_in_catalogue_is_translated_and_no_other() {
        let catalogue = Catalogue::built_in();
        let levels = catalogue.levels().map(|level| level.name.as_str());
        let skills = catalogue.skills().map(|(_, skill)| skill.name.as_str());
        let safety = catalogue.programmes().iter().flat_map(|one| one.safety.iter().map(|safety| safety.name.as_str()));
        let programmes = catalogue.programmes().iter().map(|one| one.cat_group.as_str());
        let tracks = catalogue.levels().map(|level| level.track.as_str()).filter(|track| !track.is_empty());
        let mut all: Vec<&str> = levels.chain(skills).chain(safety).chain(programmes).chain(tracks).collect();
        all.sort_unstable();
        all.dedup();
        for name in &all {
            let names = NAMES.get(name).unwrap_or_else(|| panic!("{name} is not translated"));
            assert!(names.iter().all(|one| !one.trim().is_empty()), "{name}");
        }
        assert_eq!(NAMES.len(), all.len(), "names that are in no catalogue");
        assert_eq!(say(Language::Italian, "Neutral back position"), "Posizione neutra sul dorso");
        assert_eq!(say(Language::German, "Tanz der Halle"), "Tanz der Halle");
        let spelt = |language| say(language, "Back carving, feet to the centre");
        assert_eq!(spelt(Language::German), "Carving auf dem Rücken, Füße zur Mitte");
        assert_eq!(spelt(Language::SwissGerman), "Carving auf dem Rücken, Füsse zur Mitte");
    }
}
