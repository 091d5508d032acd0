//! The table of routes: every operation and every page, with the credentials that it requires. A row whose credentials do not
//! fit its function does not compile.

mod row;

pub use row::Route;

use crate::api::{
    auth, callbacks, compatibility, description, health, logbook, notifications, partner, profile, public,
    standby as follower,
};
use crate::auth::Callback;
use crate::web::{self, desk, kiosk};
use http::Method;
use row::{
    PASTED_BYTES_MAX, PICTURE_BYTES_MAX, bearer, callback, desk, guest, kiosk, member, open, page, partner, staff,
    standby,
};
use std::sync::LazyLock;

use Method as M;
const GET: Method = M::GET;
const POST: Method = M::POST;
const PUT: Method = M::PUT;
const DELETE: Method = M::DELETE;

/// The operations of the contract, in its order, and then our own.
#[rustfmt::skip] // One row an operation, in the contract's order.
pub static ROUTES: &[Route] = &[
    // Partner metrics
    partner (GET,    "/external/partner-metrics/op",                        partner::users::list),
    partner (POST,   "/external/partner-metrics/op",                        partner::users::create).reads::<partner::users::PartnerUserNew>(),
    partner (PUT,    "/external/partner-metrics/op",                        partner::users::edit).reads::<partner::users::PartnerUserEdit>(),
    partner (GET,    "/external/partner-metrics/op/{id}",                   partner::users::get),
    partner (DELETE, "/external/partner-metrics/op/{id}",                   partner::users::delete),
    staff   (POST,   "/admin/reports/external/partner-metrics/bookings",    partner::reports::bookings).reads::<partner::reports::ReportRequest>().when_full().compressed(),
    staff   (POST,   "/admin/reports/external/partner-metrics/history",     partner::reports::history).reads::<partner::reports::ReportRequest>().when_full().compressed(),
    partner (POST,   "/external/partner-metrics/op/generate-token",         partner::token::generate).reads::<partner::token::TokenRequest>().ending_in_write().with_client_id(),

    // Authentication
    open    (POST,   "/auth/login",                                         auth::login::with_password).reads::<auth::login::LoginRequest>().hashing().when_full(),
    open    (POST,   "/auth/login/silent",                                  auth::login::silent).reads::<auth::login::Credentials>().hashing().when_full(),
    open    (POST,   "/auth/login/bio-web-option",                          auth::passkey::options).reads::<auth::passkey::PasskeyQuestion>().constant_time().when_full(),
    open    (POST,   "/auth/login/bio-web-verify",                          auth::passkey::verify).reads::<auth::passkey::PasskeyAnswer>().when_full(),
    open    (POST,   "/auth/login/totp/setup",                              auth::totp::setup).reads::<auth::totp::TotpSetupRequest>().hashing(),
    open    (POST,   "/auth/login/totp/verify-setup",                       auth::totp::verify_setup).reads::<auth::totp::TotpProof>().hashing(),
    open    (POST,   "/auth/login/verify-totp",                             auth::totp::verify).reads::<auth::totp::TotpProof>().hashing().when_full(),
    open    (POST,   "/auth/signup",                                        auth::signup::create).reads::<auth::signup::SignupRequest>().hashing(),
    open    (POST,   "/auth/signup/check-username",                         auth::signup::check_username).reads::<auth::signup::UsernameCheck>().when_full(),
    open    (POST,   "/auth/social",                                        auth::social::sign_in).reads::<auth::social::SocialSignIn>().when_full(),
    open    (POST,   "/auth/verify-email",                                  auth::email::verify).reads::<auth::email::EmailToken>(),
    open    (POST,   "/auth/verify-email/resend",                           auth::email::resend).reads::<auth::email::EmailToken>(),
    open    (GET,    "/auth/account-access/security-questions",             auth::recovery::questions).reads::<auth::recovery::QuestionsRequest>(),
    open    (POST,   "/auth/account-access/recover-password",               auth::recovery::password).reads::<auth::recovery::AccountAccess>().hashing().constant_time(),
    open    (POST,   "/auth/account-access/recover-username",               auth::recovery::username).reads::<auth::recovery::UsernameRequest>().constant_time(),

    // Profile
    member  (POST,   "/account/profile/2fa-operation",                      profile::two_factor::operate).reads::<profile::two_factor::FactorRequest>(),
    member  (POST,   "/account/profile/get-certificate",                    profile::certificates::get).reads::<profile::certificates::CertificateRequest>().drawing(),
    member  (GET,    "/account/profile/certificate-list",                   profile::certificates::list),
    member  (PUT,    "/account/profile/change-password",                    profile::password::change).reads::<profile::password::PasswordChange>().hashing(),
    member  (GET,    "/account/profile/booking-history",                    profile::bookings::history),
    member  (POST,   "/account/profile/booking-pin",                        profile::pin::create),
    member  (GET,    "/account/profile/payment-history",                    profile::payments::history),
    member  (GET,    "/account/profile/security-questions",                 profile::questions::list),
    bearer  (GET,    "/account/profile/user",                               profile::user::get),
    member  (PUT,    "/account/profile/user",                               profile::user::edit).reads::<profile::user::ProfileEdit>().hashing(),
    member  (POST,   "/account/profile/remove-media",                       profile::media::remove),
    member  (POST,   "/account/profile/send-verification-passcode",         profile::verification::send).reads::<profile::verification::PasscodeRequest>(),
    member  (POST,   "/account/profile/verify-verification-passcode",       profile::verification::verify).reads::<profile::verification::PasscodeProof>(),

    // Logbook
    member  (POST,   "/account/logbook/skills/",                            logbook::skills::create).reads::<logbook::skills::SkillNew>().ending_in_write(),
    member  (PUT,    "/account/logbook/skills/{entry_id}",                  logbook::skills::edit).reads::<logbook::skills::SkillEdit>().ending_in_write(),
    member  (POST,   "/account/logbook/time/",                              logbook::time::create).reads::<logbook::time::TimeNew>().ending_in_write(),
    bearer  (PUT,    "/account/logbook/time/{entry_id}",                    logbook::time::edit).reads::<logbook::time::TimeEdit>().ending_in_write(),
    member  (DELETE, "/account/logbook/{entry_id}",                         logbook::entries::delete),
    bearer  (GET,    "/account/logbook/skills/{status}/{member_id}",        logbook::skills::list),
    bearer  (GET,    "/account/logbook/mobile/skills/{member_id}",          logbook::skills::list_all),
    bearer  (GET,    "/account/logbook/time/{member_id}",                   logbook::time::list),
    bearer  (GET,    "/account/logbook/category/{member_id}",               logbook::category::options),
    bearer  (GET,    "/account/logbook/filter-skills/{member_id}/{category}", logbook::eligible::list),
    member  (GET,    "/account/logbook/instructors/{skill}/{tunnel}",       logbook::signers::list),
    bearer  (GET,    "/account/logbook/coach-safety/{member_id}",           logbook::safety::coach),
    bearer  (GET,    "/account/logbook/flyer-safety/{member_id}",           logbook::safety::flyer),
    bearer  (GET,    "/account/logbook/instructor-safety/{member_id}",      logbook::safety::instructor),
    bearer  (GET,    "/account/logbook/military-safety/{member_id}",        logbook::safety::military),
    bearer  (GET,    "/account/logbook/trainer-safety/{member_id}",         logbook::safety::trainer),

    // Public
    open    (POST,   "/public/contact",                                     public::contact::send).reads::<public::contact::ContactMessage>(),
    open    (GET,    "/public/countries",                                   public::countries::list),
    open    (GET,    "/public/translations",                                public::translations::get),
    open    (GET,    "/public/tunnels/{tunnel_id}",                         public::tunnels::get),

    // Callbacks
    callback(POST,   "/social-data-deletion",                               Callback::Deletion(callbacks::deletion::carry_out)).reads::<crate::auth::SignedRequest>(),
    open    (GET,    "/social-data-deletion-status",                        web::public::deletion_status::show),
    callback(POST,   "/mail-webhook",                                       Callback::Mail(callbacks::mail::receive)),
    callback(POST,   "/payment-webhook",                                    Callback::Payment(callbacks::payment::receive)).reads::<callbacks::payment_event::PaymentEvent>(),

    // Notifications
    member  (GET,    "/account/notifications",                              notifications::list),
    member  (PUT,    "/account/notifications/read/{notification_id}",       notifications::read),

    // Ours, beside the contract
    member  (POST,   "/auth/logout",                                        auth::logout::end).ours().when_full(),
    member  (POST,   "/account/profile/media",                              profile::media::upload).ours().drawing().taking(PICTURE_BYTES_MAX),
    member  (GET,    "/account/profile/media",                              profile::media::get).ours(),
    open    (GET,    "/verify/{code}",                                      web::public::verify::show).ours().at_root(),
    member  (POST,   "/account/profile/kiosk-code",                         profile::kiosk_code::create).ours(),
    member  (GET,    "/account/profile/waiver",                             profile::waiver::get).ours(),
    member  (POST,   "/account/profile/waiver",                             profile::waiver::sign).reads::<profile::waiver::WaiverSignature>().ours(),
    member  (POST,   "/account/profile/reauthenticate",                     profile::reauthenticate::prove).reads::<profile::reauthenticate::Reauthentication>().ours().hashing(),
    member  (GET,    "/account/profile/passkeys",                           profile::passkeys::list).ours(),
    member  (DELETE, "/account/profile/passkeys/{passkey_id}",              profile::passkeys::delete).ours(),
    member  (GET,    "/account/profile/sessions",                           profile::sessions::list).ours(),
    member  (DELETE, "/account/profile/sessions",                           profile::sessions::end_others).ours(),
    member  (DELETE, "/account/profile/sessions/{session_id}",              profile::sessions::end).ours(),
    open    (GET,    "/mail-webhook",                                       callbacks::mail::probe).ours(),
    member  (GET,    "/account/logbook/requests",                           logbook::entry_events::requests).ours(),
    member  (GET,    "/account/logbook/entries/{entry_id}/moves",           logbook::skills::events).ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/sign",            logbook::entry_events::sign).reads::<logbook::entry_events::Signature>().ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/deny",            logbook::entry_events::deny).reads::<logbook::entry_events::Denial>().ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/suspend",         logbook::entry_events::suspend).ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/reinstate",       logbook::entry_events::reinstate).ours(),
    member  (POST,   "/account/logbook/opening-balance/{member_id}",        logbook::opening::create).reads::<logbook::opening::OpeningBalance>().ours(),
    standby (POST,   "/standby",                                            follower::answer).reads::<follower::StandbyRequest>().ours().when_full(),
    open    (GET,    "/openapi.json",                                       description::document).ours(),
    open    (GET,    "/docs",                                               description::page).ours().at_root(),
    open    (GET,    "/healthz",                                            health::alive).ours().at_root().in_clear(),
    open    (GET,    "/readyz",                                             health::ready).ours().at_root().in_clear(),
    open    (GET,    "/ca",                                                 web::public::authority::page).ours().at_root().in_clear(),
    open    (GET,    "/ca.crt",                                             web::public::authority::certificate).ours().at_root().in_clear(),
    bearer  (GET,    "/account/logbook/progression/{member_id}",            logbook::progression::svg).ours(),
    bearer  (GET,    "/account/logbook/export/{member_id}",                 logbook::export::csv).ours().drawing(),
    bearer  (GET,    "/account/logbook/print/{member_id}",                  logbook::print::pdf).ours().drawing(),

    // Not in the contract, but called by existing clients
    member  (POST,   "/account/logbook/member/time/",                       logbook::time::create).reads::<logbook::time::TimeNew>().ending_in_write().ours(),
    member  (GET,    "/account/notifications/requests",                     logbook::entry_events::count_requests).ours(),
    member  (GET,    "/account/logbook/tunnels",                            compatibility::tunnels::list).ours(),
    bearer  (GET,    "/account/dashboard/flyer-skills-levels/{member_id}",  compatibility::levels::get).ours(),
    open    (GET,    "/public/skills",                                      compatibility::skills::list).ours(),
];

