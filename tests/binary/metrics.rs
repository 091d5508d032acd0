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
}

/// The names of all samples. Asserts that HELP and TYPE precede the first sample of each family, and that every value
/// is a number.
fn parse(text: &str) -> BTreeSet<&str> {
    let (mut helped, mut typed, mut samples) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    assert!(text.ends_with('\n'));
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            assert!(helped.insert(rest.split(' ').next().unwrap()), "announced twice: {line}");
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
