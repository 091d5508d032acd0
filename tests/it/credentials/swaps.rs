//! Somebody who can write the database, and cannot read the site's key, copies secrets from the own rows into another's.
//! What is sealed or hashed belongs to its row, so nothing opens there.

use crate::auth::passkeys::{Key, Page, done, question, refused, register, sign_in_question, verify};
use crate::desk::kiosk::{enter, paired};
use crate::harness::{Caller, Credential, PASSWORD, Protected, Reply, Site};
use serde_json::{Value, json};
use tunneldesk::domain::ids::{MemberId, MessageId};
use tunneldesk::domain::password::{self, Cost};
use tunneldesk::store::tables::{members, outbox, security_answers};

const THIEFS_PASSWORD: &str = "four dry socks in a row";
const LOGIN: &str = "/auth/login";
const VERIFY: &str = "/auth/login/verify-totp";
const RECOVER: &str = "/auth/account-access/recover-password";
const OP: &str = "/external/partner-metrics/op";

/// What is copied or moved from the row of `?1` into that of `?2`, by its name here.
const SWAPS: &[(&str, &str)] = &[
    (
        "password",
        "UPDATE members SET password_hash = (SELECT password_hash FROM members WHERE member_id = ?1) WHERE member_id = ?2",
    ),
    (
        "authenticator",
        "UPDATE second_factors SET last_step = 0, sealed = (SELECT sealed FROM second_factors WHERE member_id = ?1) WHERE member_id = ?2",
    ),
    (
        "recovery code",
        "INSERT INTO recovery_codes (member_id, code_hash) SELECT ?2, code_hash FROM recovery_codes WHERE member_id = ?1",
    ),
    (
        "passcode",
        "UPDATE passcodes SET (code_hash, target) = (SELECT code_hash, target FROM passcodes WHERE member_id = ?1) WHERE member_id = ?2",
    ),
    ("recipient", "UPDATE outbox SET recipient = 'thief@example.com' WHERE ?1 <> ?2 AND member_id = ?2"),
    (
        "security answer",
        "UPDATE security_answers SET answer_hash = (SELECT answer_hash FROM security_answers WHERE member_id = ?1) WHERE member_id = ?2",
    ),
    ("PIN", "UPDATE members SET pin_hash = (SELECT pin_hash FROM members WHERE member_id = ?1) WHERE member_id = ?2"),
    ("booking token", "UPDATE booking_tokens SET member_id = ?2 WHERE member_id = ?1"),
    ("session", "UPDATE sessions SET member_id = ?2 WHERE member_id = ?1"),
    ("passkey", "UPDATE passkeys SET member_id = ?2 WHERE member_id = ?1"),
    (
        "passkey's key",
        "UPDATE passkeys SET (credential_id, public_key) = (SELECT CAST(x'00' || credential_id AS BLOB), public_key FROM passkeys WHERE member_id = ?1) WHERE member_id = ?2",
    ),
    (
        "partner's secret",
        "UPDATE partner_secrets SET sealed = (SELECT sealed FROM partner_secrets WHERE partner_id = ?1) WHERE partner_id = ?2",
    ),
    ("partner's row", "UPDATE partner_secrets SET partner_id = ?2 WHERE partner_id = ?1"),
    ("guest", "UPDATE kiosk_guests SET member_id = ?2 WHERE member_id = ?1"),
    ("key of a kiosk", "UPDATE kiosks SET key_hash = ?1 WHERE kiosk_id = ?2"),
];

/// The statement of a swap.
fn swap(name: &str) -> &'static str {
    SWAPS.iter().find(|(one, _)| *one == name).unwrap_or_else(|| panic!("{name} is in no row")).1
}

/// Two members, each with an authenticator and recovery codes: the thief, and the owner.
struct Two {
    site: Site,
    thief: Protected,
    owner: Protected,
}

/// Whether an answer of the login family, or of `generate-token`, gave a token.
fn opens(reply: &Reply) -> bool {
    reply.status == 200 && reply.json()["token"].as_str().is_some_and(|token| !token.is_empty())
}

impl Two {
    fn new() -> Two {
        let site = Site::open();
        let (thief, owner) = (site.protect(&site.flyer("thief")), site.protect(&site.flyer("owner")));
        let phc = password::hash(THIEFS_PASSWORD, Cost::FULL);
        site.change(|tx| Ok(members::set_password(tx, MemberId(thief.member.id), &phc)?));
        Two { site, thief, owner }
    }

    /// Runs a statement with the thief's number as `?1` and the owner's as `?2`.
    fn write(&self, sql: &str) {
        let changed = self.site.change(|tx| Ok(tx.run(sql, (self.thief.member.id, self.owner.member.id))?));
        assert!(changed > 0, "{sql}");
    }

    fn login(&self, member: &Caller, password: &str) -> bool {
        let body = json!({ "username": member.name, "password": password });
        let answer = self.site.stranger().post(LOGIN, body).ok().json();
        answer["status"] == true
    }

