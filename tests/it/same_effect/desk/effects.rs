//! The effects of the desk and the command line: accounts, partners, kiosks, messages.

use super::super::{Effect, Nothing, Refused};
use super::Stage;
use crate::harness::senders;
use serde_json::json;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::social_links;

pub(super) const EFFECTS: &[Effect<Stage>] = &[
    Effect {
        name: "renew a PIN",
        one: |s, _| s.card("pin"),
        other: |s, _| s.jane.post("/account/profile/booking-pin", json!({})).status < 400,
        ..Effect::PLAIN
    },
    Effect { name: "ban", one: |s, _| s.card("ban"), other: |s, _| s.shell("member ban jane"), ..Effect::PLAIN },
    Effect {
        name: "ban again",
        one: |s, _| s.card("ban"),
        other: |s, _| s.shell("member ban jane"),
        expected: Nothing,
        ..Effect::PLAIN
    },
    Effect {
        name: "lift a ban",
        one: |s, _| s.card("ban/lift"),
        other: |s, _| s.shell("member ban jane --lift"),
        ..Effect::PLAIN
    },
    Effect {
        name: "lift no ban",
        one: |s, _| s.card("ban/lift"),
        other: |s, _| s.shell("member ban jane --lift"),
        expected: Nothing,
        ..Effect::PLAIN
    },
    Effect {
        name: "confirm",
        prepare: |s| s.sql("UPDATE members SET email_confirmed_at = NULL WHERE username = 'jane'"),
        one: |s, _| s.card("email"),
        other: |s, _| s.shell("member confirm jane"),
        ..Effect::PLAIN
    },
    Effect {
        name: "confirm again",
        one: |s, _| s.card("email"),
        other: |s, _| s.shell("member confirm jane"),
        expected: Nothing,
        ..Effect::PLAIN
    },
    Effect {
        name: "reset a second factor",
        prepare: factor,
        one: |s, _| s.card("second-factor"),
        other: |s, _| s.shell("member reset-second-factor jane"),
        ..Effect::PLAIN
    },
    Effect {
        name: "give a role",
        one: |s, _| s.desk("/desk/site/users", &[("member", "jane"), ("role", "desk")]),
        other: |s, _| s.shell("member set-role jane desk"),
        ..Effect::PLAIN
    },
    Effect {
        name: "give the same role",
        one: |s, _| s.desk("/desk/site/users", &[("member", "jane"), ("role", "desk")]),
        other: |s, _| s.shell("member set-role jane desk"),
        ..Effect::PLAIN
    },
    Effect {
        name: "take a role",
        one: |s, _| s.desk("/desk/site/users", &[("member", "jane"), ("role", "member")]),
        other: |s, _| s.shell("member set-role jane member"),
        ..Effect::PLAIN
    },
    Effect {
        name: "add a partner",
        one: |s, _| s.desk("/desk/partners", &[("name", "Sky"), ("networks", "10.0.0.0/8"), ("per_minute", "60")]),
        other: |s, _| s.shell("partner add Sky --allow 10.0.0.0/8 --requests-per-minute 60"),
        ..Effect::PLAIN
    },
    Effect {
        name: "add a partner without a name",
        one: |s, _| s.desk("/desk/partners", &[("name", " ")]),
        other: |s, _| s.shell("partner add _"),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "add a partner of a long name",
        one: |s, _| s.desk("/desk/partners", &[("name", &"x".repeat(101))]),
        other: |s, _| s.shell(&format!("partner add {}", "x".repeat(101))),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "rotate a secret",
        one: |s, _| s.partner_page("rotate", &[("keep_days", "3")]),
        other: |s, _| s.shell(&format!("partner rotate {} --keep-days 3", s.partner.client_id())),
        ..Effect::PLAIN
    },
    Effect {
        name: "restore a record",
        prepare: Stage::deleted_record,
        one: |s, id| s.partner_page(&format!("users/{id}/restore"), &[]),
        other: |s, _| s.partner_page("users/restore", &[]),
        ..Effect::PLAIN
    },
    Effect {
        name: "revoke a partner",
        one: |s, _| s.partner_page("revoke", &[("name", "Skyline")]),
        other: |s, _| s.shell(&format!("partner revoke {}", s.partner.client_id())),
        ..Effect::PLAIN
    },
    Effect {
        name: "revoke a partner again",
        one: |s, _| s.partner_page("revoke", &[("name", "Skyline")]),
        other: |s, _| s.shell(&format!("partner revoke {}", s.partner.client_id())),
        expected: Nothing,
        ..Effect::PLAIN
    },
    Effect {
        name: "rotate what is revoked",
        one: |s, _| s.partner_page("rotate", &[("keep_days", "3")]),
        other: |s, _| s.shell(&format!("partner rotate {}", s.partner.client_id())),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "pair a kiosk",
        one: |s, _| s.desk("/desk/kiosks", &[("name", " Entrance ")]),
        other: |s, _| s.shell("kiosk pair _Entrance_"),
        ..Effect::PLAIN
    },
    Effect {
        name: "pair a kiosk of no name",
        one: |s, _| s.desk("/desk/kiosks", &[("name", " ")]),
        other: |s, _| s.shell("kiosk pair _"),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "pair a kiosk of a long name",
        one: |s, _| s.desk("/desk/kiosks", &[("name", &"x".repeat(61))]),
        other: |s, _| s.shell(&format!("kiosk pair {}", "x".repeat(61))),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "pair a kiosk of two lines",
        one: |s, _| s.desk("/desk/kiosks", &[("name", "a\nb")]),
        other: |s, _| s.shell("kiosk pair a\nb"),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "revoke a kiosk",
        prepare: |s| s.sql("INSERT INTO kiosks (name, key_hash, paired_at, used_at) VALUES ('Bar', x'00', 1, 1)"),
        one: |s, _| s.desk("/desk/kiosks/1/revoke", &[]),
        other: |s, _| s.shell("kiosk revoke 1"),
        ..Effect::PLAIN
    },
    Effect {
        name: "revoke a kiosk again",
        one: |s, _| s.desk("/desk/kiosks/1/revoke", &[]),
        other: |s, _| s.shell("kiosk revoke 1"),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "be done with a contact",
        prepare: Stage::contact_message,
        one: |s, id| s.desk(&format!("/desk/contact/{id}/done"), &[]),
        other: |s, id| s.shell(&format!("contact done {id}")),
        ..Effect::PLAIN
    },
    Effect {
        name: "be done with a contact again",
        prepare: |_| 1,
        one: |s, id| s.desk(&format!("/desk/contact/{id}/done"), &[]),
        other: |s, id| s.shell(&format!("contact done {id}")),
        expected: Nothing,
        ..Effect::PLAIN
    },
    Effect {
        name: "be done with two contacts",
        prepare: |s| s.contact_message().max(s.contact_message()),
        one: |s, id| (id - 1..=id).all(|id| s.desk(&format!("/desk/contact/{id}/done"), &[])),
        other: |s, id| s.shell(&format!("contact done {} {id}", id - 1)),
        ..Effect::PLAIN
    },
    Effect {
        name: "be done with no contact",
        one: |s, _| s.desk("/desk/contact/99/done", &[]),
        other: |s, _| s.shell("contact done 99"),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "read a message out",
        prepare: Stage::dead_message,
        one: |s, id| s.desk(&format!("/desk/messages/{id}/read"), &[]),
        other: |s, id| s.shell(&format!("outbox show {id}")),
        ..Effect::PLAIN
    },
    Effect {
        name: "send a message again",
        prepare: Stage::dead_message,
        one: |s, id| s.desk(&format!("/desk/messages/{id}/retry"), &[]),
        other: |s, id| s.shell(&format!("outbox retry {id}")),
        ..Effect::PLAIN
    },
    Effect {
        name: "send what is dead again",
        prepare: Stage::dead_message,
        one: |s, _| s.desk("/desk/messages/retry", &[]),
        other: |s, _| s.shell("outbox retry --dead"),
        ..Effect::PLAIN
    },
    Effect {
        name: "send to a marked address",
        prepare: |s| s.mark() + s.dead_message(),
        one: |s, id| s.desk(&format!("/desk/messages/{id}/retry"), &[]),
        other: |s, id| s.shell(&format!("outbox retry {id}")),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "lift a mark",
        one: |s, _| s.desk("/desk/messages/lift", &[("address", "jane@example.com")]),
        other: |s, _| s.shell("outbox lift jane@example.com"),
        ..Effect::PLAIN
    },
    Effect {
        name: "lift no mark",
        one: |s, _| s.desk("/desk/messages/lift", &[("address", "jane@example.com")]),
        other: |s, _| s.shell("outbox lift jane@example.com"),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "erase",
        prepare: leave,
        one: |s, _| s.shell("member erase zoe --yes"),
        other: |s, _| {
            let payload = json!({ "algorithm": "HMAC-SHA256", "issued_at": s.site.now(), "user_id": "900001" });
            let body = json!({ "signed_request": senders::signed_request(senders::APP_SECRET, &payload) });
            s.site.stranger().post("/social-data-deletion", body).status < 400
        },
        ..Effect::PLAIN
    },
];

/// Adds Zoe, who can sign in only by a social network, and whose name is in another person's message.
fn leave(s: &Stage) -> i64 {
    let zoe = s.site.member("zoe");
    s.site.change(|tx| {
        let sql = "UPDATE members SET real_name = 'Zoe Quillfeather', password_hash = NULL, email_confirmed_at = NULL
                   WHERE member_id = ?1";
        tx.run(sql, [zoe.id])?;
        let sql = "INSERT INTO contact_messages (name, email, message, language, created_at)
                   VALUES ('B', 'b@example.com', 'with Zoe Quillfeather', 'en', 1)";
        tx.run(sql, [])?;
        Ok(social_links::insert(tx, "facebook", "900001", MemberId(zoe.id), "")?)
    });
    zoe.id
}

/// Turns on a second factor by passcodes.
fn factor(s: &Stage) -> i64 {
    s.sql("INSERT INTO second_factors (member_id, kind, since) SELECT member_id, 'passcode', 1 FROM members WHERE username = 'jane'")
}
