//! Suppressed addresses, to which no more mail is sent.

use super::mail::{ADDRESS, mail_event, message, post, sent};
use super::*;
use std::time::Duration;
use tunneldesk::jobs::outbox::OutboxSender;
use tunneldesk::store::tables::suppressed;

fn reason(site: &Site, address: &str) -> Option<String> {
    site.change(|tx| Ok(suppressed::find(tx, address)?.map(|mark| mark.reason)))
}

/// The state of a queued mail after a run of the sender.
fn state(site: &Site, message_id: i64) -> (String, String) {
    OutboxSender::new(site.for_a_job()).unwrap().round(&|| false).unwrap();
    let message = message(site, message_id);
    (message.state, message.last_error)
}

fn listed(action: &str, at: i64) -> Value {
    json!([{ "type": "blacklist", "action": action, "ts": at, "reject": { "email": "Jane@Example.com", "reason": "hard-bounce" } }])
}

#[test]
fn five_kinds_of_event_mark_an_address_and_the_others_do_not() {
    for (kind, marks) in [
        ("hard_bounce", true),
        ("spam", true),
        ("unsub", true),
        ("reject", true),
        ("send", false),
        ("deferral", false),
        ("soft_bounce", false),
        ("open", false),
        ("click", false),
    ] {
        let site = Site::with_senders();
        post(&site, &json!([mail_event(kind, "unknown", site.now())])).ok();
        assert_eq!(reason(&site, "JANE@example.com"), marks.then(|| kind.to_owned()));
    }
    let site = Site::with_senders();
    post(&site, &listed("add", site.now())).ok();
    assert_eq!(reason(&site, ADDRESS).as_deref(), Some("blacklist"));
}

#[test]
fn mail_to_a_marked_address_is_dead_with_the_reason_and_still_says_something() {
    let site = Site::with_senders();
    sent(&site, "1.abc");
    let (hers, his) = (site.queue_mail("Jane@Example.com"), site.queue_mail("mark@example.com"));
    assert_eq!(state(&site, hers).0, "waiting");
    post(&site, &json!([mail_event("hard_bounce", "1.abc", site.now())])).ok();
    let (is, why) = state(&site, hers);
    assert!(is == "dead" && why.contains("hard_bounce") && why.contains("outbox lift"), "{is}: {why}");
    assert!(message(&site, hers).sealed.is_some(), "the desk can read it out");
    assert_eq!(state(&site, his).0, "waiting");
}

#[test]
fn our_own_spelling_of_the_address_is_marked_too() {
    let site = Site::with_senders();
    sent(&site, "1.abc");
    let mut bounce = mail_event("hard_bounce", "1.abc", site.now());
    bounce["msg"]["email"] = json!("jane@xn--bcher-kva.example");
    post(&site, &json!([bounce])).ok();
    assert!(reason(&site, ADDRESS).is_some() && reason(&site, "jane@xn--bcher-kva.example").is_some());
}

#[test]
fn an_address_has_one_mark_for_all_its_spellings_and_lifting_any_lifts_it() {
    let spellings = [
        "j\u{f6}rg@b\u{fc}cher.example",
        "JO\u{308}RG@BU\u{308}CHER.example",
        "J\u{d6}RG@xn--bcher-kva.example",
        "j\u{f6}rg@XN--BCHER-KVA.EXAMPLE",
    ];
    for lifted in spellings {
        let site = Site::with_senders();
        for (place, spelling) in spellings.iter().enumerate() {
            let mut bounce = mail_event("hard_bounce", &format!("{place}.abc"), site.now());
            bounce["msg"]["email"] = json!(spelling);
            post(&site, &json!([bounce])).ok();
        }
        let marks: Vec<String> = site.change(|tx| Ok(tx.list("SELECT address FROM suppressed", [])?));
        assert_eq!(marks, ["j\u{f6}rg@b\u{fc}cher.example"]);
        let mails = spellings.map(|spelling| site.queue_mail(spelling));
        for message_id in mails {
            let (is, why) = state(&site, message_id);
            assert!(is == "dead" && why.contains("hard_bounce"), "{message_id}: {is}: {why}");
        }
        site.change(|tx| Ok(suppressed::lift(tx, lifted, tx.now())?));
        for spelling in spellings {
            assert_eq!(reason(&site, spelling), None, "{spelling} when {lifted} was lifted");
        }
        let again = site.queue_mail(spellings[1]);
        assert_eq!(state(&site, again).0, "waiting");
    }
}

#[test]
fn a_mark_is_lifted_by_the_later_word_in_whatever_order_the_words_come() {
    let now = Site::with_senders().now();
    let (add, remove, again) = (listed("add", now - 30), listed("remove", now - 20), listed("add", now - 10));
    for (words, marked) in [
        (vec![&add, &remove], false),
        (vec![&remove, &add], false),
        (vec![&add, &remove, &again], true),
        (vec![&again, &remove, &add], true),
        (vec![&remove, &again, &add], true),
    ] {
        let site = Site::with_senders();
        words.iter().for_each(|word| drop(post(&site, word).ok()));
        assert_eq!(reason(&site, ADDRESS).is_some(), marked);
    }
}

