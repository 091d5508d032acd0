//! A receiver over HTTPS that loses, delays, repeats and refuses batches.

use super::receiver::{Fault, Receiver};
use super::*;
use std::time::Duration;
use tempfile::NamedTempFile;

/// A site with a receiver, and twenty-five rows to send in batches of ten.
struct Scene {
    receiver: Receiver,
    secret: NamedTempFile,
    site: Site,
}

fn scene() -> Scene {
    scene_with(|_| {})
}

fn scene_with(adjust: impl FnOnce(&mut Sync)) -> Scene {
    let (receiver, secret) = (Receiver::open(), NamedTempFile::new().unwrap());
    let mut settings = https_settings(&receiver.url(), &secret);
    adjust(&mut settings);
    let site = site_with(settings);
    add_rows(site.inside(), 1..=25);
    Scene { receiver, secret, site }
}

/// Asserts that the receiver has every row once, in order.
fn assert_whole(receiver: &Receiver, rows: i64) {
    assert_eq!(receiver.state().book.numbers(), (1..=rows).collect::<Vec<_>>());
}

fn wait_of(step: Step) -> Duration {
    match step {
        Step::Wait(wait) => wait,
        other => panic!("{other:?}"),
    }
}

#[test]
fn rows_are_sent_in_order_in_batches_with_key_and_signature() {
    let Scene { receiver, site, secret: _secret } = scene();
    drain(&mut uploader(&site));
    assert_whole(&receiver, 25);
    let state = receiver.state();
    let keys: Vec<_> = state.seen.iter().map(|headers| headers.get("idempotency-key").cloned()).collect();
    let id = site.inside().site_id.clone();
    let key = |range: &str| Some(format!("{id}:{range}"));
    assert_eq!(keys, [None, key("1-10"), key("11-20"), key("21-25")]);
    assert!(state.seen.iter().all(|headers| headers["client-id"] == "windwerk"));
    drop(state);
    let status = status(&site);
    assert_eq!((status.cursor, status.waiting_rows, status.lag_seconds, status.rows), (25, 0, 0, 25));
    assert_eq!((status.batches, status.trouble.as_str()), (3, ""));
}

#[test]
fn lost_late_or_repeated_batches_arrive_once_and_in_order() {
    for fault in [Fault::LoseRequest, Fault::LoseAnswer, Fault::Delay, Fault::Repeat] {
        for place in 0..4 {
            let Scene { receiver, site, secret: _secret } = scene();
            let mut uploader = uploader(&site);
            // The first `place` batches succeed; the next request meets the fault, and the one after it fails.
            for _ in 0..place {
                uploader.step();
            }
            receiver.will(&[fault.clone(), Fault::Say(500, "", "")]);
            drain(&mut uploader);
            assert_whole(&receiver, 25);
        }
    }
}

#[test]
fn a_batch_whose_response_was_lost_is_sent_again_with_the_same_key() {
    let Scene { receiver, site, secret: _secret } = scene();
    let mut uploader = uploader(&site);
    assert_eq!((uploader.step(), uploader.step()), (Step::Moved(10), Step::Moved(10)));
    receiver.will(&[Fault::LoseRequest]);
    wait_of(uploader.step());
    // Neither further rows nor a new process change the batch under way.
    add_rows(site.inside(), 26..=30);
    drop(uploader);
    drain(&mut super::uploader(&site));
    assert_whole(&receiver, 30);
    let id = site.inside().site_id.clone();
    let again =
        receiver.state().seen.iter().filter(|h| h.get("idempotency-key") == Some(&format!("{id}:21-25"))).count();
    assert_eq!(again, 2);
}

#[test]
fn retry_after_is_kept_and_other_waits_are_short_at_first() {
    let Scene { receiver, site, secret: _secret } = scene();
    let mut uploader = uploader(&site);
    receiver.will(&[Fault::Say(503, "retry-after: 600\r\n", ""), Fault::Say(502, "", "")]);
    assert!(wait_of(uploader.step()) >= Duration::from_secs(600));
    assert!(wait_of(uploader.step()) < Duration::from_secs(5));
    let status = status(&site);
    assert_eq!(status.failed_tries, 2);
    assert!(status.trouble.contains("502"), "{}", status.trouble);
    drain(&mut uploader);
    assert_eq!((super::status(&site).failed_tries, super::status(&site).trouble.as_str()), (0, ""));
}

