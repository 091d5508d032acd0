//! https on the site's own network, as curl sees it.

use crate::harness::{Caller, Desk, Ran, Server, text};
use std::net::TcpStream;
use std::process::Command;

/// A site with an authority for tunnel.example.org, served over https too. Returns the port as well.
fn served() -> (Desk, Server, u16) {
    let desk = Desk::with_site();
    std::fs::write(
        desk.path().join("tunneldesk.toml"),
        "names = [\"tunnel.example.org\"]\n[tls]\nlisten = [\"127.0.0.1:0\"]\n",
    )
    .unwrap();
    let mut serve = desk.command(&["serve", "--listen", "127.0.0.1:0"]);
    let said = Ran::from(serve.env("TUNNELDESK_METRICS_LISTEN", "").output().unwrap()).trouble(2);
    assert!(said.contains("tunneldesk tls init"), "{said}");
    let said = desk.run(&["tls", "init", "--name", "tunnel.example.org"]).done();
    assert!(said.contains("renews itself") && said.contains("/ca"), "{said}");
    std::fs::write(desk.path().join("authority"), desk.run(&["tls", "authority"]).done()).unwrap();
    let server = desk.serve();
    let line = server.log.wait_for("listening for https").unwrap();
    let port = text(&line["address"]).rsplit_once(':').unwrap().1.parse().unwrap();
    (desk, server, port)
}

/// The exit code of curl and its standard output.
fn curl(desk: &Desk, port: u16, more: &[&str], path: &str) -> (Option<i32>, String) {
    let resolve = format!("tunnel.example.org:{port}:127.0.0.1");
    let mut curl = Command::new("curl");
    curl.current_dir(desk.path()).args(["-sS", "--max-time", "10", "--resolve", &resolve]).args(more);
    let ran = curl.arg(format!("https://tunnel.example.org:{port}{path}")).output().unwrap();
    (ran.status.code(), String::from_utf8(ran.stdout).unwrap())
}

const TRUSTING: [&str; 2] = ["--cacert", "authority"];
/// curl's exit code for a certificate that it does not trust.
const UNTRUSTED: Option<i32> = Some(60);

#[test]
fn a_device_that_trusts_the_authority_reaches_the_site_and_another_does_not() {
    let (desk, _server, port) = served();
    assert_eq!(curl(&desk, port, &TRUSTING, "/readyz"), (Some(0), "ready\n".to_owned()));
    assert_eq!(curl(&desk, port, &[], "/readyz").0, UNTRUSTED);
    for version in ["--tlsv1.2", "--tlsv1.3"] {
        let (code, _) = curl(&desk, port, &[&TRUSTING[..], &[version, "--tls-max", &version[6..]]].concat(), "/readyz");
        assert_eq!(code, Some(0), "{version}");
    }
}

#[test]
fn strict_transport_security_is_sent_where_it_is_configured() {
    for (days, told) in [("0", None), ("30", Some("strict-transport-security: max-age=2592000"))] {
        let (desk, server, _) = served();
        assert!(server.stop().log.iter().all(|line| !line.contains("hsts")));
        let server = desk.serve_with(&[("TUNNELDESK_TLS_HSTS_DAYS", days)]);
        let line = server.log.wait_for("listening for https").unwrap();
        let port = text(&line["address"]).rsplit_once(':').unwrap().1.parse().unwrap();
        let (_, head) = curl(&desk, port, &[&TRUSTING[..], &["-i"]].concat(), "/readyz");
        let found = head.lines().find(|line| line.starts_with("strict-transport-security"));
        assert_eq!(found, told, "{head}");
        assert!(server.get(&Caller::Anyone, "/readyz").header("strict-transport-security").is_none(), "not in clear");
    }
}

#[test]
fn many_unfinished_handshakes_do_not_keep_other_devices_from_https() {
    let (desk, _server, port) = served();
    let silent: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(("127.0.0.1", port)).unwrap()).collect();
    // The time limit of an unfinished handshake is ten seconds.
    let elsewhere = [&TRUSTING[..], &["--interface", "127.0.0.2", "--max-time", "8"]].concat();
    assert_eq!(curl(&desk, port, &elsewhere, "/readyz"), (Some(0), "ready\n".to_owned()));
    drop(silent);
}

#[test]
fn a_renewed_certificate_is_presented_without_a_restart_and_trusted_by_the_same_devices() {
    let (desk, _server, port) = served();
    let certificate = || {
        let args = [&TRUSTING[..], &["-o", "/dev/null", "-w", "%{certs}"]].concat();
        curl(&desk, port, &args, "/readyz")
    };
    let before = certificate();
    assert_eq!((before.0, before.1.contains("BEGIN CERTIFICATE")), (Some(0), true));
    desk.run(&["tls", "renew"]).done();
    let after = certificate();
    assert_eq!(after.0, Some(0));
    assert_ne!(before.1, after.1);
}

#[test]
fn a_device_fetches_the_authority_from_the_page_that_says_how_to_trust_it() {
    let (desk, server, _) = served();
    let known = std::fs::read_to_string(desk.path().join("authority")).unwrap();
    let fetched = server.get(&Caller::Anyone, "/ca.crt");
    assert_eq!((fetched.status, fetched.body.trim()), (200, known.trim()));
    let told = server.get(&Caller::Anyone, "/ca").ok();
    assert_eq!(text(&told["certificate"]).trim(), known.trim());
    // The page as a browser that does not trust the authority yet sees it: with its style, all over plain HTTP.
    let plain = |path: &str| {
        let args = ["-sS", "-w", "%{http_code}", "-H", "accept: text/html"];
        let output = Command::new("curl").args(args).arg(format!("http://{}{path}", server.address)).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let page = plain("/ca");
    let sheets: Vec<&str> = page.split("href=\"/assets/").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    assert!(page.ends_with("200") && sheets.len() >= 2, "{page}");
    for sheet in sheets {
        assert!(plain(&format!("/assets/{sheet}")).ends_with("200"), "{sheet}");
    }
    let status = desk.run(&["tls", "status"]).done();
    assert!(status.contains(text(&told["fingerprint"])) && status.contains("in use"), "{status}");
    let said = desk.run(&["tls", "init", "--name", "other.example.org"]).trouble(1);
    assert!(said.contains("--replace"), "{said}");
}

#[test]
fn a_restored_site_has_its_authority_again() {
    let (desk, server, _) = served();
    desk.run(&["backup"]).done();
    server.stop();
    std::fs::rename(desk.data().join("backups"), desk.path().join("kept")).unwrap();
    std::fs::remove_dir_all(desk.data()).unwrap();
    let backup = std::fs::read_dir(desk.path().join("kept")).unwrap().next().unwrap().unwrap().path();
    desk.run(&["restore", backup.to_str().unwrap()]).done();
    let server = desk.serve();
    let line = server.log.wait_for("listening for https").unwrap();
    let port = text(&line["address"]).rsplit_once(':').unwrap().1.parse().unwrap();
    assert_eq!(curl(&desk, port, &TRUSTING, "/readyz").0, Some(0));
}
