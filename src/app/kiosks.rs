//! Kiosks: the code that pairs one, and the end of one.

use super::{Change, Outcome};
use crate::auth::kiosk;
use crate::domain::audit::{Detail, Whom};
use crate::http::failure::Failure;
use crate::http::fields;
use crate::store::tables::kiosks;

pub(crate) const NAME_CHARS_MAX: usize = 60;

/// Makes a code that turns one browser into a kiosk of this name. Audited. 422 at `name` where the name is empty, longer
/// than [`NAME_CHARS_MAX`] or more than one line.
pub(crate) fn pair(cx: &Change, name: &str) -> Result<String, Failure> {
    let name = fields::name("name", name, NAME_CHARS_MAX)?;
    cx.record("kiosk.code_made", &Whom::Site, &Detail::none())?;
    kiosk::new_pairing(cx.site, cx.tx, &name, cx.member_id())
}

/// Locks a kiosk out at once, with the member who is signed in there. Audited. Unchanged where no such kiosk is in use.
pub(crate) fn revoke(cx: &Change, kiosk_id: i64) -> Result<Outcome, Failure> {
    if kiosks::revoke(cx.tx, kiosk_id)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("kiosk.revoked", &Whom::Site, &Detail::none().number("kiosk_id", kiosk_id))?;
    Ok(Outcome::Done)
}
