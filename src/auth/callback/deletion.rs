//! Facebook's request to delete a person's data: a signed request in a form field.

use crate::auth::social::Network;
use crate::auth::social::signed_request;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::SignedText;
use crate::site::Site;
use sha2::{Digest, Sha256};

crate::body! {
    pub(crate) struct SignedRequest {
        signed_request: SignedText,
    }
}

/// The person whose data the network wants deleted here.
#[derive(Debug)]
pub struct DeletionRequest {
    network: Network,
    user_id: String,
    digest: [u8; 32],
}

impl DeletionRequest {
    pub(crate) fn network(&self) -> Network {
        self.network
    }

    /// The network's id of the person.
    pub(crate) fn user_id(&self) -> &str {
        &self.user_id
    }

    /// Identifies the request when it is repeated.
    pub(crate) fn digest(&self) -> &[u8; 32] {
        &self.digest
    }
}

pub(crate) fn admit(site: &Site, call: &Call) -> Result<DeletionRequest, Failure> {
    let secret = site.config.social.facebook.as_ref().ok_or_else(Failure::not_configured)?;
    let SignedRequest { signed_request: text } = call.parse_body_from(call.fields_or_form()?).finish()?;
    let user_id = signed_request::deletion(secret.reveal().as_bytes(), &text).ok_or_else(Failure::bad_callback)?;
    Ok(DeletionRequest { network: Network::Facebook, user_id, digest: Sha256::digest(&text).into() })
}
