//! States that tests put members into, and queries of the database.

use super::caller::{Caller, Credential};
use super::{Site, file};
use std::time::Duration;
use tunneldesk::domain::catalogue::Catalogue;
use tunneldesk::domain::entry::Kind;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::domain::role::Role;
use tunneldesk::http::failure::Failure;
use tunneldesk::keys::{columns, hex, random, unhex};
use tunneldesk::moment::Moment;
use tunneldesk::store::queries::holdings;
use tunneldesk::store::tables::{members, notices, partners, signers, skills};
use tunneldesk::store::{Read, Write};

/// A passcode that was queued or sent.
#[derive(Debug)]
pub struct Passcode {
    pub message_id: i64,
    /// The purpose of the passcode.
    pub template: String,
    pub recipient: String,
    pub passcode: String,
}

impl Site {
    /// The same member with a new session.
    pub fn again(&self, member: &Caller) -> Caller {
        self.sign_in(member.id, &member.name, Role::Member, Duration::ZERO)
    }

    /// Marks every session as proven just now.
    pub fn prove_all(&self) {
        self.change(|tx| Ok(tx.run("UPDATE sessions SET proven_at = ?1, proven_anew_at = ?1", [tx.now()])?));
    }

    /// Makes the present sessions outlive any campaign: neither the clock nor newer sessions of the member end them.
    pub fn keep_sessions(&self) {
        self.change(|tx| Ok(tx.run("UPDATE sessions SET seen_at = ?1, ends_at = ?1", [tx.now() + 10 * 365 * 86_400])?));
    }

    /// A current instructor of level 1.
    pub fn instructor(&self, name: &str) -> Caller {
        let instructor = self.flyer(name);
        self.change(|tx| {
            let hold = "INSERT INTO holdings (member_id, cat_group, cat_id, track, since) VALUES (?1, 'Instructor', '1', '', ?2)";
            tx.run(hold, (instructor.id, tx.now()))?;
            let train = "INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, cat_id, skill, created_at, updated_at)
                         VALUES (?1, 'safety', 'open', ?2, ?3, ?1, 'Instructor', '1', '1', ?2, ?2)";
            Ok(tx.run(train, (instructor.id, tx.now(), Site::TUNNEL_ID))?)
        });
        instructor
    }

    /// A member who may sign as a holder of these levels (programme and number): holds them, is trained and listed.
    pub fn signer(&self, name: &str, levels: &[(&str, &str)]) -> Caller {
        let signer = self.member(name);
        self.qualify(&signer, levels);
        signer
    }

    /// Makes the member a signer.
    pub fn qualify(&self, member: &Caller, levels: &[(&str, &str)]) {
        for (cat_group, cat_id) in levels {
            self.learn(member, cat_group, cat_id);
            self.brief(member, if *cat_group == "Examiner" { "Trainer" } else { cat_group });
            self.change(|tx| {
                let (tunnel_id, member_id) = (Site::TUNNEL_ID, member.id);
                Ok(signers::insert(
                    tx,
                    &signers::NewSigner {
                        tunnel_id,
                        member_id: MemberId(member_id),
                        cat_group,
                        cat_id: "",
                        appointed_by: None,
                    },
                )?)
            });
        }
    }

    /// Signs off every skill of these levels (all tracks of that number), so that the member holds them.
    pub fn learn(&self, member: &Caller, cat_group: &str, cat_id: &str) {
        let catalogue = Catalogue::built_in();
        self.change(|tx| {
            let of_level = catalogue.skills().filter(|(level, _)| level.cat_group == cat_group && level.cat_id == cat_id);
            for (_, skill) in of_level {
                let sql = "INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, cat_id, skill, created_at, updated_at)
                           VALUES (?1, 'skill', 'open', ?2, ?3, ?1, ?4, ?5, ?6, ?2, ?2)";
                tx.run(sql, (member.id, tx.now(), Site::TUNNEL_ID, cat_group, cat_id, &skill.skill))?;
            }
            Ok(holdings::refresh(tx, MemberId(member.id), catalogue)?)
        });
    }

