//! A site with a person of every role, and for each row of the table a request that succeeds. The generated tests use
//! this: a new row needs its line here, otherwise they fail and say so.

mod things;

use crate::harness::{Authenticator, Caller, PASSWORD, Request, Site, senders};
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::config::Config;
use tunneldesk::domain::role::Role;
use tunneldesk::routes::Route;

/// The path that accepts a picture and serves it.
pub const PICTURE: &str = "/account/profile/media";

pub struct World {
    pub site: Site,
    /// A current flyer.
    pub jane: Caller,
    /// Another current flyer.
    pub mark: Caller,
    pub desk: Caller,
    pub admin: Caller,
    pub sync: Caller,
    pub partner: Caller,
    /// A second partner, unrelated to the first.
    pub rival: Caller,
}

/// The owner of the object that a request names, and the refusal for others.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Whose {
    Everybodys,
    /// A member's, shown also to desk, admins and current instructors. Others get 403, whether or not the object
    /// exists.
    MembersAndOverseers,
    /// A member's, which desk and admins may change. Others get 404.
    MembersAndStaffs,
    OwnersAlone {
        refusal: u16,
    },
}

/// The object that a row is about.
pub struct Object {
    /// The name of its path parameter or body field.
    pub name: String,
    pub in_path: bool,
    pub whose: Whose,
}

/// Values that name no object, for parameters that are not numbers.
pub const MISSING: [(&str, &str); 2] = [("session_id", "0123456789abcdef"), ("code", "AAAA-AAAA-AAAA-AAAA")];

/// Body fields that name objects with an owner.
const NAMING: [&str; 6] = ["id", "entry_id", "member_id", "passkey_id", "session_id", "notification_id"];

/// Rows that end the caller's other sessions, so their caller must be one that no other row uses.
const ENDS_OTHERS: [&str; 2] = ["/account/profile/change-password", "/account/profile/sessions"];

/// Rows for admins only, and the row for the desk only.
pub const ADMINS_ALONE: [&str; 2] =
    ["/account/logbook/entries/{entry_id}/suspend", "/account/logbook/entries/{entry_id}/reinstate"];
const DESK_ALONE: &str = "/account/logbook/opening-balance/{member_id}";

impl World {
    pub fn open() -> World {
        World::open_with(|_| {})
    }

    pub fn open_with(adjust: impl FnOnce(&mut Config)) -> World {
        let site = Site::open_with(|config| {
            senders::configure(config);
            config.waiver.required = true;
            adjust(config);
        });
        site.hash_small();
        let (jane, mark) = (site.flyer("jane"), site.flyer("mark"));
        let (desk, admin, sync) = (site.desk(), site.admin(), site.sync());
        let (partner, rival) = (site.partner(), site.partner());
        site.with_authority();
        site.change(things::publish_waiver);
        World { site, jane, mark, desk, admin, sync, partner, rival }
    }

    /// A caller that the row admits. A member comes with a new session, because some rows end it.
    pub fn right_caller(&self, route: &Route) -> Caller {
        self.callers(route).remove(0)
    }

    /// Two callers that the row admits and that must not see each other's objects. There is only one for an open row.
    pub fn callers(&self, route: &Route) -> Vec<Caller> {
        let anew = |member: &Caller| self.site.sign_in(member.id, &member.name, Role::Member, Duration::ZERO);
        let somebody = || self.site.flyer(&format!("flyer{}", self.site.next_number()));
        match route.caller() {
            "member" if ENDS_OTHERS.contains(&route.path) => vec![somebody(), somebody()],
            "member" if ADMINS_ALONE.contains(&route.path) => vec![anew(&self.admin), anew(&self.site.admin())],
            "member" if route.path == DESK_ALONE => vec![anew(&self.desk), anew(&self.site.desk())],
            "member" | "bearer" | "listening" => vec![anew(&self.jane), anew(&self.mark)],
            "staff" => vec![self.sync.clone(), self.desk.clone()],
            "standby" => vec![self.site.standby()],
            "partner" => vec![self.partner.clone(), self.rival.clone()],
            "callback" if route.path == "/payment-webhook" => vec![self.site.processor()],
            "callback" if route.path == "/mail-webhook" => vec![self.site.mail_provider()],
            // A deletion request is signed in its body.
            "open" | "callback" => vec![self.site.stranger()],
            other => panic!("say here who is a right caller for {other}"),
        }
    }

