//! The life cycle of a site: created, opened, upgraded where its database is older, and closed.

use super::backup::restore;
use super::backup::upgrade::{self, Upgraded};
use super::{audit_end, levels, rotation};
use crate::clock::{Clock, Jump};
use crate::config::Config;
use crate::domain::audit::{Actor, Detail, Head, Subject};
use crate::domain::ids::TunnelId;
use crate::http::failure::{DiskFault, Failure};
use crate::keys::{Keys, columns, hex, random};
use crate::moment::Moment;
use crate::ops::Progress;
use crate::ops::erasure;
use crate::site::Site;
use crate::store::alarm;
use crate::store::clock;
use crate::store::data_dir::DataDir;
use crate::store::migrate::{self, Older};
use crate::store::tables::{audit, tunnels};
use crate::store::{Condition, Read, Store};
use crate::store::{hot_journal, integrity};

/// A lost log covers less time than this.
const LOST_SECONDS_MAX: i64 = 86_400;

/// The identity of a new site.
pub struct Identity {
    /// The number of the site's own tunnel, 1 or more.
    pub tunnel_id: TunnelId,
    /// As pages and papers show it.
    pub name: String,
    /// Empty: not known.
    pub city: String,
    /// ISO 3166-1 alpha-2, upper case.
    pub country: String,
}

impl Site {
    /// Creates a site in a locked data directory: key, schema, identity. The error: the directory has a site.
    pub fn create(data_dir: &DataDir, config: Config, clock: Clock, identity: &Identity) -> Result<Site, String> {
        data_dir.check_kinds()?;
        if data_dir.database().exists() {
            return Err(format!(
                "there is a site in {} already: start it with `tunneldesk serve`",
                data_dir.dir().display()
            ));
        }
        let keys = if data_dir.key().exists() {
            rotation::begin_chain(data_dir, Keys::open(&data_dir.key())?, None)?
        } else {
            Keys::create(&data_dir.key()).map_err(|e| format!("cannot write {}: {e}", data_dir.key().display()))?
        };
        let keys = keys.with_hash_key(&random::<32>()).expect("a key has 32 bytes");
        migrate::create(data_dir)?;
        let store = Store::open(&data_dir.database())?;
        store.set_chain_key(keys.chain_key());
        let tunnel = tunnels::Tunnel {
            tunnel_id: identity.tunnel_id,
            name: identity.name.clone(),
            city: identity.city.clone(),
            country: identity.country.clone(),
        };
        let row = tunnels::SiteRow {
            site_id: hex(&random::<16>()),
            tunnel_id: identity.tunnel_id,
            key_check: keys.seal(&columns::KEY_CHECK.at([]), rotation::KEY_CHECK),
            sealed_hash_key: Some(keys.sealed_hash_key()),
            clock_high_water: clock.now(),
        };
        let written = store.write(clock.now(), |tx| {
            tunnels::insert(tx, &tunnel)?;
            tunnels::insert_site(tx, &row)?;
            audit::mark_end(tx)?;
            tunnels::set_version(tx, crate::VERSION)?;
            levels::remember(tx, config.catalogue)
        });
        written.map_err(|e| format!("cannot write {}: {e}", data_dir.database().display()))?;
        Ok(Site::assemble(store, clock, config, keys, row, &tunnel.country))
    }

    /// Opens the site of a locked data directory. The database of an earlier version is refused, and left as it is: a command
    /// that is typed beside the point, after a rollback for example, must not upgrade it.
    pub fn open(data_dir: &DataDir, config: Config, clock: Clock) -> Result<Site, String> {
        if let Some(older) = migrate::older_at_rest(data_dir) {
            return Err(refusal(data_dir, &older));
        }
        match prepare(data_dir)? {
            Some(older) => Err(refusal(data_dir, &older)),
            None => Site::open_prepared(data_dir, config, clock, &mut |_, _, _| ()),
        }
    }

    /// [`Site::open`], which upgrades the database of an earlier version.
    pub fn open_or_upgrade(
        data_dir: &DataDir,
        config: Config,
        clock: Clock,
        progress: &mut Progress,
    ) -> Result<(Site, Option<Upgraded>), String> {
        let Some(older) = prepare(data_dir)? else {
            return Site::open_prepared(data_dir, config, clock, progress).map(|site| (site, None));
        };
        rotation::fitting(data_dir, Keys::open(&data_dir.key())?, &older.key_check)?;
        clock.remember(older.clock_high_water);
        let upgraded = upgrade::run(data_dir, &older, &clock, progress)?;
        let site = Site::open_current(data_dir, config, clock, Keys::open(&data_dir.key())?)?;
        site.erase_again(progress);
        Ok((site, Some(upgraded)))
    }

    fn open_prepared(
        data_dir: &DataDir,
        config: Config,
        clock: Clock,
        progress: &mut Progress,
    ) -> Result<Site, String> {
        let site = Site::open_current(data_dir, config, clock, Keys::open(&data_dir.key())?)?;
        site.erase_again(progress);
        Ok(site)
    }

