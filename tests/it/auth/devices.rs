//! A wrong password slows down the device that it came from, and no sign-in from other devices.

use crate::harness::{Caller, PASSWORD, Reply, Site};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::auth::limits::booking_pins;
use tunneldesk::auth::limits::proofs::{self, ClearedLimits};
use tunneldesk::domain::ids::MemberId;
use tunneldesk::jobs;

const LOGIN: &str = "/auth/login";
const HEADER: &str = "x-device-token";
/// Failed attempts from one address, over all accounts, before it is slowed down.
const MISSES: i64 = 6;

/// A site whose clients share one address, behind a proxy that can name other addresses.
fn hall() -> Site {
    Site::open_with(|config| {
        config.limits.sign_in_misses_per_address = MISSES;
        config.proxies = vec!["127.0.0.1/32".parse().unwrap()];
    })
}

/// The answer to an attempt that was read, or the 429 of a delay, which tells no client that it is in.
#[track_caller]
fn read_or_delayed(reply: Reply) -> Reply {
    if reply.status == 200 {
        return reply;
    }
    let reply = reply.refused(429);
    let wait: i64 = reply.header("retry-after").and_then(|wait| wait.parse().ok()).expect("a delay says how long");
    assert!((1..=15 * 60).contains(&wait) && reply.json().get("token").is_none(), "{reply}");
    reply
}

/// A device: its token, if it has one, and its address.
#[derive(Clone)]
struct Device<'a> {
    site: &'a Site,
    token: Option<String>,
    address: String,
}

impl<'a> Device<'a> {
    fn new(site: &'a Site) -> Device<'a> {
        Device { site, token: None, address: "192.0.2.1".to_owned() }
    }

    fn at(&self, address: &str) -> Device<'a> {
        Device { address: address.to_owned(), ..self.clone() }
    }

    fn login(&self, name: &str, password: &str) -> Reply {
        let caller: Caller = self.site.stranger();
        let mut asking = caller.ask(Method::POST, LOGIN).header("x-forwarded-for", &self.address);
        if let Some(token) = &self.token {
            asking = asking.header(HEADER, token);
        }
        read_or_delayed(asking.json(&json!({"username": name, "password": password})).send())
    }

    /// Signs in and stores the device token of the answer.
    #[track_caller]
    fn sign_in(&mut self, name: &str) {
        let reply = self.login(name, PASSWORD);
        assert_eq!(reply.json()["status"], true, "{reply}");
        self.token = Some(reply.header(HEADER).expect("a device gets its token").to_owned());
    }

    fn lets_in(&self, name: &str) -> bool {
        self.login(name, PASSWORD).json()["status"].as_bool().unwrap()
    }

    fn miss(&self, name: &str) -> Vec<u8> {
        self.login(name, "not the password").body
    }
}

#[test]
fn guesses_from_elsewhere_do_not_delay_a_known_device() {
    let mut site = hall();
    site.member("jane");
    let mut phone = Device::new(&site);
    phone.sign_in("jane");
    let token = phone.token.clone();
    let mut refused = Vec::new();
    for n in 0..25 {
        refused = Device::new(&site).at(&format!("198.51.100.{n}")).miss("jane");
    }
    let elsewhere = Device::new(&site).at("203.0.113.7");
    assert_eq!(elsewhere.login("jane", PASSWORD).body, refused, "the account is closed to strangers, without a word");
    site.restart();
    let phone = Device { site: &site, token, address: "203.0.113.7".to_owned() };
    assert!(phone.lets_in("jane"));
    let elsewhere = Device::new(&site).at("203.0.113.8");
    assert!(!elsewhere.lets_in("jane"), "the owner's success opens nothing for those who guess");
    site.advance(Duration::from_secs(60));
    assert!(elsewhere.lets_in("jane"), "a minute at the most");
}

/// An app that knows the contract alone keeps no device token.
#[test]
fn guesses_from_elsewhere_do_not_delay_the_password_of_a_signed_in_member() {
    let site = hall();
    let jane = site.member("jane");
    for n in 0..25 {
        Device::new(&site).at(&format!("198.51.100.{n}")).miss("jane");
    }
    let prove = |from: &str, password: &str| {
        let asking = jane.ask(Method::POST, "/account/profile/reauthenticate").header("x-forwarded-for", from);
        asking.json(&json!({ "password": password })).send()
    };
    assert!(!Device::new(&site).at("203.0.113.8").lets_in("jane"), "the account is closed to strangers");
    prove("203.0.113.8", PASSWORD).ok();
    // The failed attempts of one session count together, wherever they come from.
    for n in 0..5 {
        prove(&format!("203.0.113.{n}"), "not the password").refused(422);
    }
    prove("203.0.113.9", PASSWORD).refused(429);
}

