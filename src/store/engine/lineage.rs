//! Whether a base continues the copy that it would replace. The followed site may have been restored to an earlier state, or
//! may have lost its log: then the copy is the only place with the writes since.

use super::connection::open_immutable;
use super::data_dir;
use crate::moment::Moment;
use rusqlite::{Connection, OptionalExtension};
use std::path::Path;

/// How far a copy has come.
struct Reached {
    audit_seq: i64,
    audit_hash: Vec<u8>,
    history: i64,
    /// The second of the last commit (Unix seconds).
    moment: Moment,
}

/// Whether the database `base` lacks writes of the copy in a directory. `moment`: the second of the copy's last commit.
/// `false` also where one of the two cannot be read, as the copy after a damage of its disk.
pub(crate) fn lacks_writes(base: &Path, copy: &Path, moment: Moment) -> bool {
    let path = data_dir::database(copy);
    let reached = || {
        let sql = "SELECT audit_seq, audit_hash, (SELECT coalesce(max(seq), 0) FROM history) FROM site";
        open_immutable(&path)?.query_row(sql, [], |row| {
            Ok(Reached { audit_seq: row.get(0)?, audit_hash: row.get(1)?, history: row.get(2)?, moment })
        })
    };
    let compare = || open_immutable(base).and_then(|base| reached()?.is_ahead_of(&base));
    path.exists() && compare().unwrap_or(false)
}

impl Reached {
    fn is_ahead_of(&self, base: &Connection) -> rusqlite::Result<bool> {
        let sql = "SELECT hash FROM audit WHERE seq = ?1";
        let hash = base.query_row(sql, [self.audit_seq], |row| row.get::<_, Vec<u8>>(0)).optional()?;
        if self.audit_seq > 0 && hash.as_ref() != Some(&self.audit_hash) {
            return Ok(true);
        }
        let history: i64 = base.query_row("SELECT coalesce(max(seq), 0) FROM history", [], |row| row.get(0))?;
        // A restore records the moment that it went back to. What it took back need not be in the audit log.
        let sql = "SELECT coalesce(min(json_extract(detail, '$.made_at')), ?2) FROM audit
                   WHERE seq > ?1 AND action IN ('site.restored', 'site.rolled_back')";
        let back_to: Moment = base.query_row(sql, (self.audit_seq, self.moment), |row| row.get(0))?;
        Ok(history < self.history || back_to < self.moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::engine::data_dir::DataDir;
    use crate::store::engine::migrate;

    const SITE: &str = "
        INSERT INTO tunnels (tunnel_id, name, country, created_at) VALUES (1, 'Here', 'CH', 0);
        INSERT INTO site (only, site_id, tunnel_id, key_check, clock_high_water, created_at) VALUES (1, 'ab', 1, x'', 0, 0);
        INSERT INTO partners (partner_id, client_id, name, created_at) VALUES (1, 'a', 'A', 0);";
    const EVENT: &str = "INSERT INTO events (partner_id, type, at, history_seq)
                         SELECT 1, 'token.issued', 0, coalesce(max(history_seq), 0) + 1 FROM events;";

    fn record(action: &str, detail: &str, hash: u8) -> String {
        let hash = format!("{hash:02x}").repeat(32);
        format!(
            "INSERT INTO audit (seq, at, actor, action, subject, origin, detail, hash)
             SELECT audit_seq + 1, 0, 'shell:x', '{action}', 'site', '', '{detail}', x'{hash}' FROM site;
             UPDATE site SET audit_seq = audit_seq + 1,
             audit_hash = (SELECT hash FROM audit ORDER BY seq DESC LIMIT 1);"
        )
    }

    fn site(changes: &[&str]) -> (tempfile::TempDir, DataDir) {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        migrate::create(&data_dir).unwrap();
        let conn = Connection::open(data_dir.database()).unwrap();
        conn.execute_batch(SITE).unwrap();
        changes.iter().for_each(|sql| conn.execute_batch(sql).unwrap());
        conn.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
        (dir, data_dir)
    }

    #[test]
    fn a_base_lacks_writes_where_its_site_was_taken_back_behind_the_copy() {
        let [one, two, other] = [1, 2, 3].map(|hash| record("member.banned", "{}", hash));
        let restored = |made_at| record("site.restored", &format!("{{\"made_at\":{made_at}}}"), 9);
        let (copy, _held) = site(&[&one, &two, EVENT]);
        let lacks = |changes: &[&str]| lacks_writes(&site(changes).1.database(), copy.path(), Moment(100));
        assert!(!lacks(&[&one, &two, EVENT]) && !lacks(&[&one, &two, EVENT, &other, EVENT]));
        assert!(!lacks(&[&one, &two, EVENT, &restored(100)]), "everything came back");
        assert!(!lacks(&[&one, &two, EVENT, &record("site.restored", "{}", 9)]), "a restore was taken back");
        assert!(!lacks(&[&one, &two, EVENT, &record("site.promoted", "{\"epoch\":2}", 9)]));
        assert!(lacks(&[&one]) && lacks(&[&one, &other, EVENT]) && lacks(&[&one, &restored(50), EVENT, EVENT]));
        assert!(lacks(&[&one, &two, EVENT, &restored(99)]), "writes without a row in the audit log");
        assert!(lacks(&[&one, &two]), "a lost log");
        // A copy that cannot be read is not in the way of a base.
        std::fs::write(data_dir::database(copy.path()), [7; 4096]).unwrap();
        assert!(!lacks(&[&one]));
        std::fs::remove_file(data_dir::database(copy.path())).unwrap();
        assert!(!lacks(&[&one]));
    }
}
