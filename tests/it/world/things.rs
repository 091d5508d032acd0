//! The objects that requests need: new people, entries, codes and credentials, each for one use.

use super::{ADMINS_ALONE, World};
use crate::harness::{Caller, PASSWORD, Request, Site, pictures, senders};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::http::failure::Failure;
use tunneldesk::routes::Route;
use tunneldesk::store::Write;
use tunneldesk::store::tables::passkeys;

/// The time after which the rate limits for pictures start anew.
const PACE_OVER: Duration = Duration::from_secs(20 * 60);

impl World {
    /// A skill that the caller may ask for, as existing clients send it.
    pub(super) fn skill(&self, caller: &Caller) -> Value {
        let ines = self.ines();
        // The second request withdraws an earlier request for the same skill, and so is then the entry itself.
        self.site.ask_for(caller, "10101", &ines);
        self.site.ask_for(caller, "10103", &ines);
        self.site.brief(caller, "Flyer");
        json!({
            "cat_group": "Flyer", "cat_id": "1", "cat_name": "Flyer Level 1", "entry_date": self.site.now() - 60, "entry_id": "",
            "comment": "please", "instructor": ines.id.to_string(), "instructor_name": "ines", "comments_instructor": "",
            "comment_denial": "", "time": "12", "skill": "10101", "skill_name": "Hand signals", "tunnel_name": "Windwerk",
            "tunnel": Site::TUNNEL_ID.to_string(), "status": "",
        })
    }

    /// A new instructor who may sign every skill of the Flyer programme.
    pub(super) fn ines(&self) -> Caller {
        self.site.signer(&format!("ines{}", self.site.next_number()), &[("Instructor", "4")])
    }

    /// An entry that the caller has requested a signature for.
    pub(super) fn asked(&self, caller: &Caller) -> i64 {
        self.site.brief(caller, "Flyer");
        self.site.ask_for(caller, "10101", &self.ines())
    }

    /// An entry of another member whose state this row can change.
    pub(super) fn signable(&self, route: &Route, caller: &Caller) -> i64 {
        if !self.site.holdings(caller).contains(&"Instructor 4".to_owned()) {
            self.site.qualify(caller, &[("Instructor", "4")]);
        }
        let somebody = self.somebody();
        self.site.brief(&somebody, "Flyer");
        let entry_id = self.site.ask_for(&somebody, "10101", caller);
        let state = if route.path.ends_with("suspend") { "open" } else { "suspended" };
        if ADMINS_ALONE.contains(&route.path) {
            self.site.change(|tx| Ok(tx.run("UPDATE entries SET status = ?2 WHERE entry_id = ?1", (entry_id, state))?));
        }
        entry_id
    }

    /// A new member without a second factor.
    pub(super) fn somebody(&self) -> Caller {
        self.site.member(&format!("member{}", self.site.next_number()))
    }

    pub(super) fn credentials(&self, member: &Caller) -> Value {
        json!({ "username": member.name, "password": PASSWORD, "member_id": member.id })
    }

    pub(super) fn signup(&self) -> Value {
        json!({
            "username": format!("flyer{}", self.site.next_number()), "password": PASSWORD, "email": self.address(),
            "real_name": "Ann Other", "screen_name": "Ann", "phone": "+41 52 000 00 00", "country": "Switzerland",
            "country_code": "CH", "tunnel": Site::TUNNEL_ID.to_string(), "dob": 946_684_800, "terms": true,
            "question_1": "1", "answer_1": "Wind", "question_2": "2", "answer_2": "Net", "question_3": "3", "answer_3": "Suit",
            "success": false, "message": "", "salt": "",
        })
    }

    /// The social network's request to delete a member's data.
    pub(super) fn signed_request(&self) -> String {
        let user_id = self.site.next_number().to_string();
        let payload = json!({ "algorithm": "HMAC-SHA256", "issued_at": self.site.now(), "user_id": user_id });
        senders::signed_request(senders::APP_SECRET, &payload)
    }

    /// The code of a completed deletion.
    pub(super) fn deletion(&self) -> String {
        let body = json!({ "signed_request": self.signed_request() });
        let done = self.site.stranger().post("/social-data-deletion", body).ok().json();
        done["confirmation_code"].as_str().expect("a code is text").to_owned()
    }

    pub(super) fn address(&self) -> String {
        format!("somebody{}@example.com", self.site.next_number())
    }

    /// The latest of the caller's certificates, as a request names it. A caller without one gets one first.
    pub fn certificate(&self, caller: &Caller) -> Value {
        let list = || caller.get("/account/profile/certificate-list").ok().json()[0].clone();
        let asked = match list() {
            Value::Null => {
                self.site.hold(caller, "Flyer", "1", "", self.site.now());
                list()
            }
            row => row,
        };
        json!({
            "type": asked["type"], "cat_id": asked["cat_id"], "screen_name": asked["screen_name"],
            "entry_date": asked["entry_date"], "member_id": asked["member_id"],
        })
    }

