//! Devices: a client at which a member signed in is recognised by a token that it sends along (OWASP calls it a device
//! cookie). The token opens nothing. It decides which failed attempts delay an attempt, see [`super::counters`]. A client that
//! keeps no such token is a device for as long as it sends its session along.

use super::session::{new_token, presented_session, token_hash};
use crate::domain::ids::MemberId;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::devices::{self, DeviceHash, KEPT_SECONDS};
use crate::store::tables::sessions;
use crate::store::{Read, Write};
use http::{HeaderName, HeaderValue, header};

// Not shown in the contract: devices, because it has no field for one. So the token travels beside the bodies: apps
// echo the header, browsers bring the cookie by themselves, and a client that does neither signs in as before.
const HEADER: &str = "x-device-token";
const COOKIE: &str = "device";
/// The cookie's path for the browser of an app, and for a browser that opens pages too.
const API_PATH: &str = "/api";
const SITE_PATH: &str = "/";
const TOKEN_CHARS_MAX: usize = 128;

/// A device at which a member signed in before.
pub(crate) struct Device {
    pub hash: DeviceHash,
    /// Whether the member of this attempt did.
    pub by_member: bool,
    /// The member who was the first to sign in there.
    pub voucher_id: MemberId,
}

/// The device that a call comes from, or its session; `None` for an unknown client.
pub(crate) fn find(call: &Call, tx: &Read, member_id: MemberId, now: Moment) -> Result<Option<Device>, Failure> {
    if let Some(device) = find_by_token(call, tx, member_id, now)? {
        return Ok(Some(device));
    }
    let Some(hash) = presented_session(call) else { return Ok(None) };
    let session = sessions::find(tx, &hash, now)?;
    Ok(session.map(|session| Device { hash, by_member: session.member_id == member_id, voucher_id: session.member_id }))
}

fn find_by_token(call: &Call, tx: &Read, member_id: MemberId, now: Moment) -> Result<Option<Device>, Failure> {
    let Some(hash) = token(call).map(token_hash) else { return Ok(None) };
    let seen = devices::find(tx, &hash, member_id, now)?;
    Ok(seen.map(|seen| Device { hash, by_member: seen.by_member, voucher_id: seen.voucher_id }))
}

fn token(call: &Call) -> Option<&str> {
    let cookies = || call.header("cookie").into_iter().flat_map(|line| line.split(';'));
    let by_cookie = || cookies().find_map(|pair| pair.trim().strip_prefix(COOKIE)?.strip_prefix('='));
    call.header(HEADER).or_else(by_cookie).filter(|token| token.len() <= TOKEN_CHARS_MAX)
}

/// Records that the member signed in at the device of the call, and returns the device's token. A known device keeps its
/// token, so that a kiosk has one token for all its members.
pub(crate) fn remember(call: &Call, tx: &Write, member_id: MemberId) -> Result<String, Failure> {
    let known = find_by_token(call, tx, member_id, tx.now())?.zip(token(call));
    let (token, hash) = known.map_or_else(new_token, |(device, token)| (token.to_owned(), device.hash));
    devices::set_used(tx, &hash, member_id)?;
    Ok(token)
}

/// The reply that hands the client its device token.
pub(crate) fn with_device_token(site: &Site, reply: Reply, token: &str) -> Reply {
    let cookie = cookie(token, API_PATH, is_secure(site));
    match (HeaderValue::from_str(token), HeaderValue::from_str(&cookie)) {
        (Ok(token), Ok(cookie)) => {
            reply.with_header(HeaderName::from_static(HEADER), token).with_header(header::SET_COOKIE, cookie)
        }
        _ => reply,
    }
}

/// As [`with_device_token`], for a browser that signs in on a page: pages do not get a cookie of the API's path. Both paths
/// get the same token, so that a browser is one device wherever it signs in next.
pub(crate) fn with_device_token_for_pages(site: &Site, reply: Reply, token: &str) -> Reply {
    with_device_token(site, reply, token).with_cookie(&cookie(token, SITE_PATH, is_secure(site)))
}

/// Whether the cookie is for https alone. Without https of its own a site has kiosks on plain http, where an eavesdropper
/// reads the password too.
fn is_secure(site: &Site) -> bool {
    !site.config.tls.listen.is_empty()
}

fn cookie(token: &str, path: &str, secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    format!("{COOKIE}={token}; Path={path}; Max-Age={KEPT_SECONDS}; HttpOnly; SameSite=Strict{secure}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_there_is_https_the_cookie_goes_over_nothing_else() {
        assert!(cookie("t", API_PATH, true).ends_with("; SameSite=Strict; Secure"));
        assert!(cookie("t", API_PATH, false).ends_with("; SameSite=Strict"));
    }
}
