//! The fields by which an instructor records one session for several students, on the own pages and at the desk.

use super::Form;
use super::form_state::FormState;
use crate::app::logbook::COMMENT_CHARS_MAX;
use crate::app::logbook::groups::{STUDENTS_MAX, Session};
use crate::app::logbook::rules::Recordable;
use crate::domain::catalogue::names;
use crate::domain::ids::MemberId;
use crate::domain::local_time::TimeZone;
use crate::domain::when;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::fields;
use crate::i18n::language::{Language, Text};
use crate::moment::Moment;
use crate::site::Site;

const NUMBERS_CHARS_MAX: usize = 300;
const SKILL_CHARS_MAX: usize = 20;
/// The first moment that is read as a date (1973).
const FIRST_MOMENT: Moment = Moment(100_000_000);

/// The skills of a level, to choose from.
pub(super) struct Group {
    pub(super) name: String,
    /// Number and name.
    pub(super) skills: Vec<(&'static str, &'static str)>,
}

/// The fields of a session as a page shows them.
pub(super) struct Sheet {
    pub(super) form: FormState,
    pub(super) groups: Vec<Group>,
    /// As it was typed, else today.
    pub(super) date: String,
    /// The date in words.
    pub(super) day: String,
    pub(super) today: String,
    /// The name of the skill that was chosen.
    pub(super) skill_name: String,
}

impl Sheet {
    /// `safety`: the name of briefs and trainings.
    pub(super) fn of(
        site: &Site,
        call: &Call,
        recordable: &[Recordable],
        safety: &str,
        form: FormState,
    ) -> Result<Sheet, Failure> {
        let (zone, language) = (site.time_zone()?, call.language());
        let groups = groups(recordable, language, safety);
        let (today, typed) = (zone.date(site.now()), form.typed("date").to_owned());
        let date = if typed.is_empty() { today.clone() } else { typed };
        let (day, skill_name) = (day_in_words(&zone, language, &date), name_of(&groups, form.typed("skill")));
        Ok(Sheet { form, groups, date, day, today, skill_name })
    }

    pub(super) fn is_chosen(&self, skill: &str) -> bool {
        self.form.typed("skill") == skill
    }

    pub(super) fn problems(&self) -> Vec<&str> {
        self.form.other_problems(&[]).collect()
    }
}

/// The moment of a day that was typed, as [`TimeZone::entry_moment`]; `None` for days that no entry has: those to come, and those
/// before there were tunnels.
pub(super) fn entry_moment(zone: &TimeZone, now: Moment, date: &str) -> Option<Moment> {
    zone.entry_moment(now, date).filter(|moment| (FIRST_MOMENT..=now).contains(moment))
}

/// A day that was typed, in words.
fn day_in_words(zone: &TimeZone, language: Language, date: &str) -> String {
    zone.start_of_date(date).map_or_else(|| date.to_owned(), |at| when::day(language, zone, at))
}

/// What may be recorded, by level.
fn groups(recordable: &[Recordable], language: Language, safety: &str) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for one in recordable {
        let name = one.level.map_or(safety, |level| names::say(language, &level.name));
        let skill = (one.skill, names::say(language, one.name));
        match groups.last_mut() {
            Some(last) if last.name == name => last.skills.push(skill),
            _ => groups.push(Group { name: name.to_owned(), skills: vec![skill] }),
        }
    }
    groups
}

/// The name of a skill among these groups; empty where none has it.
fn name_of(groups: &[Group], skill: &str) -> String {
    let mut all = groups.iter().flat_map(|group| &group.skills);
    all.find(|(one, _)| *one == skill).map_or_else(String::new, |(_, name)| (*name).to_owned())
}

/// Reads the fields; 422 with every mistake once the form is finished.
pub(super) fn read(form: &mut Form, zone: &TimeZone, now: Moment, known: &[Recordable]) -> Session {
    let numbers = form.required("students", fields::lines(NUMBERS_CHARS_MAX));
    let mut students: Vec<MemberId> = Vec::new();
    for number in numbers.split(|c: char| c.is_whitespace() || c == ',' || c == ';').filter(|text| !text.is_empty()) {
        match number.parse::<MemberId>() {
            Ok(number) if number.0 > 0 => students.extend((!students.contains(&number)).then_some(number)),
            _ => form.0.refuse("students", Text::new("me.no_number").with("typed", number)),
        }
    }
    if students.len() > STUDENTS_MAX {
        form.0.refuse("students", Text::new("me.students_max").with("max", STUDENTS_MAX as i64));
    }
    let skill = form.line("skill", SKILL_CHARS_MAX);
    let skill = known.iter().find(|one| one.skill == skill).map(|one| one.skill);
    if skill.is_none() {
        form.0.refuse("skill", Text::new("me.skill_choose"));
    }
    let date = form.line("date", 20);
    let moment = entry_moment(zone, now, &date);
    if moment.is_none() {
        form.0.refuse("date", Text::new("me.date_wrong"));
    }
    let comment = form.lines("comment", COMMENT_CHARS_MAX);
    Session { students, skill: skill.unwrap_or_default(), date, moment: moment.unwrap_or(now), comment }
}

/// The refusal of a session because of one student, in words.
pub(super) fn refusal(name: &str, why: String) -> Failure {
    Failure::field("students", Text::new("me.record_not").with("name", name).with("why", why))
}
