//! Invented names, addresses and telephone numbers from `assets/demo/names.json`: mail domains are those reserved for
//! examples, telephone numbers those kept for fiction where a country has such numbers.

use super::rng::Rng;
use crate::domain::ids::MemberId;
use crate::domain::unicode::folded;
use serde::Deserialize;
use std::sync::LazyLock;

const DOMAINS: [&str; 3] = ["example.org", "example.net", "example.com"];

static NATIONS: LazyLock<Vec<Nation>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("../../assets/demo/names.json")).expect("a test reads assets/demo/names.json")
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nation {
    pub country: &'static str,
    /// The calling code of the country.
    pub code: &'static str,
    /// A telephone number in which `#` stands for any digit.
    phone: &'static str,
    weight: u64,
    #[serde(borrow)]
    first: Vec<&'static str>,
    #[serde(borrow)]
    last: Vec<&'static str>,
}

pub(super) struct Name {
    pub username: String,
    pub screen_name: String,
    pub real_name: String,
    pub email: String,
    /// In E.164, as the product stores numbers.
    pub phone: String,
    pub nation: &'static Nation,
}

/// Draws a name. An empty `username` becomes one of the name and the member's number, so that no two are equal.
pub(super) fn draw(rng: &mut Rng, member_id: MemberId, username: &str) -> Name {
    let nation = rng.weighted(&NATIONS, |nation| nation.weight);
    let (first, last) = (rng.pick(&nation.first), rng.pick(&nation.last));
    let username = match username {
        "" => format!("{}.{}{member_id}", plain(first), plain(last)),
        given => given.to_owned(),
    };
    let digit = |c| if c == '#' { (b'0' + rng.below(10) as u8) as char } else { c };
    let digits: String = nation.phone.chars().map(digit).filter(char::is_ascii_digit).collect();
    Name {
        screen_name: format!("{first} {}.", last.chars().next().unwrap_or('X').to_uppercase()),
        real_name: format!("{first} {last}"),
        email: format!("{username}@{}", rng.pick(&DOMAINS)),
        phone: format!("+{}{digits}", nation.code),
        username,
        nation,
    }
}

/// The letters of a name as usernames have them.
fn plain(name: &str) -> String {
    folded(name).replace('ł', "l").chars().filter(char::is_ascii_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{email, username};
    use std::collections::HashSet;

    #[test]
    fn every_name_gives_an_account_that_sign_up_would_take() {
        let mut rng = Rng::new(1);
        let mut seen = HashSet::new();
        for number in (1..=5000).map(MemberId) {
            let Name { username, email, phone, nation, .. } = draw(&mut rng, number, "");
            assert!(username::parse(&username).is_ok() && email::parse(&email).is_ok(), "{username} {email}");
            assert!(seen.insert(username.to_ascii_lowercase()), "{username} is there twice");
            assert!(
                phone.len() <= 16 && phone[1..].bytes().all(|b| b.is_ascii_digit()) && nation.country.len() == 2,
                "{phone}"
            );
        }
    }

    #[test]
    fn no_letter_of_a_name_is_lost() {
        for nation in NATIONS.iter() {
            for name in nation.first.iter().chain(&nation.last) {
                let letters = name.chars().filter(|c| c.is_alphabetic()).count();
                assert!(plain(name).len() >= letters, "{name} becomes {}", plain(name));
            }
        }
    }
}
