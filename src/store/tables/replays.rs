//! The outcomes of requests with an `Idempotency-Key`, written in the transaction of the effect; and the numbers of forms
//! that were sent, without an outcome.

use crate::domain::ids::BookingId;
use crate::keys::columns;
use crate::moment::Moment;
use crate::store::personal::{Ahead, Expiry, HASH, Mention, Table, mentioned, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "replays",
    "replay_key",
    &[
        not_personal("replay_key", HASH),
        not_personal("body_digest", HASH),
        mentioned("outcome", Mention::RowRemoved).sealed(&columns::OUTCOME),
        not_personal("token_hash", "of a token that ends with its session"),
    ],
    &[],
)
.expires(&[Expiry::after("replay_key", "kept_at", KEPT_SECONDS)])
.ahead(Ahead::Deleted("kept_at"))];

const KEPT_SECONDS: i64 = 24 * 3600;

row! {
    /// The outcome of a first request.
    pub(crate) struct StoredOutcome {
        pub body_digest: [u8; 32],
        /// The outcome as JSON, sealed; empty where it is void, and for a form.
        pub outcome: Vec<u8>,
        /// SHA-256 of the token that the outcome contains, if any.
        pub token_hash: Option<[u8; 32]>,
        /// The booking that the outcome is about, if any.
        pub booking_id: Option<BookingId>,
    }
}

pub(crate) fn find(tx: &Read, replay_key: &[u8; 32], now: Moment) -> Result<Option<StoredOutcome>> {
    let sql = sql!("SELECT ", StoredOutcome::COLUMNS, " FROM replays WHERE replay_key = ?1 AND kept_at > ?2");
    tx.find(sql, (&replay_key[..], now - KEPT_SECONDS))
}

pub(crate) fn insert(tx: &Write, replay_key: &[u8; 32], kept: &StoredOutcome) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO replays" {
        replay_key: &replay_key[..], body_digest: &kept.body_digest[..], outcome: kept.outcome,
        kept_at: tx.now(), token_hash: kept.token_hash.as_ref().map(|hash| &hash[..]), booking_id: kept.booking_id,
    })
}

/// Voids the stored outcomes about a booking: a repeated request is judged anew, and its key stays with its body.
pub(crate) fn void_about_booking(tx: &Write, booking_id: BookingId) -> Result<usize> {
    tx.run(sql!("UPDATE replays SET outcome = x'', token_hash = NULL WHERE booking_id = ?1"), [booking_id])
}
