//! Counts of failed attempts (wrong passwords and codes) by the hour.

use crate::moment::Moment;
use crate::store::personal::{Expiry, Table};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] =
    &[Table::nobodys("failed_attempts", &[]).expires(&[Expiry::after("hour", "hour", KEPT_SECONDS)])];

const HOUR_SECONDS: i64 = 3_600;
/// Counts are kept for eight days; the doctor reads those of the last day.
const KEPT_SECONDS: i64 = 8 * 86_400;

pub(crate) fn count_one(tx: &Write) -> Result<usize> {
    let hour = tx.now().rounded_down(HOUR_SECONDS);
    insert!(tx.run, "INSERT INTO failed_attempts" { hour, attempts: 1 } "ON CONFLICT (hour) DO UPDATE SET attempts = attempts + 1")
}

/// Failed attempts in the hours that ended after a moment, with the present hour.
pub(crate) fn count_since(tx: &Read, moment: Moment) -> Result<i64> {
    tx.get(sql!("SELECT coalesce(sum(attempts), 0) FROM failed_attempts WHERE hour > ?1"), [moment - HOUR_SECONDS])
}
