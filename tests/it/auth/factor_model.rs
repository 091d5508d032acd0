//! Random sequences of the second factor's operations, each answer compared with a model of the rules: no
//! session opens without the required proof, and with it a session always opens.

use crate::harness::{Authenticator, Caller, PASSWORD, Reply, Site, amount};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const THREADS: u64 = 4;
const STEP: i64 = 30;

/// SplitMix64: the same seed gives the same sequence.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    pub fn below(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }

    pub fn of<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        if things.is_empty() { None } else { things.get(self.below(things.len() as u64) as usize) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    App(usize),
    Passcode,
}

struct Sent {
    text: String,
    until: i64,
    tries: i64,
}

/// The state of one member by the rules, and every value that an attacker ever saw.
#[derive(Default)]
struct Model {
    now: i64,
    on: Option<Kind>,
    last_step: i64,
    pending: Option<(usize, i64)>,
    passcode: Option<Sent>,
    sent_at: Vec<i64>,
    steps: Vec<i64>,
    recovery: BTreeSet<String>,
    misses: i64,
    missed_at: i64,
    closed_until: i64,
    apps: Vec<Authenticator>,
    seen_passcodes: Vec<String>,
    seen_recovery: Vec<String>,
}

impl Model {
    fn closed(&self) -> bool {
        self.now < self.closed_until
    }

    fn miss(&mut self) {
        self.misses = (self.misses >> ((self.now - self.missed_at) / 900).min(63)) + 1;
        self.missed_at = self.now;
        self.closed_until = self.now + if self.misses < 5 { 0 } else { 1 << (self.misses - 5).min(9) };
    }

    fn step_of(&self, app: usize, code: &str) -> Option<i64> {
        let now = self.now / STEP;
        (now - 1..=now + 1).find(|step| self.apps[app].code(step * STEP) == code)
    }

    /// Whether a code is right now. A right code is used up.
    fn prove(&mut self, code: &str) -> bool {
        let Some(on) = self.on else { return false };
        if code.len() > 6 {
            return self.recovery.remove(code);
        }
        if let Kind::App(app) = on
            && let Some(step) = self.step_of(app, code).filter(|step| *step > self.last_step)
        {
            self.last_step = step;
            return true;
        }
        let now = self.now;
        let Some(live) = self.passcode.as_mut().filter(|sent| now < sent.until) else { return false };
        live.tries += 1;
        let (right, dead) = (live.text == code, live.tries >= 5);
        if right || dead {
            self.passcode = None;
        }
        right
    }

    /// As [`Model::prove`], with the counters: while attempts are delayed no code is checked, and a wrong code is
    /// counted.
    fn judge(&mut self, prove: impl FnOnce(&mut Model) -> bool) -> bool {
        if self.closed() {
            return false;
        }
        let right = prove(self);
        if !right {
            self.miss();
        }
        right
    }

    /// Whether a second step may begin, which is counted then: ten within ten minutes may.
    fn begins_step(&mut self) -> bool {
        let now = self.now;
        self.steps.retain(|at| now - at < 600);
        if self.steps.len() >= 10 {
            return false;
        }
        self.steps.push(now);
        true
    }

    fn finish_setup(&mut self, code: &str) -> bool {
        let Some((app, _)) = self.pending.filter(|(_, until)| self.now < *until) else { return false };
        let Some(step) = self.step_of(app, code) else { return false };
        (self.on, self.last_step, self.pending, self.passcode) = (Some(Kind::App(app)), step, None, None);
        true
    }

    fn new_recovery(&mut self, answer: &Value) {
        let codes = answer["recovery_codes"].as_array().unwrap_or_else(|| panic!("{answer}"));
        self.recovery = codes.iter().map(|code| code.as_str().unwrap().to_owned()).collect();
        self.seen_recovery.extend(self.recovery.iter().cloned());
    }
}

struct Run<'a> {
    site: &'a Site,
    member: Caller,
    dice: Dice,
    model: Model,
    /// Every code that was tried, so that it can be tried again.
    said: Vec<String>,
    done: Vec<String>,
}

