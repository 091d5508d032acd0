//! Signing up: one function for every caller. An app sends every field of the API; at the desk a clerk fills in the
//! form; at a kiosk or on a telephone, people fill it in themselves.

use super::alike::{self, Told};
use super::import_export::cell::read_birthday_of_form;
use super::person::{self, Person};
use super::{Change, RankedActor, claims, credentials};
use crate::auth::limits::messages::Cause;
use crate::auth::{confirmation, limits};
use crate::domain::audit::{ActorId, Detail, Origin, Subject};
use crate::domain::ids::{KioskId, MemberId};
use crate::domain::role::Role;
use crate::domain::{password, screen_name, username};
use crate::http::body::{Flattened, ParsedBody};
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::field_types::{NewPassword, Whole};
use crate::http::fields::{self, Fields};
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::tables::account_claims;
use crate::store::tables::kiosks;
use crate::store::tables::languages;
use crate::store::tables::members::{self, NewMember};
use crate::store::tables::outbox::Channel;
use crate::store::tables::security_answers;
use crate::store::tables::tunnels;
use serde_json::{Map, Value};

/// Numbers that are tried behind a derived username; after that, the username is made from the form's number.
const NAMES_TRIED: u32 = 20;
/// Seconds for which the same form sent again is answered with the account that it made.
const SAME_FORM_SECONDS: i64 = 600;

/// Creates an account for a person who accepted the terms. With a password, a mail asks the owner to confirm the
/// address; without one, a mail brings the code with which the owner chooses a username and a password. An empty
/// username is derived from the name, and so is an empty screen name; `form_number` makes the username unique where the
/// name is taken. The desk is told where a person who signs up alone may be a known member. Returns the member's number.
pub(crate) fn create(
    cx: &Change,
    new: NewMember,
    language: Option<Language>,
    answers: &[(i64, String)],
    form_number: i64,
) -> Result<MemberId, Failure> {
    let derived = if new.username.is_empty() { free_username(cx, new.real_name, form_number)? } else { String::new() };
    let username = if new.username.is_empty() { &derived } else { new.username };
    let (email, owned) = (new.email, new.password_hash.is_some());
    let screen_name = if new.screen_name.is_empty() { screen_name::derived(new.real_name) } else { new.screen_name };
    let new = NewMember { username, screen_name, accepted_terms: true, ..new };
    let member_id = members::insert(cx.tx, &new)?;
    // A clerk saw those who are alike before.
    if !cx.rank.is_staff() {
        let told = Told { real_name: new.real_name, email, dob: new.dob, phone: new.phone };
        alike::tell_desk(cx.tx, member_id, told)?;
    }
    if let Some(language) = language {
        languages::follow(cx.tx, member_id, language.tag())?;
    }
    for (question, answer_hash) in answers {
        security_answers::set(cx.tx, member_id, *question, answer_hash)?;
    }
    let reads = language.unwrap_or(cx.language);
    // A clerk sees the person who names the address; a person who signs up alone has proved nothing about it.
    let is_seen = cx.rank.is_staff();
    let cause = match cx.actor.origin {
        Origin::Address(address) if !is_seen => Cause::SignUp(address.into()),
        _ => Cause::Staff,
    };
    let is_foreign = !is_seen && !email.is_empty() && members::find_by_confirmed_email(cx.tx, email)?.is_some();
    if owned || is_foreign {
        confirmation::send(cx.site, cx.tx, cause, member_id, email, reads)?;
    } else if !email.is_empty() && cx.site.delivers(Channel::Email) {
        // No code is mailed where the site delivers no mail.
        claims::mail(cx, member_id, email, reads, cause)?;
    }
    Ok(member_id)
}

