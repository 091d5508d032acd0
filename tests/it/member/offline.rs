//! The own pages on a telephone that loses its network: what is kept is shown with its age to its member alone, and flight time that
//! is typed meanwhile arrives once.

use super::network::{Network, State};
use super::own_pages;
use crate::desk::Clerk;
use crate::harness::{Browser, Caller, PASSWORD, Site};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

/// Rounds of the storm in the suite; `tests/lost-networks` asks for more.
const ROUNDS: u64 = 5;

fn day_before(site: &Site) -> String {
    let at = jiff::Timestamp::from_second(site.now() - 86_400).expect("a moment");
    at.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}

/// How often each comment stands in a logbook.
fn comments(site: &Site) -> BTreeMap<String, i64> {
    let sql = "SELECT comment, count(*) FROM entries WHERE kind = 'time' AND comment <> '' GROUP BY comment";
    site.change(|tx| Ok(tx.list::<(String, i64)>(sql, [])?)).into_iter().collect()
}

fn send(pages: &Clerk, member: i64, number: &str, minutes: &str, day: &str) -> u16 {
    let member = member.to_string();
    let fields = [("member", &*member), ("number", number), ("minutes", minutes), ("date", day)];
    pages.post("/me/kept", &fields).status
}

#[test]
fn kept_flight_time_counts_once_however_often_and_late_it_is_sent() {
    let site = Site::open();
    let (jane, mark) = (site.flyer("jane"), site.flyer("mark"));
    let day = day_before(&site);
    let pages = own_pages(&site, &jane);
    let entries = |who: &Caller| -> i64 {
        let sql = "SELECT count(*) FROM entries WHERE member_id = ?1 AND form_number IS NOT NULL";
        site.change(|tx| Ok(tx.get(sql, [who.id])?))
    };
    assert_eq!((send(&pages, jane.id, "4503599627370495", "12", &day), entries(&jane)), (204, 1));
    assert_eq!(
        (send(&pages, jane.id, "4503599627370495", "12", &day), entries(&jane)),
        (204, 1),
        "its answer was lost"
    );
    assert_eq!((send(&pages, jane.id, "4503599627370495", "15", &day), entries(&jane)), (409, 1), "other minutes");
    assert_eq!(send(&pages, mark.id, "7", "12", &day), 403, "another member signed in meanwhile");
    assert_eq!(send(&pages, jane.id, "8", "none", &day), 422);
    assert_eq!(send(&pages, jane.id, "x", "12", &day), 400);
    assert_eq!(send(&Clerk::outside(&site), jane.id, "9", "12", &day), 303, "nobody is signed in");
    assert_eq!((entries(&jane), entries(&mark)), (1, 0));
    assert_eq!(send(&own_pages(&site, &mark), mark.id, "4503599627370495", "12", &day), 204, "a number of his own");
    // A correction changes what stands, and not what was sent.
    site.change(|tx| {
        Ok(tx.run("UPDATE entries SET minutes = 20 WHERE author_id = ?1 AND form_number IS NOT NULL", [jane.id])?)
    });
    site.advance(Duration::from_secs(100 * 86_400));
    let later = own_pages(&site, &site.again(&jane));
    assert_eq!((send(&later, jane.id, "4503599627370495", "12", &day), entries(&jane)), (204, 1), "months later");
    let entry: i64 = site
        .change(|tx| Ok(tx.get("SELECT entry_id FROM entries WHERE author_id = ?1 AND form_number > 0", [jane.id])?));
    let path = format!("/me/logbook/time/{entry}");
    let seen = crate::desk::till::field(&later.get(&path).page(), "seen");
    assert_eq!(later.post(&format!("{path}/delete"), &[("seen", &seen)]).status, 303);
    site.advance(Duration::from_secs(2 * 86_400));
    tunneldesk::jobs::purge_all_expired(site.inside()).unwrap();
    let later = own_pages(&site, &site.again(&jane));
    assert_eq!((send(&later, jane.id, "4503599627370495", "12", &day), entries(&jane)), (204, 0), "deleted since");
}

