//! Consents, in an append-only register of who answered what to which text and when; and emergency contacts.

use super::{Signing, find_right};
use crate::app::seen::{self, Seen};
use crate::app::{Change, Outcome};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::waiver::SigningPlace;
use crate::http::failure::Failure;
use crate::store::tables::consents::{self, Consent};
use crate::store::tables::emergency_contacts::{self, Emergency};
use crate::store::tables::members;
use crate::store::tables::site_texts::{self, Kind};

pub(crate) const KINDS: [Kind; 2] = [Kind::Photos, Kind::Newsletter];

/// The answer to a consent that was shown.
#[derive(Debug, Clone)]
pub(crate) struct ConsentAnswer {
    pub(crate) kind: Kind,
    pub(crate) version: i64,
    /// ISO 639-1.
    pub(crate) language: String,
    pub(crate) given: bool,
}

/// Adds a member's answer to the register, unless it equals the last answer to the same text. By the member, by a
/// guardian of the member, or by staff. 409 where another text is in force. Audited.
pub(crate) fn say(
    cx: &Change,
    member_id: MemberId,
    said: &ConsentAnswer,
    place: SigningPlace,
) -> Result<Outcome, Failure> {
    let profile = members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
    find_right(cx, &profile)?;
    let in_force = site_texts::find_in_force(cx.tx, said.kind)?.filter(|_| cx.site.config.waiver.required);
    let in_force = in_force.filter(|known| known.version == said.version).ok_or_else(Failure::waiver_changed)?;
    let text =
        site_texts::find(cx.tx, said.kind, in_force.version, &said.language)?.ok_or_else(Failure::waiver_changed)?;
    let last = consents::find_last(cx.tx, member_id, said.kind)?;
    if last.is_some_and(|last| last.given == said.given && last.version == said.version) {
        return Ok(Outcome::Unchanged);
    }
    let said_by = cx.member_id().filter(|id| *id != member_id);
    let consent = Consent {
        member_id,
        kind: said.kind,
        given: said.given,
        version: text.version,
        language: text.language,
        text_hash: text.text_hash,
        said_at: cx.now(),
        place,
        said_by,
    };
    consents::insert(cx.tx, &consent)?;
    let detail =
        Detail::none().word("kind", said.kind.name()).flag("given", said.given).number("version", said.version);
    cx.record("consent.said", &Subject::Member(member_id), &detail)?;
    Ok(Outcome::Done)
}

/// Withdraws a consent that a member gave. By the member, by a guardian of the member, or by staff. Audited.
pub(crate) fn withdraw(cx: &Change, member_id: MemberId, kind: Kind) -> Result<Outcome, Failure> {
    find_right(cx, &members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?)?;
    let place = if cx.rank.is_staff() { SigningPlace::Desk } else { SigningPlace::Phone };
    let said_by = cx.member_id().filter(|id| *id != member_id);
    let Some(last) = consents::find_last(cx.tx, member_id, kind)?.filter(|last| last.given) else {
        return Ok(Outcome::Unchanged);
    };
    let withdrawn = Consent { given: false, said_at: cx.now(), place, said_by, ..last };
    let version = withdrawn.version;
    consents::insert(cx.tx, &withdrawn)?;
    let detail = Detail::none().word("kind", kind.name()).flag("given", false).number("version", version);
    cx.record("consent.said", &Subject::Member(member_id), &detail)?;
    Ok(Outcome::Done)
}

/// The mark of an emergency contact, for the form that replaces it.
pub(crate) fn mark(contact: &Emergency) -> String {
    seen::mark(&[&contact.name, &contact.phone])
}

/// Stores the emergency contact of a member; an empty name and number delete it. Audited without the contact. 422 where
/// another contact than `seen` is there.
pub(crate) fn set_emergency(
    cx: &Change,
    member_id: MemberId,
    contact: &Emergency,
    seen: &Seen,
) -> Result<Outcome, Failure> {
    let profile = members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?;
    find_right(cx, &profile)?;
    let stored = emergency_contacts::find(cx.tx, member_id)?.unwrap_or_default();
    if stored == *contact {
        return Ok(Outcome::Unchanged);
    }
    seen.check(&[&stored.name, &stored.phone], || format!("{} {}", stored.name, stored.phone))?;
    let is_empty = contact.name.is_empty() && contact.phone.is_empty();
    match is_empty {
        true => emergency_contacts::delete(cx.tx, member_id)?,
        false => emergency_contacts::set(cx.tx, member_id, contact)?,
    };
    cx.record("emergency.set", &Subject::Member(member_id), &Detail::none().flag("empty", is_empty))?;
    Ok(Outcome::Done)
}

/// Stores the consents that were answered with a signature, for each of its flyers.
pub(super) fn keep(cx: &Change, signing: &Signing) -> Result<(), Failure> {
    for flyer in &signing.flyers {
        for said in &signing.consents {
            _ = say(cx, flyer.member_id, said, signing.place)?;
        }
        if !signing.emergency.name.is_empty() || !signing.emergency.phone.is_empty() {
            _ = set_emergency(cx, flyer.member_id, &signing.emergency, &Seen::default())?;
        }
    }
    Ok(())
}