    /// The code of an issued certificate.
    pub(super) fn code(&self) -> String {
        if self.site.codes(&self.jane).is_empty() {
            let ask = || self.jane.post("/account/profile/get-certificate", self.certificate(&self.jane));
            if ask().status == 429 {
                // Documents have a rate limit too.
                self.site.reset_rate_limits();
                ask().ok();
            }
        }
        self.site.codes(&self.jane).remove(0)
    }

    /// A request with a new picture, or one that shows the picture just uploaded.
    pub(super) fn picture(&self, request: Request, caller: &Caller) -> Request {
        let bring = Request { body: pictures::png(20, 10), ..Request::new(&Method::POST, &request.path) };
        let bring = bring.header("content-type", "image/png");
        if request.method == Method::POST {
            return bring;
        }
        let brought = caller.send(&bring);
        if brought.status == 429 {
            // Pictures have a rate limit, and a campaign sends many.
            self.site.advance(PACE_OVER);
            self.site.reset_rate_limits();
            caller.send(&bring).ok();
        }
        request
    }

    /// A new user record of the partner.
    pub fn partner_user(&self, partner: &Caller) -> i64 {
        let made = partner.post("/external/partner-metrics/op", json!({ "email": self.address() })).ok();
        made.json()["id"].as_i64().expect("a record has a number")
    }

    /// The registration of a booking that the partner has made for a new flyer.
    pub(super) fn registration(&self, partner: &Caller) -> i64 {
        let (somebody, registration_id) = (self.somebody(), self.site.next_number());
        let body = json!({
            "member_id": somebody.id, "member_pin": self.site.pin(&somebody), "registration_id": registration_id,
            "flight_date": self.site.now() + 3600, "minutes_booked": 12, "tunnel_id": Site::TUNNEL_ID,
        });
        let booked = partner.post("/external/partner-metrics/op/generate-token", body).ok().json();
        assert_eq!(booked["status"], true, "{booked}");
        registration_id
    }

    /// A passkey of the member that no authenticator has.
    pub fn passkey(&self, member: &Caller) -> i64 {
        let credential_id = self.site.next_number().to_be_bytes();
        self.site.change(|tx| {
            let new = passkeys::NewPasskey {
                member_id: MemberId(member.id),
                rp_id: "localhost",
                credential_id: &credential_id,
                public_key: "{}",
                name: "Phone",
                device_id: None,
            };
            Ok(passkeys::insert(tx, &new)?)
        })
    }

    /// A browser's answer to an open challenge that proves nothing.
    pub(super) fn unproven_credential(&self) -> String {
        let stranger = self.site.stranger();
        let question = stranger.ask(Method::POST, "/auth/login/bio-web-option");
        let question = question.header("origin", &self.site.origin()).json(&json!({ "username": "jane" })).send().ok();
        let client = json!({
            "type": "webauthn.get", "challenge": question.json()["publicKey"]["challenge"], "origin": self.site.origin(),
        });
        let client = URL_SAFE_NO_PAD.encode(client.to_string());
        let response = json!({ "clientDataJSON": client, "authenticatorData": "AA", "signature": "AA" });
        json!({ "id": "AA", "rawId": "AA", "type": "public-key", "response": response }).to_string()
    }

    /// Another session of the member, by its listed id.
    pub(super) fn session(&self, member: &Caller) -> String {
        let other = || {
            let listed = member.get("/account/profile/sessions").ok().json();
            listed.as_array().and_then(|all| all.iter().find(|one| one["this"] == false).cloned())
        };
        // The number of a member's sessions is limited: with more of them, the caller's own would end.
        let other = other().or_else(|| {
            self.site.again(member);
            other()
        });
        other.and_then(|one| Some(one["session_id"].as_str()?.to_owned())).expect("a second session is listed")
    }

    /// A new flight-time entry of the member.
    pub fn entry(&self, member: &Caller) -> i64 {
        let body = json!({ "entry_date": self.site.now() - 3600, "time": 12 });
        let made = member.ask(Method::POST, "/account/logbook/time/").json(&body).send().ok();
        made.json()["entry_id"].as_i64().expect("an entry has a number")
    }
}

/// A waiver that may be signed. It is required only for flights in the far future, so that other requests succeed
/// without a signature.
pub(super) fn publish_waiver(tx: &Write) -> Result<(), Failure> {
    let sql = "INSERT INTO site_texts (kind, version, language, title, body, questions, text_hash, asks_again, published_at)
               VALUES ('waiver', 1, 'en', 'Waiver', 'I fly at my own risk.', 'Is a shoulder hurt?', zeroblob(32), 1, ?1)";
    tx.run(sql, [tx.now() + 100 * 366 * 86_400])?;
    Ok(())
}
