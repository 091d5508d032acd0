//! Messages: the contact form's, which the desk marks as done; and the outbox's, which the desk sends again or reads
//! out.

use super::{Change, Outcome};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::{ContactId, MemberId, MessageId};
use crate::domain::role::{Rank, Role};
use crate::http::failure::{Failure, Stop};
use crate::i18n::language::Text;
use crate::store::Read;
use crate::store::tables::contact;
use crate::store::tables::members::{self, Account};
use crate::store::tables::outbox::{self, Message};
use crate::store::tables::signers;
use crate::store::tables::suppressed::{self, Suppression};

/// A number that no member has.
const NOBODY: MemberId = MemberId(0);

/// Why a message cannot be sent again.
#[derive(Debug)]
pub(crate) enum RetryDenial {
    /// A server accepted the message.
    Sent,
    /// The text of the message was erased.
    Wiped,
    /// The address is suppressed: no mail is sent to it.
    Marked(Suppression),
}

/// Marks a message of the contact form as done. Audited, one row a message. 404 where there is no such message.
pub(crate) fn set_contact_done(cx: &Change, contact_id: ContactId) -> Result<Outcome, Failure> {
    contact::find(cx.tx, contact_id)?.ok_or_else(Failure::not_found)?;
    if contact::set_done(cx.tx, contact_id)? == 0 {
        return Ok(Outcome::Unchanged);
    }
    cx.record("contact.done", &Subject::Site, &Detail::none().number("contact_id", contact_id))?;
    Ok(Outcome::Done)
}

/// Why a message cannot be sent again; `None` where it can.
pub(crate) fn find_obstacle(tx: &Read, message: &Message) -> Result<Option<RetryDenial>, Failure> {
    if message.sealed.is_none() {
        return Ok(Some(if message.sent_at.is_some() { RetryDenial::Sent } else { RetryDenial::Wiped }));
    }
    Ok(suppressed::find(tx, &message.recipient)?.map(RetryDenial::Marked))
}

/// Queues a message again. Audited. 404 where there is no such
/// message, 403 where the actor may not serve its member.
pub(crate) fn retry(cx: &Change, message_id: MessageId) -> Result<(), Stop<RetryDenial>> {
    let message = outbox::find(cx.tx, message_id)?.ok_or_else(Failure::not_found)?;
    refuse(denial_to_send(cx.tx, cx.rank, &message)?)?;
    if let Some(obstacle) = find_obstacle(cx.tx, &message)? {
        return Err(Stop::Denied(obstacle));
    }
    if outbox::retry(cx.tx, message_id)? == 0 {
        return Err(Stop::Denied(RetryDenial::Wiped));
    }
    Ok(cx.record("messages.retried", &subject_of(&message), &Detail::none().number("message_id", message_id))?)
}

/// Queues every dead message again that still has its text, and that has no member or one whom the actor may serve.
/// Returns the number of messages. Audited, even where it is 0.
pub(crate) fn retry_dead(cx: &Change) -> Result<usize, Failure> {
    let served = |role: &Role| cx.rank.denial(NOBODY, *role).is_none();
    let roles: Vec<Role> = Role::ALL.into_iter().filter(served).collect();
    let retried = outbox::retry_dead(cx.tx, &roles)?;
    let detail = Detail::none().flag("dead", true).number("messages", retried as i64);
    cx.record("messages.retried", &Subject::Site, &detail)?;
    Ok(retried)
}

/// Lifts the suppression of an address, in whichever spelling the address is given. Returns the lifted suppression, if there was one. Audited without the address,
/// which is personal data.
pub(crate) fn lift_mark(cx: &Change, address: &str) -> Result<Option<Suppression>, Failure> {
    let Some(mark) = suppressed::find(cx.tx, address)? else { return Ok(None) };
    // The provider's clock may be ahead of the server's.
    suppressed::lift(cx.tx, address, cx.now().max(mark.since))?;
    cx.record("address.lifted", &Subject::Site, &Detail::none())?;
    Ok(Some(mark))
}

/// Writes an audit row for a message that is read out. 403 where the actor may not read the message.
pub(crate) fn read_out(cx: &Change, message: &Message) -> Result<(), Failure> {
    refuse(denial_to_read(cx.tx, cx.rank, message)?)?;
    let detail = Detail::none().number("message_id", message.message_id);
    cx.record("message.read_out", &subject_of(message), &detail)
}

/// Why an actor may not send a message again, as the key of a text; `None` where the actor may. The rank of the
/// message's member decides.
pub(crate) fn denial_to_send(tx: &Read, rank: Rank, message: &Message) -> Result<Option<&'static str>, Failure> {
    let account = account_of(tx, message)?;
    Ok(account.and_then(|account| rank.denial(account.member_id, account.role)))
}

/// Why an actor may not read a message out, as [`denial_to_send`]. The desk may not read out a message that opens the
/// account of a colleague, and only an admin one that opens the account of a signer.
pub(crate) fn denial_to_read(tx: &Read, rank: Rank, message: &Message) -> Result<Option<&'static str>, Failure> {
    // An invited person has no account yet; the code in the mail creates one with a higher rank than the reader may
    // have.
    if rank != Rank::Owner && message.template == outbox::INVITATION {
        return Ok(Some("messages.staff_secret"));
    }
    let Some(account) = account_of(tx, message)? else { return Ok(None) };
    if rank != Rank::Owner && account.role.is_above_member() && message.opens_account() {
        return Ok(Some("messages.staff_secret"));
    }
    if !rank.is_admin() && message.opens_account() && signers::is_signer(tx, account.member_id)? {
        return Ok(Some("messages.signers_secret"));
    }
    Ok(rank.denial(account.member_id, account.role))
}

fn refuse(denial: Option<&'static str>) -> Result<(), Failure> {
    denial.map_or(Ok(()), |key| Err(Failure::not_allowed().saying(Text::new(key))))
}

/// The account of a message's member, if there is one.
fn account_of(tx: &Read, message: &Message) -> Result<Option<Account>, Failure> {
    let found = message.member_id.map(|member_id| members::find_account_by_id(tx, member_id)).transpose()?;
    Ok(found.flatten())
}

/// The subject of an audit row about a message: its member, or the site.
fn subject_of(message: &Message) -> Subject {
    message.member_id.map_or(Subject::Site, Subject::Member)
}
