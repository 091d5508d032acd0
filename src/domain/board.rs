//! How a flyer is named on a board in the hall, which everybody reads.

use super::age;
use super::ids::MemberId;
use crate::moment::Moment;

/// The letters of a first name that a board has room for.
const FIRST_NAME_CHARS_MAX: usize = 14;

/// What decides how a flyer is named.
pub(crate) struct Named<'a> {
    pub(crate) member_id: MemberId,
    pub(crate) real_name: &'a str,
    /// The day of birth; of whom it is not known, nobody knows that it is no child.
    pub(crate) dob: Option<Moment>,
    /// Whether the flyer asked for it.
    pub(crate) by_number: bool,
}

impl Named<'_> {
    /// The number of minors and of whoever asks; else initials, or the first name where the hall chose that.
    pub(crate) fn on_board(&self, first_names: bool, now: Moment) -> String {
        let age = self.dob.and_then(|dob| age::on(dob, now));
        let is_adult = age.is_some_and(|age| age.years >= age::ADULT_YEARS);
        let name = if self.by_number || !is_adult { String::new() } else { short(self.real_name, first_names) };
        if name.is_empty() { format!("#{}", self.member_id) } else { name }
    }
}

/// The initials of the first and the last word, or the first word.
fn short(real_name: &str, first_names: bool) -> String {
    let mut words = real_name.split_whitespace().filter(|word| word.starts_with(char::is_alphabetic));
    let Some(first) = words.next() else { return String::new() };
    if first_names {
        return first.chars().take(FIRST_NAME_CHARS_MAX).collect();
    }
    let initials = [Some(first), words.next_back()].into_iter().flatten().filter_map(|word| word.chars().next());
    initials.flat_map(char::to_uppercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Moment = Moment(1_780_000_000);
    const YEAR: i64 = 31_557_600;

    fn named(real_name: &str, years: Option<i64>, by_number: bool, first_names: bool) -> String {
        let dob = years.map(|years| Moment((NOW.0 - years * YEAR - YEAR / 2) / 86_400 * 86_400));
        Named { member_id: MemberId(1204), real_name, dob, by_number }.on_board(first_names, NOW)
    }

    #[test]
    fn adults_have_initials_or_a_first_name_and_minors_and_whoever_asks_a_number() {
        for (name, initials, first) in [
            ("Jane Okonkwo-Schmidt", "JO", "Jane"),
            ("ömer", "Ö", "ömer"),
            ("Anna Maria de la Cruz", "AC", "Anna"),
            ("<b> Otto", "O", "Otto"),
            ("  ", "#1204", "#1204"),
            ("12 34", "#1204", "#1204"),
        ] {
            assert_eq!(named(name, Some(30), false, false), initials);
            assert_eq!(named(name, Some(30), false, true), first);
        }
        for first_names in [false, true] {
            assert_eq!(named("Jane Doe", Some(30), true, first_names), "#1204", "who asks");
            assert_eq!(named("Jane Doe", Some(17), false, first_names), "#1204", "a minor");
            assert_eq!(named("Jane Doe", None, false, first_names), "#1204", "who may be a minor");
            assert_ne!(named("Jane Doe", Some(18), false, first_names), "#1204");
        }
    }
}
