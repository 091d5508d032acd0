//! The same deed asked for at two edges of two equal sites leaves the same rows: audit, notices, and whatever else the
//! deed changes. One line a deed; what differs is who did it from where, and what is random.

use crate::desk::Clerk;
use crate::harness::{Caller, Site, senders};
use serde_json::json;
use std::collections::BTreeSet;
use tunneldesk::store::tables::outbox::{self, Channel, New};
use tunneldesk::store::tables::{contact, social_links, suppressed};

/// Columns that say who did it from where.
const AUTHORS: [&str; 4] = ["audit.who", "audit.origin", "kiosk_pairings.made_by", "kiosks.paired_by"];
/// What the callback keeps of the request itself.
const REQUESTS: [&str; 2] = ["callbacks", "deletions"];
/// Columns of random text.
const RANDOM: [&str; 3] = ["partners.client_id", "site.site_id", "erasures.rebuilt_at"];

/// One deed at both edges. Each function says whether the edge did what it was asked.
struct Deed {
    name: &'static str,
    /// What the deed needs, at both sites; a number for it.
    prepare: fn(&Stage) -> i64,
    one: fn(&Stage, i64) -> bool,
    other: fn(&Stage, i64) -> bool,
    expected: Expected,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    Changes,
    /// It is done, or so already.
    Nothing,
    Refused,
}
use Expected::{Changes, Nothing, Refused};

