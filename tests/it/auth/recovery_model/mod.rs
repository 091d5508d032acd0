//! A thousand random sequences of every operation of account recovery, each answer compared with a model of the rules.
//! A password changes in two ways: by a live passcode that was sent to its member for this purpose, with the answers to
//! that member's questions; or by a signed-in member who knows the present one. Nothing that the old password opened
//! survives the change.

mod beside;
mod person;

use super::passkeys::{Key, Page, done, refused, register, sign_in_question, verify};
use crate::bad_input::dice::Dice;
use crate::harness::{Caller, Passcode, Reply, Site, amount};
use person::{ANSWERED, JANE, Person, Sent, hash_of, person};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::bans;

const THREADS: u64 = 4;
const PASSCODE_SECONDS: i64 = 600;
const REQUESTS_AN_HOUR: usize = 5;
const PASSCODES_AN_HOUR: usize = 5;
/// The causes of passcodes, each with its own message quota in an hour and in a day. All sequences ask for recoveries from
/// one network.
const RECOVERY: (&str, usize, usize) = ("recoveries by", 5, 8);
const OWN: (&str, usize, usize) = ("asked for by", 5, 10);

const RECOVER: &str = "/auth/account-access/recover-password";
const CHANGE: &str = "/account/profile/change-password";
const USER: &str = "/account/profile/user";

/// A session, a booking token and a challenge opened with the present password, which must end with it.
struct Opened {
    session: Caller,
    booking: Caller,
    question: Value,
}

#[derive(Default, Clone, Copy)]
struct Tally {
    recovered: usize,
    refused: usize,
    told: usize,
    changed: usize,
    closed: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.recovered += other.recovered;
        self.refused += other.refused;
        self.told += other.told;
        self.changed += other.changed;
        self.closed += other.closed;
    }
}

struct Sequence<'a> {
    site: &'a Site,
    partner: &'a Caller,
    dice: Dice,
    people: Vec<Person>,
    /// The passkey of Jane, made when it is first needed.
    key: Option<Key>,
    /// The times of messages, by address and by the name that was typed, for the hourly quota.
    sends: BTreeMap<String, Vec<i64>>,
    /// Every passcode that was ever sent.
    seen: Vec<String>,
    passwords: u64,
    done: Vec<String>,
    tally: Tally,
}

