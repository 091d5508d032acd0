//! The rows of the pages: where mails lead, the members' own, and the desk.

use super::kiosk_pages::KIOSK_PAGES;
use super::row::{LIST_BODY_BYTES_MAX, PASTED_BYTES_MAX, PICTURE_BYTES_MAX, Route, desk, own, page};
use super::{GET, POST};
use crate::web::{self, desk, member};
use std::iter::successors;
use std::sync::LazyLock;

const SECURITY: &str = "/desk/members/{member_id}?tab=security";
const WAIVER: &str = "/desk/members/{member_id}/waiver";
const BRIEF: &str = "/desk/texts?kind=brief";

/// The rows of the pages and their forms, which the API description does not show.
#[rustfmt::skip] // One row a page or a form of it.
pub static PAGES: &[Route] = &[
    page    (GET,    "/",                                                   web::home).open_from_home(),
    page    (GET,    "/assets/{file}",                                      web::asset).in_clear().compressed().open_from_home(),

    // Where mails lead
    page    (GET,    "/confirm",                                            web::public::confirm::show_form).open_from_home(),
    page    (POST,   "/confirm",                                            web::public::confirm::confirm).open_from_home(),
    page    (POST,   "/confirm/again",                                      web::public::confirm::resend).open_from_home(),
    page    (GET,    "/recover",                                            web::public::recover::show_form).open_from_home(),
    page    (POST,   "/recover",                                            web::public::recover::send).constant_time().open_from_home(),
    page    (POST,   "/recover/password",                                   web::public::recover::set).hashing().constant_time().open_from_home(),
    page    (GET,    "/join",                                               web::public::join::show_form).open_from_home(),
    page    (POST,   "/join",                                               web::public::join::enter).hashing().open_from_home(),
    page    (GET,    "/claim",                                              web::public::claim::show_form).open_from_home(),
    page    (POST,   "/claim",                                              web::public::claim::claim).hashing().open_from_home(),
    page    (GET,    "/undo",                                               web::public::undo::show_form).open_from_home(),
    page    (POST,   "/undo",                                               web::public::undo::undo).open_from_home(),
    page    (GET,    "/sign",                                               web::public::sign::show_form).open_from_home(),
    page    (POST,   "/sign",                                               web::public::sign::sign).open_from_home(),
    page    (POST,   "/sign/child",                                         web::public::sign_child::add).open_from_home(),

    // A member's own pages
    page    (GET,    "/me/sign-in",                                         member::sign_in::show_or_pass).open_from_home(),
    page    (POST,   "/me/sign-in",                                         member::sign_in::with_password).hashing().open_from_home(),
    page    (POST,   "/me/sign-in/passkey",                                 member::sign_in::with_passkey).open_from_home(),
    page    (GET,    "/me/sign-in/code",                                    member::second_step::show_form).open_from_home(),
    page    (POST,   "/me/sign-in/code",                                    member::second_step::verify).open_from_home(),
    own     (POST,   "/me/sign-out",                                        member::sign_in::end),
    own     (GET,    "/me",                                                 member::home::show_page),
    own     (GET,    "/me/waiver",                                          member::family::show_page),
    own     (POST,   "/me/waiver/consents",                                 member::family::withdraw_consent),
    own     (GET,    "/me/waiver.pdf",                                      member::family::print).drawing(),
    own     (POST,   "/me/waiver",                                          member::home::sign_waiver),
    own     (GET,    "/me/children/{child_id}",                             member::child::show_page),
    own     (GET,    "/me/card",                                            member::card::show_page),
    own     (POST,   "/me/card/code",                                       member::card::make_code),
    own     (GET,    "/me/logbook",                                         member::logbook::show_list),
    own     (GET,    "/me/logbook.pdf",                                     member::papers::logbook).drawing(),
    own     (GET,    "/me/logbook.csv",                                     member::papers::logbook_csv).drawing(),
    own     (GET,    "/me/logbook/time",                                    member::flight_time::show_new),
    own     (POST,   "/me/logbook/time",                                    member::flight_time::add),
    own     (GET,    "/me/logbook/time/{entry_id}",                         member::flight_time::show_entry),
    own     (POST,   "/me/logbook/time/{entry_id}",                         member::flight_time::correct),
    own     (POST,   "/me/logbook/time/{entry_id}/delete",                  member::flight_time::delete),
    own     (GET,    "/me/logbook/sign-off",                                member::sign_off::show_skills),
    own     (GET,    "/me/logbook/sign-off/{skill}",                        member::sign_off::show_signers),
    own     (POST,   "/me/logbook/sign-off/{skill}",                        member::sign_off::request),
    own     (GET,    "/me/logbook/entries/{entry_id}",                      member::entry::show_entry),
    own     (POST,   "/me/logbook/entries/{entry_id}",                      member::entry::ask_again),
    own     (POST,   "/me/logbook/entries/{entry_id}/withdraw",             member::entry::withdraw),
    own     (GET,    "/me/bookings",                                        member::bookings::show_list),
    own     (GET,    "/me/bookings/{booking_id}/calendar.ics",              member::bookings::calendar),
    own     (POST,   "/me/bookings/{booking_id}/cancel",                    member::bookings::cancel),
    own     (GET,    "/me/signing",                                         member::signing::show_queue),
    own     (POST,   "/me/signing",                                         member::signing::sign).hashing(),
    own     (GET,    "/me/signing/record",                                  member::record::show_form),
    own     (POST,   "/me/signing/record",                                  member::record::record).hashing(),
    own     (POST,   "/me/signing/{entry_id}/deny",                         member::signing::deny),
    own     (GET,    "/me/account",                                         member::account::show_page),
    own     (GET,    "/me/account/email",                                   member::address::show_email),
    own     (POST,   "/me/account/email",                                   member::address::send_to_email).hashing(),
    own     (POST,   "/me/account/email/code",                              member::address::verify_email),
    own     (GET,    "/me/account/phone",                                   member::address::show_phone),
    own     (POST,   "/me/account/phone",                                   member::address::send_to_phone).hashing(),
    own     (POST,   "/me/account/phone/code",                              member::address::verify_phone),
    own     (GET,    "/me/account/data.json",                               member::papers::data).drawing(),
    own     (GET,    "/me/account/profile",                                 member::profile::show_form),
    own     (POST,   "/me/account/profile",                                 member::profile::change).hashing(),
    own     (GET,    "/me/account/photo",                                   member::photo::show_form),
    own     (GET,    "/me/account/photo.jpg",                               member::photo::get),
    own     (POST,   "/me/account/photo",                                   member::photo::upload).drawing().taking(PICTURE_BYTES_MAX),
    own     (POST,   "/me/account/photo/remove",                            member::photo::remove),
    own     (POST,   "/me/account/pin",                                     member::account::renew_pin),
    own     (POST,   "/me/account/password",                                member::account::change_password).hashing(),
    own     (POST,   "/me/account/reminders",                               member::account::choose_reminders),
    own     (POST,   "/me/account/language",                                member::account::choose_language),
    own     (POST,   "/me/account/devices",                                 member::account::end_sessions),
    own     (GET,    "/me/account/prove",                                   member::security::prove::show_form),
    own     (POST,   "/me/account/prove",                                   member::security::prove::prove).hashing(),
    own     (GET,    "/me/account/security",                                member::security::show_page),
    own     (GET,    "/me/account/security/app",                            member::security::factor::show_secret),
    own     (POST,   "/me/account/security/app",                            member::security::factor::begin),
    own     (POST,   "/me/account/security/app/confirm",                    member::security::factor::confirm),
    own     (POST,   "/me/account/security/passcodes",                      member::security::factor::turn_on_passcodes),
    own     (POST,   "/me/account/security/send",                           member::security::factor::send_passcode),
    own     (POST,   "/me/account/security/codes",                          member::security::factor::renew_codes),
    own     (POST,   "/me/account/security/off",                            member::security::factor::turn_off),
    own     (POST,   "/me/account/security/passkeys",                       member::security::passkeys::add),
    own     (POST,   "/me/account/security/passkeys/question",              member::security::passkeys::begin),
    own     (POST,   "/me/account/security/passkeys/remove",                member::security::passkeys::remove),
    own     (GET,    "/me/account/questions",                               member::security::questions::show_form),
    own     (POST,   "/me/account/questions",                               member::security::questions::set).hashing(),
    own     (POST,   "/me/account/questions/remove",                        member::security::questions::remove),
    own     (GET,    "/me/leaving",                                         member::leaving::show_page),
    own     (POST,   "/me/leaving",                                         member::leaving::ask),
    own     (POST,   "/me/leaving/stop",                                    member::leaving::stop),
    own     (GET,    "/me/payments",                                        member::payments::list),
    own     (GET,    "/me/payments/{payment_id}/receipt",                   member::payments::receipt).drawing(),
    own     (GET,    "/me/notices",                                         member::notices::list),
    own     (POST,   "/me/notices",                                         member::notices::mark_read),
    own     (GET,    "/me/papers",                                          member::papers::list),
    own     (POST,   "/me/papers",                                          member::papers::certificate).drawing(),
    own     (GET,    "/me/progression.svg",                                 member::papers::progression),

    own     (POST,   "/me/kept",                                            member::flight_time::add_kept).on("/me/logbook/time"),

    // What a telephone needs to install them and to show them without network; nobody's
    page    (GET,    "/app/manifest.json",                                  member::offline::manifest).open_from_home(),
    page    (GET,    "/app/icon.png",                                       member::offline::icon).open_from_home(),
    page    (GET,    "/app/worker.js",                                      member::offline::worker).open_from_home(),
    page    (GET,    "/app/away",                                           member::offline::show_page).open_from_home(),

    // Signing in at the desk
    page    (GET,    "/desk/sign-in",                                       desk::sign_in::show_or_pass),
    page    (POST,   "/desk/sign-in",                                       desk::sign_in::with_password).hashing(),
    page    (POST,   "/desk/sign-in/passkey",                               desk::sign_in::with_passkey),
    page    (GET,    "/desk/sign-in/code",                                  desk::second_factor::show_form),
    page    (POST,   "/desk/sign-in/code",                                  desk::second_factor::verify),
    page    (GET,    "/desk/sign-in/setup",                                 desk::totp_setup::show_form),
    page    (POST,   "/desk/sign-in/setup",                                 desk::totp_setup::confirm),
    page    (GET,    "/desk/sign-in/change",                                desk::change_clerk::show_form),
    page    (POST,   "/desk/sign-in/change",                                desk::change_clerk::change),
    desk    (POST,   "/desk/sign-out",                                      desk::sign_in::end),

    // Today
    desk    (GET,    "/desk",                                               desk::today::show),
    desk    (GET,    "/desk/live",                                          desk::today::listen).live(),
    desk    (GET,    "/desk/group",                                         desk::group::show_form),
    desk    (POST,   "/desk/group",                                         desk::group::book),
    desk    (POST,   "/desk/members/{member_id}/check-in",                  desk::group::check_in_family).on("/desk/members/{member_id}"),
    desk    (POST,   "/desk/bookings",                                      desk::walk_in::book),
    desk    (GET,    "/desk/bookings/{booking_id}",                         desk::bookings::show),
    desk    (POST,   "/desk/bookings/{booking_id}/move",                    desk::bookings::move_to),
    desk    (POST,   "/desk/bookings/{booking_id}/cancel",                  desk::bookings::cancel),
    desk    (POST,   "/desk/bookings/{booking_id}/no-show",                 desk::bookings::set_no_show),
    desk    (POST,   "/desk/bookings/{booking_id}/reinstate",               desk::bookings::reinstate),
    desk    (POST,   "/desk/bookings/{booking_id}/check-in",                desk::check_in::check_in),
    desk    (POST,   "/desk/bookings/{booking_id}/check-in/settle",         desk::check_in::settle),
    desk    (POST,   "/desk/bookings/{booking_id}/check-in/undo",           desk::check_in::undo),

    desk    (POST,   "/desk/shift-note",                                    desk::shift_note::leave),
    desk    (POST,   "/desk/shift-note/dismiss",                            desk::shift_note::dismiss),

    // The own account
    desk    (GET,    "/desk/account",                                       desk::account::show_page),
    desk    (POST,   "/desk/prove",                                         desk::prove::prove).hashing().taking(LIST_BODY_BYTES_MAX),
    desk    (POST,   "/desk/account/password",                              desk::account::password::change).hashing(),
    desk    (POST,   "/desk/account/recovery-codes",                        desk::account::factor::renew_codes),
    desk    (POST,   "/desk/account/authenticator",                         desk::account::factor::begin).proven(),
    desk    (POST,   "/desk/account/authenticator/confirm",                 desk::account::factor::confirm).proven(),
    desk    (POST,   "/desk/account/pin",                                   desk::account::renew_pin).proven(),
    desk    (POST,   "/desk/account/sessions",                              desk::account::end_sessions),
    desk    (POST,   "/desk/account/passkeys/question",                     desk::account::passkeys::begin).proven(),
    desk    (POST,   "/desk/account/passkeys",                              desk::account::passkeys::add).proven(),
    desk    (POST,   "/desk/account/passkeys/remove",                       desk::account::passkeys::remove).proven(),

    // Members
    desk    (GET,    "/desk/members",                                       desk::members::list),
    desk    (GET,    "/desk/members/{member_id}",                           desk::members::card::show),
    desk    (GET,    "/desk/members/{member_id}/photo",                     desk::photo::get),
    desk    (POST,   "/desk/members/{member_id}/photo",                     desk::photo::upload).drawing().taking(PICTURE_BYTES_MAX),
    desk    (POST,   "/desk/members/{member_id}/photo/remove",              desk::photo::remove).on("/desk/members/{member_id}"),
    desk    (POST,   "/desk/members/{member_id}/time",                      desk::members::time::add),
    desk    (GET,    "/desk/members/{member_id}/time/{entry_id}",           desk::members::time::show_entry),
    desk    (POST,   "/desk/members/{member_id}/time/{entry_id}",           desk::members::time::correct),
    desk    (POST,   "/desk/members/{member_id}/time/{entry_id}/delete",    desk::members::time::delete),
    desk    (GET,    "/desk/members/{member_id}/record",                    desk::members::record_skills::show_form),
    desk    (POST,   "/desk/members/{member_id}/record",                    desk::members::record_skills::record).hashing(),
    desk    (GET,    "/desk/members/{member_id}/opening",                   desk::members::opening_balance::show_form),
    desk    (POST,   "/desk/members/{member_id}/opening",                   desk::members::opening_balance::enter),
    desk    (POST,   "/desk/members/{member_id}/pin",                       desk::members::changes::reset_pin).on(SECURITY),
    desk    (POST,   "/desk/members/{member_id}/sessions",                  desk::members::changes::end_sessions).on(SECURITY),
    desk    (POST,   "/desk/members/{member_id}/second-factor",             desk::members::changes::reset_second_factor).on(SECURITY).proven(),
    desk    (POST,   "/desk/members/{member_id}/email",                     desk::members::changes::confirm_email).on(SECURITY).proven(),
    desk    (POST,   "/desk/members/{member_id}/note",                      desk::members::changes::set_note),
    desk    (POST,   "/desk/members/{member_id}/card",                      desk::members::changes::tie_card),
    desk    (POST,   "/desk/members/{member_id}/card/untie",                desk::members::changes::untie_card),
    desk    (GET,    "/desk/members/{member_id}/edit",                      desk::members::edit::show_form),
    desk    (POST,   "/desk/members/{member_id}/edit",                      desk::members::edit::save),
    desk    (GET,    "/desk/members/{member_id}/logbook.pdf",               desk::members::certificates::logbook).drawing(),
    desk    (GET,    "/desk/members/{member_id}/certificates",              desk::members::certificates::list),
    desk    (POST,   "/desk/members/{member_id}/certificates",              desk::members::certificates::certificate).drawing(),
    desk    (GET,    "/desk/members/{member_id}/waiver",                    desk::members::waiver::show_page),
    desk    (GET,    "/desk/members/{member_id}/waiver.pdf",                desk::members::waiver_print::print).drawing(),
    desk    (POST,   "/desk/members/{member_id}/waiver",                    desk::members::waiver::sign),
    desk    (POST,   "/desk/members/{member_id}/waiver/phone",              desk::members::waiver_phone::make),
    desk    (POST,   "/desk/members/{member_id}/waiver/decide",             desk::members::waiver::decide),
    desk    (POST,   "/desk/members/{member_id}/waiver/error",              desk::members::waiver::mark_error).for_admins(),
    desk    (POST,   "/desk/members/{member_id}/emergency",                 desk::members::waiver::set_emergency).on(WAIVER),
    desk    (POST,   "/desk/members/{member_id}/consents/withdraw",         desk::members::waiver::withdraw).on(WAIVER),
    desk    (POST,   "/desk/members/{member_id}/guardians",                 desk::members::guardians::add_guardian).on(WAIVER),
    desk    (POST,   "/desk/members/{member_id}/guardians/end",             desk::members::guardians::end_guardian).on(WAIVER),
    desk    (POST,   "/desk/members/{member_id}/waiver/override",           desk::members::waiver::override_today),
    desk    (GET,    "/desk/members/{member_id}/data",                      desk::members::personal_data::show).for_admins(),
    desk    (POST,   "/desk/members/{member_id}/data/export",               desk::members::personal_data::export).for_admins().drawing().proven(),
    desk    (POST,   "/desk/members/{member_id}/data/erase",                desk::members::personal_data::erase).for_admins().proven(),
    desk    (GET,    "/desk/members/{member_id}/join",                      desk::members::join::show).for_admins(),
    desk    (POST,   "/desk/members/{member_id}/join",                      desk::members::join::join).for_admins().proven(),
    desk    (POST,   "/desk/members/{member_id}/join/undo",                 desk::members::join::undo).for_admins().on("/desk/members/{member_id}").proven(),
    desk    (POST,   "/desk/members/{member_id}/alike",                     desk::members::join::tell_apart),
    desk    (POST,   "/desk/members/{member_id}/ban",                       desk::members::changes::ban).on(SECURITY),
    desk    (POST,   "/desk/members/{member_id}/ban/lift",                  desk::members::changes::lift_ban).on(SECURITY).proven(),

    // Sign-offs
    desk    (GET,    "/desk/sign-offs",                                     desk::sign_offs::list),
    desk    (GET,    "/desk/sign-several",                                  desk::sign_offs::bulk::show_form),
    desk    (POST,   "/desk/sign-several",                                  desk::sign_offs::bulk::sign).hashing(),
    desk    (GET,    "/desk/record-several",                                desk::record_several::show_form),
    desk    (POST,   "/desk/record-several",                                desk::record_several::record).hashing(),
    desk    (GET,    "/desk/sign-offs/{entry_id}",                          desk::sign_offs::entry::show),
    desk    (POST,   "/desk/sign-offs/{entry_id}/sign",                     desk::sign_offs::actions::sign).hashing(),
    desk    (POST,   "/desk/sign-offs/{entry_id}/passkey",                  desk::sign_offs::actions::sign_by_passkey),
    desk    (POST,   "/desk/sign-offs/{entry_id}/deny",                     desk::sign_offs::actions::deny).hashing(),
    desk    (POST,   "/desk/sign-offs/{entry_id}/withdraw",                desk::sign_offs::actions::withdraw),
    desk    (POST,   "/desk/sign-offs/{entry_id}/delete",                  desk::sign_offs::actions::delete),
    desk    (POST,   "/desk/sign-offs/{entry_id}/suspend",                  desk::sign_offs::actions::suspend),
    desk    (POST,   "/desk/sign-offs/{entry_id}/reinstate",                desk::sign_offs::actions::reinstate),

    // Partners
    desk    (GET,    "/desk/partners",                                      desk::partners::list).for_admins(),
    desk    (POST,   "/desk/partners",                                      desk::partners::create).for_admins().proven(),
    desk    (GET,    "/desk/partners/{partner_id}",                         desk::partners::card::show).for_admins(),
    desk    (POST,   "/desk/partners/{partner_id}/terms",                   desk::partners::card::set_terms).for_admins().proven(),
    desk    (POST,   "/desk/partners/{partner_id}/rotate",                  desk::partners::card::rotate).for_admins().proven(),
    desk    (POST,   "/desk/partners/{partner_id}/revoke",                  desk::partners::card::revoke).for_admins().proven(),
    desk    (GET,    "/desk/partners/{partner_id}/digest",                  desk::partners::digest::show_form).for_admins(),
    desk    (POST,   "/desk/partners/{partner_id}/digest",                  desk::partners::digest::show).taking(PASTED_BYTES_MAX).for_admins().proven(),
    desk    (POST,   "/desk/partners/{partner_id}/users/restore",           desk::partners::restore_users::restore_all).for_admins(),
    desk    (POST,   "/desk/partners/{partner_id}/users/{user_id}/restore", desk::partners::restore_users::restore).for_admins(),

    // Messages
    desk    (GET,    "/desk/messages",                                      desk::messages::list),
    desk    (POST,   "/desk/messages/retry",                                desk::messages::outgoing::retry_dead),
    desk    (POST,   "/desk/messages/lift",                                 desk::messages::outgoing::lift),
    desk    (POST,   "/desk/messages/{message_id}/read",                    desk::messages::outgoing::read),
    desk    (POST,   "/desk/messages/{message_id}/retry",                   desk::messages::outgoing::retry),
    desk    (GET,    "/desk/contact/{contact_id}",                          desk::messages::contact::show),
    desk    (POST,   "/desk/contact/{contact_id}/done",                     desk::messages::contact::set_done),

    // Payments
    desk    (GET,    "/desk/payments",                                      desk::payments::list),
    desk    (POST,   "/desk/payments/{payment_id}/count",                   desk::payments::count),
    desk    (POST,   "/desk/payments/{payment_id}/void",                    desk::payments::void),

    // New members
    desk    (GET,    "/desk/member-list",                                   desk::members::list_import::show_form).for_admins(),
    desk    (POST,   "/desk/member-list",                                   desk::members::list_import::look).taking(LIST_BODY_BYTES_MAX).for_admins(),
    desk    (POST,   "/desk/member-list/take",                              desk::members::list_import::take).taking(LIST_BODY_BYTES_MAX).for_admins().proven(),
    desk    (POST,   "/desk/member-list/mistakes",                          desk::members::list_import::mistakes).taking(LIST_BODY_BYTES_MAX).for_admins(),
    desk    (GET,    "/desk/new-member",                                    desk::new_member::show),
    desk    (POST,   "/desk/new-member",                                    desk::new_member::register),
    desk    (GET,    "/desk/members/{member_id}/welcome",                   desk::new_member::welcome::show),
    desk    (POST,   "/desk/members/{member_id}/slip",                      desk::new_member::welcome::print).drawing().on("/desk/members/{member_id}/welcome"),

    // Till
    desk    (GET,    "/desk/members/{member_id}/payment",                   desk::till::fee::show),
    desk    (POST,   "/desk/members/{member_id}/payment",                   desk::till::fee::take),
    desk    (GET,    "/desk/till",                                          desk::till::show),
    desk    (POST,   "/desk/till/close",                                    desk::till::close),
    desk    (POST,   "/desk/till/move",                                     desk::till::movements::make),
    desk    (GET,    "/desk/till/closings",                                 desk::till::closings::list),
    desk    (GET,    "/desk/till/closings.csv",                             desk::till::closings::csv).drawing(),
    desk    (GET,    "/desk/till/closings/{closing_id}",                    desk::till::closings::show),
    desk    (GET,    "/desk/till/closings/{closing_id}/entries.csv",        desk::till::closings::entries).drawing(),
    desk    (GET,    "/desk/till/entries.csv",                              desk::till::closings::open_entries).drawing(),
    desk    (GET,    "/desk/till/entries/{entry_id}",                       desk::till::entries::show),
    desk    (GET,    "/desk/till/entries/{entry_id}/receipt",               desk::till::entries::receipt).drawing(),
    desk    (POST,   "/desk/till/entries/{entry_id}/mail",                  desk::till::entries::mail),
    desk    (POST,   "/desk/till/entries/{entry_id}/undo",                  desk::till::entries::undo),
    desk    (POST,   "/desk/till/entries/{entry_id}/reviewed",              desk::till::entries::review),

    // Reports
    desk    (GET,    "/desk/reports",                                       desk::reports::show),
    desk    (GET,    "/desk/reports/hall",                                  desk::reports::hall::show),
    desk    (GET,    "/desk/reports/hall.csv",                              desk::reports::hall::csv),
    desk    (GET,    "/desk/reports/month.csv",                             desk::reports::hall::month).drawing(),
    desk    (GET,    "/desk/reports/members",                               desk::reports::members::show),
    desk    (GET,    "/desk/reports/days.csv",                              desk::reports::tables::days),
    desk    (GET,    "/desk/reports/partners.csv",                          desk::reports::tables::partners),
    desk    (GET,    "/desk/reports/bookings.csv",                          desk::reports::tables::bookings).drawing(),
    desk    (GET,    "/desk/reports/members.csv",                           desk::reports::members::csv).drawing(),

    // Site
    desk    (GET,    "/desk/site",                                          desk::site::show).for_admins(),
    desk    (POST,   "/desk/site/backup",                                   desk::site::backup::make).for_admins(),
    desk    (POST,   "/desk/site/drill",                                    desk::site::backup::drill).for_admins(),
    desk    (POST,   "/desk/site/sync",                                     desk::site::sync::now).for_admins(),
    desk    (POST,   "/desk/site/mail-test",                                desk::site::mail::test).for_admins(),
    desk    (POST,   "/desk/site/sms-test",                                 desk::site::mail::test_sms).for_admins(),
    desk    (GET,    "/desk/site/settings",                                 desk::site::settings::show).for_admins(),
    desk    (POST,   "/desk/site/setting-changes/undo",                     desk::site::settings::undo).for_admins().on("/desk/site/settings").proven(),
    desk    (POST,   "/desk/site/settings/{group}",                         desk::site::settings::save).for_admins().on("/desk/site/settings").proven(),
    desk    (GET,    "/desk/site/audit",                                    desk::site::audit::show).for_admins(),
    desk    (POST,   "/desk/site/audit",                                    desk::site::audit::verify).for_admins(),
    desk    (GET,    "/desk/site/users",                                    desk::site::staff::list).for_admins(),
    desk    (POST,   "/desk/site/users",                                    desk::site::staff::set_role).for_admins().proven(),
    desk    (GET,    "/desk/site/signers",                                  desk::site::signers::list).for_admins(),
    desk    (POST,   "/desk/site/signers",                                  desk::site::signers::appoint).for_admins().proven(),
    desk    (POST,   "/desk/site/signers/remove",                           desk::site::signers::remove).for_admins().on("/desk/site/signers").proven(),
    desk    (POST,   "/desk/site/invitations",                              desk::site::invitations::invite).for_admins().drawing().on("/desk/site/users").proven(),
    desk    (POST,   "/desk/site/invitations/{invitation_id}/withdraw",     desk::site::invitations::withdraw).for_admins().on("/desk/site/users"),

    desk    (GET,    "/desk/waivers",                                       desk::waivers::list),

    // The operator's texts
    desk    (GET,    "/desk/texts",                                         desk::texts::list).for_admins(),
    desk    (GET,    "/desk/texts/edit",                                    desk::texts::edit).for_admins(),
    desk    (POST,   "/desk/texts/edit",                                    desk::texts::save).taking(PASTED_BYTES_MAX).for_admins(),
    desk    (POST,   "/desk/texts/publish",                                 desk::texts::publish).for_admins().proven(),
    desk    (POST,   "/desk/texts/discard",                                 desk::texts::discard).for_admins(),
    desk    (GET,    "/desk/texts/picture.jpg",                             desk::brief_pictures::get).for_admins(),
    desk    (POST,   "/desk/texts/picture",                                 desk::brief_pictures::add).drawing().taking(PICTURE_BYTES_MAX).for_admins().on(BRIEF),
    desk    (POST,   "/desk/texts/picture/remove",                          desk::brief_pictures::remove).for_admins().on(BRIEF),
    desk    (GET,    "/desk/texts/version",                                 desk::texts::show).for_admins(),

    // Kiosks, at the desk
    desk    (GET,    "/desk/kiosks",                                        desk::kiosks::show),
    desk    (POST,   "/desk/kiosks",                                        desk::kiosks::pair).proven(),
    desk    (GET,    "/desk/kiosks/door",                                   desk::kiosks::show_door),
    desk    (POST,   "/desk/kiosks/{kiosk_id}/revoke",                      desk::kiosks::revoke),
];

/// For each address that only takes a form, a row that leads a browser to the page with the form: somebody loads the page
/// of a refusal again, or opens it from the history.
pub(super) static FORM_ADDRESSES: LazyLock<Vec<Route>> =
    LazyLock::new(|| PAGES.iter().chain(KIOSK_PAGES).filter_map(lead_to_form).collect());

fn lead_to_form(form: &Route) -> Option<Route> {
    let is_page = |path: &str| PAGES.iter().chain(KIOSK_PAGES).any(|one| one.method == GET && one.path == path);
    if form.method != POST || is_page(form.path) {
        return None;
    }
    let mut above = successors(Some(form.path), |path| path.rsplit_once('/').map(|(above, _)| above));
    let form_page = form.form_page.or_else(|| above.find(|path| is_page(path)))?;
    let row = page(GET, form.path, web::to_form_page).on(form_page);
    Some(if form.from_home { row.open_from_home() } else { row })
}
