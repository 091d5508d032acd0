//! Several clerks at one browser: change of clerk by PIN, audit under the right name, and the clerk's own account.

use super::{Clerk, demo, level_in};
use crate::harness::{Caller, PASSWORD, Site};
use serde_json::json;
use std::time::Duration;
use tunneldesk::moment::Moment;

/// Signs in a further clerk in this browser.
fn beside(clerk: &Clerk, who: &Caller) {
    let reply =
        clerk.post("/desk/sign-in", &[("username", &who.name), ("password", PASSWORD), ("to", "/desk/members")]);
    assert_eq!((reply.status, reply.header("location")), (303, Some("/desk/members")), "{reply}");
}

fn change(clerk: &Clerk, to: &Caller, pin: &str) -> crate::harness::Reply {
    let number = to.id.to_string();
    clerk.post("/desk/sign-in/change", &[("member", number.as_str()), ("pin", pin), ("to", "/desk/members/1")])
}

/// The member of staff who entered flight time last.
fn author(site: &Site) -> i64 {
    site.change(|tx| Ok(tx.get("SELECT author_id FROM entries ORDER BY entry_id DESC LIMIT 1", [])?))
}

fn enter(clerk: &Clerk, member: &Caller) {
    let done = clerk.post(&format!("/desk/members/{}/time", member.id), &[("minutes", "5")]);
    assert_eq!(done.status, 303, "{done}");
}

#[test]
fn a_colleague_takes_over_on_the_same_page_by_pin_and_each_action_is_audited_under_the_right_name() {
    let site = demo();
    let (jane, ann, ben) = (site.member("jane"), site.desk(), site.desk());
    let (anns, bens) = (site.pin(&ann), site.pin(&ben));
    let clerk = Clerk::at(&site, &ann);
    enter(&clerk, &jane);
    assert_eq!(author(&site), ann.id);
    let page = clerk.get(&format!("/desk/members/{}", jane.id)).page();
    assert!(page.contains(&format!("/desk/sign-in/change?to=/desk/members/{}", jane.id)), "{page}");
    assert!(change(&clerk, &ben, &bens).page().contains("in full first"), "nobody comes by a PIN alone");
    beside(&clerk, &ben);
    enter(&clerk, &jane);
    assert_eq!(author(&site), ben.id);
    let done = change(&clerk, &ann, &anns);
    assert_eq!((done.status, done.header("location")), (303, Some("/desk/members/1")), "{done}");
    enter(&clerk, &jane);
    assert_eq!(author(&site), ann.id);
    assert_eq!(change(&clerk, &ben, &bens).status, 303);
    enter(&clerk, &jane);
    assert_eq!(author(&site), ben.id);
    let took: i64 = site.change(|tx| {
        let sql = "SELECT count(*) FROM audit WHERE action = 'staff.took_over' AND actor = 'member:' || ?1";
        Ok(tx.get(sql, [ben.id])?)
    });
    assert_eq!(took, 1);
    // Signing out ends only the clerk's own session; the colleague's session resumes.
    assert_eq!(clerk.post("/desk/sign-out", &[]).header("location"), Some("/desk/sign-in/change"));
    assert_eq!(clerk.get("/desk").status, 303, "nobody is signed in");
    assert_eq!(change(&clerk, &ben, &bens).status, 422, "the own session has ended");
    assert_eq!(change(&clerk, &ann, &anns).status, 303);
    assert_eq!(clerk.get("/desk").status, 200);
}

#[test]
fn a_parked_session_opens_nothing_without_its_owner() {
    let site = demo();
    let (ann, ben) = (site.desk(), site.desk());
    let clerk = Clerk::at(&site, &ann);
    let token = clerk.cookies.borrow()["desk"].clone();
    beside(&clerk, &ben);
    let stolen = Clerk::outside(&site);
    stolen.cookies.borrow_mut().insert("desk".to_owned(), token);
    assert_eq!(stolen.get("/desk").status, 303, "the token of a session that waits is worth nothing");
    // In another browser the PIN is not valid.
    let pin = site.pin(&ann);
    assert_eq!(change(&Clerk::at(&site, &ben), &ann, &pin).status, 422);
}

