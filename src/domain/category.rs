//! Which sections of the logbook a member sees, and what is in the way of a new entry. Without database and JSON.

use super::catalogue::{Catalogue, LevelKey, PROGRAMMES, Programme, Requirement, SafetyKind};
use super::currency::Currencies;
use super::entry;
use crate::i18n::language::Text;

/// The state of a member's logbook.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing<'a> {
    pub catalogue: &'a Catalogue,
    pub held: &'a [LevelKey<'a>],
    /// The safety logbooks in which the member has an open record.
    pub briefed: &'a [String],
    /// The catalogue numbers of the member's suspended briefs and trainings.
    pub suspended: &'a [String],
    pub currency: &'a Currencies,
}

/// A section of the logbook.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Section {
    /// Whether the member holds the programme or may enter it.
    pub show: bool,
    /// What is in the way of a new entry. A lapsed currency is named too, although it refuses no request: the member
    /// renews it, and the signer decides.
    pub disabled: Option<Text>,
}

impl Standing<'_> {
    /// The skills of a programme. The section is disabled, with the reason, while a requirement is missing, while the
    /// currency of a holder has lapsed, and before the safety brief.
    pub(crate) fn programme(&self, cat_group: &str) -> Section {
        let Some(programme) = self.catalogue.find_programme(cat_group) else {
            return Section { show: false, disabled: None };
        };
        let holds = self.held.iter().any(|level| level.cat_group == cat_group);
        let show = holds || programme.levels.iter().any(|level| level.admits(self.held));
        let lapsed = entry::lapsed(self.held, self.currency).contains(&cat_group);
        let disabled = match (show, lapsed) {
            (false, _) => self.missing(programme),
            (true, true) if cat_group == "Flyer" => Some(Text::new("category.lapsed_flyer")),
            (true, true) => Some(Text::new("category.lapsed").with("programme", cat_group)),
            (true, false) => self.brief(programme),
        };
        Section { show, disabled }
    }

    /// A safety logbook. The section is shown for every programme that uses the logbook, and never disabled for its
    /// members, because its records are what enables the other sections again. Others are told what the first of these
    /// programmes requires.
    pub(crate) fn safety(&self, logbook: &str) -> Section {
        let shares = |programme: &&Programme| programme.safety_logbook == logbook;
        let served = self.catalogue.programmes().iter().filter(shares);
        let mut sections = served.map(|programme| self.programme(&programme.cat_group));
        let disabled = sections.clone().next().and_then(|first| first.disabled);
        let show = sections.any(|section| section.show);
        Section { show, disabled: disabled.filter(|_| !show) }
    }

    /// The initial brief of a programme, while the member lacks it.
    fn brief(&self, programme: &Programme) -> Option<Text> {
        if self.briefed.contains(&programme.safety_logbook) {
            return None;
        }
        let mut records = self.catalogue.safety(&programme.cat_group).iter();
        let brief = records.find(|record| record.kind == SafetyKind::Initial)?;
        let suspended = self.suspended.contains(&brief.skill);
        let key = if suspended { "category.brief_suspended" } else { "category.brief" };
        Some(Text::new(key).with("brief", &brief.name))
    }

    /// The requirement of the programme's first level that is not met.
    fn missing(&self, programme: &Programme) -> Option<Text> {
        let required = programme.levels.iter().find_map(|level| level.missing(self.held).next())?;
        let Requirement { cat_group, cat_id, track } = required;
        let track = track.as_deref();
        let level = track.and_then(|track| self.catalogue.find_level(LevelKey { cat_group, cat_id, track }));
        Some(match level {
            Some(level) => Text::new("category.needs").with("level", &level.name),
            None => Text::new("category.needs_any_track").with("programme", cat_group).with("level", cat_id),
        })
    }
}

