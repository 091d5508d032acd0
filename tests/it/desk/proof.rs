//! A fresh proof of identity: what a stolen cookie alone does not do.

use super::{Clerk, demo};
use crate::harness::{PASSWORD, Site};
use http::Method;
use std::time::Duration;
use tunneldesk::http::row::CallerKind;
use tunneldesk::routes::{PAGES, Route};

/// Forms of the desk that need no fresh proof, by the beginning of their path, with the reason.
const HARMLESS: &[(&str, &str)] = &[
    ("/desk/sign-out", "ends the session"),
    ("/desk/prove", "is the proof"),
    ("/desk/group", "a booking, which the desk cancels by a click"),
    ("/desk/bookings", "a booking, which the desk cancels by a click"),
    ("/desk/shift-note", "a note among colleagues"),
    ("/desk/account/password", "asks for the password itself"),
    ("/desk/account/recovery-codes", "asks for a code itself"),
    ("/desk/account/sessions", "ends sessions"),
    ("/desk/members/{member_id}/check-in", "a flight of today"),
    ("/desk/members/{member_id}/photo", "a picture"),
    ("/desk/members/{member_id}/time", "flight time, audited"),
    ("/desk/members/{member_id}/record", "asks the signer for a proof"),
    ("/desk/members/{member_id}/opening", "flight time, audited; its skills are signed by an instructor"),
    (
        "/desk/members/{member_id}/pin",
        "a clerk's daily deed; that of a colleague needs the proof, as every change of staff",
    ),
    ("/desk/members/{member_id}/sessions", "ends sessions"),
    ("/desk/members/{member_id}/note", "a note"),
    ("/desk/members/{member_id}/card", "a wristband that lies on the desk; it opens a kiosk with the PIN alone"),
    ("/desk/members/{member_id}/edit", "a new address counts once its owner confirmed it"),
    ("/desk/members/{member_id}/certificates", "prints a paper that the member has a right to, limited by number"),
    ("/desk/members/{member_id}/waiver", "a signature of a person at the desk, or its undoing, audited"),
    ("/desk/members/{member_id}/emergency", "whom to call"),
    ("/desk/members/{member_id}/consents", "takes a consent back"),
    ("/desk/members/{member_id}/guardians", "a clerk's daily deed, audited"),
    ("/desk/members/{member_id}/alike", "says that two are not one"),
    ("/desk/members/{member_id}/ban", "takes a right away; the lifting needs the proof"),
    ("/desk/members/{member_id}/slip", "a code for the person at the desk, audited"),
    ("/desk/members/{member_id}/payment", "money that is counted at the closing"),
    ("/desk/sign-several", "asks the signer for a proof"),
    ("/desk/record-several", "asks the signer for a proof"),
    ("/desk/sign-offs", "asks the signer for a proof, or takes away"),
    ("/desk/partners/{partner_id}/users", "gives a partner its own records back"),
    ("/desk/partners/{partner_id}/webhooks/{hook_id}/test", "a test event to an address that was entered with a proof"),
    (
        "/desk/partners/{partner_id}/webhooks/{hook_id}/again",
        "sends again what waits, to an address entered with a proof",
    ),
    ("/desk/partners/{partner_id}/webhooks/{hook_id}/off", "takes away"),
    ("/desk/messages", "sends again what waits, or shows it to the clerk"),
    ("/desk/contact", "marks a message as answered"),
    ("/desk/payments", "money that is counted at the closing"),
    ("/desk/member-list", "looks at a pasted list, and takes nothing in"),
    ("/desk/new-member", "an account of a member"),
    ("/desk/till", "money that is counted at the closing"),
    ("/desk/site/backup", "a backup at the places of the settings"),
    ("/desk/site/drill", "restores a backup in a directory of its own"),
    ("/desk/site/sync", "sends what is due to the place of the settings"),
    ("/desk/site/mail-test", "a message to the admin alone"),
    ("/desk/site/sms-test", "a message to the admin alone"),
    ("/desk/site/audit", "reads"),
    ("/desk/site/invitations/{invitation_id}/withdraw", "takes a code back"),
    ("/desk/texts/edit", "a draft"),
    ("/desk/texts/discard", "a draft"),
    ("/desk/texts/picture", "a picture of the brief"),
    ("/desk/kiosks/{kiosk_id}/revoke", "takes a right away"),
];

fn forms_of_the_desk() -> impl Iterator<Item = &'static Route> {
    PAGES.iter().filter(|row| row.caller_kind == CallerKind::Desk && row.method != Method::GET)
}

fn harmless(row: &Route) -> Option<&'static str> {
    let begins = |path: &str| row.path.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    HARMLESS.iter().map(|(path, _)| *path).filter(|path| begins(path)).max_by_key(|path| path.len())
}

#[test]
fn every_form_of_the_desk_asks_a_fresh_proof_or_has_a_reason_not_to() {
    let mut used = Vec::new();
    for row in forms_of_the_desk().filter(|row| !row.proven) {
        used.push(harmless(row).unwrap_or_else(|| panic!("{}: `.proven()`, or a reason why not", row.path)));
    }
    for (path, why) in HARMLESS {
        assert!(used.contains(path), "{path} ({why}) is no form without a proof");
    }
    for path in [
        "/desk/site/users",
        "/desk/site/invitations",
        "/desk/site/signers",
        "/desk/site/settings/{group}",
        "/desk/kiosks",
        "/desk/partners",
        "/desk/partners/{partner_id}/rotate",
        "/desk/members/{member_id}/second-factor",
        "/desk/members/{member_id}/data/export",
        "/desk/members/{member_id}/data/erase",
    ] {
        assert!(forms_of_the_desk().any(|row| row.path == path && row.proven), "{path}");
    }
}

