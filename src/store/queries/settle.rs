//! What an upgrade settles in rows that an earlier version wrote: ends in the middle of a day, and names in several forms of
//! Unicode.

use crate::domain::local_time::TimeZone;
use crate::domain::unicode::nfc;
use crate::store::Write;
use crate::store::tables::tunnels;
use rusqlite::Result;

/// Settles every row.
pub(crate) fn settle_all(tx: &Write) -> Result<()> {
    end_days(tx, &tunnels::find_zone_of_site(tx)?)?;
    compose_names(tx)
}

/// What ends on a day ends with it: memberships, bans, and what payments gave and found, by which a year is taken back. An entry
/// of the till stays, which names a day only.
fn end_days(tx: &Write, zone: &TimeZone) -> Result<()> {
    let ends = |moment: Option<i64>| moment.map(|moment| zone.end_of_day(moment, 0));
    let members = sql!(
        "SELECT member_id, paid_until, banned_until FROM members WHERE paid_until IS NOT NULL OR banned_until IS NOT NULL"
    );
    for (member_id, paid, banned) in tx.list::<(i64, Option<i64>, Option<i64>)>(members, [])? {
        let new = (ends(paid), ends(banned));
        if new != (paid, banned) {
            let sql = sql!("UPDATE members SET paid_until = ?2, banned_until = ?3 WHERE member_id = ?1");
            tx.run(sql, (member_id, new.0, new.1))?;
        }
    }
    let payments = sql!(
        "SELECT payment_id, granted_until, paid_before FROM payments
         WHERE granted_until IS NOT NULL OR paid_before IS NOT NULL"
    );
    for (payment_id, until, before) in tx.list::<(i64, Option<i64>, Option<i64>)>(payments, [])? {
        let new = (ends(until), ends(before));
        if new != (until, before) {
            let sql = sql!("UPDATE payments SET granted_until = ?2, paid_before = ?3 WHERE payment_id = ?1");
            tx.run(sql, (payment_id, new.0, new.1))?;
        }
    }
    Ok(())
}

/// Names as they come in now: each letter one character.
fn compose_names(tx: &Write) -> Result<()> {
    let members = sql!("SELECT member_id, real_name, screen_name FROM members");
    for (member_id, real_name, screen_name) in tx.list::<(i64, String, String)>(members, [])? {
        let new = (nfc(&real_name), nfc(&screen_name));
        if new != ((&*real_name).into(), (&*screen_name).into()) {
            let sql = sql!("UPDATE members SET real_name = ?2, screen_name = ?3 WHERE member_id = ?1");
            tx.run(sql, (member_id, &*new.0, &*new.1))?;
        }
    }
    for (partner_id, name) in tx.list::<(i64, String)>(sql!("SELECT partner_id, name FROM partners"), [])? {
        if nfc(&name) != name {
            tx.run(sql!("UPDATE partners SET name = ?2 WHERE partner_id = ?1"), (partner_id, &*nfc(&name)))?;
        }
    }
    Ok(())
}
