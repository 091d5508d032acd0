//! Key rotation: everything that the old site key sealed is sealed with a new one. At every moment one of the two keys on the
//! disk is that of the database.
//!
//! The new key lies beside the old one until the database is flushed; then it replaces the old one. After a crash in between,
//! the next start finds that the new key fits, and completes the rotation.

use crate::domain::audit::{Actor, Detail, Head, Subject};
use crate::keys::{self, Keys, columns};
use crate::site::Site;
use crate::store::data_dir::DataDir;
use crate::store::queries::sealed::{self, Resealed};
use crate::store::tables::audit;
use std::path::PathBuf;

/// The text that is sealed in every database, to check that the key file belongs to it.
pub(super) const KEY_CHECK: &[u8] = b"this is the key";

/// Whether these keys belong to a database with this key check.
pub(crate) fn fits(keys: &Keys, key_check: &[u8]) -> bool {
    keys.unseal(&columns::KEY_CHECK.at([]), key_check).as_deref() == Some(KEY_CHECK)
}

/// The keys of the database: those of the key file, or the new ones of an interrupted rotation.
pub(crate) fn fitting(data_dir: &DataDir, keys: Keys, key_check: &[u8]) -> Result<Keys, String> {
    if fits(&keys, key_check) {
        return Ok(keys);
    }
    if data_dir.next_key().exists() {
        let next = Keys::open(&data_dir.next_key())?;
        if fits(&next, key_check) {
            data_dir.take_next_key().map_err(|e| format!("cannot put the new site key in its place: {e}"))?;
            return Ok(next);
        }
    }
    let (key, database) = (data_dir.key(), data_dir.database());
    let fits_copy = |copy: &PathBuf| Keys::open(copy).is_ok_and(|keys| fits(&keys, key_check));
    let next = match keys::copies(&key).into_iter().find(fits_copy) {
        Some(copy) => format!("a backup has it: {}", keys::copy_command(&copy, &key)),
        None => "restore the pair from one backup with `tunneldesk restore`".to_owned(),
    };
    Err(format!("{} is not the key of {}: {next}", key.display(), database.display()))
}

/// Adds a key for the audit log, from the row behind `plain_end` on, and writes it to the key file. Does nothing if there is one
/// for that row.
pub(crate) fn begin_chain(data_dir: &DataDir, keys: Keys, plain_end: Option<Head>) -> Result<Keys, String> {
    if keys.chain_key().is_some_and(|key| key.plain_end == plain_end) {
        return Ok(keys);
    }
    let keys = keys.with_chain_key(plain_end);
    let written =
        clear_next_key(data_dir).and_then(|()| keys.write(&data_dir.next_key())).and_then(|()| data_dir.flush());
    let taken = written.and_then(|()| data_dir.take_next_key());
    taken.map_err(|e| format!("cannot add the audit log's key to {}: {e}", data_dir.key().display()))?;
    if let Some(end) = plain_end {
        tracing::info!(
            rows = end.seq,
            "the audit log has a key from now on, in the key file's second line; the earlier rows are bound to it"
        );
    }
    Ok(keys)
}

