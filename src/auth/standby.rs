//! The standby of this site, authenticated by the token that both machines have in a file.

use super::limits;
use crate::http::call::{Call, PrincipalId};
use crate::http::failure::Failure;
use crate::site::Site;
use http::header;
use subtle::ConstantTimeEq;

/// A caller with the standby's token.
#[derive(Debug)]
pub struct Standby(());

/// Authenticates the standby. Without a token in the settings the path is unknown; over plain HTTP the token is refused,
/// except from loopback.
pub(super) fn admit(site: &Site, call: &Call) -> Result<Standby, Failure> {
    let Some(token) = &site.config.replica.token else { return Err(Failure::unknown_path()) };
    let presented =
        call.header(header::AUTHORIZATION).and_then(|presented| presented.strip_prefix("Bearer ")).unwrap_or_default();
    let is_right = bool::from(presented.as_bytes().ct_eq(token.reveal().as_bytes()));
    if !is_right {
        // The right token is never limited.
        limits::STANDBY_TOKENS.take(site, call.network())?;
        return Err(Failure::not_signed_in().because("not the standby's token"));
    }
    if !call.secure && !call.peer.is_loopback() {
        return Err(Failure::not_allowed().because("the standby came over plain HTTP"));
    }
    call.principal.set(PrincipalId::Sender("standby"));
    Ok(Standby(()))
}