    /// A valid request of this row by the caller. The objects that it names are the caller's own, made for it.
    pub fn request(&self, route: &Route, caller: &Caller) -> Request {
        let request = Request::new(&route.method, &self.path(route, caller));
        let request = match route.path {
            // Without it a stream begins, which does not end.
            "/events" => request.header("accept", "application/json"),
            "/auth/login/bio-web-option" => request.header("origin", &self.site.origin()),
            "/social-data-deletion-status" => {
                Request { path: format!("{}?id={}", request.path, self.deletion()), ..request }
            }
            _ => request,
        };
        if route.path == PICTURE {
            return self.picture(request, caller);
        }
        match self.body(route, caller) {
            Some(body) => request.json(&body),
            None => request,
        }
    }

    /// The row's path with its parameters filled in.
    pub fn path(&self, route: &Route, caller: &Caller) -> String {
        let filled = route.path.split('/').map(|part| match part.strip_prefix('{').and_then(|p| p.strip_suffix('}')) {
            Some("entry_id") if route.path.starts_with("/account/logbook/skills/") => self.asked(caller).to_string(),
            Some("entry_id") if route.path.starts_with("/account/logbook/entries/") => {
                self.signable(route, caller).to_string()
            }
            Some("member_id") if route.path == DESK_ALONE => self.somebody().id.to_string(),
            Some(place) => self.value(place, caller),
            None => part.to_owned(),
        });
        format!("{}{}", route.base, filled.collect::<Vec<_>>().join("/"))
    }

    /// The row's path with this value for one parameter; the other parameters are words, or name objects without an
    /// owner.
    pub fn path_with(&self, route: &Route, name: &str, value: &str) -> String {
        let place = format!("{{{name}}}");
        let filled = route.path.split('/').map(|part| match part.strip_prefix('{').and_then(|p| p.strip_suffix('}')) {
            Some(_) if part == place => value.to_owned(),
            Some(other) => self.value(other, &self.jane),
            None => part.to_owned(),
        });
        format!("{}{}", route.base, filled.collect::<Vec<_>>().join("/"))
    }

    /// The object that the row is about, if it has an owner or may be missing: at most one.
    pub fn object(&self, route: &Route) -> Option<Object> {
        let places = route.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let found =
            places.filter_map(|name| Some(Object { name: name.to_owned(), in_path: true, whose: whose(name)? }));
        let mut found: Vec<Object> = found.collect();
        assert!(found.len() < 2, "{} names more than one thing: say how its requests are spoilt", route.path);
        found.pop().or_else(|| self.object_of_body(route))
    }

    /// As [`World::object`], for rows whose body alone names the object.
    fn object_of_body(&self, route: &Route) -> Option<Object> {
        if ["open", "callback"].contains(&route.caller()) {
            return None;
        }
        let body: Value = serde_json::from_slice(&self.request(route, &self.right_caller(route)).body).ok()?;
        // Existing clients send some of these fields empty.
        let names = |name: &&str| body.get(name).is_some_and(|value| !value.is_null() && value != "");
        let name = NAMING.into_iter().find(names)?;
        let whose = match (route.method.as_str(), route.path, name) {
            ("PUT", "/external/partner-metrics/op", "id") => Whose::OwnersAlone { refusal: 404 },
            ("POST", "/account/profile/get-certificate", "member_id") => Whose::OwnersAlone { refusal: 403 },
            // The PIN identifies the member; `partner::token` tests the outcomes.
            ("POST", "/external/partner-metrics/op/generate-token", "member_id") => return None,
            (method, path, name) => panic!("say here whose {name} in the body of {method} {path} is"),
        };
        Some(Object { name: name.to_owned(), in_path: false, whose })
    }

