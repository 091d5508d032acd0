//! One binary for everything that is tested over HTTP. It mirrors `src/api`; the tests here at the top hold for every
//! operation, because they are generated from the table.

mod auth;
mod harness;
mod logbook;
mod partner;
mod profile;

use harness::Site;

#[test]
fn a_member_reads_the_own_profile() {
    let site = Site::open();
    let jane = site.flyer("jane");
    let profile = jane.get("/account/profile/user").ok().json();
    assert_eq!((profile["username"].as_str(), profile["currency_flyer"].as_i64()), (Some("jane"), Some(1)));
    let partner = site.partner();
    let token = site.booking_token(&partner, &jane);
    token.get("/account/profile/user").ok();
}