#[test]
fn failed_attempts_on_a_known_device_delay_that_device_alone() {
    let mut site = hall();
    site.member("jane");
    site.member("mark");
    let mut kiosk = Device::new(&site);
    kiosk.sign_in("jane");
    kiosk.sign_in("mark");
    (0..2 * MISSES).for_each(|_| _ = kiosk.miss("jane"));
    assert_eq!(kiosk.login("jane", "not the password").status, 429);
    assert_eq!(kiosk.login("jane", PASSWORD).status, 429, "no oracle");
    assert!(kiosk.lets_in("mark"), "others at the kiosk are left alone");
    assert!(Device::new(&site).lets_in("jane"), "and so is Jane at the same address");
    let token = kiosk.token.clone();
    site.restart();
    let kiosk = Device { token, ..Device::new(&site) };
    assert!(!kiosk.lets_in("jane"), "a restart changes nothing");
    site.advance(Duration::from_secs(15 * 60));
    assert!(kiosk.lets_in("jane"));
}

#[test]
fn failed_attempts_of_one_device_do_not_delay_known_devices_of_the_same_address() {
    let site = hall();
    for name in ["jane", "mark", "ann"] {
        site.member(name);
    }
    let (mut kiosk, stranger) = (Device::new(&site), Device::new(&site));
    kiosk.sign_in("mark");
    for n in 0..MISSES {
        stranger.miss(&format!("somebody{n}"));
    }
    assert!(!Device::new(&site).lets_in("jane"), "who is known nowhere waits");
    assert!(kiosk.lets_in("mark"), "a device goes on for its members");
    assert!(kiosk.lets_in("jane"), "and for those who come to it");
    for n in 0..MISSES {
        kiosk.miss(&format!("other{n}"));
    }
    assert!(!kiosk.lets_in("ann"), "its own misses close it to newcomers");
    assert!(kiosk.lets_in("mark") && kiosk.lets_in("jane"), "and not to those whom it knows");
    site.advance(Duration::from_secs(60));
    assert!(Device::new(&site).lets_in("ann") && kiosk.lets_in("ann"));
}

#[test]
fn signing_in_to_an_own_account_gains_no_further_attempts_on_another() {
    let site = hall();
    for name in ["mark", "ann"] {
        site.member(name);
    }
    let mut devices: Vec<Device> = (0..MISSES).map(|_| Device::new(&site)).collect();
    devices.iter_mut().for_each(|device| device.sign_in("mark"));
    for (n, device) in devices.iter().enumerate() {
        device.miss(&format!("somebody{n}"));
    }
    assert!(devices.iter().all(|device| !device.lets_in("ann")), "what one member brought counts together");
    assert!(devices[0].lets_in("mark") && Device::new(&site).lets_in("ann"));
}

#[test]
fn an_unknown_device_token_counts_as_none() {
    let site = hall();
    site.member("jane");
    let mut phone = Device::new(&site);
    phone.sign_in("jane");
    let own = phone.token.clone().unwrap();
    for token in ["garbage", &own[1..], &format!("{own}A"), &"A".repeat(4000)] {
        Device { token: Some(token.to_owned()), ..phone.clone() }.miss("jane");
    }
    phone.miss("jane");
    Device::new(&site).miss("jane");
    assert!(!Device::new(&site).lets_in("jane"), "five misses came from nowhere");
    assert!(phone.lets_in("jane"));
    let mut other = Device { token: Some("garbage".to_owned()), ..Device::new(&site) }.at("203.0.113.1");
    other.sign_in("jane");
    assert_ne!(other.token.as_deref(), Some("garbage"), "nobody else chooses a device's token");
}

#[test]
fn a_device_keeps_its_token_and_the_database_has_only_its_hash() {
    let site = hall();
    for name in ["jane", "mark"] {
        site.member(name);
    }
    let mut kiosk = Device::new(&site);
    kiosk.sign_in("jane");
    let first = kiosk.token.clone().unwrap();
    kiosk.sign_in("mark");
    assert_eq!(kiosk.token.as_deref(), Some(&*first));
    assert_eq!(site.holds_text(&first), Vec::<String>::new());
    let browser = |cookie: &str, password: &str| {
        let body = json!({"username": "jane", "password": password});
        read_or_delayed(site.stranger().ask(Method::POST, LOGIN).header("cookie", cookie).json(&body).send())
    };
    let reply = browser(&format!("theme=dark; device={first}"), PASSWORD);
    let cookie = reply.header("set-cookie").unwrap();
    assert_eq!(cookie, format!("device={first}; Path=/api; Max-Age=15552000; HttpOnly; SameSite=Strict"));
    (0..MISSES).for_each(|_| _ = browser("", "not the password"));
    assert_eq!(browser("", PASSWORD).json()["status"], false);
    assert_eq!(browser(&format!("device={first}; theme=dark"), PASSWORD).json()["status"], true);
}

