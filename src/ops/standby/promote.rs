//! A person says that this machine goes on with the site: the standby's copy becomes the site of its data directory, and the
//! epoch rises, so that the machine that had the site before writes nothing any more once it hears of it.

use super::copy;
use super::copy_in;
use super::epoch::{self, Main, Own};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::{By, Detail, Whom};
use crate::ops::backup::elsewhere::Elsewhere;
use crate::ops::backup::{Progress, restore};
use crate::ops::erasure;
use crate::site::Site;
use crate::store::engine::place::{Place, Unheld};
use crate::store::queries::erasure::Tombstone;
use crate::store::tables::audit;
use std::path::Path;

/// The outcome of [`run`].
#[derive(Debug)]
pub(crate) struct Promoted {
    pub epoch: u64,
    /// The second of the last write that it has (Unix seconds); `None`: the directory held a site already.
    pub moment: Option<i64>,
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
    place: &Place,
    config: &Config,
    by: &By,
    raises: bool,
    progress: &mut Progress,
) -> Result<Promoted, String> {
    let data = place.dir();
    progress("reading the copy", 0, 1);
    let Some((ready, state)) = copy::begin_promotion(&copy_in(data))? else {
        return of_site(place, config, by, raises);
    };
    let copy::State { site_id, moment, main, epoch: known, .. } = state;
    let held = Place::hold(&ready).map_err(|unheld| match unheld {
        Unheld::InUse => format!("another tunneldesk runs on {}", ready.display()),
        Unheld::Unfit(why) => why,
    })?;
    let second = Elsewhere::default().target(config);
    let gone = second.and_then(|place| Elsewhere::default().list_erased(&place, &site_id).ok()).unwrap_or_default();
    let (raised, silent) = raise(place, config, &site_id, known, raises);
    let site = Site::open_copy(&held, Config { data: ready.clone(), ..config.clone() }, Clock::machine(0))?;
    let prepared = prepare(&site, &gone, by, raised, moment, progress);
    site.close();
    let erased = prepared?;
    drop(held);
    let main = Some(main).filter(|main| !main.url.is_empty());
    let own = Own { epoch: raised, main: main.clone().filter(|_| raises) };
    epoch::set_own(data, &own).map_err(|e| format!("cannot note the epoch in {}: {e}", data.display()))?;
    take_over(place, &ready)?;
    Ok(Promoted { epoch: raised, moment: Some(moment), main, erased, silent })
}

/// The next epoch, and what is to be said where the place of off-site backups does not take it.
fn raise(place: &Place, config: &Config, site_id: &str, known: u64, raises: bool) -> (u64, Option<String>) {
    if !raises {
        return (known, None);
    }
    let next = epoch::next(place.dir(), known);
    let Some(second) = Elsewhere::default().target(config) else { return (next, None) };
    match Elsewhere::default().claim_epoch(&second, site_id, next) {
        Ok(claimed) => (claimed, None),
        Err(cause) => (next, Some(cause)),
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
    site.store.rest();
    written.map_err(|e| format!("the copy takes no writes: {e}"))?;
    Ok(erased)
}

fn take_over(place: &Place, ready: &Path) -> Result<(), String> {
    restore::take_over(place, ready)?;
    _ = std::fs::remove_dir_all(copy_in(place.dir()));
    Ok(())
}

/// A site that was replaced, or restored beside another, is the one that goes on.
fn of_site(place: &Place, config: &Config, by: &By, raises: bool) -> Result<Promoted, String> {
    let data = place.dir();
    if !epoch::has_site(data) {
        return Err(format!(
            "there is neither a standby's copy nor a site in {}: run `tunneldesk standby` there first",
            data.display()
        ));
    }
    let (site, _) = Site::open(place, config.clone(), Clock::machine(0), true)?;
    let (raised, silent) = raise(place, config, &site.site_id, 0, raises);
    let written = site.store.write(site.now(), |tx| {
        let detail = Detail::none().number("epoch", raised.cast_signed());
        audit::insert(tx, &by.who, "site.promoted", &Whom::Site, &by.origin, &detail)?;
        restore::leave_numbers(tx, tx.now())
    });
    site.store.rest();
    site.close();
    written.map_err(|e| format!("the site takes no writes: {e}"))?;
    let own = Own { epoch: raised, main: None };
    epoch::set_own(data, &own).map_err(|e| format!("cannot note the epoch in {}: {e}", data.display()))?;
    Ok(Promoted { epoch: raised, moment: None, main: None, erased: 0, silent })
}