#[test]
fn what_a_telephone_installs_is_nobodys_and_the_worker_has_the_own_pages_alone() {
    let site = Site::open();
    let stranger = Clerk::outside(&site);
    let manifest = stranger.get("/app/manifest.json").ok();
    assert_eq!(manifest.header("content-type"), Some("application/manifest+json"));
    let manifest: serde_json::Value = serde_json::from_slice(&manifest.body).unwrap();
    assert_eq!((&manifest["start_url"], &manifest["scope"]), (&json!("/me"), &json!("/me")));
    let icon = stranger.get(manifest["icons"][0]["src"].as_str().unwrap()).ok();
    assert!(icon.body.starts_with(b"\x89PNG") && manifest["icons"][0]["sizes"] == "512x512");
    let worker = stranger.get("/app/worker.js").ok();
    assert_eq!(worker.header("service-worker-allowed"), Some("/me"));
    let script = String::from_utf8(worker.body).unwrap();
    assert!(script.starts_with("const SCOPE = '/me', OFFLINE_PAGE = '/app/away', VERSION = '/me /assets/page."));
    assert_eq!(stranger.get("/kiosk/worker.js").ok().header("service-worker-allowed"), Some("/kiosk"));
    let jane = own_pages(&site, &site.member("jane"));
    for path in ["/me", "/me/logbook", "/me/card", "/me/papers"] {
        assert_eq!(jane.get(path).header("cache-control"), Some("no-store"), "{path}: other caches keep nothing");
    }
}

/// A member signs in on a telephone, which has kept the pages afterwards.
fn sign_in(browser: &Browser, network: &Network, who: &Caller) {
    browser.go(&format!("{}/me/sign-in", network.origin()));
    let fill = "const [name, password] = arguments, form = document.forms[0];
                form.username.value = name; form.password.value = password; form.requestSubmit()";
    browser.run(fill, json!([who.name, PASSWORD]));
    browser.wait("return location.pathname === '/me' && !!document.body.dataset.member");
    browser.wait(
        "return Promise.all(['/me', '/me/card', '/me/logbook', '/me/logbook/time', '/me/papers'].map(kept.page))
         .then(pages => pages.every(page => page?.member === document.body.dataset.member))",
    );
}

fn type_flight(browser: &Browser, minutes: u64, day: &str, comment: &str) {
    let fill = "const [minutes, day, comment] = arguments, form = document.querySelector('form[data-keeps]');
                form.minutes.value = minutes; form.date.max = ''; form.date.value = day; form.comment.value = comment;
                form.requestSubmit()";
    browser.run(fill, json!([minutes.to_string(), day, comment]));
}

const TAKEN: &str =
    "return location.search === '?done=logged' || !!document.querySelector('#waiting:not([hidden]) li')";
const NOTHING_WAITS: &str = "return kept.waiting(document.body.dataset.member).then(all => !all.length)";

#[test]
fn without_network_the_last_visit_is_shown_with_its_age_until_it_ends() {
    let site = Site::open();
    let jane = site.flyer("jane");
    let (network, browser) = (Network::to(&site), Browser::open());
    sign_in(&browser, &network, &jane);
    let open = |path: &str| browser.go(&format!("{}{path}", network.origin()));
    // A PIN and a kiosk's code are shown and not kept.
    open("/me/card");
    browser.run("document.querySelector('form[action$=\"/code\"]').requestSubmit()", json!([]));
    browser.wait("return document.querySelectorAll('.code-picture').length === 2");
    network.set(State::Lost);
    for (path, shows) in [("/me", "Sign out"), ("/me/logbook", "Add flight time"), ("/me/papers", "as PDF")] {
        open(path);
        browser.wait("return document.getElementById('kept')?.hidden === false");
        let text = browser.text();
        assert!(text.contains("Without network: as of") && text.contains(shows), "{path}: {text}");
    }
    open("/me/card");
    let codes = browser.run("return document.querySelectorAll('.code-picture').length", json!([]));
    assert!(browser.text().contains(&jane.id.to_string()) && codes == 1, "the number and its QR: {}", browser.text());
    browser.run("document.querySelector('form[action$=\"/code\"]').requestSubmit()", json!([]));
    browser.wait("return document.getElementById('needs-network')?.hidden === false");
    open("/me/account");
    browser.wait("return document.body.innerText.includes('No network')");

    // Somewhere else the session is ended: the next answer ends what is kept.
    site.change(|tx| Ok(tx.run("DELETE FROM sessions WHERE member_id = ?1", [jane.id])?));
    network.set(State::Through);
    open("/me");
    browser.wait("return location.pathname === '/me/sign-in'");
    browser.wait("return kept.ages().then(ages => !Object.keys(ages).length)");
    network.set(State::Lost);
    open("/me");
    browser.wait("return document.body.innerText.includes('No network')");
    assert!(!browser.text().contains("jane"), "{}", browser.text());
}

