//! The state of one member by the rules: passwords, passcodes, answers, failed attempts.

use crate::bad_input::dice::Dice;
use crate::harness::{Caller, PASSWORD, Site};
use std::collections::BTreeMap;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::security_answers;

const TRIES: i64 = 5;

pub type Answers = &'static [(i64, &'static str)];
/// The answers to recovery questions: Jane answered two, Mark one, and Ann, whom the desk signed up, none.
pub const ANSWERED: [Answers; 3] = [&[(3, "volvo"), (9, "the north wind")], &[(3, "saab")], &[]];
pub const JANE: usize = 0;

/// A passcode as received in the member's mailbox.
pub struct Sent {
    pub text: String,
    pub to: String,
    pub until: i64,
    pub tries: i64,
}

/// The state of one member by the rules.
pub struct Person {
    /// A caller whose session is in force unless the member is banned.
    pub caller: Caller,
    pub answered: Answers,
    pub email: String,
    pub phone: Option<&'static str>,
    pub password: String,
    /// The hash of the password in the database.
    pub hash: String,
    pub banned: bool,
    /// Live passcodes, by template.
    pub live: BTreeMap<&'static str, Sent>,
    pub last_message: i64,
    /// By the typed name.
    counters: BTreeMap<String, Counter>,
}

/// The failed attempts under a name, and the resulting delay.
#[derive(Default)]
struct Counter {
    misses: i64,
    missed_at: i64,
    closed_until: i64,
}

impl Counter {
    fn miss(&mut self, now: i64) {
        self.misses = (self.misses >> ((now - self.missed_at) / 900).min(63)) + 1;
        self.missed_at = now;
        self.closed_until = now + if self.misses < 5 { 0 } else { 1 << (self.misses - 5).min(9) };
    }
}

impl Person {
    /// Whether attempts under one of the member's names are delayed.
    pub fn is_delayed(&self, name: &str, now: i64) -> bool {
        self.counters.get(&name.to_lowercase()).is_some_and(|counter| now < counter.closed_until)
    }

    pub fn miss(&mut self, name: &str, now: i64) {
        self.counters.entry(name.to_lowercase()).or_default().miss(now);
    }

    /// A sign-in ends the delays of the username and the address.
    pub fn forget_misses(&mut self) {
        [self.caller.name.to_lowercase(), self.email.to_lowercase()]
            .iter()
            .for_each(|name| _ = self.counters.remove(name));
    }

    /// Checks a passcode of a purpose against the live one; a wrong one costs a try. Returns the address to which a
    /// right one was sent.
    pub fn take(&mut self, purpose: &str, text: &str, now: i64) -> Option<String> {
        let live = self.live.get_mut(purpose).filter(|sent| now < sent.until)?;
        if live.text == text {
            return self.live.remove(purpose).map(|sent| sent.to);
        }
        self.spend_try(purpose, now);
        None
    }

    pub fn spend_try(&mut self, purpose: &str, now: i64) {
        let Some(live) = self.live.get_mut(purpose).filter(|sent| now < sent.until) else { return };
        live.tries += 1;
        if live.tries >= TRIES {
            self.live.remove(purpose);
        }
    }

    pub fn is_reached_at(&self, to: &str) -> bool {
        self.email == to || self.phone == Some(to)
    }

    /// Whether every question of the member is answered correctly. Answers to other questions do not matter.
    pub fn answers_are_right(&self, given: &BTreeMap<i64, String>) -> bool {
        let plain = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        self.answered.iter().all(|(question, answer)| given.get(question).map(plain).as_deref() == Some(answer))
    }
}

pub fn person(site: &Site, name: &str, answered: Answers, dice: &mut Dice) -> Person {
    let caller = site.member(name);
    for (question, answer) in answered {
        let phc = site.inside().hash(answer);
        site.change(|tx| Ok(security_answers::set(tx, MemberId(caller.id), *question, &phc)?));
    }
    let phone = dice.one_in(2).then_some("+41790000000");
    if phone.is_some() {
        site.confirm_phone(&caller);
    }
    Person {
        email: format!("{name}@example.com"),
        hash: hash_of(site, caller.id),
        caller,
        answered,
        phone,
        password: PASSWORD.to_owned(),
        banned: false,
        live: BTreeMap::new(),
        last_message: 0,
        counters: BTreeMap::new(),
    }
}

pub fn hash_of(site: &Site, member_id: i64) -> String {
    let sql = "SELECT password_hash FROM members WHERE member_id = ?1";
    site.read(|tx| Ok(tx.get(sql, [member_id])?))
}
