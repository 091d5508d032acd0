//! The backups that a restore finds here and off site, and whose signatures it believes.

use super::{CommandError, failed, refused};
use crate::config::Config;
use crate::moment::Moment;
use crate::ops::backup::backup_store::local_store;
use crate::ops::backup::backup_store::{Backup, Listing};
use crate::ops::backup::manifest::ChainOrigin;
use crate::ops::backup::manifest_signature::ErasedMark;
use crate::ops::backup::off_site::OffSite;
use crate::ops::replication::target::Target;
use crate::ops::signature::{PublicKey, Signer, Trust};
use crate::store::data_dir;
use crate::store::queries::erasure::site_of;
use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::path::Path;

/// How many names of backups an error shows.
const NAMES_SHOWN: usize = 5;

/// What was typed about signatures.
pub(super) struct Insistence {
    /// The digits of the fingerprint of the site's key.
    pub(super) site: Option<String>,
    /// Copies that are not signed are taken too.
    pub(super) unsigned: bool,
}

/// The backups that were found, and the errors of those that could not be reached or read.
pub(super) struct FoundBackups {
    pub(super) backups: Vec<Backup>,
    pub(super) off_site_error: Option<String>,
    pub(super) unreadable: Vec<(String, String)>,
    /// Whose signatures are believed off site.
    trust: Trust,
    /// Where they were looked for, as the end of a sentence.
    pub(super) places: String,
}

impl Insistence {
    /// Whose signatures are believed before the backups are known.
    fn trust(&self, config: &Config) -> Trust {
        match (self.unsigned, &self.site) {
            (true, _) => Trust::Unsigned,
            (false, Some(_)) => Trust::Anybody,
            (false, None) => Trust::of(&config.data),
        }
    }

    fn is_named(&self, key: &PublicKey) -> bool {
        self.site.as_ref().is_some_and(|site| *site == key.fingerprint().replace('-', ""))
    }

    /// The trust with which a backup in a directory is restored that a person named. The error: it is not believed.
    pub(super) fn judge(&self, backup: &Backup, config: &Config) -> Result<Trust, CommandError> {
        let trust = self.trust(config);
        if is_here(backup, config) {
            return Ok(trust);
        }
        let signed_by = backup.manifest.signed_by();
        match &self.site {
            Some(_) if signed_by.is_some_and(|key| self.is_named(key)) => Ok(Trust::Keys(backup.manifest.keys())),
            None if trust.believes(signed_by) => Ok(match trust {
                Trust::Anybody => Trust::Keys(backup.manifest.keys()),
                trust => trust,
            }),
            _ => Err(refused(format!("{} {}", backup.at, backup.manifest.describe_distrust()))),
        }
    }
}

/// Whether a backup is in the data directory, where nobody else writes.
pub(super) fn is_here(backup: &Backup, config: &Config) -> bool {
    let own = local_store(&config.data);
    backup.at.path().is_some_and(|at| at.starts_with(own.dir()) || is_same(at.parent(), own.dir()))
}

fn is_same(one: Option<&Path>, other: &Path) -> bool {
    one.and_then(|one| one.canonicalize().ok()).is_some_and(|one| other.canonicalize().is_ok_and(|other| one == other))
}

impl FoundBackups {
    pub(super) fn find(config: &Config, wanted: &Insistence) -> Result<FoundBackups, CommandError> {
        let trust = wanted.trust(config);
        let Listing { backups, unreadable, .. } = local_store(&config.data).listing();
        let own = local_store(&config.data).dir().display().to_string();
        let places = match Target::off_site(config) {
            Some(place) => format!("in {own} or in {place}"),
            None => format!("in {own}, and `off_site` names no other place"),
        };
        let mut found = FoundBackups { backups, off_site_error: None, unreadable, trust: trust.clone(), places };
        match OffSite::believing(config, trust).map(|off_site| off_site.list()) {
            Some(Ok(listing)) => {
                found.backups.extend(listing.backups);
                found.unreadable.extend(listing.unreadable);
            }
            Some(Err(cause)) => found.off_site_error = Some(cause),
            None => {}
        }
        if wanted.site.is_some() {
            found.insist(wanted)?;
        }
        // Of two copies of a backup the one that needs no key comes last, and is chosen; of two such copies the one that is here.
        found
            .backups
            .sort_by_cached_key(|backup| (backup.age_order(), !backup.is_encrypted(), is_here(backup, config)));
        Ok(found)
    }