fn age_proofs(site: &Site) {
    site.change(|tx| Ok(tx.run("UPDATE sessions SET proven_at = 0", [])?));
}

#[test]
fn an_admins_cookie_alone_changes_nothing_that_needs_a_proof() {
    let site = demo();
    let (jane, admin, other) = (site.member("jane"), Clerk::at(&site, &site.admin()), site.desk());
    age_proofs(&site);
    let audited = || site.change(|tx| Ok(tx.get::<i64>("SELECT count(*) FROM audit", [])?));
    let before = audited();
    for row in forms_of_the_desk().filter(|row| row.proven) {
        let path = row.path.replace("{member_id}", &jane.id.to_string()).replace("{group}", "mail");
        let path = path.replace("{partner_id}", "1").replace("{hook_id}", "1");
        let refused = admin.post(&path, &[("member", "jane"), ("role", "admin"), ("username", "jane")]);
        assert!(refused.status == 403 && refused.page().contains("action=\"/desk/prove\""), "{path}: {refused}");
    }
    assert_eq!(audited(), before);
    // A colleague's account is one of the staff: every change of it needs the proof.
    for deed in ["pin", "sessions", "ban"] {
        let refused = admin.post(&format!("/desk/members/{}/{deed}", other.id), &[("reason", "x")]);
        assert!(refused.status == 403 && refused.page().contains("action=\"/desk/prove\""), "{deed}: {refused}");
    }
    assert_eq!(admin.post(&format!("/desk/members/{}/pin", jane.id), &[]).status, 200, "that of a member does not");
}

#[test]
fn a_form_that_waited_for_the_proof_is_sent_again_and_the_admins_are_told() {
    let site = demo();
    let (jane, admin, other) = (site.member("jane"), Clerk::at(&site, &site.admin()), site.admin());
    age_proofs(&site);
    let role = [("member", "jane"), ("role", "desk"), ("note", "<two>\nlines & more")];
    let asked = admin.post("/desk/site/users", &role).page();
    assert!(asked.contains("name=\"role\" value=\"desk\"") && asked.contains("prove-password"), "{asked}");
    let prove = |secret: &str| {
        let own = [("prove_to", "/desk/site/users"), ("prove_sends", "1"), ("prove_password", secret)];
        admin.post("/desk/prove", &[&role[..], &own[..]].concat())
    };
    let wrong = prove("wrong");
    assert!(wrong.status == 422 && wrong.page().contains("name=\"role\" value=\"desk\""), "{wrong}");
    assert_eq!(admin.post("/desk/site/users", &role).status, 403, "a wrong password proves nothing");
    let right = prove(PASSWORD);
    assert_eq!((right.status, right.header("location")), (307, Some("/desk/site/users")), "{right}");
    let saved = admin.post("/desk/site/users", &role);
    assert_eq!(saved.status, 303, "{saved}");
    assert!(site.notices(&other).iter().any(|notice| notice == "notice.staff_changed"), "{:?}", site.notices(&other));
    let invited = [("name", "Ben"), ("email", ""), ("role", "desk"), ("language", "en")];
    assert_eq!(admin.post("/desk/site/invitations", &invited).status, 200);
    let told = site.notices(&other).iter().filter(|notice| *notice == "notice.staff_changed").count();
    assert_eq!(told, 2);
    let mark = site.member("mark");
    let erase = format!("/desk/members/{}/data/erase", mark.id);
    assert_eq!(admin.post(&erase, &[("username", "mark")]).status, 303);
    assert!(site.notices(&other).iter().any(|notice| notice == "notice.person_erased"));
    assert_eq!(site.notices(&jane).iter().filter(|notice| *notice == "notice.person_erased").count(), 0);
    site.advance(Duration::from_secs(601));
    assert_eq!(admin.post("/desk/site/users", &role).status, 403, "after ten minutes");
    let round = [("prove_to", "/desk/prove"), ("prove_sends", "1"), ("prove_password", PASSWORD)];
    let home = admin.post("/desk/prove", &round);
    assert_eq!((home.status, home.header("location")), (303, Some("/desk")), "it is not sent to itself");
    let elsewhere = admin.post("/desk/prove", &[("prove_to", "https://example.org/"), ("prove_password", PASSWORD)]);
    assert_eq!(elsewhere.header("location"), Some("/desk"), "never to another site");
}

#[test]
fn with_a_second_factor_the_password_is_no_proof() {
    let site = Site::open();
    let protected = site.protect(&site.admin());
    let admin = Clerk::outside(&site);
    admin.post("/desk/sign-in", &[("username", &protected.member.name), ("password", PASSWORD)]);
    let code = protected.authenticator.code(site.now());
    assert_eq!(admin.post("/desk/sign-in/code", &[("code", &code), ("by", "app")]).status, 303);
    age_proofs(&site);
    let to = ("prove_to", "/desk/site/users");
    assert_eq!(admin.post("/desk/prove", &[to, ("prove_password", PASSWORD)]).status, 422);
    assert_eq!(admin.post("/desk/prove", &[to, ("prove_code", &code)]).status, 422, "a code works once");
    site.advance(Duration::from_secs(60));
    let code = protected.authenticator.code(site.now());
    assert_eq!(admin.post("/desk/prove", &[to, ("prove_code", &code)]).status, 303);
    assert_eq!(admin.post("/desk/kiosks", &[("name", "Door")]).status, 200);
}
