//! Codes for signing on a telephone: shown as a QR code at the kiosk or the desk, each valid for one signing.

use crate::app::{Change, RankedActor};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::recovery_code;
use crate::domain::role::Role;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::keys::{Purpose, random};
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::signing_links;

/// Lifetime of a code, in seconds: as long as a family's visit.
const LINK_SECONDS: i64 = 60 * 60;

fn hash(site: &Site, code: &str) -> Option<[u8; 32]> {
    let code = recovery_code::normalise(code)?;
    Some(site.keys.hash(Purpose::AccountClaim, &[b"signing", code.as_bytes()]))
}

/// Creates a code for a member, and replaces the one before. By staff, for an account that they may serve, or by the member.
/// Audited where staff shows the code. 403 as [`Change::served`]: who has the code signs in the member's name.
pub(crate) fn make(cx: &Change, member_id: MemberId) -> Result<String, Failure> {
    if cx.member_id() != Some(member_id) {
        cx.check_staff()?;
        cx.served(member_id)?;
    }
    let code = recovery_code::from_bytes(random());
    let hash = hash(cx.site, &code).ok_or_else(Failure::broken)?;
    signing_links::set(cx.tx, &hash, member_id, cx.now() + LINK_SECONDS)?;
    if cx.member_id() != Some(member_id) {
        cx.record("waiver.link_made", &Subject::Member(member_id), &Detail::none())?;
    }
    Ok(code)
}

/// The member of a code, if the code is valid.
pub(crate) fn find(site: &Site, tx: &Read, code: &str) -> Result<Option<MemberId>, Failure> {
    let Some(hash) = hash(site, code) else { return Ok(None) };
    Ok(signing_links::find(tx, &hash, site.now())?)
}

/// Deletes the code of a member once it is used.
pub(crate) fn end(cx: &Change, member_id: MemberId) -> Result<(), Failure> {
    signing_links::delete_of_member(cx.tx, member_id)?;
    Ok(())
}

/// The actor who signs with a code: its member, who can only sign.
pub(crate) fn actor(call: &Call, member_id: MemberId) -> RankedActor {
    RankedActor::account(member_id, Role::Member, &call.actor(member_id))
}
