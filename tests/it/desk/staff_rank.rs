//! Privilege escalation: the rank of the account decides what a clerk may read, reset or send.

use super::{Clerk, demo};
use crate::harness::{Caller, PASSWORD, Site, pictures, senders};
use serde_json::{Value, json};
use tunneldesk::domain::ids::{MemberId, MessageId};
use tunneldesk::store::tables::outbox::{self, Channel, NewMessage};

const RECOVER: &str = "/auth/account-access/recover-password";
const USERNAME: &str = "/auth/account-access/recover-username";
const NEW: &str = "four dry socks in a row";

fn recover(site: &Site, name: &str) -> Vec<u8> {
    site.stranger().post(RECOVER, json!({ "username": name, "option": "email" })).ok().body
}

/// Queues a message for the account.
fn message(site: &Site, to: &Caller, template: &str, values: &Value) -> i64 {
    let keys = &site.inside().keys;
    let recipient = format!("{}@example.com", to.name);
    let new = NewMessage {
        channel: Channel::Email,
        member_id: Some(MemberId(to.id)),
        recipient: &recipient,
        language: "en",
        template,
        values,
    };
    site.change(|tx| Ok(outbox::insert(tx, keys, &new)?))
}

fn kill(site: &Site, message_id: i64) {
    site.change(|tx| Ok(outbox::set_dead(tx, MessageId(message_id), "550 no such mailbox")?));
}

fn state(site: &Site, message_id: i64) -> String {
    site.change(|tx| Ok(outbox::find(tx, MessageId(message_id))?.expect("the message is there").state))
}

/// The actor and the subject of the latest audit row with this action.
fn last_deed(site: &Site, action: &str) -> (String, String) {
    let sql = "SELECT actor, subject FROM audit WHERE action = ?1 ORDER BY seq DESC LIMIT 1";
    site.change(|tx| Ok(tx.get(sql, [action])?))
}

#[test]
fn a_staff_account_is_not_recovered_by_a_message_that_the_desk_could_read() {
    let site = demo();
    let jane = site.member("jane");
    let known = recover(&site, "jane");
    let mails = site.mails().len();
    for above in [site.desk(), site.admin(), site.sync()] {
        assert_eq!(recover(&site, &above.name), known, "{} is told what a member is told", above.name);
        let body = json!({ "email": format!("{}@example.com", above.name) });
        site.stranger().post(USERNAME, body).ok();
        assert_eq!(site.mails().len(), mails, "no passcode of {} waits at the desk", above.name);
    }
    let clerk = Clerk::at(&site, &site.desk());
    let page = clerk.get("/desk/messages?box=waiting").page();
    assert!(page.contains("jane@example.com") && page.matches("/read\"").count() == 1, "{page}");
    assert!(site.last_passcode(&jane).is_some());
}

#[test]
fn with_a_mail_server_a_staff_account_is_recovered_by_mail() {
    let site = Site::open_with(|config| config.mail = Some(senders::mail_to_nowhere()));
    let admin = site.admin();
    recover(&site, &admin.name);
    let code = site.last_passcode(&admin).expect("the passcode leaves the house");
    let body = json!({ "username": admin.name, "passcode": code, "password": NEW });
    assert_eq!(site.stranger().post(RECOVER, body).ok_json()["status"], true);
}

#[test]
fn a_clerk_reads_and_retries_messages_of_members_and_none_of_staff() {
    let site = demo();
    let (desk, admin, jane) = (site.desk(), site.admin(), site.member("jane"));
    let passcode = json!({ "passcode": "481516" });
    let event = json!({ "event": "password_changed" });
    let above = [&admin, &site.desk(), &site.sync(), &desk].map(|who| {
        [message(&site, who, "passcode_recover_password", &passcode), message(&site, who, "security_event", &event)]
    });
    let hers = message(&site, &jane, "passcode_recover_password", &passcode);
    let clerk = Clerk::at(&site, &desk);
    for id in above.as_flattened() {
        let refused = clerk.post(&format!("/desk/messages/{id}/read"), &[]);
        assert!(refused.status == 403 && !refused.page().contains("481516"), "{refused}");
        kill(&site, *id);
        assert_eq!(clerk.post(&format!("/desk/messages/{id}/read"), &[]).status, 403, "nor when it is dead");
        assert_eq!(clerk.post(&format!("/desk/messages/{id}/retry"), &[]).status, 403);
    }
    let page = clerk.get("/desk/messages?box=dead").page();
    assert!(
        !page.contains("/read\"") && page.matches("/retry\"").count() == 1,
        "all at once, and none by itself: {page}"
    );
    let read = clerk.post(&format!("/desk/messages/{hers}/read"), &[]);
    assert!(read.status == 200 && read.page().contains("481516"), "{read}");
    assert_eq!(last_deed(&site, "message.read_out"), (format!("member:{}", desk.id), format!("member:{}", jane.id)));
    kill(&site, hers);
    assert_eq!(clerk.post("/desk/messages/retry", &[]).status, 303);
    assert_eq!(state(&site, hers), "waiting");
    for id in above.as_flattened() {
        assert_eq!(state(&site, *id), "dead", "a clerk sends a member's alone");
    }
}

