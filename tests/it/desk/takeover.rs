//! What a clerk starts about an account ends before the account is worth more: links to confirm an address or to undo a
//! change, codes that pair a kiosk, and the ways into the account of a signer.

use super::kiosk::code_on;
use super::{Clerk, demo};
use crate::harness::{Caller, PASSWORD, Site};
use serde_json::{Value, json};

const NEW: &str = "four dry socks in a row";
const THIEF: &str = "thief@example.org";

/// The clerk enters another address for a member whose address is confirmed. Returns the token of the mailed link.
fn changed_address(site: &Site, clerk: &Clerk, member: &Caller) -> String {
    edit(clerk, member, &[("email", THIEF)]);
    token_to(site, THIEF)
}

fn token_to(site: &Site, address: &str) -> String {
    let mails = site.mails();
    let mail = mails.iter().rev().find(|mail| mail["recipient"] == address && !mail["values"]["token"].is_null());
    mail.expect("a link was mailed")["values"]["token"].as_str().unwrap().to_owned()
}

fn edit(clerk: &Clerk, member: &Caller, fields: &[(&str, &str)]) {
    let names = [("real_name", member.name.as_str()), ("screen_name", &member.name)];
    let sent = clerk.post(&format!("/desk/members/{}/edit", member.id), &[&names[..], fields].concat());
    assert_eq!(sent.status, 303, "{sent}");
}

fn address(site: &Site, member: &Caller) -> String {
    site.change(|tx| Ok(tx.get("SELECT email FROM members WHERE member_id = ?1", [member.id])?))
}

#[test]
fn a_mailed_change_of_address_ends_with_the_credentials() {
    type End = fn(&Site, &Clerk, &Caller);
    let ends: [(&str, End); 5] = [
        ("a new role", |site, _, jane| site.shell(&["member", "set-role", &jane.name, "admin"])),
        ("an appointment", |site, _, jane| site.shell(&appointment(&jane.name))),
        ("a new password", |_, _, jane| {
            let body = json!({ "password": NEW, "current_password": PASSWORD, "password_confirm": NEW });
            jane.put("/account/profile/change-password", body).ok();
        }),
        ("a ban that was lifted", |site, _, jane| {
            site.shell(&["member", "ban", &jane.name]);
            site.shell(&["member", "ban", &jane.name, "--lift"]);
        }),
        ("a withdrawal", |site, clerk, jane| {
            let form = clerk.get(&format!("/desk/members/{}/edit", jane.id)).page();
            assert!(form.contains(THIEF), "the form names the address that waits: {form}");
            edit(clerk, jane, &[("email", &address(site, jane)), ("withdraw_address", "1")]);
        }),
    ];
    for (what, end) in ends {
        let site = demo();
        let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
        let token = changed_address(&site, &clerk, &jane);
        end(&site, &clerk, &jane);
        site.stranger().post("/auth/verify-email", json!({ "token": token }));
        assert_eq!(address(&site, &jane), "jane@example.com", "after {what}");
        let resent = site.mails().len();
        site.stranger().post("/auth/verify-email/resend", json!({ "token": token }));
        assert_eq!(site.mails().len(), resent, "no new link after {what}");
    }
}

#[test]
fn an_address_that_was_never_confirmed_is_not_confirmed_by_link_after_a_promotion() {
    for promotion in [&["member", "set-role", "jane", "desk"][..], &appointment("jane")] {
        let site = demo();
        let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
        site.change(|tx| Ok(tx.run("UPDATE members SET email_confirmed_at = NULL WHERE member_id = ?1", [jane.id])?));
        let token = changed_address(&site, &clerk, &jane);
        site.shell(promotion);
        let mails = site.mails().len();
        for path in ["/auth/verify-email", "/auth/verify-email/resend"] {
            site.stranger().post(path, json!({ "token": token }));
        }
        let sql = "SELECT email_confirmed_at IS NULL FROM members WHERE member_id = ?1";
        assert!(site.change(|tx| Ok(tx.get::<bool>(sql, [jane.id])?)) && site.mails().len() == mails, "{promotion:?}");
    }
}

