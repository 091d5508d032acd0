//! Deletion requests of social networks: a person wants the data deleted that this site has from the network.

use crate::app::{self, RankedActor, deletion_requests};
use crate::auth::DeletionRequest;
use crate::domain::audit::ActorId;
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::reply;
use crate::site::Site;
use serde_json::json;

crate::answer! {
    inline struct Accepted {
        /// The page with the state of the deletion, for holders of the code.
        url: String = "https://tunnel.example.com/api/social-data-deletion-status?id=9f86d081884c7d659a2feaa0c55ad015",
        /// 32 hex digits.
        confirmation_code: String = "9f86d081884c7d659a2feaa0c55ad015",
    }
}

crate::operation! {
    /// Delete the data of a social login
    ///
    /// Meta's signed request: base64url of the HMAC-SHA256 under the app secret, a dot, and the payload, of which
    /// `user_id` is read. The link and the data that came with it are deleted at once. A repeated request gets the
    /// same code.
    CARRY_OUT = "socialDataDeletion"
        .takes(&["AcceptLanguage"])
        .answers::<Accepted>("It is done.")
        .body(|| json!({
            "signed_request": "N32LNcvDGXq0GI1jxm-tj1ysJh2uqkNIBcUhUmTp19k.eyJhbGdvcml0aG0iOiJITUFDLVNIQTI1NiIsImV4cGlyZXMiOjEyOTE4NDA0MDAsImlzc3VlZF9hdCI6MTI5MTgzNjgwMCwidXNlcl9pZCI6IjIxODQ3MSJ9",
        }))
        .also(|| json!({ "x-signed-body": "signed_request" }))
}

pub(crate) fn carry_out(site: &Site, call: &Call, request: &DeletionRequest) -> Answer {
    let leaving = deletion_requests::find_leaving(site, request)?;
    let network = RankedActor::outside(ActorId::Sender("social"), call);
    let code = app::change_once(site, call, network, |cx| {
        deletion_requests::carry_out(cx, request, leaving.as_ref(), &call.body)
    })?;
    let url = format!("{}/api/social-data-deletion-status?id={code}", site.public_url());
    Ok(reply::ok(&Accepted { url, confirmation_code: code }))
}
