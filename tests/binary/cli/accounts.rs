//! Accounts, partners and sessions from the shell: the same with and without a running server.

use crate::harness::{Caller, Desk, PASSWORD, Server, text};
use serde_json::json;

/// Runs the commands and checks their `--json` output.
fn go_through_the_commands(desk: &Desk) {
    let jane = desk.add_member("jane", "member");
    assert_eq!(desk.json(&["member", "show", "jane"])["email"], "jane@example.com");
    assert_eq!(desk.json(&["member", "set-role", "jane", "desk"]), json!({"member_id": jane, "username": "jane"}));
    assert_eq!(desk.json(&["member", "list", "--role", "desk"])[0]["username"], "jane");
    assert!(desk.json(&["member", "ban", &jane.to_string()])["member_id"] == jane);
    assert!(desk.json(&["member", "show", "jane@example.com"])["banned_at"].is_i64());
    desk.json(&["member", "ban", "jane", "--lift"]);

    let made = desk.json(&["member", "add", "mark", "--email", "mark@example.com"]);
    assert!(text(&made["password"]).len() >= 12);
    assert_eq!(desk.json(&["member", "show", "mark"])["email_verified"], false);
    desk.json(&["member", "confirm", "mark"]);
    assert_eq!(desk.json(&["member", "show", "mark"])["email_verified"], true);

    let partner = desk.json(&["partner", "add", "Skyline", "--strict", "--allow", "10.0.0.0/8"]);
    let (client_id, secret) = (text(&partner["client_id"]), text(&partner["secret"]));
    assert!(secret.len() == 64 && secret.bytes().all(|b| b.is_ascii_hexdigit()));
    assert_ne!(desk.json(&["partner", "rotate", client_id])["secret"], secret);
    let listed = &desk.json(&["partner", "list"])[0];
    assert_eq!((&listed["secrets"], &listed["networks"]), (&json!(2), &json!(["10.0.0.0/8"])));
    assert_eq!(desk.json(&["partner", "revoke", client_id]), json!({"client_id": client_id}));
    assert!(desk.json(&["partner", "list"])[0]["revoked_at"].is_i64());
    // Anybody may have signed up under the name that the job's account would have.
    desk.add_member("sync", "member");
    assert!(text(&desk.json(&["session", "issue", "--role", "sync"])["token"]).len() >= 43);
    assert!(text(&desk.json(&["member", "list", "--role", "sync"])[0]["username"]).starts_with("sync-"));

    for (args, part) in [
        (&["member", "show", "nobody"][..], "there is no account nobody"),
        (&["member", "add", "jane", "--email", "other@example.com"], "username"),
        (&["member", "add", "x", "--email", "x@example.com"], "username"),
        (&["partner", "rotate", client_id], "revoked"),
        (&["partner", "revoke", "nobody"], "partner list"),
        (&["session", "issue", "--role", "admin"], "sync"),
    ] {
        let said = desk.run(args).trouble(1);
        assert!(said.contains(part), "{args:?}: {said}");
    }
    let weak = desk.run_with_input(&["member", "reset-password", "jane", "--password-stdin"], "password").trouble(1);
    assert!(weak.starts_with("the password: "), "{weak}");
}

#[test]
fn commands_work_on_the_file_of_a_stopped_site() {
    go_through_the_commands(&Desk::with_site());
}

#[test]
fn commands_work_while_the_server_runs_and_it_knows_at_once() {
    let desk = Desk::with_site();
    let server = desk.serve();
    go_through_the_commands(&desk);
    desk.run(&["member", "set-role", "jane", "member"]).done();
    server.sign_in("jane", PASSWORD);
    let report = json!({"limit": 1});
    server.post(&desk.sync_session(), "/api/admin/reports/external/partner-metrics/bookings", &report).ok();
}

/// Enters five wrong PINs, after which the PIN is paused.
fn pause_the_pin(server: &Server, partner: &Caller, jane: i64) {
    let wrong = json!({"member_id": jane, "member_pin": "wrong"});
    for _ in 0..5 {
        let answer = server.post(partner, "/api/external/partner-metrics/op/generate-token", &wrong).ok();
        assert_eq!(answer["status"], false);
    }
}

#[test]
fn unlocking_an_account_says_what_it_lifted_and_is_logged() {
    let desk = Desk::with_site();
    let (jane, partner) = (desk.add_member("jane", "member"), desk.add_partner(&[]));
    let server = desk.serve();
    let session = server.sign_in("jane", PASSWORD);
    let pin = server.post(&session, "/api/account/profile/booking-pin", &json!(null)).ok()["pin"].clone();
    let books = || {
        let body = json!({"member_id": jane, "member_pin": pin});
        server.post(&partner, "/api/external/partner-metrics/op/generate-token", &body).ok()["status"].clone()
    };
    pause_the_pin(&server, &partner, jane);
    assert_eq!(books(), false);
    let lifted = json!({"member_id": jane, "username": "jane", "delays": 0, "pin": true, "passcodes": false});
    assert_eq!(desk.json(&["member", "unlock", "jane@example.com"]), lifted);
    assert_eq!(books(), true);
    pause_the_pin(&server, &partner, jane);
    assert_eq!(desk.run(&["member", "unlock", "jane"]).done(), "jane (member 1): the PIN works again\n");
    let nothing = "jane (member 1): was not delayed; its failed attempts are cleared\n";
    assert_eq!(desk.run(&["member", "unlock", "1"]).done(), nothing);
    assert!(desk.run(&["member", "unlock", "nobody"]).trouble(1).contains("there is no account nobody"));
    let line = server.log.wait_for("an account was unlocked from the shell").expect("it is logged");
    assert_eq!((&line["member_id"], &line["pin_paused"]), (&json!(jane), &json!(true)));
    server.stop();
    assert_eq!(desk.run(&["member", "unlock", "jane"]).done(), nothing, "also while no server runs");
}

