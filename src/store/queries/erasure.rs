//! Erases a person. Rows that others rely on stay without the name: payments (the books must be kept), logbook entries
//! and signatures (other members' levels depend on them), bookings and their history (the partner's).
//! The tables declare what becomes of each column: see [`crate::store::personal`]. A tombstone keeps the number, so that
//! the person is erased from a restored backup too.
//!
//! Overwritten values stay readable in the free space of pages and in the WAL: SQLite's `secure_delete` clears what it
//! deletes, and not the copies that it left when it moved cells. So the database is rewritten (`VACUUM`) afterwards,
//! and the WAL truncated.

use super::mentions::{self, Search};
use super::personal_data;
use crate::domain::entry::Status;
use crate::domain::ids::{EntryId, MemberId};
use crate::domain::local_time::TimeZone;
use crate::domain::mention::Person;
use crate::keys::{Keys, hex, random};
use crate::moment::Moment;
use crate::store::personal::Fate;
use crate::store::tables::{bans, former_names, joins, members, sessions, skills, tunnels};
use crate::store::{Read, Write};
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Result, ToSql, named_params};
use std::collections::BTreeSet;
use std::path::Path;

row! {
    /// An erased member. Moments in Unix seconds. The number alone is not enough: in a restored database another member
    /// may have it.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub(crate) struct Tombstone {
        pub member_id: MemberId,
        pub join_date: Moment,
        pub erased_at: Moment,
    }
}

/// Whether the account has credentials besides this link (provider and subject), or is a staff account.
pub(crate) fn has_other_ways_in(tx: &Read, member_id: MemberId, link: (&str, &str)) -> Result<bool> {
    let sql = sql!(
        "SELECT role <> 'member' OR password_hash IS NOT NULL OR email_confirmed_at IS NOT NULL
                      OR phone_confirmed_at IS NOT NULL
                      OR EXISTS (SELECT 1 FROM passkeys WHERE member_id = :id)
                      OR EXISTS (SELECT 1 FROM social_links
                                 WHERE member_id = :id AND (provider, subject) <> (:provider, :subject))
               FROM members WHERE member_id = :id"
    );
    let params = named_params! {":id": member_id, ":provider": link.0, ":subject": link.1};
    tx.get(sql, params)
}

/// Replaces a name that came with a link, where the member still has it, by the username.
pub(crate) fn forget_name(tx: &Write, member_id: MemberId, name: &str) -> Result<usize> {
    let sql = sql!(
        "UPDATE members SET screen_name = iif(screen_name = :name, username, screen_name),
                                  real_name = iif(real_name = :name, username, real_name), updated_at = :now
               WHERE member_id = :id AND :name <> ''"
    );
    let changed = tx.run(sql, named_params! {":id": member_id, ":name": name, ":now": tx.now()})?;
    former_names::delete(tx, member_id, name)?;
    Ok(changed)
}

/// Erases a member: deletes the data that are only about the person, and closes the account under a name made of its
/// number, which is returned. `erased_at`: the moment of the first erasure; `stand_in` replaces the names in texts of others
/// that are near the person.
pub(crate) fn erase(tx: &Write, keys: &Keys, person: &Person, erased_at: Moment, stand_in: &str) -> Result<String> {
    let member_id = person.member_id;
    // The random part makes sure that no member has this name.
    let name = format!("erased-{member_id}-{}", hex(&random::<4>()));
    let sql = sql!(
        "INSERT INTO erasures (member_id, join_date, erased_at)
               SELECT member_id, join_date, ?2 FROM members WHERE member_id = ?1 ON CONFLICT (member_id) DO NOTHING"
    );
    tx.run(sql, (member_id, erased_at))?;
    bans::keep(tx, member_id)?;
    sessions::delete_of_member(tx, member_id, None)?;
    withdraw(tx, member_id)?;
    mentions::forget_near(tx, &Search { keys, terms: &person.closely(), stand_in }, member_id)?;
    let now = tx.now();
    let values: [(&str, &dyn ToSql); 3] = [(":id", &member_id), (":name", &name), (":now", &now)];
    for (table, rows) in personal_data::data_sets() {
        let (table_name, condition) = (table.name, rows.condition);
        let sql = match rows.fate {
            Fate::Deleted => format!("DELETE FROM {table_name} WHERE {condition}"),
            Fate::Emptied(also, _) => match personal_data::assignments(table, also) {
                sets if sets.is_empty() => continue,
                sets => format!("UPDATE {table_name} SET {sets} WHERE {condition}"),
            },
            Fate::Kept(_) | Fate::Others(_) => continue,
        };
        let used: Vec<(&str, &dyn ToSql)> = values.into_iter().filter(|(value, _)| sql.contains(value)).collect();
        tx.run(&sql, &*used)?;
    }
    Ok(name)
}

