//! A full disk: writes are refused with 507, reads and sign-in go on, and writes go on by themselves when there is
//! room.

use super::machine::{Mount, make_image, own_mounts};
use super::or_skip;
use crate::harness::{Caller, Desk, PASSWORD, Server};
use serde_json::json;
use std::path::Path;
use std::time::{Duration, Instant};

const DISK_MEGABYTES: u32 = 64;
const PATIENCE: Duration = Duration::from_secs(90);

/// A site on a small file system of its own.
fn site() -> Option<(Mount, Desk)> {
    or_skip(own_mounts())?;
    let desk = Desk::empty();
    let disk = or_skip(Mount::memory(&desk.data(), DISK_MEGABYTES))?;
    desk.run(&["init", "--name", "Windwerk", "--country", "CH"]).done();
    desk.add_member("jane", "member");
    Some((disk, desk))
}

/// The status of the answer to a new time entry.
fn enter(server: &Server, jane: &Caller) -> u16 {
    let entry = json!({"entry_date": 1_700_000_000, "time": "5", "comment": "x".repeat(400)});
    let answer = server.post(jane, "/api/account/logbook/time/", &entry);
    assert!(answer.status != 507 || answer.json()["code"] == "disk_full", "{answer:?}");
    answer.status
}

/// Sends time entries until one is answered with `status`; returns the number that were accepted before.
fn enter_until(server: &Server, jane: &Caller, status: u16) -> i64 {
    let (since, mut taken) = (Instant::now(), 0);
    loop {
        let got = enter(server, jane);
        taken += i64::from(got == 201);
        if got == status {
            return taken;
        }
        assert!([201, 507].contains(&got) && since.elapsed() < PATIENCE, "{got}");
    }
}

fn total(server: &Server, jane: &Caller) -> i64 {
    let user = server.get(jane, "/api/account/profile/user").ok();
    let member_id = user["member_id"].as_i64().unwrap();
    server.client().list(jane, &format!("/api/account/logbook/time/{member_id}")).len() as i64
}

fn goes_on_reading_and_signing_in(server: &Server, jane: &Caller, entries: i64) {
    assert_eq!(total(server, jane), entries, "what was acknowledged is what is there");
    for _ in 0..20 {
        let session = server.sign_in("jane", PASSWORD);
        server.post(&session, "/api/auth/logout", &json!({})).ok();
    }
    assert_eq!(enter(server, jane), 507);
    assert_eq!(server.get(&Caller::Anyone, "/readyz").refused(507)["code"], "disk_full");
    assert_eq!(server.get(&Caller::Anyone, "/healthz").status, 200);
}

fn reserve_bytes(data: &Path) -> u64 {
    std::fs::metadata(data.join("reserve")).map_or(0, |file| file.len())
}

#[test]
fn a_full_disk_stops_writes_and_nothing_else_and_passes_by_itself() {
    let Some((disk, desk)) = site() else { return };
    let server = desk.serve();
    let jane = server.sign_in("jane", PASSWORD);
    assert_eq!(enter(&server, &jane), 201);
    let reserve = reserve_bytes(&desk.data());
    assert!(reserve >= 8 << 20, "no emergency reserve: {reserve}");
    let mut entries = 1;
    // Two rounds: a reserve that was made again can be given up again.
    for round in 0..2 {
        let filler = disk.fill("filler");
        entries += enter_until(&server, &jane, 507);
        assert_eq!(reserve_bytes(&desk.data()), 0, "round {round}: the reserve was kept");
        goes_on_reading_and_signing_in(&server, &jane, entries);
        std::fs::remove_file(filler).unwrap();
        entries += enter_until(&server, &jane, 201);
        assert_eq!(reserve_bytes(&desk.data()), reserve, "round {round}: no reserve again");
        assert_eq!(server.get(&Caller::Anyone, "/readyz").status, 200);
    }
    assert_eq!(total(&server, &jane), entries);
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn a_disk_without_even_the_room_of_the_reserve_still_reads_and_recovers() {
    let Some((disk, desk)) = site() else { return };
    let server = desk.serve();
    let jane = server.sign_in("jane", PASSWORD);
    let filler = disk.fill("filler");
    let entries = enter_until(&server, &jane, 507);
    let more = disk.fill("more");
    for _ in 0..50 {
        let body = json!({"username": "jane", "password": PASSWORD});
        let answer = server.post(&Caller::Anyone, "/api/auth/login", &body);
        assert!([200, 507].contains(&answer.status), "{answer:?}");
    }
    assert_eq!(total(&server, &jane), entries);
    std::fs::remove_file(more).unwrap();
    std::fs::remove_file(filler).unwrap();
    let entries = entries + enter_until(&server, &jane, 201);
    assert_eq!(total(&server, &jane), entries);
    let log = {
        assert_eq!(desk.run(&["member", "list"]).code, Some(0));
        server.stop()
    };
    assert_eq!(log.code, Some(0));
}

#[test]
fn a_site_starts_on_a_full_disk() {
    let Some((disk, desk)) = site() else { return };
    let server = desk.serve();
    let jane = server.sign_in("jane", PASSWORD);
    assert_eq!(enter(&server, &jane), 201);
    server.kill();
    server.ended();
    let filler = disk.fill("filler");
    let server = desk.serve();
    goes_on_reading_and_signing_in(&server, &jane, 1);
    std::fs::remove_file(filler).unwrap();
    let entries = 1 + enter_until(&server, &jane, 201);
    assert_eq!(total(&server, &jane), entries);
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn without_a_single_free_byte_a_site_starts_and_is_served_as_it_is_until_there_is_room() {
    if or_skip(own_mounts()).is_none() {
        return;
    }
    let desk = Desk::empty();
    let image = desk.path().join("disk.img");
    // Blocks are smaller than a page, so a page of a mapped file may have room for only a part of itself.
    let small_blocks = ["mkfs.ext4", "-q", "-F", "-b", "1024", "-m", "0"];
    let made =
        make_image(&image, DISK_MEGABYTES.into(), &small_blocks).and_then(|()| Mount::image(&image, &desk.data()));
    let Some(disk) = or_skip(made) else { return };
    desk.run(&["init", "--name", "Windwerk", "--country", "CH"]).done();
    desk.add_member("jane", "member");
    let server = desk.serve();
    let jane = server.sign_in("jane", PASSWORD);
    assert_eq!(enter(&server, &jane), 201);
    server.kill();
    server.ended();
    std::fs::remove_file(desk.data().join("reserve")).unwrap();
    let filler = disk.fill("filler");
    let said = desk.run(&["member", "list"]).trouble(2);
    assert!(said.contains("has no room left: make room") && said.contains("tunneldesk serve"), "{said}");
    for _ in 0..2 {
        let server = desk.serve();
        assert_eq!(total(&server, &jane), 1);
        assert_eq!(server.get(&Caller::Anyone, "/readyz").refused(503)["code"], "read_only");
        server.kill();
        let log = server.ended().log;
        assert!(log.iter().any(|line| line.contains("has no room left") && line.contains("make room")), "{log:?}");
    }
    let server = desk.serve();
    std::fs::remove_file(filler).unwrap();
    assert_eq!(server.ended().code, Some(2), "the service manager starts it again, with its writes");
    let server = desk.serve();
    assert_eq!(enter(&server, &jane), 201);
    assert_eq!(server.stop().code, Some(0));
}
