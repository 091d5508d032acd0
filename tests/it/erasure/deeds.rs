//! What the person does, and what others write about the person.

use crate::desk::Clerk;
use crate::desk::kiosk::{code_on, enter, paired};
use crate::desk::till::field;
use crate::harness::{Caller, PASSWORD, Reply, Site, pictures, senders};
use crate::world::World;
use http::Method;
use serde_json::json;
use std::cell::RefCell;
use std::panic::AssertUnwindSafe;
use std::time::Duration;
use tunneldesk::domain::ids::{MemberId, MessageId};
use tunneldesk::domain::role::Role;
use tunneldesk::routes::ROUTES;
use tunneldesk::store::tables::{outbox, social_links};

pub const NAME: &str = "Zaphodétte Quuxley";
const FORMER: &str = "Trillianne Vogonsen";
pub const USERNAME: &str = "zaphod-q";
pub const ADDRESS: &str = "zaphodette@example.com";
const PHONE: &str = "+41446681800";
/// Words that occur nowhere else.
pub const MARKS: &[&str] = &[
    "Zaphodétte",
    "Zaphodette",
    "Quuxley",
    "Trillianne",
    "Vogonsen",
    "zaphod-q",
    "zaphodette@",
    "446681800",
    "668 18 00",
    "drizzlewick",
    "Drizzlewick",
];

/// The site, the person, and others.
pub struct Cast {
    pub world: World,
    pub person: Caller,
    pub admin: Clerk,
    /// Further accounts that were made of the person.
    pub doubles: RefCell<Vec<i64>>,
    /// Deeds that were not taken.
    pub refused: RefCell<Vec<String>>,
}

/// A part of what the person and others do.
type Deed = fn(&Cast);

impl Cast {
    pub fn on_stage(keep_years: i64) -> Cast {
        let world = World::open_with(|config| {
            config.demo = true;
            config.mail = Some(senders::mail_to_nowhere());
            config.yearly_fee_cents = 3_000;
            config.waiver.keep_years = keep_years;
        });
        let site = &world.site;
        let signup = json!({ "username": USERNAME, "password": PASSWORD, "email": ADDRESS, "real_name": FORMER,
            "screen_name": "Trillianne", "phone": "044 668 18 00", "country_code": "CH", "country": "Switzerland", "terms": true,
            "dob": 631_152_000, "question_1": "1", "answer_1": "drizzlewick", "question_2": "2", "answer_2": "x", "question_3": "3", "answer_3": "y" });
        site.stranger().post("/auth/signup", signup).ok();
        let admin = Clerk::at(site, &site.admin());
        let invited = [("name", "Ford"), ("email", ADDRESS), ("role", "desk"), ("language", "en"), ("number", "79")];
        assert_eq!(admin.post("/desk/site/invitations", &invited).status, 303);
        site.shell(&["member", "confirm", ADDRESS]);
        let id: i64 = site.change(|tx| Ok(tx.get("SELECT member_id FROM members WHERE username = ?1", [USERNAME])?));
        let person = site.sign_in(id, USERNAME, Role::Member, Duration::ZERO);
        let profile = json!({ "username": USERNAME, "real_name": NAME, "screen_name": "Zaphodétte", "verify_password": PASSWORD,
            "tunnel": Site::TUNNEL_ID.to_string() });
        person.put("/account/profile/user", profile).ok();
        Cast { world, person, admin, doubles: RefCell::default(), refused: RefCell::default() }
    }

    /// The accounts that the person has.
    pub fn accounts(&self) -> Vec<i64> {
        [&[self.person.id][..], &self.doubles.borrow()].concat()
    }

    fn anew(&self) -> Caller {
        self.world.site.sign_in(self.person.id, USERNAME, Role::Member, Duration::ZERO)
    }

    fn about(&self) -> String {
        format!("with {NAME} (member {}), {}", self.person.id, "044 668 18 00")
    }

    fn post(&self, path: &str, fields: &[(&str, &str)]) {
        self.look(&self.admin.post(path, fields));
    }

