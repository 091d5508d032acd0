//! The data of the demo: `assets/demo/people.json` has the cast, the habits of the crowd and the texts that people
//! write; `assets/demo/names.json` has the names. Days are counted from today, which is day 0.

use super::levels::Climb;
use crate::domain::role::Role;
use serde::Deserialize;
use std::sync::LazyLock;

pub(super) static PEOPLE: LazyLock<People> =
    LazyLock::new(|| parse("people.json", include_str!("../../assets/demo/people.json")));
pub(super) static NATIONS: LazyLock<Vec<Nation>> =
    LazyLock::new(|| parse("names.json", include_str!("../../assets/demo/names.json")));

fn parse<T: serde::de::DeserializeOwned>(name: &str, json: &str) -> T {
    serde_json::from_str(json).unwrap_or_else(|e| panic!("assets/demo/{name}: {e}"))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct People {
    /// The members of every demo site, in the order of their numbers: one in every state, and all who sign.
    pub cast: Vec<Person>,
    pub habits: Vec<Habit>,
    pub flight_comments: Vec<String>,
    pub denials: Vec<String>,
    pub praise: Vec<String>,
    pub nicknames: Vec<String>,
}

/// A person: written in the file, or drawn for the crowd.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Person {
    /// The special state of the person on the day on which the site is made; empty in the crowd.
    pub state: String,
    pub role: Role,
    /// An account name that is easier to remember than an invented one.
    pub username: Option<String>,
    pub staff: Option<Staff>,
    pub joined: i64,
    /// The day of the last flight; `None`: the person never flew.
    pub last_day: Option<i64>,
    pub flights_a_year: u64,
    /// The levels that the person climbs to, like `Flyer 3 Static`, with all that each requires.
    pub levels: Vec<String>,
    /// How the last of the levels ends.
    pub end: LevelEnd,
    /// The day up to which the membership is paid.
    pub paid_until: Option<i64>,
    pub unconfirmed: bool,
    pub banned: bool,
    #[serde(skip)]
    pub climbs: Vec<Climb>,
    /// Flights in addition to those of the days that are certain.
    #[serde(skip)]
    pub free_flights: u64,
}

/// A member who signs for others.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Staff {
    Regular,
    /// Appointed when the site opened; stands in for levels until the staff hold levels of their own.
    Founder,
    /// A signer whose last safety training is too old.
    Lapsed,
}

/// How the second half of a level ends: held, not begun, waiting for its signature, or with one skill refused, suspended by
/// the admin, or withdrawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LevelEnd {
    #[default]
    Held,
    Training,
    Pending,
    Denied,
    Suspended,
    Cancelled,
}

/// How a part of the crowd flies.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Habit {
    /// Flights a year; 0: one flight in all.
    pub flights_a_year: u64,
    /// The share of all people, in proportion to the other weights.
    pub weight: u64,
    /// Of a hundred people with this habit, how many climb to one of the goals.
    pub ambitious_percent: u64,
    /// The most days since the last flight of a person who still comes.
    pub pause_days_max: i64,
    pub goals: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nation {
    pub country: String,
    /// The calling code of the country.
    pub code: String,
    /// A telephone number in which `#` stands for any digit.
    pub phone: String,
    pub weight: u64,
    pub first: Vec<String>,
    pub last: Vec<String>,
}
