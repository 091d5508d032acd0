//! Account roles: what somebody may do at this site (what somebody can fly is in the logbook).

use std::time::Duration;

const HOUR: u64 = 3600;
const DAY: u64 = 24 * HOUR;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Member,
    /// Works at the front desk.
    Desk,
    Admin,
    /// A job that reads the two partner reports and nothing else.
    Sync,
}

impl Role {
    pub const ALL: [Role; 4] = [Role::Member, Role::Desk, Role::Admin, Role::Sync];

    pub fn name(self) -> &'static str {
        ["member", "desk", "admin", "sync"][self as usize]
    }

    pub fn parse(name: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.name() == name)
    }

    /// Whether the role serves others: the desk and the admins.
    pub fn is_staff(self) -> bool {
        matches!(self, Role::Desk | Role::Admin)
    }

    /// Whether somebody of this role may touch the ways into an account of that one: a clerk those of members, an admin
    /// everybody's. Otherwise whoever sits at the desk could become an admin.
    pub fn may_open(self, other: Role) -> bool {
        self == Role::Admin || (self == Role::Desk && other == Role::Member)
    }

    /// How long a session lives unused, and at the most. A job's session is not idle by nature: it ends after 400 days,
    /// when somebody should look at it anyway.
    pub fn session_lifetime(self) -> (Duration, Duration) {
        let (idle, most) = match self {
            Role::Member => (30 * DAY, 180 * DAY),
            Role::Desk | Role::Admin => (12 * HOUR, 180 * DAY),
            Role::Sync => (400 * DAY, 400 * DAY),
        };
        (Duration::from_secs(idle), Duration::from_secs(most))
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
    fn nobody_opens_an_account_above_or_beside_the_own() {
        let opens = |role: Role| Role::ALL.map(|other| role.may_open(other));
        assert_eq!(opens(Role::Member), [false; 4]);
        assert_eq!(opens(Role::Desk), [true, false, false, false]);
        assert_eq!(opens(Role::Admin), [true; 4]);
        assert_eq!(opens(Role::Sync), [false; 4]);
    }
}
