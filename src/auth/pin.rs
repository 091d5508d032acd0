//! The PIN that books tunnel time and opens a kiosk.

use crate::http::failure::Failure;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::members;
use subtle::ConstantTimeEq;

/// The hash of a PIN as it is stored. Keyed: without the site key nobody can try all million PINs.
pub fn hash(site: &Site, member_id: i64, pin: &str) -> [u8; 32] {
    site.keys.hash(Purpose::Pin, &[&member_id.to_be_bytes(), pin.as_bytes()])
}

/// Whether it is the member's; who has none has no right one.
pub(crate) fn is_right(site: &Site, tx: &Read, member_id: i64, given: &str) -> Result<bool, Failure> {
    let given = hash(site, member_id, given);
    let stored = members::find_pin(tx, member_id)?.and_then(|pin| pin.hash);
    Ok(stored.is_some_and(|hash| bool::from(hash.ct_eq(&given))))
}
