//! Who hears of which events: an audience, and its choice among the types.

use super::ids::{MemberId, PartnerId};
use std::sync::Arc;

/// Whose events a listener hears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The staff hears everything.
    Staff,
    /// A member hears what is about the member, and what becomes of requests that the member is asked to sign.
    Member(MemberId),
    /// A partner hears what becomes of its own bookings.
    Partner(PartnerId),
}

/// Whom an event is about, by numbers.
#[derive(Debug, Default, Clone, Copy)]
pub struct Concerned {
    /// The partner whose request or booking it is.
    pub partner_id: Option<PartnerId>,
    /// The member.
    pub member_id: Option<MemberId>,
    /// The member who is asked to sign, or signed.
    pub signer_id: Option<MemberId>,
}

impl Audience {
    /// Whether this audience hears an event of that type about them.
    pub(crate) fn hears(self, name: &str, concerned: &Concerned) -> bool {
        match self {
            Audience::Staff => true,
            Audience::Member(id) => concerned.member_id == Some(id) || concerned.signer_id == Some(id),
            Audience::Partner(id) => concerned.partner_id == Some(id) && name.starts_with("booking."),
        }
    }
}

/// A choice of types.
#[derive(Debug, Clone, Default)]
pub struct Choice(Option<Arc<[&'static str]>>);

impl Choice {
    /// The choice of a list such as `booking.*,notice.created` among the types there are. An empty list chooses all. The error: the
    /// first of the list that is neither a type nor a family.
    pub(crate) fn parse(list: &str, types: &[&'static str]) -> Result<Choice, String> {
        let is_known = |one: &&str| match one.strip_suffix('*') {
            Some(family) => {
                family.is_empty() || (family.ends_with('.') && types.iter().any(|name| name.starts_with(family)))
            }
            None => types.contains(one),
        };
        match list.split(',').map(str::trim).find(|one| !one.is_empty() && !is_known(one)) {
            Some(unknown) => Err(unknown.to_owned()),
            None => Ok(Choice::read(list, types)),
        }
    }

    /// As [`Choice::parse`]; a type that there is not chooses nothing.
    pub(crate) fn read(list: &str, types: &[&'static str]) -> Choice {
        let wanted: Vec<&str> = list.split(',').map(str::trim).filter(|one| !one.is_empty()).collect();
        if wanted.is_empty() || wanted.contains(&"*") {
            return Choice(None);
        }
        let is_wanted = |name: &str| {
            wanted.iter().any(|one| match one.strip_suffix('*') {
                Some(begin) if begin.ends_with('.') => name.starts_with(begin),
                _ => *one == name,
            })
        };
        Choice(Some(types.iter().copied().filter(|name| is_wanted(name)).collect()))
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.as_ref().is_none_or(|chosen| chosen.contains(&name))
    }

    /// As a text with a comma around each type; `None`: all.
    pub(crate) fn text(&self) -> Option<String> {
        self.0.as_ref().map(|chosen| format!(",{},", chosen.join(",")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPES: [&str; 4] = ["booking.moved", "booking.cancelled", "bookings.other", "notice.created"];

    #[test]
    fn a_choice_is_of_types_and_of_families_and_of_all() {
        let chosen = |list: &str| TYPES.map(|name| Choice::read(list, &TYPES).has(name));
        assert_eq!(chosen(""), [true; 4]);
        assert_eq!(chosen(" , "), [true; 4]);
        assert_eq!(chosen("*"), [true; 4]);
        assert_eq!(chosen("booking.*"), [true, true, false, false]);
        assert_eq!(chosen("notice.created, booking.moved"), [true, false, false, true]);
        assert_eq!(chosen("of.the.future"), [false; 4]);
        assert_eq!(chosen("book*"), [false; 4], "a part of a word is no family");
        assert_eq!(Choice::read("of.the.future", &TYPES).text().unwrap(), ",,");
        for good in ["", " , ", "*", "booking.*", "notice.created, booking.moved"] {
            assert!(Choice::parse(good, &TYPES).is_ok(), "{good}");
        }
        for (bad, unknown) in
            [("foo", "foo"), ("booking.moved, foo.*", "foo.*"), ("book*", "book*"), ("booking.", "booking.")]
        {
            assert_eq!(Choice::parse(bad, &TYPES).unwrap_err(), unknown);
        }
    }

    #[test]
    fn everybody_hears_of_the_own_and_the_staff_of_all() {
        let concerned =
            Concerned { partner_id: Some(PartnerId(1)), member_id: Some(MemberId(7)), signer_id: Some(MemberId(8)) };
        for (audience, booking, token) in [
            (Audience::Staff, true, true),
            (Audience::Member(MemberId(7)), true, true),
            (Audience::Member(MemberId(8)), true, true),
            (Audience::Member(MemberId(1)), false, false),
            (Audience::Partner(PartnerId(1)), true, false),
            (Audience::Partner(PartnerId(7)), false, false),
        ] {
            assert_eq!(audience.hears("booking.moved", &concerned), booking, "{audience:?}");
            assert_eq!(audience.hears("token.refused", &concerned), token, "{audience:?}");
        }
    }
}
