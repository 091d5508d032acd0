//! A member's own pages: for a telephone first, on a server that needs no script. One file a group of pages; what they share is
//! in `frame`.

pub(crate) mod account;
pub(crate) mod address;
pub(crate) mod bookings;
pub(crate) mod card;
pub(crate) mod child;
pub(crate) mod entry;
pub(crate) mod family;
pub(crate) mod flight_time;
mod frame;
pub(crate) mod home;
pub(crate) mod leaving;
pub(crate) mod logbook;
pub(crate) mod notices;
pub(crate) mod offline;
pub(crate) mod papers;
pub(crate) mod payments;
pub(crate) mod photo;
pub(crate) mod profile;
pub(crate) mod record;
pub(crate) mod second_step;
pub(crate) mod security;
pub(crate) mod sign_in;
pub(crate) mod sign_off;
pub(crate) mod signing;

use super::{Frame, failure_text, mistakes, refused, show};
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use askama::Template;

#[derive(Template)]
#[template(path = "member/refusal.html", config = "assets/templates/askama.toml")]
struct Refusal {
    frame: Frame,
    /// Key of the heading.
    title: &'static str,
    message: String,
    problems: Vec<String>,
}

/// A failure as a page, which leads back to the page of the form or to the first page.
pub(crate) fn refusal(failure: &Failure, frame: Frame, request_id: &str) -> Reply {
    let language = frame.language();
    let (message, problems) = (failure_text(failure, language), mistakes(failure, language));
    refused(
        failure,
        language,
        request_id,
        &Refusal { frame, title: super::refusal_title(failure, "desk.refused"), message, problems },
    )
}
