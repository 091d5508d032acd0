//! No order of requests gives a session or a passkey without the required proof: random sequences, each
//! answer compared with a simple model of the rules.

use super::{Key, LIST, Page, VERIFY, open, question};
use crate::bad_input::dice::Dice;
use crate::harness::{Caller, Site, amount};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::domain::role::Role;
use tunneldesk::store::tables::{bans, sessions};

const STEPS: usize = 24;
const THREADS: u64 = 4;
const CHALLENGE_SECONDS: i64 = 300;

struct Person {
    caller: Caller,
    /// Whether the caller's session exists. A ban blocks the session but keeps its row.
    session: bool,
    banned: bool,
    /// The number of sessions that passkeys opened.
    opened: i64,
}

struct Made {
    owner: usize,
    key: Key,
    /// The last counter that the site has seen; `None` once the passkey is removed.
    seen: Option<u32>,
    credential_id: i64,
}

/// The options of a ceremony that a member or a stranger requested.
struct Asked {
    options: Value,
    at: i64,
    live: bool,
    about: About,
}

#[derive(Clone)]
enum About {
    /// The person whose passkeys the options name, and the passkeys.
    SignIn(Option<usize>, Vec<usize>),
    Register(usize, String),
}

#[derive(Default)]
struct Tally {
    signed_in: usize,
    registered: usize,
    refused: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.signed_in += other.signed_in;
        self.registered += other.registered;
        self.refused += other.refused;
    }
}

struct Sequence<'a> {
    site: &'a Site,
    dice: Dice,
    people: Vec<Person>,
    made: Vec<Made>,
    asked: Vec<Asked>,
    sent: Vec<String>,
    tally: Tally,
}

#[test]
fn no_order_of_calls_gives_a_session_or_a_passkey_without_proof() {
    let run = |thread: u64| {
        let site = open();
        let mut all = Tally::default();
        for seed in (0..amount(120, 1_000)).filter(|seed| seed % THREADS == thread) {
            all.add(&Sequence::new(&site, seed).run());
        }
        all
    };
    let tallies = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || run(thread))).collect();
        threads.into_iter().map(|thread| thread.join().expect("no sequence fails")).collect::<Vec<_>>()
    });
    let mut all = Tally::default();
    tallies.iter().for_each(|tally| all.add(tally));
    let Tally { signed_in, registered, refused } = all;
    // A test in which nothing succeeds, or nothing is refused, proves nothing.
    let enough = signed_in > amount(20, 200) && registered > amount(80, 600) && refused > amount(300, 1_200);
    assert!(enough, "{signed_in} {registered} {refused}");
}

