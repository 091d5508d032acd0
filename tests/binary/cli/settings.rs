//! The sources of settings, and the errors for wrong ones.

use crate::harness::{Caller, Desk, Ran};

fn check(desk: &Desk, environment: &[(&str, &str)], args: &[&str]) -> Ran {
    desk.command(&[&["check"], args].concat()).envs(environment.iter().copied()).output().unwrap().into()
}

#[test]
fn flags_win_over_the_environment_and_the_environment_over_the_file() {
    let desk = Desk::empty();
    let value = |environment: &[(&str, &str)], args: &[&str]| {
        let out = check(&desk, environment, &[args, &["--json"]].concat()).done();
        let all: serde_json::Value = serde_json::from_str(&out).unwrap();
        (all["data"]["value"].to_string(), all["data"]["origin"].to_string())
    };
    assert!(value(&[], &[]).0.contains("tunneldesk-data"));
    std::fs::write(desk.path().join("tunneldesk.toml"), "data = \"by-file\"").unwrap();
    let (data, origin) = value(&[], &[]);
    assert!(data.contains("by-file") && origin.contains("tunneldesk.toml"), "{data} {origin}");
    let environment = [("TUNNELDESK_DATA", "by-environment")];
    let (data, origin) = value(&environment, &[]);
    assert!(data.contains("by-environment") && origin.contains("TUNNELDESK_DATA"), "{data} {origin}");
    let (data, origin) = value(&environment, &["--data", "by-flag"]);
    assert!(data.contains("by-flag") && origin.contains("--data"), "{data} {origin}");
}

#[test]
fn check_prints_every_setting_with_its_origin() {
    let out = check(&Desk::empty(), &[("TUNNELDESK_LIMITS_QUEUE_MAX", "77")], &[]).done();
    let line = |key: &str| out.lines().find(|line| line.starts_with(key)).unwrap_or_else(|| panic!("{key}: {out}"));
    assert!(
        line("limits.queue_max").contains("77") && line("limits.queue_max").contains("TUNNELDESK_LIMITS_QUEUE_MAX")
    );
    assert!(line("listen").contains("127.0.0.1:8080") && line("listen").contains("the defaults"));
}

#[test]
fn check_says_what_is_open_from_home() {
    let desk = Desk::empty();
    let file = "names = [\"desk.example.org\", \"me.example.org\"]\npublic_names = [\"me.example.org\"]\n";
    std::fs::write(desk.path().join("tunneldesk.toml"), file).unwrap();
    let out = check(&desk, &[], &[]).done();
    assert!(out.contains("Open under me.example.org, and nothing else:"), "{out}");
    assert!(out.contains("\n  /me/card (GET)") && out.contains("\n  /api/payment-webhook (POST)"), "{out}");
    assert!(!out.contains("  /desk") && !out.contains("  /kiosk"), "{out}");
    let all: serde_json::Value = serde_json::from_str(&check(&desk, &[], &["--json"]).done()).unwrap();
    assert_eq!(all["from_home"]["names"], "me.example.org");
    assert_eq!(all["from_home"]["paths"]["/confirm"], "GET POST");
    assert!(!check(&Desk::empty(), &[], &[]).done().contains("Open under"), "off by default");
}

#[test]
fn check_warns_of_settings_that_cannot_work_and_says_what_to_do() {
    let desk = Desk::empty();
    let file = "names = [\"desk.example.org\"]\npublic_url = \"https://tunnel.example.org\"\n[replica]\nwait = true\n";
    std::fs::write(desk.path().join("tunneldesk.toml"), file).unwrap();
    let out = check(&desk, &[], &[]).done();
    let warnings: Vec<&str> = out.lines().filter(|line| line.starts_with("Warning: ")).collect();
    assert_eq!(warnings.len(), 2, "{out}");
    assert!(warnings[0].contains("tunnel.example.org is not in names") && warnings[0].contains("toml"), "{out}");
    assert!(warnings[1].contains("replica.wait") && warnings[1].contains("set replica.token_file"), "{out}");
    let all: serde_json::Value = serde_json::from_str(&check(&desk, &[], &["--json"]).done()).unwrap();
    assert_eq!(all["warnings"].as_array().map(Vec::len), Some(2), "{all}");
}

#[test]
fn every_mistake_in_the_settings_is_named_at_once() {
    let desk = Desk::empty();
    let file = "listen = [\"nowhere\"]\nmetrics_listen = \"0.0.0.0:1\"\ncolour = 3\n[limits]\nqueue_max = \"many\"\n[log]\nlevel = \"loud\"\n";
    std::fs::write(desk.path().join("site.toml"), file).unwrap();
    for command in ["check", "serve", "init --name T --country CH"] {
        let args: Vec<&str> = command.split(' ').chain(["--config", "site.toml"]).collect();
        let ran: Ran = desk.command(&args).env("TUNNELDESK_TYPO", "1").output().unwrap().into();
        assert_eq!((ran.code, &*ran.out), (Some(1), ""), "{command}");
        for part in ["nowhere", "0.0.0.0:1", "colour", "queue_max", "loud", "TUNNELDESK_TYPO"] {
            assert_eq!(ran.err.matches(part).count(), 1, "{part} in {}", ran.err);
        }
        assert_eq!(ran.err.lines().count(), 7, "{}", ran.err);
    }
    let said = check(&desk, &[("TUNNELDESK_CONFIG", "missing.toml")], &[]);
    assert!(said.code == Some(1) && said.err.contains("missing.toml"), "{}", said.err);
}

#[test]
fn only_names_of_the_site_are_answered() {
    let desk = Desk::with_site();
    let server = desk.serve_with(&[("TUNNELDESK_NAMES", "tunnel.example.org")]);
    let status =
        |host: &str| server.raw(format!("GET /healthz HTTP/1.1\r\nhost: {host}\r\n\r\n").as_bytes()).unwrap().status;
    assert_eq!((status("tunnel.example.org"), status("Tunnel.Example.Org:8080"), status("localhost")), (200, 200, 200));
    assert_eq!(status("evil.example"), 421);
    assert_eq!(server.get(&Caller::Anyone, "/healthz").status, 200);
}
