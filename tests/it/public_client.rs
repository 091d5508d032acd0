//! The one public client of the contract, rebuilt from the shapes that it reads: it knows the contract, the header
//! `token` and these names, and nothing else of this product.

use crate::harness::{Caller, Credential, PASSWORD, Reply, Site};
use http::Method;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::time::Duration;

/// The state that the client keeps between its calls.
struct Client<'a> {
    site: &'a Site,
    session: Caller,
    member_id: i64,
    /// The last answer for each path, with its `ETag`.
    known: HashMap<String, (String, Value)>,
    sign_ins: u32,
}

impl Client<'_> {
    fn open(site: &Site) -> Client<'_> {
        let mut client = Client { site, session: site.stranger(), member_id: 0, known: HashMap::new(), sign_ins: 0 };
        client.sign_in();
        client
    }

    fn sign_in(&mut self) {
        let body = json!({ "username": "jane", "password": PASSWORD });
        let answer = self.site.stranger().post("/auth/login", body).ok().json();
        let token = answer["token"].as_str().expect("login says `token`").to_owned();
        self.member_id = answer["member_id"].as_i64().expect("login says `member_id`");
        self.session = self.site.stranger().with(Credential::Token { header: "token", prefix: "", token });
        self.sign_ins += 1;
    }

    /// The answer for a path, from the client's cache if the server answers that nothing changed. After a 401 or 403
    /// the client signs in and tries again.
    fn get(&mut self, path: &str) -> Value {
        let mut reply = self.ask(path);
        if [401, 403].contains(&reply.status) {
            self.sign_in();
            reply = self.ask(path);
        }
        if reply.status == 304 {
            return self.known[path].1.clone();
        }
        let etag = reply.header("etag").expect("a GET carries an ETag").to_owned();
        let body = reply.ok_json();
        self.known.insert(path.to_owned(), (etag, body.clone()));
        body
    }

    fn ask(&self, path: &str) -> Reply {
        let asking = self.session.ask(Method::GET, path);
        match self.known.get(path) {
            Some((etag, _)) => asking.header("if-none-match", etag).send(),
            None => asking.send(),
        }
    }

    /// The rows of a list, which is an array.
    fn list(&mut self, path: &str) -> Vec<Value> {
        self.get(path).as_array().unwrap_or_else(|| panic!("{path} is no array")).clone()
    }
}

/// A site with Jane, who has a brief, Flyer 1, and two skills: one signed, one that waits for Ines.
fn site_with_jane() -> Site {
    let site = Site::open();
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    for skill in ["10001", "10101"] {
        let wish = json!({ "skill": skill, "entry_date": site.now(), "instructor": ines.id, "tunnel": "7" });
        let entry_id = jane.post("/account/logbook/skills/", wish).ok().json()["entry_id"].clone();
        ines.put(&format!("/account/logbook/skills/{entry_id}"), json!({ "status": "open" })).ok();
    }
    site.ask_for(&jane, "10102", &ines);
    site.hold(&jane, "Flyer", "1", "", site.now());
    site
}

#[test]
fn the_public_client_signs_in_reads_its_screens_and_logs_time() {
    let site = site_with_jane();
    let mut client = Client::open(&site);

    let profile = client.get("/account/profile/user");
    assert_eq!((&profile["username"], profile["member_id"].as_i64()), (&json!("jane"), Some(client.member_id)));
    let names = [
        "screen_name",
        "real_name",
        "email",
        "email_verified",
        "phone",
        "phone_verified",
        "country",
        "country_code",
        "dob",
        "tunnel",
        "tunnel_name",
        "tunnel_country",
        "role_name",
        "join_date",
        "last_flight",
        "currency_flyer",
        "currency_renewal_date_flyer",
    ];
    assert!(names.iter().all(|name| profile.get(name).is_some()), "{profile}");
    assert_eq!(profile["total_flight_time"], "0:10");
    assert!(profile["paymentData"]["paymentStatus"].is_string() && profile["paymentData"].get("nextDate").is_some());

    let member_id = client.member_id;
    let levels = client.get(&format!("/account/dashboard/flyer-skills-levels/{member_id}"));
    assert_eq!((&levels["level1"], &levels["static"]), (&json!("Yes"), &json!("No")));
    assert!(client.get("/account/notifications/requests")["count"].is_i64());

    let skills = client.list(&format!("/account/logbook/skills/open-suspended-not_current/{member_id}"));
    assert_eq!(skills.len(), 2, "the brief and the signed skill: {skills:?}");
    for row in &skills {
        assert!(row["id"].is_i64() && row["entry_date"].is_i64() && row["approval_date"].is_i64(), "{row}");
        for name in ["cat_name", "skill_name", "status", "instructor_name"] {
            assert!(row[name].as_str().is_some_and(|text| !text.is_empty()), "{name} of {row}");
        }
    }
    let tunnels = client.list("/account/logbook/tunnels/");
    for row in &tunnels {
        assert!(row["entry_id"].is_i64(), "{row}");
        for name in ["title", "country", "size", "manufacturer", "address", "address_city", "status"] {
            assert!(row[name].is_string(), "{name} of {row}");
        }
    }
    assert_eq!((&tunnels[0]["title"], &tunnels[0]["status"]), (&json!("Windwerk"), &json!("open")));

    let time = json!({
        "entry_id": "", "status": "open", "entry_date": site.now(), "tunnel": tunnels[0]["entry_id"].to_string(),
        "tunnel_name": tunnels[0]["title"], "comment": "two rounds", "time": "12",
    });
    client.session.post("/account/logbook/member/time/", time).ok();
    assert_eq!(client.get("/account/profile/user")["total_flight_time"], "0:22", "a new ETag: no answer of before");
}

