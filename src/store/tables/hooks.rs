//! Webhooks: addresses to which a partner's events are sent, their secrets, and the events that wait for them.

use crate::domain::ids::{BookingId, HookId, PartnerId};
use crate::keys::{Keys, columns};
use crate::moment::Moment;
use crate::store::personal::{OUR_WORD, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::nobodys(
        "hooks",
        &[
            not_personal("url", "a partner's server"),
            not_personal("types", OUR_WORD),
            not_personal("address", "an address in the hall's network"),
            not_personal("trouble", OUR_WORD),
            not_personal("ended_as", OUR_WORD),
        ],
    ),
    Table::nobodys("hook_secrets", &[not_personal("sealed", "a partner's secret")]),
    Table::nobodys("hook_deliveries", &[not_personal("trouble", OUR_WORD)]),
];

named! {
    /// Why nothing is sent to a hook.
    pub enum Ended {
        /// Its first test was not taken yet.
        Untested = "untested",
        /// An admin switched it off.
        Off = "off",
        /// An admin ended it for good.
        Removed = "removed",
        /// Its server said that it is gone.
        Gone = "gone",
        /// Nothing was taken for days.
        Failing = "failing",
    }
}

row! {
    /// A hook.
    #[derive(Debug, Clone)]
    pub struct Hook in "h." {
        /// Its number.
        pub hook_id: HookId,
        /// Whose bookings it hears of.
        pub partner_id: PartnerId,
        /// The partner's `client_id`.
        pub client_id: String = "p.client_id",
        /// Whether the partner's access has ended.
        pub revoked: bool = "p.revoked_at IS NOT NULL",
        /// Where to.
        pub url: String,
        /// The choice of types; empty: all.
        pub types: String,
        /// A private address that an admin named; empty: none.
        pub address: String,
        /// Events up to this one are queued.
        pub cursor: i64,
        /// Since when nothing was taken.
        pub failing_since: Option<Moment>,
        /// Why the last delivery was not taken.
        pub trouble: String,
        /// Deliveries that were taken.
        pub sent: i64,
        /// When the last one was.
        pub taken_at: Option<Moment>,
        /// Whether a test is to be sent.
        pub test_asked: bool,
        /// When the last test was taken.
        pub tested_at: Option<Moment>,
        /// When it was registered.
        pub created_at: Moment,
        /// When it ended.
        pub ended_at: Option<Moment>,
        /// Why.
        pub ended_as: Option<Ended>,
        /// Events that wait.
        pub waiting: i64 = "(SELECT count(*) FROM hook_deliveries d WHERE d.hook_id = h.hook_id AND d.due_at IS NOT NULL)",
        /// Events that are not sent again.
        pub dead: i64 = "(SELECT count(*) FROM hook_deliveries d WHERE d.hook_id = h.hook_id AND d.due_at IS NULL)",
    }
}

row! {
    /// An event that a hook did not take however often it was sent.
    #[derive(Debug)]
    pub(crate) struct Dead {
        pub seq: i64,
        pub booking_id: BookingId,
        /// Why it was not taken the last time.
        pub trouble: String,
    }
}

impl Hook {
    /// Whether it ended by itself.
    pub(crate) fn is_broken(&self) -> bool {
        matches!(self.ended_as, Some(Ended::Gone | Ended::Failing))
    }

    /// Whether it is in force, and events were not taken.
    pub(crate) fn is_failing(&self) -> bool {
        self.ended_at.is_none() && (self.failing_since.is_some() || self.dead > 0)
    }
}

const HOOKS: &str = joined!("SELECT ", Hook::COLUMNS, " FROM hooks h JOIN partners p ON p.partner_id = h.partner_id");

/// All hooks, in the order of their numbers.
pub fn list(tx: &Read) -> Result<Vec<Hook>> {
    tx.list(sql!(HOOKS, " ORDER BY h.hook_id"), [])
}

/// A hook, also one that has ended.
pub(crate) fn find(tx: &Read, hook_id: HookId) -> Result<Option<Hook>> {
    tx.find(sql!(HOOKS, " WHERE h.hook_id = ?1"), [hook_id])
}

/// The hooks of a partner that were not ended for good.
pub(crate) fn list_of(tx: &Read, partner_id: PartnerId) -> Result<Vec<Hook>> {
    let sql = sql!(HOOKS, " WHERE h.partner_id = ?1 AND h.ended_as IS NOT 'removed' ORDER BY h.hook_id");
    tx.list(sql, [partner_id])
}

