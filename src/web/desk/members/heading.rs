//! The heading of every page about one member.

use crate::domain::ids::MemberId;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::member_search;
use crate::web::badge;

/// Number, name and level of a member.
pub(crate) struct Heading {
    pub(crate) member_id: MemberId,
    pub(crate) name: String,
    pub(crate) level: String,
}

/// 404 where there is no such member.
pub(crate) fn read(site: &Site, tx: &Read, call: &Call, member_id: MemberId) -> Result<Heading, Failure> {
    let found = member_search::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let level = badge::member_status(site, tx, member_id, site.now(), call.language())?.level;
    let name = found.display_name().to_owned();
    Ok(Heading { member_id, name, level })
}