    /// Notes a deed that was not taken.
    fn look(&self, reply: &Reply) {
        if ![200, 201, 204, 303].contains(&reply.status) {
            self.refused.borrow_mut().push(reply.to_string());
        }
    }

    /// Every deed. One that ends in a panic is noted as refused, so that the others are seen too.
    pub fn play(&self) {
        let deeds: [(&str, Deed); 10] = [
            ("the desk", Cast::use_the_desk),
            ("the API", Cast::use_the_api),
            ("others", Cast::be_written_about),
            ("the logbook", Cast::be_in_logbooks),
            ("answers", Cast::be_answered),
            ("the operator", Cast::be_operated),
            ("ways in", Cast::open_ways_in),
            ("the kiosk", Cast::use_the_kiosk),
            ("lists", Cast::be_made_again),
            ("what waits", Cast::leave_open),
        ];
        for (name, deed) in deeds {
            if std::panic::catch_unwind(AssertUnwindSafe(|| deed(self))).is_err() {
                self.refused.borrow_mut().push(format!("{name} panicked"));
            }
        }
    }

    /// Every operation of a member, as the person.
    fn use_the_api(&self) {
        let site = &self.world.site;
        for route in ROUTES.iter().filter(|route| ["member", "open"].contains(&route.caller())) {
            if route.path == "/auth/logout" || route.path.contains("sessions") {
                continue;
            }
            let caller = self.anew();
            let reply = caller.send(&self.world.request(route, &caller));
            if reply.status >= 500 {
                self.look(&reply);
            }
        }
        site.reset_rate_limits();
        let profile = json!({ "username": USERNAME, "real_name": NAME, "screen_name": "Zaphodétte", "verify_password": PASSWORD,
            "tunnel": Site::TUNNEL_ID.to_string() });
        self.look(&self.anew().put("/account/profile/user", profile));
    }

    /// What staff enters about the person, on the pages.
    pub fn use_the_desk(&self) {
        let site = &self.world.site;
        let (card, text) = (format!("/desk/members/{}", self.person.id), self.about());
        self.post(&format!("{card}/card"), &[("card", "04A23F91")]);
        self.post(&format!("{card}/note"), &[("text", &text)]);
        self.post(
            &format!("{card}/emergency"),
            &[("emergency_name", "Joan Drizzlewick"), ("emergency_phone", "+41 52 000 00 00")],
        );
        self.post(&format!("{card}/waiver/override"), &[("reason", &text)]);
        self.post(&format!("{card}/waiver/phone"), &[]);
        let edited = [
            ("real_name", NAME),
            ("screen_name", "Zaphodétte"),
            ("email", ADDRESS),
            ("phone", PHONE),
            ("dob", "1990-01-01"),
            ("language", "de"),
        ];
        self.post(&format!("{card}/edit"), &edited);
        self.sign(&self.person, "1990-01-01", "self");
        let partner = &self.world.partner;
        let record = partner.ask(Method::POST, "/external/partner-metrics/op").header("idempotency-key", "once");
        self.look(&record.json(&json!({ "email": ADDRESS })).send());
        site.booking_token(partner, &self.anew());
        let contact = json!({ "name": NAME, "email": ADDRESS, "country": "CH", "enquiry": NAME, "message": text });
        self.look(&site.stranger().post("/public/contact", contact));
    }

    /// The person's waiver, and the one that the person signs for a child.
    pub fn sign_waivers(&self) {
        let site = &self.world.site;
        let child = site.flyer("child");
        site.born(&child, site.now() - 10 * 365 * 86_400);
        let form = [("guardian", &*self.person.id.to_string()), ("relation", "parent")];
        self.post(&format!("/desk/members/{}/guardians", child.id), &form);
        self.sign(&self.person, "1990-01-01", "self");
        self.sign(&child, "2016-05-31", "parent");
    }