#[test]
fn five_wrong_pins_end_parked_sessions() {
    let site = demo();
    let (ann, ben) = (site.desk(), site.desk());
    let pin = site.pin(&ann);
    let clerk = Clerk::at(&site, &ann);
    beside(&clerk, &ben);
    let wrong = if pin == "000000" { "000001" } else { "000000" };
    for _ in 0..4 {
        assert!(change(&clerk, &ann, wrong).page().contains("not right"));
    }
    assert!(change(&clerk, &ann, wrong).page().contains("Too many wrong PINs"));
    assert_eq!(change(&clerk, &ann, &pin).status, 422, "the right one comes too late");
    assert_eq!(clerk.get("/desk").status, 200, "who sits there goes on");
}

#[test]
fn a_pin_never_opens_an_admins_session_and_works_for_one_shift() {
    let site = demo();
    let (root, ben) = (site.admin(), site.desk());
    let (roots, bens) = (site.pin(&root), site.pin(&ben));
    let clerk = Clerk::at(&site, &root);
    beside(&clerk, &ben);
    let refused = change(&clerk, &root, &roots);
    assert!(refused.status == 422 && refused.page().contains("A PIN is not enough"), "{refused}");
    let ann = site.desk();
    beside(&clerk, &ann);
    site.advance(Duration::from_secs(11 * 3600));
    assert_eq!(clerk.get("/desk").status, 200);
    site.advance(Duration::from_secs(2 * 3600));
    let late = change(&clerk, &ben, &bens);
    assert_eq!(late.status, 422, "thirteen hours after the full sign-in: {late}");
}

#[test]
fn a_new_password_and_a_ban_end_parked_sessions() {
    let site = demo();
    let (ann, ben, root) = (site.desk(), site.desk(), site.admin());
    let pin = site.pin(&ann);
    let clerk = Clerk::at(&site, &ann);
    beside(&clerk, &ben);
    let admin = Clerk::at(&site, &root);
    assert_eq!(admin.post(&format!("/desk/members/{}/ban", ann.id), &[("reason", "gone")]).status, 303);
    assert_eq!(change(&clerk, &ann, &pin).status, 422);
}

#[test]
fn a_clerk_changes_the_credentials_of_their_own_account() {
    let site = demo();
    let ann = site.desk();
    let clerk = Clerk::at(&site, &ann);
    let page = clerk.get("/desk/account").page();
    assert!(page.contains("Change password") && page.contains("Make a PIN"), "{page}");
    let made = clerk.post("/desk/account/pin", &[]);
    assert!(made.status == 200 && made.page().contains("data-pin"), "{made}");
    let new = "dry towels, warm gloves";
    let send = |current: &str, wanted: &str, again: &str| {
        clerk.post("/desk/account/password", &[("current", current), ("password", wanted), ("again", again)])
    };
    for (current, wanted, again) in
        [("wrong", new, new), (PASSWORD, "short", "short"), (PASSWORD, new, "other"), ("", "", "")]
    {
        assert_eq!(send(current, wanted, again).status, 422, "{current} {wanted} {again}");
    }
    let other = Clerk::at(&site, &ann);
    assert_eq!(send(PASSWORD, new, new).header("location"), Some("/desk/account?done=password"));
    assert_eq!((clerk.get("/desk").status, other.get("/desk").status), (200, 303), "every other sign-in has ended");
    site.advance(Duration::from_secs(700));
    assert_eq!(clerk.post("/desk/account/pin", &[]).status, 403, "the proof is too old");
    assert!(clerk.get("/desk/account").page().contains("Confirm that it is you"));
    assert_eq!(clerk.post("/desk/prove", &[("prove_password", "wrong")]).status, 422);
    assert_eq!(clerk.post("/desk/prove", &[("prove_password", new)]).status, 303);
    assert_eq!(clerk.post("/desk/account/pin", &[]).status, 200);
}

