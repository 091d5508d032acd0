//! Sign-in by a social network.

use super::login::{self, Login, SignInOutcome};
use crate::app::social_accounts::{self, Found};
use crate::app::{self, Change, RankedActor};
use crate::auth::social::{self, Network, Person, Refusal};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Lines, Name};
use crate::site::Site;
use serde_json::json;

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

crate::operation! {
    /// Sign in by Google, Apple or Facebook
    ///
    /// A session for a person of the network. A member with the same e-mail address is linked if both the network and
    /// the member have confirmed it; otherwise a new member is made. A network that is not configured, or an invalid
    /// proof, is **200** with `status: false`.
    SIGN_IN = "socialSignIn"
        .body(|| json!({
            "params": "{\"id_token\":\"eyJhbGciOiJSUzI1NiJ9.e30.c2lnbmF0dXJl\"}", "socialType": "google",
            "user": "",
        }))
        .takes(&["DeviceToken"])
        .refuses(&["EmailTaken"])
        .answers::<Login>("A session, the second step that is required, or a refusal.")
        .headers(&[("x-device-token", "DeviceToken")])
}

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
