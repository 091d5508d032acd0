//! The look back: every half hour the files of the chain are read back from the off-site target, so that a tick or a base that
//! is damaged or missing there is known before it is needed. A new base then begins immediately.

use super::chain::{Chain, list, ticks_of};
use super::target::Target;
use super::tick::{Head, Lineage, ReadTick};
use super::{Replicator, lock};
use crate::moment::Moment;
use crate::ops::backup::backup_store::manifest_file;
use crate::ops::backup::manifest::{ChainOrigin, Manifest};
use crate::ops::digest::FileDigest;
use crate::ops::outside::object::Object;
use crate::ops::signature::{PublicKey, Trust};
use crate::site::priority;
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

const LOOK_SECONDS: i64 = 1_800;

/// What is wrong with a chain off site.
#[derive(Debug, PartialEq)]
pub(super) struct Flaw {
    cause: String,
    /// The second up to which a restore gets (Unix seconds).
    sound_until: Moment,
}

/// The looks back, one at a time. A target that hangs holds up one of them for ever, and is an alarm by its ticks.
pub(super) struct Looks {
    next_at: Moment,
    is_under_way: Arc<AtomicBool>,
    /// The chain and its flaw.
    found: Arc<Mutex<Option<(Lineage, Flaw)>>>,
}

/// The chain as it was when the look began.
pub(super) struct Look {
    base: Target,
    base_moment: Moment,
    lineage: Lineage,
    key: PublicKey,
    /// The number of the last confirmed tick.
    ticks: u64,
}

impl Looks {
    pub(super) fn beginning(now: Moment) -> Looks {
        Looks { next_at: now + LOOK_SECONDS, is_under_way: Arc::default(), found: Arc::default() }
    }

    /// What lies there may have changed while no server ran.
    pub(super) fn begin_soon(&mut self) {
        self.next_at = Moment(0);
    }
}

impl Chain {
    fn look(&self) -> Look {
        Look {
            base: self.base.clone(),
            base_moment: self.ticks.followed.begin.moment,
            lineage: self.ticks.lineage,
            key: self.key(),
            ticks: self.ticks.number,
        }
    }
}

/// What reading the base back came to.
enum Base {
    Sound(Box<Manifest>),
    /// What is wrong with it.
    Flawed(String),
}

impl Look {
    /// The first flaw. The error: the target does not answer as it should, which says nothing of its files.
    pub(super) fn run(&self) -> io::Result<Option<Flaw>> {
        match self.find_in_base()? {
            Base::Sound(manifest) => self.find_in_ticks(&manifest),
            Base::Flawed(cause) => Ok(Some(Flaw { cause, sound_until: self.base_moment })),
        }
    }

    fn find_in_base(&self) -> io::Result<Base> {
        let is_ours = |manifest: &Manifest| manifest.signed_by() == Some(&self.key);
        let read = self.base.read(Object::Manifest);
        let read = read.map(|bytes| manifest_file::parse(&bytes, &self.base).ok().filter(is_ours));
        let (manifest, is_sound) = match read {
            Ok(manifest) => (manifest, Ok(())),
            Err(e) => (None, Err(e)),
        };
        if let Some(cause) = self.base.flaw_of(Object::Manifest, is_sound.map(|()| manifest.is_some()))? {
            return Ok(Base::Flawed(cause));
        }
        let manifest = manifest.ok_or_else(|| io::Error::other("the manifest was not read"))?;
        for (object, digest) in manifest.digests() {
            let opened = self.base.open(object, digest.bytes);
            let read = opened.and_then(|mut file| FileDigest::of_reader(&mut file, &mut io::sink(), &mut |_| ()));
            if let Some(cause) = self.base.flaw_of(object, read.map(|read| read == *digest))? {
                return Ok(Base::Flawed(cause));
            }
        }
        Ok(Base::Sound(Box::new(manifest)))
    }

