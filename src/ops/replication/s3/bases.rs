//! The backups in a folder of a bucket: each in a folder of its own, as in a directory; the manifest is written last.

use super::folder::Folder;
use super::xml::Answer;
use super::{Payload, S3Client, S3Request, Tries, Trouble};
use crate::config::recipient::Recipient;
use crate::keys::{hex, random};
use crate::ops::backup::backup_store::manifest_file;
use crate::ops::backup::backup_store::{
    Backup, Listing, PruneExceptions, UNFINISHED_KEPT_SECONDS, newest_names, outlived_off_site,
};
use crate::ops::backup::manifest::{Manifest, ManifestError};
use crate::ops::backup::off_site::{Signing, ended_chains};
use crate::ops::backup::tombstones;
use crate::ops::digest::FileDigest;
use crate::ops::outside::object::{BackupName, FolderName, Object, file_stamp, is_stamp};
use crate::ops::replication::target::Target;
use crate::ops::signature::{Signer, Trust};
use crate::store::queries::erasure::Tombstone;
use std::io;

/// Names that a backup tries to claim. The file that claims a folder has random content, so that two machines never fill one
/// folder.
const CLAIMS_MAX: u32 = 20;
/// Tries to add tombstones while other machines write the list.
const ERASED_TRIES: u32 = 4;

impl Folder {
    /// Lists all backups. Manifests are read once, the newest one each time, because a bucket may have been restored. `step` is
    /// called after each.
    pub(crate) fn bases(&self, step: &mut dyn FnMut()) -> Result<Listing, String> {
        let failed = |trouble: Trouble| trouble.into_io(self).to_string();
        let names = newest_names(self.client.list(&self.key_of(""), true, step).map_err(failed)?.folders);
        let mut listing = Listing::default();
        self.client.manifests().retain(|name, _| names.iter().any(|there| there.as_str() == name));
        for (nth, name) in names.into_iter().enumerate() {
            let known = self.client.manifests().get(name.as_str()).filter(|_| nth > 0).cloned();
            let at = self.within(name.as_str());
            let manifest = match known {
                Some(manifest) => Ok(manifest),
                None => match self.client.text(&at.key(Object::Manifest), Object::Manifest.bytes_max()) {
                    Ok(Some((text, _))) => manifest_file::parse(text.as_bytes(), &Target::S3(at.clone())),
                    Ok(None) => Err(ManifestError::Unfinished(String::new())),
                    Err(Trouble::TooLarge(why)) => Err(ManifestError::Unreadable(why)),
                    Err(trouble) => return Err(failed(trouble)),
                },
            };
            step();
            match manifest {
                Ok(manifest) => {
                    self.client.manifests().insert(name.as_str().to_owned(), manifest.clone());
                    listing.backups.push(Backup { at: Target::S3(at), manifest });
                }
                Err(ManifestError::Unfinished(_)) => listing.unfinished.push(name),
                Err(ManifestError::Unreadable(why)) => listing.unreadable.push((name.as_str().to_owned(), why)),
            }
        }
        Ok(listing.sorted())
    }

    /// The newest backup that was listed or copied there, without a request.
    pub(crate) fn newest_known(&self) -> Option<Backup> {
        let manifests = self.client.manifests();
        let (name, manifest) = manifests.iter().max_by_key(|(name, one)| (one.made_at, name.len()))?;
        Some(Backup { at: Target::S3(self.within(name)), manifest: manifest.clone() })
    }

    /// Copies a backup there, encrypted where a recipient is named, and prunes older ones. `step` gets bytes done and in all.
    pub(crate) fn copy(
        &self,
        backup: &Backup,
        recipient: Option<&Recipient>,
        exceptions: &PruneExceptions,
        by: &Signing,
        step: &mut dyn FnMut(u64, u64),
    ) -> Result<Backup, String> {
        let failed = |e: io::Error| format!("cannot write to {self}: {e}");
        let at = self.claim(backup).map_err(failed)?;
        let (mut done, all) = (0, backup.manifest.bytes());
        let mut manifest = backup.manifest.clone();
        for (file, digest) in &backup.manifest.files {
            let mut tell = |bytes| {
                done += bytes;
                step(done, all);
            };
            let mut from = backup.open(*file).map_err(failed)?;
            match recipient {
                Some(recipient) => {
                    let write = |to: &mut dyn io::Write| recipient.encrypt(&mut from, to, &mut tell);
                    let sealed = at.upload(Object::Sealed(file.sealed()), digest.bytes, write).map_err(failed)?;
                    manifest.encrypted.insert(file.sealed(), sealed);
                }
                None => {
                    let write = |to: &mut dyn io::Write| FileDigest::of_reader(&mut from, to, &mut tell);
                    if at.upload(Object::Site(*file), digest.bytes, write).map_err(failed)? != *digest {
                        let from = backup.at.shown(Object::Site(*file));
                        return Err(format!("{from} is damaged: its digest is not the one in the manifest"));
                    }
                }
            }
        }
        let manifest = manifest.signed(&at.name(), &by.signer, Some(by.erased.clone()));
        let text = manifest.text();
        let put = self.client.put_once(&at.key(Object::Manifest), &Payload::of(text.as_bytes()));
        put.map_err(|trouble| failed(trouble.into_io(&at)))?;
        self.client.manifests().insert(at.name(), manifest.clone());
        // A failed pruning does not make the new backup fail.
        if let Err(cause) = self.prune(&manifest, exceptions, &by.trust, &mut || step(all, all)) {
            tracing::warn!(cause, "old off-site backups are not removed; the next backup tries again");
        }
        Ok(Backup { at: Target::S3(at), manifest })
    }

