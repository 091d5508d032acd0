//! The same deed of flying asked for at two edges of two equal sites leaves the same rows: audit, notices, and whatever
//! else the deed changes. One line a deed.

use crate::desk::{Clerk, book, kiosk};
use crate::harness::{Caller, PASSWORD, Reply, Site, pictures, senders};
use http::Method;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::Write;

/// The tables that flying and paying for it change, with the columns that are not compared: who did it from where, where
/// the edges differ in that by nature, and what is random.
const TABLES: [(&str, &[&str]); 11] = [
    ("bookings", &["partner_id", "registration_id", "purchase_date", "arrived_by"]),
    ("entries", &[]),
    ("entry_moves", &[]),
    ("event_days", &[]),
    ("flown_hours", &[]),
    ("history", &[]),
    ("holdings", &[]),
    ("media", &[]),
    ("notices", &[]),
    ("outbox", &[]),
    ("payments", &[]),
];

/// One deed at both edges, one after the other in the order of the table; each function gives the number that `prepare`
/// gave, and says whether the edge did what was asked.
struct Deed {
    name: &'static str,
    prepare: fn(&Stage) -> i64,
    one: fn(&Stage, i64) -> bool,
    other: fn(&Stage, i64) -> bool,
    expected: Expected,
    /// Tables, or `audit`, that differ because another person acts, or because one edge speaks for a partner.
    except: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Expected {
    Changes,
    /// Done, or so already.
    Nothing,
    Refused,
}
use Expected::{Changes, Nothing, Refused};

/// A site with the people of the deeds.
struct Stage {
    site: Site,
    jane: Caller,
    ines: Caller,
    /// An admin who flies as well.
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

    /// Signs somebody in at the kiosk.
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
        self.site.change(|tx| Ok(tx.get(sql, [], |row| row.get(0))?))
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

    /// A payment of the fee that names nobody.
    fn unmatched(&self) -> i64 {
        let object = json!({ "id": "pi_1", "object": "payment_intent", "amount": 3000, "currency": "chf" });
        let event = json!({ "id": "evt_1", "type": "payment_intent.succeeded", "data": { "object": object } });
        self.site.processor().post("/payment-webhook", event).ok();
        self.last("SELECT payment_id FROM payments")
    }

