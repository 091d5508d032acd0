//! Account roles: the permissions of an account at this site. The levels that a member holds are in the logbook.

use crate::domain::ids::MemberId;
use serde::{Deserialize, Serialize};
use std::time::Duration;

const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

/// The role of an account at this site.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Flies, and sees the member's own data.
    #[default]
    Member,
    /// Works at the front desk.
    Desk,
    /// Works at the front desk, and changes the settings of the site.
    Admin,
    /// A job that reads the two partner reports and nothing else.
    Sync,
}

impl Role {
    pub(crate) const ALL: [Role; 4] = [Role::Member, Role::Desk, Role::Admin, Role::Sync];

    /// The name in the database and in the API.
    pub fn name(self) -> &'static str {
        ["member", "desk", "admin", "sync"][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether the role serves other members: the desk and the admins.
    pub(crate) fn is_staff(self) -> bool {
        matches!(self, Role::Desk | Role::Admin)
    }

    /// Whether the role has more rights than a member: the desk, the admins and the jobs.
    pub(crate) fn is_above_member(self) -> bool {
        self != Role::Member
    }

    /// The one rule of rank: whether an actor of this role may read, reset or send the data of an account of the
    /// subject's role. The desk serves members, an admin everyone. Otherwise a clerk could become an admin.
    pub(crate) fn may_serve(self, subject: Role) -> bool {
        self == Role::Admin || (self == Role::Desk && subject == Role::Member)
    }

    /// The greatest idle time and the greatest age of a session. Staff signs in again each day. The session of a job
    /// ends after 400 days, when its owner should review it anyway.
    pub(crate) fn session_lifetime(self) -> (Duration, Duration) {
        let (idle, most) = match self {
            Role::Member => (30 * DAY, 180 * DAY),
            Role::Desk | Role::Admin => (12 * HOUR, DAY),
            Role::Sync => (400 * DAY, 400 * DAY),
        };
        (Duration::from_secs(idle), Duration::from_secs(most))
    }
}

/// The rank of an actor, which decides whom the actor may serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rank {
    /// The machine's shell, a job or an import: serves every account.
    Owner,
    /// An account: serves by its role.
    Account { member_id: MemberId, role: Role },
    /// A partner, or a third party that calls a webhook: serves no account.
    Outside,
}

impl Rank {
    /// Why the actor may not read, reset or send the data of an account, as the key of a text; `None` where the actor
    /// may. An actor does not serve the own account: its owner has the members' app.
    pub(crate) fn denial(self, subject_id: MemberId, subject: Role) -> Option<&'static str> {
        match self {
            Rank::Account { member_id, .. } if member_id == subject_id => Some("desk.own_account"),
            Rank::Account { role, .. } if role.may_serve(subject) => None,
            Rank::Account { .. } | Rank::Outside => Some("desk.admins_account"),
            Rank::Owner => None,
        }
    }

    /// The number of the actor's account, if the actor has one.
    pub(crate) fn member_id(self) -> Option<MemberId> {
        match self {
            Rank::Account { member_id, .. } => Some(member_id),
            Rank::Owner | Rank::Outside => None,
        }
    }

    /// Whether the actor serves other members: the desk, the admins and the machine's owner.
    pub(crate) fn is_staff(self) -> bool {
        match self {
            Rank::Account { role, .. } => role.is_staff(),
            Rank::Owner => true,
            Rank::Outside => false,
        }
    }

    pub(crate) fn is_admin(self) -> bool {
        matches!(self, Rank::Owner | Rank::Account { role: Role::Admin, .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for role in Role::ALL {
            assert_eq!(Role::parse(role.name()), Some(role));
        }
        assert_eq!(Role::parse("root"), None);
    }

    #[test]
    fn nobody_serves_an_account_above_or_beside_the_own() {
        let serves = |role: Role| Role::ALL.map(|subject| role.may_serve(subject));
        assert_eq!(serves(Role::Member), [false; 4]);
        assert_eq!(serves(Role::Desk), [true, false, false, false]);
        assert_eq!(serves(Role::Admin), [true; 4]);
        assert_eq!(serves(Role::Sync), [false; 4]);
    }
}
