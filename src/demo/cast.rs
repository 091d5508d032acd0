//! Those whom a demo site always has, whatever its size: somebody in every state, and everybody who may sign.

use super::ladder::Target;
use super::people::End;
use crate::domain::role::Role;

/// One of the cast. Days are counted from today, which is 0.
pub(super) struct Part {
    pub role: Role,
    /// For accounts that are easier to remember than a name.
    pub username: Option<&'static str>,
    /// What has been climbed, or is being climbed.
    pub targets: &'static [Target],
    /// How the last of it stands.
    pub end: End,
    /// The last flight.
    pub last: Option<i64>,
    pub flights_a_year: u64,
    pub confirmed: bool,
    /// Days that the membership is paid for, from today; none: never paid.
    pub paid: Option<i64>,
    pub banned: bool,
    /// Signs for others. A founder was appointed a first signer when the site opened.
    pub staff: Staff,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Staff {
    No,
    Yes,
    Founder,
    /// Whose safety training is too long ago.
    Lapsed,
}

const STATIC_3: &[Target] = &[("Flyer", "3", "Static")];
const FIRST: &[Target] = &[("Flyer", "1", "")];
const SECOND: &[Target] = &[("Flyer", "2", "Backflying")];

const FLYER: Part = Part {
    role: Role::Member,
    username: None,
    targets: SECOND,
    end: End::Held,
    last: Some(-3),
    flights_a_year: 26,
    confirmed: true,
    paid: Some(200),
    banned: false,
    staff: Staff::No,
};
const STAFF: Part = Part { staff: Staff::Yes, last: Some(-1), flights_a_year: 60, paid: Some(300), ..FLYER };

const fn last(day: i64) -> Part {
    Part { last: Some(day), flights_a_year: 8, paid: Some(90), ..FLYER }
}

const fn account(role: Role, username: &'static str) -> Part {
    Part { role, username: Some(username), targets: &[], last: None, flights_a_year: 0, paid: None, ..FLYER }
}

const fn staff(targets: &'static [Target]) -> Part {
    Part { targets, ..STAFF }
}

/// Where the admin and the desk are in the cast.
pub(super) const ADMIN: usize = 0;
pub(super) const DESK: usize = 1;

/// In the order of their numbers.
pub(super) const CAST: &[Part] = &[
    account(Role::Admin, "admin"),
    account(Role::Desk, "desk"),
    account(Role::Sync, "sync"),
    // The first flyer: the one that examples sign in as.
    Part { targets: STATIC_3, flights_a_year: 52, last: Some(-2), ..FLYER },
    // Who signs.
    Part {
        targets: &[("Flyer", "5", "Static"), ("Instructor", "4", ""), ("Examiner", "1", ""), ("Military", "1", "")],
        staff: Staff::Founder,
        ..STAFF
    },
    Part {
        targets: &[
            ("Flyer", "5", "Dynamic"),
            ("Flyer", "4", "Formation"),
            ("Instructor", "4", ""),
            ("Trainer", "4", ""),
            ("Military", "1", ""),
        ],
        staff: Staff::Founder,
        ..STAFF
    },
    staff(&[("Flyer", "4", "Dynamic"), ("Trainer", "3", "")]),
    staff(&[("Flyer", "4", "Static"), ("Instructor", "4", ""), ("Trainer", "2", "")]),
    staff(&[("Flyer", "4", "Formation"), ("Trainer", "1", "")]),
    staff(&[("Flyer", "5", "Static"), ("Flyer", "3", "Dynamic"), ("Instructor", "4", "")]),
    staff(&[("Flyer", "3", "Static"), ("Instructor", "3", "")]),
    staff(&[("Flyer", "3", "Dynamic"), ("Instructor", "2", "")]),
    staff(&[("Flyer", "2", "Formation"), ("Instructor", "1", "")]),
    Part { targets: &[("Instructor", "2", "")], staff: Staff::Lapsed, last: Some(-40), ..STAFF },
    staff(&[("Flyer", "3", "Formation"), ("Coach", "1", "")]),
    staff(&[("AFC", "1", "")]),
    staff(&[("Military", "1", "")]),
    // Flyers in every state.
    Part { targets: &[("Flyer", "4", "Dynamic")], flights_a_year: 52, last: Some(-1), ..FLYER },
    Part { targets: &[("Flyer", "3", "Formation")], last: Some(-6), ..FLYER },
    Part { targets: FIRST, last: Some(-9), flights_a_year: 12, ..FLYER },
    last(-149),
    last(-151),
    last(-171),
    last(-173),
    last(-179),
    last(-181),
    last(-260),
    Part { paid: Some(-12), last: Some(-14), ..FLYER },
    Part { paid: None, targets: FIRST, last: Some(-8), ..FLYER },
    Part { confirmed: false, targets: &[], last: Some(-1), flights_a_year: 2, paid: None, ..FLYER },
    Part { confirmed: false, targets: &[], last: None, flights_a_year: 0, paid: None, ..FLYER },
    Part { banned: true, last: Some(-20), ..FLYER },
    Part { targets: STATIC_3, end: End::Pending, last: Some(-1), ..FLYER },
    Part { targets: FIRST, end: End::Pending, last: Some(-2), flights_a_year: 12, paid: None, ..FLYER },
    Part { targets: SECOND, end: End::Denied, last: Some(-4), ..FLYER },
    Part { targets: SECOND, end: End::Suspended, last: Some(-5), ..FLYER },
    Part { targets: &[], last: Some(-7), flights_a_year: 6, paid: None, ..FLYER },
    Part { targets: &[], last: None, flights_a_year: 0, paid: None, ..FLYER },
];
