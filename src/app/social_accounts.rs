//! The account of a person whom a social network vouches for: linked, found by the address, or made.

use super::Change;
use super::alike::{self, Told};
use crate::auth::security_event::{self, Event};
use crate::auth::social::Person;
use crate::domain::ids::MemberId;
use crate::domain::unicode::as_meant;
use crate::domain::{email, role::Role, screen_name, username};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::json;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members::{self, Account};
use crate::store::tables::social_links;
use serde_json::json;

const NAME_CHARS_MAX: usize = 60;
/// The random suffix of a taken username.
const SUFFIX_BYTES: usize = 3;

/// The account of a person.
pub(crate) enum Found {
    Account(Account),
    /// The address of a member of the staff, which is not enough to link such an account.
    Staff,
}

fn find_account(tx: &Write, member_id: MemberId) -> Result<Account, Failure> {
    members::find_account_by_id(tx, member_id)?.ok_or_else(|| Failure::broken().because("a social link has no member"))
}

/// Finds the linked member. Without a link, the member with the same e-mail address is linked, if both the network and the
/// member have confirmed the address: an unconfirmed address on either side would open another person's account. Else a new
/// member is made.
pub(crate) fn find_or_make(call: &Call, cx: &Change, person: &Person, user: Option<&str>) -> Result<Found, Failure> {
    let (site, tx) = (cx.site, cx.tx);
    let network = person.network.key();
    if let Some(member_id) = social_links::find_for_use(tx, network, &person.subject)? {
        return find_account(tx, member_id).map(Found::Account);
    }
    let proven = person.email.as_ref().filter(|email| email.verified);
    let confirmed = match proven {
        Some(email) => members::find_by_confirmed_email(tx, &email::one_spelling(&email.address))?,
        None => None,
    };
    let Some(member_id) = confirmed else {
        let member_id = create_member(site, tx, person, user)?;
        return find_account(tx, member_id).map(Found::Account);
    };
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
            cx.language,
            &call.actor(member_id),
        )?;
    }
    Ok(Found::Account(account))
}

/// A new member without a password.
fn create_member(site: &Site, tx: &Write, person: &Person, user: Option<&str>) -> Result<MemberId, Failure> {
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