    /// Leaves the backups that the named key signed, or an earlier one of its site.
    fn insist(&mut self, wanted: &Insistence) -> Result<(), CommandError> {
        let is_named = |backup: &&Backup| backup.manifest.signed_by().is_some_and(|key| wanted.is_named(key));
        let keys: Vec<PublicKey> = self.backups.iter().filter(is_named).flat_map(|one| one.manifest.keys()).collect();
        if keys.is_empty() {
            let mut others: Vec<String> =
                self.backups.iter().filter_map(|one| one.manifest.signed_by()).map(PublicKey::fingerprint).collect();
            others.sort_unstable();
            others.dedup();
            let others =
                if others.is_empty() { String::new() } else { format!("; there are some by {}", others.join(", ")) };
            return Err(self.none(format!("no backup is signed by that key{others}")));
        }
        self.trust = Trust::Keys(keys);
        let (ours, others): (Vec<Backup>, Vec<Backup>) =
            self.backups.drain(..).partition(|backup| self.trust.believes(backup.manifest.signed_by()));
        // A machine that was restored, or lost its key, goes on with another: that there is something newer has to be said.
        let is_of_site = |other: &&Backup| ours.iter().any(|one| one.manifest.site_id == other.manifest.site_id);
        let passed_over = others.iter().filter(is_of_site);
        self.unreadable.extend(passed_over.map(|other| (other.name(), other.manifest.describe_distrust())));
        self.backups = ours;
        Ok(())
    }

    /// The fingerprints of the keys that signed backups, but for this one.
    pub(super) fn other_signers(&self, key: &PublicKey) -> Vec<String> {
        let signers = self.backups.iter().filter_map(|one| one.manifest.signed_by());
        let others: BTreeSet<String> = signers.filter(|one| *one != key).map(PublicKey::fingerprint).collect();
        others.into_iter().collect()
    }

    /// The names of the newest backups, as the end of a sentence.
    pub(super) fn names(&self) -> String {
        let mut names: Vec<String> = self.backups.iter().rev().map(Backup::name).collect();
        names.dedup();
        names.truncate(NAMES_SHOWN);
        if names.is_empty() { "there is none".to_owned() } else { format!("the newest are {}", names.join(", ")) }
    }

    /// The newest backup of the same site that is older than this one.
    pub(super) fn before(&self, backup: &Backup) -> Option<String> {
        let older = self.backups.iter().rev().filter(|one| one.age_order() < backup.age_order());
        older
            .map(|one| (one.name(), &one.manifest.site_id))
            .find(|(_, site)| **site == backup.manifest.site_id)
            .map(|one| one.0)
    }

    /// Notes that the backups of the same site that have writes after this one, and none after the moment, are not taken.
    pub(super) fn pass_over(&mut self, backup: &Backup, until: Moment) {
        let is_newer = |one: &&Backup| {
            let (own, other) = (&backup.manifest, &one.manifest);
            own.site_id == other.site_id && (own.last_write() + 1..=until).contains(&other.last_write())
        };
        let why = format!("{} was named", backup.name());
        let mut names: Vec<String> = self.backups.iter().filter(is_newer).map(Backup::name).collect();
        names.dedup();
        self.unreadable = names.into_iter().map(|name| (name, why.clone())).collect();
    }

    pub(super) fn by_name(&self, name: &str) -> Option<&Backup> {
        self.backups.iter().rev().find(|backup| backup.name() == name)
    }

    /// Whose ticks and tombstones are believed for this backup. A machine without a key believes the newest one of the site.
    pub(super) fn trust_in(&self, backup: &Backup) -> Trust {
        let site = |one: &&Backup| one.manifest.site_id == backup.manifest.site_id;
        let vouches = |one: &&Backup| {
            let keys = one.manifest.keys();
            !keys.is_empty() && backup.manifest.signed_by().is_none_or(|key| keys.contains(key))
        };
        match &self.trust {
            Trust::Anybody => {
                let newest = self.backups.iter().rev().filter(site).find(vouches);
                newest.map_or(Trust::Anybody, |newest| Trust::Keys(newest.manifest.keys()))
            }
            trust => trust.clone(),
        }
    }

