//! A partner's webhooks at the desk: registered with a fresh proof, their secrets shown once, their state, and what is sent again.

use super::{Clerk, HOSTILE, demo};
use crate::harness::Site;
use tunneldesk::store::tables::partners;

/// An admin, and the path of a partner's webhooks.
fn scene(site: &Site) -> (Clerk, String) {
    let partner = site.partner();
    let id = site.change(|tx| Ok(partners::find(tx, partner.client_id())?.expect("it was made").partner_id));
    (Clerk::at(site, &site.admin()), format!("/desk/partners/{id}/webhooks"))
}

/// Changes webhooks as their job would.
fn run(site: &Site, sql: &str) {
    site.change(|tx| Ok(tx.run(sql, [])?));
}

fn secrets_in(page: &str) -> Vec<&str> {
    page.split("whsec_").skip(1).map(|rest| rest.split('<').next().unwrap()).collect()
}

#[test]
fn a_webhook_needs_a_fresh_proof_and_its_secret_is_shown_once() {
    let site = demo();
    let (admin, path) = scene(&site);
    let form =
        [("url", "https://partner.example/hook"), ("types", "booking.cancelled, booking.moved"), ("number", "7")];
    let rows = site.rows();
    run(&site, "UPDATE sessions SET proven_at = 0");
    assert_eq!(admin.post(&path, &form).status, 403, "a stolen cookie sends nothing elsewhere");
    assert_eq!(site.rows(), rows);
    site.prove_all();
    let made = admin.post(&path, &form);
    let page = made.page();
    assert_eq!(
        (made.status, made.header("cache-control"), secrets_in(&page).len()),
        (200, Some("no-store"), 1),
        "{page}"
    );
    assert_eq!(admin.post(&path, &form).status, 303, "the same form makes no second one");
    let page = admin.get(&path).page();
    assert!(
        page.contains("https://partner.example/hook") && page.contains("booking.cancelled,booking.moved"),
        "{page}"
    );
    assert!(page.contains("a test is under way") && secrets_in(&page).is_empty(), "{page}");
    let rotate = format!("{path}/1/secret");
    run(&site, "UPDATE sessions SET proven_at = 0");
    assert_eq!(admin.post(&rotate, &[("number", "8")]).status, 403);
    site.prove_all();
    let another = admin.post(&rotate, &[("number", "8")]);
    assert_eq!((another.status, secrets_in(&another.page()).len()), (200, 1), "{another}");
    assert_eq!(admin.post(&rotate, &[("number", "8")]).status, 303, "the page read again makes no third one");
    let log = admin.get("/desk/site/audit").page();
    assert!(log.contains("Registered a webhook") && log.contains("Gave a webhook another secret"), "{log}");
}

#[test]
fn what_cannot_be_a_webhook_is_refused_with_what_would_be_right() {
    let site = demo();
    let (admin, path) = scene(&site);
    let rows = site.rows();
    for (url, types, address, said) in [
        ("http://partner.example/", "", "", "begins with https://"),
        ("https://a:b@partner.example/", "", "", "before the @"),
        ("https://partner.example:0/", "", "", "from 1 to 65535"),
        ("https://partner.example/#here", "", "", "Leave out the #"),
        (HOSTILE, "", "", "begins with https://"),
        ("https://partner.example/", "booking.eaten", "", "There are: booking.recorded, booking.changed"),
        ("https://partner.example/", "notice.created", "", "no event that a partner hears of"),
        ("https://partner.example/", "", "my-server", "no IP address"),
        ("https://127.0.0.1/", "", "", "in a private network"),
        ("https://[::1]:8443/", "", "", "in a private network"),
        ("https://10.0.0.2/", "", "10.0.0.1", "in a private network"),
    ] {
        let refused = admin.post(&path, &[("url", url), ("types", types), ("address", address)]);
        assert!(refused.status == 422 && refused.page().contains(said), "{url} {types} {address}: {refused}");
        assert!(!refused.page().contains("<script>") && !refused.page().contains("<img src=x"), "{refused}");
    }
    assert_eq!(site.rows(), rows);
    for _ in 0..10 {
        assert_eq!(admin.post(&path, &[("url", "https://partner.example/")]).status, 200);
    }
    let refused = admin.post(&path, &[("url", "https://partner.example/")]);
    assert!(refused.status == 422 && refused.page().contains("at most 10"), "{refused}");
}

