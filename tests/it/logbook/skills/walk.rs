//! Random operations by all people in any order, over HTTP: no entry is open unless a qualified, current, listed other
//! person signed it.

use super::{SKILLS, act, path};
use crate::bad_input::dice::Dice;
use crate::harness::{Caller, Site};
use serde_json::json;

const STEPS: usize = 800;
const SKILL_NUMBERS: [&str; 10] =
    ["10101", "10102", "10103", "10104", "10105", "10106", "10107", "10108", "10109", "10110"];

struct Walk {
    site: Site,
    /// The holder, then two signers, a member who is not a signer, the desk and an admin.
    people: Vec<Caller>,
    /// Whether each signer is on the list now.
    able: [bool; 2],
    entries: Vec<i64>,
}

impl Walk {
    fn new() -> Walk {
        let site = Site::open();
        let jane = site.member("jane");
        site.brief(&jane, "Flyer");
        let signers = ["ines", "otto"].map(|name| site.signer(name, &[("Instructor", "2")]));
        let people = [vec![jane], signers.into(), vec![site.member("mark"), site.desk(), site.admin()]].concat();
        Walk { site, people, able: [true; 2], entries: Vec::new() }
    }

    fn act(&mut self, dice: &mut Dice) {
        let who = self.people[dice.below(self.people.len())].clone();
        let entry_id = if self.entries.is_empty() { 1 } else { self.entries[dice.below(self.entries.len())] };
        let signer = &self.people[1 + dice.below(2)];
        let skill = SKILL_NUMBERS[dice.below(SKILL_NUMBERS.len())];
        let comment = json!({"comments_instructor": "seen", "comment_denial": "late"});
        let made = match dice.below(15) {
            0 | 1 => {
                let wish = json!({"skill": skill, "entry_date": self.site.now(), "instructor": signer.id});
                who.post(SKILLS, wish)
            }
            2 => {
                let seen = json!({"skill": skill, "entry_date": self.site.now(), "member_id": self.people[0].id});
                who.post(SKILLS, seen)
            }
            3 => who.put(&path(entry_id), json!({"status": "open"})),
            4 => who.put(&path(entry_id), json!({"comments_instructor": "seen"})),
            5 => who.put(&path(entry_id), json!({"comment_denial": "late"})),
            6 => who.put(&path(entry_id), json!({"status": "cancelled"})),
            7 => who.put(&path(entry_id), json!({"skill": skill, "instructor": signer.id})),
            8 | 9 => who.post(&act(entry_id, "sign"), &comment),
            10 => who.post(&act(entry_id, "deny"), &comment),
            11 => who.post(&act(entry_id, "suspend"), &comment),
            12 => who.post(&act(entry_id, "reinstate"), &comment),
            13 => who.delete(&format!("/account/logbook/{entry_id}")),
            _ => return self.toggle(dice.below(2)),
        };
        if made.status == 201 {
            self.entries.extend(made.json()["entry_id"].as_i64());
        }
    }

    /// Takes a signer off the list, or puts the signer back.
    fn toggle(&mut self, which: usize) {
        let signer = self.people[1 + which].clone();
        if self.able[which] {
            self.site.unlist(&signer);
        } else {
            let sql = "UPDATE signers SET ended_at = NULL WHERE member_id = ?1";
            self.site.change(|tx| Ok(tx.run(sql, [signer.id])?));
        }
        self.able[which] = !self.able[which];
    }
}

#[test]
fn no_walk_opens_an_entry_without_a_signer_who_may() {
    let mut walk = Walk::new();
    let mut dice = Dice::new(20_261_121, "walk");
    let (mut signed, mut seen) = (0, std::collections::BTreeMap::<i64, usize>::new());
    for step in 0..STEPS {
        let able = walk.able;
        walk.act(&mut dice);
        for entry_id in walk.entries.clone() {
            let events = walk.site.events(entry_id);
            let known = seen.insert(entry_id, events.len()).unwrap_or(0);
            for one in &events[known..] {
                let [from, to, by]: [&str; 3] = one.split(' ').collect::<Vec<_>>().try_into().unwrap();
                let signer = walk.people.iter().position(|person| person.id.to_string() == by).unwrap();
                match (from, to) {
                    ("-" | "pending", "open") => {
                        assert!((1..=2).contains(&signer) && able[signer - 1], "step {step}: {one} by {signer}");
                        signed += 1;
                    }
                    ("suspended", "open") | ("open", "suspended") => assert_eq!(signer, 5, "step {step}: {one}"),
                    ("-", "pending")
                    | ("denied", "pending")
                    | ("pending", "denied" | "cancelled" | "deleted")
                    | ("denied" | "cancelled", "deleted") => {}
                    other => panic!("step {step}: no such move: {other:?}"),
                }
            }
        }
    }
    assert!(signed >= 5, "the walk got nowhere: {signed} signatures");
}
