//! Accounts, partners and sessions from the shell: the same with and without a running server.

use crate::harness::{Caller, Desk, PASSWORD, text};
use serde_json::json;

/// What the commands print for machines.
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
    assert!(text(&desk.json(&["session", "issue", "--role", "sync"])["token"]).len() >= 43);

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
    assert!(weak.starts_with("the password "), "{weak}");
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