#[test]
fn an_admin_reads_messages_of_others_and_nobody_reads_credentials_of_staff() {
    let site = demo();
    let (admin, other) = (site.admin(), site.admin());
    let told = message(&site, &other, "security_event", &json!({ "event": "password_changed" }));
    let root = Clerk::at(&site, &admin);
    assert_eq!(root.post(&format!("/desk/messages/{told}/read"), &[]).status, 200);
    assert_eq!(last_deed(&site, "message.read_out").1, format!("member:{}", other.id));
    for (template, values) in [
        ("passcode_recover_password", json!({ "passcode": "481516" })),
        ("passcode_sign_in", json!({ "passcode": "481516" })),
        ("confirm_email", json!({ "token": "a-token-of-481516" })),
    ] {
        let secret = message(&site, &other, template, &values);
        let refused = root.post(&format!("/desk/messages/{secret}/read"), &[]);
        assert!(refused.status == 403 && !refused.page().contains("481516"), "{template}: {refused}");
        assert!(refused.page().contains("so it is not shown"), "{refused}");
    }
    kill(&site, told);
    assert_eq!(root.post("/desk/messages/retry", &[]).status, 303);
    assert_eq!(state(&site, told), "waiting");
    // The technician at the shell may do so, and an audit row records it.
    site.shell(&["outbox", "show", &told.to_string()]);
    let (who, whom) = last_deed(&site, "message.read_out");
    assert!(who.starts_with("cli:") && whom == format!("member:{}", other.id), "{who} {whom}");
}

#[test]
fn a_clerk_changes_no_photo_and_sees_no_credentials_of_staff() {
    let site = demo();
    let (desk, admin, jane) = (site.desk(), site.admin(), site.member("jane"));
    let clerk = Clerk::at(&site, &desk);
    site.note(&admin, "notice.password_changed", json!({}));
    site.note(&jane, "notice.password_changed", json!({}));
    let photo = |who: &Caller| clerk.upload(&format!("/desk/members/{}/photo", who.id), &pictures::png(20, 20)).status;
    assert_eq!((photo(&jane), photo(&admin)), (303, 403));
    let remove = |who: &Caller| clerk.post(&format!("/desk/members/{}/photo/remove", who.id), &[]).status;
    assert_eq!((remove(&jane), remove(&admin)), (303, 403));
    let tab = |who: &Caller, tab: &str| clerk.get(&format!("/desk/members/{}?tab={tab}", who.id)).page();
    assert!(tab(&jane, "security").contains("Sign out everywhere") && tab(&jane, "messages").contains("password"));
    for shown in [tab(&admin, "security"), tab(&admin, "messages")] {
        assert!(shown.contains("only an admin may read its messages"), "{shown}");
        assert!(!shown.contains("Sign out everywhere") && !shown.contains("Your password was changed"), "{shown}");
    }
    let root = Clerk::at(&site, &admin);
    assert!(root.get(&format!("/desk/members/{}?tab=security", desk.id)).page().contains("Sign out everywhere"));
}

#[test]
fn a_sent_passcode_is_no_second_factor_for_staff() {
    let site = demo();
    let mail = Site::open_with(|config| config.mail = Some(senders::mail_to_nowhere()));
    for (site, who) in [(&site, site.desk()), (&site, site.admin()), (&mail, mail.admin()), (&mail, mail.sync())] {
        if who.name.starts_with("sync") {
            continue;
        }
        let enable = who.post("/account/profile/2fa-operation", json!({ "operation": "enable" })).refused(403);
        assert_eq!(enable.json()["code"], "second_factor_required", "{enable}");
        // A passcode factor that was turned on before the account became a clerk's is not accepted.
        let sql = "INSERT INTO second_factors (member_id, kind, since) VALUES (?1, 'passcode', ?2)";
        site.change(|tx| Ok(tx.run(sql, (who.id, tx.now()))?));
        let mails = site.mails().len();
        let login = json!({ "username": who.name, "password": PASSWORD, "passcodeOption": "email" });
        let due = site.stranger().post("/auth/login", login).ok_json();
        assert_eq!((&due["token"], &due["confirmationPending"]), (&json!(""), &json!(3)), "{due}");
        assert_eq!(site.mails().len(), mails, "nothing is sent that would open the account");
        let clerk = Clerk::outside(site);
        clerk.post("/desk/sign-in", &[("username", &who.name), ("password", PASSWORD)]);
        assert_eq!((clerk.get("/desk").status, site.mails().len()), (303, mails));
    }
}

#[test]
fn codes_that_the_desk_saw_expire_when_the_member_becomes_staff() {
    let site = demo();
    let jane = site.flyer("jane");
    let pin = site.pin(&jane);
    recover(&site, "jane");
    let code = site.last_passcode(&jane).expect("a passcode of a member waits at the desk");
    let root = Clerk::at(&site, &site.admin());
    assert_eq!(root.post("/desk/site/users", &[("member", "jane"), ("role", "admin")]).status, 303);
    let body = json!({ "username": "jane", "passcode": code, "password": NEW });
    assert_eq!(site.stranger().post(RECOVER, body).ok_json()["status"], false);
    let body = json!({ "member_id": jane.id, "member_pin": pin });
    let token = site.partner().post("/external/partner-metrics/op/generate-token", body).ok_json();
    assert_eq!(token["status"], false, "{token}");
}
