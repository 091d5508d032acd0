//! Names, addresses and telephone numbers that could be somebody's and are nobody's: mail domains are those that are
//! reserved for examples, telephone numbers those that are kept for fiction where a country has them.

use super::rng::Rng;
use serde::Deserialize;
use std::collections::HashMap;

const DOMAINS: [&str; 3] = ["example.org", "example.net", "example.com"];
#[rustfmt::skip]
const NICKNAMES: [&str; 16] = [
    "Windy", "Gecko", "Falcon", "Pebble", "Turbo", "Mistral", "Swift", "Kite", "Bubble", "Cloud9", "Ninja", "Moth", "Rocket", "Zephyr",
    "Otter", "Spin",
];

#[derive(Deserialize)]
struct Nation {
    country: String,
    code: String,
    /// `#` stands for any digit.
    phone: String,
    weight: u64,
    first: Vec<String>,
    last: Vec<String>,
}

/// Somebody's name, as small as it can be kept: a large site has a million of them.
#[derive(Clone, Copy)]
pub(super) struct Name {
    nation: u8,
    first: u8,
    last: u8,
    /// How many had the same username before.
    namesakes: u32,
    /// Chooses among the ways to write it.
    taste: u32,
    username: Option<&'static str>,
}

pub(super) struct Spelled {
    pub real_name: String,
    pub screen_name: String,
    pub username: String,
    pub email: String,
    pub phone: String,
    pub country: String,
    pub country_code: String,
}

pub(super) struct Names {
    nations: Vec<Nation>,
    weights: Vec<u64>,
    taken: HashMap<String, u32>,
}

impl Names {
    pub(super) fn new() -> Names {
        let nations: Vec<Nation> =
            serde_json::from_str(include_str!("../../assets/demo/names.json")).expect("the names are sound JSON");
        let weights = nations.iter().map(|nation| nation.weight).collect();
        Names { nations, weights, taken: HashMap::new() }
    }

    /// A new name; nobody else has its username. A `username` of one's own must not look like a name.
    pub(super) fn draw(&mut self, rng: &mut Rng, username: Option<&'static str>) -> Name {
        let nation = rng.weighted(&self.weights);
        let Nation { first, last, .. } = &self.nations[nation];
        let (first, last) = (rng.below(first.len() as u64) as u8, rng.below(last.len() as u64) as u8);
        let mut name = Name { nation: nation as u8, first, last, namesakes: 0, taste: rng.next() as u32, username };
        let namesakes = self.taken.entry(self.handle(&name)).or_insert(0);
        name.namesakes = *namesakes;
        *namesakes += 1;
        name
    }

    fn parts(&self, name: &Name) -> (&Nation, &str, &str) {
        let nation = &self.nations[name.nation as usize];
        (nation, &nation.first[name.first as usize], &nation.last[name.last as usize])
    }

    /// The username without a number behind it.
    fn handle(&self, name: &Name) -> String {
        if let Some(own) = name.username {
            return own.to_owned();
        }
        let (_, first, last) = self.parts(name);
        let (first, last) = (plain(first), plain(last));
        match name.taste % 8 {
            0 | 1 => format!("{}{last}", &first[..1]),
            2 => format!("{first}_{last}"),
            _ => format!("{first}.{last}"),
        }
    }

    pub(super) fn email(&self, name: &Name) -> String {
        format!("{}@{}", self.username(name), DOMAINS[(name.taste >> 8) as usize % DOMAINS.len()])
    }

    fn username(&self, name: &Name) -> String {
        let number = if name.namesakes == 0 { String::new() } else { (name.namesakes + 1).to_string() };
        self.handle(name) + &number
    }

    pub(super) fn spell(&self, name: &Name) -> Spelled {
        let (nation, first, last) = self.parts(name);
        let screen_name = match (name.taste >> 12) % 4 {
            0 => NICKNAMES[(name.taste >> 16) as usize % NICKNAMES.len()].to_owned(),
            1 => first.to_owned(),
            _ => format!("{first} {}.", last.chars().next().unwrap_or('X').to_uppercase()),
        };
        let mut digits = Rng::new(u64::from(name.taste), u64::from(name.namesakes));
        let digit = |c| if c == '#' { (b'0' + digits.below(10) as u8) as char } else { c };
        Spelled {
            real_name: format!("{first} {last}"),
            screen_name,
            username: self.username(name),
            email: self.email(name),
            phone: format!("+{} {}", nation.code, nation.phone.chars().map(digit).collect::<String>()),
            country: nation.country.clone(),
            country_code: nation.code.clone(),
        }
    }
}

/// In the letters that usernames have.
fn plain(name: &str) -> String {
    let mut plain = String::with_capacity(name.len());
    for letter in name.to_lowercase().chars() {
        match letter {
            'a'..='z' => plain.push(letter),
            'ä' => plain.push_str("ae"),
            'ö' => plain.push_str("oe"),
            'ü' => plain.push_str("ue"),
            'á' | 'à' | 'å' | 'ą' => plain.push('a'),
            'é' | 'è' | 'ê' => plain.push('e'),
            'í' => plain.push('i'),
            'ł' => plain.push('l'),
            'ñ' | 'ń' => plain.push('n'),
            'ó' => plain.push('o'),
            'ú' => plain.push('u'),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{email, username};
    use std::collections::HashSet;

    #[test]
    fn every_name_gives_an_account_that_sign_up_would_take() {
        let (mut names, mut rng) = (Names::new(), Rng::new(1, 1));
        let mut seen = HashSet::new();
        for _ in 0..5000 {
            let name = names.draw(&mut rng, None);
            let Spelled { username, email, phone, country, .. } = names.spell(&name);
            assert!(username::parse(&username).is_ok() && email::parse(&email).is_ok(), "{username} {email}");
            assert!(seen.insert(username.to_ascii_lowercase()), "{username} is there twice");
            assert!(phone.len() <= 32 && !phone.contains('#') && country.len() == 2);
        }
    }

    #[test]
    fn no_letter_of_a_name_is_lost() {
        for nation in Names::new().nations {
            for name in nation.first.iter().chain(&nation.last) {
                let letters = name.chars().filter(|c| c.is_alphabetic()).count();
                assert!(plain(name).len() >= letters, "{name} becomes {}", plain(name));
            }
        }
    }
}