    /// Adds a safety record of now to the member's logbook.
    pub fn brief(&self, member: &Caller, logbook: &str) {
        let sql = "INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, skill, created_at, updated_at)
                   VALUES (?1, 'safety', 'open', ?2, ?3, ?1, ?4, '1', ?2, ?2)";
        self.change(|tx| Ok(tx.run(sql, (member.id, tx.now(), Site::TUNNEL_ID, logbook))?));
    }

    /// A skill that the member has asked this signer for, whatever the rules say: it can be signed only after the safety
    /// brief. Other requests that wait are withdrawn.
    pub fn ask_for(&self, member: &Caller, skill: &str, signer: &Caller) -> i64 {
        self.change(|tx| {
            tx.run("UPDATE entries SET status = 'cancelled' WHERE member_id = ?1 AND status = 'pending'", [member.id])?;
            let (level, _) = Catalogue::built_in().find_skill(skill).expect("a skill of the catalogue");
            let new = skills::NewEntry {
                member_id: MemberId(member.id),
                kind: Kind::Skill,
                author_id: MemberId(member.id),
                cat_group: &level.cat_group,
                cat_id: &level.cat_id,
                skill,
                entry_date: tx.now(),
                minutes: 0,
                tunnel_id: Site::TUNNEL_ID,
                comment: "",
                instructor_id: MemberId(signer.id),
                opening: None,
            };
            Ok(skills::insert(tx, &new)?)
        })
        .0
    }

    /// Takes the member off the tunnel's list of signers.
    pub fn unlist(&self, member: &Caller) {
        self.change(|tx| Ok(tx.run("UPDATE signers SET ended_at = ?2 WHERE member_id = ?1", (member.id, tx.now()))?));
    }

    /// Makes the member's safety trainings so old that every programme has lapsed.
    pub fn untrain(&self, member: &Caller) {
        let sql = "UPDATE entries SET entry_date = entry_date - 800 * 86400 WHERE member_id = ?1 AND kind = 'safety'";
        self.change(|tx| Ok(tx.run(sql, [member.id])?));
    }

    /// The levels that the member holds, as `Flyer 1`, in order.
    pub fn holdings(&self, member: &Caller) -> Vec<String> {
        self.look("SELECT cat_group || ' ' || cat_id FROM holdings WHERE member_id = ?1 ORDER BY 1", member.id)
    }

    /// The events of an entry as `from to by`, oldest first.
    pub fn events(&self, entry_id: i64) -> Vec<String> {
        let sql = "SELECT coalesce(from_status, '-') || ' ' || to_status || ' ' || member_id FROM entry_events WHERE entry_id = ?1 ORDER BY step";
        self.look(sql, entry_id)
    }

    /// A skill entry of the member in this state.
    pub fn skill(&self, member: &Caller, status: &str) -> i64 {
        self.change(|tx| {
            let sql = "INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, cat_id, skill, created_at, updated_at)
                       VALUES (?1, 'skill', ?2, ?3, ?4, ?1, 'Flyer', '1', '1', ?3, ?3)";
            Ok(tx.insert(sql, (member.id, status, tx.now(), Site::TUNNEL_ID))?)
        })
    }

    /// Makes the member hold a level since this time.
    pub fn hold(&self, member: &Caller, cat_group: &str, cat_id: &str, track: &str, since: i64) {
        let sql = "INSERT INTO holdings (member_id, cat_group, cat_id, track, since) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.change(|tx| Ok(tx.run(sql, (member.id, cat_group, cat_id, track, since))?));
    }

    /// The codes of the member's certificates, in no particular order.
    pub fn codes(&self, member: &Caller) -> Vec<String> {
        self.look("SELECT code FROM certificates WHERE member_id = ?1", member.id)
    }

