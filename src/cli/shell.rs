//! The site as a command sees it: with the user who typed the command, for the audit log.

use crate::app::{self, Actor, Change};
use crate::domain::audit::{By, Detail, Origin, Who, Whom};
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::audit;
use std::ops::Deref;

/// A site for one command.
pub(super) struct Shell<'s> {
    site: &'s Site,
    by: By,
    lists_all: bool,
}

impl<'s> Shell<'s> {
    pub(super) fn new(site: &'s Site, by: By, lists_all: bool) -> Shell<'s> {
        Shell { site, by, lists_all }
    }

    /// Whether a list without a limit is whole, as with `--json`.
    pub(super) fn lists_all(&self) -> bool {
        self.lists_all
    }

    pub(super) fn by(&self) -> &By {
        &self.by
    }

    /// Runs an effect with the user who typed the command as its actor.
    #[track_caller]
    pub(super) fn change<T>(&self, effect: impl FnOnce(&Change) -> Result<T, Failure>) -> Result<T, Failure> {
        app::change(self.site, Actor::owner(&self.by), Language::default(), effect)
    }

    /// The row of a deed, in the deed's own transaction.
    pub(super) fn record(&self, tx: &Write, deed: &'static str, whom: &Whom, detail: &Detail) -> Result<(), Failure> {
        audit::insert(tx, &self.by.who, deed, whom, &self.by.origin, detail)?;
        Ok(())
    }
}

impl Deref for Shell<'_> {
    type Target = Site;

    fn deref(&self) -> &Site {
        self.site
    }
}

/// The user who runs this process, as the actor of the audit log.
pub(super) fn by_us() -> By {
    // SAFETY: takes nothing and cannot fail.
    by(unsafe { libc::getuid() })
}

/// A user of the machine.
pub(super) fn by(uid: u32) -> By {
    By { who: Who::Cli { uid, user: user_name(uid) }, origin: Origin::Shell }
}

/// Reads the file itself: libc may load modules, which a static binary cannot.
fn user_name(uid: u32) -> String {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_uid = |line: &&str| line.split(':').nth(2).and_then(|field| field.parse().ok()) == Some(uid);
    let line = passwd.lines().find(of_uid);
    line.and_then(|line| line.split(':').next()).unwrap_or_default().to_owned()
}
