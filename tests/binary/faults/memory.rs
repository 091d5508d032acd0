//! A server limited to 128 MiB of memory: sign-ins, pictures, reports, reads and writes at the same time, and no process is
//! killed.

use super::{or_skip, rounds};
use crate::harness::{Caller, Client, Desk, PASSWORD, Server};
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::json;
use std::io::Cursor;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const LIMIT_BYTES: u64 = 128 << 20;
/// After which the pictures of each kind must have been drawn once, beyond the time of the run.
const DRAWN_WITHIN: Duration = Duration::from_secs(120);
const SECONDS: u64 = 3;

/// A control group with a memory limit, in version 1 or 2 of the kernel's interface.
struct Group {
    dir: PathBuf,
    version: u8,
}

impl Group {
    fn make() -> Result<Group, String> {
        let name = format!("tunneldesk-test-{}", std::process::id());
        let unified = PathBuf::from("/sys/fs/cgroup");
        let controllers = std::fs::read_to_string(unified.join("cgroup.subtree_control")).unwrap_or_default();
        let (dir, version, limit, swap) = if controllers.split_whitespace().any(|it| it == "memory") {
            (unified.join(name), 2, "memory.max", "memory.swap.max")
        } else if unified.join("memory/memory.limit_in_bytes").exists() {
            (unified.join("memory").join(name), 1, "memory.limit_in_bytes", "memory.swappiness")
        } else {
            return Err("no memory controller of cgroups".to_owned());
        };
        let failed = |e: std::io::Error| format!("{}: {e} (needs root)", dir.display());
        std::fs::create_dir(&dir).map_err(failed)?;
        let group = Group { dir: dir.clone(), version };
        std::fs::write(dir.join(limit), LIMIT_BYTES.to_string()).map_err(failed)?;
        // Swapped memory would not count against the limit. A machine without swap has no such file.
        _ = std::fs::write(dir.join(swap), "0");
        Ok(group)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.dir.join(name)).unwrap_or_default()
    }

    fn peak_bytes(&self) -> u64 {
        let name = if self.version == 2 { "memory.peak" } else { "memory.max_usage_in_bytes" };
        self.read(name).trim().parse().unwrap_or(0)
    }

    fn kills(&self) -> u64 {
        let text = self.read(if self.version == 2 { "memory.events" } else { "memory.oom_control" });
        let line = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The group becomes empty a moment after its last process was waited for.
        let since = Instant::now();
        while std::fs::remove_dir(&self.dir).is_err() && since.elapsed() < Duration::from_secs(5) {
            std::thread::yield_now();
        }
    }
}

fn picture(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let pixel = |x: u32, y: u32| Rgb([(x * 255 / width) as u8, (y * 255 / height) as u8, 128]);
    let drawn = DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, pixel));
    let mut bytes = Cursor::new(Vec::new());
    drawn.write_to(&mut bytes, format).unwrap();
    bytes.into_inner()
}

fn upload(client: &mut Client, jane: &Caller, kind: &str, bytes: &[u8]) -> u16 {
    let Caller::Session(token) = jane else { unreachable!() };
    let head = format!(
        "POST /api/account/profile/media HTTP/1.1\r\nhost: localhost\r\ntoken: {token}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
        bytes.len()
    );
    client.send(&[head.as_bytes(), bytes].concat()).expect("the server is gone").status
}

#[test]
fn a_hundred_and_twenty_eight_megabytes_are_enough() {
    let Some(group) = or_skip(Group::make()) else { return };
    let desk = Desk::with_site();
    let names: Vec<String> = (0..8).map(|n| format!("flyer-{n}")).collect();
    let ids: Vec<i64> = names.iter().map(|name| desk.add_member(name, "member")).collect();
    let mut command = desk.command(&["serve"]);
    let members = std::ffi::CString::new(group.dir.join("cgroup.procs").to_str().unwrap()).unwrap();
    // SAFETY: the closure makes only async-signal-safe calls between fork and exec; the path is allocated before.
    unsafe {
        command.pre_exec(move || {
            let file = libc::open(members.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
            if file < 0 || libc::write(file, c"0".as_ptr().cast(), 1) != 1 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let server = Server::start(command);
    let sessions: Vec<Caller> = names.iter().map(|name| server.sign_in(name, PASSWORD)).collect();
    // The largest pictures that are accepted: one as a phone takes it, and a drawing of as many pixels.
    let pictures =
        [("image/jpeg", picture(4000, 3000, ImageFormat::Jpeg)), ("image/png", picture(3500, 3500, ImageFormat::Png))];
    let until = Instant::now() + Duration::from_secs(rounds("TUNNELDESK_MEMORY_SECONDS", SECONDS));
    let (taken, refused, drawn) = (AtomicU64::new(0), AtomicU64::new(0), [AtomicU64::new(0), AtomicU64::new(0)]);
    let count = |status: u16| match status {
        200..300 => _ = taken.fetch_add(1, Ordering::Relaxed),
        429 | 503 => _ = refused.fetch_add(1, Ordering::Relaxed),
        other => panic!("{other}"),
    };
    std::thread::scope(|scope| {
        for place in 0..names.len() {
            let (server, names, sessions, ids) = (&server, &names, &sessions, &ids);
            let (pictures, drawn, count) = (&pictures, &drawn, &count);
            let (mut signing, mut reading) = (server.client(), server.client());
            scope.spawn(move || {
                let login = json!({"username": names[place], "password": PASSWORD});
                while Instant::now() < until {
                    count(signing.post(&Caller::Anyone, "/api/auth/login", &login).status);
                }
            });
            scope.spawn(move || {
                let entry = json!({"entry_date": 1_700_000_000, "time": 5});
                while Instant::now() < until {
                    count(reading.get(&sessions[place], "/api/account/profile/user").status);
                    count(reading.post(&sessions[place], "/api/account/logbook/time/", &entry).status);
                    let print = format!("/api/account/logbook/progression/{}", ids[place]);
                    count(reading.get(&sessions[place], &print).status);
                }
            });
            let mut uploading = server.client();
            scope.spawn(move || {
                // A slow machine refuses pictures for long.
                let is_drawn = || drawn[place % pictures.len()].load(Ordering::Relaxed) > 0;
                while Instant::now() < until || !is_drawn() && Instant::now() < until + DRAWN_WITHIN {
                    let (kind, bytes) = &pictures[place % pictures.len()];
                    let status = upload(&mut uploading, &sessions[place], kind, bytes);
                    drawn[place % pictures.len()].fetch_add(u64::from(status == 201), Ordering::Relaxed);
                    count(status);
                }
            });
        }
    });
    assert_eq!(server.get(&Caller::Anyone, "/readyz").status, 200);
    let ended = server.stop();
    assert_eq!((ended.code, group.kills()), (Some(0), 0), "{:?}", ended.log.last());
    println!(
        "cgroup v{}: {taken:?} answers, of them {drawn:?} large pictures; {refused:?} refused for load; at most {} MiB of {}",
        group.version,
        group.peak_bytes() >> 20,
        LIMIT_BYTES >> 20
    );
    assert!(taken.load(Ordering::Relaxed) > 100, "next to nothing was done");
    assert!(drawn.iter().all(|count| count.load(Ordering::Relaxed) > 0), "pictures of each kind were drawn: {drawn:?}");
}