    /// Marks the membership as paid for this long from now.
    pub fn pay(&self, member: &Caller, ahead: Duration) {
        self.change(|tx| {
            Ok(members::set_paid_until(tx, MemberId(member.id), Some(tx.now() + ahead.as_secs() as i64))?)
        });
    }

    pub fn unconfirm(&self, member: &Caller) {
        self.change(|tx| Ok(tx.run("UPDATE members SET email_confirmed_at = NULL WHERE member_id = ?1", [member.id])?));
    }

    pub fn born(&self, member: &Caller, dob: i64) {
        self.change(|tx| Ok(tx.run("UPDATE members SET dob = ?2 WHERE member_id = ?1", (member.id, dob))?));
    }

    /// Gives the partner a second secret; the old one stays valid for this many days.
    pub fn rotate(&self, partner: &Caller, keep_days: i64) -> Caller {
        let secret = hex(&random::<32>());
        self.change(|tx| {
            let found = partners::find(tx, partner.client_id())?.expect("the partner is there");
            partners::end_secrets(tx, found.partner_id, tx.now() + keep_days * 86_400)?;
            Ok(partners::insert_secret(tx, &self.inside().keys, found.partner_id, secret.as_bytes())?)
        });
        partner.with(Credential::Partner { client_id: partner.client_id().to_owned(), secret, strict: false })
    }

    /// Sets the clock back, behind the latest time in the database.
    pub fn set_back(&self, by: Duration) {
        self.set_clock(self.now() - by.as_secs() as i64);
    }

    /// Sets the clock, without waking waiting threads.
    pub fn set_clock(&self, moment: i64) {
        self.inside().clock.set(Moment(moment));
    }

    /// Adds a notice for the member and returns its number.
    pub fn note(&self, member: &Caller, subject: &str, detail: serde_json::Value) -> i64 {
        self.change(|tx| Ok(notices::insert(tx, MemberId(member.id), subject, &detail.to_string())?))
    }

    /// The keys of the member's notices, oldest first.
    pub fn notices(&self, member: &Caller) -> Vec<String> {
        self.look("SELECT subject FROM notices WHERE member_id = ?1 ORDER BY notification_id", member.id)
    }

    /// Whether the sign-in of any account is delayed now.
    pub fn sign_in_is_delayed(&self) -> bool {
        let now = self.now();
        !self.look("SELECT 'closed' FROM throttles WHERE closed_until > ?1", now).is_empty()
    }

    /// Queued messages, oldest first: `channel`, `recipient`, `template` and the `values` that the database keeps
    /// encrypted.
    pub fn mails(&self) -> Vec<serde_json::Value> {
        let site = self.inside();
        site.store.release();
        let sql = "SELECT message_id, recipient, json_array(channel, template), sealed FROM outbox ORDER BY message_id";
        let rows = site.store.read(|tx| Ok(tx.list(sql, [])?)).expect("the file can be read");
        site.store.release();
        let open = |(message_id, recipient, named, sealed): (i64, String, String, Vec<u8>)| {
            let values = self.open_message(message_id, &recipient, &sealed);
            let named: serde_json::Value = serde_json::from_str(&named).expect("JSON");
            serde_json::json!({ "channel": named[0], "recipient": recipient, "template": named[1], "values": values })
        };
        rows.into_iter().map(open).collect()
    }

    /// The values of a queued message.
    fn open_message(&self, message_id: i64, recipient: &str, sealed: &[u8]) -> serde_json::Value {
        let place = columns::MESSAGE.at([message_id.into(), recipient.into()]);
        let plain = self.inside().keys.unseal(&place, sealed).expect("our own key sealed it");
        serde_json::from_slice(&plain).expect("values are JSON")
    }