#[test]
fn what_is_older_than_seven_days_is_shown_no_more() {
    let site = Site::open();
    let (network, browser) = (Network::to(&site), Browser::open());
    sign_in(&browser, &network, &site.flyer("jane"));
    let age = "const open = indexedDB.open('me'); return new Promise(done => { open.onsuccess = () => {
        const tx = open.result.transaction('pages', 'readwrite'), pages = tx.objectStore('pages');
        pages.getAll().onsuccess = ({ target }) => target.result.forEach(page => pages.put({ ...page, at: page.at - 8 * 86400000 }));
        tx.oncomplete = () => { open.result.close(); done(true); }; }; })";
    browser.wait(age);
    network.set(State::Lost);
    browser.go(&format!("{}/me", network.origin()));
    browser.wait("return document.body.innerText.includes('No network')");
}

#[test]
fn flight_time_typed_without_network_waits_visibly_and_arrives_once() {
    let site = Site::open();
    let jane = site.flyer("jane");
    let (network, browser) = (Network::to(&site), Browser::open());
    sign_in(&browser, &network, &jane);
    let open = |path: &str| browser.go(&format!("{}{path}", network.origin()));
    let day = day_before(&site);
    network.set(State::Lost);
    open("/me/logbook/time");
    type_flight(&browser, 11, &day, "first");
    browser.wait(TAKEN);
    open("/me");
    browser.wait("return document.getElementById('waiting')?.innerText.includes('11 min')");
    assert_eq!(comments(&site).get("first"), None);
    // The next request arrives, and its answer does not.
    network.set(State::AnswersLost);
    open("/me/logbook/time");
    type_flight(&browser, 12, &day, "second");
    browser.wait(TAKEN);
    network.set(State::Through);
    browser.run("dispatchEvent(new Event('online'))", json!([]));
    browser.wait(NOTHING_WAITS);
    let all = comments(&site);
    assert_eq!((all.get("first"), all.get("second")), (Some(&1), Some(&1)), "{all:?}");

    // What the site refuses is said, and stays until its owner throws it away.
    network.set(State::Lost);
    open("/me/logbook/time");
    type_flight(&browser, 700, &day, "too long");
    browser.wait(TAKEN);
    network.set(State::Through);
    open("/me");
    browser.wait("return document.getElementById('waiting')?.innerText.includes('Type 1 to 600 minutes')");
    browser.run("document.querySelector('#waiting button').click()", json!([]));
    browser.wait("return document.getElementById('waiting').hidden");
    assert_eq!(comments(&site).get("too long"), None);
}

#[test]
fn without_a_safe_connection_the_pages_work_and_offer_nothing_of_it() {
    let site = Site::open();
    let jane = site.flyer("jane");
    let (network, browser) = (Network::to(&site), Browser::open());
    browser.prepare("Object.defineProperty(window, 'isSecureContext', { value: false })");
    browser.go(&format!("{}/me/sign-in", network.origin()));
    assert_eq!(browser.run("return document.getElementById('install').hidden", json!([])), json!(true));
    let fill = "const [name, password] = arguments, form = document.forms[0];
                form.username.value = name; form.password.value = password; form.requestSubmit()";
    browser.run(fill, json!([jane.name, PASSWORD]));
    browser.wait("return location.pathname === '/me'");
    browser.go(&format!("{}/me/logbook/time", network.origin()));
    type_flight(&browser, 9, &day_before(&site), "plain");
    browser.wait("return location.search === '?done=logged'");
    assert_eq!(comments(&site).get("plain"), Some(&1));
    let workers = "return navigator.serviceWorker.getRegistrations().then(all => all.length === 0)";
    browser.wait(workers);
}

/// A telephone of the storm.
struct Telephone {
    network: Network,
    browser: Browser,
    /// Whose pages are open.
    member: usize,
}

impl Telephone {
    fn open(&self, path: &str) {
        self.browser.go(&format!("{}{path}", self.network.origin()));
    }

    /// Nothing of the others is shown, whatever the network is like.
    fn check_alone(&self, members: &[Caller; 2], round: u64) {
        self.network.set(State::Lost);
        for path in ["/me", "/me/logbook", "/me/card"] {
            self.open(path);
            let (text, other) = (self.browser.text(), &members[1 - self.member].name);
            assert!(!text.contains(other.as_str()), "round {round}: {path} shows {other}: {text}");
        }
    }

