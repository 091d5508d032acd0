//! A file system that turned read-only: the server serves the site without writes and says so, instead of failing to
//! start over and over.

use super::machine::{Mount, make_image, own_mounts};
use super::or_skip;
use crate::harness::{Caller, Desk, PASSWORD, Server};
use serde_json::json;

fn enter(server: &Server, jane: &Caller) -> std::io::Result<u16> {
    let entry = json!({"entry_date": 1_700_000_000, "time": "5"});
    Ok(server.client().call(jane, "POST", "/api/account/logbook/time/", None, &entry)?.status)
}

fn new_site(desk: &Desk) -> (Server, Caller) {
    desk.run(&["init", "--name", "Windwerk", "--country", "CH"]).done();
    desk.add_member("jane", "member");
    let server = desk.serve();
    let jane = server.sign_in("jane", PASSWORD);
    (server, jane)
}

/// Asserts that every acknowledged entry is shown, and that writes are refused.
fn is_served_as_it_is(desk: &Desk, server: &Server, jane: &Caller, minutes: i64) {
    let user = server.get(jane, "/api/account/profile/user").ok();
    assert_eq!(user["total_flight_time"], format!("{}:{:02}", minutes / 60, minutes % 60));
    let entry = json!({"entry_date": 1_700_000_000, "time": "5"});
    assert_eq!(server.post(jane, "/api/account/logbook/time/", &entry).refused(503)["code"], "read_only");
    let login = json!({"username": "jane", "password": PASSWORD});
    assert_eq!(server.post(&Caller::Anyone, "/api/auth/login", &login).refused(503)["code"], "read_only");
    assert_eq!(server.get(&Caller::Anyone, "/readyz").refused(503)["code"], "read_only");
    assert_eq!(server.get(&Caller::Anyone, "/healthz").status, 200);
    assert!(desk.run(&["member", "list"]).done().contains("jane"));
    let refused = desk.run(&["member", "ban", "jane"]).trouble(2);
    assert!(refused.contains("read_only"), "{refused}");
}

#[test]
fn a_site_on_a_disk_that_takes_no_writes_starts_and_is_served_as_it_is() {
    if or_skip(own_mounts()).is_none() {
        return;
    }
    for killed in [true, false] {
        let desk = Desk::empty();
        let Some(disk) = or_skip(Mount::memory(&desk.data(), 64)) else { return };
        let (server, jane) = new_site(&desk);
        assert_eq!(enter(&server, &jane).unwrap(), 201);
        if killed {
            server.kill();
            server.ended();
        } else {
            assert_eq!(server.stop().code, Some(0));
        }
        disk.remount("ro");
        let said = desk.run(&["member", "list"]).trouble(2);
        assert!(said.contains("takes no writes") && said.contains("tunneldesk serve"), "{said}");
        let server = desk.serve();
        is_served_as_it_is(&desk, &server, &jane, 5);
        // The disk is writable again: the server ends, so that the service manager starts it with writes.
        disk.remount("rw");
        let ended = server.ended();
        assert_eq!(ended.code, Some(2), "{:?}", ended.log);
        let said = ended.log.iter().find(|line| line.starts_with("tunneldesk: "));
        assert!(said.is_some_and(|line| line.contains("takes writes again")), "{:?}", ended.log);
        let server = desk.serve();
        assert_eq!(enter(&server, &jane).unwrap(), 201);
        assert_eq!(server.stop().code, Some(0));
    }
}

#[test]
fn a_disk_that_turns_read_only_under_a_running_site_ends_it_and_the_next_start_reads() {
    if or_skip(own_mounts()).is_none() {
        return;
    }
    let desk = Desk::empty();
    let image = desk.path().join("disk.img");
    let made = make_image(&image, 96, &["mkfs.ext4", "-q", "-F"]).and_then(|()| Mount::image(&image, &desk.data()));
    let Some(disk) = or_skip(made) else { return };
    let (server, jane) = new_site(&desk);
    for _ in 0..20 {
        assert_eq!(enter(&server, &jane).unwrap(), 201);
    }
    // The option puts ext4 into the state that it enters when its device fails.
    disk.remount("abort");
    let answer = enter(&server, &jane);
    assert!(!matches!(answer, Ok(200..300)), "acknowledged on a disk that takes nothing: {answer:?}");
    let ended = server.ended();
    assert_ne!(ended.code, Some(0), "{:?}", ended.log);
    let server = desk.serve();
    is_served_as_it_is(&desk, &server, &jane, 100);
    drop(server);
    drop(disk);
    let Some(_disk) = or_skip(Mount::image(&image, &desk.data())) else { return };
    let server = desk.serve();
    let user = server.get(&jane, "/api/account/profile/user").ok();
    assert_eq!(user["total_flight_time"], "1:40");
    assert_eq!(enter(&server, &jane).unwrap(), 201);
    assert_eq!(server.stop().code, Some(0));
}
