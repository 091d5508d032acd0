//! What changed in the ways into an account: a row of the audit log, and word to its owner, a notice and a message to a
//! confirmed address, in the transaction of the change. Who has no address gets the notice alone.

use super::allowance::{self, Cause};
use crate::domain::audit::{By, Detail, Whom};
use crate::failure::Failure;
use crate::language::Language;
use crate::site::Site;
use crate::store::outbox::{self, Channel};
use crate::store::{Write, audit, notices, second_factors};
use serde_json::{Value, json};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    PasswordChanged,
    Recovered,
    EmailChanged,
    PhoneChanged,
    SecondFactorOn,
    SecondFactorOff,
    RecoveryCodes,
    PasskeyAdded,
    PasskeyRemoved,
    SocialLinked,
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
        }
    }

    /// How the audit log calls it.
    fn deed(self) -> &'static str {
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
        }
    }

    /// What comes after `mail.event.` in the translations.
    fn name(self) -> &'static str {
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
        }
    }
}

/// Records it and tells the member, in words that may speak of `detail`. The message goes to the e-mail address, or else the number,
/// that the member has confirmed: what nobody confirmed may be a stranger's.
pub fn tell(
    site: &Site,
    tx: &Write,
    member_id: i64,
    event: Event,
    detail: &Value,
    language: Language,
    by: &By,
) -> Result<(), Failure> {
    audit::insert(tx, &by.who, event.deed(), &Whom::Member(member_id), &by.origin, &Detail::none())?;
    notices::insert(tx, member_id, event.notice(), &detail.to_string())?;
    let reachable = second_factors::find_reachable(tx, member_id)?;
    let email = reachable.email.map(|address| (Channel::Email, address));
    let to = email.or_else(|| Some((Channel::Sms, reachable.phone?)));
    to.map_or(Ok(()), |(channel, address)| send(site, tx, member_id, event, channel, &address, language))
}

/// The message alone, to an address or number that is the member's no more. Nothing goes where the member's share of such
/// messages is used up: the notice and the audit log have every change.
pub fn send(
    site: &Site,
    tx: &Write,
    member_id: i64,
    event: Event,
    channel: Channel,
    recipient: &str,
    language: Language,
) -> Result<(), Failure> {
    if allowance::take(site, tx, Cause::Event, member_id, channel, recipient)?.is_err() {
        return Ok(());
    }
    let message = outbox::New {
        channel,
        member_id: Some(member_id),
        recipient,
        language: language.tag(),
        template: "security_event",
        values: &json!({ "event": event.name() }),
    };
    outbox::insert(tx, &site.keys, &message)?;
    Ok(())
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
        ] {
            for language in Language::ALL {
                let has = |key: &str| language.texts().contains_key(key);
                assert!(has(event.notice()) && has(&format!("mail.event.{}", event.name())), "{event:?}");
            }
        }
    }
}
