//! Sign-in by a social network.

use super::login::{self, SignInOutcome};
use crate::app::alike::{self, Told};
use crate::app::{self, Change, RankedActor};
use crate::auth::security_event::{self, Event};
use crate::auth::social::{self, Network, Person, Refusal};
use crate::domain::unicode::as_meant;
use crate::domain::{email, role::Role, screen_name, username};
use crate::http::Answer;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{Lines, Name};
use crate::http::json;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members::{self, Account};
use crate::store::tables::social_links;
use serde_json::json;

const NAME_CHARS_MAX: usize = 60;
/// The random suffix of a taken username.
const SUFFIX_BYTES: usize = 3;

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

/// The account of a person.
enum Found {
    Member(i64),
    /// The address of a member of the staff, which is not enough to link such an account.
    Staff,
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
                let enter = |cx: &Change| enter(site, call, cx.tx, &person, user.as_deref());
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

fn enter(site: &Site, call: &Call, tx: &Write, person: &Person, user: Option<&str>) -> Result<SignInOutcome, Failure> {
    let account = match find_or_make(site, call, tx, person, user)? {
        Found::Member(member_id) => find_account(tx, member_id)?,
        Found::Staff => return Ok(SignInOutcome::Refused("social.staff".into())),
    };
    login::continue_social_sign_in(site, call, tx, &account)
}

fn find_account(tx: &Write, member_id: i64) -> Result<Account, Failure> {
    members::find_account_by_id(tx, member_id)?.ok_or_else(|| Failure::broken().because("a social link has no member"))
}

/// Finds the linked member. Without a link, the member with the same e-mail address is linked, if both the network and the
/// member have confirmed the address: an unconfirmed address on either side would open another person's account. Else a new
/// member is made.
fn find_or_make(site: &Site, call: &Call, tx: &Write, person: &Person, user: Option<&str>) -> Result<Found, Failure> {
    let network = person.network.key();
    if let Some(member_id) = social_links::find_for_use(tx, network, &person.subject)? {
        return Ok(Found::Member(member_id));
    }
    let proven = person.email.as_ref().filter(|email| email.verified);
    let confirmed = match proven {
        Some(email) => members::find_by_confirmed_email(tx, &email::one_spelling(&email.address))?,
        None => None,
    };
    let Some(member_id) = confirmed else { return Ok(Found::Member(create_member(site, tx, person, user)?)) };
    let account = find_account(tx, member_id)?;
    if account.role != Role::Member {
        return Ok(Found::Staff);
    }
    if !account.banned {
        social_links::insert(tx, network, &person.subject, member_id, "")?;
        let detail = json!({ "network": person.network.name() });
        security_event::record_and_notify(
            site,
            tx,
            member_id,
            Event::SocialLinked,
            &detail,
            call.mail_language(),
            &call.actor(member_id),
        )?;
    }
    Ok(Found::Member(member_id))
}

/// A new member without a password.
fn create_member(site: &Site, tx: &Write, person: &Person, user: Option<&str>) -> Result<i64, Failure> {
    let name = given_name(user).or_else(|| person.name.as_deref().and_then(clean)).unwrap_or_default();
    let email = person.email.as_ref().and_then(|given| Some((email::parse(&given.address).ok()?, given.verified)));
    let username = free_username(tx, &name)?;
    let shown = if name.is_empty() { &username } else { &name };
    let member_id = members::insert(
        tx,
        &members::NewMember {
            username: &username,
            screen_name: screen_name::derived(shown),
            real_name: shown,
            email: email.as_ref().map_or("", |(address, _)| address),
            tunnel_id: Some(site.tunnel_id),
            ..Default::default()
        },
    )?;
    if email.as_ref().is_some_and(|(_, verified)| *verified) {
        members::confirm_email(tx, member_id)?;
    }
    social_links::insert(tx, person.network.key(), &person.subject, member_id, &name)?;
    let email = email.as_ref().map_or("", |(address, _)| address);
    alike::tell_desk(tx, member_id, Told { real_name: &name, email, dob: None, phone: "" })?;
    Ok(member_id)
}

/// A free username from the person's name; not from the address, which is private.
fn free_username(tx: &Write, name: &str) -> Result<String, Failure> {
    let base = username::derived(name);
    let mut candidate = base.clone();
    while !members::username_is_free(tx, &candidate)? {
        candidate = format!("{base}-{}", crate::keys::hex(&crate::keys::random::<SUFFIX_BYTES>()));
    }
    Ok(candidate)
}

/// The name that Apple's app sends beside the token, on the first sign-in only: `{"name": {"firstName", "lastName"}}`.
fn given_name(user: Option<&str>) -> Option<String> {
    let user = json::parse(user?.as_bytes()).ok()?;
    let name = &user["name"];
    let parts = [&name["firstName"], &name["lastName"]].map(|part| part.as_str().unwrap_or(""));
    clean(&parts.join(" ")).or_else(|| clean(name.as_str()?))
}

/// A name as one line, within the length of the name fields.
fn clean(name: &str) -> Option<String> {
    let name = as_meant(name);
    let words: Vec<_> = name.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()).collect();
    let line: String = words.join(" ").chars().take(NAME_CHARS_MAX).collect();
    (!line.is_empty()).then(|| line.trim_end().to_owned())
}
