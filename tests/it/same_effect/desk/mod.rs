//! Two equal sites with an admin at the desk, a technician at the shell and a partner, and the effects that can be
//! requested at more than one of these.

mod effects;

use super::{Changes, Refused, done, list_rows};
use crate::desk::Clerk;
use crate::harness::{Caller, Site, senders};
use serde_json::json;
use std::collections::BTreeSet;
use tunneldesk::domain::ids::{MemberId, MessageId};
use tunneldesk::moment::Moment;
use tunneldesk::store::tables::outbox::{self, Channel, NewMessage};
use tunneldesk::store::tables::{contact, suppressed};

/// Columns that name the actor and the origin.
const AUTHORS: [&str; 4] = ["audit.actor", "audit.origin", "kiosk_pairings.made_by", "kiosks.paired_by"];
/// Tables in which a callback keeps the request itself.
const REQUESTS: [&str; 2] = ["callbacks", "deletions"];
/// Columns whose values differ from site to site.
const RANDOM: [&str; 3] = ["partners.client_id", "site.site_id", "erasures.rebuilt_at"];

/// A site with the people of the effects.
struct Stage {
    site: Site,
    jane: Caller,
    admin: Clerk,
    partner: Caller,
}

impl Stage {
    fn new() -> Stage {
        let site = Site::open_with(|config| {
            senders::configure(config);
            config.demo = true;
        });
        let (jane, root, partner) = (site.member("jane"), site.member("root"), site.partner());
        site.change(|tx| {
            tx.run("UPDATE members SET language = 'de' WHERE member_id = ?1", [jane.id])?;
            tx.run("UPDATE members SET role = 'admin' WHERE member_id = ?1", [root.id])?;
            Ok(tx.run("UPDATE partners SET name = 'Skyline'", [])?)
        });
        let admin = Clerk::at(&site, &root);
        Stage { site, jane, admin, partner }
    }

    /// Posts a form of the desk. Returns whether it succeeded.
    fn desk(&self, path: &str, fields: &[(&str, &str)]) -> bool {
        done(&self.admin.post(path, fields))
    }

    fn card(&self, path: &str) -> bool {
        self.desk(&format!("/desk/members/{}/{path}", self.jane.id), &[])
    }

    fn shell(&self, line: &str) -> bool {
        self.site.try_shell(&line.split(' ').map(|word| word.replace('_', " ")).collect::<Vec<_>>())
    }

    fn sql(&self, sql: &str) -> i64 {
        self.site.change(|tx| Ok(tx.run(sql, [])?));
        0
    }

    fn number(&self, sql: &str) -> i64 {
        self.site.change(|tx| Ok(tx.get(sql, [])?))
    }

    /// An undeliverable message to jane.
    fn dead_message(&self) -> i64 {
        let values = json!({ "event": "password_changed" });
        let new = NewMessage {
            channel: Channel::Email,
            member_id: Some(MemberId(self.jane.id)),
            recipient: "jane@example.com",
            language: "de",
            template: "security_event",
            values: &values,
        };
        self.site.change(|tx| {
            let message_id = outbox::insert(tx, &self.site.inside().keys, &new)?;
            outbox::set_dead(tx, MessageId(message_id), "550 no such mailbox")?;
            Ok(message_id)
        })
    }

    fn contact_message(&self) -> i64 {
        let new = contact::NewContactMessage {
            name: "A",
            email: "a@example.com",
            country: "",
            enquiry: "",
            message: "m",
            language: "en",
            member_id: None,
            signed_in: false,
        };
        self.site.change(|tx| Ok(contact::insert(tx, &new)?))
    }

    fn mark(&self) -> i64 {
        let mark = suppressed::Suppression {
            address: "jane@example.com".to_owned(),
            reason: "hard_bounce".to_owned(),
            detail: String::new(),
            since: Moment(self.site.now()),
        };
        self.site.change(|tx| Ok(suppressed::mark(tx, &mark)?));
        0
    }

    fn partner_id(&self) -> i64 {
        self.number("SELECT partner_id FROM partners WHERE name = 'Skyline'")
    }

    fn deleted_record(&self) -> i64 {
        let made = self.partner.post("/external/partner-metrics/op", json!({ "email": "a@example.com" })).ok_json();
        let user_id = made["id"].as_i64().expect("a record has a number");
        self.partner.delete(&format!("/external/partner-metrics/op/{user_id}")).ok();
        user_id
    }

    fn partner_page(&self, path: &str, fields: &[(&str, &str)]) -> bool {
        self.desk(&format!("/desk/partners/{}/{path}", self.partner_id()), fields)
    }

    /// Every row of every table, without the columns of the actor and of random text.
    fn rows(&self) -> BTreeSet<String> {
        let client_id = self.partner.client_id();
        self.site.change(|tx| {
            let tables: Vec<String> = tx.list(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                        AND name NOT LIKE 'members_search%'",
                [],
            )?;
            let mut rows = BTreeSet::new();
            for table in tables.into_iter().filter(|table| !REQUESTS.contains(&&**table)) {
                let is_hidden = |column: &str| {
                    let name = format!("{table}.{column}");
                    AUTHORS.contains(&&*name) || RANDOM.contains(&&*name)
                };
                let listed = list_rows(tx, &table, is_hidden)?;
                rows.extend(listed.iter().map(|row| without_random(row, client_id)));
            }
            Ok(rows)
        })
    }
}

/// Replaces random text in a row: an existing partner's client-id becomes the partner's name, a new partner's becomes
/// `NEW`, and the random name of an erased member becomes `ERASED`.
fn without_random(row: &str, client_id: &str) -> String {
    let mut named = row.replace(client_id, "SKYLINE");
    while let Some(at) = named.find("erased-") {
        let end = named[at..].find(['\'', ' ']).map_or(named.len(), |length| at + length);
        named.replace_range(at..end, "ERASED");
    }
    match named.split_once("'partner:") {
        Some((before, rest)) if !rest.starts_with("SKYLINE") => {
            format!("{before}'partner:NEW'{}", rest.split_once('\'').map_or("", |(_, after)| after))
        }
        _ => named,
    }
}

#[test]
fn one_effect_leaves_the_same_rows_wherever_it_is_asked_for() {
    let (one, other) = (Stage::new(), Stage::new());
    let mut wrong = Vec::new();
    for effect in effects::EFFECTS {
        let id = (effect.prepare)(&one);
        assert_eq!(id, (effect.prepare)(&other), "{}", effect.name);
        let before = one.rows();
        // Differences left by earlier effects are not this effect's.
        let known = differ(&before, &other.rows());
        let done = [(effect.one)(&one, id), (effect.other)(&other, id)];
        let after = one.rows();
        let new: Vec<_> = differ(&after, &other.rows()).difference(&known).cloned().collect();
        if !new.is_empty() {
            wrong.push(format!("{}: the rows differ: {new:#?}", effect.name));
        }
        if done != [effect.expected != Refused; 2] {
            wrong.push(format!("{}: done {done:?}, expected {:?}", effect.name, effect.expected));
        }
        if (before != after) != (effect.expected == Changes) {
            wrong.push(format!("{}: expected {:?}: {:#?}", effect.name, effect.expected, differ(&before, &after)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The rows of `one` that are not in `other`.
fn differ(one: &BTreeSet<String>, other: &BTreeSet<String>) -> BTreeSet<String> {
    one.symmetric_difference(other).cloned().collect()
}
