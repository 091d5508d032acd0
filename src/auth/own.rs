//! The member's own pages: a session in a cookie, which neither the API nor the desk accepts, as these pages accept no session
//! of theirs.

use super::challenge;
use super::cookie::Cookie;
use super::origin;
use super::session::{self, Member, token_hash};
use crate::domain::role::Role;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::site::Site;
use crate::store::tables::sessions::TokenHash;

/// The first of the own pages, and the path below which the others lie.
pub(crate) const HOME: &str = "/me";
pub(crate) const SIGN_IN: &str = "/me/sign-in";
/// The form that ends a session; sent after its end, nothing is lost.
const SIGN_OUT: &str = "/me/sign-out";
/// The page on which a member asks to leave, and takes that back.
pub(crate) const LEAVING: &str = "/me/leaving";
/// A browser keeps the cookie for as long as a member's session can last.
const SESSION_SECONDS: i64 = 180 * 24 * 3600;

/// The token of the session that is open in a browser.
pub(crate) const SESSION: Cookie = Cookie::new("me", Some(SESSION_SECONDS)).below(HOME).sent_by_links();
/// The token of a sign-in whose second factor is due.
pub(crate) const CHALLENGE: Cookie = Cookie::new("me-step", Some(challenge::LIFE_SECONDS)).below(HOME);

/// The hash of a session's token, as it is stored: another one than that of the same token for the API or the desk.
pub(super) fn hash(token: &str) -> TokenHash {
    token_hash(&format!("own pages {token}"))
}

/// The member whose session the browser holds, if it is in force. An account of a job has no pages.
pub(crate) fn find(site: &Site, call: &Call) -> Result<Option<Member>, Failure> {
    let Some(token) = SESSION.value(site, call) else { return Ok(None) };
    Ok(session::find_member(site, call, hash(token))?.filter(|member| member.role() != Role::Sync))
}

/// The redirect of a member who asked to leave: until the account is erased, only that can be taken back.
pub(super) fn to_leaving(call: &Call, member: &Member) -> Option<Reply> {
    let is_open = call.path == SIGN_OUT || call.path.starts_with(LEAVING);
    (member.leaves() && !is_open).then(|| reply::see_other(LEAVING))
}

/// Redirects to the sign-in, see [`origin::to_sign_in`].
pub(crate) fn to_sign_in(call: &Call) -> Reply {
    origin::to_sign_in(call, HOME, SIGN_IN, SIGN_OUT)
}