#[test]
fn the_public_client_keeps_etags_and_signs_in_again_when_its_session_is_over() {
    let site = site_with_jane();
    let mut client = Client::open(&site);
    let paths = [
        "/account/profile/user".to_owned(),
        "/account/logbook/tunnels/".to_owned(),
        format!("/account/logbook/skills/open-suspended-not_current/{}", client.member_id),
        format!("/account/dashboard/flyer-skills-levels/{}", client.member_id),
    ];
    for path in &paths {
        let first = client.get(path);
        assert_eq!((client.ask(path).status, &client.get(path)), (304, &first), "{path}");
    }
    client.session.post("/auth/logout", json!({})).ok();
    let unknown = client.ask(&paths[0]);
    assert_eq!(unknown.status, 401, "{unknown}");
    let before = client.known[&paths[0]].1.clone();
    assert_eq!((client.get(&paths[0]), client.sign_ins), (before, 2));
}

/// The client as it meets refusals: an answer to a sign-in with a `token` in it counts as success, an empty one too, and after a 401 or
/// 403 it signs in and asks again, without end.
struct Stubborn<'a> {
    site: &'a Site,
    name: &'a str,
    password: &'a str,
    token: String,
    sign_ins: u32,
}

impl Stubborn<'_> {
    fn sign_in(&mut self) -> bool {
        self.sign_ins += 1;
        assert!(self.sign_ins <= SIGN_INS_MAX, "it goes on and on");
        let body = json!({
            "username": self.name, "password": self.password, "passcode": "", "enable2fa": false, "checkTwoFactor": true,
            "passcodeOption": "email",
        });
        let answer = self.site.stranger().post("/auth/login", body);
        let token = (answer.status == 200)
            .then(|| answer.json())
            .and_then(|said| Some(said.get("token")?.as_str()?.to_owned()));
        let is_success = token.is_some();
        self.token = token.unwrap_or_default();
        is_success
    }

    fn get(&mut self, path: &str) -> Option<Value> {
        if self.token.is_empty() && !self.sign_in() {
            return None;
        }
        loop {
            let token = self.token.clone();
            let caller = match token.is_empty() {
                true => self.site.stranger(),
                false => self.site.stranger().with(Credential::Token { header: "token", prefix: "", token }),
            };
            let reply = caller.get(path);
            match reply.status {
                401 | 403 => {
                    self.token.clear();
                    if !self.sign_in() {
                        return None;
                    }
                }
                status => return (200..=202).contains(&status).then(|| reply.json()),
            }
        }
    }
}

/// Sign-in requests of one client in ten minutes, whatever the refusal.
const SIGN_INS_MAX: u32 = 20;
/// When home automation asks again for what did not come, in seconds after the time before.
const ASKS_AGAIN_AFTER: [u64; 5] = [30, 60, 90, 120, 150];

#[test]
fn the_public_client_sends_few_sign_ins_whatever_it_is_refused_for() {
    let site = Site::open();
    let protected = site.protect(&site.member("paula"));
    for (name, password, what) in [
        (&*protected.member.name, PASSWORD, "a second factor that is due"),
        ("mark", "not the password", "a wrong password"),
    ] {
        if name == "mark" {
            site.member(name);
        }
        let mut client = Stubborn { site: &site, name, password, token: String::new(), sign_ins: 0 };
        for wait in [0].into_iter().chain(ASKS_AGAIN_AFTER) {
            site.advance(Duration::from_secs(wait));
            assert_eq!(client.get("/account/profile/user"), None, "{what}");
        }
        assert!(client.sign_ins >= 6, "{what} is asked for again: {}", client.sign_ins);
    }
    let jane = site.member("jane");
    site.advance(Duration::from_secs(3600));
    let mut client = Stubborn { site: &site, name: "jane", password: PASSWORD, token: "dead".to_owned(), sign_ins: 0 };
    assert_eq!(client.get("/account/profile/user").expect("a new token")["member_id"], jane.id);
    assert_eq!(client.sign_ins, 1, "a dead token costs one sign-in");
}

#[test]
fn a_member_with_more_than_five_thousand_entries_reads_them_whole_and_the_rest_by_the_link() {
    let site = Site::open();
    let jane = site.member("jane");
    site.brief(&jane, "Flyer");
    let sql = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 5001)
               INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, comment, author_id, cat_group,
                                    cat_id, skill, created_at, updated_at)
               SELECT ?1, ?2, 'open', ?3 - n * 60, 12, 7, 'Round ' || n || ', door to door', ?1, iif(?2 = 'skill', 'Flyer', ''),
                      iif(?2 = 'skill', '1', ''), iif(?2 = 'skill', '10101', ''), ?3, ?3 FROM number";
    for kind in ["time", "skill"] {
        site.change(|tx| Ok(tx.run(sql, (jane.id, kind, site.now()))?));
    }
    for (list, total) in [("time", 5_001), ("skills/open-suspended-not_current", 5_002)] {
        let path = format!("/account/logbook/{list}/{}", jane.id);
        let whole = jane.get(&path);
        let rows = whole.rows();
        assert_eq!((rows.len(), whole.total()), (5_000, total), "{list}");
        assert!(whole.body.len() < 3 * 1024 * 1024, "{list} has {} bytes", whole.body.len());
        let moment = |row: &Value| row["entry_date"].as_i64().unwrap();
        assert!(rows.is_sorted_by(|a, b| moment(a) >= moment(b)), "{list} is not newest first");
        let next = whole.header("link").and_then(|link| link.strip_prefix("</api")?.strip_suffix(">; rel=\"next\""));
        let rest = jane.get(next.expect("the list goes on"));
        assert_eq!((rest.rows().len() as i64, rest.header("link")), (total - 5_000, None), "{list}");
    }
}