#[test]
fn a_device_is_known_after_the_second_factor() {
    let site = hall();
    let protected = site.protect(&site.member("jane"));
    let reply = Device::new(&site).login("jane", PASSWORD);
    assert_eq!((&reply.json()["confirmationPending"], reply.header(HEADER)), (&json!(2), None));
    let refused = Device::new(&site).login("jane", "not the password");
    assert!(refused.header(HEADER).is_none() && refused.header("set-cookie").is_none());
    let code = protected.authenticator.code(site.now());
    let body = json!({"username": "jane", "password": PASSWORD, "code": code});
    let done = site.stranger().post("/auth/login/verify-totp", body).ok();
    assert!(done.header(HEADER).is_some());
    // Codes are slowed down like passwords, and from a known device as little.
    let verify = |token: Option<&str>, code: &str| -> Value {
        let body = json!({"username": "jane", "password": PASSWORD, "code": code});
        let caller = site.stranger();
        let asking = caller.ask(Method::POST, "/auth/login/verify-totp").json(&body);
        read_or_delayed(token.into_iter().fold(asking, |asking, token| asking.header(HEADER, token)).send()).json()
    };
    (0..MISSES).for_each(|_| _ = verify(None, "000000"));
    assert_eq!(verify(None, &protected.recovery_codes[0])["status"], false);
    assert_eq!(verify(done.header(HEADER), &protected.recovery_codes[0])["status"], true);
}

#[test]
fn devices_expire_after_half_a_year_and_the_most_recently_used_are_kept() {
    let site = hall();
    site.member("jane");
    let mut phone = Device::new(&site);
    phone.sign_in("jane");
    site.advance(Duration::from_secs(1));
    phone.sign_in("jane");
    for _ in 0..30 {
        site.advance(Duration::from_secs(1));
        Device::new(&site).sign_in("jane");
    }
    assert_eq!(site.rows()["devices"], 20);
    let guess = || (0..MISSES).for_each(|_| _ = Device::new(&site).miss("jane"));
    guess();
    assert!(phone.lets_in("jane") && !Device::new(&site).lets_in("jane"));
    site.advance(Duration::from_secs(180 * 86_400));
    guess();
    assert!(!phone.lets_in("jane"));
    jobs::purge_expired(&site.for_a_job()).unwrap();
    assert_eq!(site.rows()["devices"], 0);
}

#[test]
fn unlocking_an_account_clears_all_of_its_delays_and_no_others() {
    let site = hall();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let mut phone = Device::new(&site);
    phone.sign_in("jane");
    (0..MISSES).for_each(|_| _ = phone.miss("jane"));
    for n in 0..25 {
        Device::new(&site).at(&format!("198.51.100.{n}")).miss("Jane@example.com");
    }
    for _ in 0..5 {
        Device::new(&site).at("203.0.113.1").miss("mark");
        site.stranger().post("/auth/account-access/recover-password", json!({"username": "jane"})).ok();
    }
    site.stranger().post("/auth/account-access/recover-password", json!({"username": "jane"})).refused(429);
    let inside = site.for_a_job();
    (0..5).for_each(|_| site.change(|tx| booking_pins::count_wrong(&inside, tx, MemberId(jane.id))));
    assert!(!phone.lets_in("jane") && !Device::new(&site).at("203.0.113.2").lets_in("jane"));
    let lift = |member: &Caller| site.change(|tx| proofs::clear_account_limits(&inside, tx, MemberId(member.id)));
    assert_eq!(lift(&jane), ClearedLimits { delays: 2, pin_paused: true, passcodes_used_up: true });
    assert!(phone.lets_in("jane") && Device::new(&site).at("203.0.113.2").lets_in("jane"));
    site.stranger().post("/auth/account-access/recover-password", json!({"username": "jane"})).ok();
    assert_eq!(lift(&jane), ClearedLimits { delays: 0, pin_paused: false, passcodes_used_up: false });
    assert!(!Device::new(&site).at("203.0.113.1").lets_in("mark"), "another account's delay stays");
    assert_eq!(lift(&mark), ClearedLimits { delays: 1, pin_paused: false, passcodes_used_up: false });
    assert_eq!(lift(&mark), ClearedLimits { delays: 0, pin_paused: false, passcodes_used_up: false });
}

/// A delay shows by its 429. Such an attempt is not read, so it changes no row.
#[test]
fn wrong_attempts_under_a_username_do_not_show_in_those_under_the_address() {
    let site = hall();
    site.member("jane");
    let is_held_back = |device: &Device, name: &str| {
        let before = site.transactions();
        device.miss(name);
        site.transactions() == before
    };
    for (net, username, address) in [(100, "jane", "jane@example.com"), (101, "nobody", "nobody@example.com")] {
        let guesser = Device::new(&site).at(&format!("198.51.{net}.200"));
        (0..5).for_each(|_| _ = guesser.miss(username));
        assert!(is_held_back(&guesser, username), "{username}");
        assert!(!is_held_back(&guesser, address), "{address}");
        for n in 0..25 {
            Device::new(&site).at(&format!("198.51.{net}.{n}")).miss(username);
        }
        assert!(!is_held_back(&Device::new(&site).at("203.0.113.7"), address), "{address}");
    }
    let elsewhere = Device::new(&site).at("203.0.113.8");
    assert!(!elsewhere.lets_in("jane@example.com"), "the delay of the account counts for both of its names");
    site.advance(Duration::from_secs(60));
    assert!(elsewhere.lets_in("jane@example.com"));
}
