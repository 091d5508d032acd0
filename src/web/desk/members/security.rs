//! The tab for the ways into an account: what opens it, where it is open, and what the desk may do about that.

use super::lines::Place;
use crate::auth::Clerk;
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::store::Read;
use crate::store::tables::members::{self, Profile};
use crate::store::tables::second_factors::{self, Kind};
use crate::store::tables::{passkeys, sessions};
use crate::web::mark::Mark;

/// Passkeys and sessions that are shown, unless all are asked for.
const SHOWN_USUAL: usize = 20;

pub(super) struct Security {
    pub factor: Mark,
    pub has_factor: bool,
    pub pin: Mark,
    /// Names, and when each was used last.
    pub passkeys: Vec<(String, String)>,
    /// The name that the app or browser gives itself, and when it was here last.
    pub sessions: Vec<(String, String)>,
    /// How many of each are not shown.
    pub passkeys_more: usize,
    pub sessions_more: usize,
    pub may_confirm: bool,
    pub banned: bool,
    pub may_lift: bool,
}

/// For a clerk who may serve the account. `all`: nothing is left out.
pub(super) fn of(tx: &Read, place: &Place, clerk: &Clerk, profile: &Profile, all: bool) -> Result<Security, Failure> {
    let member_id = profile.member_id;
    let mark = |tone, key| Mark::new(tone, place.say(key));
    let factor = second_factors::find(tx, member_id, place.now)?.kind;
    let used = |at: Option<i64>| at.map_or_else(|| place.say("desk.never_used"), |at| place.moment(at));
    let pin = members::find_pin(tx, member_id)?;
    let shown = if all { usize::MAX } else { SHOWN_USUAL };
    let passkeys = passkeys::list(tx, member_id, i64::MAX, 0)?;
    let sessions = sessions::list_of_member(tx, member_id, place.now)?;
    Ok(Security {
        passkeys_more: passkeys.len().saturating_sub(shown),
        sessions_more: sessions.len().saturating_sub(shown),
        factor: match factor {
            Some(Kind::Totp) => mark("good", "desk.factor_app"),
            Some(Kind::Passcode) => mark("good", "desk.factor_passcode"),
            None => mark("plain", "desk.factor_none"),
        },
        has_factor: factor.is_some(),
        pin: match pin {
            Some(pin) if place.now < pin.paused_until => mark("bad", "desk.pin_paused"),
            Some(pin) if pin.hash.is_some() => mark("good", "desk.pin_set"),
            _ => mark("plain", "desk.pin_none"),
        },
        passkeys: passkeys.into_iter().take(shown).map(|key| (key.name, used(key.used_at))).collect(),
        sessions: sessions.into_iter().take(shown).map(|one| (one.user_agent, place.moment(one.seen_at))).collect(),
        may_confirm: !profile.email.is_empty() && !profile.email_verified,
        banned: profile.banned_at.is_some(),
        may_lift: clerk.role() == Role::Admin,
    })
}
