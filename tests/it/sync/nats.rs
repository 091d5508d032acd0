//! A real NATS server with JetStream that goes away, loses its stream, and requires authentication.

use super::book::{Book, unpack};
use super::broker::Broker;
use super::*;
use serde_json::json;
use tunneldesk::domain::audit::Actor;

/// A site with a NATS server, a stream, and twenty-five rows to send in batches of ten.
fn scene() -> (Broker, Site) {
    let broker = Broker::start("");
    broker.add_stream(json!({}));
    let site = site_with(nats_settings(broker.port));
    add_rows(site.inside(), 1..=25);
    (broker, site)
}

/// The rows that a reader of the stream has if it follows the rules.
fn read(broker: &Broker) -> Book {
    let mut book = Book::default();
    for message in broker.messages() {
        let (status, answer) = book.take(&message.body);
        assert_eq!(status, 200, "{answer}");
    }
    book
}

/// Asserts that the stream has every row once, in this many messages.
fn assert_whole(broker: &Broker, rows: i64, messages: usize) {
    assert_eq!(read(broker).numbers(), (1..=rows).collect::<Vec<_>>());
    assert_eq!(broker.messages().len(), messages);
}

#[test]
fn batches_are_messages_with_position_and_signature_headers() {
    let (broker, site) = scene();
    drain(&mut uploader(&site));
    assert_whole(&broker, 25, 3);
    let messages = broker.messages();
    let id = site.inside().site_id.clone();
    assert_eq!(messages[1].header("Nats-Msg-Id"), Some(&*format!("{id}:11-20")));
    assert_eq!(messages[1].header("Content-Encoding"), Some("gzip"));
    assert_eq!(messages[1].header("Tunneldesk-Last-Seq"), Some("20"));
    assert_eq!(unpack(&messages[1].body)["after"], 10);
    assert_eq!((status(&site).rows, status(&site).waiting_rows), (25, 0));
}

/// The server's window for duplicate message ids is short here; the check of the subject's order has no such limit.
#[test]
fn a_batch_that_was_stored_and_not_acknowledged_is_not_stored_twice() {
    let (broker, site) = scene();
    drain(&mut uploader(&site));
    // The process was killed before it recorded that the last two batches were stored, and the server has long
    // forgotten their ids.
    site.change(|tx| {
        let mut state = tunneldesk::store::tables::sync::find(tx)?;
        (state.cursor, state.held, state.pending) = (10, 10, 20);
        Ok(tunneldesk::store::tables::sync::replace(tx, &state)?)
    });
    let mut uploader = uploader(&site);
    add_rows(site.inside(), 26..=26);
    drain(&mut uploader);
    assert_whole(&broker, 26, 4);
}

/// The connection is closed while there is nothing to send.
#[test]
fn the_first_batch_after_a_pause_goes_at_once() {
    let (broker, site) = scene();
    let mut uploader = uploader(&site);
    drain(&mut uploader);
    uploader.disconnect();
    add_rows(site.inside(), 26..=26);
    assert_eq!(uploader.step(), Step::Moved(1), "{}", uploader.trouble());
    assert_whole(&broker, 26, 4);
}

/// A batch that was delayed arrives after its rows were sent in other batches. The server does not know its id.
#[test]
fn a_late_batch_is_refused_by_the_stream() {
    let broker = Broker::start("");
    broker.add_stream(json!({}));
    let mut settings = nats_settings(broker.port);
    settings.batch_rows = 5;
    let site = site_with(settings);
    add_rows(site.inside(), 1..=25);
    let mut late = uploader(&site);
    assert_eq!(late.step(), Step::Moved(5));
    let other =
        sync::upstream(&nats_settings(broker.port), &site.inside().site_id, site.inside().clock.clone()).unwrap();
    let source = Box::new(sync::SiteSource::new(site.for_a_job()));
    let mut other = Uploader::new(source, other, &nats_settings(broker.port), Default::default());
    assert_eq!(other.step(), Step::Moved(10));
    site.change(|tx| {
        let mut state = tunneldesk::store::tables::sync::find(tx)?;
        (state.cursor, state.held) = (5, 5);
        Ok(tunneldesk::store::tables::sync::replace(tx, &state)?)
    });
    drain(&mut late);
    let rows = |message: &broker::Stored| unpack(&message.body)["history"].as_array().unwrap().clone();
    let came: Vec<_> = broker.messages().iter().flat_map(rows).map(|row| row["seq"].as_i64().unwrap()).collect();
    assert_eq!(came, (1..=25).collect::<Vec<_>>());
}

