//! Promotion: the standby's copy becomes the site of its data directory. The epoch is raised, so that the replaced machine
//! refuses all writes once it learns of it.

use super::copy;
use super::epoch::{self, FormerMachine, OwnEpoch};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::domain::local_time::TimeZone;
use crate::moment::Moment;
use crate::ops::Progress;
use crate::ops::backup::off_site::OffSite;
use crate::ops::backup::restore;
use crate::ops::erasure;
use crate::ops::signature;
use crate::site::Site;
use crate::store::engine::data_dir::{DataDir, LockError, standby_copy};
use crate::store::queries::erasure::Tombstone;
use crate::store::tables::audit;
use std::path::Path;

/// The outcome of [`run`].
#[derive(Debug)]
pub(crate) struct Promoted {
    pub epoch: u64,
    /// The second of the last write in the copy (Unix seconds); `None`: the directory had a site already.
    pub moment: Option<Moment>,
    /// The zone of the site.
    pub zone: TimeZone,
    /// The address of the replaced machine; `None`: unknown.
    pub other: Option<String>,
    /// Members in the copy who had been erased, and are erased again.
    pub erased: usize,
    /// Why the epoch could not be written off site.
    pub not_off_site: Option<String>,
}

/// Promotes this machine. `raises`: whether the epoch is raised; `false` only in the test that shows what happens otherwise. The
/// error is one line, and nothing was changed.
pub(crate) fn run(
    data_dir: &DataDir,
    config: &Config,
    actor: &Actor,
    raises: bool,
    progress: &mut Progress,
) -> Result<Promoted, String> {
    let data = data_dir.dir();
    progress("reading the copy", 0, 1);
    let Some((ready, state)) = copy::begin_promotion(&standby_copy(data))? else {
        let promoted = promote_site(data_dir, config, actor, raises, progress)?;
        // A promotion that was killed when the copy was in the site's place has left the rest of it.
        _ = std::fs::remove_dir_all(standby_copy(data));
        return Ok(promoted);
    };
    let copy::State { site_id, moment, main, epoch: known, .. } = state;
    let held = DataDir::lock(&ready).map_err(|error| match error {
        LockError::InUse => format!("another tunneldesk runs on {}", ready.display()),
        LockError::Unusable(why) => why,
    })?;
    signature::take_over(&ready, data)?;
    let gone = OffSite::new(config).and_then(|off_site| off_site.list_erased(&site_id).ok()).unwrap_or_default();
    let Raised { epoch: raised, content, unwritten, not_off_site } = raise(data_dir, config, &site_id, known, raises);
    let site = Site::open_copy(&held, Config { data: ready.clone(), ..config.clone() }, Clock::machine(Moment(0)))?;
    let prepared = prepare(&site, &gone, actor, raised, moment, progress);
    let zone = site.time_zone().unwrap_or(TimeZone::UTC);
    site.store.release();
    site.close();
    let erased = prepared?;
    drop(held);
    let main = Some(main).filter(|main| !main.url.is_empty());
    let replaced = main.as_ref().map(|main| main.url.clone());
    let other = replaced.clone().filter(|_| raises).map(|url| FormerMachine { url, knows: false });
    let own = OwnEpoch { epoch: raised, main: main.filter(|_| raises), other, content, unwritten };
    epoch::set_own(data, &own).map_err(|e| format!("cannot note the epoch in {}: {e}", data.display()))?;
    swap_in(data_dir, &ready)?;
    Ok(Promoted { epoch: raised, moment: Some(moment), zone, other: replaced, erased, not_off_site })
}

/// The epoch of a promotion.
struct Raised {
    epoch: u64,
    /// See [`OwnEpoch::content`].
    content: String,
    /// See [`OwnEpoch::unwritten`].
    unwritten: Option<String>,
    /// See [`Promoted::not_off_site`].
    not_off_site: Option<String>,
}

/// Raises the epoch, and writes it off site where the target answers.
fn raise(data_dir: &DataDir, config: &Config, site_id: &str, known: u64, raises: bool) -> Raised {
    if !raises {
        return Raised { epoch: known, content: String::new(), unwritten: None, not_off_site: None };
    }
    let (next, content) = (epoch::next(data_dir.dir(), known), epoch::content());
    match OffSite::new(config).map(|off_site| off_site.write_epoch(site_id, next, &content, epoch::claim)) {
        Some(Ok(claimed)) => Raised { epoch: claimed, content, unwritten: None, not_off_site: None },
        failed => {
            let not_off_site = failed.and_then(Result::err);
            Raised { epoch: next, unwritten: Some(content.clone()), content, not_off_site }
        }
    }
}

/// Erases members again, writes the audit row, and skips history numbers that the other machine may have given. Returns how many
/// members were erased.
fn prepare(
    site: &Site,
    gone: &[Tombstone],
    actor: &Actor,
    epoch: u64,
    moment: Moment,
    progress: &mut Progress,
) -> Result<usize, String> {
    let erased = erasure::erase_again(site, gone, progress)
        .map_err(|e| format!("people who were erased are in the copy, and stay in it: {e}"))?;
    let written = site.store.write(site.now(), |tx| {
        let detail = Detail::none().number("epoch", epoch.cast_signed());
        audit::insert(tx, actor, "site.promoted", &Subject::Site, &detail)?;
        restore::skip_history_numbers(tx, moment)
    });
    site.store.release();
    written.map_err(|e| format!("the copy takes no writes: {e}"))?;
    Ok(erased)
}

fn swap_in(data_dir: &DataDir, ready: &Path) -> Result<(), String> {
    restore::swap_in(data_dir, ready)?;
    _ = std::fs::remove_dir_all(standby_copy(data_dir.dir()));
    Ok(())
}

/// Promotes the site of a data directory: one that was replaced, or was restored on a second machine.
fn promote_site(
    data_dir: &DataDir,
    config: &Config,
    actor: &Actor,
    raises: bool,
    progress: &mut Progress,
) -> Result<Promoted, String> {
    let data = data_dir.dir();
    if !epoch::has_site(data) {
        return Err(format!(
            "there is neither a standby's copy nor a site in {}: run `tunneldesk standby` there first",
            data.display()
        ));
    }
    let (site, _) = Site::open_or_upgrade(data_dir, config.clone(), Clock::machine(Moment(0)), progress)?;
    let Raised { epoch: raised, content, unwritten, not_off_site } = raise(data_dir, config, &site.site_id, 0, raises);
    let written = site.store.write(site.now(), |tx| {
        let detail = Detail::none().number("epoch", raised.cast_signed());
        audit::insert(tx, actor, "site.promoted", &Subject::Site, &detail)?;
        restore::skip_history_numbers(tx, tx.now())
    });
    let zone = site.time_zone().unwrap_or(TimeZone::UTC);
    site.store.release();
    site.close();
    written.map_err(|e| format!("the site takes no writes: {e}"))?;
    // A machine that an earlier promotion replaced may not know of that yet.
    let OwnEpoch { main, other, .. } = epoch::own(data);
    let url = epoch::fenced(data).and_then(|fenced| fenced.url);
    let url = url.or(other.map(|other| other.url)).or(main.as_ref().map(|main| main.url.clone()));
    let other = url.clone().map(|url| FormerMachine { url, knows: false });
    let own = OwnEpoch { epoch: raised, main, other, content, unwritten };
    epoch::set_own(data, &own).map_err(|e| format!("cannot note the epoch in {}: {e}", data.display()))?;
    Ok(Promoted { epoch: raised, moment: None, zone, other: url, erased: 0, not_off_site })
}
