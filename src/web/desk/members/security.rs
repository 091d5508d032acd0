//! The security tab: second factor, PIN, passkeys and sessions of an account.

use super::list_tabs::ViewContext;
use crate::auth::Clerk;
use crate::auth::limits::booking_pins;
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::Read;
use crate::store::tables::members::Profile;
use crate::store::tables::pins;
use crate::store::tables::second_factors::{self, Kind};
use crate::store::tables::{passkeys, sessions};
use crate::web::badge::Badge;

/// Passkeys and sessions that are shown by default.
const SHOWN_USUAL: usize = 20;

pub(super) struct Security {
    pub factor: Badge,
    pub has_factor: bool,
    pub pin: Badge,
    /// Name and last use of each.
    pub passkeys: Vec<(String, String)>,
    /// User agent and last use of each.
    pub sessions: Vec<(String, String)>,
    /// Numbers of those that are not shown.
    pub passkeys_more: usize,
    pub sessions_more: usize,
    pub may_confirm: bool,
    pub banned: bool,
    pub may_lift: bool,
}

/// The tab for a clerk who may serve the account; with `all`, every passkey and session.
pub(super) fn of(
    tx: &Read,
    view: &ViewContext,
    clerk: &Clerk,
    profile: &Profile,
    all: bool,
) -> Result<Security, Failure> {
    let member_id = profile.member_id;
    let badge = |tone, key| Badge::new(tone, view.say(key));
    let factor = second_factors::find(tx, member_id, view.now)?.kind;
    let used = |at: Option<Moment>| at.map_or_else(|| view.say("desk.never_used"), |at| view.moment(at));
    let is_paused = booking_pins::is_paused(view.site, tx, member_id, view.now)?;
    let shown = if all { usize::MAX } else { SHOWN_USUAL };
    let passkeys = passkeys::list(tx, member_id, i64::MAX, 0)?;
    let sessions = sessions::list_of_member(tx, member_id, view.now)?;
    Ok(Security {
        passkeys_more: passkeys.len().saturating_sub(shown),
        sessions_more: sessions.len().saturating_sub(shown),
        factor: match factor {
            Some(Kind::Totp) => badge("good", "desk.factor_app"),
            Some(Kind::Passcode) => badge("good", "desk.factor_passcode"),
            None => badge("plain", "desk.factor_none"),
        },
        has_factor: factor.is_some(),
        pin: match pins::find(tx, member_id)? {
            _ if is_paused => badge("bad", "desk.pin_paused"),
            Some(_) => badge("good", "desk.pin_set"),
            None => badge("plain", "desk.pin_none"),
        },
        passkeys: passkeys.into_iter().take(shown).map(|key| (key.name, used(key.used_at))).collect(),
        sessions: sessions.into_iter().take(shown).map(|one| (one.user_agent, view.moment(one.seen_at))).collect(),
        may_confirm: !profile.email.is_empty() && !profile.email_verified,
        banned: profile.banned_at.is_some(),
        may_lift: clerk.role() == Role::Admin,
    })
}
