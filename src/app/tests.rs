//! A site for the tests of effects, with an admin and whoever else a test wants.

use super::{Change, RankedActor, change};
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::audit::{Actor, ActorId, Origin};
use crate::domain::ids::{MemberId, TunnelId};
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::moment::Moment;
use crate::ops::lifecycle::Identity;
use crate::site::Site;
use crate::store::data_dir::DataDir;
use crate::store::tables::members::{self, NewMember};
use tempfile::TempDir;

/// 28 May 2026, 20:26:40 UTC, which is the hall's time.
pub(crate) const NOW: Moment = Moment(1_780_000_000);
/// Seconds of a day.
pub(crate) const DAY: i64 = 86_400;

/// The site, its admin, and what keeps it.
pub(crate) struct Hall {
    pub(crate) site: Site,
    pub(crate) admin: RankedActor,
    _dir: TempDir,
    _data_dir: DataDir,
}

impl Hall {
    /// A site with these settings.
    pub(crate) fn open(set: impl FnOnce(&mut Config)) -> Hall {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        let data_dir = DataDir::lock(dir.path()).unwrap();
        let mut config = Config::defaults();
        config.data = dir.path().to_owned();
        set(&mut config);
        let identity =
            Identity { tunnel_id: TunnelId(1), name: "Here".into(), city: String::new(), country: "CH".into() };
        let site = Site::create(&data_dir, config, Clock::frozen(NOW), &identity).unwrap();
        let admin = add(&site, "admin", "admin", None);
        Hall { site, admin: actor(admin, Role::Admin), _dir: dir, _data_dir: data_dir }
    }

    /// Adds a member, born on that day.
    pub(crate) fn member(&self, name: &str, dob: Option<Moment>) -> MemberId {
        add(&self.site, name, "", dob)
    }

    /// A change by somebody, as an edge makes it.
    pub(crate) fn change<T>(
        &self,
        by: &RankedActor,
        work: impl FnOnce(&Change) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        change(&self.site, by.clone(), Language::English, work)
    }

    /// A change by the admin that must succeed.
    pub(crate) fn admin<T>(&self, work: impl FnOnce(&Change) -> Result<T, Failure>) -> T {
        self.change(&self.admin, work).unwrap()
    }
}

/// A member who acts for themself.
pub(crate) fn own(member_id: MemberId) -> RankedActor {
    actor(member_id, Role::Member)
}

fn actor(member_id: MemberId, role: Role) -> RankedActor {
    RankedActor::account(member_id, role, &Actor { id: ActorId::Member(member_id), origin: Origin::Site })
}

fn add(site: &Site, username: &str, role: &str, dob: Option<Moment>) -> MemberId {
    let new = NewMember { username, role, dob, ..NewMember::default() };
    site.store.write(site.now(), |tx| members::insert(tx, &new)).unwrap()
}
