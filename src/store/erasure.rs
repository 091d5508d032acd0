//! Takes a person out of the file. What others rely on stays without the name: payments (the books must be kept),
//! logbook entries and signatures (other members' levels rest on them), bookings and their history (the partner's).
//!
//! A new table that holds something of a member has its line here.

use super::{Read, Write, kiosks, sessions};
use crate::keys::{hex, random};
use rusqlite::{Result, named_params};

/// Whether anything but this member's social links opens the account, or it is one of somebody who works here.
pub fn has_other_ways_in(tx: &Read, member_id: i64) -> Result<bool> {
    let sql = "SELECT role <> 'member' OR password_hash IS NOT NULL OR email_confirmed_at IS NOT NULL
                      OR phone_confirmed_at IS NOT NULL
                      OR EXISTS (SELECT 1 FROM passkeys WHERE member_id = :id)
                      OR EXISTS (SELECT 1 FROM social_links WHERE member_id = :id)
               FROM members WHERE member_id = :id";
    tx.get(sql, named_params! {":id": member_id}, |row| row.get(0))
}

/// A name that came with a link and still stands is replaced by the username, which is the member's own.
pub fn forget_name(tx: &Write, member_id: i64, name: &str) -> Result<usize> {
    let sql = "UPDATE members SET screen_name = iif(screen_name = :name, username, screen_name),
                                  real_name = iif(real_name = :name, username, real_name), updated_at = :now
               WHERE member_id = :id AND :name <> ''";
    tx.run(sql, named_params! {":id": member_id, ":name": name, ":now": tx.now()})
}

/// Everything that is only the person's goes; the account is closed and has a number for a name.
pub fn erase(tx: &Write, member_id: i64) -> Result<()> {
    let id = named_params! {":id": member_id};
    for sql in [
        "DELETE FROM media WHERE member_id = :id",
        "DELETE FROM security_answers WHERE member_id = :id",
        "DELETE FROM second_factors WHERE member_id = :id",
        "DELETE FROM recovery_codes WHERE member_id = :id",
        "DELETE FROM passcodes WHERE member_id = :id",
        "DELETE FROM passkeys WHERE member_id = :id",
        "DELETE FROM email_tokens WHERE member_id = :id",
        "DELETE FROM social_links WHERE member_id = :id",
        "DELETE FROM notices WHERE member_id = :id",
        "DELETE FROM suppressed WHERE address = (SELECT nullif(email, '') FROM members WHERE member_id = :id)",
        "DELETE FROM outbox WHERE member_id = :id",
        "UPDATE certificates SET member_id = NULL WHERE member_id = :id",
        "UPDATE entries SET comment = '' WHERE member_id = :id AND comment <> ''",
    ] {
        tx.run(sql, id)?;
    }
    sessions::delete_of_member(tx, member_id, None)?;
    kiosks::forget(tx, member_id)?;
    // Nobody can have taken that name before.
    let name = format!("erased-{member_id}-{}", hex(&random::<4>()));
    let sql = "UPDATE members SET username = :name, screen_name = :name, real_name = :name, email = '',
                                  email_confirmed_at = NULL, phone = '', phone_confirmed_at = NULL, country = '', country_code = '', dob = NULL, tunnel_id = NULL,
                                  password_hash = NULL, pin_hash = NULL, banned_at = coalesce(banned_at, :now),
                                  updated_at = :now
               WHERE member_id = :id";
    tx.run(sql, named_params! {":id": member_id, ":name": name, ":now": tx.now()}).map(drop)
}
