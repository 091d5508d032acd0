//! The contact form.

use crate::harness::{Caller, Credential, Reply, Site};
use http::Method;
use serde_json::{Value, json};
use tunneldesk::domain::ids::MemberId;
use tunneldesk::moment::Moment;
use tunneldesk::store::tables::contact::{self, Message};

const CONTACT: &str = "/public/contact";
const DESK: &str = "desk@windwerk.example";

fn site() -> Site {
    Site::open_with(|config| config.contact_to = Some(DESK.to_owned()))
}

fn form() -> Value {
    json!({ "name": "Ann Other", "email": "Ann@example.com", "message": "Do you open on Sundays?\nWe are four." })
}

fn with(field: &str, value: impl Into<Value>) -> Value {
    let mut form = form();
    form[field] = value.into();
    form
}

fn messages(site: &Site) -> Vec<Message> {
    site.change(|tx| Ok(contact::list(tx, true, 100, 0)?))
}

fn latest(site: &Site) -> Message {
    messages(site).remove(0)
}

#[test]
fn a_message_is_kept_for_the_desk_and_passed_on() {
    let site = site();
    let mut whole = form();
    (whole["country"], whole["enquiry"], whole["member_id"]) = (json!("CH"), json!("A party"), json!("31"));
    let asking = site.stranger();
    let reply = asking.ask(Method::POST, CONTACT).header("~Accept-Language", "de-CH").json(&whole).send().ok();
    assert_eq!(
        reply.json(),
        json!({ "status": true, "message": "Danke für deine Nachricht. Wir antworten per E-Mail." })
    );
    let kept = latest(&site);
    assert_eq!(
        (&*kept.name, &*kept.email, &*kept.country, &*kept.enquiry),
        ("Ann Other", "Ann@example.com", "CH", "A party")
    );
    assert_eq!((&*kept.message, &*kept.language), ("Do you open on Sundays?\nWe are four.", "de"));
    assert_eq!(
        (kept.member_id, kept.signed_in, kept.created_at, kept.done_at),
        (Some(MemberId(31)), false, Moment(site.now()), None)
    );
    let [mail] = &site.mails()[..] else { panic!("{:?}", site.mails()) };
    assert_eq!((&mail["recipient"], &mail["template"]), (&json!(DESK), &json!("contact")));
    assert_eq!(mail["values"]["country"], "Schweiz");
    assert!(mail["values"]["member"].as_str().unwrap().contains("nach eigener Angabe"), "{mail}");
}

#[test]
fn without_a_configured_address_only_the_desk_has_the_message() {
    let site = Site::open();
    site.stranger().post(CONTACT, form()).ok();
    assert_eq!((messages(&site).len(), site.mails().len()), (1, 0));
}

#[test]
fn a_message_that_cannot_be_forwarded_is_not_stored() {
    let site = site();
    site.expects_faults();
    let trigger = "CREATE TRIGGER full BEFORE INSERT ON outbox BEGIN SELECT RAISE(ABORT, 'full'); END";
    site.change(|tx| Ok(tx.run(trigger, [])?));
    site.stranger().post(CONTACT, form()).refused(500);
    assert!(messages(&site).is_empty());
    site.change(|tx| Ok(tx.run("DROP TRIGGER full", [])?));
    site.stranger().post(CONTACT, form()).ok();
    assert_eq!((messages(&site).len(), site.mails().len()), (1, 1));
}

