//! `tunneldesk restore`: a backup takes the site's place, while no server runs.

use super::bar::Bar;
use super::owner::become_owner;
use super::shell::by_us;
use super::{Global, Trouble, as_json, broken, refused, shown_moment, stop_it_first};
use crate::clock::Clock;
use crate::config::Config;
use crate::jobs::backup::encrypted::Identities;
use crate::jobs::backup::restore::Restored;
use crate::jobs::backup::shelf::{Backup, Shelf};
use crate::jobs::backup::{restore, shelf};
use crate::store::place::Place;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub struct Restore {
    /// Which: a name as `backup list` shows it, or a directory [default: the newest there is]
    #[arg(value_name = "BACKUP")]
    backup: Option<PathBuf>,
    /// The secret key of an encrypted copy, as `age-keygen` writes it
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
}

impl Restore {
    pub fn run(self, global: &Global) -> Result<String, Trouble> {
        let config = global.checked()?;
        let by = by_us();
        become_owner(&config.data)?;
        let place = Place::make(&config.data).map_err(|unheld| stop_it_first(unheld, &config.data))?;
        restore::complete(&place).map_err(|e| broken(format!("an earlier restore cannot be finished: {e}")))?;
        let backup = self.choose(&config)?;
        let keys = self.identity.as_deref().map(Identities::read).transpose().map_err(refused)?;
        if backup.is_encrypted() && keys.is_none() {
            let dir = backup.dir.display();
            return Err(refused(format!("{dir} is encrypted: give the secret key to it with --identity FILE")));
        }
        let mut bar = Bar::new(!global.json);
        let restored = restore::restore(&place, &backup, keys.as_ref(), &config, &by, &mut |step, done, all| {
            bar.tell(step, done, all);
        });
        drop(bar);
        let Restored { replaced, erased } = restored.map_err(|e| broken(format!("nothing was changed: {e}")))?;
        let (name, made) = (backup.name(), shown_moment(backup.manifest.made_at));
        if global.json {
            return Ok(as_json(&json!({ "backup": name, "made_at": backup.manifest.made_at,
                "replaced": replaced, "erased_again": erased })));
        }
        let kept = replaced.map_or_else(String::new, |dir| {
            format!("\nWhat it replaced is in {}; remove that once nobody misses anything.", dir.display())
        });
        let gone = match erased {
            0 => "",
            1 => "\nOne member had been erased since, and is not in it any more.",
            _ => &*format!("\n{erased} members had been erased since, and are not in it any more."),
        };
        Ok(format!(
            "The site is as it was on {made} UTC ({name}).{gone}{kept}\n\nNext:\n  tunneldesk serve --data {}",
            config.data.display()
        ))
    }

    /// The named one, or the newest on the two shelves.
    fn choose(&self, config: &Config) -> Result<Backup, Trouble> {
        let shelves = || std::iter::once(shelf(&config.data)).chain(config.backup.second_place.clone().map(Shelf::new));
        let Some(named) = &self.backup else {
            // Of the two copies of one backup the one beside the site, which needs no key.
            let mut all: Vec<Backup> = shelves().flat_map(|shelf| shelf.list()).collect();
            all.sort_by_cached_key(|backup| (backup.age_order(), !backup.is_encrypted()));
            let oldest = all.first().map_or(0, |b| b.manifest.made_at);
            let newest = all.pop().ok_or_else(|| refused("there is no backup: name the directory of one"))?;
            let (now, made) = (Clock::machine(0).now(), newest.manifest.made_at);
            if oldest <= now && now < made {
                return Err(refused(format!(
                    "the newest backup is dated {} UTC, which is yet to come: this machine's clock is behind, or was ahead when that was made; name the one you want, `tunneldesk backup list` shows them",
                    shown_moment(made)
                )));
            }
            return Ok(newest);
        };
        if named.is_dir() {
            return Backup::at(named).map_err(refused);
        }
        let named_so = |backup: &Backup| backup.name() == named.to_string_lossy();
        let found = shelves().find_map(|shelf| shelf.list().into_iter().find(named_so));
        found.ok_or_else(|| {
            refused(format!("there is no backup {}: `tunneldesk backup list` shows them", named.display()))
        })
    }
}
