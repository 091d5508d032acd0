//! Two equal sites with members, a signer, an admin at the desk, a kiosk and a partner, and the effects of flying that
//! can be requested at more than one of these.

mod effects;

use super::{Changes, Effect, Refused, done, list_rows};
use crate::desk::{Clerk, kiosk};
use crate::harness::{Caller, Site, senders};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;

/// The tables that flying and paying change, with the columns that are not compared: the actor and origin, columns in
/// which the edges differ by nature, and random ones.
const TABLES: [(&str, &[&str]); 11] = [
    ("bookings", &["partner_id", "registration_id", "purchase_date", "arrived_by", "pin_hash"]),
    ("entries", &[]),
    ("entry_events", &[]),
    ("event_days", &[]),
    ("flown_hours", &[]),
    ("events", &["seq", "history_seq"]),
    ("holdings", &[]),
    ("media", &[]),
    ("notices", &[]),
    ("outbox", &[]),
    ("payments", &[]),
];

/// A site with the people of the effects.
struct Stage {
    site: Site,
    jane: Caller,
    ines: Caller,
    /// An admin who also flies.
    root: Caller,
    clerk: Clerk,
    kiosk: Clerk,
    partner: Caller,
}

impl Stage {
    fn new() -> Stage {
        let site = Site::open_with(|config| {
            senders::configure(config);
            (config.yearly_fee_cents, config.demo) = (3000, true);
        });
        let (jane, ines, root) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]), site.admin());
        site.change(|tx| Ok(tx.run("UPDATE members SET screen_name = 'Root' WHERE member_id = ?1", [root.id])?));
        site.brief(&jane, "Flyer");
        site.pay(&jane, std::time::Duration::from_secs(30 * 86_400));
        let (clerk, kiosk, partner) = (Clerk::at(&site, &root), kiosk::paired(&site), site.partner());
        Stage { site, jane, ines, root, clerk, kiosk, partner }
    }

    fn desk(&self, path: &str, fields: &[(&str, &str)]) -> bool {
        done(&self.clerk.post(&format!("/desk/{path}"), fields))
    }

    /// Signs a member in at the kiosk.
    fn at_kiosk(&self, who: &Caller) -> i64 {
        self.kiosk.post("/kiosk/leave", &[]);
        kiosk::enter(&self.site, &self.kiosk, who);
        0
    }

    fn kiosk(&self, path: &str, fields: &[(&str, &str)]) -> bool {
        done(&self.kiosk.post(&format!("/kiosk/{path}"), fields))
    }

    fn api(&self, who: &Caller, path: &str, body: Value) -> bool {
        done(&who.post(path, body))
    }

    fn act(&self, who: &Caller, entry_id: i64, act: &str, body: Value) -> bool {
        self.api(who, &format!("/account/logbook/entries/{entry_id}/{act}"), body)
    }

    fn log_time(&self, who: &Caller, minutes: i64) -> bool {
        self.api(who, "/account/logbook/time/", json!({ "entry_date": self.site.now(), "time": minutes }))
    }

    fn ask(&self, skill: &str) -> bool {
        let body = json!({ "skill": skill, "entry_date": self.site.now(), "instructor": self.ines.id });
        self.api(&self.jane, "/account/logbook/skills/", body)
    }

    fn last(&self, sql: &str) -> i64 {
        self.site.change(|tx| Ok(tx.get(sql, [])?))
    }

    fn last_skill(&self) -> i64 {
        self.last("SELECT max(entry_id) FROM entries WHERE kind = 'skill' AND cat_group = 'Flyer'")
    }

    fn last_booking(&self) -> i64 {
        self.last("SELECT max(booking_id) FROM bookings")
    }

    fn import(&self, list: &str) -> bool {
        let mut file = tempfile::NamedTempFile::new().expect("a file for the list");
        file.write_all(list.as_bytes()).expect("the list is written");
        self.site.shell(&["import", "logbook", &file.path().to_string_lossy()]);
        true
    }

    /// A payment of the fee that names no member.
    fn unmatched(&self) -> i64 {
        let object = json!({ "id": "pi_1", "object": "payment_intent", "amount": 3000, "currency": "chf" });
        let event = json!({ "id": "evt_1", "type": "payment_intent.succeeded", "data": { "object": object } });
        self.site.processor().post("/payment-webhook", event).ok();
        self.last("SELECT payment_id FROM payments")
    }

    /// Every row of the tables, without the columns that are not compared.
    fn rows(&self, except: &[&str]) -> BTreeSet<String> {
        self.site.change(|tx| {
            let mut rows = BTreeSet::new();
            for (table, hidden) in TABLES.iter().filter(|(table, _)| !except.contains(table)) {
                rows.extend(list_rows(tx, table, |column| hidden.contains(&column))?);
            }
            Ok(rows)
        })
    }
}

/// The outcome of an effect: new rows, removed rows, and the action, subject and detail of its audit rows.
#[derive(Debug, PartialEq)]
struct Left {
    new: Vec<String>,
    gone: Vec<String>,
    audited: Vec<String>,
}

/// Runs an effect at one edge of one site. Effects run one after the other, in the order of their table.
fn run(stage: &Stage, effect: &Effect<Stage>, edge: fn(&Stage, i64) -> bool) -> Left {
    let number = (effect.prepare)(stage);
    let before = stage.rows(effect.except);
    let known = stage.last("SELECT coalesce(max(seq), 0) FROM audit");
    assert_eq!(edge(stage, number), effect.expected != Refused, "{}", effect.name);
    let after = stage.rows(effect.except);
    let sql = "SELECT action || ' ' || subject || ' ' || detail FROM audit WHERE seq > ?1 ORDER BY seq";
    Left {
        new: after.difference(&before).cloned().collect(),
        gone: before.difference(&after).cloned().collect(),
        audited: stage.site.change(|tx| Ok(tx.list(sql, [known])?)),
    }
}

#[test]
fn the_same_effect_leaves_the_same_rows_at_whichever_edge() {
    let (one, other) = (Stage::new(), Stage::new());
    for effect in effects::EFFECTS {
        let name = effect.name;
        let (mut left, mut right) = (run(&one, effect, effect.one), run(&other, effect, effect.other));
        if effect.expected != Changes {
            for left in [&left, &right] {
                assert!(left.new.is_empty() && left.gone.is_empty() && left.audited.is_empty(), "{name}: {left:#?}");
            }
        }
        if effect.except.contains(&"audit") {
            (left.audited, right.audited) = (Vec::new(), Vec::new());
        }
        assert_eq!(left, right, "{name}");
        assert_ne!(left.new.is_empty() && left.gone.is_empty(), effect.expected == Changes, "{name}");
    }
}