/// Derives a free username from the name, until the owner chooses another: `jane.doe`, or `jane.doe2`.
fn free_username(cx: &Change, real_name: &str, form_number: i64) -> Result<String, Failure> {
    let derived = username::derived(real_name);
    for number in 1..=NAMES_TRIED {
        let candidate = if number == 1 { derived.clone() } else { format!("{derived}{number}") };
        if members::username_is_free(cx.tx, &candidate)? {
            return Ok(candidate);
        }
    }
    Ok(format!("flyer{form_number}"))
}

/// Where a person signs up alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SignupPlace {
    /// The number of the kiosk.
    Kiosk(KioskId),
    /// The person's own telephone, where a password can be typed.
    Telephone,
}

impl SignupPlace {
    fn detail(self) -> Detail {
        match self {
            SignupPlace::Kiosk(kiosk_id) => Detail::none().number("kiosk_id", kiosk_id),
            SignupPlace::Telephone => Detail::none().flag("telephone", true),
        }
    }
}

crate::body! {
    /// The form of a person who signs up alone, at a kiosk or on a telephone.
    pub(crate) struct JoinForm {
        person: Flattened<Person>,
        /// The number of the form: the same form sent again makes no second account.
        number: Whole,
        password: Option<NewPassword>,
    }
}

/// A new member, and the PIN to show.
#[derive(Debug)]
pub(crate) struct SignedUp {
    pub(crate) member_id: MemberId,
    /// The booking PIN, which is shown only once.
    pub(crate) pin: String,
}

/// Signs up a person who fills in the form alone: with an e-mail address, a day of birth and the terms, and on a
/// telephone with a password. A booking PIN is created too, so that the person can sign in at the kiosk at once.
/// Audited. 422 with every mistake; 429 above the limit of the network or the kiosk.
pub(crate) fn join(
    site: &Site,
    call: &Call,
    place: SignupPlace,
    language: Language,
    typed: &[(String, String)],
) -> Result<SignedUp, Failure> {
    // The limit is checked first, because reporting every mistake and checking a password cost time.
    check_rate(site, call, place)?;
    let form = read(site, place, typed)?;
    limits::MESSAGE_REQUESTS.take(site, call.network())?;
    let password_hash = form.password.as_deref().map(|secret| site.hash(secret));
    let stranger = RankedActor::outside(ActorId::Sender("sign-up"), call);
    site.store.write(site.now(), |tx| {
        let cx = stranger.change(site, tx, language);
        let (member_id, is_new) = enter(&cx, place, &form, password_hash.as_deref())?;
        let owner = RankedActor::account(member_id, Role::Member, &call.actor(member_id));
        let own = owner.change(site, tx, language);
        if is_new {
            own.record("member.added", &Subject::Member(member_id), &place.detail())?;
        }
        let pin = credentials::renew_pin(&own, &own.own()?)?;
        Ok(SignedUp { member_id, pin })
    })
}

/// Counts one sign-up against the limits of the network and the kiosk: 429 above them.
pub(crate) fn check_rate(site: &Site, call: &Call, place: SignupPlace) -> Result<(), Failure> {
    if let SignupPlace::Kiosk(kiosk_id) = place {
        limits::SIGN_UPS_AT_KIOSK.take(site, kiosk_id)?;
    }
    limits::SIGN_UPS.take(site, call.network())
}

/// Creates the account, or finds the one that the same form made. Returns the member's number, and whether the account
/// is new.
fn enter(
    cx: &Change,
    place: SignupPlace,
    form: &JoinForm,
    password_hash: Option<&str>,
) -> Result<(MemberId, bool), Failure> {
    let (person, text) = (&form.person, |field: &Option<String>| field.clone().unwrap_or_default());
    let (email, phone) = (text(&person.email), text(&person.phone));
    if let Some(member_id) = find_same(cx, place, form, &email)? {
        return Ok((member_id, false));
    }
    let new = NewMember {
        real_name: &person.real_name,
        email: &email,
        phone: &phone,
        dob: person.dob,
        tunnel_id: Some(cx.site.tunnel_id),
        password_hash,
        ..NewMember::default()
    };
    let member_id = create(cx, new, Some(cx.language), &[], form.number)?;
    account_claims::insert_registration(cx.tx, form.number, member_id, None)?;
    Ok((member_id, true))
}