/// The partner of the first hook whose events are not sent any more or that ended by itself, and how many such hooks there are.
pub(crate) fn find_broken(tx: &Read) -> Result<(Option<PartnerId>, i64)> {
    let sql = sql!(
        "SELECT min(h.partner_id), count(*) FROM hooks h JOIN partners p ON p.partner_id = h.partner_id
         WHERE p.revoked_at IS NULL AND (h.ended_as IN ('gone', 'failing') OR (h.ended_at IS NULL
             AND EXISTS (SELECT 1 FROM hook_deliveries d WHERE d.hook_id = h.hook_id AND d.due_at IS NULL)))"
    );
    tx.get(sql, [])
}

/// Adds a hook that hears of what happens after `cursor`; returns its number.
pub(crate) fn insert(
    tx: &Write,
    partner_id: PartnerId,
    (url, types, address): (&str, &str, &str),
    cursor: i64,
) -> Result<HookId> {
    let row = insert!(tx.insert, "INSERT INTO hooks" { partner_id, url, types, address, cursor, created_at: tx.now() });
    row.map(HookId)
}

/// Adds a secret. The one before ends at a moment, and those before it now: two sign at most.
pub(crate) fn insert_secret(
    tx: &Write,
    keys: &Keys,
    hook_id: HookId,
    secret: &[u8],
    others_end_at: Moment,
) -> Result<usize> {
    let end = sql!(
        "UPDATE hook_secrets SET ends_at = min(coalesce(ends_at, ?2), iif(ends_at IS NULL, ?2, ?3)) WHERE hook_id = ?1"
    );
    tx.run(end, (hook_id, others_end_at, tx.now()))?;
    let secret_id = tx.next_number("hook_secrets")?;
    let sealed = keys.seal(&columns::HOOK_SECRET.at([secret_id.into(), hook_id.into()]), secret);
    insert!(tx.run, "INSERT INTO hook_secrets" { secret_id, hook_id, sealed, created_at: tx.now() })
}

/// The secrets in force that can be read, newest first.
pub(crate) fn list_secrets(tx: &Read, keys: &Keys, hook_id: HookId, now: Moment) -> Result<Vec<Vec<u8>>> {
    let sql = sql!(
        "SELECT secret_id, sealed FROM hook_secrets WHERE hook_id = ?1 AND coalesce(ends_at, ?2 + 1) > ?2 ORDER BY secret_id DESC"
    );
    let sealed: Vec<(i64, Vec<u8>)> = tx.list(sql, (hook_id, now))?;
    let open = |(secret_id, sealed): (i64, Vec<u8>)| {
        keys.unseal(&columns::HOOK_SECRET.at([secret_id.into(), hook_id.into()]), &sealed)
    };
    Ok(sealed.into_iter().filter_map(open).collect())
}

/// Until when a secret signs that another one has replaced; `None`: none does any more.
pub(crate) fn find_old_secret_end(tx: &Read, hook_id: HookId, now: Moment) -> Result<Option<Moment>> {
    tx.get(sql!("SELECT max(ends_at) FROM hook_secrets WHERE hook_id = ?1 AND ends_at > ?2"), (hook_id, now))
}

/// Queues an event, also one that was given up.
pub(crate) fn queue(tx: &Write, hook_id: HookId, seq: i64, booking_id: BookingId) -> Result<usize> {
    insert!(tx.run, "INSERT INTO hook_deliveries" { hook_id, seq, booking_id, due_at: tx.now() }
            "ON CONFLICT DO UPDATE SET due_at = excluded.due_at, tries = 0")
}

/// Notes that every event up to a number is queued.
pub(crate) fn set_cursor(tx: &Write, hook_id: HookId, cursor: i64) -> Result<usize> {
    tx.run(sql!("UPDATE hooks SET cursor = ?2 WHERE hook_id = ?1"), (hook_id, cursor))
}

/// The events that are due now, at most one of each booking: its first.
pub(crate) fn list_due(tx: &Read, hook_id: HookId, now: Moment, limit: i64) -> Result<Vec<i64>> {
    let sql = sql!(
        "SELECT d.seq FROM hook_deliveries d INDEXED BY hook_deliveries_due
          WHERE d.hook_id = :hook_id AND d.due_at IS NOT NULL AND d.due_at <= :now
            AND NOT EXISTS (SELECT 1 FROM hook_deliveries e WHERE e.hook_id = d.hook_id AND e.booking_id = d.booking_id
                                  AND e.seq < d.seq AND e.due_at IS NOT NULL)
          ORDER BY d.seq LIMIT :limit"
    );
    tx.list(sql, named_params! {":hook_id": hook_id, ":now": now, ":limit": limit})
}

