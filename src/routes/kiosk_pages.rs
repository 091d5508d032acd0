//! The rows of the kiosks' pages: the way in, and what a member does there.

use super::row::{PICTURE_BYTES_MAX, Route, board, guest, kiosk, page};
use super::{GET, POST};
use crate::web::{board as hall_board, kiosk, live};

/// The rows of the kiosks' pages and their forms, which the API description does not show.
#[rustfmt::skip] // One row a page or a form of it.
pub static KIOSK_PAGES: &[Route] = &[
    // A kiosk: the way in
    page    (GET,    "/kiosk",                                              kiosk::start::show_start),
    page    (POST,   "/kiosk/pair",                                         kiosk::start::pair),
    page    (GET,    "/kiosk/away",                                         kiosk::offline_page::show_page),
    page    (GET,    "/kiosk/worker.js",                                    kiosk::offline_page::worker),
    kiosk   (POST,   "/kiosk/language",                                     kiosk::start::choose_language),
    kiosk   (GET,    "/kiosk/number",                                       kiosk::sign_in::show_number),
    kiosk   (POST,   "/kiosk/number",                                       kiosk::sign_in::by_number),
    kiosk   (POST,   "/kiosk/kept",                                         kiosk::offline_check_in::check_in),
    kiosk   (POST,   "/kiosk/card",                                         kiosk::sign_in::by_card),
    kiosk   (GET,    "/kiosk/scan",                                         kiosk::sign_in::show_scan),
    kiosk   (POST,   "/kiosk/scan",                                         kiosk::sign_in::by_code),
    kiosk   (GET,    "/kiosk/passkey",                                      kiosk::sign_in::show_passkey),
    kiosk   (POST,   "/kiosk/passkey",                                      kiosk::sign_in::by_passkey),
    kiosk   (GET,    "/kiosk/join",                                         kiosk::join::show_form),
    kiosk   (POST,   "/kiosk/join",                                         kiosk::join::enter),
    kiosk   (POST,   "/kiosk/leave",                                        kiosk::start::leave),

    // A board
    page    (GET,    "/board",                                              hall_board::show),
    page    (POST,   "/board/pair",                                         hall_board::pair),
    page    (GET,    "/board/away",                                         hall_board::show_away),
    page    (GET,    "/board/worker.js",                                    hall_board::worker),
    board   (GET,    "/board/live",                                         live::board).live(),

    // A kiosk: what a member does there
    guest   (GET,    "/kiosk/live",                                         live::guest).live(),
    guest   (POST,   "/kiosk/here",                                         kiosk::home::stay),
    guest   (GET,    "/kiosk/home",                                         kiosk::home::show_home),
    guest   (POST,   "/kiosk/bookings/{booking_id}/check-in",               kiosk::home::check_in),
    guest   (GET,    "/kiosk/time",                                         kiosk::time::show_form),
    guest   (POST,   "/kiosk/time",                                         kiosk::time::enter),
    guest   (GET,    "/kiosk/photo",                                        kiosk::photo::show_form),
    guest   (GET,    "/kiosk/photo.jpg",                                    kiosk::photo::get),
    guest   (POST,   "/kiosk/photo",                                        kiosk::photo::upload).drawing().taking(PICTURE_BYTES_MAX),
    guest   (POST,   "/kiosk/photo/remove",                                 kiosk::photo::remove),
    guest   (GET,    "/kiosk/brief",                                        kiosk::brief::show_page),
    guest   (GET,    "/kiosk/brief.jpg",                                    kiosk::brief::picture),
    guest   (POST,   "/kiosk/brief",                                        kiosk::brief::confirm),
    guest   (GET,    "/kiosk/book",                                         kiosk::book::show_form),
    guest   (POST,   "/kiosk/book",                                         kiosk::book::book),
    guest   (GET,    "/kiosk/family",                                       kiosk::family::show_page),
    guest   (POST,   "/kiosk/family",                                       kiosk::family::check_in_all),
    guest   (GET,    "/kiosk/family/child",                                 kiosk::children::show_form),
    guest   (POST,   "/kiosk/family/child",                                 kiosk::children::sign_up),
    guest   (GET,    "/kiosk/family/link",                                  kiosk::children::show_link),
    guest   (POST,   "/kiosk/family/link",                                  kiosk::children::link),
    guest   (GET,    "/kiosk/waiver",                                       kiosk::waiver::show_form),
    guest   (POST,   "/kiosk/waiver",                                       kiosk::waiver::sign),
    guest   (POST,   "/kiosk/waiver/phone",                                 kiosk::waiver::to_phone),
    guest   (GET,    "/kiosk/sign-off",                                     kiosk::sign_off::show_skills),
    guest   (GET,    "/kiosk/sign-off/{skill}",                             kiosk::sign_off::show_signers),
    guest   (POST,   "/kiosk/sign-off/{skill}",                             kiosk::sign_off::request),
    guest   (GET,    "/kiosk/progression",                                  kiosk::progression::show_page),
    guest   (GET,    "/kiosk/progression.svg",                              kiosk::progression::picture),
    guest   (GET,    "/kiosk/certificates",                                 kiosk::certificates::list),
    guest   (POST,   "/kiosk/certificates",                                 kiosk::certificates::show_one),
];