    fn sign(&self, flyer: &Caller, dob: &str, relation: &str) {
        let [name, answer, relates] =
            [format!("dob_{}", flyer.id), format!("answer_{}_1", flyer.id), format!("relation_{}", flyer.id)];
        let form = [
            ("version", "1"),
            ("language", "en"),
            ("signer_name", NAME),
            (&*name, dob),
            (&*answer, "n"),
            (&*relates, relation),
            ("strokes", "M 1 1 L 2 2 L 3 3"),
        ];
        self.post(&format!("/desk/members/{}/waiver", flyer.id), &form);
    }

    /// A kiosk at which the person is signed in.
    fn use_the_kiosk(&self) {
        let site = &self.world.site;
        site.reset_rate_limits();
        let (bring, picture) = (self.anew(), pictures::png(20, 20));
        self.look(
            &bring.ask(Method::POST, "/account/profile/media").header("content-type", "image/png").body(picture).send(),
        );
        enter(site, &paired(site), &self.anew());
        self.look(&self.anew().post("/account/profile/kiosk-code", json!({})));
    }

    /// What others write about the person.
    fn be_written_about(&self) {
        let (site, text) = (&self.world.site, self.about());
        let (mark, bob) = (&self.world.mark, site.flyer("bob"));
        let card = format!("/desk/members/{}", mark.id);
        self.post(&format!("{card}/note"), &[("text", &text)]);
        self.post(&format!("{card}/emergency"), &[("emergency_name", NAME), ("emergency_phone", "044 668 18 00")]);
        self.post(&format!("{card}/waiver/override"), &[("reason", &text)]);
        self.post(&format!("/desk/members/{}/ban", bob.id), &[("reason", &format!("for {FORMER}"))]);
        self.post("/desk/shift-note", &[("text", &text)]);
        let page = self.admin.post("/desk/kiosks", &[("name", &format!("Tablet of {NAME}"))]).page();
        assert_eq!(Clerk::outside(site).post("/kiosk/pair", &[("code", &code_on(&page))]).status, 303);
        self.post("/desk/kiosks", &[("name", &format!("Screen of {NAME}"))]);
        let draft =
            [("kind", "waiver"), ("language", "en"), ("title", &*text), ("body", &*text), ("questions", &*text)];
        self.post("/desk/texts/edit", &draft);
        let invited = [("name", NAME), ("email", ""), ("role", "desk"), ("language", "de"), ("number", "77")];
        self.post("/desk/site/invitations", &invited);
        let mailed =
            [("name", NAME), ("email", "nora@example.org"), ("role", "desk"), ("language", "de"), ("number", "78")];
        self.post("/desk/site/invitations", &mailed);
        site.born(mark, site.now() - 40 * 365 * 86_400);
        let nephew = site.flyer("nephew");
        site.born(&nephew, site.now() - 9 * 365 * 86_400);
        let form = [("guardian", &*mark.id.to_string()), ("relation", "permission"), ("permission", &*text)];
        self.post(&format!("/desk/members/{}/guardians", nephew.id), &form);
        self.decide(mark, &text);
    }

    /// Logbooks and the till, which others keep.
    fn be_in_logbooks(&self) {
        let (site, text, mark) = (&self.world.site, self.about(), &self.world.mark);
        crate::desk::till::pay(&self.admin, mark.id, "free", &text);
        self.look(&crate::desk::till::close(&self.admin, "0", "0", &text));
        let entry = json!({ "entry_date": site.now() - 60, "tunnel": Site::TUNNEL_ID, "time": 15, "comment": text });
        self.look(&mark.post("/account/logbook/time/", entry));
        // A request for a skill derives Mark's level anew, and who holds none has no flight time by a booking.
        self.be_removed(mark, &text);
        self.take_part_in(mark, &text);
    }

