//! A person says that this machine goes on with the site: the standby's copy becomes the site of its data directory, and the
//! epoch rises, so that the machine that had the site before writes nothing any more once it hears of it.

use super::copy;
use super::copy_in;
use super::epoch::{self, Main, Own};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::{By, Detail, Whom};
use crate::domain::local_time::TimeZone;
use crate::ops::backup::off_site::OffSite;
use crate::ops::backup::{Progress, restore};
use crate::ops::erasure;
use crate::site::Site;
use crate::store::engine::data_dir::{DataDir, LockError};
use crate::store::queries::erasure::Tombstone;
use crate::store::tables::audit;
use std::path::Path;

/// The outcome of [`run`].
#[derive(Debug)]
pub(crate) struct Promoted {
    pub epoch: u64,
    /// The second of the last write that it has (Unix seconds); `None`: the directory held a site already.
    pub moment: Option<i64>,
    /// The zone of the site.
    pub zone: TimeZone,
    /// The machine that is to hear of it; `None`: nobody knows which.
    pub main: Option<Main>,
    /// People who had been erased, and were in the copy.
    pub erased: usize,
    /// Why the place of off-site backups could not be told, where it could not.
    pub silent: Option<String>,
}

/// Makes this machine the one that goes on. `raises`: whether the epoch rises, as it must; not in the campaign that shows what
/// comes of it otherwise. The error is one line, and leaves the copy as it was.
pub(crate) fn run(
    data_dir: &DataDir,
    config: &Config,
    by: &By,
    raises: bool,
    progress: &mut Progress,
) -> Result<Promoted, String> {
    let data = data_dir.dir();
    progress("reading the copy", 0, 1);
    let Some((ready, state)) = copy::begin_promotion(&copy_in(data))? else {
        return of_site(data_dir, config, by, raises);
    };
    let copy::State { site_id, moment, main, epoch: known, .. } = state;
    let held = DataDir::lock(&ready).map_err(|error| match error {
        LockError::InUse => format!("another tunneldesk runs on {}", ready.display()),
        LockError::Unusable(why) => why,
    })?;
    let second = OffSite::default().target(config);
    let gone = second.and_then(|data_dir| OffSite::default().list_erased(&data_dir, &site_id).ok()).unwrap_or_default();
    let Raised { epoch: raised, unwritten, silent } = raise(data_dir, config, &site_id, known, raises);
    let site = Site::open_copy(&held, Config { data: ready.clone(), ..config.clone() }, Clock::machine(0))?;
    let prepared = prepare(&site, &gone, by, raised, moment, progress);
    let zone = site.time_zone().unwrap_or(TimeZone::UTC);
    site.store.release();
    site.close();
    let erased = prepared?;
    drop(held);
    let main = Some(main).filter(|main| !main.url.is_empty());
    let own = Own { epoch: raised, main: main.clone().filter(|_| raises), unwritten };
    epoch::set_own(data, &own).map_err(|e| format!("cannot note the epoch in {}: {e}", data.display()))?;
    take_over(data_dir, &ready)?;
    Ok(Promoted { epoch: raised, moment: Some(moment), zone, main, erased, silent })
}

/// The epoch of a promotion.
struct Raised {
    epoch: u64,
    /// See [`Own::unwritten`].
    unwritten: Option<String>,
    silent: Option<String>,
}

/// The next epoch, which the place of off-site backups takes where there is one and it answers.
fn raise(data_dir: &DataDir, config: &Config, site_id: &str, known: u64, raises: bool) -> Raised {
    if !raises {
        return Raised { epoch: known, unwritten: None, silent: None };
    }
    let (next, content) = (epoch::next(data_dir.dir(), known), epoch::content());
    let second = OffSite::default().target(config);
    match second.map(|second| OffSite::default().write_epoch(&second, site_id, next, &content, epoch::claim)) {
        Some(Ok(claimed)) => Raised { epoch: claimed, unwritten: None, silent: None },
        silent => Raised { epoch: next, unwritten: Some(content), silent: silent.and_then(Result::err) },
    }
}

/// Erases again who was erased, and leaves the numbers of the history that the other machine may have given. How many were
/// erased.
fn prepare(
    site: &Site,
    gone: &[Tombstone],
    by: &By,
    epoch: u64,
    moment: i64,
    progress: &mut Progress,
) -> Result<usize, String> {
    let erased = erasure::erase_again(site, gone, progress)
        .map_err(|e| format!("people who were erased are in the copy, and stay in it: {e}"))?;
    let written = site.store.write(site.now(), |tx| {
        let detail = Detail::none().number("epoch", epoch.cast_signed());
        audit::insert(tx, &by.who, "site.promoted", &Whom::Site, &by.origin, &detail)?;
        restore::leave_numbers(tx, moment)
    });
    site.store.release();
    written.map_err(|e| format!("the copy takes no writes: {e}"))?;
    Ok(erased)
}

fn take_over(data_dir: &DataDir, ready: &Path) -> Result<(), String> {
    restore::take_over(data_dir, ready)?;
    _ = std::fs::remove_dir_all(copy_in(data_dir.dir()));
    Ok(())
}

/// A site that was replaced, or restored beside another, is the one that goes on.
fn of_site(data_dir: &DataDir, config: &Config, by: &By, raises: bool) -> Result<Promoted, String> {
    let data = data_dir.dir();
    if !epoch::has_site(data) {
        return Err(format!(
            "there is neither a standby's copy nor a site in {}: run `tunneldesk standby` there first",
            data.display()
        ));
    }
    let (site, _) = Site::open(data_dir, config.clone(), Clock::machine(0), true)?;
    let Raised { epoch: raised, unwritten, silent } = raise(data_dir, config, &site.site_id, 0, raises);
    let written = site.store.write(site.now(), |tx| {
        let detail = Detail::none().number("epoch", raised.cast_signed());
        audit::insert(tx, &by.who, "site.promoted", &Whom::Site, &by.origin, &detail)?;
        restore::leave_numbers(tx, tx.now())
    });
    let zone = site.time_zone().unwrap_or(TimeZone::UTC);
    site.store.release();
    site.close();
    written.map_err(|e| format!("the site takes no writes: {e}"))?;
    let own = Own { epoch: raised, main: None, unwritten };
    epoch::set_own(data, &own).map_err(|e| format!("cannot note the epoch in {}: {e}", data.display()))?;
    Ok(Promoted { epoch: raised, moment: None, zone, main: None, erased: 0, silent })
}
