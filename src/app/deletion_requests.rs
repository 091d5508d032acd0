//! Requests of social networks to delete what this site has of a person from the network.

use super::{Change, accounts};
use crate::auth::DeletionRequest;
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::keys::{Purpose, hex, random};
use crate::ops::erasure::{self, Leaving};
use crate::site::Site;
use crate::store::queries;
use crate::store::tables::callbacks::{self, NewCallback, Sender};
use crate::store::tables::deletions::{self, Outcome};
use crate::store::tables::{sessions, social_links};

const CODE_BYTES: usize = 16;

/// The member of a link (network and user), if nothing else opens the account. Read before the transaction, because searching
/// for mentions of the name takes time.
pub(crate) fn find_leaving(site: &Site, request: &DeletionRequest) -> Result<Option<Leaving>, Failure> {
    let link = (request.network().key(), request.user_id());
    let member_id = site.store.read(|tx| match social_links::find(tx, link.0, link.1)? {
        Some(member_id) if !queries::erasure::has_other_ways_in(tx, member_id, link)? => Ok(Some(member_id)),
        _ => Ok(None),
    })?;
    member_id.map(|member_id| erasure::find_mentions(site, member_id, &mut |_, _, _| ())).transpose()
}

/// Removes the link to the network's account and the data that came with it, and stores the request as received (`raw`).
/// Returns the code under which the deletion is confirmed: a repeated request gets the same one, unless the person was linked
/// again meanwhile.
pub(crate) fn carry_out(
    cx: &Change,
    request: &DeletionRequest,
    leaving: Option<&Leaving>,
    raw: &[u8],
) -> Result<String, Failure> {
    let network = request.network().key();
    let subject = cx.site.keys.hash(Purpose::Deletion, &[network.as_bytes(), request.user_id().as_bytes()]);
    let key = hex(request.digest());
    let link = (network, request.user_id());
    let tx = cx.tx;
    let known = deletions::find_code(tx, &subject)?;
    // A repeated request deletes nothing, because the person may have come back meanwhile.
    let repeated = callbacks::repeat(tx, Sender::Social, &key)?;
    if let Some(code) = known.clone().filter(|_| repeated) {
        return Ok(code);
    }
    let (code, verdict) = match (known, social_links::delete(tx, network, request.user_id())?) {
        (Some(code), None) => (code, "known"),
        (_, owner) => {
            let outcome = match owner {
                Some((member_id, name)) => forget(cx, link, leaving, member_id, &name)?,
                None => Outcome::Nothing,
            };
            let code = hex(&random::<CODE_BYTES>());
            deletions::insert(tx, &code, &subject, outcome)?;
            (code, outcome.name())
        }
    };
    if !repeated {
        let (sender, event) = (Sender::Social, "deletion");
        callbacks::insert(tx, &cx.site.keys, &NewCallback { sender, key: &key, event, about: &code, verdict, raw })?;
    }
    Ok(code)
}

/// Forgets the network's data. All sessions of the member end, because the network's own are not recorded. An account that
/// nothing else opens is erased.
fn forget(
    cx: &Change,
    link: (&str, &str),
    leaving: Option<&Leaving>,
    member_id: MemberId,
    name: &str,
) -> Result<Outcome, Failure> {
    sessions::delete_of_member(cx.tx, member_id, None)?;
    if queries::erasure::has_other_ways_in(cx.tx, member_id, link)? {
        queries::erasure::forget_name(cx.tx, member_id, name)?;
        cx.record("member.social_unlinked", &Subject::Member(member_id), &Detail::none())?;
        return Ok(Outcome::Unlinked);
    }
    // The last other credential ended since the search: the network will retry.
    accounts::erase(cx, leaving.ok_or_else(Failure::overloaded)?)?;
    Ok(Outcome::Erased)
}
