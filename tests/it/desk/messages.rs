//! Messages at the desk: reading out, retrying, and the contact form.

use super::{Clerk, HOSTILE, demo};
use crate::harness::{Site, senders};
use serde_json::json;
use tunneldesk::domain::ids::{MemberId, MessageId};
use tunneldesk::store::tables::{contact, suppressed};

/// Queues a passcode for a member who lost the password, and returns its message's number.
fn passcode(site: &Site) -> i64 {
    let jane = site.member("jane");
    let body = json!({ "username": jane.name, "option": "email" });
    site.stranger().post("/auth/account-access/recover-password", body).ok();
    site.change(|tx| Ok(tx.get("SELECT max(message_id) FROM outbox", [])?))
}

fn write(site: &Site) -> i64 {
    let new = contact::NewContactMessage {
        name: HOSTILE,
        email: "a\"><script>alert(1)</script>@example.org",
        country: HOSTILE,
        enquiry: HOSTILE,
        message: HOSTILE,
        language: "en",
        member_id: Some(MemberId(1)),
        signed_in: false,
    };
    site.change(|tx| Ok(contact::insert(tx, &new)?))
}

#[test]
fn a_passcode_is_shown_only_on_request_and_never_in_a_list() {
    let site = demo();
    let id = passcode(&site);
    let clerk = Clerk::at(&site, &site.desk());
    let list = clerk.get("/desk/messages?box=waiting").page();
    assert!(
        list.contains("Passcode for a lost password") && list.contains(&format!("/desk/messages/{id}/read")),
        "{list}"
    );
    let link = clerk.get(&format!("/desk/messages/{id}/read"));
    assert_eq!((link.status, link.header("location")), (303, Some("/desk/messages")), "a link reads nothing");
    let read = clerk.post(&format!("/desk/messages/{id}/read"), &[]);
    // Names of clerks and files contain digits too, so only the letter is searched.
    let page = read.page();
    let letter = page.split("class=\"letter\"").nth(1).unwrap_or_else(|| panic!("no letter: {read}"));
    let code = letter.split(|c: char| !c.is_ascii_digit()).find(|word| word.len() == 6);
    let code = code.unwrap_or_else(|| panic!("no code: {read}"));
    assert!(read.status == 200 && !list.contains(code), "{list}");
    assert_eq!(read.header("cache-control"), Some("no-store"));
    assert_eq!(clerk.post("/desk/messages/99999/read", &[]).status, 404);
}

#[test]
fn sent_messages_and_messages_in_delivery_cannot_be_read_out() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.mail = Some(senders::mail_to_nowhere());
    });
    let id = passcode(&site);
    let clerk = Clerk::at(&site, &site.desk());
    let refused = clerk.post(&format!("/desk/messages/{id}/read"), &[]);
    assert!(refused.status == 403 && refused.page().contains("on its way"), "{refused}");
}

#[test]
fn a_dead_message_is_retried_unless_its_address_bounced() {
    let site = demo();
    let id = passcode(&site);
    let clerk = Clerk::at(&site, &site.desk());
    let kill = || site.change(|tx| Ok(tunneldesk::store::tables::outbox::set_dead(tx, MessageId(id), HOSTILE)?));
    kill();
    let page = clerk.get("/desk/messages").page();
    assert!(
        page.contains("not deliverable") && page.contains("&#60;script&#62;") && !page.contains("<script>alert"),
        "{page}"
    );
    assert!(clerk.post(&format!("/desk/messages/{id}/retry"), &[]).header("location").unwrap().contains("done=again"));
    kill();
    assert!(clerk.post("/desk/messages/retry", &[]).header("location").unwrap().contains("done=again"));
    assert!(clerk.post("/desk/messages/retry", &[]).header("location").unwrap().contains("done=none"));
    kill();
    let address = site.change(|tx| Ok(tunneldesk::store::tables::outbox::find(tx, MessageId(id))?.unwrap().recipient));
    site.change(|tx| {
        let mark = suppressed::Suppression {
            address: address.clone(),
            reason: "hard_bounce".to_owned(),
            detail: HOSTILE.to_owned(),
            since: tx.now(),
        };
        Ok(suppressed::mark(tx, &mark)?)
    });
    let refused = clerk.post(&format!("/desk/messages/{id}/retry"), &[]);
    assert!(refused.status == 403 && refused.page().contains("Lift that first"), "{refused}");
    assert!(clerk.get("/desk/messages?box=marked").page().contains(&address));
    assert_eq!(clerk.post("/desk/messages/lift", &[("address", &address)]).status, 303);
    assert_eq!(clerk.post("/desk/messages/lift", &[("address", &address)]).status, 404);
    assert!(clerk.post(&format!("/desk/messages/{id}/retry"), &[]).header("location").unwrap().contains("done=again"));
}

#[test]
fn messages_of_the_contact_form_are_read_and_marked_as_done() {
    let site = demo();
    let id = write(&site);
    let clerk = Clerk::at(&site, &site.desk());
    for path in ["/desk/messages".to_owned(), format!("/desk/contact/{id}")] {
        let page = clerk.get(&path).page();
        assert!(page.contains("&#60;script&#62;alert(2)") && !page.contains("<script>alert"), "{path}: {page}");
    }
    let done = clerk.post(&format!("/desk/contact/{id}/done"), &[]);
    assert_eq!(done.status, 303, "{done}");
    assert!(!clerk.get(&format!("/desk/contact/{id}")).page().contains("/done\""));
    assert_eq!(clerk.get("/desk/contact/9999").status, 404);
}

#[test]
fn long_boxes_have_pages() {
    let site = demo();
    for _ in 0..51 {
        write(&site);
    }
    let clerk = Clerk::at(&site, &site.desk());
    let rows = |path: &str| clerk.get(path).page().matches("href=\"/desk/contact/").count();
    assert_eq!((rows("/desk/messages"), rows("/desk/messages?box=contact&offset=50")), (50, 1));
    assert!(clerk.get("/desk/messages").page().contains("offset=50"));
}
