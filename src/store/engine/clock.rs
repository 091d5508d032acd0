//! The latest moment that the file remembers, where that was wrong.

use crate::store::Write;
use rusqlite::Result;

/// Rows that expire, and the condition by which one was begun while the clock was ahead: such a row would outlive its
/// time by as much as the clock was wrong.
const BEGUN_AHEAD: [&str; 15] = [
    "sessions WHERE max(created_at, seen_at) > :now",
    "throttles WHERE missed_at > :now",
    "partner_signatures WHERE used_at > :now",
    "booking_tokens WHERE created_at > :now",
    "replays WHERE answered_at > :now",
    "passcodes WHERE created_at > :now",
    "passcode_sends WHERE sent_at > :now",
    "passkey_challenges WHERE created_at > :now",
    "email_tokens WHERE created_at > :now",
    "account_claims WHERE created_at > :now",
    "devices WHERE used_at > :now",
    "sign_in_steps WHERE ends_at > :now",
    "kiosk_pairings WHERE ends_at > :now",
    "kiosk_guests WHERE seen_at > :now",
    "kiosk_codes WHERE ends_at > :now",
];

/// Takes every moment later than the transaction's out of the file: rows begun then end, rows that wait for such a
/// moment wait no more, and the codes of authenticator apps count from now. Rows written then keep their dates. Returns
/// how many rows ended.
pub(crate) fn set_back(tx: &Write) -> Result<usize> {
    let now = &[(":now", &tx.now())];
    let mut ended = 0;
    for begun in BEGUN_AHEAD {
        ended += tx.run(&format!("DELETE FROM {begun}"), now)?;
    }
    tx.run(sql!("UPDATE second_factors SET last_step = min(last_step, :now / 30 - 1)"), now)?;
    tx.run(sql!("UPDATE outbox SET next_try_at = :now WHERE state = 'waiting' AND next_try_at > :now"), now)?;
    tx.run(sql!("UPDATE site SET clock_high_water = :now"), now)?;
    Ok(ended)
}