    /// Ends the visit, by a sign-out or from elsewhere, and lets the other member in.
    fn change_member(&mut self, site: &Site, members: &[Caller; 2], signs_out: bool) {
        self.network.set(State::Through);
        if signs_out {
            self.open("/me");
            self.browser.wait(NOTHING_WAITS);
            self.browser.run("document.querySelector('form[action=\"/me/sign-out\"]').requestSubmit()", json!([]));
        } else {
            site.change(|tx| Ok(tx.run("DELETE FROM sessions WHERE member_id = ?1", [members[self.member].id])?));
            self.open("/me");
        }
        self.browser.wait("return location.pathname === '/me/sign-in'");
        self.browser.wait("return kept.ages().then(ages => !Object.keys(ages).length)");
        self.member = 1 - self.member;
        sign_in(&self.browser, &self.network, &members[self.member]);
    }

    /// The member of the pages, or nobody where the session was ended from the other telephone.
    fn sign_in_again_if_needed(&self, members: &[Caller; 2]) {
        self.network.set(State::Through);
        self.open("/me");
        self.browser.wait("return location.pathname === '/me/sign-in' || !!document.body.dataset.member");
        if self.browser.path() == "/me/sign-in" {
            sign_in(&self.browser, &self.network, &members[self.member]);
        }
    }
}

#[test]
fn in_a_storm_of_lost_networks_nothing_is_lost_or_doubled_or_seen_by_others() {
    let number = |name: &str, otherwise| std::env::var(name).map_or(otherwise, |text| text.parse().expect("a number"));
    let (rounds, seed) = (number("TUNNELDESK_LOST_NETWORKS", ROUNDS), number("TUNNELDESK_SEED", 1));
    let site = Site::open();
    site.hash_small();
    let members = [site.flyer("jane"), site.flyer("xavier")];
    let mut state = seed;
    let mut below = |most: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let mut telephones = [0, 1].map(|member| {
        let telephone = Telephone { network: Network::to(&site), browser: Browser::open(), member };
        sign_in(&telephone.browser, &telephone.network, &members[member]);
        telephone
    });
    let day = day_before(&site);
    // Each comment, and whether its tab was still open when it was kept.
    let mut typed: Vec<(String, bool)> = Vec::new();
    for round in 0..rounds {
        let telephone = &mut telephones[below(2) as usize];
        telephone.sign_in_again_if_needed(&members);
        let network = [State::Through, State::Lost, State::AnswersLost][below(3) as usize];
        if below(3) > 0 {
            telephone.network.set(network);
        }
        telephone.open("/me/logbook/time");
        telephone.browser.wait("return !!document.querySelector('form[data-keeps]')");
        telephone.network.set(network);
        let comment = format!("{} {round}", members[telephone.member].name);
        type_flight(&telephone.browser, round % 600 + 1, &day, &comment);
        let stays_open = below(4) > 0;
        if stays_open {
            telephone.browser.wait(TAKEN);
        }
        typed.push((comment, stays_open));
        if below(2) == 0 {
            telephone.browser.go("about:blank");
        }
        telephone.check_alone(&members, round);
        if below(4) == 0 {
            telephone.sign_in_again_if_needed(&members);
            let signs_out = below(2) == 0;
            telephone.change_member(&site, &members, signs_out);
        }
    }
    // Whoever comes back finds what waits, and it is sent.
    for telephone in &mut telephones {
        for _ in 0..2 {
            telephone.sign_in_again_if_needed(&members);
            telephone.browser.wait(NOTHING_WAITS);
            telephone.change_member(&site, &members, true);
            telephone.browser.wait(NOTHING_WAITS);
        }
    }
    let arrived = comments(&site);
    for (comment, is_certain) in &typed {
        let count = arrived.get(comment).copied().unwrap_or(0);
        assert!(count == 1 || count == 0 && !is_certain, "seed {seed}: {comment:?} arrived {count} times: {arrived:?}");
    }
    let strays = "SELECT count(*) FROM entries e JOIN members m USING (member_id) WHERE comment <> '' AND comment NOT LIKE m.username || ' %'";
    assert_eq!(site.change(|tx| Ok(tx.get::<i64>(strays, [])?)), 0, "in another's logbook");
}
