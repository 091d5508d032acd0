//! Another role for an account. The shell and the desk give it by the same rule.

use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::store::Write;
use crate::store::tables::{members, notices, sessions};

/// A session's lifetime goes with the role, so the old ones end. So do the PIN and every passcode: the desk may know them
/// of a member, and must not of somebody who works here. The member is told.
pub fn appoint(tx: &Write, member_id: i64, role: Role) -> Result<usize, Failure> {
    sessions::end_credentials(tx, member_id, None)?;
    let detail = format!(r#"{{"role":"{}"}}"#, role.name());
    notices::insert(tx, member_id, "notice.role_changed", &detail)?;
    Ok(members::set_role(tx, member_id, role)?)
}
