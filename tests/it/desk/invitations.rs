//! Invitations of colleagues by an admin, by mail and on paper.

use super::{Clerk, demo};
use crate::harness::{Caller, Reply, Site, senders};
use serde_json::json;
use tunneldesk::domain::ids::MessageId;
use tunneldesk::keys::Purpose;
use tunneldesk::store::tables::outbox;

const SECRET: &str = "four dry socks in a row";
const PATH: &str = "/desk/site/invitations";

fn with_mail(is_demo: bool) -> Site {
    Site::open_with(|config| {
        config.demo = is_demo;
        config.mail = Some(senders::mail_to_nowhere());
    })
}

fn invite(clerk: &Clerk, number: &str, email: &str, role: &str) -> Reply {
    let fields = [("name", "Nora Ek"), ("email", email), ("role", role), ("language", "de"), ("number", number)];
    clerk.post(PATH, &fields)
}

/// The mails that invite, without those that tell the admins of it.
fn invitations(site: &Site) -> Vec<serde_json::Value> {
    site.mails().into_iter().filter(|mail| mail["template"] == "invitation").collect()
}

/// The code in the last mail that was sent.
fn mailed(site: &Site) -> String {
    let invitations = invitations(site);
    let mail = invitations.last().expect("a mail");
    assert_eq!(mail["recipient"], "nora@example.org");
    mail["values"]["token"].as_str().expect("a code").to_owned()
}

fn claim(site: &Site, code: &str, username: &str) -> Reply {
    Clerk::outside(site).post("/claim", &[("code", code), ("username", username), ("password", SECRET)])
}

fn opens(site: &Site, code: &str) -> bool {
    let page = Clerk::outside(site).get(&format!("/claim?code={code}"));
    assert!([200, 422].contains(&page.status), "{page}");
    page.status == 200
}

fn role(site: &Site, username: &str) -> Option<String> {
    let sql = "SELECT role FROM members WHERE username = ?1";
    site.change(|tx| Ok(tx.find(sql, [username])?))
}

fn deeds(site: &Site, action: &str) -> Vec<String> {
    let sql = "SELECT actor || ' ' || subject FROM audit WHERE action = ?1 ORDER BY seq";
    site.change(|tx| Ok(tx.list(sql, [action])?))
}

#[test]
fn an_invited_colleague_has_the_account_that_the_mail_names_once_and_sets_up_a_second_factor() {
    let site = with_mail(false);
    let admin = site.admin();
    // Outside the demo no clerk signs in by a password alone; this session is opened as after a second factor.
    let clerk = Clerk::outside(&site);
    clerk.cookies.borrow_mut().insert("desk".to_owned(), admin.token().to_owned());
    let reply = invite(&clerk, "7", "nora@example.org", "desk");
    assert_eq!(reply.header("location"), Some("/desk/site/users?done=invited"), "{reply}");
    assert_eq!(invite(&clerk, "7", "nora@example.org", "desk").status, 303);
    assert_eq!(invitations(&site).len(), 1, "a double click is one invitation");
    assert_eq!(role(&site, "nora.ek"), None, "there is no account before the code is used");
    let code = mailed(&site);
    let page = clerk.get("/desk/site/users").page();
    assert!(page.contains("Nora Ek") && page.contains("nora@example.org") && !page.contains(&code), "{page}");

    assert!(claim(&site, &code, "no").page().contains("role=\"alert\""), "a bad username");
    let weak = [("code", &*code), ("username", "nora"), ("password", "password1")];
    assert_eq!(Clerk::outside(&site).post("/claim", &weak).status, 422);
    assert_eq!(claim(&site, &code, &admin.name).status, 422, "the username is somebody's");
    assert!(opens(&site, &code), "nothing was used up by that");
    let done = claim(&site, &code, "nora.ek");
    assert!(done.status == 200 && done.page().contains("You can sign in now"), "{done}");
    assert_eq!(role(&site, "nora.ek").as_deref(), Some("desk"));
    assert!(!opens(&site, &code) && claim(&site, &code, "nora2").status == 422, "once");
    assert_eq!((deeds(&site, "staff.invited").len(), deeds(&site, "staff.joined").len()), (1, 1));

    let nora = Clerk::outside(&site);
    let first = nora.post("/desk/sign-in", &[("username", "nora@example.org"), ("password", SECRET)]);
    assert_eq!(first.header("location"), Some("/desk/sign-in/setup"), "the mailed code confirmed the address: {first}");
    assert_eq!(nora.get("/desk").status, 303, "nothing opens before the second factor");
}

