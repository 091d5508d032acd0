//! Settings that admins change in pages: each change is a row, is audited, and is undone by another. What could divert codes
//! or links is told to every admin.

use super::{Change, notice};
use crate::config::desk::{self, CURRENCY, DeskSetting, FEE, Input};
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::ChangeId;
use crate::domain::payment::Price;
use crate::http::failure::{Failure, Stop};
use crate::site::{Site, live};
use crate::store::Read;
use crate::store::tables::settings;

/// The notice to every admin about a change of mail, SMS or addresses.
const WARNING: &str = "notice.settings_changed";

/// A setting with the value that it gets; `None`: the default.
pub(crate) type NewValue = (&'static DeskSetting, Option<String>);

/// Why settings stay as they are: one line a mistake.
pub(crate) type Mistakes = Vec<String>;

/// Sets values that differ from those in force. All are checked together; with a mistake none is set. Audited. 403 unless the
/// actor is an admin, and for mail, SMS and addresses also without a proof of identity since the sign-in. After the commit [`Site::load_settings`] puts them in force.
pub(crate) fn set(cx: &Change, values: &[NewValue]) -> Result<(), Stop<Mistakes>> {
    cx.check_admin()?;
    let before = live::read(&cx.site.keys, cx.tx)?;
    let mut after = before.clone();
    let mut changed = Vec::new();
    // The currency first: an amount is in the one before it in the table.
    let order = |(setting, _): &&NewValue| setting.input == Input::Money;
    let (amounts, others): (Vec<&NewValue>, Vec<&NewValue>) = values.iter().partition(order);
    for (setting, value) in others.into_iter().chain(amounts) {
        let known = before.iter().find(|(key, _)| key == setting.key).map(|(_, value)| value);
        // The same number in another currency is another amount.
        let is_same = known == value.as_ref() && (setting.input != Input::Money || !renames_currency(&changed));
        if is_same || cx.site.config.fixed_by(setting.key).is_some() {
            continue;
        }
        after.retain(|(key, _)| key != setting.key);
        after.extend(value.clone().map(|value| (setting.key.to_owned(), value)));
        changed.push((*setting, value));
    }
    cx.site.config.start().with_desk(&after).map_err(Stop::Denied)?;
    let is_guarded = changed.iter().any(|(setting, _)| setting.group.is_guarded());
    if is_guarded {
        cx.check_proven_anew()?;
    }
    for (setting, value) in &changed {
        let change_id = settings::insert(cx.tx, &cx.site.keys, setting.key, value.as_deref(), cx.member_id())?;
        let detail = Detail::none().number("change_id", change_id).word("key", setting.key);
        cx.record("setting.changed", &Subject::Site, &detail)?;
    }
    if is_guarded {
        notice::tell_admins(cx, WARNING)?;
    }
    Ok(())
}

fn renames_currency(changed: &[(&DeskSetting, &Option<String>)]) -> bool {
    changed.iter().any(|(setting, _)| setting.key == CURRENCY)
}

/// Why a change is not undone.
pub(crate) enum NotUndone {
    /// A later change of the same setting stands, or the pages do not change the setting any more.
    ChangedSince,
    Mistakes(Mistakes),
    /// Alone it would make a fee that nobody entered. The amount and the currency that belong together from before it.
    Fee(Price),
}

/// Sets the value from before a change, as [`set`] does.
pub(crate) fn undo(cx: &Change, change_id: ChangeId) -> Result<(), Stop<NotUndone>> {
    cx.check_admin()?;
    let change = settings::find(cx.tx, change_id)?.ok_or_else(Failure::not_found)?;
    let Some(setting) = desk::find(&change.key).filter(|_| change.is_last) else {
        return Err(Stop::Denied(NotUndone::ChangedSince));
    };
    if [FEE, CURRENCY].contains(&setting.key)
        && let Some(price) = fee_apart(cx, &change)?
    {
        return Err(Stop::Denied(NotUndone::Fee(price)));
    }
    let before = settings::find_before(cx.tx, change_id, setting.key)?;
    let mut values = vec![(setting, before.and_then(|before| before.value(&cx.site.keys)))];
    if let Some(fee) = desk::find(FEE).filter(|_| setting.key == CURRENCY) {
        // The amount stays, and is one of the other currency from now on.
        let set = live::read(&cx.site.keys, cx.tx)?.into_iter().find(|(key, _)| key == FEE);
        values.push((fee, set.map(|(_, amount)| amount)));
    }
    set(cx, &values).map_err(|stop| stop.map(NotUndone::Mistakes))
}

/// The fee before a change of its amount or its currency, where undoing that change alone would make another. `None`: it would not.
fn fee_apart(cx: &Change, change: &settings::Change) -> Result<Option<Price>, Failure> {
    let (site, tx) = (cx.site, cx.tx);
    let amount_of = |row: Option<&settings::Change>| {
        let set = row.and_then(|row| row.value(&site.keys));
        set.unwrap_or_else(|| site.config.start().text_at_start(FEE)).parse().unwrap_or(0)
    };
    let fee = settings::find_before(tx, change.change_id, FEE)?;
    let entered = fee.as_ref().map(|fee| fee.change_id).unwrap_or_default();
    let then = Price {
        cents: amount_of(fee.as_ref()),
        currency: currency_at(site, tx, if change.key == FEE { entered } else { change.change_id })?,
    };
    let now = site.fee(tx)?;
    let (cents, currency) = match change.key.as_str() {
        FEE => (then.cents, now.currency.unwrap_or_default()),
        _ => (now.cents, then.currency.clone()),
    };
    Ok((cents != 0 && (cents, &*currency) != (then.cents, &*then.currency)).then_some(then))
}

/// The currency of the fee before a change; empty where it was not known.
pub(crate) fn currency_at(site: &Site, tx: &Read, change_id: ChangeId) -> Result<String, Failure> {
    let set = settings::find_before(tx, change_id, CURRENCY)?.and_then(|row| row.value(&site.keys));
    let named = set.filter(|_| site.config.fixed_by(CURRENCY).is_none());
    let named = named.unwrap_or_else(|| site.config.start().text_at_start(CURRENCY)).trim().to_ascii_uppercase();
    Ok(site.currency(tx, Some(&*named).filter(|named| !named.is_empty()))?.unwrap_or_default())
}