    /// The object that a booking token may name.
    pub fn booked(&self, token: &Caller, name: &str) -> String {
        match name {
            "member_id" => token.id.to_string(),
            "entry_id" => {
                let entries = token.get(&format!("/account/logbook/time/{}", token.id)).ok().json();
                let booked = entries.as_array().unwrap().iter().find(|entry| entry["booking_id"].is_i64());
                booked.expect("a current flyer's booking makes an entry")["entry_id"].to_string()
            }
            other => panic!("say here which {other} is a booking's"),
        }
    }

    fn value(&self, place: &str, caller: &Caller) -> String {
        match place {
            "id" => self.partner_user(caller).to_string(),
            "registration_id" => self.registration(caller).to_string(),
            "entry_id" => self.entry(caller).to_string(),
            "passkey_id" => self.passkey(caller).to_string(),
            "member_id" => caller.id.to_string(),
            "tunnel" | "tunnel_id" => Site::TUNNEL_ID.to_string(),
            "status" => "open".to_owned(),
            "category" => "Flyer".to_owned(),
            "session_id" => self.session(caller),
            "skill" => "10101".to_owned(),
            "notification_id" => self.site.note(caller, "notice.password_changed", json!({})).to_string(),
            "code" => self.code(),
            other => panic!("say here what {{{other}}} can be"),
        }
    }

