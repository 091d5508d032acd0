//! Sets the database's clock back after the machine's clock was ahead.

use crate::store::Write;
use rusqlite::Result;

/// Tables of rows that expire, and the condition of a row that began while the clock was ahead. Such a row would live
/// too long, by as much as the clock was wrong.
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

/// Sets back every moment that is later than the transaction's: rows that began then are deleted, messages that wait
/// for such a moment are due now, and codes of authenticator apps count from now. Other rows keep their dates. Returns
/// how many rows were deleted.
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