    /// Erases the members again whom a rollback brought back, before the site is served. A failure, on a full disk for example,
    /// does not keep it from being served: a job tries again every minute.
    fn erase_again(&self, progress: &mut Progress) {
        _ = erasure::catch_up(self, progress).inspect_err(|cause| tracing::error!(cause, "an erasure is not complete"));
        self.store.release();
    }

    /// Opens a copy. Its original is kept, so that an upgrade needs no backup.
    pub(crate) fn open_copy(data_dir: &DataDir, config: Config, clock: Clock) -> Result<Site, String> {
        integrity::recover(&data_dir.database())?;
        if let Some(older) = migrate::older(data_dir)? {
            rotation::fitting(data_dir, Keys::open(&data_dir.key())?, &older.key_check)?;
            migrate::upgrade(data_dir)?;
        }
        Site::open_current(data_dir, config, clock, Keys::open(&data_dir.key())?)
    }

    fn open_current(data_dir: &DataDir, config: Config, clock: Clock, keys: Keys) -> Result<Site, String> {
        let store = Store::open(&data_dir.database())?;
        let row = read_row(data_dir, &store)?;
        let keys = rotation::fitting(data_dir, keys, &row.key_check)?;
        let keys = match keys.chain_key() {
            Some(_) => keys,
            None => rotation::begin_chain(data_dir, keys, plain_end(data_dir, &store)?)?,
        };
        store.set_chain_key(keys.chain_key());
        let keys = open_hash_key(&store, clock.now(), keys, &row)?;
        clock.remember(latest_moment(data_dir, row.clock_high_water));
        // Before the first write, which marks the end that it leaves.
        audit_end::report(&store, data_dir.dir());
        levels::follow(&store, clock.now(), config.catalogue);
        record_version(&store, clock.now());
        let country = read_country(data_dir, &store)?;
        store.release();
        let site = Site::assemble(store, clock, config, keys, row, &country);
        site.load_settings().map_err(|e| format!("cannot read the settings of the pages: {e}"))?;
        if let Some(alarm) = alarm::find(&site.config.data, alarm::Kind::ClockAhead) {
            site.clock.doubt(Jump { from: alarm.last_good.unwrap_or(alarm.since), to: alarm.since });
        }
        follow_jump(&site);
        Ok(site)
    }

    /// Opens the site of a locked data directory read-only, on a read-only file system for example, so that people can still look
    /// things up.
    pub(crate) fn open_read_only(data_dir: &DataDir, config: Config, clock: Clock) -> Result<Site, String> {
        data_dir.check_kinds()?;
        integrity::check_read_only(&data_dir.database())?;
        let keys = Keys::open(&data_dir.key())?;
        let store = Store::open_read_only(&data_dir.database())?;
        migrate::check_current(&store, &data_dir.database())?;
        let row = read_row(data_dir, &store)?;
        let keys = rotation::fitting(data_dir, keys, &row.key_check)?;
        store.set_chain_key(keys.chain_key());
        let keys = open_hash_key(&store, clock.now(), keys, &row)?;
        clock.remember(row.clock_high_water);
        let country = read_country(data_dir, &store)?;
        store.release();
        let site = Site::assemble(store, clock, config, keys, row, &country);
        site.load_settings().map_err(|e| format!("cannot read the settings of the pages: {e}"))?;
        Ok(site)
    }

    /// Checkpoints the WAL. A database that takes no writes, or whose disk cannot be trusted, is left unchanged.
    pub fn close(&self) {
        self.store.release();
        audit_end::keep(self);
        integrity::remember(&self.store);
        if !matches!(self.store.writer().condition(), Condition::Healthy | Condition::Full) {
            return;
        }
        if let Err(e) = self.store.truncate_wal() {
            tracing::warn!(cause = %e, "the write-ahead log was not emptied; the next start does that");
        }
    }
}

/// The error for the database of an earlier version, in one line.
fn refusal(data_dir: &DataDir, older: &Older) -> String {
    format!(
        "{} is of an earlier version (schema {}, tunneldesk {}), and was left as it is: `tunneldesk upgrade` makes a backup and \
         upgrades it, as the next `tunneldesk serve` does; to stay with the earlier version, run that one",
        data_dir.database().display(),
        older.schema,
        older.version
    )
}

/// Makes a locked data directory ready to be opened: completes an interrupted restore, and moves the WAL that a crash left into
/// the database. Returns the description of a database of an earlier version.
fn prepare(data_dir: &DataDir) -> Result<Option<Older>, String> {
    if let Some((why, next)) = data_dir.why_unwritable() {
        return Err(format!(
            "the disk under {} {why}: {next}; until then `tunneldesk serve` shows the site as it is",
            data_dir.dir().display()
        ));
    }
    restore::complete(data_dir).map_err(|e| format!("an interrupted restore cannot be completed: {e}"))?;
    data_dir.check_kinds()?;
    if !data_dir.database().exists() {
        return Err(data_dir.without_database());
    }
    data_dir.check_access()?;
    hot_journal::refuse(data_dir)?;
    Keys::open(&data_dir.key())?;
    integrity::recover(&data_dir.database())?;
    migrate::older(data_dir)
}

