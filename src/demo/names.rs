//! Invented names, addresses and telephone numbers: mail domains are those reserved for examples, telephone numbers those
//! kept for fiction where a country has such numbers.

use super::data::{NATIONS, PEOPLE};
use super::rng::Rng;
use crate::domain::unicode::folded;
use crate::store::engine::bulk::Member;
use std::collections::HashMap;

const DOMAINS: [&str; 3] = ["example.org", "example.net", "example.com"];

/// Draws names, no username twice.
#[derive(Default)]
pub(super) struct Names {
    /// How many members have each username, by the username without the number behind it.
    taken: HashMap<String, u32>,
}

impl Names {
    /// A member with a new name, and nothing but a name, an address and a number. A given `username` must not look like
    /// a name.
    pub(super) fn draw(&mut self, rng: &mut Rng, username: Option<&str>) -> Member<'static> {
        let nation = rng.weighted(&NATIONS, |nation| nation.weight);
        let (first, last) = (rng.pick(&nation.first).as_str(), rng.pick(&nation.last).as_str());
        let (short_first, short_last) = (plain(first), plain(last));
        let handle = match (username, rng.below(8)) {
            (Some(username), _) => username.to_owned(),
            (None, 0 | 1) => format!("{}{short_last}", &short_first[..1]),
            (None, 2) => format!("{short_first}_{short_last}"),
            (None, _) => format!("{short_first}.{short_last}"),
        };
        let namesakes = self.taken.entry(handle.clone()).or_insert(0);
        *namesakes += 1;
        let username = if *namesakes == 1 { handle } else { format!("{handle}{namesakes}") };
        let screen_name = match rng.below(4) {
            0 => rng.pick(&PEOPLE.nicknames).clone(),
            1 => first.to_owned(),
            _ => format!("{first} {}.", last.chars().next().unwrap_or('X').to_uppercase()),
        };
        let mut digit = |c| if c == '#' { (b'0' + rng.below(10) as u8) as char } else { c };
        // The product stores numbers in E.164, so that the search finds them however they are typed.
        let digits: String = nation.phone.chars().map(&mut digit).filter(char::is_ascii_digit).collect();
        let phone = format!("+{}{digits}", nation.code);
        Member {
            real_name: format!("{first} {last}"),
            screen_name,
            email: format!("{username}@{}", rng.pick(&DOMAINS)),
            username,
            phone,
            country: &nation.country,
            country_code: &nation.code,
            ..Member::default()
        }
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
        let (mut names, mut rng) = (Names::default(), Rng::new(1, 1));
        let mut seen = HashSet::new();
        for _ in 0..5000 {
            let Member { username, email, phone, country, .. } = names.draw(&mut rng, None);
            assert!(username::parse(&username).is_ok() && email::parse(&email).is_ok(), "{username} {email}");
            assert!(seen.insert(username.to_ascii_lowercase()), "{username} is there twice");
            assert!(
                phone.len() <= 16 && phone[1..].bytes().all(|b| b.is_ascii_digit()) && country.len() == 2,
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
