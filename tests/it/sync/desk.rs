//! A sync that an admin starts at the desk.

use super::receiver::{Fault, Receiver};
use super::*;
use crate::desk::Clerk;
use tempfile::NamedTempFile;

#[test]
fn an_admin_starts_a_sync_at_the_desk_and_sees_its_outcome() {
    let (receiver, secret) = (Receiver::open(), NamedTempFile::new().unwrap());
    let sync = https_settings(&receiver.url(), &secret);
    let site = Site::open_with(|config| {
        config.sync = Some(sync);
        config.demo = true;
    });
    add_rows(site.inside(), 1..=25);
    assert_eq!(Clerk::at(&site, &site.desk()).post("/desk/site/sync", &[]).status, 403);
    let admin = Clerk::at(&site, &site.admin());
    let before = admin.get("/desk/site").page();
    assert!(before.contains("Nothing has gone upstream yet.") && before.contains("Rows waiting: 25."), "{before}");
    let begun = admin.post("/desk/site/sync", &[]);
    assert_eq!(begun.header("location"), Some("/desk/site?done=begun#upstream"), "{begun}");
    let page = admin.settled("/desk/site");
    assert!(page.contains("Rows sent: 25.") && page.contains("everything up to row 25"), "{page}");
    assert_eq!(receiver.state().book.numbers(), (1..=25).collect::<Vec<_>>());
    receiver.will(&[Fault::Say(503, "", "")]);
    add_rows(site.inside(), 26..=26);
    admin.post("/desk/site/sync", &[]);
    let page = admin.settled("/desk/site");
    assert!(page.contains("The sync failed") && page.contains("Rows waiting: 1."), "{page}");
}

#[test]
fn without_a_receiver_the_page_names_the_setting() {
    let site = crate::desk::demo();
    site.expects_faults();
    let admin = Clerk::at(&site, &site.admin());
    assert!(admin.get("/desk/site").page().contains("Name a receiver under [sync]"));
    let refused = admin.post("/desk/site/sync", &[]);
    assert!(refused.status == 503 && refused.page().contains("Name a receiver under [sync]"), "{refused}");
}
