//! Events besides a recovery that must not help it: usernames sent, passwords changed, addresses changed, bans.

use super::person::JANE;
use super::{CHANGE, OWN, Sequence, USER};
use serde_json::json;
use std::time::Duration;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::bans;

const USERNAME: &str = "/auth/account-access/recover-username";
const QUESTIONS: &str = "/auth/account-access/security-questions";
const SEND: &str = "/account/profile/send-verification-passcode";
const TAKE: &str = "/account/profile/verify-verification-passcode";

impl Sequence<'_> {
    pub fn ask_username(&mut self) {
        let (who, _) = self.somebody();
        let address = who.map_or("nobody@example.com".to_owned(), |who| self.people[who].email.clone());
        let reply = self.send(&self.site.stranger(), USERNAME, &json!({ "email": address }), None);
        self.passcode_goes(&reply, who, address.clone(), Some(address), "passcode_recover_username");
    }

    pub fn prove_username(&mut self) {
        let (who, _) = self.somebody();
        let purpose = "passcode_recover_username";
        let passcode = self.passcode(who, purpose);
        let address = who.map_or("nobody@example.com".to_owned(), |who| self.people[who].email.clone());
        let body = json!({ "email": address, "passcode": passcode });
        let reply = self.send(&self.site.stranger(), USERNAME, &body, None);
        let now = self.now();
        let due = who.is_some_and(|who| {
            let person = &mut self.people[who];
            if person.is_delayed(&address, now) {
                return false;
            }
            let went_to = if person.banned { None } else { person.take(purpose, &passcode, now) };
            let right = went_to.is_some_and(|to| person.is_reached_at(&to));
            if !right {
                person.miss(&address, now);
            }
            right
        });
        let told = if due { self.people[who.unwrap_or_default()].caller.name.clone() } else { String::new() };
        let answer = reply.ok_json();
        self.expect(answer["status"] == due && answer["username"] == told, "told to whoever reads the mail");
        self.tally.told += usize::from(due);
    }

    /// A password change by a member with a session, with the present password or a wrong one.
    pub fn change_password(&mut self) {
        let who = self.dice.below(self.people.len());
        self.passwords += 1;
        let wanted = format!("three wet towels in row {}", self.passwords);
        let (right, now) = (!self.dice.one_in(3), self.now());
        let person = &self.people[who];
        let current = if right { person.password.clone() } else { "not the password".to_owned() };
        let body = json!({ "password": wanted, "current_password": current, "password_confirm": wanted });
        // Failed attempts of a session count by themselves.
        let session = person.caller.token().to_owned();
        let (closed, banned) = (person.is_delayed(&session, now), person.banned);
        let due = (right && !closed && !banned).then_some(who);
        let opened = due.map(|who| self.open(who));
        let caller = self.people[who].caller.clone();
        let reply = self.send(&caller, CHANGE, &body, due);
        let status = match (banned, closed, right) {
            (true, ..) => 401,
            (_, true, _) => 429,
            (.., false) => 422,
            _ => 200,
        };
        self.expect(reply.status == status, &format!("{status}"));
        if status == 422 {
            self.people[who].miss(&session, now);
        }
        if let Some(opened) = opened {
            for token in [&opened.session, &opened.booking] {
                token.get(USER).refused(401);
            }
            caller.get(USER).ok();
            if who == JANE {
                self.challenge_is_dead(&opened.question);
            }
            self.people[who].password = wanted;
            self.people[who].live.clear();
            self.tally.changed += 1;
        }
    }

    pub fn sign_in(&mut self) {
        let (who, name) = self.somebody();
        let now = self.now();
        let right = !self.dice.one_in(3);
        let known = who.map(|who| &self.people[who]);
        let typed = known.filter(|_| right).map_or("not the password", |person| &person.password).to_owned();
        let closed = known.is_some_and(|person| person.is_delayed(&name, now));
        let due = right && !closed && known.is_some_and(|person| !person.banned);
        let body = json!({ "username": name, "password": typed });
        let reply = self.send(&self.site.stranger(), "/auth/login", &body, None);
        self.expect(reply.json()["status"] == due, "a session for the password of now");
        let fits = if closed { reply.status == 429 } else { reply.status == 200 || who.is_none() };
        self.expect(fits, "429 while attempts are delayed");
        match who.map(|who| &mut self.people[who]) {
            Some(person) if due => person.forget_misses(),
            Some(person) if !right && !closed => person.miss(&name, now),
            _ => {}
        }
    }

    /// Changes the member's e-mail address, if the passcode is right.
    pub fn move_mailbox(&mut self) {
        let who = if self.dice.one_in(3) { 1 } else { JANE };
        // The change needs a session whose proof is fresh.
        let caller = self.site.again(&self.people[who].caller);
        let address = format!("{}-{}@example.com", caller.name, self.passwords);
        let room = self.has_room(&address) && self.has_share(OWN, &who.to_string());
        let banned = self.people[who].banned;
        let reply = self.send(&caller, SEND, &json!({ "email": address }), None);
        match (banned, room) {
            (true, _) => return self.expect(reply.status == 401, "banned"),
            (_, false) => return self.expect(reply.status == 429, "too many by this member, or to this address"),
            _ => {
                self.count_send(format!("{} {who}", OWN.0));
                self.count_send(format!("to {address}"));
                self.arrives(who, address.clone(), "passcode_verify_email")
            }
        }
        if self.dice.one_in(3) {
            // The passcode sent to the new address is never read, and proves nothing else.
            return;
        }
        let passcode = self.passcode(Some(who), "passcode_verify_email");
        let (number, now) = (passcode.parse::<i64>().unwrap_or(0), self.now());
        let reply = self.send(&caller, TAKE, &json!({ "email": address, "passcode": number }), None);
        let went_to = self.people[who].take("passcode_verify_email", &passcode, now);
        let due = went_to.as_ref() == Some(&address);
        self.expect(reply.ok_json()["status"] == due, "taken over by its passcode alone");
        if due {
            self.people[who].email = address;
        }
    }

    pub fn look_at_questions(&mut self) {
        let (who, name) = self.somebody();
        let ask = || self.site.stranger().get(&format!("{QUESTIONS}?username={name}")).ok_json();
        let (first, again) = (ask(), ask());
        let asked: Vec<i64> =
            first.as_array().into_iter().flatten().filter_map(|one| one["question"].as_i64()).collect();
        let own: Vec<i64> = who.map_or(&[][..], |who| self.people[who].answered).iter().map(|(n, _)| *n).collect();
        let plausible = asked.len() == 3 && own.iter().all(|question| asked.contains(question));
        self.expect(plausible && first == again, &format!("{name} is asked {asked:?}"));
    }

    pub fn ban_or_lift(&mut self) {
        let who = self.dice.below(self.people.len());
        let person = &mut self.people[who];
        person.banned = !person.banned;
        let (id, banned) = (person.caller.id, person.banned);
        self.done.push(format!("{who} is banned: {banned}"));
        self.site.change(|tx| Ok(bans::set(tx, MemberId(id), banned.then_some(tx.now()))?));
    }

    pub fn wait(&mut self) {
        let seconds = [1, 60, 599, 601, 3601][self.dice.below(5)];
        self.site.advance(Duration::from_secs(seconds));
        self.done.push(format!("{seconds} seconds pass"));
    }
}
