//! The pages of the desk, as a browser receives them. `clerk` is a client that keeps cookies; `browser` walks the pages
//! in a real Chromium, and `pages` checks every one of them.

mod arrivals;
mod audit;
mod authenticator;
mod board;
mod booking;
mod card;
mod clerk;
mod clicks;
mod colleagues;
mod dates;
mod error_pages;
mod flights_today;
mod focus;
mod four_screens;
mod invitations;
mod joining;
mod kept;
mod keyboard;
pub mod kiosk;
mod kiosk_camera;
mod kiosk_home;
mod kiosk_join;
mod kiosk_offline;
mod kiosk_screens;
mod list_import;
mod live;
mod loaded_again;
mod mail_links;
mod member_card;
mod members;
mod messages;
mod names;
mod new_member;
mod new_site;
pub mod pages;
mod partner_hooks;
mod partners;
mod proof;
mod record;
mod reports;
mod saturday;
mod sent_again;
mod settings;
mod sign_in;
mod sign_offs;
mod signer_proof;
mod site;
mod staff_rank;
mod streams;
pub mod table;
mod takeover;
pub mod till;
mod timeline;
mod two_clerks;
mod typed_text;
mod walk_in;
mod zones;

pub use clerk::Clerk;

use crate::harness::{Caller, Reply, Site, pictures};
use http::Method;
use tunneldesk::domain::booking::Booking;
use tunneldesk::domain::ids::{MemberId, MessageId, PartnerId};
use tunneldesk::store::tables::bookings;

/// A name that tries to inject markup, template code and a direction override.
pub const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script> {{7*7}} & \u{202e}evil";

/// The number of the partner with the hostile name, after `day` and `behind_the_counter`.
const HOSTILE_PARTNER: i64 = 5;

/// A demo site, whose staff needs no second factor.
pub fn demo() -> Site {
    Site::open_with(|config| config.demo = true)
}

/// The first level for which a page offers a certificate.
fn level_in(page: &str) -> String {
    page.split("name=\"level\" value=\"").nth(1).expect(page).split('"').next().unwrap().to_owned()
}

/// Books by the form of the desk, also for a member who has a booking on that day: the clerk sees it, and means another one.
pub fn book_beside(clerk: &Clerk, fields: &[(&str, &str)]) -> Reply {
    let mut beside: Option<String> = None;
    loop {
        let seen = beside.as_deref().map(|beside| ("beside", beside));
        let all: Vec<(&str, &str)> = fields.iter().copied().chain(seen).collect();
        let reply = clerk.post("/desk/bookings", &all);
        let page = if reply.status == 422 { reply.page() } else { String::new() };
        let shown = page.split("name=\"beside\" value=\"").nth(1).and_then(|rest| rest.split('"').next());
        // Another clerk may have booked an earlier flight meanwhile.
        match shown {
            Some(shown) if beside.as_deref() != Some(shown) => beside = Some(shown.to_owned()),
            _ => return reply,
        }
    }
}

/// A booking of the member, this many seconds from now.
pub fn book(site: &Site, member: &Caller, in_seconds: i64) -> i64 {
    let partner = site.partner().client_id().to_owned();
    site.change(|tx| {
        let partner = tunneldesk::store::tables::partners::find(tx, &partner)?.expect("it was made");
        let booking = Booking {
            registration_id: None,
            purchase_id: None,
            purchase_date: None,
            flight_date: tx.now() + in_seconds,
            minutes_booked: 12,
            product_id: None,
            tunnel_id: Site::TUNNEL_ID,
            checkin_time: None,
        };
        Ok(bookings::insert_booking(tx, partner.partner_id, MemberId(member.id), &booking)?)
    })
    .0
}

