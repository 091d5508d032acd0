//! The queue of sign-offs, and the actions on entries at the desk.

use super::{Clerk, HOSTILE, demo};
use crate::harness::{Caller, PASSWORD, Site};

/// A member, an instructor, and the entry that the member asked the instructor to sign.
pub fn asked(site: &Site) -> (Caller, Caller, i64) {
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    let entry = site.ask_for(&jane, "10101", &ines);
    (jane, ines, entry)
}

pub fn status(site: &Site, entry: i64) -> String {
    site.change(|tx| Ok(tx.get("SELECT status FROM entries WHERE entry_id = ?1", [entry])?))
}

#[test]
fn a_signer_signs_at_the_desk_with_their_own_password() {
    let site = demo();
    let (jane, ines, entry) = asked(&site);
    let clerk = Clerk::at(&site, &site.desk());
    let queue = clerk.get("/desk/sign-offs").page();
    assert!(queue.contains("<bdi>ines</bdi>") && queue.contains("<bdi>jane</bdi>"), "{queue}");
    let path = format!("/desk/sign-offs/{entry}");
    let page = clerk.get(&path).page();
    assert!(page.contains("name=\"username\" value=\"ines\"") && page.contains("waits for a signature"), "{page}");
    for (name, secret, said) in [
        ("ines", "wrong", "Wrong username or password"),
        ("nobody", PASSWORD, "Wrong username or password"),
        ("ines", "", "Type the signer"),
        ("jane", PASSWORD, "Nobody signs for themselves"),
    ] {
        let refused =
            clerk.post(&format!("{path}/sign"), &[("username", name), ("password", secret), ("comment", "good")]);
        assert!(refused.status == 422 && refused.page().contains(said), "{name}: {refused}");
        assert!(refused.page().contains(">good</textarea>"), "what was typed stays");
        assert_eq!(status(&site, entry), "pending");
    }
    let signed =
        clerk.post(&format!("{path}/sign"), &[("username", "ines"), ("password", PASSWORD), ("comment", "steady")]);
    let next = signed.header("location").unwrap().to_owned();
    assert!(next.starts_with("/desk/sign-offs?done=signed&entry="), "{signed}");
    let page = clerk.get(&next).page();
    assert!(page.contains("role=\"status\">Signed: ") && page.contains(", jane.</p>"), "whose and what: {page}");
    let rows = jane.get(&format!("/account/logbook/mobile/skills/{}", jane.id)).ok_json();
    assert_eq!(rows[0]["status"], "open");
    assert_eq!(
        (&rows[0]["instructor"], &rows[0]["comments_instructor"]),
        (&ines.id.to_string().into(), &"steady".into())
    );
    assert!(clerk.get("/desk/sign-offs").page().contains("No requests for a signature"));
    let again = clerk.post(&format!("{path}/sign"), &[("username", "ines"), ("password", PASSWORD)]);
    assert_eq!(again.status, 422, "{again}");
}

#[test]
fn levels_and_skills_are_named_in_the_readers_language() {
    let site = demo();
    let (jane, _, entry) = asked(&site);
    let clerk = Clerk::at(&site, &site.desk());
    let card = format!("/desk/members/{}", jane.id);
    let pages = ["", "/record", "/opening"].map(|page| format!("{card}{page}"));
    let of_entry = [
        "/desk/sign-offs".to_owned(),
        format!("/desk/sign-offs/{entry}"),
        format!("/desk/sign-several?entry={entry}-1"),
    ];
    for path in pages.iter().chain(&of_entry) {
        let page = clerk.get_in(path, "de").page();
        assert!(page.contains("lang=\"de\""), "{path}");
        for english in ["Hand signals", "Flyer Level 1"] {
            assert!(!page.contains(english), "{path}: {english} is not translated: {page}");
        }
        let translated = page.contains("Handzeichen, gesehen und beantwortet") || page.contains("Flieger Stufe 1");
        assert!(translated, "{path} names neither the level nor the skill: {page}");
    }
}

#[test]
fn a_request_whose_safety_brief_was_suspended_is_not_signed_at_the_desk() {
    let site = demo();
    let (jane, _, entry) = asked(&site);
    let sql = "UPDATE entries SET status = 'suspended' WHERE member_id = ?1 AND kind = 'safety'";
    site.change(|tx| Ok(tx.run(sql, [jane.id])?));
    let clerk = Clerk::at(&site, &site.desk());
    let proof = [("username", "ines"), ("password", PASSWORD)];
    let one = clerk.post(&format!("/desk/sign-offs/{entry}/sign"), &proof);
    let seen = format!("{entry}-1");
    let several = clerk.post("/desk/sign-several", &[("entry", &*seen), proof[0], proof[1]]);
    for refused in [one, several] {
        assert!(refused.status == 422 && refused.page().contains("A safety record comes first"), "{refused}");
    }
    assert_eq!(status(&site, entry), "pending");
}