impl Run<'_> {
    /// A code of any kind: right, used, of another app, of yesterday, or never seen.
    fn code(&mut self) -> String {
        let newest = self.model.apps.last().cloned();
        let app = if self.dice.below(4) > 0 { newest } else { self.dice.of(&self.model.apps).cloned() };
        let found = match self.dice.below(10) {
            0..4 => app.map(|app| app.code_away(self.model.now, *self.dice.of(&[-2, -1, 0, 0, 1, 1, 2]).unwrap())),
            4 | 5 => self.model.seen_passcodes.last().cloned(),
            6 => self.dice.of(&self.model.seen_recovery).cloned(),
            7 | 8 => self.dice.of(&self.said).cloned(),
            _ => None,
        };
        let code = found.unwrap_or_else(|| format!("{:06}", self.dice.below(1_000_000)));
        self.said.push(code.clone());
        code
    }

    fn credentials(&self) -> Value {
        json!({ "username": self.member.name, "password": PASSWORD, "member_id": self.member.id })
    }

    fn send(&mut self, path: &str, body: &Value) -> Reply {
        let reply = self.site.stranger().post(path, body);
        self.done.push(format!("{path} {body} -> {} {}", reply.status, String::from_utf8_lossy(&reply.body)));
        reply
    }

    #[track_caller]
    fn expect(&self, right: bool, wanted: &str) {
        assert!(right, "at {}: {wanted}\n{}", self.model.now, self.done.join("\n"));
    }

    /// Asserts that the answer has a session exactly if one is due.
    #[track_caller]
    fn session(&mut self, reply: &Reply, due: bool) {
        let answer = reply.json();
        self.expect(matches!(reply.status, 200 | 429) && !(due && reply.status == 429), "an answer, or a delay");
        let came = answer["token"].as_str().is_some_and(|token| !token.is_empty());
        self.expect(came == due, if due { "a session" } else { "no session" });
        if came {
            (self.model.misses, self.model.closed_until) = (0, 0);
            self.model.steps.clear();
        }
    }

    /// Whether a passcode is sent: not if the quota of the address is used up.
    fn passcode_goes(&mut self) -> bool {
        let now = self.model.now;
        self.model.sent_at.retain(|at| now - at < 3600);
        if self.model.sent_at.len() >= 5 {
            return false;
        }
        self.model.sent_at.push(now);
        let text = self.site.last_passcode(&self.member).expect("a passcode went out");
        self.model.seen_passcodes.push(text.clone());
        self.model.passcode = Some(Sent { text, until: now + 600, tries: 0 });
        true
    }

    fn login(&mut self) {
        let way = *self.dice.of(&["", "totp", "email", "sms"]).unwrap();
        let mut body = self.credentials();
        body["passcodeOption"] = way.into();
        let reply = self.send("/auth/login", &body);
        if self.model.closed() {
            return self.session(&reply, false);
        }
        if self.model.on.is_some() && !self.model.begins_step() {
            self.expect(reply.status == 429, "ten second steps were not finished");
            return self.session(&reply, false);
        }
        // The member has no telephone number, so `sms` is treated like no choice.
        let sends = match self.model.on {
            None => return self.session(&reply, true),
            Some(Kind::App(_)) => way == "email",
            Some(Kind::Passcode) => true,
        };
        // When no further passcode can be sent, a recovery code still works.
        let goes = sends && self.passcode_goes();
        self.session(&reply, false);
        let answer = reply.ok_json();
        self.expect(answer["confirmationPending"] == if sends { 3 } else { 2 }, "the step that is due");
        let says_sent = answer["message"].as_str().is_some_and(|text| text.contains("on its way"));
        self.expect(says_sent == goes, "what was sent");
    }

    fn silent(&mut self) {
        let reply = self.send("/auth/login/silent", &self.credentials());
        let (closed, on) = (self.model.closed(), self.model.on.is_some());
        let refused = closed || on && !self.model.begins_step();
        self.expect((reply.status == 429) == refused, "429 during a delay, and after ten second steps");
        self.session(&reply, !closed && !on);
    }

    fn wrong_password(&mut self) {
        let path = *self.dice.of(&["/auth/login", "/auth/login/verify-totp", "/auth/login/totp/verify-setup"]).unwrap();
        let mut body = self.credentials();
        (body["code"], body["password"]) = (self.code().into(), "not the password".into());
        let reply = self.send(path, &body);
        self.model.judge(|_| false);
        self.session(&reply, false);
    }

    fn verify(&mut self) {
        let mut body = self.credentials();
        let code = self.code();
        body["code"] = code.as_str().into();
        let stranger = self.dice.below(8) == 0;
        if stranger {
            body["member_id"] = (self.member.id + 1).into();
        }
        let reply = self.send("/auth/login/verify-totp", &body);
        let due = self.model.judge(|model| !stranger && model.prove(&code));
        self.session(&reply, due);
    }

    fn setup(&mut self) {
        let mut body = self.credentials();
        let code = (self.dice.below(3) > 0).then(|| self.code());
        body["code"] = code.clone().into();
        let reply = self.send("/auth/login/totp/setup", &body);
        let right = match (self.model.on, code) {
            _ if self.model.closed() => false,
            (None, _) => true,
            (Some(_), None) => return self.expect(reply.status == 422, "the code is asked for"),
            (Some(_), Some(code)) => self.model.judge(|model| model.prove(&code)),
        };
        let answer = reply.json();
        self.expect(answer["status"] == right, "a new secret only for whoever may have one");
        if right {
            self.model.apps.push(Authenticator::scan(&answer));
            self.model.pending = Some((self.model.apps.len() - 1, self.model.now + 3600));
        }
    }

    fn verify_setup(&mut self) {
        let code = self.code();
        self.verify_setup_with(&code);
    }

    fn verify_setup_with(&mut self, code: &str) {
        let mut body = self.credentials();
        body["code"] = code.into();
        let reply = self.send("/auth/login/totp/verify-setup", &body);
        let right = self.model.judge(|model| model.finish_setup(code));
        let answer = reply.json();
        self.expect(answer["status"] == right, "on by the first code alone");
        if right {
            self.model.new_recovery(&answer);
        }
    }

    /// An operation by a caller who has a session of the member.
    fn operate(&mut self) {
        let operation = *self.dice.of(&["enable", "disable", "disable", "recovery-codes", "send-passcode"]).unwrap();
        self.operate_by(operation);
    }

    fn operate_by(&mut self, operation: &str) {
        let code = (self.dice.below(4) > 0).then(|| self.code());
        let body = json!({ "operation": operation, "code": code });
        let reply = self.site.again(&self.member).post("/account/profile/2fa-operation", &body);
        self.done.push(format!("{body} -> {reply}"));
        match (operation, self.model.on) {
            ("enable", None) => {
                (self.model.on, self.model.pending, self.model.passcode) = (Some(Kind::Passcode), None, None);
                self.model.new_recovery(&reply.ok_json());
            }
            ("send-passcode", Some(Kind::Passcode)) => {
                if !self.passcode_goes() {
                    self.expect(reply.status == 429, "too many passcodes");
                }
            }
            ("enable" | "send-passcode", Some(_)) | ("disable", None) => self.expect(reply.status == 200, "no change"),
            (_, None) => self.expect(reply.status == 409, "nothing is on"),
            (_, Some(_)) => self.operate_with_code(operation, code, &reply),
        }
    }

    fn operate_with_code(&mut self, operation: &str, code: Option<String>, reply: &Reply) {
        let Some(code) = code else { return self.expect(reply.status == 422, "the code is asked for") };
        // Each operation has a session of its own, whose failed attempts count by themselves.
        let right = self.model.prove(&code);
        self.expect(reply.status == if right { 200 } else { 422 }, "done by a right code alone");
        match (right, operation) {
            (false, _) => {}
            (true, "disable") => {
                (self.model.on, self.model.pending, self.model.passcode) = (None, None, None);
                self.model.recovery.clear();
            }
            (true, _) => self.model.new_recovery(&reply.ok_json()),
        }
    }

    /// Begins most sequences with a factor that is on, or nearly on.
    fn begin(&mut self) {
        match self.dice.below(5) {
            0 => {}
            1 => self.setup(),
            2 => self.operate_by("enable"),
            _ => {
                self.setup();
                let first = self.model.apps[0].code_away(self.model.now, -1);
                self.said.push(first.clone());
                self.verify_setup_with(&first);
            }
        }
    }

    fn wait(&mut self) {
        let seconds = *self.dice.of(&[1, 30, 60, 700, 3700]).unwrap();
        self.site.advance(Duration::from_secs(seconds));
        self.model.now = self.site.now();
        self.done.push(format!("{seconds} seconds pass"));
    }
}

fn one_sequence(site: &Site, seed: u64) {
    let member = site.member(&format!("member{seed}"));
    let model = Model { now: site.now(), ..Default::default() };
    let (dice, done) = (Dice::new(seed), vec![format!("seed {seed}")]);
    let mut run = Run { site, member, dice, model, said: Vec::new(), done };
    run.begin();
    for _ in 0..3 + run.dice.below(5) {
        match run.dice.below(10) {
            0 => run.login(),
            1 => run.silent(),
            2 => run.wrong_password(),
            3 | 4 => run.verify(),
            5 => run.setup(),
            6 => run.verify_setup(),
            7 | 8 => run.operate(),
            _ => run.wait(),
        }
    }
    run.silent();
}

#[test]
fn random_sequences_reach_no_session_without_every_required_proof() {
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                // Each sequence has a site of its own, because it moves the clock.
                let site = Site::open_with(|config| config.limits.sign_in_misses_per_address = 1_000_000);
                site.hash_small();
                (thread..amount(200, 1_000)).step_by(THREADS as usize).for_each(|seed| one_sequence(&site, seed));
            });
        }
    });
}
