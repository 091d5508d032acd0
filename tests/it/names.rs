//! Names are kept in one form of Unicode, whichever way they come in.

use crate::desk::kiosk::paired;
use crate::desk::till::field;
use crate::desk::{Clerk, demo};
use crate::harness::{Caller, PASSWORD, Site};
use serde_json::json;
use std::io::Write;

/// As some keyboards and files write it: a letter, and its accent behind it.
const TYPED: &str = "Jo\u{308}rg Zoe\u{301}";
const KEPT: &str = "J\u{f6}rg Zo\u{e9}";

/// Enters the name in one way, under this username or address.
type Way = fn(&Site, &Clerk, &str);

const WAYS: [(&str, Way); 8] = [
    ("sign-up", |site, _, name| {
        let body = json!({ "username": name, "real_name": TYPED, "screen_name": TYPED, "password": PASSWORD, "terms": true,
            "email": format!("{name}@example.org") });
        site.stranger().post("/auth/signup", body).ok();
    }),
    ("profile", |site, _, name| {
        let body = json!({ "username": name, "real_name": TYPED, "screen_name": TYPED, "verify_password": PASSWORD,
            "tunnel": Site::TUNNEL_ID.to_string() });
        site.member(name).put("/account/profile/user", body).ok();
    }),
    ("command", |site, _, name| {
        site.shell(&["member", "add", name, "--email", &format!("{name}@example.org"), "--name", TYPED]);
    }),
    ("list", |site, _, name| {
        let mut list = tempfile::NamedTempFile::new().expect("a file for the list");
        write!(list, "username,real_name,screen_name,email\n{name},{TYPED},{TYPED},{name}@example.org\n").unwrap();
        site.shell(&["import", "members", &list.path().to_string_lossy()]);
    }),
    ("list of changes", |site, _, name| {
        site.shell(&["member", "add", name, "--email", &format!("{name}@example.org"), "--confirmed"]);
        let mut list = tempfile::NamedTempFile::new().expect("a file for the list");
        write!(list, "username,real_name,email\n{name},{TYPED},{name}@example.org\n").unwrap();
        site.shell(&["import", "members", &list.path().to_string_lossy(), "--update"]);
    }),
    ("new member at the desk", |_, clerk, _| {
        let number = field(&clerk.get("/desk/new-member").page(), "number");
        let form = [("real_name", TYPED), ("terms", "1"), ("number", &*number), ("language", "de")];
        let reply = clerk.post("/desk/new-member", &form);
        assert_eq!(reply.status, 303, "{reply}");
    }),
    ("card at the desk", |site, clerk, name| {
        let member = site.member(name);
        let form = [
            ("real_name", TYPED),
            ("screen_name", TYPED),
            ("email", &*format!("{name}@example.com")),
            ("phone", ""),
            ("dob", ""),
        ];
        let reply = clerk.post(&format!("/desk/members/{}/edit", member.id), &form);
        assert_eq!(reply.status, 303, "{reply}");
    }),
    ("kiosk", |site, _, name| {
        let kiosk = paired(site);
        let number = field(&kiosk.get("/kiosk/join").page(), "number");
        let email = format!("{name}@example.org");
        let form = [
            ("real_name", TYPED),
            ("email", &*email),
            ("day", "1"),
            ("month", "12"),
            ("year", "1995"),
            ("terms", "1"),
            ("number", &*number),
        ];
        let reply = kiosk.post("/kiosk/join", &form);
        assert_eq!(reply.status, 200, "{reply}");
    }),
];

fn kept(site: &Site) -> i64 {
    site.change(|tx| Ok(tx.get("SELECT count(*) FROM members WHERE real_name = ?1", [KEPT])?))
}

#[test]
fn a_name_has_one_form_whichever_way_it_comes_in() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.admin());
    for (number, (way, enter)) in WAYS.iter().enumerate() {
        enter(&site, &clerk, &format!("joerg{number}"));
        assert_eq!(kept(&site), number as i64 + 1, "{way}");
    }
    // Names of others than members.
    site.shell(&["partner", "add", TYPED]);
    let invited = [("name", TYPED), ("email", ""), ("role", "desk"), ("language", "de"), ("number", "77")];
    assert_eq!(clerk.post("/desk/site/invitations", &invited).status, 200, "the code on paper");
    let contact =
        json!({ "name": TYPED, "email": "joerg@example.org", "country": "CH", "enquiry": TYPED, "message": TYPED });
    site.stranger().post("/public/contact", contact).ok();
    // Whole names: two bytes alone stand in a sealed value by chance.
    for typed in TYPED.split(' ') {
        assert_eq!(site.holds_text(typed), [""; 0], "{typed:?}");
    }
    assert_ne!(site.holds_text(KEPT), [""; 0]);
}

#[test]
fn a_member_is_shown_by_the_name_that_was_meant() {
    let site = Site::open();
    let jane: Caller = site.member("jane");
    let body = json!({ "username": "jane", "real_name": TYPED, "screen_name": TYPED, "verify_password": PASSWORD,
        "tunnel": Site::TUNNEL_ID.to_string() });
    jane.put("/account/profile/user", body).ok();
    assert_eq!(jane.get("/account/profile/user").ok().json()["real_name"], KEPT);
}