/// Cancels the person's pending requests for signatures.
fn withdraw(tx: &Write, member_id: MemberId) -> Result<()> {
    let sql = sql!(
        "SELECT entry_id FROM entries WHERE member_id = ?1 AND kind IN ('skill', 'safety') AND status = 'pending'"
    );
    let waiting: Vec<EntryId> = tx.list(sql, [member_id])?;
    for entry_id in waiting {
        if let Some(entry) = skills::find(tx, entry_id)? {
            skills::set_status(tx, &entry, member_id, Status::Cancelled)?;
        }
    }
    Ok(())
}

row! {
    struct Names {
        username: String,
        screen_name: String,
        real_name: String,
        email: String,
        phone: String,
    }
}

/// What a member is and was called. An address or a telephone number that another member has too is not the person's alone,
/// unless that is another account of the same person, which was joined.
pub(crate) fn find_person(tx: &Read, member_id: MemberId) -> Result<Option<Person>> {
    let sql = sql!("SELECT ", Names::COLUMNS, " FROM members WHERE member_id = ?1");
    let Some(Names { username, screen_name, real_name, email, phone }) = tx.find(sql, [member_id])? else {
        return Ok(None);
    };
    let former = |kind| former_names::list(tx, member_id, kind);
    let names: Vec<String> = [username, screen_name, real_name].into_iter().chain(former("name")?).collect();
    let is_another_s = sql!(
        "SELECT EXISTS (SELECT 1 FROM members WHERE email = :word AND :word <> ''
                          AND member_id NOT IN (SELECT value FROM json_each(:own)))
                OR EXISTS (SELECT 1 FROM members WHERE phone = :word AND :word <> ''
                          AND member_id NOT IN (SELECT value FROM json_each(:own)))
                OR EXISTS (SELECT 1 FROM members WHERE :word IN (username, screen_name, real_name)
                          AND member_id NOT IN (SELECT value FROM json_each(:own)))"
    );
    // A list of numbers is written like JSON.
    let own = format!("{:?}", joins::list_numbers(tx, member_id)?);
    let is_shared = |word: &str| tx.get::<bool>(is_another_s, named_params! {":word": word, ":own": own});
    let (mut shared, mut addresses, mut phones) = (Vec::new(), Vec::new(), Vec::new());
    for name in &names {
        if !name.contains(char::is_whitespace) && is_shared(name)? {
            shared.push(name.to_lowercase());
        }
    }
    // An address or a number of which the person has not proven yet that it is theirs.
    let unproven: Vec<String> = tx.list(
        sql!("SELECT email FROM email_tokens WHERE member_id = ?1 UNION SELECT target FROM passcodes WHERE member_id = ?1"),
        [member_id],
    )?;
    let (unproven_addresses, unproven_phones) = unproven.into_iter().partition(|target| target.contains('@'));
    for (all, now, kind, unproven) in
        [(&mut addresses, email, "email", unproven_addresses), (&mut phones, phone, "phone", unproven_phones)]
    {
        let known: BTreeSet<String> = former(kind)?.into_iter().chain([now]).chain::<Vec<String>>(unproven).collect();
        for word in known.into_iter().filter(|word| !word.is_empty()) {
            if !is_shared(&word)? {
                all.push(word);
            }
        }
    }
    Ok(Some(Person { member_id, names, addresses, phones, shared }))
}

