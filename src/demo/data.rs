//! The invented people as data: `assets/demo/people.json` has the cast, the habits of everybody else and what people write;
//! `assets/demo/names.json` has the names. Days are counted from today, which is day 0.

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
    /// The members of every demo site, whatever its size, in the order of their numbers: one in every state, and all who sign.
    pub cast: Vec<Part>,
    pub habits: Vec<Habit>,
    pub flight_comments: Vec<String>,
    pub denials: Vec<String>,
    pub praise: Vec<String>,
    pub nicknames: Vec<String>,
}

/// One member of the cast.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Part {
    /// What is special about the member on the day on which the site is made.
    pub state: String,
    pub role: Role,
    /// For an account that is easier to remember than a name.
    pub username: Option<String>,
    pub staff: Option<Staff>,
    /// The levels that are climbed, `Flyer 3 Static`, with all that each requires.
    pub levels: Vec<String>,
    /// How the last of the levels ends.
    pub end: End,
    pub flights_a_year: u64,
    /// The day of the last flight.
    pub last_day: Option<i64>,
    /// The day up to which the membership is paid.
    pub paid_days: Option<i64>,
    pub unconfirmed: bool,
    pub banned: bool,
}

/// A member who signs for others.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Staff {
    Regular,
    /// Appointed when the site opened, and stands in for levels until they are held.
    Founder,
    /// Whose safety training is too long ago.
    Lapsed,
}

/// How the second half of a level ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum End {
    #[default]
    Held,
    /// The second half has not begun.
    Training,
    /// The second half waits for its signature.
    Pending,
    /// One skill was refused.
    Denied,
    /// One skill was suspended by the admin.
    Suspended,
    /// One request was withdrawn.
    Cancelled,
}

/// How a part of the crowd flies.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Habit {
    /// 0: once, and never again.
    pub flights_a_year: u64,
    /// Of all people, so many in proportion.
    pub weight: u64,
    /// Of the people with this habit, so many of a hundred climb one of the goals.
    pub ambitious_percent: u64,
    /// How many days ago the last flight of those who still come is at most.
    pub pause_days_max: i64,
    pub goals: Vec<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nation {
    pub country: String,
    /// The calling code.
    pub code: String,
    /// `#` stands for any digit.
    pub phone: String,
    pub weight: u64,
    pub first: Vec<String>,
    pub last: Vec<String>,
}
