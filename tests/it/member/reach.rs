//! What the API gives a member, and the own page on which a person reaches it.

use std::collections::BTreeSet;
use tunneldesk::routes::{PAGES, ROUTES};

/// Method and path of an operation, and the own page that shows or does the same.
const REACHED: [(&str, &str, &str); 46] = [
    ("POST", "/account/profile/get-certificate", "/me/papers"),
    ("GET", "/account/profile/certificate-list", "/me/papers"),
    ("PUT", "/account/profile/change-password", "/me/account/password"),
    ("GET", "/account/profile/booking-history", "/me/bookings"),
    ("POST", "/account/profile/booking-pin", "/me/account/pin"),
    ("GET", "/account/profile/payment-history", "/me/payments"),
    ("GET", "/account/profile/user", "/me"),
    ("PUT", "/account/profile/user", "/me/account/profile"),
    ("POST", "/account/profile/send-verification-passcode", "/me/account/email"),
    ("POST", "/account/profile/verify-verification-passcode", "/me/account/email/code"),
    ("POST", "/account/logbook/skills/", "/me/logbook/sign-off/{skill}"),
    ("PUT", "/account/logbook/skills/{entry_id}", "/me/logbook/entries/{entry_id}"),
    ("POST", "/account/logbook/time/", "/me/logbook/time"),
    ("PUT", "/account/logbook/time/{entry_id}", "/me/logbook/time/{entry_id}"),
    ("DELETE", "/account/logbook/{entry_id}", "/me/logbook/time/{entry_id}/delete"),
    ("GET", "/account/logbook/skills/{status}/{member_id}", "/me/logbook"),
    ("GET", "/account/logbook/mobile/skills/{member_id}", "/me/logbook"),
    ("GET", "/account/logbook/time/{member_id}", "/me/logbook"),
    ("GET", "/account/logbook/filter-skills/{member_id}/{category}", "/me/logbook/sign-off"),
    ("GET", "/account/logbook/instructors/{skill}/{tunnel}", "/me/logbook/sign-off/{skill}"),
    ("GET", "/account/logbook/flyer-safety/{member_id}", "/me/logbook"),
    ("GET", "/account/logbook/coach-safety/{member_id}", "/me/logbook"),
    ("GET", "/account/logbook/instructor-safety/{member_id}", "/me/logbook"),
    ("GET", "/account/logbook/military-safety/{member_id}", "/me/logbook"),
    ("GET", "/account/logbook/trainer-safety/{member_id}", "/me/logbook"),
    ("GET", "/account/notifications", "/me/notices"),
    ("PUT", "/account/notifications/read/{notification_id}", "/me/notices"),
    ("POST", "/auth/logout", "/me/sign-out"),
    ("POST", "/account/profile/kiosk-code", "/me/card/code"),
    ("GET", "/account/profile/sessions", "/me/account"),
    ("DELETE", "/account/profile/sessions", "/me/account/devices"),
    ("DELETE", "/account/profile/sessions/{session_id}", "/me/account/devices"),
    ("GET", "/account/logbook/requests", "/me/signing"),
    ("POST", "/account/logbook/entries/{entry_id}/sign", "/me/signing"),
    ("POST", "/account/logbook/entries/{entry_id}/deny", "/me/signing/{entry_id}/deny"),
    ("POST", "/account/profile/waiver", "/me/waiver"),
    ("GET", "/account/profile/media", "/me/account/photo.jpg"),
    ("POST", "/account/profile/media", "/me/account/photo"),
    ("POST", "/account/profile/remove-media", "/me/account/photo/remove"),
    ("POST", "/account/profile/2fa-operation", "/me/account/security/off"),
    ("GET", "/account/profile/security-questions", "/me/account/questions"),
    ("POST", "/account/profile/reauthenticate", "/me/account/prove"),
    ("GET", "/account/profile/passkeys", "/me/account/security"),
    ("DELETE", "/account/profile/passkeys/{passkey_id}", "/me/account/security/passkeys/remove"),
    ("GET", "/account/logbook/tunnels", "/me/logbook/time"),
    ("GET", "/account/logbook/export/{member_id}", "/me/logbook.csv"),
];

/// Operations of which another one of [`REACHED`] is the same for a person: the spellings of existing clients, and what a page
/// shows beside its list.
const SAME: [(&str, &str); 8] = [
    ("GET", "/account/logbook/category/{member_id}"),
    ("GET", "/account/profile/waiver"),
    ("GET", "/account/logbook/entries/{entry_id}/events"),
    ("GET", "/account/logbook/progression/{member_id}"),
    ("GET", "/account/logbook/print/{member_id}"),
    ("POST", "/account/logbook/member/time/"),
    ("GET", "/account/notifications/requests"),
    ("GET", "/account/dashboard/flyer-skills-levels/{member_id}"),
];

/// Operations of the staff, by a session of the API.
const OF_STAFF: [(&str, &str); 3] = [
    ("POST", "/account/logbook/entries/{entry_id}/suspend"),
    ("POST", "/account/logbook/entries/{entry_id}/reinstate"),
    ("POST", "/account/logbook/opening-balance/{member_id}"),
];

/// Operations that only programs need: a browser sends its cookie.
const OF_PROGRAMS: [(&str, &str); 1] = [("POST", "/events/ticket")];

#[test]
fn every_operation_of_a_member_has_an_own_page_or_is_named_here() {
    let of_member = ROUTES.iter().filter(|route| ["member", "bearer"].contains(&route.caller()));
    let all: BTreeSet<(&str, &str)> = of_member.map(|route| (route.method.as_str(), route.path)).collect();
    let reached = REACHED.iter().map(|(method, path, _)| (*method, *path));
    let named: Vec<(&str, &str)> = reached.chain(SAME).chain(OF_STAFF).chain(OF_PROGRAMS).collect();
    let known: BTreeSet<(&str, &str)> = named.iter().copied().collect();
    assert_eq!(known.len(), named.len(), "an operation is named twice");
    let missing: Vec<_> = all.difference(&known).collect();
    let gone: Vec<_> = known.difference(&all).collect();
    assert!(
        missing.is_empty() && gone.is_empty(),
        "say where a person does these: {missing:#?}; these are none: {gone:#?}"
    );
    for (_, operation, page) in REACHED {
        let is_own = PAGES.iter().any(|row| row.caller() == "own" && row.path == page);
        assert!(is_own, "{operation}: {page} is no own page");
    }
}
