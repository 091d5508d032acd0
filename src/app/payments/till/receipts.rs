//! The receipt of a fee, and of its undoing: its words, and sending it by mail.

use crate::app::{Change, language_on_paper};
use crate::auth::limits::messages::{self, Cause, Quota};
use crate::auth::passcode;
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::MemberId;
use crate::domain::payment::Price;
use crate::domain::when;
use crate::http::failure::Failure;
use crate::i18n::language::{Language, Text};
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::outbox::{self, Channel};
use crate::store::tables::till::{self, Line};
use crate::store::tables::tunnels;
use serde_json::json;

/// A receipt as text, in the language of the member where it is known.
#[derive(Debug)]
pub(crate) struct Receipt {
    pub(crate) language: Language,
    /// `30.00 CHF`.
    pub(crate) amount: String,
    pub(crate) kind: String,
    /// The last day of the membership; empty where the fee was undone.
    pub(crate) until: String,
    /// `21 Nov 2026, 14:05`.
    pub(crate) at: String,
}

/// Formats a receipt; `language` is used where the member's is not known.
pub(crate) fn word_receipt(site: &Site, tx: &Read, line: &Line, language: Language) -> Result<Receipt, Failure> {
    let language = line.member_id.map_or(Ok(language), |member_id| language_on_paper(site, tx, member_id, language))?;
    let zone = tunnels::find_time_zone(tx, site.tunnel_id)?;
    Ok(Receipt {
        language,
        amount: Price { cents: line.amount_cents, currency: line.currency.clone() }.in_words(language),
        kind: language.say(&Text::new(line.kind.key())),
        until: line.paid_until.map(|until| when::day(language, &zone, until)).unwrap_or_default(),
        at: when::moment(language, &zone, line.taken_at),
    })
}

/// Mails the receipt to the member; `false`: the member has no address. Audited. 404 where there is no such fee, or it
/// has no member; 403 where the actor may not serve the member; 429 where the member's message quota is used up.
pub(crate) fn mail_receipt(cx: &Change, entry_id: i64) -> Result<bool, Failure> {
    let line = till::find_line(cx.tx, entry_id)?.filter(|line| line.undoes.is_none()).ok_or_else(Failure::not_found)?;
    let member_id = line.member_id.ok_or_else(Failure::not_found)?;
    let email = cx.served(member_id)?.email.clone();
    if email.is_empty() {
        return Ok(false);
    }
    passcode::check_counted(cx.tx, post_receipt(cx, entry_id, member_id, &email)?)?;
    Ok(true)
}

/// Puts the receipt into the outbox, unless the member's message quota is used up.
pub(super) fn post_receipt(cx: &Change, entry_id: i64, member_id: MemberId, email: &str) -> Result<Quota, Failure> {
    let quota = messages::take(cx.site, cx.tx, Cause::Staff, member_id, Channel::Email, email)?;
    if !quota.is_counted() {
        return Ok(quota);
    }
    let line = till::find_line(cx.tx, entry_id)?.ok_or_else(Failure::not_found)?;
    let receipt = word_receipt(cx.site, cx.tx, &line, cx.language)?;
    let message = outbox::NewMessage {
        channel: Channel::Email,
        member_id: Some(member_id),
        recipient: email,
        language: receipt.language.tag(),
        template: if line.amount_cents == 0 { "receipt_free" } else { "receipt" },
        values: &json!({
            "number": entry_id, "name": line.member, "amount": receipt.amount, "kind": receipt.kind, "until": receipt.until,
            "day": receipt.at,
        }),
    };
    outbox::insert(cx.tx, &cx.site.keys, &message)?;
    cx.record("receipt.mailed", &Subject::Member(member_id), &Detail::none().number("entry_id", entry_id))?;
    Ok(quota)
}
