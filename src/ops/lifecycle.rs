//! The life cycle of a site: made, opened, upgraded where its file is older, and closed.

use super::backup::upgrade::{self, Upgraded};
use super::backup::{Progress, restore, rollback};
use super::{levels, rotation};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::Head;
use crate::keys::{Keys, Purpose, hex, random};
use crate::ops::erasure;
use crate::site::Site;
use crate::store::engine::place::Place;
use crate::store::engine::{migrate, soundness};
use crate::store::tables::{audit, tunnels};
use crate::store::{Condition, Store};

/// The text that is sealed into every file, to find out whether the key beside the file is its own.
const KEY_CHECK: &[u8] = b"this is the key";

/// Who a new site is.
pub struct Identity {
    /// The number of the site's own tunnel, 1 or more.
    pub tunnel_id: i64,
    /// As pages and papers show it.
    pub name: String,
    /// Empty: not known.
    pub city: String,
    /// ISO 3166-1 alpha-2, upper case.
    pub country: String,
}

impl Site {
    /// Makes a new site in a held directory: key, schema, identity. Refuses a directory that has one.
    pub fn create(place: &Place, config: Config, clock: Clock, identity: &Identity) -> Result<Site, String> {
        if place.database().exists() {
            return Err(format!(
                "there is a site in {} already: start it with `tunneldesk serve`",
                place.dir().display()
            ));
        }
        let keys = if place.key().exists() {
            rotation::begin_chain(place, Keys::open(&place.key())?, None)?
        } else {
            Keys::create(&place.key()).map_err(|e| format!("cannot write {}: {e}", place.key().display()))?
        };
        let keys = keys.with_hash_key(&random::<32>()).expect("a key has 32 bytes");
        migrate::create(place)?;
        let store = Store::open(&place.database(), true)?;
        store.take_chain_key(keys.chain_key());
        let tunnel = tunnels::Tunnel {
            tunnel_id: identity.tunnel_id,
            name: identity.name.clone(),
            city: identity.city.clone(),
            country: identity.country.clone(),
        };
        let row = tunnels::SiteRow {
            site_id: hex(&random::<16>()),
            tunnel_id: identity.tunnel_id,
            key_check: keys.seal(Purpose::KeyCheck, KEY_CHECK),
            sealed_hash_key: Some(keys.sealed_hash_key()),
            clock_high_water: clock.now(),
        };
        let written = store.write(clock.now(), |tx| {
            tunnels::insert(tx, &tunnel)?;
            tunnels::insert_site(tx, &row)?;
            tunnels::set_version(tx, crate::VERSION)?;
            levels::remember(tx, config.catalogue)
        });
        written.map_err(|e| format!("cannot write {}: {e}", place.database().display()))?;
        Ok(Site::assemble(store, clock, config, keys, row))
    }

    /// Opens the site of a held directory, upgrading its file where needed.
    pub fn open(
        place: &Place,
        config: Config,
        clock: Clock,
        grouped: bool,
    ) -> Result<(Site, Option<Upgraded>), String> {
        Site::open_telling(place, config, clock, grouped, &mut |_, _, _| ())
    }

    /// The same, telling how far an upgrade is.
    pub(crate) fn open_telling(
        place: &Place,
        config: Config,
        clock: Clock,
        grouped: bool,
        progress: &mut Progress,
    ) -> Result<(Site, Option<Upgraded>), String> {
        if let Some((why, next)) = place.why_unwritable() {
            return Err(format!(
                "the disk under {} {why}: {next}; until then `tunneldesk serve` shows the site as it is",
                place.dir().display()
            ));
        }
        restore::complete(place).map_err(|e| format!("a restore that was cut off cannot be finished: {e}"))?;
        if !place.database().exists() {
            return Err(place.without_database());
        }
        let keys = Keys::open(&place.key())?;
        soundness::settle(&place.database())?;
        let Some(older) = migrate::older(place)? else {
            let site = Site::open_current(place, config, clock, keys, grouped)?;
            site.catch_up(progress);
            return Ok((site, None));
        };
        let keys = rotation::fitting(place, keys, &older.key_check)?;
        clock.remember(older.clock_high_water);
        let upgraded = upgrade::run(place, &older, &clock, progress)?;
        let site = Site::open_current(place, config, clock, keys, grouped)?;
        rollback::record_late(&site, &upgraded)?;
        site.catch_up(progress);
        Ok((site, Some(upgraded)))
    }

    /// People who were erased, and whom a rollback brought back, are gone before anybody sees them. A full disk is no reason
    /// not to open: the job tries again every minute.
    fn catch_up(&self, progress: &mut Progress) {
        _ = erasure::catch_up(self, progress).inspect_err(|cause| tracing::error!(cause, "an erasure is not complete"));
        self.store.rest();
    }