/// The error page of a framework may be longer than any answer that is read.
#[test]
fn the_status_of_an_answer_counts_however_long_its_body_is() {
    let Scene { receiver, site, secret: _secret } = scene();
    let mut uploader = uploader(&site);
    assert_eq!(uploader.step(), Step::Moved(10));
    let page: &str = "<p>Exception at /metrics</p>".repeat(10_000).leak();
    receiver.will(&[Fault::Say(413, "", page)]);
    assert_eq!(uploader.step(), Step::Moved(0), "fewer rows are sent next");
    receiver.will(&[Fault::Say(503, "retry-after: 600\r\n", page)]);
    assert!(wait_of(uploader.step()) >= Duration::from_secs(600));
    assert!(status(&site).trouble.contains("503"), "{}", status(&site).trouble);
    receiver.will(&[Fault::Say(200, "", page)]);
    wait_of(uploader.step());
    drain(&mut uploader);
    assert_whole(&receiver, 25);
}

#[test]
fn a_success_without_a_position_is_a_failure() {
    let Scene { receiver, site, secret: _secret } = scene();
    let mut uploader = uploader(&site);
    assert_eq!(uploader.step(), Step::Moved(10));
    receiver.will(&[Fault::Say(200, "", "<html>Welcome to the airport's network</html>")]);
    wait_of(uploader.step());
    assert_eq!(status(&site).cursor, 10);
    drain(&mut uploader);
    assert_whole(&receiver, 25);
}

#[test]
fn a_refused_row_is_found_skipped_shown_and_sent_again() {
    let Scene { receiver, site, secret: _secret } = scene();
    receiver.state().book.refuses.extend([7, 8, 23]);
    let mut uploader = uploader(&site);
    let steps = drain(&mut uploader);
    assert!(steps < 40, "{steps} requests to find three rows");
    let held: Vec<i64> = (1..=25).filter(|n| ![7, 8, 23].contains(n)).collect();
    assert_eq!(receiver.state().book.numbers(), held);
    let rows = refused(&site);
    assert_eq!(rows.iter().map(|row| row.seq).collect::<Vec<_>>(), [7, 8, 23]);
    assert!(rows[0].error.contains("do not understand"), "{}", rows[0].error);
    assert_eq!((status(&site).refused_rows, status(&site).waiting_rows), (3, 0));

    // Later rows are sent past the refused ones, also by a new process.
    add_rows(site.inside(), 26..=27);
    drop(uploader);
    let mut uploader = super::uploader(&site);
    drain(&mut uploader);
    assert_eq!(receiver.state().book.last_seq(), 27);

    // A day later the refused rows are offered again, and the receiver now accepts one of them.
    receiver.state().book.refuses.remove(&8);
    drain(&mut uploader);
    assert_eq!(status(&site).refused_rows, 3, "not before");
    site.advance(Duration::from_secs(25 * 3600));
    drain(&mut uploader);
    assert_eq!(receiver.state().book.late.keys().copied().collect::<Vec<_>>(), [8]);
    let rows = refused(&site);
    assert_eq!(rows.iter().map(|row| (row.seq, row.tries)).collect::<Vec<_>>(), [(7, 2), (23, 2)]);

    receiver.state().book.refuses.clear();
    assert_eq!(uploader.offer_refused(&mut |_, _| ()).unwrap(), 2);
    assert_eq!(receiver.state().book.late.len(), 3);
    assert_eq!(status(&site).refused_rows, 0);
}

#[test]
fn a_receiver_that_refuses_everything_counts_as_faulty() {
    let Scene { receiver, site, secret: _secret } = scene();
    let mut uploader = uploader(&site);
    assert_eq!(uploader.step(), Step::Moved(10));
    receiver.will(&vec![Fault::Say(400, "", ""); 20]);
    let waited = (0..10).any(|_| matches!(uploader.step(), Step::Wait(_)));
    assert!(waited, "it takes the receiver's word that every row is bad");
    assert_eq!((status(&site).refused_rows, status(&site).cursor), (0, 10));
    receiver.state().faults.clear();
    drain(&mut uploader);
    assert_whole(&receiver, 25);
}

#[test]
fn a_batch_that_is_too_large_is_sent_in_parts() {
    let Scene { receiver, site, secret: _secret } = scene();
    let mut uploader = uploader(&site);
    assert_eq!(uploader.step(), Step::Moved(10));
    receiver.will(&[Fault::Say(413, "", ""), Fault::Say(413, "", "")]);
    drain(&mut uploader);
    assert_whole(&receiver, 25);
    assert_eq!(status(&site).refused_rows, 0);
}