impl<'a> Sequence<'a> {
    fn new(site: &'a Site, partner: &'a Caller, seed: u64) -> Sequence<'a> {
        let mut dice = Dice::new(seed, "recovery");
        let names = ["jane", "mark", "ann"].map(|name| format!("{name}{seed}"));
        let people: Vec<Person> =
            names.iter().zip(ANSWERED).map(|(name, own)| person(site, name, own, &mut dice)).collect();
        let (sends, seen, done) = (BTreeMap::new(), Vec::new(), vec![format!("seed {seed}")]);
        Sequence { site, partner, dice, people, key: None, sends, seen, passwords: 0, done, tally: Tally::default() }
    }

    fn run(mut self) -> Tally {
        if !self.dice.one_in(4) {
            self.ask_of(JANE);
        }
        for _ in 0..3 + self.dice.below(4) {
            match self.dice.below(17) {
                0 => self.ask(),
                1..=3 => {
                    self.ask_of(JANE);
                    self.prove();
                }
                4..=6 => self.prove(),
                7 => self.ask_username(),
                8 => {
                    self.ask_username();
                    self.prove_username();
                }
                9 => (0..5).for_each(|_| self.prove_username()),
                10 => self.change_password(),
                11 => self.sign_in(),
                12 => self.move_mailbox(),
                13 => self.look_at_questions(),
                14 => self.ban_or_lift(),
                _ => self.wait(),
            }
        }
        self.conclude()
    }

    fn now(&self) -> i64 {
        self.site.now()
    }

    #[track_caller]
    fn expect(&self, right: bool, wanted: &str) {
        assert!(right, "at {}: {wanted}\n{}", self.now(), self.done.join("\n"));
    }

    /// Sends a request, and asserts that exactly the expected password changed.
    fn send(&mut self, caller: &Caller, path: &str, body: &Value, changes: Option<usize>) -> Reply {
        let reply = if path == CHANGE { caller.put(path, body) } else { caller.post(path, body) };
        self.done.push(format!("{path} {body} -> {} {}", reply.status, String::from_utf8_lossy(&reply.body)));
        for who in 0..self.people.len() {
            let hash = hash_of(self.site, self.people[who].caller.id);
            let changed = hash != self.people[who].hash;
            self.expect(changed == (changes == Some(who)), &format!("the password of {who} changed: {changed}"));
            self.people[who].hash = hash;
        }
        reply
    }

    /// One of the members, most often Jane, or `None`, with one of that member's names or an unknown one.
    fn somebody(&mut self) -> (Option<usize>, String) {
        let who = [JANE, JANE, JANE, JANE, 1, 2].get(self.dice.below(7)).copied();
        (who, self.name_of(who))
    }

    fn name_of(&mut self, who: Option<usize>) -> String {
        let form = self.dice.below(4);
        match who.map(|who| &self.people[who]) {
            None => format!("nobody{}", self.dice.below(2)),
            Some(person) if form == 0 => person.email.clone(),
            Some(person) if form == 1 => person.caller.name.to_uppercase(),
            Some(person) => person.caller.name.clone(),
        }
    }

    fn count_within(&mut self, key: String, seconds: i64) -> usize {
        let now = self.now();
        self.sends.entry(key.to_lowercase()).or_default().iter().filter(|at| now - **at < seconds).count()
    }

    /// Whether the quota of a member, over all addresses, or of an address allows another message of a cause.
    fn has_share(&mut self, (cause, an_hour, a_day): (&str, usize, usize), whose: &str) -> bool {
        let key = || format!("{cause} {whose}");
        self.count_within(key(), 3600) < an_hour && self.count_within(key(), 86_400) < a_day
    }

    /// Whether an address has room for another passcode that anybody can ask for.
    fn has_room(&mut self, address: &str) -> bool {
        self.count_within(format!("to {address}"), 3600) < PASSCODES_AN_HOUR
    }

    fn count_send(&mut self, key: String) {
        let now = self.now();
        self.sends.entry(key.to_lowercase()).or_default().push(now);
    }

    fn ask(&mut self) {
        let (who, name) = self.somebody();
        self.ask_by(who, name);
    }

    fn ask_of(&mut self, who: usize) {
        let name = self.name_of(Some(who));
        self.ask_by(Some(who), name);
    }

    fn ask_by(&mut self, who: Option<usize>, name: String) {
        let option = [None, Some("email"), Some("sms")][self.dice.below(3)];
        let body = json!({ "username": name, "option": option });
        let reply = self.send(&self.site.stranger(), RECOVER, &body, None);
        let person = who.map(|who| &self.people[who]);
        let to = if option == Some("sms") {
            person.and_then(|person| person.phone.map(str::to_owned))
        } else {
            person.map(|person| person.email.clone())
        };
        self.passcode_goes(&reply, who, name, to, "passcode_recover_password");
    }

    /// Expects a passcode to be sent, unless the quota of the name, the address or the member is used up. Only the
    /// name's quota shows in the answer, as 429.
    fn passcode_goes(
        &mut self,
        reply: &Reply,
        who: Option<usize>,
        name: String,
        to: Option<String>,
        purpose: &'static str,
    ) {
        if self.count_within(format!("name {name}"), 3600) >= REQUESTS_AN_HOUR {
            self.expect(reply.status == 429, "too many under this name");
            return self.nothing_goes(who);
        }
        self.count_send(format!("name {name}"));
        self.expect(reply.ok_json()["status"] == true, "the same for everybody");
        match (who, to) {
            (Some(who), Some(to))
                if !self.people[who].banned && self.has_room(&to) && self.has_share(RECOVERY, &to) =>
            {
                self.count_send(format!("{} {to}", RECOVERY.0));
                self.count_send(format!("to {to}"));
                self.arrives(who, to, purpose)
            }
            _ => self.nothing_goes(who),
        }
    }

    fn arrives(&mut self, who: usize, to: String, purpose: &'static str) {
        let until = self.now() + PASSCODE_SECONDS;
        let Some(got) = self.new_message(who) else { return self.expect(false, "a passcode goes out") };
        self.expect((&got.recipient, got.template.as_str()) == (&to, purpose), &format!("to {to}: {got:?}"));
        self.seen.push(got.passcode.clone());
        self.people[who].live.insert(purpose, Sent { text: got.passcode, to, until, tries: 0 });
    }

    fn nothing_goes(&mut self, who: Option<usize>) {
        let came = who.and_then(|who| self.new_message(who));
        self.expect(came.is_none(), &format!("nothing goes out: {came:?}"));
    }

    fn new_message(&mut self, who: usize) -> Option<Passcode> {
        let person = &mut self.people[who];
        let last = self.site.passcode_after(&person.caller, person.last_message)?;
        person.last_message = last.message_id;
        Some(last)
    }

    /// A passcode of any kind: live, used, of another purpose or member, or never seen.
    fn passcode(&mut self, who: Option<usize>, purpose: &str) -> String {
        let live = who.and_then(|who| self.people[who].live.get(purpose)).map(|sent| sent.text.clone());
        let seen = self.seen.get(self.dice.below(self.seen.len())).cloned();
        let found = match self.dice.below(10) {
            0..=6 => live.or(seen),
            7 | 8 => seen,
            _ => None,
        };
        found.unwrap_or_else(|| format!("{:06}", self.dice.below(1_000_000)))
    }

    fn answers(&mut self, who: Option<usize>) -> BTreeMap<i64, String> {
        let own = who.map_or(ANSWERED[JANE], |who| self.people[who].answered);
        let mut given: BTreeMap<i64, String> = own.iter().map(|(n, answer)| (*n, (*answer).to_owned())).collect();
        match self.dice.below(12) {
            0 => given.clear(),
            1 => _ = given.pop_last(),
            2 => given.values_mut().take(1).for_each(|answer| *answer = "another".to_owned()),
            3 => _ = given.insert(3, "saab".to_owned()),
            4 => given.values_mut().for_each(|answer| *answer = format!("  {} ", answer.to_uppercase())),
            5 => _ = given.insert(7, "never asked".to_owned()),
            _ => {}
        }
        given
    }

    /// A valid new password, or a missing or invalid one; and whether it is valid.
    fn wanted(&mut self) -> (Option<String>, bool) {
        self.passwords += 1;
        match self.dice.below(10) {
            0 => (Some("password".to_owned()), false),
            1 => (None, false),
            _ => (Some(format!("four dry socks in row {}", self.passwords)), true),
        }
    }

    fn prove(&mut self) {
        let (who, name) = self.somebody();
        let (passcode, given) = (self.passcode(who, "passcode_recover_password"), self.answers(who));
        let (wanted, good) = self.wanted();
        let mut body = Map::from_iter([("username".to_owned(), json!(name)), ("passcode".to_owned(), json!(passcode))]);
        body.extend(wanted.iter().map(|wanted| ("password".to_owned(), json!(wanted))));
        body.extend(given.iter().map(|(question, answer)| (format!("answer_{question}"), json!(answer))));
        let body = Value::Object(body);
        if !good {
            let reply = self.send(&self.site.stranger(), RECOVER, &body, None);
            // While attempts are delayed nothing is checked. The delays of unknown names are not in the model.
            let now = self.now();
            let closed = who.map(|who| self.people[who].is_delayed(&name, now));
            let delayed = reply.status == 200 && reply.json()["status"] == false;
            let fits = match (wanted, closed) {
                (None, _) | (Some(_), Some(false)) => reply.status == 422,
                (Some(_), Some(true)) => delayed,
                (Some(_), None) => delayed || reply.status == 422,
            };
            return self.expect(fits, "a password that will not do");
        }
        let due = who.filter(|who| self.is_proven(*who, &name, &passcode, &given));
        let opened = due.map(|who| self.open(who));
        let reply = self.send(&self.site.stranger(), RECOVER, &body, due);
        self.expect(reply.ok_json()["status"] == due.is_some(), "the proof that is due, and nothing less");
        match due.zip(opened) {
            None => self.tally.refused += 1,
            Some((who, opened)) => {
                self.people[who].password = wanted.expect("a good one");
                self.people[who].live.clear();
                self.all_dead(who, opened);
                self.tally.recovered += 1;
            }
        }
    }

    /// Whether the proof is right by the rules. A wrong one is counted.
    fn is_proven(&mut self, who: usize, name: &str, passcode: &str, given: &BTreeMap<i64, String>) -> bool {
        let now = self.now();
        let purpose = "passcode_recover_password";
        let person = &mut self.people[who];
        if person.is_delayed(name, now) {
            self.tally.closed += 1;
            return false;
        }
        let answered = person.answers_are_right(given);
        if !person.banned && answered {
            let went_to = person.take(purpose, passcode, now);
            if went_to.is_some_and(|to| person.is_reached_at(&to)) {
                return true;
            }
        } else {
            person.spend_try(purpose, now);
        }
        person.miss(name, now);
        false
    }

    /// Opens a session, a booking token and a passkey challenge, and asserts that both tokens work.
    fn open(&mut self, who: usize) -> Opened {
        let (site, member) = (self.site, &self.people[who].caller);
        if who == JANE {
            self.key.get_or_insert_with(|| register(site, &site.again(member)));
        }
        let opened = Opened {
            session: site.again(member),
            booking: site.booking_token(self.partner, member),
            question: sign_in_question(site, &member.name),
        };
        for token in [&opened.session, &opened.booking] {
            token.get(USER).ok();
        }
        opened
    }

    fn all_dead(&mut self, who: usize, opened: Opened) {
        for token in [&self.people[who].caller, &opened.session, &opened.booking] {
            token.get(USER).refused(401);
        }
        self.people[who].caller = self.site.again(&self.people[who].caller);
        if who == JANE {
            // A recovery ends the passkeys that it does not name.
            let (page, key) = (Page::at(&self.site.origin()), self.key.as_mut().expect("jane has one"));
            refused(&verify(self.site, &page.get(key, &opened.question)));
            refused(&verify(self.site, &page.get(key, &sign_in_question(self.site, &self.people[JANE].caller.name))));
            self.key = None;
        }
    }

    /// Asserts that the old challenge is dead and the passkey is not: it answers a new challenge.
    fn challenge_is_dead(&mut self, old: &Value) {
        let (page, key) = (Page::at(&self.site.origin()), self.key.as_mut().expect("jane has one"));
        refused(&verify(self.site, &page.get(key, old)));
        let new = sign_in_question(self.site, &self.people[JANE].caller.name);
        done(&verify(self.site, &page.get(key, &new)));
    }

    /// Asserts at the end of a sequence that the model's password opens a session, and that the present session still
    /// works.
    fn conclude(mut self) -> Tally {
        // All members have the same telephone number, whose quota is ten passcodes a day.
        self.site.advance(Duration::from_secs(86_400));
        for who in 0..self.people.len() {
            if self.people[who].banned {
                let id = self.people[who].caller.id;
                self.site.change(|tx| Ok(bans::set(tx, MemberId(id), None)?));
            }
            self.people[who].caller.get(USER).ok();
        }
        let jane = &self.people[JANE];
        let body = json!({ "username": jane.caller.name, "password": jane.password });
        let reply = self.send(&self.site.stranger(), "/auth/login", &body, None);
        self.expect(reply.ok_json()["status"] == true, "the password of the model");
        self.tally
    }
}

fn run(thread: u64) -> Tally {
    // Each sequence has a site of its own, because it moves the clock.
    let site = Site::open_with(|config| {
        config.limits.sign_in_misses_per_address = 1_000_000;
        config.limits.passkey_questions_per_minute_per_address = 1_000_000;
    });
    site.hash_small();
    let partner = site.partner();
    let mut all = Tally::default();
    for seed in (thread..amount(120, 1_000)).step_by(THREADS as usize) {
        all.add(&Sequence::new(&site, &partner, seed).run());
    }
    all
}

#[test]
fn no_order_of_calls_changes_a_password_without_the_required_proof() {
    let tallies = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no sequence fails")).collect::<Vec<_>>()
    });
    let mut all = Tally::default();
    tallies.iter().for_each(|tally| all.add(tally));
    let Tally { recovered, refused, told, changed, closed } = all;
    // A test in which nothing succeeds, or nothing is refused, proves nothing.
    let enough =
        recovered > amount(20, 160) && refused > amount(90, 600) && told > amount(4, 40) && changed > amount(8, 60);
    assert!(enough, "{recovered} {refused} {told} {changed}");
    assert!(closed > 0, "no try came while the counters were closed");
}
