//! The effects of flying and of paying for it.

use super::super::{Effect, Nothing, Refused, done};
use super::Stage;
use crate::desk::{book, book_beside};
use crate::harness::{PASSWORD, Site, pictures};
use http::Method;
use serde_json::json;
use tunneldesk::moment::Moment;

pub(super) const EFFECTS: &[Effect<Stage>] = &[
    Effect {
        name: "log flight time",
        prepare: |s| s.at_kiosk(&s.jane),
        one: |s, _| s.log_time(&s.jane, 12),
        other: |s, _| s.kiosk("time", &[("minutes", "12")]),
        ..Effect::PLAIN
    },
    Effect {
        name: "log more flight time than there is",
        one: |s, _| s.log_time(&s.jane, 601),
        other: |s, _| s.kiosk("time", &[("minutes", "601")]),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "log flight time of one's own at the desk",
        one: |s, _| s.log_time(&s.root, 12),
        other: |s, _| s.desk(&format!("members/{}/time", s.root.id), &[("minutes", "12")]),
        ..Effect::PLAIN
    },
    Effect {
        name: "log flight time by a list",
        one: |s, _| s.log_time(&s.jane, 13),
        other: |s, _| s.import(&format!("username,kind,entry_date,minutes\njane,time,{},13\n", s.site.now())),
        // A list leaves a single audit row.
        except: &["audit"],
        ..Effect::PLAIN
    },
    Effect {
        name: "ask for a signature",
        one: |s, _| s.ask("10101"),
        other: |s, _| s.kiosk("sign-off/10101", &[("signer", &s.ines.id.to_string())]),
        ..Effect::PLAIN
    },
    Effect {
        name: "ask for a signature again",
        one: |s, _| s.ask("10101"),
        other: |s, _| s.kiosk("sign-off/10101", &[("signer", &s.ines.id.to_string())]),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "suspend what waits",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.root, id, "suspend", json!({})),
        other: |s, id| s.desk(&format!("sign-offs/{id}/suspend"), &[]),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "sign without the authority",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.root, id, "sign", json!({})),
        other: |s, id| s.desk(&format!("sign-offs/{id}/sign"), &[("username", &s.root.name), ("password", PASSWORD)]),
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "sign",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.ines, id, "sign", json!({ "comments_instructor": "steady" })),
        other: |s, id| {
            let form = [("username", "ines"), ("password", PASSWORD), ("comment", "steady")];
            s.desk(&format!("sign-offs/{id}/sign"), &form)
        },
        ..Effect::PLAIN
    },
    Effect {
        name: "suspend",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.root, id, "suspend", json!({})),
        other: |s, id| s.desk(&format!("sign-offs/{id}/suspend"), &[]),
        ..Effect::PLAIN
    },
    Effect {
        name: "reinstate",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.root, id, "reinstate", json!({})),
        other: |s, id| s.desk(&format!("sign-offs/{id}/reinstate"), &[]),
        ..Effect::PLAIN
    },
    Effect {
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
        ..Effect::PLAIN
    },
    Effect {
        name: "deny again",
        prepare: Stage::last_skill,
        one: |s, id| s.act(&s.ines, id, "deny", json!({ "comment_denial": "not yet" })),
        other: |s, id| {
            let form = [("reason", "not yet"), ("username", "ines"), ("password", PASSWORD)];
            s.desk(&format!("sign-offs/{id}/deny"), &form)
        },
        expected: Refused,
        ..Effect::PLAIN
    },
    Effect {
        name: "check in for one's own booking",
        prepare: |s| {
            s.at_kiosk(&s.root);
            book(&s.site, &s.root, 600)
        },
        one: |s, id| s.desk(&format!("bookings/{id}/check-in"), &[]),
        other: |s, id| s.kiosk(&format!("bookings/{id}/check-in"), &[]),
        ..Effect::PLAIN
    },
    Effect {
        name: "check in again",
        prepare: Stage::last_booking,
        one: |s, id| s.desk(&format!("bookings/{id}/check-in"), &[]),
        other: |s, id| s.kiosk(&format!("bookings/{id}/check-in"), &[]),
        expected: Nothing,
        ..Effect::PLAIN
    },
    Effect {
        name: "check in for another's booking",
        prepare: |s| {
            s.at_kiosk(&s.jane);
            book(&s.site, &s.jane, 900)
        },
        one: |s, id| s.desk(&format!("bookings/{id}/check-in"), &[]),
        other: |s, id| s.kiosk(&format!("bookings/{id}/check-in"), &[]),
        // Changes by the desk for a member are audited; changes by members themselves are not.
        except: &["audit"],
        ..Effect::PLAIN
    },
    Effect {
        name: "take back a check-in that there is not",
        prepare: |s| book(&s.site, &s.jane, 1200),
        one: |s, id| s.desk(&format!("bookings/{id}/check-in/undo"), &[]),
        other: |s, id| {
            s.desk(&format!("bookings/{id}/check-in/undo"), &[]) && s.desk(&format!("bookings/{id}/check-in/undo"), &[])
        },
        expected: Nothing,
        ..Effect::PLAIN
    },
    Effect {
        name: "book",
        prepare: |s| {
            s.site.pin(&s.jane);
            0
        },
        one: |s, _| {
            let form = [("member", "jane"), ("minutes", "20"), ("clock", "23:30"), ("number", "77")];
            done(&book_beside(&s.clerk, &form))
        },
        other: |s, _| {
            let now = s.site.now();
            let clock = s.site.inside().time_zone().expect("the tunnel has a clock").at_clock(Moment(now), "23:30");
            let body = json!({
                "member_id": s.jane.id, "member_pin": s.site.pin(&s.jane), "registration_id": 77, "tunnel_id": Site::TUNNEL_ID,
                "flight_date": clock, "minutes_booked": 20,
            });
            let reply = s.partner.post("/external/partner-metrics/op/generate-token", body).ok_json();
            reply["status"] == true
        },
        // Changes by a partner are in the history; those by the desk are in the audit log.
        except: &["audit", "events", "event_days"],
        ..Effect::PLAIN
    },
    Effect {
        name: "take a picture",
        one: |s, _| {
            let asking = s.jane.ask(Method::POST, "/account/profile/media").header("content-type", "image/png");
            done(&asking.body(pictures::png(20, 20)).send())
        },
        other: |s, _| done(&s.clerk.upload(&format!("/desk/members/{}/photo", s.jane.id), &pictures::png(20, 20))),
        except: &["audit"],
        ..Effect::PLAIN
    },
    Effect {
        name: "remove a picture",
        one: |s, _| s.api(&s.jane, "/account/profile/remove-media", json!({})),
        other: |s, _| s.desk(&format!("members/{}/photo/remove", s.jane.id), &[]),
        except: &["audit"],
        ..Effect::PLAIN
    },
    Effect {
        name: "remove no picture",
        one: |s, _| s.api(&s.jane, "/account/profile/remove-media", json!({})),
        other: |s, _| s.desk(&format!("members/{}/photo/remove", s.jane.id), &[]),
        expected: Nothing,
        ..Effect::PLAIN
    },
    Effect {
        name: "say whose a payment is",
        prepare: Stage::unmatched,
        one: |s, id| s.desk(&format!("payments/{id}/count"), &[("question", "unmatched"), ("member", "jane")]),
        other: |s, _| {
            s.site.shell(&["callbacks", "match", "pi_1", "jane"]);
            true
        },
        ..Effect::PLAIN
    },
    Effect {
        name: "say again whose a payment is",
        one: |s, _| {
            s.site.shell(&["callbacks", "match", "pi_1", "jane"]);
            true
        },
        other: |_, _| true,
        expected: Nothing,
        ..Effect::PLAIN
    },
];