/// The latest moment that the site has seen: the database's, or that of the last write in a log that was lost. The off-site copy
/// begins anew then, and must be later than the one that has those writes.
fn latest_moment(data_dir: &DataDir, high_water: Moment) -> Moment {
    let lost = alarm::find(data_dir.dir(), alarm::Kind::LostLog).and_then(|alarm| alarm.last_good);
    // A later one is of a clock that was set back since.
    lost.filter(|lost| (0..LOST_SECONDS_MAX).contains(&(*lost - high_water))).map_or(high_water, |lost| lost + 1)
}

/// Keeps a jump of the clock ahead in the data directory for as long as it is doubted, for the next process.
pub(crate) fn follow_jump(site: &Site) {
    let dir = &site.config.data;
    let (kept, jump) = (alarm::find(dir, alarm::Kind::ClockAhead), site.clock.doubted_jump());
    match jump {
        Some(jump) if kept.as_ref().is_none_or(|kept| kept.since != jump.to) => {
            alarm::clear(dir, alarm::Kind::ClockAhead);
            let cause = "the clock went ahead at once";
            alarm::raise_after(dir, alarm::Kind::ClockAhead, jump.to, cause, Some(jump.from));
        }
        None if kept.is_some() => _ = alarm::clear(dir, alarm::Kind::ClockAhead),
        _ => {}
    }
}

/// Sets the database's clock back to this moment. Audited. Returns how many sessions, tokens and codes ended.
pub(crate) fn set_clock_back(site: &Site, actor: &Actor, moment: Moment) -> Result<usize, Failure> {
    let detail = Detail::none().number("from", site.now()).number("to", moment);
    site.store.write(moment, |tx| {
        audit::insert(tx, actor, "clock.set_back", &Subject::Site, &detail)?;
        Ok(clock::set_back(tx)?)
    })
}

/// Records the version of this program in the database, unless it cannot be written now.
fn record_version(store: &Store, now: Moment) {
    let known = store.read(|tx| Ok(tunnels::find_version(tx)?));
    store.release();
    if known.is_ok_and(|version| version != crate::VERSION) {
        let signed = store.write(now, |tx| Ok(tunnels::set_version(tx, crate::VERSION)?));
        _ = signed.inspect_err(|e| tracing::warn!(cause = %e, "the version was not recorded in the database"));
    }
}

/// Reads what a start needs. A flipped bit is put right by the check that its first read begins, and the next read finds the
/// page as it was written.
fn read<T>(store: &Store, question: impl Fn(&Read) -> Result<T, Failure>) -> Result<T, Failure> {
    store.read(&question).or_else(|failure| {
        if failure.disk_fault() != Some(DiskFault::Unreadable) {
            return Err(failure);
        }
        store.release();
        integrity::recheck(store);
        store.read(&question)
    })
}

fn read_row(data_dir: &DataDir, store: &Store) -> Result<tunnels::SiteRow, String> {
    let row = read(store, |tx| Ok(tunnels::find_site(tx)?))
        .map_err(|e| format!("cannot read {}: {e}", data_dir.database().display()))?;
    row.ok_or_else(|| data_dir.without_site())
}

fn read_country(data_dir: &DataDir, store: &Store) -> Result<String, String> {
    let country = read(store, |tx| Ok(tunnels::find_own_country(tx)?));
    let country = country.map_err(|e| format!("cannot read {}: {e}", data_dir.database().display()))?;
    Ok(country.unwrap_or_default())
}

/// The end of an audit log that has no key yet. `None`: it has no rows.
fn plain_end(data_dir: &DataDir, store: &Store) -> Result<Option<Head>, String> {
    let head = read(store, |tx| Ok(audit::head(tx)?));
    let head =
        head.map_err(|e| format!("cannot read the end of the audit log in {}: {e}", data_dir.database().display()));
    head.map(|head| Some(head).filter(|head| head.seq > 0))
}

/// Adds the key of the keyed hashes. A database from before there was one hashes with the site key.
fn open_hash_key(store: &Store, now: Moment, keys: Keys, row: &tunnels::SiteRow) -> Result<Keys, String> {
    let Some(sealed) = &row.sealed_hash_key else {
        let written = store.write(now, |tx| Ok(tunnels::set_hash_key(tx, &keys.sealed_hash_key())?));
        return written.map(|_| keys).map_err(|e| format!("cannot write the key of the keyed hashes: {e}"));
    };
    keys.with_sealed_hash_key(sealed)
        .ok_or_else(|| "the key of the keyed hashes is damaged: restore a backup".to_owned())
}