    fn second_step(&self, member: &Caller, password: &str, code: &str) -> bool {
        let body = json!({ "username": member.name, "password": password, "member_id": member.id, "code": code });
        opens(&self.site.stranger().post(VERIFY, body))
    }

    fn passcode(&self, member: &Caller, password: &str) -> String {
        let body = json!({ "username": member.name, "password": password, "passcodeOption": "email" });
        self.site.stranger().post(LOGIN, body).ok();
        self.site.last_passcode(member).expect("a passcode was sent")
    }
}

#[test]
fn a_password_s_hash_opens_its_own_row_alone() {
    let two = Two::new();
    let (thief, owner) = (&two.thief.member, &two.owner.member);
    assert!(two.login(thief, THIEFS_PASSWORD) && !two.login(owner, THIEFS_PASSWORD));
    two.write(swap("password"));
    assert!(!two.login(owner, THIEFS_PASSWORD), "a copied hash");
    // A hash of the thief's own making, also one that says with which associated data it is to be checked.
    let phc = password::hash(THIEFS_PASSWORD, Cost::FULL);
    let with_data = phc.replacen(",p=1$", ",p=1,data=b3duZXI$", 1);
    assert_ne!(phc, with_data);
    for made in [&phc, &with_data] {
        two.site
            .change(|tx| Ok(tx.run("UPDATE members SET password_hash = ?1 WHERE member_id = ?2", (made, owner.id))?));
        assert!(!two.login(owner, THIEFS_PASSWORD), "{made}");
    }
}

#[test]
fn an_authenticator_s_secret_opens_its_own_row_alone() {
    let two = Two::new();
    let (thief, owner) = (&two.thief, &two.owner);
    two.write(swap("authenticator"));
    let body = json!({ "username": owner.member.name, "password": PASSWORD, "member_id": owner.member.id,
                       "code": thief.authenticator.code(two.site.now()) });
    let refused = two.site.stranger().post(VERIFY, body).ok().json();
    assert_eq!((&refused["status"], &refused["token"]), (&json!(false), &json!("")), "the thief's: {refused}");
    assert!(refused["message"].as_str().is_some_and(|text| text.contains("reset-second-factor")), "{refused}");
    assert!(two.second_step(&thief.member, THIEFS_PASSWORD, &thief.authenticator.code(two.site.now())), "in its row");
}

#[test]
fn recovery_codes_and_passcodes_open_their_own_row_alone() {
    let two = Two::new();
    let (thief, owner) = (&two.thief, &two.owner);
    two.write(swap("recovery code"));
    assert!(!two.second_step(&owner.member, PASSWORD, &thief.recovery_codes[0]));
    assert!(two.second_step(&thief.member, THIEFS_PASSWORD, &thief.recovery_codes[0]));
    let passcode = two.passcode(&thief.member, THIEFS_PASSWORD);
    two.passcode(&owner.member, PASSWORD);
    two.write(swap("passcode"));
    assert!(!two.second_step(&owner.member, PASSWORD, &passcode));
    assert!(two.second_step(&thief.member, THIEFS_PASSWORD, &passcode));
}

#[test]
fn a_passcode_is_not_sent_to_another_recipient() {
    let two = Two::new();
    let owner = &two.owner.member;
    two.passcode(owner, PASSWORD);
    let sql = "SELECT max(message_id) FROM outbox WHERE member_id = ?1";
    let message = || {
        two.site.change(|tx| {
            let message_id: i64 = tx.get(sql, [owner.id])?;
            Ok(outbox::find(tx, MessageId(message_id))?.expect("it waits"))
        })
    };
    let rendered = || tunneldesk::jobs::outbox::render_message(two.site.inside(), &message());
    assert!(rendered().is_ok());
    two.write(swap("recipient"));
    assert!(rendered().is_err(), "its values are for its recipient alone");
}

#[test]
fn a_security_answer_opens_its_own_row_alone() {
    let two = Two::new();
    let answer = |member: &Caller, text: &str| {
        let phc = two.site.inside().hash(text);
        two.site.change(|tx| Ok(security_answers::set(tx, MemberId(member.id), 3, &phc)?));
    };
    answer(&two.thief.member, "saab");
    answer(&two.owner.member, "volvo");
    let recovers = |member: &Caller, new: &str| {
        two.site.stranger().post(RECOVER, json!({ "username": member.name, "option": "email" })).ok();
        let passcode = two.site.last_passcode(member).expect("a passcode was sent");
        let body = json!({ "username": member.name, "passcode": passcode, "password": new, "answer_3": "saab" });
        two.site.stranger().post(RECOVER, body).ok().json()["status"] == true
    };
    two.write(swap("security answer"));
    assert!(!recovers(&two.owner.member, "yet another password"));
    assert!(recovers(&two.thief.member, "still another password"));
}

