//! The site as a command sees it: with the user who typed the command, for the audit log.

use crate::app::{self, Change, RankedActor};
use crate::domain::audit::{Actor, ActorId, Origin};
use crate::http::failure::{Failure, Stop};
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::CheckSpeed;
use std::ops::Deref;

/// A site for one command.
pub(super) struct Shell<'s> {
    site: &'s Site,
    actor: Actor,
    lists_all: bool,
    check_speed: CheckSpeed,
}

impl<'s> Shell<'s> {
    /// A site that this process has opened for the command.
    pub(super) fn new(site: &'s Site, actor: Actor, lists_all: bool) -> Shell<'s> {
        Shell { site, actor, lists_all, check_speed: CheckSpeed::Full }
    }

    /// The site of a running server.
    pub(super) fn in_server(site: &'s Site, actor: Actor, lists_all: bool) -> Shell<'s> {
        Shell { site, actor, lists_all, check_speed: CheckSpeed::Gentle }
    }

    /// Whether a list without `--limit` is complete, as with `--json`.
    pub(super) fn lists_all(&self) -> bool {
        self.lists_all
    }

    /// How fast a copy of the database is checked.
    pub(super) fn check_speed(&self) -> CheckSpeed {
        self.check_speed
    }

    pub(super) fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Runs an effect with the user who typed the command as its actor.
    #[track_caller]
    pub(super) fn change<T>(&self, effect: impl FnOnce(&Change) -> Result<T, Failure>) -> Result<T, Failure> {
        app::change(self.site, RankedActor::owner(&self.actor), Language::default(), effect)
    }

    /// As [`Shell::change`], for an effect that may be denied.
    #[track_caller]
    pub(super) fn try_change<T, D>(&self, effect: impl FnOnce(&Change) -> Result<T, Stop<D>>) -> Result<T, Stop<D>> {
        app::try_change(self.site, RankedActor::owner(&self.actor), Language::default(), effect)
    }
}

impl Deref for Shell<'_> {
    type Target = Site;

    fn deref(&self) -> &Site {
        self.site
    }
}

/// The user who runs this process, as the actor of the audit log.
pub(super) fn shell_actor() -> Actor {
    actor(rustix::process::getuid().as_raw())
}

/// A user of the machine, as the actor of the audit log.
pub(super) fn actor(uid: u32) -> Actor {
    Actor { id: ActorId::Cli { uid, user: user_name(uid) }, origin: Origin::Shell }
}

/// The name of a user; empty where it is unknown. Reads the file itself: libc may load modules, which a static binary
/// cannot.
fn user_name(uid: u32) -> String {
    let passwd = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let of_uid = |line: &&str| line.split(':').nth(2).and_then(|field| field.parse().ok()) == Some(uid);
    let line = passwd.lines().find(of_uid);
    line.and_then(|line| line.split(':').next()).unwrap_or_default().to_owned()
}
