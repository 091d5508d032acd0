//! States that a test needs its people to be in, and looks at what the file holds.

use super::caller::{Caller, Credential};
use super::{Site, file};
use std::time::Duration;
use tunneldesk::domain::role::Role;
use tunneldesk::failure::Failure;
use tunneldesk::keys::{Purpose, hex, random, unhex};
use tunneldesk::store::{Write, members, partners};

impl Site {
    /// The same person with a fresh session.
    pub fn again(&self, member: &Caller) -> Caller {
        self.sign_in(member.id, &member.name, Role::Member, Duration::ZERO)
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

    /// A skill entry of the member in this state.
    pub fn skill(&self, member: &Caller, status: &str) -> i64 {
        self.change(|tx| {
            let sql = "INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, cat_id, skill, created_at, updated_at)
                       VALUES (?1, 'skill', ?2, ?3, ?4, ?1, 'Flyer', '1', '1', ?3, ?3)";
            Ok(tx.insert(sql, (member.id, status, tx.now(), Site::TUNNEL_ID))?)
        })
    }

    /// The member holds a level, since then.
    pub fn hold(&self, member: &Caller, cat_group: &str, cat_id: &str, track: &str, since: i64) {
        let sql = "INSERT INTO holdings (member_id, cat_group, cat_id, track, since) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.change(|tx| Ok(tx.run(sql, (member.id, cat_group, cat_id, track, since))?));
    }

    /// Codes of the certificates that the member took, in no order that means anything.
    pub fn codes(&self, member: &Caller) -> Vec<String> {
        self.look("SELECT code FROM certificates WHERE member_id = ?1", member.id)
    }

    /// The membership is paid for this long from now.
    pub fn pay(&self, member: &Caller, ahead: Duration) {
        self.change(|tx| Ok(members::set_paid_until(tx, member.id, Some(tx.now() + ahead.as_secs() as i64))?));
    }

    pub fn unconfirm(&self, member: &Caller) {
        self.change(|tx| Ok(tx.run("UPDATE members SET email_confirmed_at = NULL WHERE member_id = ?1", [member.id])?));
    }

    pub fn born(&self, member: &Caller, dob: i64) {
        self.change(|tx| Ok(tx.run("UPDATE members SET dob = ?2 WHERE member_id = ?1", (member.id, dob))?));
    }

    /// A second secret; the old one goes on for so many days.
    pub fn rotate(&self, partner: &Caller, keep_days: i64) -> Caller {
        let secret = hex(&random::<32>());
        let sealed = self.inside().keys.seal(Purpose::PartnerSecret, secret.as_bytes());
        self.change(|tx| {
            let found = partners::find(tx, partner.client_id())?.expect("the partner is there");
            partners::end_secrets(tx, found.partner_id, tx.now() + keep_days * 86_400)?;
            Ok(partners::insert_secret(tx, found.partner_id, &sealed)?)
        });
        partner.with(Credential::Partner { client_id: partner.client_id().to_owned(), secret, strict: false })
    }

    /// The machine's clock falls behind what the file has seen.
    pub fn set_back(&self, by: Duration) {
        let now = self.now();
        self.inside().clock.set(now - by.as_secs() as i64);
    }

    /// Keys of the member's notices, oldest first.
    pub fn notices(&self, member: &Caller) -> Vec<String> {
        self.look("SELECT subject FROM notices WHERE member_id = ?1 ORDER BY notification_id", member.id)
    }

    /// Whether signing in to some account is delayed now.
    pub fn sign_in_is_delayed(&self) -> bool {
        let now = self.now();
        !self.look("SELECT 'closed' FROM throttles WHERE closed_until > ?1", now).is_empty()
    }

    /// Messages in line, oldest first: `channel`, `recipient`, `template` and the `values` that are sealed in the file.
    pub fn mails(&self) -> Vec<serde_json::Value> {
        let site = self.inside();
        site.store.rest();
        let sql = "SELECT channel, recipient, template, sealed FROM outbox ORDER BY message_id";
        let read = |row: &rusqlite::Row| {
            Ok((
                row.get::<_, String>(0)?,
                row.get::<_, String>(1)?,
                row.get::<_, String>(2)?,
                row.get::<_, Vec<u8>>(3)?,
            ))
        };
        let rows = site.store.read(|tx| Ok(tx.list(sql, [], read)?)).expect("the file can be read");
        site.store.rest();
        let open = |(channel, recipient, template, sealed): (String, String, String, Vec<u8>)| {
            let plain = site.keys.unseal(Purpose::Message, &sealed).expect("our own key sealed it");
            let values: serde_json::Value = serde_json::from_slice(&plain).expect("values are JSON");
            serde_json::json!({ "channel": channel, "recipient": recipient, "template": template, "values": values })
        };
        rows.into_iter().map(open).collect()
    }

    /// The passcode that went out last to the member, wherever to; none when none did.
    pub fn last_passcode(&self, member: &Caller) -> Option<String> {
        let sql = "SELECT hex(sealed) FROM outbox WHERE member_id = ?1 ORDER BY message_id DESC LIMIT 1";
        let sealed = self.look(sql, member.id).pop()?;
        let plain = self.inside().keys.unseal(Purpose::Message, &unhex(&sealed)?).expect("our own message");
        let values: serde_json::Value = serde_json::from_slice(&plain).unwrap();
        values["passcode"].as_str().map(str::to_owned)
    }

    /// How many passcodes wait to go out, or went, to the member by this channel.
    pub fn messages(&self, member: &Caller, channel: &str) -> usize {
        let sql = "SELECT channel FROM outbox WHERE member_id = ?1";
        self.look(sql, member.id).iter().filter(|by| *by == channel).count()
    }

    /// The member has a telephone number that was confirmed.
    pub fn confirm_phone(&self, member: &Caller) {
        let sql = "UPDATE members SET phone = '+41790000000', phone_confirmed_at = ?2 WHERE member_id = ?1";
        self.change(|tx| Ok(tx.run(sql, (member.id, tx.now()))?));
    }

    fn look(&self, sql: &str, param: i64) -> Vec<String> {
        self.inside().store.rest();
        let found = self.inside().store.read(|tx| Ok(tx.list(sql, [param], |row| row.get(0))?));
        self.inside().store.rest();
        found.expect("the file can be read")
    }

    /// A change that may be refused.
    pub fn try_change<T>(&self, change: impl FnOnce(&Write) -> Result<T, Failure>) -> Result<T, Failure> {
        self.inside().store.write(self.now(), change)
    }

    /// The columns that hold this text anywhere, as `table.column`.
    pub fn holds_text(&self, text: &str) -> Vec<String> {
        file::columns_with(self.inside(), text)
    }
}