#[test]
fn after_an_outage_nothing_is_lost_or_repeated() {
    let (mut broker, site) = scene();
    let mut uploader = uploader(&site);
    assert_eq!(uploader.step(), Step::Moved(10));
    broker.stop();
    add_rows(site.inside(), 26..=30);
    for _ in 0..3 {
        assert!(matches!(uploader.step(), Step::Wait(_)));
    }
    assert_eq!((status(&site).failed_tries, status(&site).waiting_rows), (3, 20));
    broker.restart("");
    drain(&mut uploader);
    assert_eq!(read(&broker).numbers(), (1..=30).collect::<Vec<_>>());
    assert_eq!(status(&site).trouble, "");
}

/// Messages are removed once they are read, or after a time: that is no reason to begin anew.
#[test]
fn a_stream_that_dropped_its_messages_gets_the_new_rows() {
    let (broker, site) = scene();
    let mut uploader = uploader(&site);
    drain(&mut uploader);
    let purged = broker.ask("$JS.API.STREAM.PURGE.HISTORY", &json!({}));
    assert_eq!(purged["success"], true, "{purged}");
    add_rows(site.inside(), 26..=30);
    for _ in 0..5 {
        uploader.step();
    }
    let bodies: Vec<_> = broker.messages().iter().map(|message| unpack(&message.body)["after"].clone()).collect();
    assert_eq!(bodies, [25]);

    // To send everything again, an operator rewinds the sync.
    broker.ask("$JS.API.STREAM.PURGE.HISTORY", &json!({}));
    assert_eq!(sync::rewind(site.inside(), &Actor::job("test"), 0).unwrap(), 30);
    drain(&mut super::uploader(&site));
    assert_eq!(read(&broker).numbers(), (1..=30).collect::<Vec<_>>());
}

#[test]
fn a_stream_that_has_lost_some_of_its_messages_is_noticed() {
    let (broker, site) = scene();
    drain(&mut uploader(&site));
    let lost = |held| {
        let settings = nats_settings(broker.port);
        let mut stream = sync::upstream(&settings, &site.inside().site_id, site.inside().clock.clone()).unwrap();
        stream.ask(&sync::Batch::of(&site.inside().site_id, held, &[])).unwrap();
        stream.last_lost(held).unwrap()
    };
    assert_eq!(lost(25), None);
    for (seq, last) in [(1, 10), (2, 20), (3, 25)] {
        let removed = broker.ask("$JS.API.STREAM.MSG.DELETE.HISTORY", &json!({ "seq": seq }));
        assert_eq!(removed["success"], true, "{removed}");
        assert_eq!(lost(25), Some(last), "message {seq}");
    }
    // Once all rows were sent again, nothing is missing behind the first of them.
    sync::rewind(site.inside(), &Actor::job("test"), 0).unwrap();
    drain(&mut uploader(&site));
    assert_eq!(lost(25), None);
}

#[test]
fn the_error_says_whether_the_stream_or_the_server_is_missing() {
    let broker = Broker::start("");
    let site = site_with(nats_settings(broker.port));
    add_rows(site.inside(), 1..=3);
    assert!(matches!(uploader(&site).step(), Step::Wait(_)));
    assert!(status(&site).trouble.contains("no stream takes tunnels."), "{}", status(&site).trouble);
    drop(broker);
    assert!(matches!(uploader(&site).step(), Step::Wait(_)));
    assert!(status(&site).trouble.contains("not reached"), "{}", status(&site).trouble);
}