    /// A copy whose original is kept, so that an upgrade needs no backup.
    pub(crate) fn open_copy(place: &Place, config: Config, clock: Clock) -> Result<Site, String> {
        soundness::settle(&place.database())?;
        let keys = Keys::open(&place.key())?;
        if let Some(older) = migrate::older(place)? {
            rotation::fitting(place, Keys::open(&place.key())?, &older.key_check)?;
            migrate::upgrade(place)?;
        }
        Site::open_current(place, config, clock, keys, true)
    }

    fn open_current(place: &Place, config: Config, clock: Clock, keys: Keys, grouped: bool) -> Result<Site, String> {
        let store = Store::open(&place.database(), grouped)?;
        let row = read_row(place, &store)?;
        let keys = rotation::fitting(place, keys, &row.key_check)?;
        let keys = match keys.chain_key() {
            Some(_) => keys,
            None => rotation::begin_chain(place, keys, plain_end(place, &store)?)?,
        };
        store.take_chain_key(keys.chain_key());
        let keys = open_hash_key(&store, clock.now(), keys, &row)?;
        clock.remember(row.clock_high_water);
        levels::follow(&store, clock.now(), config.catalogue);
        sign(&store, clock.now());
        store.rest();
        Ok(Site::assemble(store, clock, config, keys, row))
    }

    /// Opens the site of a held directory that cannot be written, as it is: a forced read-only remount shall cost the hall
    /// its writes and not its logbooks.
    pub(crate) fn open_read_only(place: &Place, config: Config, clock: Clock) -> Result<Site, String> {
        soundness::look_read_only(&place.database())?;
        let keys = Keys::open(&place.key())?;
        let store = Store::open_read_only(&place.database())?;
        migrate::check_current(&store, &place.database())?;
        let row = read_row(place, &store)?;
        let keys = rotation::fitting(place, keys, &row.key_check)?;
        store.take_chain_key(keys.chain_key());
        let keys = open_hash_key(&store, clock.now(), keys, &row)?;
        clock.remember(row.clock_high_water);
        store.rest();
        Ok(Site::assemble(store, clock, config, keys, row))
    }

    /// Leaves one file: what is in the write-ahead log goes into the database. A file that takes no writes, or whose disk
    /// cannot be trusted, is left as it is.
    pub fn close(&self) {
        self.store.rest();
        soundness::remember(&self.store);
        if !matches!(self.store.writer().condition(), Condition::Sound | Condition::Full) {
            return;
        }
        if let Err(e) = self.store.empty_log() {
            tracing::warn!(cause = %e, "the write-ahead log was not emptied; the next start does that");
        }
    }
}

/// Whether a file with this check is sealed by these keys.
pub(crate) fn fits(keys: &Keys, key_check: &[u8]) -> bool {
    keys.unseal(Purpose::KeyCheck, key_check).as_deref() == Some(KEY_CHECK)
}

/// The file knows who opened it last. One that cannot be written now keeps the name that it has.
fn sign(store: &Store, now: i64) {
    let known = store.read(|tx| Ok(tunnels::find_version(tx)?));
    store.rest();
    if known.is_ok_and(|version| version != crate::VERSION) {
        let signed = store.write(now, |tx| Ok(tunnels::set_version(tx, crate::VERSION)?));
        _ = signed.inspect_err(|e| tracing::warn!(cause = %e, "the file does not know this version"));
    }
}

fn read_row(place: &Place, store: &Store) -> Result<tunnels::SiteRow, String> {
    let row = store
        .read(|tx| Ok(tunnels::find_site(tx)?))
        .map_err(|e| format!("cannot read {}: {e}", place.database().display()))?;
    row.ok_or_else(|| place.without_site())
}

/// The end of an audit log that has no key yet; `None`: there are no rows.
fn plain_end(place: &Place, store: &Store) -> Result<Option<Head>, String> {
    let head = store.read(|tx| Ok(audit::head(tx)?));
    let head = head.map_err(|e| format!("cannot read the end of the audit log in {}: {e}", place.database().display()));
    head.map(|head| Some(head).filter(|head| head.seq > 0))
}

/// The keys with the one for the keyed hashes. A file from before there was one hashed by the site key, and goes on so.
fn open_hash_key(store: &Store, now: i64, keys: Keys, row: &tunnels::SiteRow) -> Result<Keys, String> {
    let Some(sealed) = &row.sealed_hash_key else {
        let written = store.write(now, |tx| Ok(tunnels::set_hash_key(tx, &keys.sealed_hash_key())?));
        return written.map(|_| keys).map_err(|e| format!("cannot write the key of the keyed hashes: {e}"));
    };
    let key = keys.unseal(Purpose::HashKey, sealed);
    key.and_then(|key| keys.with_hash_key(&key))
        .ok_or_else(|| "the key of the keyed hashes is damaged: restore a backup".to_owned())
}
