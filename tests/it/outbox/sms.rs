//! Text messages, to a gateway.

use super::*;
use std::time::Duration;

fn site_with_sms(office: &Office) -> Site {
    Site::open_with(|config| config.sms = Some(sms_settings(office)))
}

fn queue_sms(site: &Site, number: &str) -> i64 {
    queue(site, Channel::Sms, number, "de", "passcode_verify_phone", &json!({"passcode": "987654"}))
}

#[test]
fn an_sms_reaches_its_gateway_and_a_mail_waits_without_a_server() {
    let office = Office::sms();
    let site = site_with_sms(&office);
    let (sms, mail) = (queue_sms(&site, "+41791234567"), queue_welcome(&site, "jane@example.com"));
    round(&mut sender(&site));
    let taken = office.next();
    assert_eq!(taken["to"], "+41791234567");
    let text = "987654 bestätigt deine Telefonnummer bei Windwerk. Der Code gilt zehn Minuten.";
    assert_eq!(
        (taken["text"].as_str(), state(&site, sms), state(&site, mail)),
        (Some(text), "sent".into(), "waiting".into())
    );
    assert_eq!(taken["key"], message(&site, sms).provider_id);
}

#[test]
fn a_gateway_may_defer_a_message_or_refuse_it_for_good() {
    let office = Office::sms();
    let site = site_with_sms(&office);
    let (later, never, now) =
        (queue_sms(&site, "+41790000503"), queue_sms(&site, "+41790000422"), queue_sms(&site, "+41791"));
    let mut sender = sender(&site);
    round(&mut sender);
    assert_eq!([later, never, now].map(|id| state(&site, id)), ["waiting", "dead", "sent"]);
    site.advance(Duration::from_secs(80));
    round(&mut sender);
    assert_eq!(state(&site, later), "sent");
}

#[test]
fn a_gateway_that_rejects_the_credentials_costs_no_message() {
    let office = Office::sms();
    let site = Site::open_with(|config| {
        config.sms = Some(Sms { token: Some(Secret::new("another")), ..sms_settings(&office) });
    });
    let ids = [queue_sms(&site, "+41791"), queue_sms(&site, "+41792")];
    round(&mut sender(&site));
    for message in ids.map(|id| message(&site, id)) {
        assert_eq!((message.state.as_str(), message.tries), ("waiting", 0));
        assert!(message.last_error.contains("401"), "{}", message.last_error);
    }
}

#[test]
fn a_gateway_that_is_down_is_tried_again_soon_and_one_that_may_have_the_message_is_not() {
    let office = Office::sms();
    let site = site_with_sms(&office);
    let silent = queue_sms(&site, "+41790000000");
    let mut sender = sender(&site);
    round(&mut sender);
    let waiting = message(&site, silent);
    assert_eq!((waiting.state.as_str(), waiting.tries), ("waiting", 1));
    assert!(waiting.next_try_at.0 - site.now() >= 48, "{waiting:?}");

    office.close();
    site.advance(Duration::from_secs(10));
    let prompt = queue_sms(&site, "+41791");
    round(&mut sender);
    let waiting = message(&site, prompt);
    assert_eq!((waiting.tries, waiting.next_try_at.0), (0, site.now()), "{waiting:?}");
}
