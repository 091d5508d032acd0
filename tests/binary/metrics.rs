//! Health and metrics: for the service manager on the public port, for Prometheus on the loopback port.

use crate::harness::{Caller, Client, Desk};
use std::collections::BTreeSet;

#[test]
fn health_is_on_both_ports_and_metrics_on_the_loopback_one_alone() {
    let (_desk, server) = Desk::with_site().serve_kept();
    let (public, metrics) = (server.address, server.metrics_address);
    for address in [public, metrics] {
        let get = |path: &str| Client::new(address).get(&Caller::Anyone, path);
        assert_eq!((get("/healthz").status, &*get("/healthz").body), (200, "alive\n"));
        assert_eq!((get("/readyz").status, &*get("/readyz").body), (200, "ready\n"));
    }
    Client::new(public).get(&Caller::Anyone, "/metrics").refused(404);
    Client::new(metrics).get(&Caller::Anyone, "/api/account/profile/user").refused(404);
    assert_eq!(Client::new(metrics).get(&Caller::Anyone, "/metrics").status, 200);
}

#[test]
fn prometheus_can_read_the_metrics() {
    let (_desk, server) = Desk::with_site().serve_kept();
    for _ in 0..3 {
        server.get(&Caller::Anyone, "/api/account/profile/user").refused(401);
    }
    let answer = Client::new(server.metrics_address).get(&Caller::Anyone, "/metrics");
    assert_eq!(answer.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let samples = parse(&answer.body);
    let asked = r#"tunneldesk_requests_total{method="GET",route="/api/account/profile/user",status="4xx"} 3"#;
    assert!(samples.contains(asked), "{}", answer.body);
    assert!(samples.iter().any(|s| s.starts_with("tunneldesk_request_seconds_bucket") && s.contains(r#"le="+Inf""#)));
    assert!(samples.contains("tunneldesk_panics_total 0"));
    let value = |name: &str| {
        let line = samples.iter().find_map(|sample| sample.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {}", answer.body)).parse::<f64>().unwrap()
    };
    let version = concat!("tunneldesk_build_info{version=\"", env!("CARGO_PKG_VERSION"));
    assert!(samples.iter().any(|sample| sample.starts_with(version) && sample.ends_with("\"} 1")), "{}", answer.body);
    assert!(value("process_resident_memory_bytes") > 1e6 && value("process_start_time_seconds") > 1e9);
    assert!((3.0..value("process_max_fds")).contains(&value("process_open_fds")));
    assert!(
        value("tunneldesk_pool_threads_busy{queue=\"reading\"}")
            <= value("tunneldesk_pool_threads_max{queue=\"reading\"}")
    );
    assert!(value("tunneldesk_store_commit_seconds_total") >= 0.0 && value("tunneldesk_connections_max") >= 1.0);
}

#[test]
fn where_there_is_a_token_the_metrics_want_it() {
    const TOKEN: &str = "0123456789abcdef0123456789abcdef";
    let desk = Desk::with_site();
    let server = desk.serve_with(&[("TUNNELDESK_METRICS_TOKEN", TOKEN)]);
    let read = |token: Option<&str>| {
        let mut request = ureq::get(format!("http://{}/metrics", server.metrics_address));
        if let Some(token) = token {
            request = request.header("authorization", format!("bearer {token}"));
        }
        match request.call() {
            Ok(answer) => answer.status().as_u16(),
            Err(ureq::Error::StatusCode(status)) => status,
            Err(error) => panic!("{error}"),
        }
    };
    assert_eq!((read(None), read(Some("")), read(Some(&TOKEN[1..])), read(Some(TOKEN))), (401, 401, 401, 200));
}

/// What an alert or the dashboard asks for, of a hall: names of metrics without the endings of a histogram.
fn asked() -> BTreeSet<&'static str> {
    let asked = [
        include_str!("../../packaging/monitoring/tunneldesk.rules.yml"),
        include_str!("../../packaging/monitoring/tunneldesk.dashboard.json"),
    ];
    let words = asked.into_iter().flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let names = words.filter(|word| word.starts_with("tunneldesk_") || word.starts_with("process_"));
    let names = names.map(|name| {
        name.strip_suffix("_bucket")
            .or(name.strip_suffix("_seconds_count").map(|_| "tunneldesk_request_seconds"))
            .unwrap_or(name)
    });
    names.filter(|name| !name.starts_with("tunneldesk_chain") && *name != "tunneldesk_store_").collect()
}

#[test]
fn alerts_and_dashboard_ask_for_metrics_that_there_are() {
    let desk = Desk::with_site();
    let off_site = desk.path().join("copies");
    std::fs::create_dir(&off_site).unwrap();
    let token = "0123456789abcdef0123456789abcdef";
    let server = desk
        .serve_with(&[("TUNNELDESK_BACKUP_OFF_SITE", off_site.to_str().unwrap()), ("TUNNELDESK_REPLICA_TOKEN", token)]);
    // The age of the base appears with the first base, some seconds after the start.
    let read = || {
        let text = Client::new(server.metrics_address).get(&Caller::Anyone, "/metrics").body;
        let helps = text.lines().filter_map(|line| line.strip_prefix("# HELP ")?.split(' ').next());
        helps.map(str::to_owned).collect::<BTreeSet<String>>()
    };
    let missing = || {
        let there = read();
        // Only a site with https has a certificate.
        asked().into_iter().filter(|name| !there.contains(*name) && !name.contains("certificate")).collect::<Vec<_>>()
    };
    let until = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !missing().is_empty() && std::time::Instant::now() < until {
        std::thread::sleep(std::time::Duration::from_millis(500));
    }
    assert_eq!(missing(), Vec::<&str>::new());
    assert!(asked().len() > 25, "{:?}", asked());
}

/// The names of all samples. Asserts that HELP and TYPE precede the first sample of each family, and that every value
/// is a number.
fn parse(text: &str) -> BTreeSet<&str> {
    let (mut helped, mut helps) = (BTreeSet::new(), BTreeSet::new());
    let (mut typed, mut samples) = (BTreeSet::new(), BTreeSet::new());
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(helped.insert(name), "announced twice: {line}");
            assert!(helps.insert(help), "the help of another metric: {line}");
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            typed.insert(name);
        } else {
            let (series, value) = line.rsplit_once(' ').unwrap();
            value.parse::<f64>().unwrap_or_else(|_| panic!("{line}"));
            let name = series.split('{').next().unwrap();
            let family = ["_bucket", "_sum", "_count"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
            assert!(helped.contains(family) && typed.contains(family), "not announced: {line}");
            assert!(series.find('{').is_none() || series.ends_with('}'), "{line}");
            assert!(samples.insert(line), "twice: {line}");
        }
    }
    samples
}