/// A day at the desk: people in every state, one with a picture, one with a hostile name.
pub fn day(site: &Site) -> Vec<i64> {
    let jane = site.flyer("jane");
    let picture = jane.ask(Method::POST, "/account/profile/media").header("content-type", "image/png");
    picture.body(pictures::png(60, 60)).send().ok();
    let evil = site.member("evil");
    let banned = site.member("banned");
    let ines = site.signer("ines", &[("Instructor", "4")]);
    site.change(|tx| {
        tx.run("UPDATE members SET real_name = ?2, screen_name = ?2 WHERE member_id = ?1", (evil.id, HOSTILE))?;
        tx.run("UPDATE members SET real_name = 'Jane Okonkwo-Schmidt' WHERE member_id = ?1", [jane.id])?;
        tx.run("UPDATE members SET banned_at = ?2 WHERE member_id = ?1", (banned.id, tx.now()))?;
        Ok(())
    });
    site.brief(&jane, "Flyer");
    site.ask_for(&jane, "10101", &ines);
    [(&jane, 600), (&evil, 900), (&banned, 4_000), (&ines, 4_600)].map(|(who, at)| book(site, who, at)).to_vec()
}

/// Further rows of the desk: partners with refused calls and deleted users, and messages of every kind, with hostile
/// text in each.
pub fn behind_the_counter(site: &Site) {
    let partner = site.partner();
    let number = site.change(|tx| {
        let id = tunneldesk::store::tables::partners::find(tx, partner.client_id())?.expect("it was made").partner_id;
        tx.run("UPDATE partners SET name = ?2 WHERE partner_id = ?1", (id, HOSTILE))?;
        Ok(id)
    });
    let users = "/external/partner-metrics/op";
    for name in ["a", "b"] {
        let body = serde_json::json!({ "email": format!("{name}@example.org") });
        let id = partner.post(users, body).json()["id"].as_i64().expect("a record");
        partner.ask(Method::DELETE, &format!("{users}/{id}")).send().ok();
    }
    let stranger = site.stranger();
    let ask = |client_id: &str| stranger.ask(Method::GET, users).header("client-id", client_id);
    ask(partner.client_id()).header("token", &"0".repeat(64)).send().refused(401);
    ask("<script>alert(1)</script>").header("token", &"0".repeat(64)).send().refused(401);
    assert_eq!(number, PartnerId(HOSTILE_PARTNER), "the pages name it by its number");
    site.change(|tx| {
        for url in ["https://partner.example/hook", "https://partner.example/another"] {
            let sql = "INSERT INTO hooks (partner_id, url, types, address, cursor, trouble, failing_since, created_at) VALUES (?1, ?2, 'booking.moved', '10.0.0.7', 0, '503', 1, 1)";
            tx.run(sql, (number, url))?;
        }
        Ok(tx.run("INSERT INTO hook_deliveries (hook_id, seq, booking_id, trouble) VALUES (1, 88, 12, 'too_large')", [])?)
    });
    let jane = site.member("janet");
    let body = serde_json::json!({ "username": jane.name, "option": "email" });
    for _ in 0..2 {
        stranger.post("/auth/account-access/recover-password", body.clone()).ok();
    }
    site.change(|tx| {
        tunneldesk::store::tables::outbox::set_dead(tx, MessageId(1), HOSTILE)?;
        let message = tunneldesk::store::tables::contact::NewContactMessage {
            name: HOSTILE,
            email: "somebody@example.org",
            country: HOSTILE,
            enquiry: "A birthday",
            message: &format!("Hello,\n\nmy daughter turns nine.\n{HOSTILE}"),
            language: "en",
            member_id: Some(MemberId(1)),
            signed_in: false,
        };
        tunneldesk::store::tables::contact::insert(tx, &message)?;
        let mark = tunneldesk::store::tables::suppressed::Suppression {
            address: "gone@example.org".to_owned(),
            reason: "hard_bounce".to_owned(),
            detail: HOSTILE.to_owned(),
            since: tx.now(),
        };
        Ok(tunneldesk::store::tables::suppressed::mark(tx, &mark)?)
    });
}