#[test]
fn a_reset_is_mailed_and_a_ban_is_not() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    desk.run(&["member", "ban", "jane"]).done();
    desk.run(&["member", "ban", "jane", "--lift"]).done();
    assert_eq!(desk.json(&["outbox", "list"])["messages"], json!([]));
    desk.run(&["member", "reset-password", "jane"]).done();
    desk.run(&["member", "reset-second-factor", "jane"]).done();
    let mails = desk.json(&["outbox", "list"])["messages"].clone();
    let templates: Vec<_> = mails.as_array().unwrap().iter().map(|mail| text(&mail["template"])).collect();
    assert_eq!(templates, ["security_event_undo"; 2]);
}

#[test]
fn people_get_tables_and_one_line_a_change() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let listed = desk.run(&["member", "list"]).done();
    assert!(listed.starts_with("NUMBER") && listed.contains("jane@example.com"), "{listed}");
    assert_eq!(desk.run(&["member", "set-role", "jane", "admin"]).done(), "jane (member 1) now has the role admin\n");
    let partner = desk.run(&["partner", "add", "Skyline"]).done();
    assert!(partner.starts_with("client-id: ") && partner.contains("\nsecret:    "), "{partner}");
}

#[test]
fn a_password_reset_in_the_shell_lets_its_owner_in_and_ends_old_sessions() {
    let desk = Desk::with_site();
    desk.add_member("boss", "member");
    let server = desk.serve();
    let old = server.sign_in("boss", PASSWORD);
    server.get(&old, "/api/account/profile/user").ok();
    let reset = desk.json(&["member", "reset-password", "boss"]);
    server.get(&old, "/api/account/profile/user").refused(401);
    assert_eq!(server.client().sign_in("boss", PASSWORD)["status"], false);
    let new = server.sign_in("boss", text(&reset["password"]));
    server.get(&new, "/api/account/profile/user").ok();
    server.post(&Caller::Anyone, "/api/admin/reports/external/partner-metrics/history", &json!({})).refused(401);
}

#[test]
fn the_link_of_the_first_admin_is_void_while_there_is_one_who_can_sign_in() {
    let desk = Desk::empty();
    let made = desk.json(&["init", "--name", "Windwerk", "--country", "CH"]);
    let link = text(&made["first_admin"]);
    let path = &link[link.find("/claim?code=").unwrap()..];
    desk.add_member("desk", "desk");
    let server = desk.serve();
    let is_open = || match server.get(&Caller::Anyone, path) {
        page if page.status == 200 => true,
        page => {
            assert!(page.status == 422 && page.body.contains("has an admin already"), "{page:?}");
            assert!(page.body.contains("/desk") && page.body.contains("tunneldesk member"), "{page:?}");
            false
        }
    };
    assert!(is_open(), "a clerk is no admin");
    desk.run(&["member", "add", "boss", "--email", "boss@example.com", "--role", "admin", "--confirmed"]).done();
    assert!(!is_open());
    let code = path.split('=').nth(1).unwrap();
    let body = format!("code={code}&username=spare&password=four+dry+socks+in+a+row");
    let head = format!(
        "POST /claim HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nContent-Length: {}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    let sent = server.raw(head.as_bytes()).unwrap();
    assert!(sent.status == 422 && sent.body.contains("has an admin already"), "{sent:?}");
    desk.run(&["member", "ban", "boss"]).done();
    assert!(is_open(), "a banned admin helps nobody");
}

#[test]
fn what_is_wrong_with_a_field_is_a_sentence_after_its_name() {
    let desk = Desk::with_site();
    let partner = desk.json(&["partner", "add", "Skyline"]);
    let client_id = text(&partner["client_id"]);
    for (args, says) in [
        (&["partner", "hook", "add", client_id, "https://a.example:99999/"][..], "url: The port"),
        (&["member", "add", "x", "--email", "x@example.com"], "the username: Use 3"),
        (&["member", "add", "xavier", "--email", "x"], "the e-mail address: Enter"),
        (&["kiosk", "pair", "\u{2028}"], "a kiosk's name has 1 to"),
    ] {
        let said = desk.run(args).trouble(1);
        assert!(said.contains(says), "{args:?}: {said}");
    }
}
