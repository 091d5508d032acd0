//! Deletion requests of social networks: a person wants the data deleted that this site has from the network.

use crate::app::{self, Change, RankedActor, accounts};
use crate::auth::DeletionRequest;
use crate::domain::audit::{ActorId, Detail, Subject};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::keys::{Purpose, hex, random};
use crate::ops::erasure::{self, Leaving};
use crate::site::Site;
use crate::store::queries;
use crate::store::tables::callbacks::{self, NewCallback, Sender};
use crate::store::tables::deletions::{self, Outcome};
use crate::store::tables::{sessions, social_links};
use serde::Serialize;

const CODE_BYTES: usize = 16;

#[derive(Serialize)]
struct Accepted {
    /// The page with the state of the deletion, for holders of the code.
    url: String,
    confirmation_code: String,
}

/// `POST /social-data-deletion`: removes the link to the network's account and the data that came with it, at once. A repeated
/// request gets the same code, unless the person was linked again meanwhile.
pub(crate) fn carry_out(site: &Site, call: &Call, request: &DeletionRequest) -> Answer {
    let network = request.network().key();
    let subject = site.keys.hash(Purpose::Deletion, &[network.as_bytes(), request.user_id().as_bytes()]);
    let key = hex(request.digest());
    let link = (network, request.user_id());
    let leaving = find_leaving(site, link)?;
    let code = app::change_once(site, call, RankedActor::outside(ActorId::Sender("social"), call), |cx| {
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
                    Some((member_id, name)) => forget(cx, link, leaving.as_ref(), member_id, &name)?,
                    None => Outcome::Nothing,
                };
                let code = hex(&random::<CODE_BYTES>());
                deletions::insert(tx, &code, &subject, outcome)?;
                (code, outcome.name())
            }
        };
        if !repeated {
            let (sender, event) = (Sender::Social, "deletion");
            callbacks::insert(
                tx,
                &site.keys,
                &NewCallback { sender, key: &key, event, about: &code, verdict, raw: &call.body },
            )?;
        }
        Ok(code)
    })?;
    let url = format!("{}/api/social-data-deletion-status?id={code}", site.public_url());
    Ok(reply::ok(&Accepted { url, confirmation_code: code }))
}

/// The member of a link (network and user), if nothing else opens the account. Read before the transaction, because searching
/// for mentions of the name takes time.
fn find_leaving(site: &Site, link: (&str, &str)) -> Result<Option<Leaving>, Failure> {
    let member_id = site.store.read(|tx| match social_links::find(tx, link.0, link.1)? {
        Some(member_id) if !queries::erasure::has_other_ways_in(tx, member_id, link)? => Ok(Some(member_id)),
        _ => Ok(None),
    })?;
    member_id.map(|member_id| erasure::find_mentions(site, member_id, &mut |_, _, _| ())).transpose()
}

/// Forgets the network's data. All sessions of the member end, because the network's own are not recorded. An account that
/// nothing else opens is erased.
fn forget(
    cx: &Change,
    link: (&str, &str),
    leaving: Option<&Leaving>,
    member_id: i64,
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