#[test]
fn new_recovery_codes_need_a_code_of_the_app_and_are_shown_for_printing() {
    let site = Site::open();
    let ann = site.desk();
    let protected = site.protect(&ann);
    let clerk = Clerk::outside(&site);
    clerk.post("/desk/sign-in", &[("username", &ann.name), ("password", PASSWORD)]);
    let code = protected.authenticator.code(site.now());
    assert_eq!(clerk.post("/desk/sign-in/code", &[("code", &code), ("by", "app")]).status, 303);
    assert_eq!(clerk.post("/desk/account/recovery-codes", &[("code", "000000")]).status, 422);
    site.advance(Duration::from_secs(60));
    let code = protected.authenticator.code(site.now());
    let page = clerk.post("/desk/account/recovery-codes", &[("code", &code)]).page();
    assert!(page.matches("<li><code>").count() == 10 && page.contains("data-print"), "{page}");
    // The sheet names the clerk, the site and the date of the codes.
    let today =
        jiff::Timestamp::from_second(site.now()).unwrap().in_tz("UTC").unwrap().strftime("%-d %B %Y").to_string();
    for word in [&*ann.name, "Windwerk", &today, "Cross out each code"] {
        assert!(page.contains(word), "{word} is not in {page}");
    }
}

#[test]
fn the_staff_note_is_shown_to_staff_and_in_the_members_data_export_only() {
    let site = demo();
    let (jane, ann) = (site.member("jane"), site.desk());
    let clerk = Clerk::at(&site, &ann);
    let card = format!("/desk/members/{}", jane.id);
    assert_eq!(clerk.post(&format!("{card}/note"), &[("text", "lends her <b>helmet</b>")]).status, 303);
    assert!(clerk.get(&card).page().contains("lends her &#60;b&#62;helmet"));
    assert_eq!(clerk.post(&format!("{card}/note"), &[("text", &"x".repeat(1001))]).status, 422);
    let profile = jane.get("/account/profile/user").ok_json().to_string();
    assert!(!profile.contains("helmet"), "{profile}");
    let audit: String = site.change(|tx| {
        let sql = "SELECT detail FROM audit WHERE action = 'member.note_set' ORDER BY seq DESC LIMIT 1";
        Ok(tx.get(sql, [])?)
    });
    assert_eq!(audit, "{\"empty\":false}");
    let own = clerk.post(&format!("/desk/members/{}/note", ann.id), &[("text", "x")]);
    assert_eq!(own.status, 403, "{own}");
}

#[test]
fn a_members_data_can_be_corrected_and_a_new_address_takes_effect_once_confirmed() {
    let site = demo();
    let jane = site.member("jane");
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/members/{}/edit", jane.id);
    let send = |fields: &[(&str, &str)]| {
        let all = [("real_name", "Jane Flyer"), ("screen_name", "jane"), ("email", "jane@example.com")];
        clerk.post(&path, &[&all[..], fields].concat())
    };
    for wrong in [("real_name", ""), ("email", "no address"), ("phone", "12"), ("dob", "2090-01-01"), ("dob", "x")] {
        assert_eq!(send(&[wrong]).status, 422, "{wrong:?}");
    }
    let saved = send(&[("phone", "+41791234567"), ("dob", "1990-05-31")]);
    assert_eq!(saved.header("location"), Some(format!("/desk/members/{}?done=edited", jane.id).as_str()), "{saved}");
    let profile = || jane.get("/account/profile/user").ok_json();
    assert_eq!((&profile()["real_name"], &profile()["phone_verified"]), (&json!("Jane Flyer"), &json!(false)));
    let asked = send(&[("phone", "+41791234567"), ("dob", "1990-05-31"), ("email", "new@example.com")]);
    assert!(asked.header("location").unwrap().ends_with("done=address"), "{asked}");
    assert_eq!(profile()["email"], "jane@example.com", "not before it is confirmed");
    let mail = site.mails().pop().expect("a mail waits");
    assert_eq!((&mail["recipient"], &mail["template"]), (&json!("new@example.com"), &json!("confirm_email")));
    let token = mail["values"]["token"].as_str().unwrap().to_owned();
    jane.post("/auth/verify-email", json!({ "token": token })).ok();
    assert_eq!((&profile()["email"], &profile()["email_verified"]), (&json!("new@example.com"), &json!(true)));
}