/// The number of a programme for clients that need one: its position among all programmes, from 1.
pub(crate) fn number(cat_group: &str) -> i64 {
    PROGRAMMES.iter().position(|one| *one == cat_group).map_or(0, |place| place as i64 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::currency::Currency;
    use crate::moment::Moment;

    const fn key<'a>(cat_group: &'a str, cat_id: &'a str, track: &'a str) -> LevelKey<'a> {
        LevelKey { cat_group, cat_id, track }
    }

    fn said(section: &Section) -> (bool, String) {
        (section.show, section.disabled.as_ref().map_or(String::new(), Text::in_english))
    }

    /// A member with every brief, current in every programme.
    fn with<T>(held: &[LevelKey], ask: impl Fn(&Standing) -> T) -> T {
        let current = Currency { current: true, renewal: Some(Moment(1)) };
        let (flyer, coach, instructor) = (current, current, current);
        let currency = Currencies { flyer, coach, instructor, trainer: current, examiner: current, military: current };
        let briefed = PROGRAMMES.map(str::to_owned);
        ask(&Standing {
            catalogue: Catalogue::built_in(),
            held,
            briefed: &briefed,
            suspended: &[],
            currency: &currency,
        })
    }

    #[test]
    fn a_section_is_shown_to_who_holds_or_may_enter_it_and_says_what_is_missing() {
        let (first, back, sit) = (key("Flyer", "1", ""), key("Flyer", "2", "Backflying"), key("Flyer", "3", "Static"));
        let formation = key("Flyer", "3", "Formation");
        let (afc, one, three) = (key("AFC", "1", ""), key("Instructor", "1", ""), key("Instructor", "3", ""));
        let trainer = key("Trainer", "3", "");
        let open = (true, "");
        let needs = |level: &'static str| (false, level);
        for (held, cat_group, (show, part)) in [
            (&[][..], "Flyer", open),
            (&[], "Military", open),
            (&[], "AFC", needs("Backflying Level 2")),
            (&[], "Coach", needs("Flyer Level 3")),
            (&[], "Instructor", needs("Assistant Flight Coach")),
            (&[], "Trainer", needs("Instructor Level 3")),
            (&[], "Examiner", needs("Trainer Level 3")),
            (&[first], "AFC", needs("Backflying Level 2")),
            (&[first, back], "AFC", open),
            (&[first, back], "Coach", needs("Flyer Level 3")),
            (&[first, back, sit], "Coach", open),
            (&[first, formation], "Coach", open),
            (&[first, formation], "AFC", needs("Backflying Level 2")),
            (&[first, back, afc], "Instructor", open),
            (&[first, back, afc, one], "Trainer", needs("Instructor Level 3")),
            (&[three], "Trainer", open),
            (&[three, trainer], "Examiner", open),
            (&[key("Examiner", "1", "")], "Examiner", open),
            (&[], "Pilot", (false, "")),
        ] {
            let (shown, reason) = with(held, |standing| said(&standing.programme(cat_group)));
            let fits = if part.is_empty() { reason.is_empty() } else { reason.contains(part) };
            assert!(shown == show && fits, "{held:?} {cat_group}: {shown} {reason}");
        }
    }

    #[test]
    fn the_brief_comes_before_anything_and_a_lapse_closes_what_is_held() {
        let currency = Currencies::default();
        let flyers = ["Flyer".to_owned()];
        let catalogue = Catalogue::built_in();
        let new = Standing { catalogue, held: &[], briefed: &[], suspended: &[], currency: &currency };
        let (shown, reason) = said(&new.programme("Flyer"));
        assert!(shown && reason.contains("Flyer safety brief before the first flight"), "{reason}");
        assert!(said(&new.programme("Military")).1.contains("Military safety brief"));
        let suspended = ["10001".to_owned()];
        let (_, reason) = said(&Standing { suspended: &suspended, ..new }.programme("Flyer"));
        assert!(reason.contains("is suspended: Flyer safety brief before the first flight"), "{reason}");
        assert_eq!(said(&new.safety("Flyer")), (true, String::new()));
        assert_eq!(said(&Standing { briefed: &flyers, ..new }.programme("Flyer")), (true, String::new()));
        let held = [key("Flyer", "1", ""), key("Instructor", "1", "")];
        let lapsed = Standing { held: &held, ..new };
        assert_eq!(said(&lapsed.programme("Flyer")), (true, Text::new("category.lapsed_flyer").in_english()));
        assert!(said(&lapsed.programme("Instructor")).1.contains("Instructor"));
        assert_eq!(said(&lapsed.safety("Instructor")), (true, String::new()), "a training is what ends the lapse");
    }

    #[test]
    fn a_safety_logbook_is_there_for_every_programme_that_shares_it() {
        let shown = |held: &[LevelKey], logbook: &str| with(held, |standing| standing.safety(logbook).show);
        let back = [key("Flyer", "1", ""), key("Flyer", "2", "Backflying")];
        assert!(
            !shown(&[], "Instructor") && shown(&back, "Instructor"),
            "an assistant is trained with the instructors"
        );
        assert!(shown(&[key("Examiner", "1", "")], "Trainer") && !shown(&back, "Trainer"));
        for (logbook, needed) in
            [("Coach", "Flyer Level 3"), ("Instructor", "Backflying Level 2"), ("Trainer", "Instructor Level 3")]
        {
            let (_, reason) = with(&[], |standing| said(&standing.safety(logbook)));
            assert!(reason.contains(needed), "{logbook}: {reason}");
        }
    }

    #[test]
    fn every_programme_has_a_number_of_its_own() {
        assert_eq!(PROGRAMMES.map(number), [1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(number("Pilot"), 0);
    }
}
