//! Skill entries by the rules: requests, signatures, changes of state, and what each reader sees.

mod asking;
mod deleting;
mod listing;
mod opening;
mod recording;
mod safety;
mod seen;
mod signing;
mod walk;

use crate::harness::{Caller, Site};
use serde_json::{Value, json};

pub const SKILLS: &str = "/account/logbook/skills/";
const DAY: i64 = 86_400;

/// A member with a safety brief, and an instructor who may sign every skill of the Flyer programme.
pub fn learner_and_instructor(site: &Site) -> (Caller, Caller) {
    let (jane, ines) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    (jane, ines)
}

pub fn wish(site: &Site, skill: &str, instructor: &Caller) -> Value {
    json!({ "skill": skill, "entry_date": site.now(), "instructor": instructor.id.to_string(), "tunnel": "7" })
}

/// Asks for a skill and returns the number of the entry.
fn ask(site: &Site, member: &Caller, skill: &str, instructor: &Caller) -> i64 {
    member.post(SKILLS, wish(site, skill, instructor)).ok().json()["entry_id"].as_i64().unwrap()
}

/// A member's skills in these states, without safety briefs and trainings.
fn list(reader: &Caller, status: &str, member: &Caller) -> Value {
    let rows = reader.get(&format!("{SKILLS}{status}/{}", member.id)).rows();
    rows.into_iter().filter(|row| row["kind"] != "safety").collect()
}

/// The number of rows of a list.
fn count(list: &Value) -> usize {
    list.as_array().expect("a list").len()
}

/// The only row of a member's list.
fn row(member: &Caller, entry_id: i64) -> Value {
    let all = list(member, "all", member);
    let found = all.as_array().unwrap().iter().find(|row| row["entry_id"] == entry_id).cloned();
    found.unwrap_or_else(|| panic!("{entry_id} is not listed"))
}

fn path(entry_id: i64) -> String {
    format!("{SKILLS}{entry_id}")
}

fn act(entry_id: i64, act: &str) -> String {
    format!("/account/logbook/entries/{entry_id}/{act}")
}