#[test]
fn a_national_number_is_one_of_the_site_where_the_kept_country_code_is_none() {
    let site = demo();
    let jane = site.member("jane");
    // An earlier version kept any text.
    site.change(|tx| Ok(tx.run("UPDATE members SET country_code = 'ZZ' WHERE member_id = ?1", [jane.id])?));
    let fields = [("real_name", "Jane Flyer"), ("screen_name", "jane"), ("email", "jane@example.com")];
    let sent = [&fields[..], &[("phone", "079 123 45 67")]].concat();
    let saved = Clerk::at(&site, &site.desk()).post(&format!("/desk/members/{}/edit", jane.id), &sent);
    assert_eq!(saved.status, 303, "{saved}");
    assert_eq!(jane.get("/account/profile/user").ok_json()["phone"], "+41791234567");
}

#[test]
fn a_ban_with_a_reason_and_an_end_expires() {
    let site = demo();
    let jane = site.member("jane");
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/members/{}/ban", jane.id);
    assert_eq!(clerk.post(&path, &[("reason", "pushed"), ("until", "2001-01-01")]).status, 422);
    let day = tunneldesk::domain::local_time::TimeZone::UTC.date(Moment(site.now() + 3 * 86_400));
    assert_eq!(clerk.post(&path, &[("reason", "pushed"), ("until", &day)]).status, 303);
    let card = clerk.get(&format!("/desk/members/{}", jane.id)).page();
    assert!(card.contains("<bdi>pushed</bdi>"), "{card}");
    let banned = |site: &Site| -> bool {
        let sql = "SELECT banned_at IS NOT NULL FROM members WHERE member_id = ?1";
        site.change(|tx| Ok(tx.get(sql, [jane.id])?))
    };
    tunneldesk::jobs::purge_all_expired(site.inside()).unwrap();
    assert!(banned(&site), "not before its end");
    site.advance(Duration::from_secs(4 * 86_400));
    tunneldesk::jobs::purge_all_expired(site.inside()).unwrap();
    assert!(!banned(&site));
    let by: String = site.change(|tx| Ok(tx.get("SELECT actor FROM audit WHERE action = 'member.unbanned'", [])?));
    assert_eq!(by, "job:bans");
}

#[test]
fn the_shift_note_is_shown_above_today_until_it_is_dismissed() {
    let site = demo();
    let ann = site.desk();
    let clerk = Clerk::at(&site, &ann);
    assert_eq!(clerk.post("/desk/shift-note", &[("text", "Fan 2 <hums>")]).status, 303);
    let page = clerk.get("/desk").page();
    assert!(page.contains("Fan 2 &#60;hums&#62;") && page.contains(&ann.name), "{page}");
    assert_eq!(clerk.post("/desk/shift-note/dismiss", &[]).status, 303);
    assert!(!clerk.get("/desk").page().contains("hums"));
}

#[test]
fn logbook_and_certificates_are_printed_from_the_card() {
    let site = demo();
    let jane = site.flyer("jane");
    site.hold(&jane, "Flyer", "3", "Static", site.now());
    let clerk = Clerk::at(&site, &site.desk());
    let card = format!("/desk/members/{}", jane.id);
    let pdf = clerk.get(&format!("{card}/logbook.pdf"));
    assert_eq!((pdf.status, pdf.header("content-type")), (200, Some("application/pdf")));
    let page = clerk.get(&format!("{card}/certificates")).page();
    assert!(page.contains("Static Level 3"), "{page}");
    let german = clerk.get_in(&format!("{card}/certificates"), "de").page();
    assert!(german.contains("<p class=\"name\">Statik Stufe 3</p>"), "{german}");
    let paper = clerk.post(&format!("{card}/certificates"), &[("level", &level_in(&page))]);
    assert_eq!((paper.status, paper.header("content-type")), (200, Some("application/pdf")));
    assert_eq!(clerk.post(&format!("{card}/certificates"), &[("level", "0 99 Flyer Static")]).status, 404);
}
