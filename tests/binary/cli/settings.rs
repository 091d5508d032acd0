//! The sources of settings, and the errors for wrong ones.

use crate::harness::{Answer, Caller, Desk, Ran, Server, text};

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

fn post(server: &Server, path: &str, cookie: &str, form: &str) -> Answer {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\nCookie: {cookie}\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{form}",
        form.len()
    );
    server.raw(head.as_bytes()).unwrap()
}

/// The cookie of an admin at the desk, with the proof of identity that the settings of mail want.
fn sign_in_at_desk(server: &Server, password: &str) -> String {
    let signed_in = post(server, "/desk/sign-in", "", &format!("username=admin&password={password}"));
    let cookies = signed_in.head.lines().filter_map(|line| line.split_once(": "));
    let cookies = cookies.filter(|(name, _)| name.eq_ignore_ascii_case("set-cookie"));
    let cookie: Vec<&str> = cookies.filter_map(|(_, value)| value.split(';').next()).collect();
    let cookie = cookie.join("; ");
    let proof = format!("prove_to=/desk/site/settings&prove_password={password}");
    assert_eq!(post(server, "/desk/prove", &cookie, &proof).header("location"), Some("/desk/site/settings"));
    cookie
}

#[test]
fn check_shows_what_admins_set_in_pages_with_a_server_and_without() {
    let (desk, data) = (Desk::empty(), ["--data", "tunneldesk-data"]);
    let server = desk.serve_with_args(&[&["--demo"], &data[..]].concat());
    let facts = std::fs::read_to_string(desk.data().join("demo.json")).unwrap();
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    let cookie = sign_in_at_desk(&server, text(&facts["members"][0]["password"]));
    let save = |group: &str, form: &str| {
        let saved = post(&server, &format!("/desk/site/settings/{group}"), &cookie, form);
        assert_eq!(saved.header("location"), Some(&*format!("/desk/site/settings?done=saved#{group}")));
    };
    save("membership", "membership.yearly_fee_cents=80&membership.currency=CHF");
    save("board", "board.first_names=true&board.message=Hello");
    let mail = "mail.server=mail.example.org:587&mail.security=starttls&mail.username=desk&mail.password=opensesame\
                &mail.from=desk@example.org";
    save("mail", mail);
    let look = || {
        let (all, table) = (desk.json(&[&["check"], &data[..]].concat()), check(&desk, &[], &data).done());
        assert!(!format!("{all} {table}").contains("opensesame"), "{table}");
        assert!(table.lines().any(|line| line.starts_with("board.message") && line.ends_with("the pages")), "{table}");
        assert_eq!(all["pages_not_shown"], serde_json::Value::Null, "{all}");
        for (key, value) in [
            ("membership.yearly_fee_cents", "8000"),
            ("membership.currency", "\"CHF\""),
            ("board.first_names", "true"),
            ("mail.password", "(secret)"),
        ] {
            assert_eq!(all[key], serde_json::json!({ "value": value, "origin": "the pages" }), "{key}");
        }
        assert_eq!(all["tunnel.cancel_hours"]["origin"], "the defaults");
        all
    };
    let served = look();
    assert_eq!(server.stop().code, Some(0));
    assert_eq!(look(), served, "the same without the server");

    std::fs::write(desk.path().join("tunneldesk.toml"), "[membership]\nyearly_fee_cents = 4500\n").unwrap();
    let fee = desk.json(&["check"])["membership.yearly_fee_cents"].clone();
    assert!(fee["value"] == "4500" && fee["origin"].to_string().contains("tunneldesk.toml"), "the file wins: {fee}");
    std::fs::rename(desk.data(), desk.path().join("elsewhere")).unwrap();
    let table = check(&desk, &[], &[]).done();
    assert!(table.contains("Not shown is what admins set in pages: cannot open the data directory"), "{table}");
    assert!(table.lines().any(|line| line.starts_with("board.message") && line.ends_with("the defaults")), "{table}");
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