#[test]
fn every_bad_field_is_named_and_the_sender_can_write_no_header() {
    let site = site();
    let refused = |body: Value| site.stranger().post(CONTACT, body).refused(422).bad_fields();
    assert_eq!(refused(json!({})), ["name", "email", "message"]);
    assert_eq!(refused(json!({ "name": " ", "email": "ann", "message": "" })), ["name", "email", "message"]);
    for (field, value) in [
        ("name", json!("Ann\r\nBcc: all@example.com")),
        ("name", json!("n".repeat(101))),
        ("email", json!("ann@example.com\r\nBcc: all@example.com")),
        ("email", json!("ann@example.com, all@example.com")),
        ("email", json!("Ann <ann@example.com>")),
        ("message", json!("m".repeat(5_001))),
        ("message", json!("a\u{0}b")),
        ("country", json!("C\nH")),
        ("enquiry", json!("e".repeat(101))),
        ("member_id", json!("jane")),
    ] {
        assert_eq!(refused(with(field, value.clone())), [field], "{value}");
    }
    assert!(messages(&site).is_empty() && site.mails().is_empty());
    site.stranger().post(CONTACT, with("message", "ä".repeat(5_000))).ok();
}

#[test]
fn a_member_number_in_a_message_reveals_nothing() {
    let site = site();
    let jane = site.member("jane");
    let answers: Vec<Reply> = [json!(jane.id), json!(999_999), json!(0), json!(-1), json!(null)]
        .map(|member_id| site.stranger().post(CONTACT, with("member_id", member_id)).ok())
        .into();
    assert!(answers.iter().all(|reply| (reply.status, &reply.body) == (answers[0].status, &answers[0].body)));
    let kept: Vec<_> = messages(&site).iter().rev().map(|one| (one.member_id, one.signed_in)).collect();
    assert_eq!(
        kept,
        [
            (Some(MemberId(jane.id)), false),
            (Some(MemberId(999_999)), false),
            (None, false),
            (None, false),
            (None, false)
        ]
    );
}

#[test]
fn a_session_proves_who_wrote_and_no_number_beside_it_does() {
    let site = site();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let wrote = |caller: &Caller, member_id: Value| {
        caller.post(CONTACT, with("member_id", member_id)).ok();
        (latest(&site).member_id, latest(&site).signed_in)
    };
    assert_eq!(wrote(&jane, json!(null)), (Some(MemberId(jane.id)), true));
    assert_eq!(wrote(&jane, json!(jane.id)), (Some(MemberId(jane.id)), true));
    assert_eq!(wrote(&jane, json!(mark.id)), (Some(MemberId(mark.id)), false));
    let ended = jane.with(Credential::Token { header: "authorization", prefix: "Bearer ", token: "ended".to_owned() });
    assert_eq!(wrote(&ended, json!(jane.id)), (Some(MemberId(jane.id)), false));
}

#[test]
fn messages_are_limited_by_address_with_a_retry_after() {
    let site = Site::open_with(|config| config.limits.contacts_per_hour_per_address = 3);
    let send = || site.stranger().post(CONTACT, form());
    let keyed = || site.stranger().ask(Method::POST, CONTACT).header("idempotency-key", "k-1").json(&form()).send();
    keyed().ok();
    // Neither a repeat nor an invalid request counts.
    keyed().ok();
    site.stranger().post(CONTACT, json!({})).refused(422);
    send().ok();
    send().ok();
    let refused = send().refused(429);
    let wait: u64 = refused.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=1200).contains(&wait), "{wait}: one comes back every twenty minutes");
    keyed().ok();
    assert_eq!(messages(&site).len(), 3);
}

#[test]
fn handled_messages_are_purged_after_a_year() {
    let site = site();
    site.stranger().post(CONTACT, form()).ok();
    site.stranger().post(CONTACT, form()).ok();
    let done = latest(&site).contact_id;
    site.change(|tx| Ok(contact::set_done(tx, done)?));
    let year = std::time::Duration::from_secs(365 * 86_400);
    site.advance(year - std::time::Duration::from_secs(1));
    let purge_expired = || tunneldesk::jobs::purge_expired(&site.for_a_job()).unwrap();
    purge_expired();
    assert_eq!(messages(&site).len(), 2);
    site.advance(std::time::Duration::from_secs(1));
    purge_expired();
    let left = messages(&site);
    assert_eq!((left.len(), left[0].done_at), (1, None), "what nobody answered stays");
}