    /// Staff decides about the answers of another member's waiver.
    fn decide(&self, mark: &Caller, text: &str) {
        let (name, answer) = (format!("dob_{}", mark.id), format!("answer_{}_1", mark.id));
        let form =
            [("version", "1"), ("language", "en"), ("signer_name", "Mark"), (&*name, "1990-05-31"), (&*answer, "y")];
        self.post(&format!("/desk/members/{}/waiver", mark.id), &form);
        let paper: i64 =
            self.world.site.change(|tx| Ok(tx.get("SELECT max(signature_id) FROM waiver_signatures", [])?));
        let word = [("signature", &*paper.to_string()), ("may_fly", "yes"), ("word", text)];
        self.post(&format!("/desk/members/{}/waiver/decide", mark.id), &word);
    }

    /// The person asks a signer, and signs for another member.
    fn take_part_in(&self, mark: &Caller, text: &str) {
        let site = &self.world.site;
        let ines = site.signer("ines", &[("Instructor", "4")]);
        for who in [&self.anew(), mark] {
            site.brief(who, "Flyer");
        }
        let asked = json!({ "cat_group": "Flyer", "cat_id": "1", "entry_date": site.now() - 60, "comment": "please", "skill": "10101",
            "instructor": ines.id.to_string(), "tunnel": Site::TUNNEL_ID.to_string() });
        let reply = self.anew().post("/account/logbook/skills/", asked);
        self.look(&reply);
        site.prove_all();
        let words = json!({ "comments_instructor": text, "comment_denial": text });
        let entry = site.ask_for(mark, "10101", &ines);
        self.look(&ines.post(&format!("/account/logbook/entries/{entry}/deny"), &words));
        let entry = site.ask_for(mark, "10103", &ines);
        self.look(&ines.post(&format!("/account/logbook/entries/{entry}/sign"), &words));
    }

    /// A booking of another member is cancelled, whose flight time has a comment.
    fn be_removed(&self, mark: &Caller, text: &str) {
        let site = &self.world.site;
        site.booking_token(&self.world.partner, mark);
        let (booking, entry): (i64, i64) = site.change(|tx| {
            let sql = "SELECT b.booking_id, e.entry_id FROM bookings b JOIN entries e USING (booking_id)
                       WHERE b.member_id = ?1 ORDER BY b.booking_id DESC LIMIT 1";
            Ok(tx.get(sql, [mark.id])?)
        });
        let body =
            json!({ "entry_date": site.now(), "tunnel": Site::TUNNEL_ID.to_string(), "comment": text, "time": "30" });
        self.look(&mark.put(&format!("/account/logbook/time/{entry}"), body));
        self.post(&format!("/desk/bookings/{booking}/cancel"), &[]);
    }

    /// What servers say of the person.
    fn be_answered(&self) {
        let (site, text) = (&self.world.site, self.about());
        let now = site.now();
        let bounce = |id: &str, address: &str| json!({ "event": "hard_bounce", "ts": now, "_id": id, "msg": { "_id": id, "email": address, "diag": text } });
        let events = json!({ "mail_events": [bounce("b-1", ADDRESS), bounce("b-2", "aunt@example.org")] });
        self.look(&site.mail_provider().post("/mail-webhook", events));
        let payment = json!({ "id": "pi_9", "object": "payment_intent", "amount": 3000, "currency": "chf", "receipt_email": ADDRESS });
        let event = json!({ "id": "evt_9", "object": "event", "type": "payment_intent.succeeded", "created": now, "data": { "object": payment } });
        self.look(&site.processor().post("/payment-webhook", event));
        self.look(&self.admin.post(&format!("/desk/members/{}/pin", self.person.id), &[]));
        let message = site.queue_mail("aunt@example.org");
        site.change(|tx| {
            outbox::set_dead(tx, MessageId(message), &format!("550 {text}"))?;
            tx.run(
                "INSERT INTO sync_refused (seq, refused_at, tried_at, tries, error) VALUES (1, 1, 1, 1, ?1)",
                [&text],
            )?;
            Ok(social_links::insert(tx, "google", "drizzlewick", MemberId(self.person.id), NAME)?)
        });
    }

