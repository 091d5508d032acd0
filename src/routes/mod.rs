//! The table of routes: every operation and every page, with the credentials that it requires. A row whose credentials do not
//! fit its function does not compile.

mod kiosk_pages;
mod pages;
mod row;

pub use kiosk_pages::KIOSK_PAGES;
use pages::FORM_ADDRESSES;
pub use pages::PAGES;
pub use row::Route;

use crate::api::{
    auth, callbacks, compatibility, description, events, health, logbook, notifications, partner, profile, public,
    standby as follower,
};
use crate::auth::Callback;
use crate::web;
use http::Method;
use row::{PICTURE_BYTES_MAX, bearer, callback, listening, member, open, partner, staff, standby};
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
    partner (GET,    "/external/partner-metrics/op",                        partner::users::list).described(&partner::users::LIST),
    partner (POST,   "/external/partner-metrics/op",                        partner::users::create).described(&partner::users::CREATE).reads::<partner::users::PartnerUserNew>(),
    partner (PUT,    "/external/partner-metrics/op",                        partner::users::edit).described(&partner::users::EDIT).reads::<partner::users::PartnerUserEdit>(),
    partner (GET,    "/external/partner-metrics/op/{id}",                   partner::users::get).described(&partner::users::GET),
    partner (DELETE, "/external/partner-metrics/op/{id}",                   partner::users::delete).described(&partner::users::DELETE),
    staff   (POST,   "/admin/reports/external/partner-metrics/bookings",    partner::reports::bookings).described(&partner::reports::BOOKINGS).reads::<partner::reports::ReportRequest>().when_full().compressed(),
    staff   (POST,   "/admin/reports/external/partner-metrics/history",     partner::reports::history).described(&partner::reports::HISTORY).reads::<partner::reports::ReportRequest>().when_full().compressed(),
    partner (POST,   "/external/partner-metrics/op/generate-token",         partner::token::generate).described(&partner::token::GENERATE).reads::<partner::token::TokenRequest>().ending_in_write().with_client_id(),

    // Authentication
    open    (POST,   "/auth/login",                                         auth::login::with_password).described(&auth::login::WITH_PASSWORD).reads::<auth::login::LoginRequest>().hashing().when_full(),
    open    (POST,   "/auth/login/silent",                                  auth::login::silent).described(&auth::login::SILENT).reads::<auth::login::Credentials>().hashing().when_full(),
    open    (POST,   "/auth/login/bio-web-option",                          auth::passkey::options).described(&auth::passkey::OPTIONS).reads::<auth::passkey::PasskeyQuestion>().constant_time().when_full(),
    open    (POST,   "/auth/login/bio-web-verify",                          auth::passkey::verify).described(&auth::passkey::VERIFY).reads::<auth::passkey::PasskeyAnswer>().when_full(),
    open    (POST,   "/auth/login/totp/setup",                              auth::totp::setup).described(&auth::totp::SETUP).reads::<auth::totp::TotpSetupRequest>().hashing(),
    open    (POST,   "/auth/login/totp/verify-setup",                       auth::totp::verify_setup).described(&auth::totp::VERIFY_SETUP).reads::<auth::totp::TotpProof>().hashing(),
    open    (POST,   "/auth/login/verify-totp",                             auth::totp::verify).described(&auth::totp::VERIFY).reads::<auth::totp::TotpProof>().hashing().when_full(),
    open    (POST,   "/auth/signup",                                        auth::signup::create).described(&auth::signup::CREATE).reads::<auth::signup::SignupRequest>().hashing(),
    open    (POST,   "/auth/signup/check-username",                         auth::signup::check_username).described(&auth::signup::CHECK_USERNAME).reads::<auth::signup::UsernameCheck>().when_full(),
    open    (POST,   "/auth/social",                                        auth::social::sign_in).described(&auth::social::SIGN_IN).reads::<auth::social::SocialSignIn>().when_full(),
    open    (POST,   "/auth/verify-email",                                  auth::email::verify).described(&auth::email::VERIFY).reads::<auth::email::EmailToken>(),
    open    (POST,   "/auth/verify-email/resend",                           auth::email::resend).described(&auth::email::RESEND).reads::<auth::email::EmailToken>(),
    open    (GET,    "/auth/account-access/security-questions",             auth::recovery::questions).described(&auth::recovery::QUESTIONS).reads::<auth::recovery::QuestionsRequest>(),
    open    (POST,   "/auth/account-access/recover-password",               auth::recovery::password).described(&auth::recovery::PASSWORD).reads::<auth::recovery::AccountAccess>().hashing().constant_time(),
    open    (POST,   "/auth/account-access/recover-username",               auth::recovery::username).described(&auth::recovery::USERNAME).reads::<auth::recovery::UsernameRequest>().constant_time(),

    // Profile
    member  (POST,   "/account/profile/2fa-operation",                      profile::two_factor::operate).described(&profile::two_factor::OPERATE).reads::<profile::two_factor::FactorRequest>(),
    member  (POST,   "/account/profile/get-certificate",                    profile::certificates::get).described(&profile::certificates::GET).reads::<profile::certificates::CertificateRequest>().drawing(),
    member  (GET,    "/account/profile/certificate-list",                   profile::certificates::list).described(&profile::certificates::LIST),
    member  (PUT,    "/account/profile/change-password",                    profile::password::change).described(&profile::password::CHANGE).reads::<profile::password::PasswordChange>().hashing(),
    member  (GET,    "/account/profile/booking-history",                    profile::bookings::history).described(&profile::bookings::HISTORY),
    member  (POST,   "/account/profile/booking-pin",                        profile::pin::create).described(&profile::pin::CREATE),
    member  (GET,    "/account/profile/payment-history",                    profile::payments::history).described(&profile::payments::HISTORY),
    member  (GET,    "/account/profile/security-questions",                 profile::questions::list).described(&profile::questions::LIST),
    bearer  (GET,    "/account/profile/user",                               profile::user::get).described(&profile::user::GET),
    member  (PUT,    "/account/profile/user",                               profile::user::edit).described(&profile::user::EDIT).reads::<profile::user::ProfileEdit>().hashing(),
    member  (POST,   "/account/profile/remove-media",                       profile::media::remove).described(&profile::media::REMOVE),
    member  (POST,   "/account/profile/send-verification-passcode",         profile::verification::send).described(&profile::verification::SEND).reads::<profile::verification::PasscodeRequest>(),
    member  (POST,   "/account/profile/verify-verification-passcode",       profile::verification::verify).described(&profile::verification::VERIFY).reads::<profile::verification::PasscodeProof>(),

    // Logbook
    member  (POST,   "/account/logbook/skills/",                            logbook::skills::create).described(&logbook::skills::CREATE).reads::<logbook::skills::SkillNew>().ending_in_write(),
    member  (PUT,    "/account/logbook/skills/{entry_id}",                  logbook::skills::edit).described(&logbook::skills::EDIT).reads::<logbook::skills::SkillEdit>().ending_in_write(),
    member  (POST,   "/account/logbook/time/",                              logbook::time::create).described(&logbook::time::CREATE).reads::<logbook::time::TimeNew>().ending_in_write(),
    bearer  (PUT,    "/account/logbook/time/{entry_id}",                    logbook::time::edit).described(&logbook::time::EDIT).reads::<logbook::time::TimeEdit>().ending_in_write(),
    member  (DELETE, "/account/logbook/{entry_id}",                         logbook::entries::delete).described(&logbook::entries::DELETE),
    bearer  (GET,    "/account/logbook/skills/{status}/{member_id}",        logbook::skills::list).described(&logbook::skills::LIST),
    bearer  (GET,    "/account/logbook/mobile/skills/{member_id}",          logbook::skills::list_all).described(&logbook::skills::LIST_ALL),
    bearer  (GET,    "/account/logbook/time/{member_id}",                   logbook::time::list).described(&logbook::time::LIST),
    bearer  (GET,    "/account/logbook/category/{member_id}",               logbook::category::options).described(&logbook::category::OPTIONS),
    bearer  (GET,    "/account/logbook/filter-skills/{member_id}/{category}", logbook::eligible::list).described(&logbook::eligible::LIST),
    member  (GET,    "/account/logbook/instructors/{skill}/{tunnel}",       logbook::signers::list).described(&logbook::signers::LIST),
    bearer  (GET,    "/account/logbook/coach-safety/{member_id}",           logbook::safety::coach).described(&logbook::safety::COACH),
    bearer  (GET,    "/account/logbook/flyer-safety/{member_id}",           logbook::safety::flyer).described(&logbook::safety::FLYER),
    bearer  (GET,    "/account/logbook/instructor-safety/{member_id}",      logbook::safety::instructor).described(&logbook::safety::INSTRUCTOR),
    bearer  (GET,    "/account/logbook/military-safety/{member_id}",        logbook::safety::military).described(&logbook::safety::MILITARY),
    bearer  (GET,    "/account/logbook/trainer-safety/{member_id}",         logbook::safety::trainer).described(&logbook::safety::TRAINER),

    // Public
    open    (POST,   "/public/contact",                                     public::contact::send).described(&public::contact::SEND).reads::<public::contact::ContactMessage>(),
    open    (GET,    "/public/countries",                                   public::countries::list).described(&public::countries::LIST),
    open    (GET,    "/public/translations",                                public::translations::get).described(&public::translations::GET),
    open    (GET,    "/public/tunnels/{tunnel_id}",                         public::tunnels::get).described(&public::tunnels::GET),

    // Callbacks
    callback(POST,   "/social-data-deletion",                               Callback::Deletion(callbacks::deletion::carry_out)).described(&callbacks::deletion::CARRY_OUT).reads::<crate::auth::SignedRequest>(),
    open    (GET,    "/social-data-deletion-status",                        web::public::deletion_status::show).described(&web::public::deletion_status::SHOW).open_from_home(),
    callback(POST,   "/mail-webhook",                                       Callback::Mail(callbacks::mail::receive)).described(&callbacks::mail::RECEIVE),
    callback(POST,   "/payment-webhook",                                    Callback::Payment(callbacks::payment::receive)).described(&callbacks::payment::RECEIVE).reads::<callbacks::payment_event::PaymentEvent>(),

    // Notifications
    member  (GET,    "/account/notifications",                              notifications::list).described(&notifications::LIST),
    member  (PUT,    "/account/notifications/read/{notification_id}",       notifications::read).described(&notifications::READ),

    // Ours, beside the contract
    partner (GET,    "/external/partner-metrics/bookings",                  partner::bookings::list).described(&partner::bookings::LIST).ours().signing_request(),
    partner (GET,    "/external/partner-metrics/bookings/{registration_id}", partner::bookings::get).described(&partner::bookings::GET).ours().signing_request(),
    partner (DELETE, "/external/partner-metrics/bookings/{registration_id}", partner::bookings::cancel).described(&partner::bookings::CANCEL).ours().signing_request(),
    listening(GET,   "/events",                                             events::listen).described(&events::LISTEN).ours().signing_request(),
    member  (POST,   "/events/ticket",                                      events::ticket).described(&events::TICKET).ours(),
    member  (POST,   "/auth/logout",                                        auth::logout::end).described(&auth::logout::END).ours().when_full(),
    member  (POST,   "/account/profile/media",                              profile::media::upload).described(&profile::media::UPLOAD).ours().drawing().taking(PICTURE_BYTES_MAX),
    member  (GET,    "/account/profile/media",                              profile::media::get).described(&profile::media::GET).ours(),
    open    (GET,    "/verify/{code}",                                      web::public::verify::show).described(&web::public::verify::SHOW).ours().at_root().open_from_home(),
    member  (POST,   "/account/profile/kiosk-code",                         profile::kiosk_code::create).described(&profile::kiosk_code::CREATE).ours(),
    member  (GET,    "/account/profile/waiver",                             profile::waiver::get).described(&profile::waiver::GET).ours(),
    member  (POST,   "/account/profile/waiver",                             profile::waiver::sign).described(&profile::waiver::SIGN).reads::<profile::waiver::WaiverSignature>().ours(),
    member  (POST,   "/account/profile/reauthenticate",                     profile::reauthenticate::prove).described(&profile::reauthenticate::PROVE).reads::<profile::reauthenticate::Reauthentication>().ours().hashing(),
    member  (GET,    "/account/profile/passkeys",                           profile::passkeys::list).described(&profile::passkeys::LIST).ours(),
    member  (DELETE, "/account/profile/passkeys/{passkey_id}",              profile::passkeys::delete).described(&profile::passkeys::DELETE).ours(),
    member  (GET,    "/account/profile/sessions",                           profile::sessions::list).described(&profile::sessions::LIST).ours(),
    member  (DELETE, "/account/profile/sessions",                           profile::sessions::end_others).described(&profile::sessions::END_OTHERS).ours(),
    member  (DELETE, "/account/profile/sessions/{session_id}",              profile::sessions::end).described(&profile::sessions::END).ours(),
    open    (GET,    "/mail-webhook",                                       callbacks::mail::probe).described(&callbacks::mail::PROBE).ours().open_from_home(),
    member  (GET,    "/account/logbook/requests",                           logbook::entry_events::requests).described(&logbook::entry_events::REQUESTS).ours(),
    member  (GET,    "/account/logbook/entries/{entry_id}/events",          logbook::skills::events).described(&logbook::skills::EVENTS).ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/sign",            logbook::entry_events::sign).described(&logbook::entry_events::SIGN).reads::<logbook::entry_events::Signature>().ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/deny",            logbook::entry_events::deny).described(&logbook::entry_events::DENY).reads::<logbook::entry_events::Denial>().ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/suspend",         logbook::entry_events::suspend).described(&logbook::entry_events::SUSPEND).ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/reinstate",       logbook::entry_events::reinstate).described(&logbook::entry_events::REINSTATE).ours(),
    member  (POST,   "/account/logbook/opening-balance/{member_id}",        logbook::opening::create).described(&logbook::opening::CREATE).reads::<logbook::opening::OpeningBalance>().ours(),
    standby (POST,   "/standby",                                            follower::answer).described(&follower::ANSWER).reads::<follower::StandbyRequest>().ours().when_full(),
    open    (GET,    "/openapi.json",                                       description::document).described(&description::DOCUMENT).ours(),
    open    (GET,    "/collection.json",                                    description::collection).described(&description::COLLECTION).ours(),
    open    (GET,    "/schemas/upstream-batch-1.json",                      description::upstream_batch).described(&description::UPSTREAM_BATCH).ours(),
    open    (GET,    "/docs",                                               description::page).described(&description::PAGE).ours().at_root(),
    open    (GET,    "/healthz",                                            health::alive).described(&health::ALIVE).ours().at_root().in_clear(),
    open    (GET,    "/readyz",                                             health::ready).described(&health::READY).ours().at_root().in_clear(),
    open    (GET,    "/ca",                                                 web::public::authority::page).described(&web::public::authority::PAGE).ours().at_root().in_clear(),
    open    (GET,    "/ca.crt",                                             web::public::authority::certificate).described(&web::public::authority::CERTIFICATE).ours().at_root().in_clear(),
    bearer  (GET,    "/account/logbook/progression/{member_id}",            logbook::progression::svg).described(&logbook::progression::SVG).ours(),
    bearer  (GET,    "/account/logbook/export/{member_id}",                 logbook::export::csv).described(&logbook::export::CSV).ours().drawing(),
    bearer  (GET,    "/account/logbook/print/{member_id}",                  logbook::print::pdf).described(&logbook::print::PDF).ours().drawing(),

    // Not in the contract, but called by existing clients
    member  (POST,   "/account/logbook/member/time/",                       logbook::time::create).described(&logbook::time::CREATE_MEMBER).reads::<logbook::time::TimeNew>().ending_in_write().ours(),
    member  (GET,    "/account/notifications/requests",                     logbook::entry_events::count_requests).described(&logbook::entry_events::COUNT_REQUESTS).ours(),
    member  (GET,    "/account/logbook/tunnels",                            compatibility::tunnels::list).described(&compatibility::tunnels::LIST).ours(),
    bearer  (GET,    "/account/dashboard/flyer-skills-levels/{member_id}",  compatibility::levels::get).described(&compatibility::levels::GET).ours(),
    open    (GET,    "/public/skills",                                      compatibility::skills::list).described(&compatibility::skills::LIST).ours(),
];

/// Every row: the operations, the pages, and the addresses of forms. Metrics and log lines name a row by its index here.
pub(crate) static TABLE: LazyLock<Vec<&'static Route>> =
    LazyLock::new(|| ROUTES.iter().chain(PAGES).chain(KIOSK_PAGES).chain(FORM_ADDRESSES.iter()).collect());
