//! Devices that members signed in on. Only hashes of their tokens are stored.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{Ahead, Expiry, NUMBERS, Rows, Table, secret};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "devices",
    "",
    &[secret("device_hash")],
    &[
        Rows::deleted("devices", "member_id = :id"),
        Rows::others("devices_vouched_for", "voucher_id = :id AND member_id <> :id", NUMBERS).only(&[
            "voucher_id",
            "created_at",
            "used_at",
        ]),
    ],
)
.expires(&[Expiry::after("device_hash, member_id", "used_at", KEPT_SECONDS)])
.ahead(Ahead::Deleted("used_at"))
.joins(&[stays("member_id", OPENS), stays("voucher_id", OPENS)])];

pub(crate) type DeviceHash = [u8; 32];

/// A device counts as unknown after this many seconds without a sign-in.
pub(crate) const KEPT_SECONDS: i64 = 180 * 86_400;
/// A member whose client loses its token gets a new one at each sign-in; tokens that were never used again are deleted
/// first.
const DEVICES_PER_MEMBER_MAX: i64 = 20;

row! {
    /// A known device.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct Seen {
        /// Whether this member signed in on the device.
        pub by_member: bool = "EXISTS (SELECT 1 FROM devices WHERE device_hash = :hash AND member_id = :id AND used_at > :old)",
        /// The member who signed in on the device first.
        pub voucher_id: MemberId,
    }
}

/// Finds a device; `None`: the device is unknown.
pub(crate) fn find(tx: &Read, device_hash: &DeviceHash, member_id: MemberId, now: Moment) -> Result<Option<Seen>> {
    let sql = sql!("SELECT ", Seen::COLUMNS, " FROM devices WHERE device_hash = :hash AND used_at > :old LIMIT 1");
    let params = named_params! {":hash": &device_hash[..], ":id": member_id, ":old": now - KEPT_SECONDS};
    tx.find(sql, params)
}

/// Records a sign-in of the member on a device.
pub(crate) fn set_used(tx: &Write, device_hash: &DeviceHash, member_id: MemberId) -> Result<usize> {
    let sql = sql!("INSERT INTO devices (device_hash, member_id, voucher_id, created_at, used_at)
               VALUES (:hash, :id, coalesce((SELECT voucher_id FROM devices WHERE device_hash = :hash LIMIT 1), :id), :now, :now)
               ON CONFLICT (device_hash, member_id) DO UPDATE SET used_at = excluded.used_at");
    tx.run(sql, named_params! {":hash": &device_hash[..], ":id": member_id, ":now": tx.now()})?;
    let surplus = sql!(
        "DELETE FROM devices WHERE member_id = :id AND device_hash <> :hash AND device_hash NOT IN
                   (SELECT device_hash FROM devices WHERE member_id = :id AND device_hash <> :hash
                    ORDER BY used_at > created_at DESC, used_at DESC, device_hash LIMIT :rows)"
    );
    let params = named_params! {":hash": &device_hash[..], ":id": member_id, ":rows": DEVICES_PER_MEMBER_MAX - 1};
    tx.run(surplus, params)
}