    fn find_in_ticks(&self, base: &Manifest) -> io::Result<Option<Flaw>> {
        let at = ticks_of(&self.base);
        let listed: BTreeMap<u64, bool> = match list(&at) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => BTreeMap::new(),
            listed => listed?.into_iter().collect(),
        };
        let bytes_max = base.chain.as_ref().map_or(0, ChainOrigin::tick_bytes_max);
        let (mut sound_until, mut sum) = (self.base_moment, None);
        for number in 1..=self.ticks {
            let Some(&is_sealed) = listed.get(&number) else {
                return Ok(Some(Flaw { cause: format!("tick {number} is missing in {at}"), sound_until }));
            };
            // Nobody here can open an encrypted one.
            if is_sealed {
                continue;
            }
            let (object, mut bytes) = (Object::Tick { number, is_sealed }, Vec::new());
            let read = at.open(object, bytes_max).and_then(|mut file| file.read_to_end(&mut bytes));
            let is_ours = |tick: &ReadTick| tick.is_believed(&Trust::Keys(vec![self.key]));
            let tick = read.map(|_| ReadTick::parse(bytes).ok().filter(is_ours).map(|tick| tick.head));
            let continues = |head: &Head| {
                head.lineage == self.lineage && head.number == number && sum.is_none_or(|sum| sum == head.before)
            };
            let head = tick.map(|head| head.filter(continues));
            if let Ok(Some(head)) = &head {
                (sound_until, sum) = (head.moment, Some(head.after));
            }
            if let Some(cause) = at.flaw_of(object, head.map(|head| head.is_some()))? {
                return Ok(Some(Flaw { cause, sound_until }));
            }
        }
        Ok(None)
    }
}

impl Target {
    /// What is wrong with a file by the outcome of reading it back; `None`: nothing. A file that is too large fails to open.
    fn flaw_of(&self, object: Object, is_sound: io::Result<bool>) -> io::Result<Option<String>> {
        let shown = self.shown(object);
        match is_sound {
            Ok(true) => Ok(None),
            Ok(false) => Ok(Some(format!("{shown} is damaged"))),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Some(format!("{shown} is missing"))),
            Err(e) if matches!(e.kind(), io::ErrorKind::FileTooLarge | io::ErrorKind::InvalidInput) => {
                Ok(Some(format!("{shown} is damaged: {e}")))
            }
            Err(e) => Err(e),
        }
    }
}

impl Replicator<'_> {
    /// Begins a look where one is due, and gives up the chain in which the last one found a flaw.
    pub(super) fn look_back(&mut self) {
        let found = lock(&self.looks.found).take();
        let Some(chain) = &self.chain else { return };
        if let Some((lineage, flaw)) = found
            && lineage == chain.ticks.lineage
        {
            return self.hear_flaw(flaw);
        }
        let now = self.site.now();
        if now < self.looks.next_at || self.looks.is_under_way.swap(true, Ordering::AcqRel) {
            return;
        }
        self.looks.next_at = now + LOOK_SECONDS;
        let (look, found, is_under_way) = (chain.look(), self.looks.found.clone(), self.looks.is_under_way.clone());
        let begun = std::thread::Builder::new().name("look-back".to_owned()).spawn(move || {
            priority::lower();
            match look.run() {
                Ok(flaw) => *lock(&found) = flaw.map(|flaw| (look.lineage, flaw)),
                Err(cause) => tracing::warn!(%cause, "the off-site copy could not be read back"),
            }
            is_under_way.store(false, Ordering::Release);
        });
        if begun.is_err() {
            self.looks.is_under_way.store(false, Ordering::Release);
        }
    }

    /// Gives up the chain: everything behind the flaw is on this machine alone.
    pub(super) fn hear_flaw(&mut self, flaw: Flaw) {
        self.site.store.writer().capture.note_loss(Some(flaw.sound_until));
        self.rounds_to_base = 0;
        self.give_up_chain(format!("a file that was copied is not sound any more: {}", flaw.cause));
    }

    #[cfg(test)]
    pub(super) fn look_now(&self) -> io::Result<Option<Flaw>> {
        self.chain.as_ref().expect("a chain").look().run()
    }
}
