//! A name that the internet knows: under it only the rows exist that members need at home, whatever a proxy passes on.

use crate::harness::{Reply, Site, Wire};
use tunneldesk::routes::{PAGES, ROUTES, Route};

const HOME: &str = "me.example.org";

fn site() -> Site {
    Site::open_with(|config| {
        config.names.push(HOME.to_owned());
        config.public_names.push(HOME.to_owned());
    })
}

fn ask(site: &Site, host: &str, method: &str, target: &str) -> Reply {
    let head = format!("{method} {target} HTTP/1.1\r\nhost: {host}\r\naccept: text/html\r\ncontent-length: 0\r\n\r\n");
    // The description does not say that an operation is absent under some names.
    let wire = Wire::to_figures(site.address());
    wire.exchange_alone(head.as_bytes(), false, &format!("{method} {target} of {host}")).expect("an answer")
}

fn path_of(route: &Route) -> String {
    format!("{}{}", route.base, route.path.replace("{skill}", "10101").replace(['{', '}'], ""))
}

#[test]
fn every_row_is_answered_under_a_public_name_as_elsewhere_or_does_not_exist() {
    let site = site();
    // A callback without its key answers 503.
    site.expects_faults();
    for route in ROUTES.iter().chain(PAGES) {
        let (method, path) = (route.method.as_str(), path_of(route));
        let asked = format!("{method} {path}");
        let reply = ask(&site, HOME, method, &path);
        if route.from_home {
            site.reset_rate_limits();
            assert_eq!(reply.status, ask(&site, Site::NAME, method, &path).status, "{asked}");
            continue;
        }
        assert_eq!(reply.status, 404, "{asked}");
        let text = String::from_utf8_lossy(&reply.body).into_owned();
        assert!(!text.contains("/desk") && !text.contains("/kiosk"), "{asked} tells of what is not there: {text}");
    }
}

#[test]
fn what_belongs_to_the_hall_is_never_open_from_home() {
    let open = |route: &&Route| route.from_home;
    for route in ROUTES.iter().chain(PAGES).filter(open) {
        let is_for_members = matches!(route.caller(), "own" | "page" | "callback" | "open");
        let (path, is_form) = (path_of(route), route.method != "GET");
        assert!(is_for_members && !path.starts_with("/desk") && !path.starts_with("/kiosk"), "{path}");
        let callbacks = ["/api/payment-webhook", "/api/mail-webhook", "/api/social-data-deletion"];
        assert!(!path.starts_with("/api") || !is_form || callbacks.contains(&&*path), "{path}");
    }
    let own = PAGES.iter().filter(|route| route.path.starts_with("/me"));
    assert!(own.clone().count() > 40 && own.clone().all(|route| route.from_home), "members' own pages are open");
}

#[test]
fn no_spelling_of_the_name_or_the_path_opens_more() {
    let site = site();
    for (host, target) in [
        ("me.example.org:443", "/desk"),
        ("ME.Example.org", "/desk/sign-in"),
        ("me.example.org.", "/desk"),
        (HOME, "/desk/"),
        (HOME, "/%64esk"),
        (HOME, "/me/../desk"),
        (HOME, "/api/auth/login"),
        (HOME, "/docs"),
        (HOME, "/metrics"),
        (HOME, "/healthz"),
        // The address of a form of the desk, which elsewhere leads to its page.
        (HOME, "/desk/sign-out"),
        // A proxy may have judged the target or the header, so neither of them is the internet's.
        (Site::NAME, "http://me.example.org/desk"),
        (HOME, "http://tunnel.example.org/desk/sign-in"),
        // An address of the internet, which a port that was forwarded to the site brings.
        ("203.0.113.7", "/desk/sign-in"),
        ("[2001:db8::7]:8080", "/desk/sign-in"),
        ("[::ffff:203.0.113.7]", "/desk/sign-in"),
    ] {
        assert_eq!(ask(&site, host, "GET", target).status, 404, "{target} of {host}");
    }
    for here in
        ["localhost", "127.0.0.1:8080", "192.168.4.2", "[::1]", "[fe80::7]", "[fd12:3456::1]", "[::ffff:10.0.0.9]"]
    {
        assert_eq!(ask(&site, here, "GET", "/desk/sign-in").status, 200, "{here}");
    }
    let refused = ask(&site, HOME, "PUT", "/me");
    assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD")));
    assert_eq!(ask(&site, HOME, "PUT", "/desk").status, 404);
    assert_eq!(ask(&site, HOME, "GET", "/recover/password").status, 303, "the address of a form of a mail");
}

#[test]
fn without_a_name_there_is_no_more_than_from_home_but_for_a_health_check() {
    let site = site();
    let wire = Wire::to_figures(site.address());
    let status = |path: &str| {
        wire.exchange_alone(format!("GET {path} HTTP/1.0\r\n\r\n").as_bytes(), false, path).expect("an answer").status
    };
    assert_eq!(["/desk/sign-in", "/docs", "/healthz", "/me/sign-in"].map(status), [404, 404, 200, 200]);
}

#[test]
fn a_proxy_that_passes_on_a_name_of_the_hall_opens_no_more() {
    let site = Site::open_with(|config| {
        config.names.push(HOME.to_owned());
        config.public_names.push(HOME.to_owned());
        config.proxies = vec!["127.0.0.1".parse::<std::net::IpAddr>().unwrap().into()];
    });
    let wire = Wire::to_figures(site.address());
    let status = |header: &str| {
        let head = format!("GET /desk/sign-in HTTP/1.1\r\nhost: localhost\r\n{header}\r\n\r\n");
        wire.exchange_alone(head.as_bytes(), false, header).expect("an answer").status
    };
    let far =
        ["x-forwarded-for: 203.0.113.9", "x-forwarded-host: me.example.org", "x-forwarded-host: ME.example.org:443"];
    assert_eq!(far.map(status), [404, 404, 404]);
    let near =
        ["x-forwarded-for: 192.168.4.20", "x-forwarded-for: 2001:db8::7", "x-forwarded-host: tunnel.example.org"];
    assert_eq!(near.map(status), [200, 200, 200]);
}

#[test]
fn the_sign_in_leads_to_the_desk_only_where_there_is_one() {
    let site = site();
    let page = |host: &str| String::from_utf8(ask(&site, host, "GET", "/me/sign-in").ok().body).unwrap();
    assert!(page(Site::NAME).contains("href=\"/desk\"") && !page(HOME).contains("/desk"));
    assert_eq!(ask(&site, HOME, "GET", "/").header("location"), Some("/me"));
}

#[test]
fn strangers_from_home_are_slowed_down_as_those_in_the_hall() {
    let site = Site::open_with(|config| {
        config.names.push(HOME.to_owned());
        config.public_names.push(HOME.to_owned());
        config.limits.recoveries_per_hour_per_address = 4;
    });
    // Whoever tries codes is counted by address, not by the name that was typed.
    let statuses: Vec<u16> =
        (0..12).map(|i| ask(&site, [Site::NAME, HOME][i % 2], "GET", "/claim?code=nothing").status).collect();
    assert!(statuses[0] != 429 && statuses[10..] == [429, 429], "{statuses:?}");
}
