//! Every deed that the audit log knows. Each has its words, under `deed.` and its name.

/// In the order in which people look for them.
pub(crate) const DEEDS: &[&str] = &[
    "member.added",
    "members.imported",
    "member.role_set",
    "member.confirmed",
    "member.banned",
    "member.unbanned",
    "member.unlocked",
    "member.erased",
    "member.code_printed",
    "member.claimed",
    "member.pin_renewed",
    "member.sessions_ended",
    "member.photo_taken",
    "member.photo_removed",
    "member.password_changed",
    "member.recovered",
    "member.email_changed",
    "member.phone_changed",
    "member.second_factor_on",
    "member.second_factor_off",
    "member.recovery_codes_made",
    "member.recovery_code_used",
    "member.passkey_added",
    "member.passkey_removed",
    "member.passkey_copied",
    "member.social_linked",
    "member.social_unlinked",
    "member.change_undone",
    "staff.signed_in",
    "session.issued",
    "entry.entered",
    "entry.edited",
    "entry.deleted",
    "entry.cancelled",
    "entry.signed",
    "entry.denied",
    "entry.suspended",
    "entry.reinstated",
    "entries.imported",
    "opening.entered",
    "booking.made",
    "booking.checked_in",
    "booking.check_in_undone",
    "booking.moved",
    "booking.cancelled",
    "booking.no_show",
    "booking.reinstated",
    "bookings.imported",
    "partner.added",
    "partner.rotated",
    "partner.revoked",
    "partner.terms_set",
    "partner.paused",
    "partner_user.restored",
    "signer.added",
    "signer.removed",
    "kiosk.code_made",
    "kiosk.revoked",
    "message.read_out",
    "messages.retried",
    "address.lifted",
    "contact.done",
    "mail.tested",
    "payment.assigned",
    "payment.voided",
    "payment.taken",
    "payment.undone",
    "receipt.mailed",
    "till.closed",
    "tunnels.imported",
    "reminders.given",
    "sync.rewound",
    "tls.made",
    "tls.renewed",
    "backup.made",
    "backup.drilled",
    "indexes.rebuilt",
    "alarm.noted",
    "key.rotated",
    "clock.set_back",
    "site.made",
    "site.restored",
    "site.rolled_back",
    "audit.verified",
];

#[cfg(test)]
mod tests {
    use super::DEEDS;
    use crate::i18n::language::Language;

    #[test]
    fn every_deed_has_its_words_in_every_language_and_stands_once() {
        for (place, deed) in DEEDS.iter().enumerate() {
            assert!(!DEEDS[..place].contains(deed), "{deed} stands twice");
            for language in Language::ALL {
                assert!(language.texts().contains_key(&format!("deed.{deed}")), "{deed} {language:?}");
            }
        }
    }
}
