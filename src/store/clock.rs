//! Sets the database's clock back after the machine's clock was ahead.

use crate::store::Write;
use crate::store::personal::Ahead;
use crate::store::tables;
use rusqlite::Result;

/// Sets back every moment that is later than the transaction's: rows that began then are deleted or begin now, messages that
/// wait for such a moment are due now, and codes of authenticator apps count from now. Other rows
/// keep their dates. Returns how many rows were deleted.
pub(crate) fn set_back(tx: &Write) -> Result<usize> {
    let now = &[(":now", &tx.now())];
    let mut ended = 0;
    for table in tables::PERSONAL.iter().copied().flatten() {
        let name = table.name;
        match table.ahead {
            Some(Ahead::Deleted(begun)) => ended += tx.run(&format!("DELETE FROM {name} WHERE {begun} > :now"), now)?,
            Some(Ahead::BeginNow(begun)) => {
                let lasts = format!("ends_at = ends_at - {begun} + :now, {begun} = :now");
                tx.run(&format!("UPDATE {name} SET {lasts} WHERE {begun} > :now"), now)?;
            }
            None => {}
        }
    }
    let factors = "last_step = min(last_step, :now / 30 - 1), pending_until = min(pending_until, :now)";
    tx.run(&format!("UPDATE second_factors SET {factors}"), now)?;
    tx.run(sql!("UPDATE outbox SET next_try_at = :now WHERE state = 'waiting' AND next_try_at > :now"), now)?;
    tx.run(sql!("UPDATE site SET clock_high_water = :now"), now)?;
    Ok(ended)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moment::Moment;
    use crate::store::Store;
    use crate::store::engine::data_dir::DataDir;
    use crate::store::engine::migrate;

    #[test]
    fn what_a_clock_a_year_ahead_paused_or_began_lasts_no_longer_than_it_was_to() {
        const NOW: Moment = Moment(1_800_000_000);
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        let store = Store::open(&data_dir.database()).unwrap();
        let rows = "INSERT INTO members (member_id, username, screen_name, real_name, email, join_date, updated_at)
                    VALUES (1, 'jane', 'jane', '', '', 0, 0);
                    INSERT INTO invitations (code_hash, form_number, name, email, role, language, invited_by, created_at, ends_at)
                    VALUES (x'01', 1, '', '', 'desk', 'en', 1, 1831536000, 1831536000 + 604800), (x'02', 2, '', '', 'desk', 'en', 1, 1799999000, 1800000100);
                    INSERT INTO second_factors (member_id, pending_until) VALUES (1, 1831536600);
                    INSERT INTO throttles (throttle_key, misses, missed_at, closed_until) VALUES (x'01', 9, 1831536000, 1831536900), (x'02', 1, 1799999000, 0);
                    INSERT INTO outbox (channel, recipient, language, template, next_try_at, created_at) VALUES ('email', '', 'en', '', 1831536600, 1831536000)";
        store.writer().exclusive(|conn| conn.execute_batch(rows)).unwrap();
        assert_eq!(store.write(NOW, |tx| Ok(set_back(tx)?)).unwrap(), 1, "a counter of failed attempts is deleted");
        let invitations = "SELECT created_at - 1800000000, ends_at - 1800000000 FROM invitations ORDER BY code_hash";
        let invitations = store.read(|tx| Ok(tx.list::<(i64, i64)>(invitations, [])?)).unwrap();
        assert_eq!(invitations, [(0, 604_800), (-1_000, 100)]);
        let pending = store.read(|tx| Ok(tx.get::<Moment>("SELECT pending_until FROM second_factors", [])?)).unwrap();
        let next_try = store.read(|tx| Ok(tx.get::<Moment>("SELECT next_try_at FROM outbox", [])?)).unwrap();
        assert_eq!((pending, next_try), (NOW, NOW));
    }
}