impl<'a> Sequence<'a> {
    fn new(site: &'a Site, seed: u64) -> Sequence<'a> {
        let person = |name: &str| Person {
            caller: site.member(&format!("{name}{seed}")),
            session: true,
            banned: false,
            opened: 0,
        };
        let people = vec![person("jane"), person("mark")];
        let dice = Dice::new(seed, "passkeys");
        Sequence { site, dice, people, made: Vec::new(), asked: Vec::new(), sent: Vec::new(), tally: Tally::default() }
    }

    fn run(mut self) -> Tally {
        for _ in 0..STEPS {
            match self.dice.below(20) {
                0..=1 => self.ask_to_register(),
                2..=3 => {
                    self.ask_to_register();
                    self.answer_registration();
                }
                4..=5 => self.ask_to_sign_in(),
                6..=9 => {
                    self.ask_to_sign_in();
                    self.answer_sign_in();
                }
                10..=11 => self.answer_registration(),
                12..=13 => self.answer_sign_in(),
                14 => self.answer_across(),
                15 => self.send_again(),
                16 => self.remove(),
                17 => self.end_or_open_session(),
                18 => self.ban_or_unban(),
                _ => self.site.advance(Duration::from_secs(100 + self.dice.below(250) as u64)),
            }
            self.check_rows();
        }
        self.tally
    }

    fn ask_to_register(&mut self) {
        let who = self.dice.below(2);
        let person = &self.people[who];
        let body = json!({ "username": person.caller.name, "device_id": 1 });
        self.site.prove_all();
        let options = question(self.site, &person.caller, body);
        let signed_in = person.session && !person.banned;
        assert_eq!(options.get("rp").is_some(), signed_in, "creation options for whoever has a session: {options}");
        let about = match signed_in {
            true => About::Register(who, person.caller.token().to_owned()),
            false => About::SignIn(Some(who), self.passkeys_of(who)),
        };
        self.keep(options, about);
    }

    fn ask_to_sign_in(&mut self) {
        let who = Some(self.dice.below(5) % 3).filter(|who| *who < 2);
        let name = who.map_or("nobody", |who| &self.people[who].caller.name).to_owned();
        let options = question(self.site, &self.site.stranger(), json!({ "username": name }));
        let named = who.map(|who| self.passkeys_of(who)).unwrap_or_default();
        self.keep(options, About::SignIn(who, named));
    }

    fn keep(&mut self, options: Value, about: About) {
        self.asked.push(Asked { options, at: self.site.now(), live: true, about });
    }

    fn passkeys_of(&self, who: usize) -> Vec<usize> {
        (0..self.made.len()).filter(|n| self.made[*n].owner == who && self.made[*n].seen.is_some()).collect()
    }

    /// One of the ceremonies of a kind, most often the last.
    fn pick(&mut self, registering: bool) -> Option<usize> {
        let fits = |asked: &Asked| matches!(asked.about, About::Register(..)) == registering;
        let places: Vec<usize> = (0..self.asked.len()).filter(|n| fits(&self.asked[*n])).collect();
        let last = places.last().copied();
        if self.dice.one_in(4) { last.map(|_| places[self.dice.below(places.len())]) } else { last }
    }

    /// A page, and whether it is honest.
    fn page(&mut self) -> (Page, bool) {
        let mut page = Page::at(&self.site.origin());
        match self.dice.below(10) {
            0 => page.user_verified = false,
            1 => page.origin = "http://badlocalhost".to_owned(),
            2 => page.client_data = json!({ "crossOrigin": true }),
            3 => page.rp_id = Some("example.com".to_owned()),
            _ => return (page, true),
        }
        (page, false)
    }

    /// Uses up a challenge. Returns whether it was still unused.
    fn use_up(&mut self, place: usize) -> bool {
        let now = self.site.now();
        let asked = &mut self.asked[place];
        let waits = asked.live && now < asked.at + CHALLENGE_SECONDS;
        asked.live = false;
        waits
    }

    fn answer_registration(&mut self) {
        let Some(place) = self.pick(true) else { return };
        let About::Register(who, token) = self.asked[place].about.clone() else { return };
        let (page, honest) = self.page();
        let (key, credential) = page.create(&self.asked[place].options);
        let person = &self.people[who];
        let in_force = person.session && !person.banned && person.caller.token() == token;
        let due = self.use_up(place) && honest && in_force;
        if self.send(credential, due, who) {
            self.tally.registered += 1;
            let credential_id = self.newest_passkey(who);
            self.made.push(Made { owner: who, key, seen: Some(0), credential_id });
        }
    }

    fn answer_sign_in(&mut self) {
        let Some(place) = self.pick(false) else { return };
        if self.made.is_empty() {
            return;
        }
        let About::SignIn(who, named) = self.asked[place].about.clone() else { return };
        let chosen = match named.is_empty() || self.dice.one_in(4) {
            true => self.dice.below(self.made.len()),
            false => named[self.dice.below(named.len())],
        };
        let (page, honest) = self.page();
        let forged = self.dice.one_in(6);
        let copied = self.dice.one_in(6);
        let mut key = if forged { self.made[chosen].key.forged() } else { self.made[chosen].key.clone() };
        if copied {
            key.counter = key.counter.saturating_sub(1);
        }
        let credential = page.get(&mut key, &self.asked[place].options);
        let made = &self.made[chosen];
        let owner = made.owner;
        let counted = made.seen.is_some_and(|seen| key.counter > seen);
        let proven = honest && !forged && counted && named.contains(&chosen) && who == Some(owner);
        let due = self.use_up(place) && proven && !self.people[owner].banned;
        if self.send(credential, due, owner) {
            self.tally.signed_in += 1;
            self.people[owner].opened += 1;
            self.made[chosen].seen = Some(key.counter);
        }
        if !forged {
            self.made[chosen].key.counter = self.made[chosen].key.counter.max(key.counter);
        }
    }

    /// Sends an answer of one kind to a challenge of the other kind.
    fn answer_across(&mut self) {
        let registering = self.dice.one_in(2);
        let Some(place) = self.pick(registering) else { return };
        let page = Page::at(&self.site.origin());
        let challenge = self.asked[place].options["challenge"].clone();
        let credential = match (registering, self.made.first()) {
            (true, Some(made)) => {
                page.get(&mut made.key.clone(), &json!({ "challenge": challenge, "rpId": "localhost" }))
            }
            (true, None) => return,
            (false, _) => {
                let rp = json!({ "id": "localhost" });
                page.create(&json!({ "challenge": challenge, "rp": rp, "user": { "id": "AA" } })).1
            }
        };
        self.use_up(place);
        self.send(credential, false, 0);
    }

    fn send_again(&mut self) {
        if !self.sent.is_empty() {
            let credential = self.sent[self.dice.below(self.sent.len())].clone();
            self.send(credential, false, 0);
        }
    }

    /// Sends an answer and compares the outcome with the expected one.
    fn send(&mut self, credential: String, due: bool, who: usize) -> bool {
        let reply = self.site.stranger().post(VERIFY, json!({ "credential": credential })).ok();
        let body = reply.json();
        assert_eq!(body["status"], due, "{reply}");
        let member_id = if due { self.people[who].caller.id } else { 0 };
        assert_eq!(body["member_id"], member_id, "{reply}");
        self.tally.refused += usize::from(!due);
        self.sent.push(credential);
        due
    }

    fn remove(&mut self) {
        let who = self.dice.below(2);
        let held = self.passkeys_of(who);
        if held.is_empty() || !self.people[who].session || self.people[who].banned {
            return;
        }
        let made = &mut self.made[held[self.dice.below(held.len())]];
        made.seen = None;
        self.people[who].caller.delete(&format!("{LIST}/{}", made.credential_id)).ok();
        self.people[who].opened = 0;
        self.forget(who);
    }

    fn end_or_open_session(&mut self) {
        let who = self.dice.below(2);
        let (site, person) = (self.site, &mut self.people[who]);
        if !person.session {
            person.caller = site.sign_in(person.caller.id, &person.caller.name, Role::Member, Duration::ZERO);
            person.session = true;
        } else if !person.banned && self.dice.one_in(2) {
            person.session = false;
            person.caller.ask(Method::POST, "/auth/logout").send().ok();
        } else {
            // As a password change or a recovery does.
            (person.session, person.opened) = (false, 0);
            let member_id = person.caller.id;
            site.change(|tx| Ok(sessions::delete_of_member(tx, MemberId(member_id), None)?));
            self.forget(who);
        }
    }

    fn ban_or_unban(&mut self) {
        let who = self.dice.below(2);
        let person = &mut self.people[who];
        person.banned = !person.banned;
        let (id, banned) = (person.caller.id, person.banned);
        self.site.change(|tx| Ok(bans::set(tx, MemberId(id), banned.then_some(tx.now()))?));
    }

    /// Ends the member's challenges. Those that named decoys belong to no member and could never succeed.
    fn forget(&mut self, who: usize) {
        for asked in &mut self.asked {
            let whose = match asked.about {
                About::SignIn(whose, _) => whose,
                About::Register(whose, _) => Some(whose),
            };
            asked.live &= whose != Some(who);
        }
    }

    fn newest_passkey(&self, who: usize) -> i64 {
        let sql = "SELECT max(passkey_id) FROM passkeys WHERE member_id = ?1";
        let id = self.people[who].caller.id;
        self.site.read(|tx| Ok(tx.get(sql, [id])?))
    }

    /// Asserts that the database has exactly the expected sessions and passkeys.
    fn check_rows(&self) {
        let sql = "SELECT (SELECT count(*) FROM sessions WHERE member_id = ?1), (SELECT count(*) FROM passkeys WHERE member_id = ?1)";
        self.site.read(|tx| {
            for (who, person) in self.people.iter().enumerate() {
                let found: (i64, i64) = tx.get(sql, [person.caller.id])?;
                let due = (person.opened + i64::from(person.session), self.passkeys_of(who).len() as i64);
                assert_eq!(found, due, "sessions and passkeys of {}", person.caller.name);
            }
            Ok(())
        });
    }
}
