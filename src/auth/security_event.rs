//! Security events: changes of an account's credentials. Each writes an audit row, a notice to the owner, and a message to a
//! confirmed address, in the transaction of the change. A member without a confirmed address gets the notice alone.

use super::limits::messages::{self, Cause};
use super::session::new_token;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members::{self, Profile};
use crate::store::tables::outbox::{self, Channel};
use crate::store::tables::undos::{self, Undo};
use crate::store::tables::{audit, notices, second_factors};
use serde_json::{Value, json};

/// How long the link in a mail undoes a change.
const UNDO_SECONDS: i64 = 7 * 86_400;

/// A change of an account's credentials, of which its owner is notified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Changed by the owner.
    PasswordChanged,
    /// A new password was set without the old one.
    Recovered,
    /// A new address was confirmed.
    EmailChanged,
    /// A new number was confirmed.
    PhoneChanged,
    /// An authenticator app was set up.
    SecondFactorOn,
    /// Turned off by the owner or the desk.
    SecondFactorOff,
    /// New codes replaced the old ones.
    RecoveryCodes,
    /// A passkey was registered.
    PasskeyAdded,
    /// A passkey was removed.
    PasskeyRemoved,
    /// An account of a social network was linked.
    SocialLinked,
    /// The owner asked for the erasure of the account.
    Leaving,
    /// Another event was undone by the link in its mail.
    ChangeUndone,
}

impl Event {
    /// The key of the notice.
    fn notice(self) -> &'static str {
        match self {
            Event::PasswordChanged | Event::Recovered => "notice.password_changed",
            Event::EmailChanged => "notice.email_changed",
            Event::PhoneChanged => "notice.phone_changed",
            Event::SecondFactorOn => "notice.second_factor_on",
            Event::SecondFactorOff => "notice.second_factor_off",
            Event::RecoveryCodes => "notice.recovery_codes_new",
            Event::PasskeyAdded => "notice.passkey_added",
            Event::PasskeyRemoved => "notice.passkey_removed",
            Event::SocialLinked => "notice.social_linked",
            Event::Leaving => "notice.leaving",
            Event::ChangeUndone => "notice.change_undone",
        }
    }

    fn audit_action(self) -> &'static str {
        match self {
            Event::PasswordChanged => "member.password_changed",
            Event::Recovered => "member.recovered",
            Event::EmailChanged => "member.email_changed",
            Event::PhoneChanged => "member.phone_changed",
            Event::SecondFactorOn => "member.second_factor_on",
            Event::SecondFactorOff => "member.second_factor_off",
            Event::RecoveryCodes => "member.recovery_codes_made",
            Event::PasskeyAdded => "member.passkey_added",
            Event::PasskeyRemoved => "member.passkey_removed",
            Event::SocialLinked => "member.social_linked",
            Event::Leaving => "member.leaving",
            Event::ChangeUndone => "member.change_undone",
        }
    }

    /// The part of the translation key after `mail.event.`.
    pub fn name(self) -> &'static str {
        match self {
            Event::PasswordChanged => "password_changed",
            Event::Recovered => "recovered",
            Event::EmailChanged => "email_changed",
            Event::PhoneChanged => "phone_changed",
            Event::SecondFactorOn => "second_factor_on",
            Event::SecondFactorOff => "second_factor_off",
            Event::RecoveryCodes => "recovery_codes",
            Event::PasskeyAdded => "passkey_added",
            Event::PasskeyRemoved => "passkey_removed",
            Event::SocialLinked => "social_linked",
            Event::Leaving => "leaving",
            Event::ChangeUndone => "change_undone",
        }
    }
}

/// Records an event and notifies the member; `detail` has the values of the notice's text. The message goes to the
/// confirmed e-mail address, or else the confirmed number: an unconfirmed one may be another person's. A mail carries a
/// link that undoes the change.
pub fn record_and_notify(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    event: Event,
    detail: &Value,
    language: Language,
    actor: &Actor,
) -> Result<(), Failure> {
    record(tx, member_id, event, detail, actor)?;
    let reachable = second_factors::find_reachable(tx, member_id)?;
    let now = members::find(tx, member_id)?.filter(|_| event != Event::ChangeUndone);
    if let Some(address) = &reachable.email {
        return send(site, tx, member_id, event, (Channel::Email, address), now.map(|now| undo_to(tx, &now)), language);
    }
    let Some(number) = &reachable.phone else { return Ok(()) };
    send(site, tx, member_id, event, (Channel::Sms, number), None, language)
}

/// Records a new e-mail address or number, and notifies the old one too, which a thief does not read. The link that undoes
/// the change goes only to an address from before the change.
pub(crate) fn record_address_change(
    site: &Site,
    tx: &Write,
    before: &Profile,
    channel: Channel,
    language: Language,
    actor: &Actor,
) -> Result<(), Failure> {
    let member_id = before.member_id;
    let (event, old, confirmed) = match channel {
        Channel::Email => (Event::EmailChanged, &before.email, before.email_verified),
        Channel::Sms => (Event::PhoneChanged, &before.phone, before.phone_verified),
    };
    record(tx, member_id, event, &json!({}), actor)?;
    if confirmed && !old.is_empty() {
        send(site, tx, member_id, event, (channel, old), Some(undo_to(tx, before)), language)?;
    }
    let reachable = second_factors::find_reachable(tx, member_id)?;
    if let Some(address) = &reachable.email {
        let undone_to = (channel == Channel::Sms).then(|| undo_to(tx, before));
        return send(site, tx, member_id, event, (Channel::Email, address), undone_to, language);
    }
    let Some(number) = &reachable.phone else { return Ok(()) };
    send(site, tx, member_id, event, (Channel::Sms, number), None, language)
}

