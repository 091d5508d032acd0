//! The table of routes: every operation and every page, with the credentials that it requires. A row whose credentials do not
//! fit its function does not compile.

mod pages;
mod row;

use pages::FORM_ADDRESSES;
pub use pages::PAGES;
pub use row::Route;

use crate::api::{
    auth, callbacks, compatibility, description, health, logbook, notifications, partner, profile, public,
    standby as follower,
};
use crate::auth::Callback;
use crate::web;
use http::Method;
use row::{PICTURE_BYTES_MAX, bearer, callback, member, open, partner, staff, standby};
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
    partner (GET,    "/external/partner-metrics/bookings",                  partner::bookings::list).ours().signing_request(),
    partner (GET,    "/external/partner-metrics/bookings/{registration_id}", partner::bookings::get).ours().signing_request(),
    partner (DELETE, "/external/partner-metrics/bookings/{registration_id}", partner::bookings::cancel).ours().signing_request(),
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
    member  (GET,    "/account/logbook/entries/{entry_id}/events",          logbook::skills::events).ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/sign",            logbook::entry_events::sign).reads::<logbook::entry_events::Signature>().ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/deny",            logbook::entry_events::deny).reads::<logbook::entry_events::Denial>().ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/suspend",         logbook::entry_events::suspend).ours(),
    member  (POST,   "/account/logbook/entries/{entry_id}/reinstate",       logbook::entry_events::reinstate).ours(),
    member  (POST,   "/account/logbook/opening-balance/{member_id}",        logbook::opening::create).reads::<logbook::opening::OpeningBalance>().ours(),
    standby (POST,   "/standby",                                            follower::answer).reads::<follower::StandbyRequest>().ours().when_full(),
    open    (GET,    "/openapi.json",                                       description::document).ours(),
    open    (GET,    "/collection.json",                                    description::collection).ours(),
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

/// Every row: the operations, the pages, and the addresses of forms. Metrics and log lines name a row by its index here.
pub(crate) static TABLE: LazyLock<Vec<&'static Route>> =
    LazyLock::new(|| ROUTES.iter().chain(PAGES).chain(FORM_ADDRESSES.iter()).collect());