/// A site with the people of the deeds.
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

    /// A form of the desk. A page that shows what was made counts as done, like one that leads on.
    fn desk(&self, path: &str, fields: &[(&str, &str)]) -> bool {
        let reply = self.admin.post(path, fields);
        assert!(reply.status < 500, "{reply}");
        reply.status < 400
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
        self.site.change(|tx| Ok(tx.get(sql, [], |row| row.get(0))?))
    }

    /// A message to jane that nobody took.
    fn dead_message(&self) -> i64 {
        let values = json!({ "event": "password_changed" });
        let new = New {
            channel: Channel::Email,
            member_id: Some(self.jane.id),
            recipient: "jane@example.com",
            language: "de",
            template: "security_event",
            values: &values,
        };
        self.site.change(|tx| {
            let message_id = outbox::insert(tx, &self.site.inside().keys, &new)?;
            outbox::set_dead(tx, message_id, "550 no such mailbox")?;
            Ok(message_id)
        })
    }

    fn contact_message(&self) -> i64 {
        let new = contact::New {
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
        let mark = suppressed::Mark {
            address: "jane@example.com".to_owned(),
            reason: "hard_bounce".to_owned(),
            detail: String::new(),
            since: self.site.now(),
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

    /// Every row of every table, but for who did it and what is random.
    fn rows(&self) -> BTreeSet<String> {
        let client_id = self.partner.client_id();
        self.site.change(|tx| {
            let tables: Vec<String> = tx.list(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
                        AND name NOT LIKE 'members_search%'",
                [],
                |row| row.get(0),
            )?;
            let mut rows = BTreeSet::new();
            for table in tables.into_iter().filter(|table| !REQUESTS.contains(&&**table)) {
                let columns: Vec<String> =
                    tx.list("SELECT name FROM pragma_table_info(?1)", [&table], |row| row.get(0))?;
                let hidden = |column: &String| {
                    let name = format!("{table}.{column}");
                    AUTHORS.contains(&&*name) || RANDOM.contains(&&*name)
                };
                let shown = columns.iter().filter(|column| !hidden(column));
                let cell = |c: &String| format!("'{c}=' || iif(typeof({c}) = 'blob', length({c}), quote({c}))");
                let cells = shown.map(cell).collect::<Vec<_>>().join(" || ' ' || ");
                let listed: Vec<String> = tx.list(&format!("SELECT {cells} FROM {table}"), [], |row| row.get(0))?;
                rows.extend(listed.into_iter().map(|row| format!("{table}: {}", without_random(&row, client_id))));
            }
            Ok(rows)
        })
    }
}

/// A partner's client-id stands in the audit log: the one from before by its name, a new one without. An erased member has
/// a random name.
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

fn nothing(_: &Stage) -> i64 {
    0
}

const DEEDS: &[Deed] = &[
    Deed {
        name: "renew a PIN",
        prepare: nothing,
        one: |s, _| s.card("pin"),
        other: |s, _| s.jane.post("/account/profile/booking-pin", json!({})).status < 400,
        expected: Changes,
    },
    Deed {
        name: "ban",
        prepare: nothing,
        one: |s, _| s.card("ban"),
        other: |s, _| s.shell("member ban jane"),
        expected: Changes,
    },
    Deed {
        name: "ban again",
        prepare: nothing,
        one: |s, _| s.card("ban"),
        other: |s, _| s.shell("member ban jane"),
        expected: Nothing,
    },
    Deed {
        name: "lift a ban",
        prepare: nothing,
        one: |s, _| s.card("ban/lift"),
        other: |s, _| s.shell("member ban jane --lift"),
        expected: Changes,
    },
    Deed {
        name: "lift no ban",
        prepare: nothing,
        one: |s, _| s.card("ban/lift"),
        other: |s, _| s.shell("member ban jane --lift"),
        expected: Nothing,
    },
    Deed {
        name: "confirm",
        prepare: |s| s.sql("UPDATE members SET email_confirmed_at = NULL WHERE username = 'jane'"),
        one: |s, _| s.card("email"),
        other: |s, _| s.shell("member confirm jane"),
        expected: Changes,
    },
    Deed {
        name: "confirm again",
        prepare: nothing,
        one: |s, _| s.card("email"),
        other: |s, _| s.shell("member confirm jane"),
        expected: Nothing,
    },
    Deed {
        name: "reset a second factor",
        prepare: factor,
        one: |s, _| s.card("second-factor"),
        other: |s, _| s.shell("member reset-second-factor jane"),
        expected: Changes,
    },
    Deed {
        name: "give a role",
        prepare: nothing,
        one: |s, _| s.desk("/desk/site/users", &[("member", "jane"), ("role", "desk")]),
        other: |s, _| s.shell("member set-role jane desk"),
        expected: Changes,
    },
    Deed {
        name: "give the same role",
        prepare: nothing,
        one: |s, _| s.desk("/desk/site/users", &[("member", "jane"), ("role", "desk")]),
        other: |s, _| s.shell("member set-role jane desk"),
        expected: Changes,
    },
    Deed {
        name: "take a role",
        prepare: nothing,
        one: |s, _| s.desk("/desk/site/users", &[("member", "jane"), ("role", "member")]),
        other: |s, _| s.shell("member set-role jane member"),
        expected: Changes,
    },
    Deed {
        name: "add a partner",
        prepare: nothing,
        one: |s, _| s.desk("/desk/partners", &[("name", "Sky"), ("networks", "10.0.0.0/8"), ("per_minute", "60")]),
        other: |s, _| s.shell("partner add Sky --allow 10.0.0.0/8 --requests-per-minute 60"),
        expected: Changes,
    },
    Deed {
        name: "add a partner without a name",
        prepare: nothing,
        one: |s, _| s.desk("/desk/partners", &[("name", " ")]),
        other: |s, _| s.shell("partner add _"),
        expected: Refused,
    },
    Deed {
        name: "add a partner of a long name",
        prepare: nothing,
        one: |s, _| s.desk("/desk/partners", &[("name", &"x".repeat(101))]),
        other: |s, _| s.shell(&format!("partner add {}", "x".repeat(101))),
        expected: Refused,
    },
    Deed {
        name: "rotate a secret",
        prepare: nothing,
        one: |s, _| s.partner_page("rotate", &[("keep_days", "3")]),
        other: |s, _| s.shell(&format!("partner rotate {} --keep-days 3", s.partner.client_id())),
        expected: Changes,
    },
    Deed {
        name: "restore a record",
        prepare: Stage::deleted_record,
        one: |s, id| s.partner_page(&format!("users/{id}/restore"), &[]),
        other: |s, _| s.partner_page("users/restore", &[]),
        expected: Changes,
    },
    Deed {
        name: "revoke a partner",
        prepare: nothing,
        one: |s, _| s.partner_page("revoke", &[("name", "Skyline")]),
        other: |s, _| s.shell(&format!("partner revoke {}", s.partner.client_id())),
        expected: Changes,
    },
    Deed {
        name: "revoke a partner again",
        prepare: nothing,
        one: |s, _| s.partner_page("revoke", &[("name", "Skyline")]),
        other: |s, _| s.shell(&format!("partner revoke {}", s.partner.client_id())),
        expected: Nothing,
    },
    Deed {
        name: "rotate what is revoked",
        prepare: nothing,
        one: |s, _| s.partner_page("rotate", &[("keep_days", "3")]),
        other: |s, _| s.shell(&format!("partner rotate {}", s.partner.client_id())),
        expected: Refused,
    },
    Deed {
        name: "pair a kiosk",
        prepare: nothing,
        one: |s, _| s.desk("/desk/kiosks", &[("name", " Entrance ")]),
        other: |s, _| s.shell("kiosk pair _Entrance_"),
        expected: Changes,
    },
    Deed {
        name: "pair a kiosk of no name",
        prepare: nothing,
        one: |s, _| s.desk("/desk/kiosks", &[("name", " ")]),
        other: |s, _| s.shell("kiosk pair _"),
        expected: Refused,
    },
    Deed {
        name: "pair a kiosk of a long name",
        prepare: nothing,
        one: |s, _| s.desk("/desk/kiosks", &[("name", &"x".repeat(61))]),
        other: |s, _| s.shell(&format!("kiosk pair {}", "x".repeat(61))),
        expected: Refused,
    },
    Deed {
        name: "pair a kiosk of two lines",
        prepare: nothing,
        one: |s, _| s.desk("/desk/kiosks", &[("name", "a\nb")]),
        other: |s, _| s.shell("kiosk pair a\nb"),
        expected: Refused,
    },
    Deed {
        name: "revoke a kiosk",
        prepare: |s| s.sql("INSERT INTO kiosks (name, key_hash, paired_at, used_at) VALUES ('Bar', x'00', 1, 1)"),
        one: |s, _| s.desk("/desk/kiosks/1/revoke", &[]),
        other: |s, _| s.shell("kiosk revoke 1"),
        expected: Changes,
    },
    Deed {
        name: "revoke a kiosk again",
        prepare: nothing,
        one: |s, _| s.desk("/desk/kiosks/1/revoke", &[]),
        other: |s, _| s.shell("kiosk revoke 1"),
        expected: Refused,
    },
    Deed {
        name: "be done with a contact",
        prepare: Stage::contact_message,
        one: |s, id| s.desk(&format!("/desk/contact/{id}/done"), &[]),
        other: |s, id| s.shell(&format!("contact done {id}")),
        expected: Changes,
    },
    Deed {
        name: "be done with a contact again",
        prepare: |_| 1,
        one: |s, id| s.desk(&format!("/desk/contact/{id}/done"), &[]),
        other: |s, id| s.shell(&format!("contact done {id}")),
        expected: Nothing,
    },
    Deed {
        name: "be done with two contacts",
        prepare: |s| s.contact_message().max(s.contact_message()),
        one: |s, id| (id - 1..=id).all(|id| s.desk(&format!("/desk/contact/{id}/done"), &[])),
        other: |s, id| s.shell(&format!("contact done {} {id}", id - 1)),
        expected: Changes,
    },
    Deed {
        name: "be done with no contact",
        prepare: nothing,
        one: |s, _| s.desk("/desk/contact/99/done", &[]),
        other: |s, _| s.shell("contact done 99"),
        expected: Refused,
    },
    Deed {
        name: "read a message out",
        prepare: Stage::dead_message,
        one: |s, id| s.desk(&format!("/desk/messages/{id}/read"), &[]),
        other: |s, id| s.shell(&format!("outbox show {id}")),
        expected: Changes,
    },
    Deed {
        name: "send a message again",
        prepare: Stage::dead_message,
        one: |s, id| s.desk(&format!("/desk/messages/{id}/retry"), &[]),
        other: |s, id| s.shell(&format!("outbox retry {id}")),
        expected: Changes,
    },
    Deed {
        name: "send what is dead again",
        prepare: Stage::dead_message,
        one: |s, _| s.desk("/desk/messages/retry", &[]),
        other: |s, _| s.shell("outbox retry --dead"),
        expected: Changes,
    },
    Deed {
        name: "send to a marked address",
        prepare: |s| s.mark() + s.dead_message(),
        one: |s, id| s.desk(&format!("/desk/messages/{id}/retry"), &[]),
        other: |s, id| s.shell(&format!("outbox retry {id}")),
        expected: Refused,
    },
    Deed {
        name: "lift a mark",
        prepare: nothing,
        one: |s, _| s.desk("/desk/messages/lift", &[("address", "jane@example.com")]),
        other: |s, _| s.shell("outbox lift jane@example.com"),
        expected: Changes,
    },
    Deed {
        name: "lift no mark",
        prepare: nothing,
        one: |s, _| s.desk("/desk/messages/lift", &[("address", "jane@example.com")]),
        other: |s, _| s.shell("outbox lift jane@example.com"),
        expected: Refused,
    },
    Deed {
        name: "erase",
        prepare: leave,
        one: |s, _| s.shell("member erase zoe --yes"),
        other: |s, _| {
            let payload = json!({ "algorithm": "HMAC-SHA256", "issued_at": s.site.now(), "user_id": "900001" });
            let body = json!({ "signed_request": senders::signed_request(senders::APP_SECRET, &payload) });
            s.site.stranger().post("/social-data-deletion", body).status < 400
        },
        expected: Changes,
    },
];

/// Zoe, whose account a social network opens alone, and whose name another member wrote down.
fn leave(s: &Stage) -> i64 {
    let zoe = s.site.member("zoe");
    s.site.change(|tx| {
        let sql = "UPDATE members SET real_name = 'Zoe Quillfeather', password_hash = NULL, email_confirmed_at = NULL
                   WHERE member_id = ?1";
        tx.run(sql, [zoe.id])?;
        let sql = "INSERT INTO contact_messages (name, email, message, language, created_at)
                   VALUES ('B', 'b@example.com', 'with Zoe Quillfeather', 'en', 1)";
        tx.run(sql, [])?;
        Ok(social_links::insert(tx, "facebook", "900001", zoe.id, "")?)
    });
    zoe.id
}

/// A second factor that is on. that is on, with a code to spare.
fn factor(s: &Stage) -> i64 {
    s.sql("INSERT INTO second_factors (member_id, kind, since) SELECT member_id, 'passcode', 1 FROM members WHERE username = 'jane'")
}

#[test]
fn one_deed_leaves_the_same_rows_wherever_it_is_asked_for() {
    let (one, other) = (Stage::new(), Stage::new());
    let mut wrong = Vec::new();
    for deed in DEEDS {
        let id = (deed.prepare)(&one);
        assert_eq!(id, (deed.prepare)(&other), "{}", deed.name);
        let before = one.rows();
        // What an earlier deed left is that deed's fault.
        let known = differ(&before, &other.rows());
        let done = [(deed.one)(&one, id), (deed.other)(&other, id)];
        let after = one.rows();
        let new: Vec<_> = differ(&after, &other.rows()).difference(&known).cloned().collect();
        if !new.is_empty() {
            wrong.push(format!("{}: the rows differ: {new:#?}", deed.name));
        }
        if done != [deed.expected != Refused; 2] {
            wrong.push(format!("{}: done {done:?}, expected {:?}", deed.name, deed.expected));
        }
        if (before != after) != (deed.expected == Changes) {
            wrong.push(format!("{}: expected {:?}: {:#?}", deed.name, deed.expected, differ(&before, &after)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Rows of one that the other has not.
fn differ(one: &BTreeSet<String>, other: &BTreeSet<String>) -> BTreeSet<String> {
    one.symmetric_difference(other).cloned().collect()
}
