//! `tunneldesk restore`: a backup takes the site's place, while no server runs.

use super::owner::become_owner;
use super::shell::by_us;
use super::{Answered, Global, Trouble, broken, done, refused, shown_moment, stop_it_first};
use crate::clock::Clock;
use crate::config::Config;
use crate::ops::backup::elsewhere::{Elsewhere, silent};
use crate::ops::backup::encrypted::Identities;
use crate::ops::backup::restore::Restored;
use crate::ops::backup::shelf::Backup;
use crate::ops::backup::{restore, shelf};
use crate::store::engine::place::Place;
use clap::Args;
use serde_json::json;
use std::path::PathBuf;

#[derive(Args)]
pub(super) struct Restore {
    /// Which: a name as `backup list` shows it, or a directory [default: the newest there is]
    #[arg(value_name = "BACKUP")]
    backup: Option<PathBuf>,
    /// The secret key of an encrypted copy, as `age-keygen` writes it
    #[arg(long, value_name = "FILE")]
    identity: Option<PathBuf>,
}

/// The backup that is restored.
struct Choice {
    backup: Backup,
    /// What is to be said of the off-site backups, where their directory did not answer.
    silent: Option<String>,
    /// Newer ones that cannot be read, by their names, and why.
    unreadable: Vec<(String, String)>,
}

impl Restore {
    pub(super) fn run(self, global: &Global) -> Answered {
        let config = global.checked()?;
        let by = by_us();
        become_owner(&config.data)?;
        let place = Place::make(&config.data).map_err(|unheld| stop_it_first(unheld, &config.data))?;
        restore::complete(&place).map_err(|e| broken(format!("an earlier restore cannot be finished: {e}")))?;
        let Choice { backup, silent: passed_over, unreadable } = self.choose(&config)?;
        let keys = self.identity.as_deref().map(Identities::read).transpose().map_err(refused)?;
        if backup.is_encrypted() && keys.is_none() {
            let dir = backup.dir.display();
            return Err(refused(format!("{dir} is encrypted: give the secret key to it with --identity FILE")));
        }
        let mut bar = global.bar();
        let restored = restore::restore(&place, &backup, keys.as_ref(), &config, &by, &mut |step, done, all| {
            bar.tell(step, done, all);
        });
        drop(bar);
        let Restored { replaced, erased } = restored.map_err(|e| broken(format!("nothing was changed: {e}")))?;
        let (name, made) = (backup.name(), shown_moment(backup.manifest.made_at));
        let values = json!({ "backup": name, "made_at": backup.manifest.made_at, "replaced": replaced,
                             "erased_again": erased, "passed_over": passed_over, "unreadable": unreadable });
        let kept = replaced.map_or_else(String::new, |dir| {
            format!("\nWhat it replaced is in {}; remove that once nobody misses anything.", dir.display())
        });
        let gone = match erased {
            0 => "",
            1 => "\nOne member had been erased since, and is not in it any more.",
            _ => &*format!("\n{erased} members had been erased since, and are not in it any more."),
        };
        let passed_over = passed_over
            .map_or_else(String::new, |silent| format!("\nThe off-site backups were passed over: {silent}."));
        let unreadable: String = unreadable
            .iter()
            .map(|(name, why)| format!("\nA newer backup was passed over, because it cannot be read: {name} ({why})."))
            .collect();
        let words = format!(
            "The site is as it was on {made} ({name}).{gone}{kept}{passed_over}{unreadable}\n\nNext:\n  tunneldesk serve --data {}",
            config.data.display()
        );
        done(words, values)
    }

    /// The named one, or the newest on the two shelves.
    fn choose(&self, config: &Config) -> Result<Choice, Trouble> {
        if let Some(named) = self.backup.as_deref().filter(|named| named.is_dir()) {
            return Ok(Choice { backup: Backup::at(named).map_err(refused)?, silent: None, unreadable: Vec::new() });
        }
        let mut unreadable = shelf(&config.data).unreadable();
        let mut all = shelf(&config.data).list();
        let mut passed_over = None;
        if let Some(dir) = &config.backup.second_place {
            match Elsewhere::default().list(dir) {
                Some(there) => {
                    all.extend(there);
                    unreadable.extend(Elsewhere::default().unreadable(dir).unwrap_or_default());
                }
                None => passed_over = Some(silent(dir)),
            }
        }
        let none = |text: String| {
            let damaged = unreadable.iter().map(|(name, why)| format!("{name} cannot be read: {why}"));
            let all = std::iter::once(text).chain(passed_over.clone()).chain(damaged);
            refused(all.collect::<Vec<_>>().join("; "))
        };
        let Some(named) = &self.backup else {
            // Of the two copies of one backup the one beside the site, which needs no key.
            all.sort_by_cached_key(|backup| (backup.age_order(), !backup.is_encrypted()));
            let oldest = all.first().map_or(0, |b| b.manifest.made_at);
            let newest = all.pop().ok_or_else(|| none("there is no backup: name the directory of one".to_owned()))?;
            let (now, made) = (Clock::machine(0).now(), newest.manifest.made_at);
            if oldest <= now && now < made {
                return Err(refused(format!(
                    "the newest backup is dated {}, which is yet to come: this machine's clock is behind, or was ahead when that was made; name the one you want, `tunneldesk backup list` shows them",
                    shown_moment(made)
                )));
            }
            let name = newest.name();
            unreadable.retain(|(other, _)| *other > name);
            return Ok(Choice { backup: newest, silent: passed_over, unreadable });
        };
        let found = all.into_iter().find(|backup| backup.name() == named.to_string_lossy());
        let unknown = || none(format!("there is no backup {}: `tunneldesk backup list` shows them", named.display()));
        Ok(Choice { backup: found.ok_or_else(unknown)?, silent: passed_over, unreadable: Vec::new() })
    }
}