#[test]
fn a_batch_larger_than_the_server_takes_is_sent_in_parts() {
    let broker = Broker::start("max_payload: 2048");
    broker.add_stream(json!({}));
    let mut settings = nats_settings(broker.port);
    settings.batch_rows = 500;
    let site = site_with(settings);
    add_rows(site.inside(), 1..=400);
    drain(&mut uploader(&site));
    assert_eq!(read(&broker).numbers(), (1..=400).collect::<Vec<_>>());
    assert_eq!(status(&site).refused_rows, 0);
}

/// A user who may only publish and request; then another key in the same file, without a restart.
#[test]
fn an_nkey_authenticates_and_is_replaced_without_a_restart() {
    const SEED: &str = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY";
    const KEY: &str = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4";
    let allowed =
        r#"publish: ["tunnels.>", "$JS.API.STREAM.NAMES", "$JS.API.STREAM.MSG.GET.*"], subscribe: ["_INBOX.>"]"#;
    let users = |site_user: &str| {
        format!(
            "authorization {{ users: [ {{user: admin, password: admin}}, {{{site_user}, permissions: {{{allowed}}}}} ] }}"
        )
    };
    let mut broker = Broker::start(&users(&format!("nkey: {KEY}")));
    broker.add_stream(json!({}));
    let credentials = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(credentials.path(), format!("{SEED}\n")).unwrap();
    let mut settings = nats_settings(broker.port);
    let Upstream::Nats(nats) = &mut settings.upstream else { unreachable!() };
    nats.credentials_file = Some(credentials.path().to_owned());
    let site = site_with(settings);
    add_rows(site.inside(), 1..=5);
    let mut uploader = uploader(&site);
    drain(&mut uploader);
    assert_whole(&broker, 5, 1);

    broker.restart(&users("user: windwerk, password: \"another:key\""));
    add_rows(site.inside(), 6..=9);
    assert!(matches!(uploader.step(), Step::Wait(_)));
    assert!(matches!(uploader.step(), Step::Wait(_)));
    assert!(status(&site).trouble.contains("Authorization Violation"), "{}", status(&site).trouble);
    std::fs::write(credentials.path(), "windwerk:another:key\n").unwrap();
    drain(&mut uploader);
    assert_whole(&broker, 9, 2);
}

#[test]
fn tls_is_used_and_verified_where_it_is_configured() {
    let authority = office::authority();
    let dir = authority.parent().unwrap();
    let tls = format!("tls {{ cert_file: \"{0}/server.pem\", key_file: \"{0}/server.key\" }}", dir.display());
    let (mut broker, site) = scene();
    drop(site);
    broker.restart(&tls);
    let mut settings = nats_settings(broker.port);
    settings.authority = Some(std::fs::read(&authority).unwrap());
    let Upstream::Nats(nats) = &mut settings.upstream else { unreachable!() };
    nats.tls = true;
    let mut site = site_with(settings.clone());
    add_rows(site.inside(), 1..=25);
    drain(&mut uploader(&site));

    // A server with an untrusted certificate receives nothing.
    settings.authority = None;
    site.restart_with(|config| config.sync = Some(settings));
    add_rows(site.inside(), 26..=26);
    assert!(matches!(uploader(&site).step(), Step::Wait(_)));
    assert!(status(&site).trouble.contains("TLS"), "{}", status(&site).trouble);
    broker.restart("");
    assert_whole(&broker, 25, 3);
}

/// A reader that misses rows of a stream that was lost publishes how far it is on the site's subject.
#[test]
fn a_reader_that_misses_rows_gets_them_again() {
    let (broker, site) = scene();
    let mut uploader = uploader(&site);
    drain(&mut uploader);
    uploader.disconnect();
    let subject = format!("tunnels.{}.history", site.inside().site_id);
    broker.publish(&subject, &[("Tunneldesk-Last-Seq", "15"), ("Tunneldesk-Last-At", "1")]);
    add_rows(site.inside(), 26..=26);
    drain(&mut uploader);
    let sent: Vec<_> = broker.messages().iter().skip(4).map(|message| unpack(&message.body)["after"].clone()).collect();
    assert_eq!((sent, status(&site).waiting_rows), (vec![json!(15), json!(25)], 0));
}
