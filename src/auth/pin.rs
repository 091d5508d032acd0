//! The PIN that books tunnel time and opens a kiosk.

use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::pins;
use subtle::ConstantTimeEq;

/// The hash of a PIN as it is stored, keyed: without the site key the million PINs cannot be tried.
pub fn hash(site: &Site, member_id: MemberId, pin: &str) -> [u8; 32] {
    site.keys.hash(Purpose::Pin, &[&member_id.0.to_be_bytes(), pin.as_bytes()])
}

/// Whether the PIN is the member's; a member without a PIN has no right one.
pub(crate) fn is_right(site: &Site, tx: &Read, member_id: MemberId, pin: &str) -> Result<bool, Failure> {
    let presented = hash(site, member_id, pin);
    Ok(pins::find(tx, member_id)?.is_some_and(|hash| bool::from(hash.ct_eq(&presented))))
}