    /// The members of the site who had been erased when its newest backup was made, as far as that is believed.
    pub(super) fn erased(&self, backup: &Backup, trust: &Trust) -> Option<ErasedMark> {
        let ours =
            self.backups.iter().rev().map(|one| &one.manifest).filter(|one| one.site_id == backup.manifest.site_id);
        ours.filter(|one| trust.believes(one.signed_by())).find_map(|one| one.erased().cloned())
    }

    /// The origin of the site's first chain that began after a moment.
    pub(super) fn next_base(&self, site_id: &str, at: Moment) -> Option<ChainOrigin> {
        let ours = self.backups.iter().filter(|backup| backup.manifest.site_id == site_id);
        let later = ours.filter_map(|backup| backup.manifest.chain.as_ref()).filter(|origin| origin.moment > at);
        later.min_by_key(|origin| origin.moment).cloned()
    }

    pub(super) fn none(&self, text: String) -> CommandError {
        let damaged = self.unreadable.iter().map(|(name, why)| format!("{name} cannot be read: {why}"));
        let unread = self.off_site_error.as_ref().map(|cause| format!("those off site cannot be read: {cause}"));
        let all = std::iter::once(text).chain(unread).chain(damaged);
        refused(all.collect::<Vec<_>>().join("; "))
    }
}

/// The key of a backup from elsewhere, on a machine that knows no key yet.
pub(super) fn stranger<'b>(backup: &'b Backup, config: &Config) -> Option<&'b PublicKey> {
    let is_known = Trust::of(&config.data) != Trust::Anybody || is_here(backup, config);
    backup.manifest.signed_by().filter(|_| !is_known)
}

/// Refuses the backup of another site than the one in this directory, unless that was asked for: by its key, its name, or its
/// place.
pub(super) fn refuse_other_site(backup: &Backup, config: &Config) -> Result<(), CommandError> {
    match site_of(&data_dir::database(&config.data)) {
        Some(here) if here != backup.manifest.site_id => Err(refused(format!(
            "nothing was changed: {} is of another site than the one in {}; `tunneldesk restore {}` takes it all the same",
            backup.at,
            config.data.display(),
            backup.name()
        ))),
        _ => Ok(()),
    }
}

/// Asks on a terminal whether the site is the right one.
pub(super) fn ask(key: &PublicKey, backup: &Backup) -> Result<(), CommandError> {
    if !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        return Ok(());
    }
    let (key, mut typed) = (key.fingerprint(), String::new());
    let question = format!("{} is signed by the key {key}. Is that the key of your site? Type yes: ", backup.at);
    let asked = std::io::stderr().write_all(question.as_bytes());
    asked.and_then(|()| std::io::stdin().read_line(&mut typed)).map_err(|e| failed(format!("cannot ask: {e}")))?;
    match typed.trim() {
        "yes" => Ok(()),
        _ => Err(refused("nothing was changed: `--site FINGERPRINT` takes the copies of that site alone")),
    }
}

/// Whose site it is, where only its own signature says so. `others`: who else signed copies in that place.
pub(super) fn whose(tunnel: &str, stranger: Option<&PublicKey>, others: &[String], config: &Config) -> String {
    stranger.map_or_else(String::new, |key| {
        let others = match others {
            [] => String::new(),
            others => format!(" Copies there are signed by other keys too: {}.", others.join(", ")),
        };
        let own = match Signer::open(&config.data) {
            Ok(Some(signer)) => {
                let own = signer.public().fingerprint();
                format!("\nThis machine signs its copies with a key of its own, {own}: note it in the place of the other.")
            }
            _ => String::new(),
        };
        format!(
            "\nIt is the site of {tunnel}, with the key {}: compare it with the one that `init`, `doctor` or the page *Site* \
             showed. Whether there was anything newer, nobody can tell.{others}{own}",
            key.fingerprint()
        )
    })
}
