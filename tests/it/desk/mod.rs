//! The pages of the desk, as a browser has them. `clerk` is a client that keeps cookies; `browser` walks the pages in a
//! real Chromium, and `pages` looks at every one of them.

mod arrivals;
mod clerk;
mod keyboard;
mod pages;
mod sign_in;
mod table;

pub use clerk::Clerk;

use crate::harness::{Caller, Site, pictures};
use http::Method;
use tunneldesk::domain::booking::Booking;
use tunneldesk::store::bookings;

/// A name that tries everything.
pub const HOSTILE: &str = "<img src=x onerror=alert(1)>\"'><script>alert(2)</script> {{7*7}} & \u{202e}evil";

/// A site whose staff needs no second factor.
pub fn demo() -> Site {
    Site::open_with(|config| config.demo = true)
}

/// A booking of the member in so many seconds from now.
pub fn book(site: &Site, member: &Caller, in_seconds: i64) -> i64 {
    let partner = site.partner().client_id().to_owned();
    site.change(|tx| {
        let partner = tunneldesk::store::partners::find(tx, &partner)?.expect("it was made");
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
        Ok(bookings::insert(tx, partner.partner_id, member.id, &booking)?)
    })
}

/// A day at the desk: people in every standing, one of them with a picture, one with a hostile name.
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
