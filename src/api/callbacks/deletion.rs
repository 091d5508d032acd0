//! A person asks the social network to have us forget what we got from it.

use crate::auth::DeletionRequest;
use crate::domain::audit::{Detail, Origin, Who, Whom};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply;
use crate::keys::{Purpose, hex, random};
use crate::site::Site;
use crate::store::Write;
use crate::store::queries::erasure;
use crate::store::tables::callbacks::{self, New, Sender};
use crate::store::tables::deletions::{self, Outcome};
use crate::store::tables::{audit, sessions, social_links};
use serde::Serialize;

const CODE_BYTES: usize = 16;

#[derive(Serialize)]
struct Accepted {
    /// Where anybody who has the code sees what became of it.
    url: String,
    confirmation_code: String,
}

/// `POST /social-data-deletion`: removes the link to the network's account and what came with it, at once. The same person
/// gets the same code, unless a new link was made since: then that is a new deletion.
pub fn carry_out(site: &Site, call: &Call, request: &DeletionRequest) -> Answer {
    let network = request.network().key();
    let subject = site.keys.hash(Purpose::Deletion, &[network.as_bytes(), request.user_id().as_bytes()]);
    let key = hex(request.digest());
    site.once(call, |tx| {
        let known = deletions::find_code(tx, &subject)?;
        // A repeat deletes nothing: since it came first the person may have come back.
        let repeated = callbacks::repeat(tx, Sender::Social, &key)?;
        if let Some(code) = known.as_ref().filter(|_| repeated) {
            return Ok(accepted(site, code));
        }
        let link = social_links::delete(tx, network, request.user_id())?;
        let (code, verdict) = match (known, link) {
            (Some(code), None) => (code, "known"),
            (_, link) => {
                let outcome =
                    link.map_or(Ok(Outcome::Nothing), |(member_id, name)| forget(site, call, tx, member_id, &name))?;
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
                &New { sender, key: &key, event, about: &code, verdict, raw: &call.body },
            )?;
        }
        Ok(accepted(site, &code))
    })
}

fn accepted(site: &Site, code: &str) -> reply::Reply {
    let base = site.public_url();
    let url = format!("{base}/api/social-data-deletion-status?id={code}");
    reply::ok(&Accepted { url, confirmation_code: code.to_owned() })
}

/// Which session was opened by the network is not kept, so all of the member's end. An account that nothing else opens
/// goes with the link: it would only lie there with somebody's name on it.
fn forget(site: &Site, call: &Call, tx: &Write, member_id: i64, name: &str) -> Result<Outcome, Failure> {
    sessions::delete_of_member(tx, member_id, None)?;
    let (who, whom, origin) = (Who::Sender("social"), Whom::Member(member_id), Origin::Address(call.peer));
    let record = |deed| audit::insert(tx, &who, deed, &whom, &origin, &Detail::none());
    if erasure::has_other_ways_in(tx, member_id)? {
        erasure::forget_name(tx, member_id, name)?;
        record("member.social_unlinked")?;
        return Ok(Outcome::Unlinked);
    }
    erasure::erase(tx, &site.keys, member_id, tx.now())?;
    record("member.erased")?;
    Ok(Outcome::Erased)
}
