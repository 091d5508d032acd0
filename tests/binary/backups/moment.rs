//! The time zone in which the time of `restore --at` is read.

use crate::harness::{Desk, edit_manifest, text};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The date and time that a clock in the zone showed.
fn shown(moment: i64, zone: &str) -> String {
    let at = Timestamp::from_second(moment).unwrap().in_tz(zone).unwrap();
    at.strftime("%Y-%m-%d %H:%M:%S").to_string()
}

#[test]
fn a_moment_is_read_in_the_time_zone_of_the_backup_or_of_the_local_site_and_otherwise_in_utc() {
    const ZONE: &str = "Europe/Zurich";
    let desk = Desk::with_site();
    let made = desk.json(&["backup"]);
    let dir = desk.path().join("kept");
    std::fs::rename(desk.path().join(text(&made["dir"])), &dir).unwrap();
    let dir_name = dir.to_str().unwrap().to_owned();
    let at = made["made_at"].as_i64().unwrap() + 1;
    let run = |at: &str, more: &[&str]| desk.run(&[&["restore", &dir_name, "--dry-run", "--at", at], more].concat());
    let read = |at: &str, more: &[&str]| -> Value {
        let said: Value = serde_json::from_str(&run(at, &[more, &["--json"]].concat()).done()).unwrap();
        let stamp = said["shown"].as_str().unwrap();
        assert!(said["zone"] == ZONE && stamp.parse::<Timestamp>().unwrap().as_second() == said["moment"], "{said}");
        assert!(!stamp.ends_with('Z') && !stamp.ends_with("+00:00"), "{said}");
        said["at"].clone()
    };
    let empty = ["--data", "elsewhere"];
    // On a machine without the site, the backup names the time zone.
    let (local, in_utc) = (shown(at, ZONE), shown(at, "UTC"));
    let as_typed = read(&local, &empty);
    assert_eq!(
        (&as_typed["moment"], &as_typed["zone"], &as_typed["zone_known"]),
        (&json!(at), &json!(ZONE), &json!(true))
    );
    for exact in [format!("{in_utc}Z"), format!("{in_utc} UTC"), text(&as_typed["shown"]).to_owned()] {
        assert_eq!(read(&exact, &empty), as_typed, "{exact}");
    }
    let said = run(&in_utc, &empty).trouble(1);
    assert!(said.contains("holds writes up to") && said.contains(&in_utc), "an hour or two too early: {said}");
    let said = run(&local, &empty).done();
    assert!(said.contains(&format!("as it was on {}", shown(at - 1, ZONE))) && said.contains(&local), "{said}");
    for (time, word) in [("2025-10-26 02:30:00", "twice"), ("2026-03-29 02:30:00", "never")] {
        let said = run(time, &empty).trouble(1);
        assert!(said.contains(word) && said.contains("+01:00\"") && said.contains("+02:00\""), "{said}");
    }
    // A backup of an earlier version names no time zone; the site in the data directory does.
    edit_manifest(&dir, |_| ());
    let said = run(&local, &empty).trouble(1);
    assert!(said.contains("is not signed") && said.contains("--unsigned"), "{said}");
    assert_eq!(read(&local, &["--unsigned"]), as_typed);
    let empty = [&empty[..], &["--unsigned"]].concat();
    let said = run(&in_utc, &empty).done();
    assert!(said.contains(&format!("read in UTC, {in_utc}+00:00")), "{said}");
    let old = read(&in_utc, &empty);
    assert_eq!((&old["moment"], &old["zone"], &old["zone_known"]), (&json!(at), &json!("UTC"), &json!(false)));
    assert!(!desk.path().join("elsewhere/tunneldesk.sqlite").exists());
}
