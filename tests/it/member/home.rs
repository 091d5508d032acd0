//! The first of the own pages and the card.

use super::own_pages;
use crate::desk::{Clerk, book, demo};
use crate::harness::{Caller, Site};
use serde_json::json;
use std::time::Duration;

fn home(site: &Site, who: &Caller) -> String {
    own_pages(site, who).get("/me").page()
}

#[test]
fn the_first_line_says_until_when_a_flyer_is_current_or_the_way_back() {
    let site = demo();
    let (jane, novice) = (site.flyer("jane"), site.member("novice"));
    let page = home(&site, &jane);
    assert!(page.contains("<h1 class=\"standing good\">Current until ") && page.contains("it is extended"), "{page}");
    assert!(home(&site, &novice).contains("<h1 class=\"standing plain\">No level yet"));
    site.advance(Duration::from_secs(150 * 86_400));
    assert!(home(&site, &jane).contains("<h1 class=\"standing soon\">"), "twenty days are left");
    site.advance(Duration::from_secs(40 * 86_400));
    let page = home(&site, &jane);
    assert!(page.contains("<h1 class=\"standing bad\">Not current; the last day was "), "{page}");
    assert!(page.contains("Fly with an instructor") && page.contains("enters no flight time"), "{page}");
}

#[test]
fn home_shows_level_next_booking_notices_and_what_to_do() {
    let site = demo();
    let jane = site.flyer("jane");
    let page = home(&site, &jane);
    assert!(page.contains("Nothing is booked") && page.contains("Nothing new"), "{page}");
    assert!(page.contains("Flyer Level 1") && page.contains("Backflying Level 2: 0 of "), "{page}");
    book(&site, &jane, 90_000);
    site.note(&jane, "notice.password_changed", json!({}));
    site.change(|tx| Ok(tx.run("UPDATE members SET email_confirmed_at = NULL WHERE member_id = ?1", [jane.id])?));
    let page = home(&site, &jane);
    assert!(page.contains(" · 12 min") && page.contains("1 unread"), "{page}");
    assert!(page.contains("Confirm your e-mail address") && page.contains("jane@example.com"), "{page}");
}

#[test]
fn a_membership_with_a_fee_says_until_when_it_is_paid_and_where_to_renew_it() {
    let site = Site::open_with(|config| (config.demo, config.yearly_fee_cents) = (true, 5_000));
    let (jane, novice) = (site.flyer("jane"), site.member("novice"));
    assert!(home(&site, &novice).contains("no fee before your first level"));
    let paid = |until: i64| {
        site.change(|tx| Ok(tx.run("UPDATE members SET paid_until = ?2 WHERE member_id = ?1", (jane.id, until))?));
        home(&site, &jane)
    };
    assert!(paid(site.now() + 86_400).contains("<span class=\"badge good\">paid until "));
    assert!(paid(site.now() - 86_400).contains("<span class=\"badge bad\">ended on "));
}

#[test]
fn a_waiver_that_is_missing_is_signed_from_here() {
    let site = Site::open_with(|config| (config.demo, config.waiver.required) = (true, true));
    site.change(|tx| {
        let sql = "INSERT INTO site_texts (kind, version, language, title, body, questions, text_hash, asks_again, published_at)
                   VALUES ('waiver', 1, 'en', 'Waiver', 'I fly at my own risk.', '', zeroblob(32), 1, ?1)";
        Ok(tx.run(sql, [tx.now() - 1])?)
    });
    let jane = own_pages(&site, &site.flyer("jane"));
    let page = jane.get("/me").page();
    assert!(page.contains("action=\"/me/waiver\""), "{page}");
    let led = jane.post("/me/waiver", &[]);
    let place = led.header("location").unwrap_or_default().to_owned();
    assert!(led.status == 303 && place.starts_with("/sign?lang=en&code="), "{led}");
    assert_eq!(jane.get(&place).status, 200);
}

#[test]
fn the_card_shows_number_and_codes_and_each_kiosk_code_works_once() {
    let site = demo();
    let jane = site.flyer("jane");
    let browser = own_pages(&site, &jane);
    let page = browser.get("/me/card").page();
    let picture = format!("QR code with the member number {}", jane.id);
    assert!(page.contains(&picture) && page.contains("<svg xmlns"), "{page}");
    assert!(page.contains(&format!("</span>{}</p>", jane.id)), "the number as text: {page}");
    let made = browser.post("/me/card/code", &[]).page();
    let code = made.split("<p class=\"figure small\">").nth(1).and_then(|rest| rest.split('<').next()).expect("digits");
    let kiosk = crate::desk::kiosk::paired(&site);
    assert_eq!(kiosk.post("/kiosk/scan", &[("code", code)]).header("location"), Some("/kiosk/home"));
    let again = crate::desk::kiosk::paired(&site).post("/kiosk/scan", &[("code", code)]);
    assert_eq!(again.status, 422, "{again}");
}

#[test]
fn the_own_pages_are_in_the_five_languages_and_small() {
    let site = demo();
    let jane = own_pages(&site, &site.flyer("jane"));
    for (language, said) in [
        ("en", "Next booking"),
        ("de", "Nächste Buchung"),
        ("fr", "Prochaine réservation"),
        ("es", "Próxima reserva"),
        ("it", "Prossima prenotazione"),
    ] {
        let page = jane.get_in("/me", language);
        assert!(page.body.len() < 20_000, "{}", page.body.len());
        assert!(page.page().contains(said), "{language}: {page}");
        let outside = Clerk::outside(&site).get_in("/me/sign-in", language).page();
        assert!(outside.contains(&format!("<html lang=\"{language}\">")), "{outside}");
    }
}
