//! A browser that loads a page again sends its form again: no secret is made anew, and flight time is not entered twice.

use super::kiosk::{enter, paired};
use super::till::field;
use super::{Clerk, demo};
use crate::harness::{Caller, Site};
use http::Method;
use tunneldesk::keys::{hex, hmac_sha256};
use tunneldesk::store::tables::partners;

const USERS: &str = "/external/partner-metrics/op";
const SAID: &str = "Nothing changed now";

fn card(site: &Site, partner: &Caller) -> String {
    let client_id = partner.client_id().to_owned();
    site.change(|tx| Ok(format!("/desk/partners/{}", partners::find(tx, &client_id)?.expect("it was made").partner_id)))
}

/// Sends a form twice: the first answer shows a secret, the second leads to a page that says so.
fn send_twice(clerk: &Clerk, path: &str, form: &[(&str, &str)]) -> String {
    let first = clerk.post(path, form);
    assert_eq!(first.status, 200, "{path}: {first}");
    let again = clerk.post(path, form);
    assert_eq!(again.status, 303, "{path}: {again}");
    let led_to = clerk.get(again.header("location").expect("a page")).page();
    assert!(led_to.contains(SAID), "{path}: {led_to}");
    first.page()
}

#[test]
fn a_secret_that_is_loaded_again_ends_no_other() {
    let site = demo();
    let (partner, admin) = (site.partner(), Clerk::at(&site, &site.admin()));
    let card = card(&site, &partner);
    let number = field(&admin.get(&card).page(), "number");
    let shown = send_twice(&admin, &format!("{card}/rotate"), &[("keep_days", "7"), ("number", &number)]);
    let secret = shown.split("class=\"secret\">").nth(1).and_then(|rest| rest.split('<').next()).expect("a secret");
    partner.get(USERS).ok();
    let signature = hex(&hmac_sha256(secret.as_bytes(), &[b""]));
    let by_the_new_one = || site.stranger().ask(Method::GET, USERS).header("token", &signature).send();
    by_the_new_one().ok();

    // A third secret ends the oldest at once, so it needs a tick.
    let page = admin.get(&card).page();
    assert!(page.contains("name=\"end_older\""), "{page}");
    let refused = admin.post(&format!("{card}/rotate"), &[("keep_days", "7")]);
    assert!(refused.status == 422 && refused.page().contains("no new one was made"), "{refused}");
    partner.get(USERS).ok();
    assert_eq!(admin.post(&format!("{card}/rotate"), &[("keep_days", "7"), ("end_older", "1")]).status, 200);
    partner.get(USERS).refused(401);
    by_the_new_one().ok();
}

#[test]
fn a_new_partner_that_is_loaded_again_is_one_partner() {
    let site = demo();
    let admin = Clerk::at(&site, &site.admin());
    let number = field(&admin.get("/desk/partners").page(), "number");
    send_twice(&admin, "/desk/partners", &[("name", "Sky"), ("per_minute", "0"), ("number", &number)]);
    assert_eq!(admin.get("/desk/partners").page().matches("<bdi>Sky</bdi>").count(), 1);
}

#[test]
fn pins_and_codes_that_were_read_out_stay_in_force() {
    let site = demo();
    let (jane, clerk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let pin_of = |page: &str| page.split("<code>").nth(1).and_then(|rest| rest.split('<').next()).unwrap().to_owned();
    let security = clerk.get(&format!("/desk/members/{}?tab=security", jane.id)).page();
    let number = field(&security, "number");
    let pin = pin_of(&send_twice(&clerk, &format!("/desk/members/{}/pin", jane.id), &[("number", &number)]));
    let body = serde_json::json!({ "member_id": jane.id, "member_pin": pin });
    let token = site.partner().post("/external/partner-metrics/op/generate-token", body).ok_json();
    assert_eq!(token["status"], true, "the PIN that was read out");

    for (page, path, more) in
        [("/desk/account", "/desk/account/pin", ("", "")), ("/desk/kiosks", "/desk/kiosks", ("name", "Entrance"))]
    {
        let number = field(&clerk.get(page).page(), "number");
        send_twice(&clerk, path, &[("number", &number), more]);
    }
}

#[test]
fn flight_time_that_is_sent_again_is_entered_once_and_other_minutes_under_its_number_are_refused() {
    let site = demo();
    let (jane, clerk, kiosk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()), paired(&site));
    let signer = site.signer("ines", &[("Instructor", "4")]).id.to_string();
    enter(&site, &kiosk, &jane);
    let card = format!("/desk/members/{}", jane.id);
    let (time, opening) = (format!("{card}/time"), format!("{card}/opening"));
    let count = || -> i64 {
        site.change(|tx| Ok(tx.get("SELECT count(*) FROM entries WHERE member_id = ?1 AND minutes > 0", [jane.id])?))
    };
    for (browser, page, path, field_name) in [
        (&clerk, &*card, &*time, "minutes"),
        (&kiosk, "/kiosk/time", "/kiosk/time", "minutes"),
        (&clerk, &*opening, &*opening, "time"),
    ] {
        let (number, before) = (field(&browser.get(page).page(), "number"), count());
        let send = |typed: &str, number: &str| {
            browser.post(path, &[(field_name, typed), ("signer", &signer), ("number", number)])
        };
        for (typed, status, entered) in [("10", 303, 1), ("10", 303, 1), ("15", 422, 1), ("10", 303, 1)] {
            let reply = send(typed, &number);
            assert_eq!((reply.status, count() - before), (status, entered), "{path}, {typed} min.: {reply}");
        }
        // The page that refuses is a new form, with what was typed.
        let refused = send("15", &number).page();
        assert!(refused.contains("was sent before with other values"), "{path}: {refused}");
        let another = field(&refused, "number");
        assert_eq!((send("15", &another).status, count() - before), (303, 2), "{path}");
        let reply = send("601000", &number);
        assert_eq!((reply.status, count() - before), (422, 2), "{path}: {reply}");
    }
}
