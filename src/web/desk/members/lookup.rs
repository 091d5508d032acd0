//! Looking a member up by ID, or by an identifier that a clerk typed.

use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::store::Read;
use crate::store::tables::{joins, members};

/// The display name of a member; `None` where there is no such member.
pub(crate) fn name_of(tx: &Read, member_id: MemberId) -> Result<Option<String>, Failure> {
    let profile = members::find(tx, member_id)?;
    Ok(profile.map(|one| one.display_name().to_owned()))
}

/// Whom a typed identifier names.
pub(crate) enum Lookup {
    One(MemberId),
    Nobody,
    /// The number of one member and the username of another.
    Two,
}

/// The member with this number, which may follow a `#`, username or e-mail address; of an account that was joined into
/// another one, that other.
pub(crate) fn find_member(tx: &Read, typed: &str) -> Result<Lookup, Failure> {
    let number = typed.strip_prefix('#').unwrap_or(typed).trim().parse::<MemberId>().ok();
    let by_number = number.map(|id| members::find_account_by_id(tx, id)).transpose()?.flatten();
    let by_name = members::find_account(tx, typed)?;
    Ok(match (by_number.map(|one| one.member_id), by_name.map(|one| one.member_id)) {
        (Some(one), Some(other)) if one != other => Lookup::Two,
        (Some(member_id), _) | (None, Some(member_id)) => Lookup::One(joins::survivor_of(tx, member_id)?),
        (None, None) => Lookup::Nobody,
    })
}
