//! The commands: their output for people and for programs, and their exit codes.

mod accounts;
mod directory;
mod kinds;
mod output;
mod public;
mod settings;
mod signers;

use crate::harness::{Desk, text};

#[test]
fn a_command_that_cannot_be_understood_is_refused_and_help_is_no_error() {
    let desk = Desk::empty();
    for args in [&["fly"][..], &["partner"], &["serve", "--listn", "x"], &[]] {
        let ran = desk.run(args);
        assert_eq!((ran.code, &*ran.out), (Some(1), ""), "{args:?}");
        assert!(ran.err.contains("Usage:"), "{}", ran.err);
    }
    for args in [&["--help"][..], &["partner", "add", "--help"], &["--version"]] {
        assert!(!desk.run(args).done().is_empty());
    }
}

#[test]
fn the_version_carries_the_revision() {
    let version = Desk::empty().run(&["--version"]).done();
    assert!(version.starts_with(concat!("tunneldesk ", env!("CARGO_PKG_VERSION"), " (")), "{version}");
    let revision = version.trim_end().trim_end_matches(')').rsplit('(').next().unwrap();
    assert!(revision == "unknown" || revision.len() == 12, "{version}");
}

#[test]
fn routes_lists_every_operation_of_the_contract() {
    let desk = Desk::empty();
    let rows = desk.json(&["routes"]);
    assert_eq!(rows.as_array().unwrap().iter().filter(|row| row["ours"] == false).count(), 62);
    let listed = desk.run(&["routes"]).done();
    assert!(listed.contains("POST    /api/external/partner-metrics/op/generate-token"), "{listed}");
}

#[test]
fn a_new_site_says_what_to_do_next_and_is_made_once() {
    let desk = Desk::empty();
    let out = desk.run(&["init", "--name", "Windwerk", "--country", "ch", "--city", "Winterthur"]).done();
    assert!(out.contains("begin at midnight in Europe/Zurich"), "the country's zone, whatever the machine's is: {out}");
    assert!(out.contains("tunneldesk serve") && out.contains("/claim?code="), "{out}");
    let said = desk.run(&["init", "--name", "Windwerk", "--country", "CH"]).trouble(1);
    assert!(said.contains("there is a site in"), "{said}");
    let second = ["init", "--name", "Second", "--country", "CH", "--tunnel-id", "7", "--data", "second", "--time-zone"];
    let said = desk.run(&[&second[..], &["Europe/Winterthur"]].concat()).trouble(1);
    assert!(said.contains("is not a time zone like Europe/Zurich"), "{said}");
    let made = desk.json(&[&second[..], &["europe/zurich"]].concat());
    assert_eq!((&made["data"], &made["tunnel_id"]), (&"second".into(), &7.into()));
    assert_eq!(made["time_zone"], "Europe/Zurich");
    assert_eq!(desk.json(&["tunnel", "list", "--data", "second"])[0]["time_zone"], "Europe/Zurich");
    assert_eq!(text(&made["site_id"]).len(), 32);
    // Spain has two time zones, and there is no terminal to ask which one.
    let third = ["init", "--name", "Third", "--country", "ES", "--data", "third"];
    let said = desk.run(&third).trouble(1);
    assert!(said.contains("--time-zone, like Europe/Madrid, Atlantic/Canary"), "{said}");
    assert_eq!(desk.json(&[&third[..], &["--time-zone", "Atlantic/Canary"]].concat())["time_zone"], "Atlantic/Canary");
}

#[test]
fn moments_are_shown_in_the_site_s_own_time_with_the_zone() {
    let desk = Desk::empty();
    desk.run(&["init", "--name", "Windwerk", "--country", "JP"]).done();
    let listed = desk.run(&["audit", "list"]).done();
    let seconds = desk.json(&["audit", "list"])[0]["at"].as_i64().unwrap();
    let there = jiff::Timestamp::from_second(seconds).unwrap().in_tz("Asia/Tokyo").unwrap();
    assert!(listed.contains(&there.strftime("%Y-%m-%d %H:%M JST").to_string()), "{listed}");
    let server = desk.serve();
    assert!(desk.run(&["audit", "list"]).done().contains(" JST "), "a running server shows the same");
    server.stop();
}