    /// The security events in the outbox: channel, recipient, event.
    pub fn security_events(&self) -> Vec<(String, String, String)> {
        let mails = self
            .mails()
            .into_iter()
            .filter(|mail| mail["template"].as_str().is_some_and(|name| name.starts_with("security_event")));
        let text = |value: &serde_json::Value| value.as_str().expect("a text").to_owned();
        mails.map(|mail| (text(&mail["channel"]), text(&mail["recipient"]), text(&mail["values"]["event"]))).collect()
    }

    /// A confirmed member without an e-mail address, as some social networks give none.
    pub fn without_email(&self, name: &str) -> Caller {
        let member = self.member(name);
        let sql = "UPDATE members SET email = '', email_confirmed_at = NULL WHERE member_id = ?1";
        self.change(|tx| Ok(tx.run(sql, [member.id])?));
        member
    }

    /// The latest passcode that was queued for the member, on any channel; `None` without one.
    pub fn last_passcode(&self, member: &Caller) -> Option<String> {
        Some(self.passcode_after(member, 0)?.passcode)
    }

    /// A passcode that begins with a zero, as one in ten does. Repeats the request until one comes, six times a day.
    pub fn passcode_from_zero(&self, member: &Caller, ask: impl Fn()) -> String {
        loop {
            ask();
            let passcode = self.last_passcode(member).expect("it was asked for");
            if passcode.starts_with('0') {
                return passcode;
            }
            self.advance(Duration::from_secs(4 * 3600));
        }
    }

    /// The latest passcode that was queued for the member after this message, if any.
    pub fn passcode_after(&self, member: &Caller, message_id: i64) -> Option<Passcode> {
        let sql = "SELECT json_object('message_id', message_id, 'template', template, 'recipient', recipient, 'sealed', hex(sealed))
                   FROM outbox WHERE member_id = ?1 AND template LIKE 'passcode%' ORDER BY message_id DESC LIMIT 1";
        let found: serde_json::Value = serde_json::from_str(&self.look(sql, member.id).pop()?).unwrap();
        let text = |name: &str| found[name].as_str().expect("text").to_owned();
        let found_id = found["message_id"].as_i64().unwrap();
        let (template, recipient) = (text("template"), text("recipient"));
        let values = self.open_message(found_id, &recipient, &unhex(&text("sealed"))?);
        let passcode = values["passcode"].as_str().expect("a passcode is text").to_owned();
        (found_id > message_id).then_some(Passcode { message_id: found_id, template, recipient, passcode })
    }

    /// The number of passcodes queued for or sent to the member on this channel.
    pub fn messages(&self, member: &Caller, channel: &str) -> usize {
        let sql = "SELECT channel FROM outbox WHERE member_id = ?1 AND template GLOB 'passcode_*'";
        self.look(sql, member.id).iter().filter(|by| *by == channel).count()
    }

    /// Gives the member a confirmed telephone number.
    pub fn confirm_phone(&self, member: &Caller) {
        let sql = "UPDATE members SET phone = '+41790000000', phone_confirmed_at = ?2 WHERE member_id = ?1";
        self.change(|tx| Ok(tx.run(sql, (member.id, tx.now()))?));
    }

    fn look(&self, sql: &str, param: i64) -> Vec<String> {
        self.read(|tx| Ok(tx.list(sql, [param])?))
    }

    /// Reads the present database without a request.
    pub fn read<T>(&self, question: impl FnOnce(&Read) -> Result<T, Failure>) -> T {
        self.inside().store.release();
        let answer = self.inside().store.read(question);
        self.inside().store.release();
        answer.expect("the file can be read")
    }

    /// A change that may fail.
    pub fn try_change<T>(&self, change: impl FnOnce(&Write) -> Result<T, Failure>) -> Result<T, Failure> {
        self.inside().store.write(Moment(self.now()), change)
    }

    /// The columns that contain this text anywhere, as `table.column`.
    pub fn holds_text(&self, text: &str) -> Vec<String> {
        file::columns_with(self.inside(), text)
    }
}