/// Removes a next key that was never used: the caller has checked that the present key fits.
fn clear_next_key(data_dir: &DataDir) -> std::io::Result<()> {
    match std::fs::remove_file(data_dir.next_key()) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

impl Site {
    /// Rotates the site key of a locked data directory. `self` keeps the old keys: close it afterwards.
    pub(crate) fn rotate_key(&self, data_dir: &DataDir, actor: &Actor) -> Result<Resealed, String> {
        let next = self.prepare_next_key(data_dir)?;
        let done = self.reseal(&next, actor)?;
        data_dir.take_next_key().map_err(|e| format!("cannot put the new site key in its place: {e}"))?;
        // Removes values that the old key sealed from free pages of the database.
        let emptied = self.store.writer().exclusive(|conn| conn.execute_batch("VACUUM"));
        _ = emptied.inspect_err(|e| tracing::warn!(cause = %e, "old values were left in free pages of the database"));
        Ok(done)
    }

    fn prepare_next_key(&self, data_dir: &DataDir) -> Result<Keys, String> {
        let path = data_dir.next_key();
        let broken = |e: std::io::Error| format!("cannot write the new site key {}: {e}", path.display());
        clear_next_key(data_dir).map_err(broken)?;
        let next = self.keys.create_next(&path).map_err(broken)?;
        data_dir.flush().map_err(broken)?;
        Ok(next)
    }

    /// Seals everything with the new keys, in one transaction.
    fn reseal(&self, next: &Keys, actor: &Actor) -> Result<Resealed, String> {
        let done = self.store.write(self.now(), |tx| {
            let sum = sealed::reseal_all(tx, &self.keys, next)?;
            let detail = Detail::none().number("values", sum.values as i64).number("damaged", sum.damaged as i64);
            audit::insert(tx, actor, "key.rotated", &Subject::Site, &detail)?;
            Ok(sum)
        });
        done.map_err(|e| format!("nothing was changed: {e}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::config::Config;
    use crate::domain::ids::{MemberId, TunnelId};
    use crate::keys::{Purpose, columns};
    use crate::moment::Moment;
    use crate::ops::lifecycle::Identity;
    use crate::store::tables::{partners, second_factors};

    const SECRET: &[u8] = b"12345678901234567890";

    fn new_site(data_dir: &DataDir) -> Site {
        let identity =
            Identity { tunnel_id: TunnelId(1), name: "Here".into(), city: String::new(), country: "CH".into() };
        let site = Site::create(data_dir, Config::defaults(), Clock::frozen(Moment(1_000_000)), &identity).unwrap();
        let change = |tx: &crate::store::Write| {
            let partner_id = partners::insert(tx, "client", "Partner", false, None)?;
            partners::insert_secret(tx, &site.keys, partner_id, SECRET)?;
            let damaged = partners::insert_secret(tx, &site.keys, partner_id, SECRET)?;
            tx.run("UPDATE partner_secrets SET sealed = x'00' WHERE secret_id = ?1", [damaged])?;
            let new = crate::store::tables::members::NewMember { username: "jane", ..Default::default() };
            let member_id = crate::store::tables::members::insert(tx, &new)?;
            let sealed = site.keys.seal(&columns::PENDING_FACTOR.at([member_id.into()]), SECRET);
            Ok(second_factors::set_pending(tx, member_id, &sealed, Moment(2_000_000))?)
        };
        site.store.write(site.now(), change).unwrap();
        site
    }

    fn open(data_dir: &DataDir) -> Result<Site, String> {
        Site::open(data_dir, Config::defaults(), Clock::frozen(Moment(1_000_000)))
    }

    /// Checks that everything opens with the present key, and that hashes are unchanged.
    fn check(site: &Site, pin: [u8; 32]) {
        let found = site.store.read(|tx| {
            let secrets = partners::list_secrets(tx, Some("client"), site.now())?;
            Ok((
                secrets[0].open(&site.keys),
                second_factors::find(tx, MemberId(1), site.now())?.sealed_pending.unwrap(),
            ))
        });
        let (secret, factor) = found.unwrap();
        assert_eq!(secret.as_deref(), Some(SECRET));
        let place = columns::PENDING_FACTOR.at([1.into()]);
        assert_eq!(site.keys.unseal(&place, &factor).as_deref(), Some(SECRET));
        assert_eq!(site.keys.hash(Purpose::Pin, &[b"123456"]), pin);
    }

    #[test]
    fn after_a_rotation_the_new_key_opens_everything_and_the_old_one_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let site = new_site(&data_dir);
        let pin = site.keys.hash(Purpose::Pin, &[b"123456"]);
        let old = std::fs::read(data_dir.key()).unwrap();
        assert_eq!(site.rotate_key(&data_dir, &Actor::job("test")).unwrap(), Resealed { values: 5, damaged: 1 });
        drop(site);
        assert!(!data_dir.next_key().exists());
        check(&open(&data_dir).unwrap(), pin);
        std::fs::write(data_dir.key(), old).unwrap();
        assert!(open(&data_dir).err().unwrap().contains("is not the key"));
    }

    #[test]
    fn a_crash_before_or_after_the_database_is_resealed_leaves_a_site_that_opens() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let site = new_site(&data_dir);
        let pin = site.keys.hash(Purpose::Pin, &[b"123456"]);
        site.prepare_next_key(&data_dir).unwrap();
        drop(site);
        let site = open(&data_dir).unwrap();
        check(&site, pin);
        let next = site.prepare_next_key(&data_dir).unwrap();
        site.reseal(&next, &Actor::job("test")).unwrap();
        drop(site);
        check(&open(&data_dir).unwrap(), pin);
        assert!(!data_dir.next_key().exists(), "the start has finished the rotation");
        check(&open(&data_dir).unwrap(), pin);
    }

    #[test]
    fn a_file_from_before_the_hash_key_keeps_its_hashes() {
        let dir = tempfile::tempdir().unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let site = new_site(&data_dir);
        site.store.write(site.now(), |tx| Ok(tx.run("UPDATE site SET sealed_hash_key = NULL", [])?)).unwrap();
        drop(site);
        let pin = Keys::open(&data_dir.key()).unwrap().hash(Purpose::Pin, &[b"123456"]);
        let site = open(&data_dir).unwrap();
        check(&site, pin);
        site.rotate_key(&data_dir, &Actor::job("test")).unwrap();
        drop(site);
        check(&open(&data_dir).unwrap(), pin);
    }
}