/// The account that the same form made less than [`SAME_FORM_SECONDS`] ago; 409 where the number of the form belongs to
/// other data, without telling whose. Also 409 at a kiosk that the new member has left: the next guest could load the
/// sent form again.
fn find_same(cx: &Change, place: SignupPlace, form: &JoinForm, email: &str) -> Result<Option<MemberId>, Failure> {
    let Some(member_id) = account_claims::find_registered(cx.tx, form.number)? else { return Ok(None) };
    let profile = members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
    let is_same = profile.real_name == form.person.real_name
        && profile.email == email
        && profile.dob == form.person.dob
        && cx.now() - profile.join_date < SAME_FORM_SECONDS;
    let is_there = match place {
        SignupPlace::Kiosk(kiosk_id) => kiosks::is_guest(cx.tx, kiosk_id, member_id, cx.now() - kiosks::GUEST_SECONDS)?,
        SignupPlace::Telephone => true,
    };
    match (is_same, is_there) {
        (true, true) => Ok(Some(member_id)),
        (true, false) => Err(Failure::exists().saying(Text::new("kiosk.join_sent"))),
        (false, _) => Err(Failure::exists()),
    }
}

/// The value that a form has for a field, trimmed; empty where there is none.
pub(crate) fn given<'t>(typed: &'t [(String, String)], name: &str) -> &'t str {
    typed.iter().find(|(field, _)| field == name).map_or("", |(_, text)| text.trim())
}

/// The fields of these names in a form that signs a person up, with a username that stands until the owner chooses
/// another. The day of birth is `dob`, or `day`, `month` and `year`.
pub(crate) fn person_fields(typed: &[(String, String)], names: &[&str]) -> Fields {
    let named = typed.iter().filter(|(name, _)| names.contains(&name.as_str()));
    let mut map: Map<String, Value> = named.map(|(name, text)| (name.clone(), text.clone().into())).collect();
    map.insert("username".to_owned(), username::derived(given(typed, "real_name")).into());
    let [day, month, year] = ["day", "month", "year"].map(|part| given(typed, part));
    if !year.is_empty() {
        map.insert("dob".to_owned(), format!("{year:0>4}-{month:0>2}-{day:0>2}").into());
    }
    let mut fields = Fields::new(map);
    fields.convert("dob", read_birthday_of_form);
    fields
}

/// Validates the form by the rules of signing up, and reports every mistake at once.
fn read(site: &Site, place: SignupPlace, typed: &[(String, String)]) -> Result<JoinForm, Failure> {
    let names: &[&str] = match place {
        SignupPlace::Telephone => &["real_name", "email", "dob", "phone", "number", "password"],
        SignupPlace::Kiosk(_) => &["real_name", "email", "phone", "number"],
    };
    let mut fields = person_fields(typed, names);
    fields.demand("email");
    fields.demand("dob");
    if place == SignupPlace::Telephone {
        fields.demand("password");
    }
    let tunnel = site.store.read(|tx| Ok(tunnels::find(tx, site.tunnel_id)?))?;
    let (name, home) = tunnel.map_or_else(Default::default, |tunnel| (tunnel.name, tunnel.country));
    let ParsedBody { mut read, mut fields } = ParsedBody::<JoinForm>::read(fields);
    person::judge(&mut read.person, site.now(), &home, &mut fields);
    fields.check("number", &read.number, |number| {
        fields::whole_in(1..=i64::from(u32::MAX) + 1)(&(*number).into()).map(drop)
    });
    if let Some(Some(secret)) = &read.password
        && let Err(text) = password::check(secret, &person::owner(&read.person, &name))
    {
        fields.refuse("password", text);
    }
    if given(typed, "terms").is_empty() {
        fields.refuse("terms", Text::new("field.terms"));
    }
    ParsedBody { read, fields }.finish()
}
