//! Deletion requests of social networks: a person wants the data deleted that this site has from the network.

use crate::app::{self, RankedActor, deletion_requests};
use crate::auth::DeletionRequest;
use crate::domain::audit::ActorId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use serde::Serialize;

#[derive(Serialize)]
struct Accepted {
    /// The page with the state of the deletion, for holders of the code.
    url: String,
    confirmation_code: String,
}

/// `POST /social-data-deletion`: removes the link to the network's account and the data that came with it, at once. A repeated
/// request gets the same code, unless the person was linked again meanwhile.
pub(crate) fn carry_out(site: &Site, call: &Call, request: &DeletionRequest) -> Answer {
    let leaving = deletion_requests::find_leaving(site, request)?;
    let network = RankedActor::outside(ActorId::Sender("social"), call);
    let code = app::change_once(site, call, network, |cx| {
        deletion_requests::carry_out(cx, request, leaving.as_ref(), &call.body)
    })?;
    let url = format!("{}/api/social-data-deletion-status?id={code}", site.public_url());
    Ok(reply::ok(&Accepted { url, confirmation_code: code }))
}