#[test]
fn a_clerks_session_alone_cannot_sign() {
    let site = demo();
    let (_, _, entry) = asked(&site);
    let desk = site.desk();
    let clerk = Clerk::at(&site, &desk);
    let path = format!("/desk/sign-offs/{entry}/sign");
    assert_eq!(clerk.post(&path, &[]).status, 422);
    assert_eq!(clerk.post(&path, &[("username", &desk.name)]).status, 422);
    let refused = clerk.post(&path, &[("username", &desk.name), ("password", PASSWORD)]);
    assert!(refused.status == 422 && status(&site, entry) == "pending", "{refused}");
}

#[test]
fn a_signer_with_a_second_factor_needs_a_code() {
    let site = demo();
    let (_, ines, entry) = asked(&site);
    let protected = site.protect(&ines);
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/sign-offs/{entry}/sign");
    let due = clerk.post(&path, &[("username", "ines"), ("password", PASSWORD), ("comment", "ok")]);
    let page = due.page();
    assert!(due.status == 200 && page.contains("authenticator app") && status(&site, entry) == "pending", "{page}");
    let step = page.split("name=\"step\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    let send = |step: &str, code: &str| {
        clerk.post(&path, &[("step", step), ("code", code), ("by_app", "1"), ("username", "ines"), ("comment", "ok")])
    };
    assert!(send(&step, "000000").page().contains("That code is not right"));
    assert!(send("made up", &protected.authenticator.code(site.now())).page().contains("Begin again"));
    assert_eq!(status(&site, entry), "pending");
    assert_eq!(send(&step, &protected.authenticator.code(site.now())).status, 303);
    assert_eq!(status(&site, entry), "open");
}

#[test]
fn guessing_a_signers_password_is_delayed_like_sign_in() {
    let site = demo();
    let (_, _, entry) = asked(&site);
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/sign-offs/{entry}/sign");
    for _ in 0..6 {
        assert_eq!(clerk.post(&path, &[("username", "ines"), ("password", "wrong")]).status, 422);
    }
    let right = clerk.post(&path, &[("username", "ines"), ("password", PASSWORD)]);
    assert!(right.status == 422 && right.page().contains("Wrong username or password"), "{right}");
    assert_eq!(status(&site, entry), "pending");
    site.advance(std::time::Duration::from_secs(3600));
    assert_eq!(clerk.post(&path, &[("username", "ines"), ("password", PASSWORD)]).status, 303);
}

#[test]
fn an_entry_is_denied_suspended_and_reinstated() {
    let site = demo();
    let (jane, ines, entry) = asked(&site);
    let clerk = Clerk::at(&site, &site.desk());
    let admin = Clerk::at(&site, &site.admin());
    let path = format!("/desk/sign-offs/{entry}");
    let empty = clerk.post(&format!("{path}/deny"), &[("reason", " ")]);
    assert!(empty.status == 422 && empty.page().contains("Say why"), "{empty}");
    let proof = [("reason", HOSTILE), ("username", "ines"), ("password", PASSWORD)];
    assert_eq!(clerk.post(&format!("{path}/deny"), &proof).status, 303);
    let page = clerk.get(&path).page();
    assert!(page.contains("denied") && !page.contains("<img src=x") && page.contains("&#60;img src=x"), "{page}");
    let told = jane.get("/account/notifications").ok_json();
    assert!(told[0].to_string().contains("onerror"), "{told}");

    let entry = site.ask_for(&jane, "10101", &ines);
    let path = format!("/desk/sign-offs/{entry}");
    let signed = clerk.post(&format!("{path}/sign"), &[("username", "ines"), ("password", PASSWORD)]);
    assert_eq!(signed.status, 303, "{signed}");
    assert!(!clerk.get(&path).page().contains("Suspend skill"));
    assert_eq!(clerk.post(&format!("{path}/suspend"), &[]).status, 403);
    assert!(admin.get(&path).page().contains("Suspend skill"));
    assert_eq!(admin.post(&format!("{path}/suspend"), &[]).status, 303);
    assert_eq!(status(&site, entry), "suspended");
    assert_eq!(clerk.post(&format!("{path}/reinstate"), &[]).status, 403);
    assert_eq!(admin.post(&format!("{path}/reinstate"), &[]).status, 303);
    assert_eq!(status(&site, entry), "open");
    assert_eq!(clerk.get("/desk/sign-offs/999999").status, 404);
}

/// The version in a page's form of this action.
fn version_in(page: &str, action: &str) -> String {
    let form = page.split(&format!("{action}\"")).nth(1).expect(action).split("</form>").next().unwrap();
    form.split("name=\"version\" value=\"").nth(1).expect(form).split('"').next().unwrap().to_owned()
}

