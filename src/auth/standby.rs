//! The standby of this site, by the token that both machines have in a file.

use super::rate_limits::{RateLimit, RateLimitKey, RateLimiter};
use crate::http::call::{Call, PrincipalId};
use crate::http::failure::Failure;
use crate::site::Site;
use http::header;
use subtle::ConstantTimeEq;

/// Wrong tokens of one network; the right one is never made to wait.
const MISSES_PER_MINUTE: i64 = 300;

/// A caller with the standby's token.
#[derive(Debug)]
pub struct Standby(());

/// Without a token in the settings there is no such path. Over a connection that somebody could listen to nobody is a standby.
pub(super) fn admit(site: &Site, call: &Call) -> Result<Standby, Failure> {
    let Some(token) = &site.config.replica.token else { return Err(Failure::unknown_path()) };
    let given = call.header(header::AUTHORIZATION).and_then(|given| given.strip_prefix("Bearer ")).unwrap_or_default();
    let is_right = bool::from(given.as_bytes().ct_eq(token.reveal().as_bytes()));
    if !is_right {
        site.state::<RateLimiter>()
            .take(RateLimitKey::StandbyMissesFrom(call.network()), RateLimit::per_minute(MISSES_PER_MINUTE))?;
        return Err(Failure::not_signed_in().because("not the standby's token"));
    }
    if !call.secure && !call.peer.is_loopback() {
        return Err(Failure::not_allowed().because("the standby came over a connection in the clear"));
    }
    call.principal.set(PrincipalId::Sender("standby"));
    Ok(Standby(()))
}