#[test]
fn a_webhook_shows_its_state_and_is_tested_sent_again_switched_off_and_ended() {
    let site = demo();
    let (admin, path) = scene(&site);
    admin.post(&path, &[("url", "https://partner.example/hook")]);
    let post = |deed: &str| admin.post(&format!("{path}/1/{deed}"), &[]);
    run(&site, "UPDATE hooks SET test_asked = 0, trouble = '302'");
    let page = admin.get(&path).page();
    assert!(page.contains("waits for its first test") && page.contains("The address answered 302."), "{page}");
    assert_eq!(post("again").status, 409, "nothing is sent before its test was taken");
    assert_eq!(post("test").header("location"), Some(&*format!("{path}?done=test")));
    assert!(admin.get(&path).page().contains("a test is under way"));
    run(&site, "UPDATE hooks SET test_asked = 0, trouble = '', ended_at = NULL, ended_as = NULL, taken_at = 1");
    assert!(admin.get(&path).page().contains("badge good\">works"));
    assert!(!admin.get("/desk").page().contains("Webhooks that need"));
    run(&site, "INSERT INTO hook_deliveries (hook_id, seq, booking_id, trouble) VALUES (1, 88, 12, 'too_large')");
    let today = admin.get("/desk").page();
    assert!(today.contains("Webhooks that need attention: 1") && today.contains(&path), "{today}");
    let page = admin.get(&path).page();
    assert!(page.contains("Booking 12, event 88: The event is larger than 20 KiB"), "{page}");
    assert_eq!(post("again").status, 303);
    let page = admin.get(&path).page();
    assert!(!page.contains("Booking 12") && !page.contains("Send again"), "{page}");
    assert_eq!(post("off").status, 303);
    let page = admin.get(&path).page();
    assert!(page.contains("switched off") && page.contains("Switch on"), "{page}");
    assert_eq!((post("off").status, post("again").status), (404, 303));
    run(&site, "UPDATE hooks SET ended_at = 1, ended_as = 'failing', trouble = 'late'");
    assert!(admin.get(&path).page().contains("nothing was taken for five days"));
    assert!(admin.get("/desk").page().contains("Webhooks that need attention: 1"));
    assert_eq!(post("remove").status, 303);
    assert!(admin.get(&path).page().contains("No webhook yet"));
    for deed in ["test", "again", "off", "secret", "remove"] {
        assert_eq!(post(deed).status, 404, "{deed}");
    }
    assert!(!admin.get("/desk").page().contains("Webhooks that need"));
}

#[test]
fn a_webhook_is_of_its_partner_and_for_admins() {
    let site = demo();
    let (admin, path) = scene(&site);
    let (_, other) = scene(&site);
    admin.post(&path, &[("url", "https://partner.example/hook")]);
    let clerk = Clerk::at(&site, &site.desk());
    let rows = site.rows();
    assert_eq!((clerk.get(&path).status, clerk.post(&path, &[("url", "https://a.example/")]).status), (403, 403));
    for deed in ["test", "again", "off", "secret", "remove"] {
        assert_eq!(clerk.post(&format!("{path}/1/{deed}"), &[]).status, 403, "{deed}");
        assert_eq!(admin.post(&format!("{other}/1/{deed}"), &[]).status, 404, "{deed} of another partner");
    }
    assert_eq!(site.rows(), rows);
}

#[test]
fn another_secret_while_two_are_in_force_wants_a_tick() {
    let site = demo();
    let (admin, path) = scene(&site);
    admin.post(&path, &[("url", "https://partner.example/hook")]);
    let secret = |fields: &[(&str, &str)]| admin.post(&format!("{path}/1/secret"), fields);
    assert!(!admin.get(&path).page().contains("end_older"));
    assert_eq!(secret(&[]).status, 200);
    assert!(admin.get(&path).page().contains("name=\"end_older\" value=\"1\" required"));
    let refused = secret(&[]);
    assert!(refused.status == 409 && refused.page().contains("Two secrets are in force"), "{refused}");
    assert_eq!(secret(&[("end_older", "1")]).status, 200);
}
