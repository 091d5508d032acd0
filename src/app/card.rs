//! The desk's changes on a member's card: the note for colleagues, and the member's personal data.

use super::seen::Seen;
use super::{Change, Outcome};
use crate::auth::limits::messages::Cause;
use crate::auth::{confirmation, security_event};
use crate::domain::audit::{Detail, Subject};
use crate::domain::email;
use crate::domain::ids::MemberId;
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::store::tables::outbox::Channel;
use crate::store::tables::{email_tokens, members};

/// Greatest length of a note for colleagues, in characters.
pub(crate) const NOTE_CHARS_MAX: usize = 1_000;

/// The personal data of a member from the form. The telephone number is in E.164 or empty; `dob` is in Unix seconds.
#[derive(Debug)]
pub(crate) struct Person {
    pub(crate) real_name: String,
    pub(crate) screen_name: String,
    pub(crate) email: String,
    /// Whether an address that waits for its owner's confirmation no longer replaces the confirmed one.
    pub(crate) withdraws_address: bool,
    pub(crate) phone: String,
    pub(crate) dob: Option<Moment>,
}

/// The outcome of an edit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Edited {
    Unchanged,
    Saved,
    /// Everything is saved except the e-mail address. A link went to the new address, which replaces the old one once
    /// it is confirmed.
    AddressToConfirm,
}

/// Stores a note about a member for colleagues; an empty text deletes the note. Audited without its text. 403 where the
/// actor may not serve the account; 422 where another note than `seen` is there.
pub(crate) fn set_note(cx: &Change, member_id: MemberId, text: &str, seen: &Seen) -> Result<Outcome, Failure> {
    cx.served(member_id)?;
    let stored = members::find_staff_note(cx.tx, member_id)?;
    if stored == text {
        return Ok(Outcome::Unchanged);
    }
    seen.check(&[&stored], || stored.clone())?;
    members::set_staff_note(cx.tx, member_id, text)?;
    cx.record("member.note_set", &Subject::Member(member_id), &Detail::none().flag("empty", text.is_empty()))?;
    Ok(Outcome::Done)
}

/// Edits the personal data of a member. A new telephone number is unconfirmed. A new e-mail address is stored at once
/// where no address was confirmed before; otherwise its owner must open the link that is sent there, as when members
/// change their own address. Audited by the names of the changed fields; the member is notified of a new number. 403
/// where the actor may not serve the account, and for a new address or number where the actor may not change how it is
/// opened.
pub(crate) fn edit_person(cx: &Change, member_id: MemberId, person: &Person) -> Result<Edited, Failure> {
    cx.served(member_id)?;
    let (tx, before) = (cx.tx, members::find(cx.tx, member_id)?.ok_or_else(Failure::not_found)?);
    if person.real_name.is_empty() {
        return Err(Failure::field("real_name", Text::new("field.missing")));
    }
    if before.email_verified && person.email.is_empty() {
        return Err(Failure::field("email", Text::new("field.missing")));
    }
    let screen_name = if person.screen_name.is_empty() { &before.username } else { &person.screen_name };
    let (name, shown) = (before.real_name != person.real_name, before.screen_name != *screen_name);
    let (phone, dob) = (before.phone != person.phone, before.dob != person.dob);
    let email = email::canonical(&before.email) != email::canonical(&person.email);
    if phone || email {
        cx.served_with_access(member_id)?;
    }
    let withdrawn = person.withdraws_address && email_tokens::end_address_changes(tx, member_id)? > 0;
    let all =
        [(name, "real_name"), (shown, "screen_name"), (phone, "phone"), (dob, "dob"), (email || withdrawn, "email")];
    let changed: Vec<&'static str> = all.iter().filter(|(is_new, _)| *is_new).map(|(_, field)| *field).collect();
    if changed.is_empty() {
        return Ok(Edited::Unchanged);
    }
    members::update_person(tx, member_id, &person.real_name, screen_name, person.dob)?;
    if phone {
        members::set_claimed_phone(tx, member_id, &person.phone)?;
        let (language, actor) = (cx.language_of(member_id)?, &cx.actor);
        security_event::record_address_change(cx.site, tx, &before, Channel::Sms, language, actor)?;
    }
    let mut edited = Edited::Saved;
    if email {
        if before.email_verified {
            edited = Edited::AddressToConfirm;
        } else {
            members::set_claimed_email(tx, member_id, &person.email)?;
        }
        if !person.email.is_empty() {
            let language = cx.language_of(member_id)?;
            let takes_over = before.email_verified;
            confirmation::send_for(cx.site, tx, Cause::Staff, member_id, &person.email, takes_over, language)?;
        }
    }
    cx.record("member.edited", &Subject::Member(member_id), &Detail::none().fields(&changed))?;
    Ok(edited)
}