#[test]
fn an_entry_that_changed_since_the_page_was_opened_is_shown_again_and_not_signed() {
    let site = demo();
    let (jane, _, entry) = asked(&site);
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/sign-offs/{entry}");
    let page = clerk.get(&path).page();
    let version = version_in(&page, "/sign");
    assert_eq!((&version_in(&page, "/deny"), &version_in(&page, "/passkey")), (&version, &version));
    jane.put(&format!("/account/logbook/skills/{entry}"), serde_json::json!({"comment": "and 300 minutes"})).ok();
    let proof = [("username", "ines"), ("password", PASSWORD), ("comment", "steady")];
    // A page that is refused for another reason keeps the version that it showed first.
    let wrong = clerk.post(&format!("{path}/sign"), &[("username", "ines"), ("password", "x"), ("version", &version)]);
    assert_eq!(version_in(&wrong.page(), "/sign"), version);
    let refused = clerk.post(&format!("{path}/sign"), &[&proof[..], &[("version", &version)]].concat());
    let shown = refused.page();
    assert!(refused.status == 409 && shown.contains("was changed after it was shown"), "{refused}");
    assert!(shown.contains("and 300 minutes") && shown.contains(">steady</textarea>"), "{shown}");
    let denied = clerk.post(
        &format!("{path}/deny"),
        &[("reason", "too long"), ("version", &version), ("username", "ines"), ("password", PASSWORD)],
    );
    assert!(denied.status == 409 && denied.page().contains(">too long</textarea>"), "{denied}");
    assert_eq!(clerk.post(&format!("{path}/sign"), &proof).status, 409, "nor by a form without the version");
    assert_eq!(status(&site, entry), "pending");
    let version = version_in(&shown, "/sign");
    let signed = clerk.post(&format!("{path}/sign"), &[&proof[..], &[("version", &version)]].concat());
    assert_eq!(signed.status, 303, "{signed}");
    assert_eq!(status(&site, entry), "open");
}

#[test]
fn the_code_of_a_second_factor_signs_what_was_shown_with_the_password() {
    let site = demo();
    let (jane, ines, entry) = asked(&site);
    let protected = site.protect(&ines);
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/sign-offs/{entry}/sign");
    let version = version_in(&clerk.get(&format!("/desk/sign-offs/{entry}")).page(), "/sign");
    let page = clerk.post(&path, &[("username", "ines"), ("password", PASSWORD), ("version", &version)]).page();
    let step = page.split("name=\"step\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    jane.put(&format!("/account/logbook/skills/{entry}"), serde_json::json!({"skill": "10102"})).ok();
    let code = protected.authenticator.code(site.now());
    let carried = version_in(&page, "/sign");
    let late = clerk.post(&path, &[("step", &step), ("code", &code), ("by_app", "1"), ("version", &carried)]);
    assert!(late.status == 409 && status(&site, entry) == "pending", "{late}");
}

#[test]
fn a_queue_longer_than_a_page_counts_and_links_the_rest() {
    let site = demo();
    let (jane, ines) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.ask_for(&jane, "10101", &ines);
    let sql = "WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < 130)
               INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, cat_group, cat_id, skill,
                                    instructor_id, created_at, updated_at)
               SELECT e.member_id, e.kind, e.status, e.entry_date, 0, e.tunnel_id, e.author_id, e.cat_group, e.cat_id, e.skill,
                      e.instructor_id, e.created_at, e.updated_at FROM number, entries e WHERE e.member_id = ?1";
    site.change(|tx| Ok(tx.run(sql, [jane.id])?));
    let clerk = Clerk::at(&site, &site.desk());
    let rows = |page: &str| page.matches("<li id=\"e").count();
    let first = clerk.get("/desk/sign-offs").page();
    assert!(rows(&first) == 100 && first.contains("<a href=\"/desk/sign-offs?skip=100\">"), "{first}");
    assert!(first.contains("Show more (30)"), "{first}");
    let rest = clerk.get("/desk/sign-offs?skip=100").page();
    assert!(rows(&rest) == 30 && !rest.contains("wait behind these"), "{rest}");
}

#[test]
fn the_passkey_button_of_a_denial_does_not_say_that_it_signs() {
    let site = demo();
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    let entry = site.ask_for(&jane, "10101", &ines);
    let page = Clerk::at(&site, &site.desk()).get(&format!("/desk/sign-offs/{entry}")).page();
    let count = |words: &str| page.matches(&format!(">{words}</button>")).count();
    assert_eq!((count("Sign with a passkey"), count("Deny with a passkey")), (1, 1), "{page}");
}