    /// Every row of the tables, but for the columns that are not compared. Of blobs the length.
    fn rows(&self, except: &[&str]) -> BTreeSet<String> {
        self.site.change(|tx| {
            let mut rows = BTreeSet::new();
            for (table, hidden) in TABLES.iter().filter(|(table, _)| !except.contains(table)) {
                let columns: Vec<String> =
                    tx.list("SELECT name FROM pragma_table_info(?1)", [table], |row| row.get(0))?;
                let shown = columns.iter().filter(|column| !hidden.contains(&column.as_str()));
                let cells = shown
                    .map(|c| format!("'{c}=' || iif(typeof({c}) = 'blob', length({c}), quote({c}))"))
                    .collect::<Vec<_>>()
                    .join(" || ' ' || ");
                let listed: Vec<String> = tx.list(&format!("SELECT {cells} FROM {table}"), [], |row| row.get(0))?;
                rows.extend(listed.into_iter().map(|row| format!("{table}: {row}")));
            }
            Ok(rows)
        })
    }
}

/// What a deed left: the new rows, the old ones, and of the audit log action, subject and detail.
#[derive(Debug, PartialEq)]
struct Left {
    new: Vec<String>,
    gone: Vec<String>,
    audited: Vec<String>,
}

/// Runs a deed at one edge.
fn run(stage: &Stage, deed: &Deed, edge: fn(&Stage, i64) -> bool) -> Left {
    let number = (deed.prepare)(stage);
    let before = stage.rows(deed.except);
    let known = stage.last("SELECT coalesce(max(seq), 0) FROM audit");
    assert_eq!(edge(stage, number), deed.expected != Refused, "{}", deed.name);
    let after = stage.rows(deed.except);
    let sql = "SELECT deed || ' ' || whom || ' ' || detail FROM audit WHERE seq > ?1 ORDER BY seq";
    Left {
        new: after.difference(&before).cloned().collect(),
        gone: before.difference(&after).cloned().collect(),
        audited: stage.site.change(|tx| Ok(tx.list(sql, [known], |row| row.get(0))?)),
    }
}

fn done(reply: &Reply) -> bool {
    assert!(reply.status < 500, "{reply}");
    reply.status < 400
}

fn nothing(_: &Stage) -> i64 {
    0
}

const DEEDS: &[Deed] = &[
    Deed {
        name: "log flight time",
        prepare: |s| s.at_kiosk(&s.jane),
        one: |s, _| s.log_time(&s.jane, 12),
        other: |s, _| s.kiosk("time", &[("minutes", "12")]),
        expected: Changes,
        except: &[],
    },
    Deed {
        name: "log more flight time than there is",
        prepare: nothing,
        one: |s, _| s.log_time(&s.jane, 601),
        other: |s, _| s.kiosk("time", &[("minutes", "601")]),
        expected: Refused,
        except: &[],
    },
    Deed {
        name: "log flight time of one's own at the desk",
        prepare: nothing,
        one: |s, _| s.log_time(&s.root, 12),
        other: |s, _| s.desk(&format!("members/{}/time", s.root.id), &[("minutes", "12")]),
        expected: Changes,
        except: &[],
    },
    Deed {
        name: "log flight time by a list",
        prepare: nothing,
        one: |s, _| s.log_time(&s.jane, 13),
        other: |s, _| s.import(&format!("username,kind,entry_date,minutes\njane,time,{},13\n", s.site.now())),
        expected: Changes,
        // A list is one row of the audit log.
        except: &["audit"],
    },
    Deed {
        name: "ask for a signature",
        prepare: nothing,
        one: |s, _| s.ask("10101"),
        other: |s, _| s.kiosk("sign-off/10101", &[("signer", &s.ines.id.to_string())]),
        expected: Changes,
        except: &[],
    },
    Deed {
        name: "ask for a signature again",
        prepare: nothing,
        one: |s, _| s.ask("10101"),
        other: |s, _| s.kiosk("sign-off/10101", &[("signer", &s.ines.id.to_string())]),
        expected: Refused,
        except: &[],
    },
    Deed {
        name: "suspend what waits",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.root, id, "suspend", json!({})),
        other: |s, id| s.desk(&format!("sign-offs/{id}/suspend"), &[]),
        expected: Refused,
        except: &[],
    },
    Deed {
        name: "sign without the authority",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.root, id, "sign", json!({})),
        other: |s, id| s.desk(&format!("sign-offs/{id}/sign"), &[("username", &s.root.name), ("password", PASSWORD)]),
        expected: Refused,
        except: &[],
    },
    Deed {
        name: "sign",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.ines, id, "sign", json!({ "comments_instructor": "steady" })),
        other: |s, id| {
            let form = [("username", "ines"), ("password", PASSWORD), ("comment", "steady")];
            s.desk(&format!("sign-offs/{id}/sign"), &form)
        },
        expected: Changes,
        except: &[],
    },
    Deed {
        name: "suspend",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.root, id, "suspend", json!({})),
        other: |s, id| s.desk(&format!("sign-offs/{id}/suspend"), &[]),
        expected: Changes,
        except: &[],
    },
    Deed {
        name: "reinstate",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.root, id, "reinstate", json!({})),
        other: |s, id| s.desk(&format!("sign-offs/{id}/reinstate"), &[]),
        expected: Changes,
        except: &[],
    },
    Deed {
        name: "deny",
        prepare: |s| {
            assert!(s.ask("10102"));
            s.last_skill()
        },
        one: |s, id| s.act(&s.ines, id, "deny", json!({ "comment_denial": "not yet" })),
        other: |s, id| {
            let form = [("reason", "not yet"), ("username", "ines"), ("password", PASSWORD)];
            s.desk(&format!("sign-offs/{id}/deny"), &form)
        },
        expected: Changes,
        except: &[],
    },
    Deed {
        name: "deny again",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.ines, id, "deny", json!({ "comment_denial": "not yet" })),
        other: |s, id| {
            let form = [("reason", "not yet"), ("username", "ines"), ("password", PASSWORD)];
            s.desk(&format!("sign-offs/{id}/deny"), &form)
        },
        expected: Refused,
        except: &[],
    },
    Deed {
        name: "check in for one's own booking",
        prepare: |s| {
            s.at_kiosk(&s.root);
            book(&s.site, &s.root, 600)
        },
        one: |s, id| s.desk(&format!("bookings/{id}/check-in"), &[]),
        other: |s, id| s.kiosk(&format!("bookings/{id}/check-in"), &[]),
        expected: Changes,
        except: &[],
    },
    Deed {
        name: "check in again",
        prepare: Stage::last_booking,
        one: |s, id| s.desk(&format!("bookings/{id}/check-in"), &[]),
        other: |s, id| s.kiosk(&format!("bookings/{id}/check-in"), &[]),
        expected: Nothing,
        except: &[],
    },
    Deed {
        name: "check in for another's booking",
        prepare: |s| {
            s.at_kiosk(&s.jane);
            book(&s.site, &s.jane, 900)
        },
        one: |s, id| s.desk(&format!("bookings/{id}/check-in"), &[]),
        other: |s, id| s.kiosk(&format!("bookings/{id}/check-in"), &[]),
        expected: Changes,
        // What the desk does for a member is audited, what members do themselves is not.
        except: &["audit"],
    },
    Deed {
        name: "take back a check-in that there is not",
        prepare: |s| book(&s.site, &s.jane, 1200),
        one: |s, id| s.desk(&format!("bookings/{id}/check-in/undo"), &[]),
        other: |s, id| {
            s.desk(&format!("bookings/{id}/check-in/undo"), &[]) && s.desk(&format!("bookings/{id}/check-in/undo"), &[])
        },
        expected: Nothing,
        except: &[],
    },
    Deed {
        name: "book",
        prepare: |s| {
            s.site.pin(&s.jane);
            0
        },
        one: |s, _| {
            let form = [("member", "jane"), ("minutes", "20"), ("clock", "23:30"), ("number", "77")];
            s.desk("bookings", &form)
        },
        other: |s, _| {
            let now = s.site.now();
            let clock = s.site.inside().hall().expect("the tunnel has a clock").at_clock(now, "23:30");
            let body = json!({
                "member_id": s.jane.id, "member_pin": s.site.pin(&s.jane), "registration_id": 77, "tunnel_id": Site::TUNNEL_ID,
                "flight_date": clock, "minutes_booked": 20,
            });
            let reply = s.partner.post("/external/partner-metrics/op/generate-token", body).ok_json();
            reply["status"] == true
        },
        expected: Changes,
        // A partner's doings are in the history; the desk's are in the audit log.
        except: &["audit", "history", "event_days"],
    },
    Deed {
        name: "take a picture",
        prepare: nothing,
        one: |s, _| {
            let asking = s.jane.ask(Method::POST, "/account/profile/media").header("content-type", "image/png");
            done(&asking.body(pictures::png(20, 20)).send())
        },
        other: |s, _| done(&s.clerk.upload(&format!("/desk/members/{}/photo", s.jane.id), &pictures::png(20, 20))),
        expected: Changes,
        except: &["audit"],
    },
    Deed {
        name: "remove a picture",
        prepare: nothing,
        one: |s, _| s.api(&s.jane, "/account/profile/remove-media", json!({})),
        other: |s, _| s.desk(&format!("members/{}/photo/remove", s.jane.id), &[]),
        expected: Changes,
        except: &["audit"],
    },
    Deed {
        name: "remove no picture",
        prepare: nothing,
        one: |s, _| s.api(&s.jane, "/account/profile/remove-media", json!({})),
        other: |s, _| s.desk(&format!("members/{}/photo/remove", s.jane.id), &[]),
        expected: Nothing,
        except: &[],
    },
    Deed {
        name: "say whose a payment is",
        prepare: Stage::unmatched,
        one: |s, id| s.desk(&format!("payments/{id}/count"), &[("question", "unmatched"), ("member", "jane")]),
        other: |s, _| {
            s.site.shell(&["callbacks", "match", "pi_1", "jane"]);
            true
        },
        expected: Changes,
        except: &[],
    },
    Deed {
        name: "say again whose a payment is",
        prepare: nothing,
        one: |s, _| {
            s.site.shell(&["callbacks", "match", "pi_1", "jane"]);
            true
        },
        other: |_, _| true,
        expected: Nothing,
        except: &[],
    },
];

#[test]
fn the_same_deed_leaves_the_same_rows_at_whichever_edge() {
    let (one, other) = (Stage::new(), Stage::new());
    for deed in DEEDS {
        let name = deed.name;
        let (mut left, mut right) = (run(&one, deed, deed.one), run(&other, deed, deed.other));
        if deed.expected != Changes {
            for left in [&left, &right] {
                assert!(left.new.is_empty() && left.gone.is_empty() && left.audited.is_empty(), "{name}: {left:#?}");
            }
        }
        if deed.except.contains(&"audit") {
            (left.audited, right.audited) = (Vec::new(), Vec::new());
        }
        assert_eq!(left, right, "{name}");
        assert_ne!(left.new.is_empty() && left.gone.is_empty(), deed.expected == Changes, "{name}");
    }
}