#[rustfmt::skip] // One row a page or a form of it.
/// The rows of the pages and their forms, which the API description does not show.
pub static PAGES: &[Route] = &[
    page    (GET,    "/",                                                   web::home),
    page    (GET,    "/assets/{file}",                                      web::asset).in_clear().compressed(),

    // Where mails lead
    page    (GET,    "/confirm",                                            web::public::confirm::show_form),
    page    (POST,   "/confirm",                                            web::public::confirm::confirm),
    page    (POST,   "/confirm/again",                                      web::public::confirm::resend),
    page    (GET,    "/recover",                                            web::public::recover::show_form),
    page    (POST,   "/recover",                                            web::public::recover::send).constant_time(),
    page    (POST,   "/recover/password",                                   web::public::recover::set).hashing().constant_time(),
    page    (GET,    "/join",                                               web::public::join::show_form),
    page    (POST,   "/join",                                               web::public::join::enter).hashing(),
    page    (GET,    "/claim",                                              web::public::claim::show_form),
    page    (POST,   "/claim",                                              web::public::claim::claim).hashing(),
    page    (GET,    "/undo",                                               web::public::undo::show_form),
    page    (POST,   "/undo",                                               web::public::undo::undo),
    page    (GET,    "/sign",                                               web::public::sign::show_form),
    page    (POST,   "/sign",                                               web::public::sign::sign),
    page    (POST,   "/sign/child",                                         web::public::sign_child::add),

    // Signing in
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
    desk    (POST,   "/desk/bookings",                                      desk::walk_in::book),
    desk    (GET,    "/desk/bookings/{booking_id}",                         desk::bookings::show),
    desk    (POST,   "/desk/bookings/{booking_id}/move",                    desk::bookings::move_to),
    desk    (POST,   "/desk/bookings/{booking_id}/cancel",                  desk::bookings::cancel),
    desk    (POST,   "/desk/bookings/{booking_id}/no-show",                 desk::bookings::set_no_show),
    desk    (POST,   "/desk/bookings/{booking_id}/reinstate",               desk::bookings::reinstate),
    desk    (POST,   "/desk/bookings/{booking_id}/check-in",                desk::check_in::check_in),
    desk    (POST,   "/desk/bookings/{booking_id}/check-in/undo",           desk::check_in::undo),

    desk    (POST,   "/desk/shift-note",                                    desk::shift_note::leave),
    desk    (POST,   "/desk/shift-note/dismiss",                            desk::shift_note::dismiss),

    // The own account
    desk    (GET,    "/desk/account",                                       desk::account::show_page),
    desk    (POST,   "/desk/account/prove",                                 desk::account::prove).hashing(),
    desk    (POST,   "/desk/account/password",                              desk::account::password::change).hashing(),
    desk    (POST,   "/desk/account/recovery-codes",                        desk::account::renew_codes),
    desk    (POST,   "/desk/account/pin",                                   desk::account::renew_pin),
    desk    (POST,   "/desk/account/sessions",                              desk::account::end_sessions),
    desk    (POST,   "/desk/account/passkeys/question",                     desk::account::passkeys::begin),
    desk    (POST,   "/desk/account/passkeys",                              desk::account::passkeys::add),
    desk    (POST,   "/desk/account/passkeys/remove",                       desk::account::passkeys::remove),

    // Members
    desk    (GET,    "/desk/members",                                       desk::members::list),
    desk    (GET,    "/desk/members/{member_id}",                           desk::members::card::show),
    desk    (GET,    "/desk/members/{member_id}/photo",                     desk::photo::get),
    desk    (POST,   "/desk/members/{member_id}/photo",                     desk::photo::upload).drawing().taking(PICTURE_BYTES_MAX),
    desk    (POST,   "/desk/members/{member_id}/photo/remove",              desk::photo::remove),
    desk    (POST,   "/desk/members/{member_id}/time",                      desk::members::time::add),
    desk    (GET,    "/desk/members/{member_id}/time/{entry_id}",           desk::members::time::show_entry),
    desk    (POST,   "/desk/members/{member_id}/time/{entry_id}",           desk::members::time::correct),
    desk    (POST,   "/desk/members/{member_id}/time/{entry_id}/delete",    desk::members::time::delete),
    desk    (GET,    "/desk/members/{member_id}/record",                    desk::members::record_skills::show_form),
    desk    (POST,   "/desk/members/{member_id}/record",                    desk::members::record_skills::record).hashing(),
    desk    (GET,    "/desk/members/{member_id}/opening",                   desk::members::opening_balance::show_form),
    desk    (POST,   "/desk/members/{member_id}/opening",                   desk::members::opening_balance::enter),
    desk    (POST,   "/desk/members/{member_id}/pin",                       desk::members::changes::reset_pin),
    desk    (POST,   "/desk/members/{member_id}/sessions",                  desk::members::changes::end_sessions),
    desk    (POST,   "/desk/members/{member_id}/second-factor",             desk::members::changes::reset_second_factor),
    desk    (POST,   "/desk/members/{member_id}/email",                     desk::members::changes::confirm_email),
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
    desk    (POST,   "/desk/members/{member_id}/emergency",                 desk::members::waiver::set_emergency),
    desk    (POST,   "/desk/members/{member_id}/consents/withdraw",         desk::members::waiver::withdraw),
    desk    (POST,   "/desk/members/{member_id}/guardians",                 desk::members::waiver::add_guardian),
    desk    (POST,   "/desk/members/{member_id}/guardians/end",             desk::members::waiver::end_guardian),
    desk    (POST,   "/desk/members/{member_id}/waiver/override",           desk::members::waiver::override_today),
    desk    (POST,   "/desk/members/{member_id}/ban",                       desk::members::changes::ban),
    desk    (POST,   "/desk/members/{member_id}/ban/lift",                  desk::members::changes::lift_ban),

    // Sign-offs
    desk    (GET,    "/desk/sign-offs",                                     desk::sign_offs::list),
    desk    (GET,    "/desk/sign-several",                                  desk::sign_offs::bulk::show_form),
    desk    (POST,   "/desk/sign-several",                                  desk::sign_offs::bulk::sign).hashing(),
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
    desk    (POST,   "/desk/partners",                                      desk::partners::create).for_admins(),
    desk    (GET,    "/desk/partners/{partner_id}",                         desk::partners::card::show).for_admins(),
    desk    (POST,   "/desk/partners/{partner_id}/terms",                   desk::partners::card::set_terms).for_admins(),
    desk    (POST,   "/desk/partners/{partner_id}/rotate",                  desk::partners::card::rotate).for_admins(),
    desk    (POST,   "/desk/partners/{partner_id}/revoke",                  desk::partners::card::revoke).for_admins(),
    desk    (GET,    "/desk/partners/{partner_id}/digest",                  desk::partners::digest::show_form).for_admins(),
    desk    (POST,   "/desk/partners/{partner_id}/digest",                  desk::partners::digest::show).taking(PASTED_BYTES_MAX).for_admins(),
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
    desk    (GET,    "/desk/new-member",                                    desk::new_member::show),
    desk    (POST,   "/desk/new-member",                                    desk::new_member::register),
    desk    (GET,    "/desk/members/{member_id}/welcome",                   desk::new_member::welcome::show),
    desk    (POST,   "/desk/members/{member_id}/slip",                      desk::new_member::welcome::print).drawing(),

    // Till
    desk    (GET,    "/desk/members/{member_id}/payment",                   desk::till::fee::show),
    desk    (POST,   "/desk/members/{member_id}/payment",                   desk::till::fee::take),
    desk    (GET,    "/desk/till",                                          desk::till::show),
    desk    (POST,   "/desk/till/close",                                    desk::till::close),
    desk    (GET,    "/desk/till/closings",                                 desk::till::closings::list),
    desk    (GET,    "/desk/till/closings.csv",                             desk::till::closings::csv).drawing(),
    desk    (GET,    "/desk/till/closings/{closing_id}",                    desk::till::closings::show),
    desk    (GET,    "/desk/till/closings/{closing_id}/entries.csv",        desk::till::closings::entries).drawing(),
    desk    (GET,    "/desk/till/entries.csv",                              desk::till::closings::open_entries).drawing(),
    desk    (GET,    "/desk/till/entries/{entry_id}",                       desk::till::entries::show),
    desk    (GET,    "/desk/till/entries/{entry_id}/receipt",               desk::till::entries::receipt).drawing(),
    desk    (POST,   "/desk/till/entries/{entry_id}/mail",                  desk::till::entries::mail),
    desk    (POST,   "/desk/till/entries/{entry_id}/undo",                  desk::till::entries::undo),

    // Reports
    desk    (GET,    "/desk/reports",                                       desk::reports::show),
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
    desk    (GET,    "/desk/site/audit",                                    desk::site::audit::show).for_admins(),
    desk    (POST,   "/desk/site/audit",                                    desk::site::audit::verify).for_admins(),
    desk    (GET,    "/desk/site/users",                                    desk::site::staff::list).for_admins(),
    desk    (POST,   "/desk/site/users",                                    desk::site::staff::set_role).for_admins(),
    desk    (POST,   "/desk/site/invitations",                              desk::site::invitations::invite).for_admins().drawing(),
    desk    (POST,   "/desk/site/invitations/{invitation_id}/withdraw",     desk::site::invitations::withdraw).for_admins(),

    desk    (GET,    "/desk/waivers",                                       desk::waivers::list),

    // The operator's texts
    desk    (GET,    "/desk/texts",                                         desk::texts::list).for_admins(),
    desk    (GET,    "/desk/texts/edit",                                    desk::texts::edit).for_admins(),
    desk    (POST,   "/desk/texts/edit",                                    desk::texts::save).taking(PASTED_BYTES_MAX).for_admins(),
    desk    (POST,   "/desk/texts/publish",                                 desk::texts::publish).for_admins(),
    desk    (POST,   "/desk/texts/discard",                                 desk::texts::discard).for_admins(),
    desk    (GET,    "/desk/texts/picture.jpg",                             desk::brief_pictures::get).for_admins(),
    desk    (POST,   "/desk/texts/picture",                                 desk::brief_pictures::add).drawing().taking(PICTURE_BYTES_MAX).for_admins(),
    desk    (POST,   "/desk/texts/picture/remove",                          desk::brief_pictures::remove).for_admins(),
    desk    (GET,    "/desk/texts/version",                                 desk::texts::show).for_admins(),

    // Kiosks, at the desk
    desk    (GET,    "/desk/kiosks",                                        desk::kiosks::show),
    desk    (POST,   "/desk/kiosks",                                        desk::kiosks::pair),
    desk    (GET,    "/desk/kiosks/door",                                   desk::kiosks::show_door),
    desk    (POST,   "/desk/kiosks/{kiosk_id}/revoke",                      desk::kiosks::revoke),

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

    // A kiosk: what a member does there
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

/// Every row: the operations, then the pages. Metrics and log lines name a row by its index here.
pub(crate) static TABLE: LazyLock<Vec<&'static Route>> = LazyLock::new(|| ROUTES.iter().chain(PAGES).collect());