    /// Claims a new folder of that name, or with a number behind it.
    fn claim(&self, backup: &Backup) -> io::Result<Folder> {
        let name = BackupName::parse(&backup.name()).ok_or_else(|| io::Error::other("it is no backup of a site"))?;
        let text = hex(&random::<16>());
        for number in 1..=CLAIMS_MAX {
            let at = self.within(name.numbered(number).as_str());
            match self.client.put_once(&at.key(Object::Claim), &Payload::of(text.as_bytes())) {
                Ok(()) => return Ok(at),
                Err(Trouble::Exists) => {}
                Err(trouble) => return Err(trouble.into_io(&at)),
            }
        }
        Err(io::Error::other("every name for a backup is taken"))
    }

    fn prune(
        &self,
        newest: &Manifest,
        exceptions: &PruneExceptions,
        trust: &Trust,
        step: &mut dyn FnMut(),
    ) -> Result<(), String> {
        let failed = |trouble: Trouble| trouble.into_io(self).to_string();
        let (now, listing) = (newest.made_at, self.bases(step)?);
        let old = outlived_off_site(&listing.backups, newest, exceptions, trust);
        for name in old.iter().map(Backup::name) {
            // Without its manifest the folder is no backup, also when the removal is interrupted.
            let at = self.within(&name);
            self.client.delete(&at.key(Object::Manifest)).map_err(failed)?;
            self.client.manifests().remove(&name);
            self.client.remove_all(&at.key_of(""), step).map_err(failed)?;
        }
        let forgotten = file_stamp(now - UNFINISHED_KEPT_SECONDS);
        let is_forgotten = |name: &&BackupName| name.is_stamp() && *name.as_str() < *forgotten;
        for name in listing.unfinished.iter().filter(is_forgotten) {
            self.client.remove_all(&self.within(name.as_str()).key_of(""), step).map_err(failed)?;
        }
        let is_ours =
            |backup: &Backup| backup.manifest.site_id == newest.site_id && trust.believes(backup.manifest.signed_by());
        let kept = listing.backups.into_iter().filter(|backup| old.iter().all(|old| old.name() != backup.name()));
        let ours: Vec<Backup> = kept.filter(is_ours).collect();
        for base in ended_chains(&ours, now, exceptions) {
            let ticks = self.within(&base.name()).within(&FolderName::Ticks.to_string());
            self.client.remove_all(&ticks.key_of(""), step).map_err(failed)?;
        }
        self.client.abort_uploads(&self.key_of(""), &forgotten, step).map_err(failed)
    }

    pub(crate) fn list_erased(&self, site_id: &str, trust: &Trust) -> Result<Vec<Tombstone>, String> {
        let text = self.client.text(&self.key(Object::Erased), Object::Erased.bytes_max());
        let text = text.map_err(|trouble| trouble.into_io(self).to_string())?.unwrap_or_default().0;
        Ok(tombstones::parse(&text, site_id, trust).into_iter().collect())
    }

    /// Adds the tombstones that are not there yet.
    pub(crate) fn add_erased(&self, site_id: &str, all: &[Tombstone], signer: &Signer) -> Result<(), String> {
        let key = self.key(Object::Erased);
        let failed = |trouble: Trouble| format!("cannot write to {self}: {}", trouble.into_io(&key));
        for _ in 0..ERASED_TRIES {
            let known = self.client.text(&key, Object::Erased.bytes_max()).map_err(failed)?;
            let text = known.as_ref().map_or("", |(text, _)| text);
            let Some(more) = tombstones::missing(text, site_id, all, signer) else { return Ok(()) };
            let text = format!("{text}{more}");
            let same = known.as_ref().map(|(_, tag)| [("if-match", tag.as_str())]);
            let headers = match &same {
                // A store that supports `if-none-match` supports `if-match`.
                Some(same) if !self.client.once_header().is_empty() => &same[..],
                _ => self.client.once_header(),
            };
            let request = S3Request { method: "PUT", key: &key, query: &[], headers };
            match self.client.send_whole(&request, &Payload::of(text.as_bytes()), Tries::Few) {
                Ok(_) => return Ok(()),
                // Another machine has written the list meanwhile.
                Err(Trouble::Exists) => {}
                Err(trouble) => return Err(failed(trouble)),
            }
        }
        Err(format!("cannot write to {self}: other machines keep writing the list of erased people"))
    }
}

impl S3Client {
    /// Removes all files of a prefix, the last one first: an interrupted removal leaves the beginning of a chain, which can be
    /// restored.
    fn remove_all(&self, prefix: &str, step: &mut dyn FnMut()) -> Result<(), Trouble> {
        let leads_away = |name: &&String| name.split('/').any(|part| part == "..");
        let listed = self.list(prefix, false, step)?;
        for name in listed.files.iter().rev().filter(|name| !leads_away(name)) {
            self.delete(&format!("{prefix}{name}"))?;
            step();
        }
        Ok(())
    }

    /// Aborts unfinished uploads of backups with names before `forgotten`.
    fn abort_uploads(&self, prefix: &str, forgotten: &str, step: &mut dyn FnMut()) -> Result<(), Trouble> {
        let request = S3Request { method: "GET", key: "", query: &[("uploads", ""), ("prefix", prefix)], headers: &[] };
        let (_, text) = self.send_whole(&request, &Payload::of(b""), Tries::Few)?;
        let Some(answer) = Answer::parse(&text) else { return Ok(()) };
        for (key, id) in answer.texts("Upload/Key").zip(answer.texts("Upload/UploadId")) {
            if key.strip_prefix(prefix).is_some_and(|name| is_stamp(name) && name < forgotten) {
                let request = S3Request { method: "DELETE", key, query: &[("uploadId", id)], headers: &[] };
                self.send_whole(&request, &Payload::of(b""), Tries::Few)?;
                step();
            }
        }
        Ok(())
    }
}
