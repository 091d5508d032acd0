//! Many clients read a long logbook at the same time: each receives all of it, others are served, and the server's memory stays
//! small.

use crate::harness::{Answer, Caller, Desk, PASSWORD, Server};
use std::time::Duration;

const ENTRIES: usize = 5_000;
const READERS: usize = 16;
const MEMORY_KIB_MAX: u64 = 96 * 1024;

/// The peak memory of the process, in KiB.
fn peak_kib(process_id: i32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process_id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the kernel says the peak");
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Reads as an honest client does: where the site is busy, as on a machine that has other things to do, it asks again a moment
/// later.
fn read(server: &Server, caller: &Caller, path: &str) -> Answer {
    loop {
        let answer = server.get(caller, path);
        match answer.header("retry-after") {
            Some(seconds) if answer.status == 503 => {
                std::thread::sleep(Duration::from_secs(seconds.parse().expect("seconds")));
            }
            _ => return answer,
        }
    }
}

#[test]
fn sixteen_whole_logbooks_at_once_fit_into_96_mib_and_leave_others_their_answers() {
    let desk = Desk::with_site();
    let (jane, mark) = (desk.add_member("jane", "member"), desk.add_member("mark", "member"));
    let rows: String = (0..ENTRIES)
        .map(|n| format!("jane,time,open,{},12,\"Round {n}, door to door\"\n", 1_700_000_000 + n * 60))
        .collect();
    let list = desk.path().join("list.csv");
    std::fs::write(&list, format!("username,kind,status,entry_date,minutes,comment\n{rows}")).unwrap();
    desk.run(&["import", "logbook", list.to_str().unwrap()]).done();
    let server = desk.serve();
    let [long, other]: [Caller; 2] = ["jane", "mark"].map(|name| server.sign_in(name, PASSWORD));
    let path = format!("/api/account/logbook/time/{jane}");
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..READERS).map(|_| scope.spawn(|| read(&server, &long, &path))).collect();
        for _ in 0..20 {
            let profile = read(&server, &other, "/api/account/profile/user").ok();
            assert_eq!(profile["member_id"], mark);
        }
        for reader in readers {
            let answer = reader.join().unwrap();
            assert!(answer.body.len() < 3 * 1024 * 1024, "{} bytes", answer.body.len());
            assert_eq!(answer.ok().as_array().map(Vec::len), Some(ENTRIES));
        }
    });
    let peak = peak_kib(server.process_id());
    assert!(peak < MEMORY_KIB_MAX, "{peak} KiB");
}