#[test]
fn a_link_that_undoes_a_change_ends_with_a_promotion() {
    for promotion in [&["member", "set-role", "jane", "admin"][..], &appointment("jane")] {
        let site = demo();
        let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
        let token = changed_address(&site, &clerk, &jane);
        site.stranger().post("/auth/verify-email", json!({ "token": token })).ok();
        edit(&clerk, &jane, &[("email", "jane@example.com")]);
        site.stranger().post("/auth/verify-email", json!({ "token": token_to(&site, "jane@example.com") })).ok();
        let mails = site.mails();
        let is_undo = |mail: &&Value| mail["template"] == "security_event_undo" && mail["recipient"] == THIEF;
        let undo = mails.iter().rev().find(is_undo).expect("the old address gets a link");
        let undo = undo["values"]["token"].as_str().unwrap().to_owned();
        site.shell(promotion);
        let browser = Clerk::outside(&site);
        assert!(!browser.post("/undo", &[("token", &undo)]).page().contains("The change is undone"), "{promotion:?}");
        assert_eq!(address(&site, &jane), "jane@example.com");
    }
}

#[test]
fn a_passcode_that_the_desk_read_and_a_code_that_it_printed_end_with_an_appointment() {
    let site = demo();
    let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
    let recover = |body: Value| site.stranger().post("/auth/account-access/recover-password", body).ok();
    recover(json!({ "username": "jane", "option": "email" }));
    let passcode = site.mails().pop().expect("a passcode was mailed")["values"]["passcode"].clone();
    let unclaimed = site.member("ada");
    site.change(|tx| Ok(tx.run("UPDATE members SET password_hash = NULL WHERE member_id = ?1", [unclaimed.id])?));
    let slip = format!("/desk/members/{}/slip", unclaimed.id);
    assert_eq!(clerk.post(&slip, &[]).status, 200);
    for name in ["jane", "ada"] {
        site.shell(&appointment(name));
    }
    assert_eq!(clerk.post(&slip, &[]).status, 403, "from now on an admin prints the code");
    let codes: i64 = site.change(|tx| Ok(tx.get("SELECT count(*) FROM account_claims", [])?));
    assert_eq!(codes, 0);
    let recovered = recover(json!({ "username": "jane", "passcode": passcode, "password": NEW })).json();
    assert_eq!(recovered["status"], false, "{recovered}");
    jane.get("/account/profile/user").ok();
}

/// The command by which a member becomes a signer.
fn appointment(name: &str) -> [&str; 6] {
    ["signer", "add", name, "Instructor", "--first", "1"]
}

#[test]
fn only_an_admin_changes_how_a_signer_s_account_is_opened() {
    let site = demo();
    let otto = site.signer("otto", &[("Instructor", "4")]);
    let (clerk, admin) = (Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.admin()));
    let card = format!("/desk/members/{}", otto.id);
    let names = [("real_name", "Otto"), ("screen_name", "otto")];
    let edited =
        |who: &Clerk, fields: &[(&str, &str)]| who.post(&format!("{card}/edit"), &[&names[..], fields].concat());
    assert_eq!(edited(&clerk, &[("email", "otto@example.com")]).status, 303, "the name of a signer is corrected");
    site.stranger()
        .post("/auth/account-access/recover-password", json!({ "username": "otto", "option": "email" }))
        .ok();
    let sql = "SELECT message_id FROM outbox WHERE template = 'passcode_recover_password'";
    let message: i64 = site.change(|tx| Ok(tx.get(sql, [])?));
    let read = format!("/desk/messages/{message}/read");
    for (who, is_admin) in [(&clerk, false), (&admin, true)] {
        let wanted = if is_admin { 303 } else { 403 };
        let refused = who.post(&format!("{card}/second-factor"), &[]);
        assert_eq!(refused.status, wanted, "{refused}");
        assert!(is_admin || refused.page().contains("only an admin may change how"), "{refused}");
        assert_eq!(who.post(&read, &[]).status, if is_admin { 200 } else { 403 });
        let number = [("email", "otto@example.com"), ("phone", "+41791234567")];
        assert_eq!(edited(who, &number).status, wanted);
        assert_eq!(edited(who, &[("email", THIEF), ("phone", if is_admin { number[1].1 } else { "" })]).status, wanted);
    }
}

#[test]
fn a_pairing_code_ends_with_the_rights_of_who_made_it() {
    let site = demo();
    for lose in [&["ban"][..], &["set-role", "member"]] {
        let ann = site.desk();
        let code = code_on(&Clerk::at(&site, &ann).post("/desk/kiosks", &[("name", "Entrance")]).page());
        let args: Vec<&str> = ["member", lose[0], &ann.name].into_iter().chain(lose[1..].iter().copied()).collect();
        site.shell(&args);
        assert_eq!(Clerk::outside(&site).post("/kiosk/pair", &[("code", &code)]).status, 422, "{lose:?}");
    }
}
