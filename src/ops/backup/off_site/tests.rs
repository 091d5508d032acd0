//! A second place that hangs, and who waits for it.

use super::*;
use crate::clock::Clock;
use crate::config::OffSiteLocation;
use crate::domain::audit::By;
use crate::ops::lifecycle::Identity;
use crate::store::engine::data_dir::DataDir;
use std::ffi::CString;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(20);

fn ask<T: Send + 'static>(line: &Worker, timeouts: Duration, look: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    line.work(Timeouts { line: timeouts, step: timeouts }, &mut |_, _| (), |_| look()).ok()
}

fn wait_until_free(line: &Worker) {
    while *lock(&line.0.0) != State::Idle {
        std::thread::yield_now();
    }
}

#[test]
fn a_place_that_does_not_answer_holds_one_thread_and_nobody_else_until_it_does() {
    let line = Worker::default();
    let (let_go, held) = mpsc::channel::<()>();
    assert_eq!(ask(&line, SHORT, move || held.recv().is_ok()), None);
    for _ in 0..3 {
        assert_eq!(ask(&line, LONG, || "another look"), None);
    }
    let_go.send(()).unwrap();
    wait_until_free(&line);
    assert_eq!(ask(&line, LONG, || 7), Some(7));
    assert_eq!(ask(&line, LONG, || 8), Some(8));
}

#[test]
fn who_asks_while_another_looks_waits_for_a_look_of_the_own() {
    let line = Worker::default();
    std::thread::scope(|scope| {
        let line = &line;
        let asked: Vec<_> = (0..8).map(|n| (n, scope.spawn(move || ask(line, LONG, move || n)))).collect();
        for (n, one) in asked {
            assert_eq!(one.join().unwrap(), Some(n));
        }
    });
}

#[test]
fn work_that_tells_of_its_steps_is_waited_for_and_a_fault_in_it_frees_the_line() {
    let line = Worker::default();
    let mut told = Vec::new();
    let steps = |step: &mut dyn FnMut(u64, u64)| {
        for n in 0..8 {
            std::thread::sleep(Duration::from_millis(150));
            step(n, 8);
        }
        "through"
    };
    let timeouts = Timeouts { line: LONG, step: Duration::from_secs(1) };
    assert_eq!(line.work(timeouts, &mut |done, _| told.push(done), steps), Ok("through"));
    assert_eq!(told, [0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(ask(&line, LONG, || panic!("a look with a fault")), None::<()>);
    wait_until_free(&line);
    assert_eq!(ask(&line, LONG, || 9), Some(9));
}

#[test]
fn backups_go_on_beside_the_file_while_the_second_place_hangs() {
    let dir = tempfile::tempdir().unwrap();
    let (data, second) = (dir.path().join("site"), dir.path().join("second"));
    // A FIFO in place of the manifest: its reader hangs until somebody writes, as at a share whose server is gone.
    let hanging = second.join("hanging");
    std::fs::create_dir_all(&hanging).unwrap();
    let manifest = hanging.join("manifest.json");
    let name = CString::new(manifest.to_str().unwrap()).unwrap();
    // SAFETY: reads one string that ends in a zero.
    assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
    let data_dir = DataDir::create(&data).unwrap();
    let identity = Identity { tunnel_id: 1, name: "T".to_owned(), city: String::new(), country: "CH".to_owned() };
    let mut config = Config::defaults();
    config.data = data;
    config.backup.off_site = Some(OffSiteLocation::Directory(second.clone()));
    let site = Site::create(&data_dir, config, Clock::frozen(1_800_000_000), &identity).unwrap();
    // Long enough for a busy machine, and waited for in vain some ten times.
    site.set_state(OffSite::patient(Duration::from_millis(300), Duration::from_secs(3)));
    let there = Target::Directory(second.clone());
    let make = || super::super::make(&site, &By::job("backup"), &mut |_, _, _| ()).unwrap();
    for made in 1..=3 {
        let cause = make().off_site.unwrap().unwrap_err();
        assert!(cause.contains("does not answer"), "{cause}");
        assert_eq!(super::super::local_store(&site.config.data).list().len(), made);
    }
    // A copy that hangs in the middle keeps neither a second backup nor a drill waiting.
    let (hang, hangs) = mpsc::channel::<()>();
    std::fs::rename(&hanging, dir.path().join("aside")).unwrap();
    let (begun, begins) = mpsc::channel();
    let copies = site.state::<OffSite>();
    let hung = std::thread::spawn(move || {
        let timeouts = Timeouts { line: LONG, step: LONG };
        copies.copies.work(timeouts, &mut |_, _| begun.send(()).unwrap(), move |step| {
            step(0, 1);
            hangs.recv().is_ok()
        })
    });
    begins.recv().unwrap();
    while site.state::<OffSite>().list(&there).is_err() {
        _ = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(dir.path().join("aside/manifest.json"));
    }
    let cause = make().off_site.unwrap().unwrap_err();
    assert!(cause.contains("in progress"), "{cause}");
    super::super::drill::run(&site, &By::job("drill"), &mut |_, _, _| ()).unwrap();
    hang.send(()).unwrap();
    assert_eq!(hung.join().unwrap(), Ok(true));
    std::fs::rename(dir.path().join("aside"), &hanging).unwrap();
    assert!(make().off_site.unwrap().is_err());
    assert!(site.state::<OffSite>().list(&there).is_err());
    // The second place answers again: both threads that hang there read an empty manifest and end.
    let off_site = site.state::<OffSite>();
    while [&off_site.looks, &off_site.copies].iter().any(|line| *lock(&line.0.0) != State::Idle) {
        // Without a wait: whoever hung there may be gone already.
        _ = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(&manifest);
        std::thread::yield_now();
    }
    std::fs::remove_dir_all(&hanging).unwrap();
    assert!(make().off_site.unwrap().is_ok());
    assert_eq!(site.state::<OffSite>().list(&there).unwrap().len(), 1);
}