    /// What the site has without the person.
    fn be_operated(&self) {
        let (site, now) = (&self.world.site, self.world.site.now());
        self.look(&self.admin.upload("/desk/texts/picture", &pictures::png(60, 60)));
        self.look(&site.partner_with(true, &["127.0.0.0/8"], None).get("/external/partner-metrics/op"));
        let message = site.queue_mail("aunt@example.org");
        site.change(|tx| Ok(outbox::set_sent(tx, MessageId(message), "p-1")?));
        let sent =
            json!({ "event": "send", "ts": now, "_id": "p-1", "msg": { "_id": "p-1", "email": "aunt@example.org" } });
        self.look(&site.mail_provider().post("/mail-webhook", json!({ "mail_events": [sent] })));
        let wrong = json!({ "username": "mark", "password": "nobody's password" });
        self.look(&site.stranger().post("/auth/login", wrong));
    }

    /// Credentials of every kind, and sign-ins that are not complete.
    fn open_ways_in(&self) {
        let site = &self.world.site;
        let mut body = json!({ "username": USERNAME, "password": PASSWORD });
        let asking = site.stranger();
        let asking = asking.ask(Method::POST, "/auth/login").header("user-agent", "drizzlewick");
        self.look(&asking.header("accept-language", "de").json(&body).send());
        let protected = site.protect(&self.anew());
        body["code"] = protected.authenticator.code(site.now()).into();
        self.look(&self.anew().post("/auth/login/totp/setup", &body));
        let begin = json!({ "username": USERNAME, "device_id": 7 });
        let asking = self.anew();
        let asking = asking.ask(Method::POST, "/auth/login/bio-web-option").header("origin", &site.origin());
        self.look(&asking.json(&begin).send());
        self.world.passkey(&self.anew());
        site.booking_token(&self.world.partner, &self.anew());
        self.post(&format!("/desk/members/{}/waiver/phone", self.person.id), &[]);
    }

    /// Lists that name the person, and a form at the desk, each of which makes an account of its own.
    fn be_made_again(&self) {
        let (site, dir, text) = (&self.world.site, tempfile::tempdir().unwrap(), self.about());
        let import = |kind: &str, headings: &str, row: &str| {
            let path = dir.path().join(format!("{kind} of {FORMER}.csv"));
            std::fs::write(&path, format!("{headings}\n{row}\n")).unwrap();
            site.shell(&["import", kind, &path.to_string_lossy()]);
        };
        let row = format!("{USERNAME}-2,{FORMER},{NAME},zaphodette@example.net,{PHONE}");
        import("members", "username,real_name,screen_name,email,phone", &row);
        let row = format!("mark,time,2026-01-02,15,\"{text}\"");
        import("logbook", "username,kind,entry_date,minutes,comment", &row);
        let number = field(&self.admin.get("/desk/new-member").page(), "number");
        let form = [
            ("real_name", FORMER),
            ("email", "zaphodette@example.org"),
            ("dob", "1991-02-03"),
            ("phone", PHONE),
            ("language", "de"),
            ("terms", "1"),
            ("somebody_else", "1"),
            ("number", &*number),
        ];
        self.post("/desk/new-member", &form);
        let sql = "SELECT member_id FROM members WHERE email IN ('zaphodette@example.net', 'zaphodette@example.org')";
        let doubles: Vec<i64> = site.change(|tx| Ok(tx.list(sql, [])?));
        assert_eq!(doubles.len(), 2);
        self.doubles.replace(doubles);
    }

    /// A link to the person's phone, and a signature that waits for the person's code: what the kiosk's PIN would have ended.
    fn leave_open(&self) {
        self.post(&format!("/desk/members/{}/waiver/phone", self.person.id), &[]);
        let sql = "SELECT max(entry_id) FROM entries WHERE kind = 'skill' AND status = 'pending'";
        let entry: i64 = self.world.site.change(|tx| Ok(tx.get(sql, [])?));
        let denial = [("reason", "not yet"), ("username", USERNAME), ("password", PASSWORD)];
        self.post(&format!("/desk/sign-offs/{entry}/deny"), &denial);
    }
}
