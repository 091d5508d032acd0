//! Sign-in by a social network.

use super::login::{self, SignInOutcome};
use crate::app::social_accounts::{self, Found};
use crate::app::{self, Change, RankedActor};
use crate::auth::social::{self, Network, Person, Refusal};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Lines, Name};
use crate::site::Site;

crate::body! {
    pub(crate) struct SocialSignIn {
        /// JSON text with the network's ID token (`id_token` or `credential`), or Facebook's `signed_request`. With an ID
        /// token for a `nonce`, the nonce too; the token may have the nonce itself or its SHA-256 in hex.
        params: Lines<{ 16 * 1024 }>,
        /// Which network.
        network as "socialType": Name<Network>,
        /// Apple's user data of the first sign-in: `{"name": {"firstName", "lastName"}}` as text.
        user: Option<Lines<4096>>,
    }
}

/// `POST /auth/social`: a session for a person of Google, Apple or Facebook, who becomes a member if there is no account yet.
/// Where a second factor is required, `step_token` goes to `verify-totp` with the code.
pub(crate) fn sign_in(site: &Site, call: &Call) -> Answer {
    let SocialSignIn { params, network, user } = call.body()?;
    let outcome = app::once(site, call, || {
        if site.clock.is_suspect() {
            return Ok(SignInOutcome::Refused("social.clock_suspect".into()));
        }
        match social::check(site, network, &params) {
            Ok(person) => {
                let enter = |cx: &Change| enter(call, cx, &person, user.as_deref());
                app::change_once(site, call, RankedActor::stranger(call), enter)
            }
            Err(refusal) => Ok(refused(network, &refusal)),
        }
    })?;
    Ok(login::rendered(site, call, outcome))
}

fn refused(network: Network, refusal: &Refusal) -> SignInOutcome {
    let key = match refusal {
        Refusal::NotConfigured => "social.not_configured",
        Refusal::Broken => "social.broken",
        Refusal::Wrong => "social.wrong",
    };
    SignInOutcome::NotVouched { reason: key.into(), network: network.name().to_owned() }
}

fn enter(call: &Call, cx: &Change, person: &Person, user: Option<&str>) -> Result<SignInOutcome, Failure> {
    match social_accounts::find_or_make(call, cx, person, user)? {
        Found::Account(account) => login::continue_social_sign_in(call, cx, &account),
        Found::Staff => Ok(SignInOutcome::Refused("social.staff".into())),
    }
}
