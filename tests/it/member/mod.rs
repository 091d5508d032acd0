//! The members' own pages, as a browser receives them.

mod account;
mod bookings;
mod children;
mod home;
mod leaving;
mod live;
mod logbook;
pub mod network;
mod offline;
mod pages;
mod reach;
mod security;
mod sign_in;
mod signing;
mod table;

use crate::desk::Clerk;
use crate::harness::{Caller, PASSWORD, Site};

/// A browser in which a member is signed in to the own pages by the password alone.
pub fn own_pages(site: &Site, who: &Caller) -> Clerk {
    let browser = Clerk::outside(site);
    let reply = browser.post("/me/sign-in", &[("username", &who.name), ("password", PASSWORD)]);
    assert_eq!((reply.status, reply.header("location")), (303, Some("/me")), "{reply}");
    browser
}