/// Records that the owner asked for the erasure of the account, due at `leaves_at`, and tells every confirmed address, with those
/// that were replaced within the days in which that can be undone: a thief reads the latest alone.
pub(crate) fn record_leaving(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    leaves_at: Moment,
    language: Language,
    actor: &Actor,
) -> Result<(), Failure> {
    let event = Event::Leaving;
    let now = members::find(tx, member_id)?.ok_or_else(Failure::not_found)?;
    let earlier = undos::list(tx, member_id, tx.now())?;
    record(tx, member_id, event, &json!({ "leaves_at": leaves_at }), actor)?;
    if now.email_verified {
        send(site, tx, member_id, event, (Channel::Email, &now.email), Some(undo_to(tx, &now)), language)?;
    }
    let mut told = vec![now.email.to_lowercase()];
    for undo in earlier.iter().filter(|undo| undo.email_confirmed) {
        let address = undo.email.to_lowercase();
        if !told.contains(&address) {
            send(site, tx, member_id, event, (Channel::Email, &undo.email), Some(undo.clone()), language)?;
            told.push(address);
        }
    }
    let mut numbers = vec![(now.phone.clone(), now.phone_verified)];
    numbers.extend(earlier.into_iter().map(|undo| (undo.phone, undo.phone_confirmed)));
    let mut told = Vec::new();
    for (number, _) in numbers.into_iter().filter(|(number, confirmed)| *confirmed && !number.is_empty()) {
        if !told.contains(&number) {
            send(site, tx, member_id, event, (Channel::Sms, &number), None, language)?;
            told.push(number);
        }
    }
    Ok(())
}

fn record(tx: &Write, member_id: MemberId, event: Event, detail: &Value, actor: &Actor) -> Result<(), Failure> {
    audit::insert(tx, actor, event.audit_action(), &Subject::Member(member_id), &Detail::none())?;
    notices::insert(tx, member_id, event.notice(), &detail.to_string())?;
    Ok(())
}

/// Queues the message. `undone`: the state to which the link of a mail undoes the change; a short message has no room for a
/// link. Above the member's limit of such messages nothing is sent, because the notice and the audit log have every change.
/// The link to a replaced address is sent above the limit too, or a thief would use the limit up first; and what tells that the
/// account is erased, after which no notice is left.
fn send(
    site: &Site,
    tx: &Write,
    member_id: MemberId,
    event: Event,
    (channel, recipient): (Channel, &str),
    undone: Option<Undo>,
    language: Language,
) -> Result<(), Failure> {
    let quota = messages::take(site, tx, Cause::SecurityEvent, member_id, channel, recipient)?;
    let is_to_the_replaced_address = event == Event::EmailChanged && undone.is_some();
    if !quota.is_counted() && !is_to_the_replaced_address && event != Event::Leaving {
        return Ok(());
    }
    let (template, values) = match undone.filter(|_| channel == Channel::Email) {
        Some(undone) => {
            ("security_event_undo", json!({ "event": event.name(), "token": offer_undo(tx, event, &undone)? }))
        }
        None => ("security_event", json!({ "event": event.name() })),
    };
    let member_id = Some(member_id);
    let message =
        outbox::NewMessage { channel, member_id, recipient, language: language.tag(), template, values: &values };
    outbox::insert(tx, &site.keys, &message)?;
    Ok(())
}

/// The state before a change that is made now; `before`: the member before the change.
fn undo_to(tx: &Write, before: &Profile) -> Undo {
    Undo {
        member_id: before.member_id,
        email: before.email.clone(),
        email_confirmed: before.email_verified,
        phone: before.phone.clone(),
        phone_confirmed: before.phone_verified,
        made_at: tx.now(),
    }
}

/// Makes a token that undoes `event` and every change since the state to which it is undone.
fn offer_undo(tx: &Write, event: Event, undone: &Undo) -> Result<String, Failure> {
    let (token, hash) = new_token();
    undos::insert(tx, &hash, event.name(), undone, tx.now() + UNDO_SECONDS)?;
    Ok(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_its_words_and_its_notice_in_every_language() {
        for event in [
            Event::PasswordChanged,
            Event::Recovered,
            Event::EmailChanged,
            Event::PhoneChanged,
            Event::SecondFactorOn,
            Event::SecondFactorOff,
            Event::RecoveryCodes,
            Event::PasskeyAdded,
            Event::PasskeyRemoved,
            Event::SocialLinked,
            Event::Leaving,
            Event::ChangeUndone,
        ] {
            for language in Language::ALL {
                let has = |key: &str| language.texts().contains_key(key);
                assert!(has(event.notice()) && has(&format!("mail.event.{}", event.name())), "{event:?}");
            }
        }
    }
}