#[test]
fn a_pin_and_a_booking_s_token_open_their_own_row_alone() {
    let two = Two::new();
    let (thief, owner, partner) = (&two.thief.member, &two.owner.member, two.site.partner());
    let pin = two.site.pin(thief);
    let generate = |member: &Caller| {
        opens(&partner.post(&format!("{OP}/generate-token"), json!({ "member_id": member.id, "member_pin": pin })))
    };
    two.write(swap("PIN"));
    assert!(generate(thief) && !generate(owner));
    let bearer = two.site.booking_token(&partner, thief);
    bearer.get("/account/profile/user").ok();
    two.write(swap("booking token"));
    bearer.get("/account/profile/user").refused(401);
}

#[test]
fn a_session_opens_its_own_row_alone() {
    let two = Two::new();
    let thief = &two.thief.member;
    let seen = |reply: Reply| reply.ok().json()["username"].clone();
    assert_eq!(seen(thief.get("/account/profile/user")), Value::from("thief"));
    two.write(swap("session"));
    thief.get("/account/profile/user").refused(401);
}

#[test]
fn a_passkey_opens_its_own_row_alone() {
    for (name, statement) in SWAPS.iter().filter(|(name, _)| name.starts_with("passkey")) {
        let site = Site::open();
        let (thief, admin) = (site.member("thief"), site.admin());
        let (mut key, owners) = (register(&site, &thief), register(&site, &admin));
        let answer = |key: &mut Key, options: &Value| verify(&site, &Page::at(&site.origin()).get(key, options));
        done(&answer(&mut key, &sign_in_question(&site, "thief")));
        if *name == "passkey" {
            site.change(|tx| Ok(tx.run("DELETE FROM passkeys WHERE member_id = ?1", [admin.id])?));
        }
        let changed = site.change(|tx| Ok(tx.run(*statement, (thief.id, admin.id))?));
        assert_eq!(changed, 1, "{name}");
        // The thief's authenticator says what the thief likes about whose key it has.
        for mut key in [key.clone(), key.with_handle(owners.handle()), key.with_id(&[&[0], key.id()].concat())] {
            refused(&answer(&mut key, &sign_in_question(&site, &admin.name)));
            let anybody = question(&site, &site.stranger(), json!({ "discoverable": true }));
            let reply = answer(&mut key, &anybody).json();
            assert_ne!(reply["member_id"], admin.id, "{name}: {reply}");
        }
    }
}

#[test]
fn every_swap_is_tried() {
    let tried = |name: &str| include_str!("swaps.rs").contains(&format!("swap(\"{name}\")"));
    let left: Vec<&str> = SWAPS.iter().map(|(name, _)| *name).filter(|name| !tried(name)).collect();
    assert_eq!(left, ["passkey", "passkey's key"], "these two are read from the table");
    assert!(SWAPS.len() >= 10);
}

#[test]
fn a_partner_s_secret_signs_for_its_own_row_alone() {
    let two = Two::new();
    let (one, other) = (two.site.partner(), two.site.partner());
    let create = |partner: &Caller, name: &str| partner.post(OP, json!({ "email": format!("{name}@example.com") }));
    create(&one, "before").ok();
    let as_other = one.with(Credential::Partner {
        client_id: other.client_id().to_owned(),
        secret: one.secret().to_owned(),
        strict: false,
    });
    for statement in [swap("partner's secret"), swap("partner's row")] {
        let number = "SELECT partner_id FROM partners WHERE client_id = ?1";
        two.site.change(|tx| {
            let [one, other]: [i64; 2] = [tx.get(number, [one.client_id()])?, tx.get(number, [other.client_id()])?];
            Ok(tx.run(statement, (one, other))?)
        });
        create(&as_other, "after").refused(401);
    }
}

#[test]
fn a_kiosk_s_key_and_its_guest_s_token_open_their_own_rows_alone() {
    let site = crate::desk::demo();
    let (thief, owner) = (site.flyer("thief"), site.flyer("owner"));
    let kiosk = paired(&site);
    enter(&site, &kiosk, &thief);
    assert_eq!(kiosk.get("/kiosk/home").status, 200);
    site.change(|tx| Ok(tx.run(swap("guest"), [thief.id, owner.id])?));
    assert_eq!(kiosk.get("/kiosk/home").header("location"), Some("/kiosk"), "the guest is nobody");
    // The key of a kiosk that was revoked, in the row of another.
    let other = paired(&site);
    site.change(|tx| {
        let kiosks: Vec<i64> = tx.list("SELECT kiosk_id FROM kiosks ORDER BY kiosk_id", [])?;
        let key: [u8; 32] = tx.get("SELECT key_hash FROM kiosks WHERE kiosk_id = ?1", [kiosks[0]])?;
        tx.run("UPDATE kiosks SET key_hash = NULL WHERE kiosk_id = ?1", [kiosks[0]])?;
        Ok(tx.run(swap("key of a kiosk"), (&key[..], kiosks[1]))?)
    });
    for browser in [&kiosk, &other] {
        assert!(browser.get("/kiosk").page().contains("Make this browser a kiosk"));
    }
}
