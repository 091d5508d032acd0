//! A failed flush of the WAL or of the database ends the server immediately, because later writes could not be trusted.
//! Every write acknowledged before it is there after the restart.

use super::{TRACER, or_skip, tracer};
use crate::harness::{BINARY, Caller, Client, Desk, PASSWORD, Server};
use crate::off_site::until;
use serde_json::json;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The time from the failed flush to the end of the process, on a busy machine. The server alone takes 0.8 s at most.
const END_TIME_MAX: Duration = Duration::from_secs(3);
/// More writes than it takes until a checkpoint moves pages of the WAL into the database.
const WRITES_MAX: usize = 4_000;
const COMMENT_CHARS: usize = 60;

/// A server for which each flush of `file` has this fault.
pub(super) fn serve_with(desk: &Desk, file: &Path, fault: &str) -> Server {
    let mut command = Command::new(TRACER);
    // With -D the tracer runs as a grandchild, so that our child is the server itself.
    command.args(["-D", "-f", "--seccomp-bpf", "-q", "-o", "/dev/null", "-P"]).arg(file);
    command.args(["-e", "trace=fsync,fdatasync", "-e", &format!("inject=fsync,fdatasync:{fault}")]);
    command.args([BINARY, "serve"]);
    command.current_dir(desk.path()).env_clear().stdin(Stdio::null());
    Server::start(command)
}

fn a_failed_flush_ends_the_server(name: &str, keeps_some: bool) {
    if or_skip(tracer()).is_none() {
        return;
    }
    let desk = Desk::with_site();
    let jane = desk.add_member("jane", "member");
    let server = desk.serve();
    let session = server.sign_in("jane", PASSWORD);
    assert_eq!(server.stop().code, Some(0));

    let server = serve_with(&desk, &desk.data().join(name), "error=EIO");
    let mut kept = 0;
    let mut client = server.client();
    let entry = json!({"entry_date": 1_700_000_000, "time": 5, "comment": "x".repeat(COMMENT_CHARS)});
    for _ in 0..WRITES_MAX {
        match client.call(&session, "POST", "/api/account/logbook/time/", None, &entry) {
            Ok(answer) if answer.status == 201 => kept += 1,
            Ok(_) | Err(_) => break,
        }
    }
    assert!(kept < WRITES_MAX, "no flush failed");
    let since = Instant::now();
    // The server is not ready until it has ended.
    while let Ok(answer) = Client::new(server.address).call(&Caller::Anyone, "GET", "/readyz", None, &json!(null)) {
        assert_eq!(answer.status, 503, "{answer:?}");
    }
    let ended = server.ended();
    assert!(since.elapsed() < END_TIME_MAX, "{:?}", since.elapsed());
    let said = ended.log.join("\n");
    assert_eq!(ended.code, Some(2), "{said}");
    assert!(said.contains("a flush of the disk failed"), "{said}");

    assert_eq!(kept > 0, keeps_some, "{kept} were acknowledged");
    let server = desk.serve();
    let listed = server.client().call(
        &session,
        "GET",
        &format!("/api/account/logbook/time/{jane}?limit=5000"),
        None,
        &json!(null),
    );
    let there = listed.unwrap().ok();
    let rows = there.as_array().cloned().unwrap_or_else(|| there["data"].as_array().cloned().expect("rows"));
    assert!(rows.len() >= kept, "{} of {kept} are there", rows.len());
}

#[test]
fn a_failed_flush_of_the_file_ends_the_server() {
    a_failed_flush_ends_the_server("tunneldesk.sqlite", true);
}

#[test]
fn a_failed_flush_of_the_log_ends_the_server() {
    a_failed_flush_ends_the_server("tunneldesk.sqlite-wal", false);
}

#[test]
fn a_disk_that_does_not_answer_is_an_alarm_while_reads_go_on() {
    if or_skip(tracer()).is_none() {
        return;
    }
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let server = desk.serve();
    let session = server.sign_in("jane", PASSWORD);
    assert_eq!(server.stop().code, Some(0));

    let wal = desk.data().join("tunneldesk.sqlite-wal");
    let server = serve_with(&desk, &wal, "delay_enter=30000000");
    let entry = json!({"entry_date": 1_700_000_000, "time": 5});
    let since = Instant::now();
    std::thread::scope(|scope| {
        let write = || server.client().call(&session, "POST", "/api/account/logbook/time/", None, &entry);
        let waiting = [(); 3].map(|()| scope.spawn(write));
        // A verbose answer repeats facts of a few seconds ago.
        until("an alarm", || {
            let ready = server.get(&Caller::Anyone, "/readyz?verbose");
            (ready.status == 503 && ready.body.contains("alarm store\n")).then_some(())
        });
        assert_eq!(server.get(&Caller::Anyone, "/api/public/countries").status, 200);
        let (state, said) = desk.fact("store").unwrap();
        assert!(state == "alarm" && said.contains("does not answer"), "{said}");
        // Neither those who wait nor those who come now wait for as long as the disk.
        write().unwrap().refused(503);
        for waits in waiting {
            assert_eq!(waits.join().unwrap().unwrap().refused(503)["code"], "disk_hangs");
        }
        assert_eq!(write().unwrap().refused(503)["code"], "disk_hangs");
        assert!(since.elapsed() < Duration::from_secs(30), "{:?}", since.elapsed());
        server.kill();
    });
    server.ended();
}