    fn body(&self, route: &Route, caller: &Caller) -> Option<Value> {
        let now = self.site.now();
        let body = match (route.method.as_str(), route.path) {
            ("POST", "/external/partner-metrics/op") => json!({ "email": self.address() }),
            ("PUT", "/external/partner-metrics/op") => {
                json!({ "email": self.address(), "id": self.partner_user(caller) })
            }
            (_, "/admin/reports/external/partner-metrics/bookings") => json!({ "limit": 10, "offset": 0 }),
            (_, "/admin/reports/external/partner-metrics/history") => json!({ "limit": 10, "offset": 0, "after": 0 }),
            (_, "/external/partner-metrics/op/generate-token") => json!({
                "member_id": self.jane.id, "member_pin": self.site.pin(&self.jane), "purchase_id": self.site.next_number(),
                "purchase_date": now - 3600, "flight_date": now, "minutes_booked": 30, "product_id": 3,
                "tunnel_id": Site::TUNNEL_ID, "checkin_time": now - 600, "registration_id": self.site.next_number(),
            }),
            (_, "/auth/login") => {
                json!({ "username": "jane", "password": PASSWORD, "checkTwoFactor": false, "passcodeOption": "email" })
            }
            // A standby whose copy is not of this process.
            (_, "/standby") => json!({ "wish": "tick", "lineage": "00ff", "number": 3, "offset": 0, "epoch": 0 }),
            (_, "/auth/login/silent") => json!({ "username": "jane", "password": PASSWORD }),
            (_, "/auth/social") => json!({ "params": "{}", "socialType": "google", "user": "" }),
            (_, "/auth/login/bio-web-option") => json!({ "username": "jane", "device_id": 7 }),
            (_, "/auth/login/bio-web-verify") => json!({ "credential": self.unproven_credential() }),
            (_, "/auth/login/totp/setup") => self.credentials(&self.somebody()),
            (_, "/auth/login/totp/verify-setup") => {
                let somebody = self.somebody();
                let mut body = self.credentials(&somebody);
                let setup = somebody.post("/auth/login/totp/setup", &body).ok().json();
                body["code"] = Authenticator::scan(&setup).code(now).into();
                body
            }
            (_, "/auth/login/verify-totp") => {
                let protected = self.site.protect(&self.somebody());
                let mut body = self.credentials(&protected.member);
                body["code"] = protected.authenticator.code(now).into();
                body
            }
            ("POST", "/account/profile/waiver") => json!({
                "version": 1, "language": "en", "signer_name": "Jane Flyer", "strokes": "M 1 1 L 2 2 L 3 3",
                "flyers": [{ "member_id": caller.id, "answers": [false], "dob": 631_152_000 }], "emergency_name": "Joan",
                "emergency_phone": "+41 52 000 00 00",
            }),
            (_, "/account/profile/reauthenticate") => json!({ "password": PASSWORD, "code": "" }),
            (_, "/account/profile/2fa-operation") => json!({ "operation": "status", "code": "123456" }),
            (_, "/auth/signup") => self.signup(),
            (_, "/auth/signup/check-username") => json!({ "username": "somebody" }),
            ("PUT", "/account/profile/user") => json!({
                "real_name": "Jane Flyer", "tunnel": Site::TUNNEL_ID.to_string(), "screen_name": "jane",
                "username": caller.name, "verify_password": PASSWORD,
            }),
            ("POST", "/account/profile/get-certificate") => self.certificate(caller),
            (_, "/auth/verify-email" | "/auth/verify-email/resend") => json!({ "token": "unknown" }),
            (_, "/auth/account-access/security-questions") => json!({ "username": "jane" }),
            (_, "/auth/account-access/recover-password") => {
                json!({ "username": format!("somebody{}", self.site.next_number()), "option": "email" })
            }
            (_, "/auth/account-access/recover-username") => json!({ "email": self.address() }),
            (_, "/account/profile/send-verification-passcode") => json!({ "email": self.address() }),
            (_, "/account/profile/verify-verification-passcode") => {
                json!({ "email": self.address(), "passcode": 1 })
            }
            (_, "/account/profile/change-password") => {
                json!({ "password": PASSWORD, "current_password": PASSWORD, "password_confirm": PASSWORD })
            }
            (_, "/public/contact") => json!({
                "name": "Ann Other", "email": self.address(), "message": "Do you open on Sundays?\nWe are four.",
                "country": "CH", "enquiry": "Opening hours", "member_id": self.jane.id,
            }),
            ("POST", "/account/logbook/skills/") => self.skill(caller),
            ("PUT", "/account/logbook/skills/{entry_id}") => json!({
                "cat_group": 1, "cat_id": 1, "entry_date": now - 120, "comment": "better", "instructor": self.ines().id.to_string(),
                "comments_instructor": "", "comment_denial": "", "time": 4, "skill": "10102", "tunnel": Site::TUNNEL_ID.to_string(),
                "author_id": caller.id,
            }),
            (_, "/account/logbook/entries/{entry_id}/sign") => json!({ "comments_instructor": "clean" }),
            (_, "/account/logbook/entries/{entry_id}/deny") => json!({ "comment_denial": "late stops" }),
            (_, DESK_ALONE) => json!({
                "time": "41:05", "skills": ["10101", 10102], "entry_date": now - 86_400, "tunnel": Site::TUNNEL_ID,
                "instructor": self.ines().id, "comment": "from the paper logbook",
            }),
            ("POST", "/account/logbook/time/" | "/account/logbook/member/time/") => json!({
                "status": "open", "entry_date": now - 60, "tunnel": Site::TUNNEL_ID.to_string(), "comment": "a good one", "time": "15",
            }),
            ("PUT", "/account/logbook/time/{entry_id}") => {
                json!({ "entry_date": now - 120, "tunnel": Site::TUNNEL_ID.to_string(), "comment": "better", "time": "20" })
            }
            (_, "/social-data-deletion") => json!({ "signed_request": self.signed_request() }),
            ("POST", "/mail-webhook") => {
                let id = self.site.next_number().to_string();
                json!({ "mail_events": [{ "event": "send", "ts": now, "_id": id, "msg": { "email": self.address() } }] })
            }
            (_, "/payment-webhook") => {
                let number = self.site.next_number();
                let data = json!({ "id": format!("pi_{number}"), "amount": 2000, "currency": "usd" }).to_string();
                json!({
                    "id": format!("evt_{number}"), "type": "payment_intent.succeeded", "created": now, "data": data,
                    "fromApp": "", "paymentIntentId": number,
                })
            }
            _ => return None,
        };
        Some(body)
    }
}

/// The owner of the objects that this path parameter names; `None`: the parameter is a word of a list.
fn whose(place: &str) -> Option<Whose> {
    match place {
        "member_id" => Some(Whose::MembersAndOverseers),
        "entry_id" => Some(Whose::MembersAndStaffs),
        "id" | "registration_id" | "passkey_id" | "session_id" | "notification_id" => {
            Some(Whose::OwnersAlone { refusal: 404 })
        }
        "tunnel_id" | "code" => Some(Whose::Everybodys),
        "status" | "category" | "skill" | "tunnel" => None,
        other => panic!("say here whose {{{other}}} is"),
    }
}