#[test]
fn a_printed_code_opens_one_account_and_expires_with_its_inviter() {
    let site = demo();
    let (admin, other) = (site.admin(), site.admin());
    let clerk = Clerk::at(&site, &admin);
    let mailed = invite(&clerk, "3", "nora@example.org", "desk");
    assert!(
        mailed.status == 422 && mailed.page().contains("No mail server"),
        "mail would wait for whoever reads it: {mailed}"
    );
    let paper = invite(&clerk, "4", "", "admin");
    assert_eq!((paper.status, paper.header("content-type")), (200, Some("application/pdf")), "{paper}");
    assert!(paper.body.starts_with(b"%PDF"));
    let known = |code: &str| {
        // Only the paper has the code. The database has its hash, which the test replaces.
        let hash = site.inside().keys.hash(Purpose::AccountClaim, &[code.replace('-', "").as_bytes()]);
        let sql =
            "UPDATE invitations SET code_hash = ?1 WHERE invitation_id = (SELECT max(invitation_id) FROM invitations)";
        site.change(|tx| Ok(tx.run(sql, [&hash[..]])?));
    };
    known("0123-4567-89ab");
    assert!(opens(&site, "0123-4567-89ab") && opens(&site, "0123456789AB"));
    // Printing again makes a new code, and the old paper is void.
    assert_eq!(invite(&clerk, "4", "", "admin").status, 200);
    assert!(!opens(&site, "0123-4567-89ab"));
    known("0123-4567-89ab");
    // An invitation is void once its inviter is no longer an admin.
    let set = |who: &Caller, role: &str| {
        let given = Clerk::at(&site, &other).post("/desk/site/users", &[("member", &who.name), ("role", role)]);
        assert_eq!(given.status, 303, "{given}");
    };
    set(&admin, "desk");
    assert!(!opens(&site, "0123-4567-89ab") && claim(&site, "0123-4567-89ab", "nora.ek").status == 422);
    assert!(!Clerk::at(&site, &other).get("/desk/site/users").page().contains("Nora Ek"), "what is void is not listed");
    set(&admin, "admin");
    assert!(!opens(&site, "0123-4567-89ab"), "what was void stays void");
    let clerk = Clerk::at(&site, &admin);
    assert_eq!(invite(&clerk, "5", "", "admin").status, 200);
    known("0123-4567-89ab");
    assert!(opens(&site, "0123-4567-89ab"));
    site.advance(std::time::Duration::from_secs(8 * 86_400));
    assert!(!opens(&site, "0123-4567-89ab") && claim(&site, "0123-4567-89ab", "nora.ek").status == 422);
    assert_eq!(role(&site, "nora.ek"), None);
}

#[test]
fn an_invitation_is_withdrawn_replaced_and_never_a_second_account_of_an_address() {
    let site = with_mail(true);
    let (admin, jane) = (site.admin(), site.member("jane"));
    let clerk = Clerk::at(&site, &admin);
    let taken = invite(&clerk, "1", "JANE@example.com", "desk");
    let card = format!("/desk/members/{}", jane.id);
    assert!(taken.status == 422 && taken.page().contains(&card), "{taken}");
    for (name, role) in [("", "desk"), ("Nora", "sync"), ("Nora", "owner")] {
        let reply = clerk.post(PATH, &[("name", name), ("email", "nora@example.org"), ("role", role), ("number", "9")]);
        assert_eq!(reply.status, 422, "{name} {role}: {reply}");
    }
    let wrong = clerk.post(PATH, &[("name", "Nora"), ("email", "nora at"), ("role", "desk"), ("number", "9")]);
    assert!(wrong.status == 422 && wrong.page().contains("no e-mail address"), "{wrong}");
    // The refusal names the wrong field, and the other fields keep what was typed.
    let (long, email) = ("x".repeat(255), "nora@example.org");
    for (name, email, said) in [
        ("Nora Ek", &*format!("{long}@example.org"), "E-mail address: At most 254 characters are allowed"),
        (&*long, email, "Name: At most 100 characters are allowed"),
        ("Nora\u{7}Ek", email, "Name: Control characters are not allowed"),
    ] {
        let reply = clerk.post(PATH, &[("name", name), ("email", email), ("role", "admin"), ("number", "9")]);
        assert_eq!(reply.status, 422, "{reply}");
        let page = reply.page();
        assert!(page.contains(said) && page.contains("value=\"admin\" selected"), "{said}: {page}");
        assert!(page.contains("value=\"Nora Ek\"") || page.contains("value=\"nora@example.org\""), "{page}");
    }

    invite(&clerk, "2", "nora@example.org", "admin");
    let first = mailed(&site);
    invite(&clerk, "3", "Nora@Example.org", "member");
    let second = site.mails().last().unwrap()["values"]["token"].as_str().unwrap().to_owned();
    assert!(!opens(&site, &first) && opens(&site, &second), "the last word counts");
    let id: i64 = site.change(|tx| Ok(tx.get("SELECT invitation_id FROM invitations", [])?));
    let desk = Clerk::at(&site, &site.desk());
    assert_eq!(desk.post(&format!("{PATH}/{id}/withdraw"), &[]).status, 403);
    assert_eq!(invite(&desk, "5", "eve@example.org", "member").status, 403, "a clerk invites nobody");
    assert_eq!(desk.get("/desk/site/users").status, 403);
    for _ in 0..2 {
        assert_eq!(clerk.post(&format!("{PATH}/{id}/withdraw"), &[]).status, 303);
    }
    assert!(!opens(&site, &second) && deeds(&site, "staff.invitation_withdrawn").len() == 1);

    // Another person signs up with the address meanwhile and confirms it: no second account is made.
    invite(&clerk, "6", "nora@example.org", "member");
    let code = mailed(&site);
    let same = site.member("nora");
    let sql = "UPDATE members SET email = 'nora@example.org' WHERE member_id = ?1";
    site.change(|tx| Ok(tx.run(sql, [same.id])?));
    assert_eq!(claim(&site, &code, "nora.ek").status, 422);
    assert_eq!(role(&site, "nora.ek"), None);
    site.change(|tx| Ok(tx.run("UPDATE members SET email = 'other@example.org' WHERE member_id = ?1", [same.id])?));
    assert_eq!(claim(&site, &code, "nora.ek").header("location"), Some("/me?done=claimed"));
    assert_eq!(role(&site, "nora.ek").as_deref(), Some("member"), "who signs does so by the logbook");
}