/// When a member was erased.
pub(crate) fn find(tx: &Read, member_id: MemberId) -> Result<Option<Moment>> {
    tx.find(sql!("SELECT erased_at FROM erasures WHERE member_id = ?1"), [member_id])
}

/// All tombstones.
pub(crate) fn list(tx: &Read) -> Result<Vec<Tombstone>> {
    tx.list(sql!("SELECT ", Tombstone::COLUMNS, " FROM erasures"), [])
}

/// Whether the database has this person, not erased.
pub(crate) fn is_here(tx: &Read, tombstone: &Tombstone) -> Result<bool> {
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM members WHERE member_id = ?1 AND join_date = ?2)
                      AND NOT EXISTS (SELECT 1 FROM erasures WHERE member_id = ?1)"
    );
    tx.get(sql, (tombstone.member_id, tombstone.join_date))
}

/// Stores the tombstone of a person whom this database does not have, so that the number is never given to another.
pub(crate) fn remember(tx: &Write, tombstone: &Tombstone) -> Result<()> {
    let Tombstone { member_id, join_date, erased_at } = *tombstone;
    if !members::exists(tx, member_id)? {
        insert!(tx.run, "INSERT INTO erasures" { member_id, join_date, erased_at, rebuilt_at: erased_at } "ON CONFLICT (member_id) DO NOTHING")?;
    }
    let raised = tx.run(sql!("UPDATE sqlite_sequence SET seq = max(seq, ?1) WHERE name = 'members'"), [member_id])?;
    if raised == 0 {
        insert!(tx.run, "INSERT INTO sqlite_sequence" { name: "members", seq: member_id })?;
    }
    Ok(())
}

/// Erased members whose data may still be in free space of the database.
pub(crate) fn list_to_do(tx: &Read) -> Result<Vec<MemberId>> {
    tx.list(sql!("SELECT member_id FROM erasures WHERE rebuilt_at IS NULL"), [])
}

/// Records that the database was rewritten since this member was erased.
pub(crate) fn set_rebuilt(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("UPDATE erasures SET rebuilt_at = ?2 WHERE member_id = ?1"), (member_id, tx.now()))
}

/// The tombstones in the database of a stopped site; none where its schema has none, or it cannot be read.
pub(crate) fn list_of_file(path: &Path) -> Vec<Tombstone> {
    look_at(path, list).unwrap_or_default()
}

/// The site's id in a database, if it can be read.
pub(crate) fn site_of(path: &Path) -> Option<String> {
    look_at(path, |tx| tx.get(sql!("SELECT site_id FROM site"), [])).ok()
}

/// The time zone of the site in a database, if it can be read.
pub(crate) fn zone_of(path: &Path) -> Option<TimeZone> {
    look_at(path, tunnels::find_own_time_zone).ok().flatten()
}

/// Whether the database, with its WAL, can be read and has no site: an `init` of an earlier version was interrupted.
pub(crate) fn is_without_site(path: &Path) -> bool {
    let has_table = sql!("SELECT count(*) > 0 FROM sqlite_schema WHERE name = 'site'");
    let is_empty = |table: &str| format!("SELECT count(*) = 0 FROM {table}");
    look_at(path, |tx| {
        let table = if tx.get(has_table, [])? { "site" } else { "sqlite_schema" };
        tx.get(&is_empty(table), [])
    })
    .unwrap_or(false)
}

/// Reads a database without a checkpoint at the end, so that the WAL stays as it is.
fn look_at<T>(path: &Path, question: impl FnOnce(&Read) -> Result<T>) -> Result<T> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)?;
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    question(&Read::on(&conn))
}
