//! No test waits without a limit.

use crate::deadline::MINUTES_NAME;
use crate::harness::Desk;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const NAME: &str = "waits::a_test_that_hangs_where_it_is_asked_to";

#[test]
fn a_test_that_hangs_ends_the_run_and_is_named() {
    const TIME_MAX: Duration = Duration::from_secs(60);
    let mut run = Command::new(std::env::current_exe().unwrap());
    run.args(["--exact", NAME, "--ignored"]).env(MINUTES_NAME, "0").stdout(Stdio::null());
    let since = Instant::now();
    let ran = run.output().unwrap();
    assert!(since.elapsed() < TIME_MAX, "{:?}", since.elapsed());
    let said = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(101), "{said}");
    assert!(said.contains(&format!("test {NAME} has had a site for more than 0 min")), "{said}");
    assert!(said.contains(": sleep 600"), "{said}");
}

#[test]
#[ignore = "hangs; run by the test above"]
fn a_test_that_hangs_where_it_is_asked_to() {
    let _desk = Desk::empty();
    if std::env::var(MINUTES_NAME).as_deref() == Ok("0") {
        Command::new("sleep").arg("600").status().unwrap();
    }
}