#[test]
fn a_receiver_that_lost_rows_gets_them_again() {
    let Scene { receiver, site, secret: _secret } = scene();
    let mut uploader = uploader(&site);
    drain(&mut uploader);
    receiver.state().book.rows.truncate(4);
    add_rows(site.inside(), 26..=26);
    drain(&mut uploader);
    assert_whole(&receiver, 26);
}

#[test]
fn another_receiver_gets_everything_from_the_beginning() {
    let Scene { mut site, secret, .. } = scene();
    let other = Receiver::open();
    drain(&mut uploader(&site));
    let id = site.inside().site_id.clone();
    let settings = https_settings(&other.url(), &secret);
    site.restart_with(|config| config.sync = Some(settings));
    assert_eq!(site.inside().site_id, id);
    drain(&mut uploader(&site));
    assert_whole(&other, 25);
}

/// A new secret is written to the file, and the process goes on.
#[test]
fn a_secret_is_replaced_without_a_restart() {
    let Scene { receiver, secret, site } = scene();
    let mut uploader = uploader(&site);
    assert_eq!(uploader.step(), Step::Moved(10));
    receiver.state().secrets = vec!["a-new-secret".to_owned()];
    wait_of(uploader.step());
    assert!(status(&site).trouble.contains("401"), "{}", status(&site).trouble);
    std::fs::write(secret.path(), "a-new-secret\n").unwrap();
    drain(&mut uploader);
    assert_whole(&receiver, 25);
    // An empty file, as an editor leaves it for a moment, is not taken as a secret.
    std::fs::write(secret.path(), "").unwrap();
    add_rows(site.inside(), 26..=26);
    wait_of(uploader.step());
    assert!(status(&site).trouble.contains("empty"), "{}", status(&site).trouble);
}

#[test]
fn a_strict_receiver_gets_the_time_signed_too() {
    let Scene { receiver, site, secret: _secret } = scene_with(|settings| settings.strict = true);
    drain(&mut uploader(&site));
    assert_whole(&receiver, 25);
    let now = site.inside().now().to_string();
    assert!(receiver.state().seen.iter().all(|headers| headers["x-timestamp"] == now));
}

#[test]
fn with_a_private_authority_no_other_certificate_is_accepted() {
    let certificates = office::authority();
    let receiver = Receiver::open_tls(certificates.parent().unwrap());
    let secret = NamedTempFile::new().unwrap();
    let url = format!("https://localhost:{}/metrics", receiver.address.port());
    let mut settings = https_settings(&url, &secret);
    settings.authority = Some(std::fs::read(&certificates).unwrap());
    let mut site = site_with(settings.clone());
    add_rows(site.inside(), 1..=25);
    drain(&mut uploader(&site));
    assert_whole(&receiver, 25);

    settings.authority = None;
    site.restart_with(|config| config.sync = Some(settings));
    add_rows(site.inside(), 26..=26);
    wait_of(uploader(&site).step());
    assert_whole(&receiver, 25);
    assert!(status(&site).trouble.contains("ertificate"), "{}", status(&site).trouble);
}

/// The rows that a real partner's booking leaves at the receiver, also after the member is erased.
#[test]
fn a_booking_is_sent_with_its_values_and_without_a_name() {
    let Scene { receiver, site, secret: _secret } = scene();
    drain(&mut uploader(&site));
    let jane = site.member("jane");
    let (partner, pin) = (site.partner(), site.pin(&jane));
    let flight = site.now() + 86_400;
    let body = serde_json::json!({ "member_id": jane.id, "member_pin": pin, "registration_id": 7, "flight_date": flight,
        "minutes_booked": 15, "tunnel_id": Site::TUNNEL_ID });
    partner.post("/external/partner-metrics/op/generate-token", body).ok();
    drain(&mut uploader(&site));
    let state = receiver.state();
    let events: Vec<_> = state.book.rows[25..].iter().map(|row| row["event"].as_str().unwrap().to_owned()).collect();
    assert_eq!(events, ["booking.recorded", "token.issued"]);
    let (_, booking) = state.book.bookings.first_key_value().expect("a booking came");
    assert_eq!((booking["minutes_booked"].as_i64(), booking["flight_date"].as_i64()), (Some(15), Some(flight)));
    assert_eq!(booking["member_id"], jane.id);
    assert!(!format!("{:?}", state.book.rows).contains("jane"));
}
