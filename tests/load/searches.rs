//! Search terms with which a clerk finds a member.

use crate::desk::open;
use std::path::Path;

/// The number of people to find, from all parts of the list.
const WANTED: i64 = 64;

/// Number, name, address and telephone number.
type Person = (i64, String, String, String);

/// Search terms by kind: by what the clerk knows of the member.
pub fn searches(dir: &Path) -> Result<Vec<(&'static str, Vec<String>)>, String> {
    let sql = "SELECT member_id, real_name, email, phone FROM members WHERE role = 'member' AND member_id % (SELECT max(member_id) / ?1 FROM members) = 7";
    let conn = open(dir)?;
    let read = || -> rusqlite::Result<Vec<Person>> {
        let mut prepared = conn.prepare(sql)?;
        let rows = prepared.query_map([WANTED], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
        rows.collect()
    };
    let people = read().map_err(|e| e.to_string())?;
    let asked = |typed: &dyn Fn(&Person) -> Option<String>| -> Vec<String> {
        people.iter().filter_map(typed).map(|typed| format!("/desk/members?part=found&q={}", encoded(&typed))).collect()
    };
    let begun = |letters: usize| {
        asked(&move |(_, name, ..)| Some(name.chars().take(letters).collect::<String>().trim().to_owned()))
    };
    let last = |name: &str| name.split(' ').next_back().map(str::to_owned);
    Ok(vec![
        ("search: one letter", begun(1)),
        ("search: two letters", begun(2)),
        ("search: three letters", begun(3)),
        ("search: five letters", begun(5)),
        ("search: first and last name", asked(&|(_, name, ..)| Some(name.clone()))),
        ("search: last name, two letters turned", asked(&|(_, name, ..)| turned(&last(name)?))),
        ("search: both names, a letter missing", asked(&|(_, name, ..)| missing(name))),
        ("search: a part of a word", asked(&|(_, name, ..)| last(name)?.get(1..5).map(str::to_owned))),
        (
            "search: the end of a telephone number",
            asked(&|(.., phone)| phone.get(phone.len().checked_sub(6)?..).map(str::to_owned)),
        ),
        (
            "search: three digits of a telephone number",
            asked(&|(.., phone)| phone.get(phone.len().checked_sub(3)?..).map(str::to_owned)),
        ),
        (
            "search: the beginning of an e-mail address",
            asked(&|(_, _, email, _)| Some(email.split_once('@')?.0.to_owned() + "@")),
        ),
        ("search: a number", asked(&|(id, ..)| Some(id.to_string()))),
        ("search: nobody", asked(&|(id, ..)| Some(format!("xqzv{id} wvkk")))),
    ])
}

/// The word with its third and fourth letter swapped.
fn turned(word: &str) -> Option<String> {
    let mut letters: Vec<char> = word.chars().collect();
    (letters.len() > 4).then(|| letters.swap(2, 3))?;
    Some(letters.into_iter().collect())
}

/// The name without the fourth letter from its end.
fn missing(name: &str) -> Option<String> {
    let mut letters: Vec<char> = name.chars().collect();
    letters.remove(letters.len().checked_sub(4)?);
    Some(letters.into_iter().collect())
}

fn encoded(text: &str) -> String {
    text.bytes()
        .map(|b| if b.is_ascii_alphanumeric() { (b as char).to_string() } else { format!("%{b:02X}") })
        .collect()
}