#[test]
fn a_mark_of_the_future_does_not_outweigh_a_later_withdrawal() {
    for ahead in [2, 86_400, 30 * 365 * 86_400] {
        let site = Site::with_senders();
        let mut bounce = mail_event("hard_bounce", "1.abc", site.now() + ahead);
        bounce["msg"]["email"] = json!("jane@example.com");
        for (mark, removal) in [(json!([bounce]), 1), (listed("add", site.now() + ahead), 2)] {
            post(&site, &mark).ok();
            assert!(reason(&site, ADDRESS).is_some(), "{ahead}");
            site.advance(Duration::from_secs(removal));
            post(&site, &listed("remove", site.now())).ok();
            assert_eq!(reason(&site, ADDRESS), None, "{ahead}");
            site.advance(Duration::from_secs(1));
        }
        // A withdrawal of the future does not outweigh a later mark either.
        post(&site, &listed("remove", site.now() + ahead)).ok();
        site.advance(Duration::from_secs(1));
        post(&site, &listed("add", site.now())).ok();
        assert!(reason(&site, ADDRESS).is_some(), "{ahead}");
    }
}

#[test]
fn a_moment_of_the_future_that_an_earlier_version_stored_outweighs_nothing() {
    let site = Site::with_senders();
    let year = 365 * 86_400;
    for (since, lifted, is_marked) in
        [(year, None, true), (year, Some(-9), true), (2 * year, Some(year), true), (year, Some(2 * year), false)]
    {
        let sql = "INSERT OR REPLACE INTO suppressed (address, reason, since, lifted_at) VALUES (?1, 'spam', ?2, ?3)";
        let lifted = lifted.map(|ahead: i64| site.now() + ahead);
        site.change(|tx| Ok(tx.run(sql, (ADDRESS, tx.now() + since, lifted))?));
        assert_eq!(reason(&site, ADDRESS).is_some(), is_marked, "{since} {lifted:?}");
        site.advance(Duration::from_secs(1));
        for (nth, action) in ["add", "remove"].repeat(2).into_iter().skip(usize::from(is_marked)).take(2).enumerate() {
            // The provider's own list has no moments.
            post(&site, &if nth == 0 { listed(action, site.now()) } else { undated(action) }).ok();
            assert_eq!(reason(&site, ADDRESS).is_some(), action == "add", "{since} {lifted:?}");
            site.advance(Duration::from_secs(1));
        }
        site.advance(Duration::from_secs(1));
    }
}

/// An event of the provider's own suppression list, which has no time.
fn undated(action: &str) -> Value {
    json!([{ "type": "blacklist", "action": action, "reject": { "email": "Jane@Example.com", "reason": "hard-bounce" } }])
}

#[test]
fn a_listed_address_is_marked_also_where_the_provider_gives_no_moment() {
    let site = Site::with_senders();
    let said = |action: &str| post(&site, &undated(action)).ok().json()["repeated"].as_i64();
    for (action, repeated, marked) in [
        ("add", 0, true),
        ("add", 1, true),
        ("remove", 0, false),
        ("remove", 1, false),
        ("add", 0, true),
        ("add", 1, true),
        ("remove", 0, false),
    ] {
        assert_eq!(said(action), Some(repeated), "{action}");
        assert_eq!(reason(&site, ADDRESS).is_some(), marked, "{action}");
    }
    let batch: Vec<Value> =
        ["add", "remove", "add"].iter().flat_map(|word| undated(word).as_array().unwrap().clone()).collect();
    post(&site, &json!(batch)).ok();
    assert_eq!(reason(&site, ADDRESS).as_deref(), Some("blacklist"), "the last word of a batch counts");
    site.change(|tx| Ok(suppressed::lift(tx, ADDRESS, tx.now() + 60)?));
    assert_eq!((said("add"), reason(&site, ADDRESS)), (Some(1), None), "the desk lifted it");
}

#[test]
fn what_the_desk_lifted_is_not_marked_again_by_an_old_event() {
    let site = Site::with_senders();
    post(&site, &listed("add", site.now() - 10)).ok();
    site.change(|tx| Ok(suppressed::lift(tx, ADDRESS, tx.now())?));
    post(&site, &json!([mail_event("spam", "x", site.now() - 5)])).ok();
    assert_eq!(reason(&site, ADDRESS), None);
    let waiting = site.queue_mail(ADDRESS);
    assert_eq!(state(&site, waiting).0, "waiting");
    post(&site, &json!([mail_event("spam", "x", site.now() + 5)])).ok();
    assert_eq!(reason(&site, ADDRESS).as_deref(), Some("spam"));
}