/// The first events that are not sent any more.
pub(crate) fn list_dead(tx: &Read, hook_id: HookId, limit: i64) -> Result<Vec<Dead>> {
    let sql = sql!(
        "SELECT ",
        Dead::COLUMNS,
        " FROM hook_deliveries WHERE hook_id = ?1 AND due_at IS NULL ORDER BY seq LIMIT ?2"
    );
    tx.list(sql, (hook_id, limit))
}

/// How often an event was not taken; `None`: it does not wait.
pub(crate) fn find_tries(tx: &Read, hook_id: HookId, seq: i64) -> Result<Option<i64>> {
    let sql = sql!("SELECT tries FROM hook_deliveries WHERE hook_id = ?1 AND seq = ?2 AND due_at IS NOT NULL");
    tx.find(sql, (hook_id, seq))
}

/// Removes what was taken.
pub(crate) fn set_taken(tx: &Write, hook_id: HookId, seq: i64) -> Result<usize> {
    tx.run(sql!("DELETE FROM hook_deliveries WHERE hook_id = ?1 AND seq = ?2"), (hook_id, seq))?;
    let sql =
        sql!("UPDATE hooks SET failing_since = NULL, trouble = '', sent = sent + 1, taken_at = ?2 WHERE hook_id = ?1");
    tx.run(sql, (hook_id, tx.now()))
}

/// Notes why an event was not taken, and when it is sent again; `None`: never.
pub(crate) fn set_again(
    tx: &Write,
    hook_id: HookId,
    seq: i64,
    again_at: Option<Moment>,
    trouble: &str,
) -> Result<usize> {
    let sql =
        sql!("UPDATE hook_deliveries SET due_at = ?3, trouble = ?4, tries = tries + 1 WHERE hook_id = ?1 AND seq = ?2");
    tx.run(sql, (hook_id, seq, again_at, trouble))
}

/// Notes that a hook fails, and why.
pub(crate) fn set_trouble(tx: &Write, hook_id: HookId, trouble: &str) -> Result<usize> {
    let sql = sql!("UPDATE hooks SET failing_since = coalesce(failing_since, ?2), trouble = ?3 WHERE hook_id = ?1");
    tx.run(sql, (hook_id, tx.now(), trouble))
}

/// Asks for a test.
pub(crate) fn ask_test(tx: &Write, hook_id: HookId) -> Result<usize> {
    tx.run(sql!("UPDATE hooks SET test_asked = 1 WHERE hook_id = ?1"), [hook_id])
}

/// Notes what became of a test; an empty `trouble`: it was taken.
pub(crate) fn set_tested(tx: &Write, hook_id: HookId, trouble: &str) -> Result<usize> {
    let sql = sql!(
        "UPDATE hooks SET test_asked = 0, trouble = ?2, tested_at = iif(?2 = '', ?3, tested_at) WHERE hook_id = ?1"
    );
    tx.run(sql, (hook_id, trouble, tx.now()))
}

/// Ends a hook that is in force; what waits for it is not sent.
pub(crate) fn end(tx: &Write, hook_id: HookId, ended: Ended) -> Result<usize> {
    let sql = sql!("UPDATE hooks SET ended_at = ?2, ended_as = ?3 WHERE hook_id = ?1 AND ended_at IS NULL");
    tx.run(sql, (hook_id, tx.now(), ended))
}

/// Removes what waits for a hook.
pub(crate) fn delete_deliveries(tx: &Write, hook_id: HookId) -> Result<usize> {
    tx.run(sql!("DELETE FROM hook_deliveries WHERE hook_id = ?1"), [hook_id])
}

/// Puts a hook in force again that was not ended for good.
pub(crate) fn revive(tx: &Write, hook_id: HookId) -> Result<usize> {
    let sql = sql!(
        "UPDATE hooks SET ended_at = NULL, ended_as = NULL, failing_since = NULL, trouble = ''
         WHERE hook_id = ?1 AND ended_at IS NOT NULL AND ended_as <> 'removed'"
    );
    tx.run(sql, [hook_id])
}

/// Makes due now what is not sent any more; returns how many.
pub(crate) fn replay_dead(tx: &Write, hook_id: HookId) -> Result<usize> {
    let sql = sql!("UPDATE hook_deliveries SET due_at = ?2, tries = 0 WHERE hook_id = ?1 AND due_at IS NULL");
    tx.run(sql, (hook_id, tx.now()))
}

/// Makes due now what waits for its next try.
pub(crate) fn hasten(tx: &Write, hook_id: HookId) -> Result<usize> {
    let sql = sql!("UPDATE hook_deliveries SET due_at = min(due_at, ?2) WHERE hook_id = ?1 AND due_at IS NOT NULL");
    tx.run(sql, (hook_id, tx.now()))
}