#[test]
fn the_desk_cannot_read_a_mailed_invitation() {
    let site = with_mail(true);
    let (admin, desk) = (Clerk::at(&site, &site.admin()), Clerk::at(&site, &site.desk()));
    invite(&admin, "2", "nora@example.org", "admin");
    let (code, id): (String, i64) = (mailed(&site), 1);
    site.change(|tx| Ok(outbox::set_dead(tx, MessageId(id), "550 no such mailbox")?));
    for clerk in [&desk, &admin] {
        let reply = clerk.post(&format!("/desk/messages/{id}/read"), &[]);
        assert!(reply.status == 403 && !String::from_utf8_lossy(&reply.body).contains(&code), "{reply}");
        let page = clerk.get("/desk/messages?box=dead").page();
        assert!(!page.contains(&code) && !page.contains(&format!("/{id}/read\"")), "{page}");
    }
    assert_eq!(site.holds_text(&code), Vec::<String>::new(), "the code is in the sealed mail alone");
    let copy = json!({ "username": "nora@example.org", "password": SECRET });
    assert_eq!(site.stranger().post("/auth/login", copy).ok_json()["status"], false);
}

#[test]
fn a_stranger_who_signed_up_with_a_colleague_s_address_gets_none_of_the_rights() {
    let site = with_mail(true);
    let clerk = Clerk::at(&site, &site.admin());
    let stranger = json!({ "username": "mallory", "password": SECRET, "email": "nora@example.org", "real_name": "M", "terms": true });
    site.stranger().post("/auth/signup", stranger).ok();
    assert_eq!(invite(&clerk, "1", "nora@example.org", "admin").status, 303, "the stranger's word hinders nobody");
    let typed = |member: &str| clerk.post("/desk/site/users", &[("member", member), ("role", "admin")]);
    let refused = typed("nora@example.org");
    assert!(refused.status == 422 && refused.page().contains("Nobody has confirmed this address"), "{refused}");
    assert!(!site.try_shell(&["member", "set-role", "nora@example.org", "desk"]));
    assert!(!site.try_shell(&["signer", "add", "nora@example.org", "Instructor", "--first", "1"]));
    assert_eq!(role(&site, "mallory").as_deref(), Some("member"));
    assert_eq!(claim(&site, &mailed(&site), "nora.ek").status, 200);
    assert_eq!(role(&site, "nora.ek").as_deref(), Some("admin"));
    assert!(site.try_shell(&["member", "set-role", "nora@example.org", "desk"]), "the address is Nora's by now");
    assert_eq!((role(&site, "nora.ek").as_deref(), role(&site, "mallory").as_deref()), (Some("desk"), Some("member")));
    assert_eq!(typed("mallory").status, 303, "an admin who means this account names it");
}
