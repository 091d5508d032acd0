//! The till: taking and undoing a membership fee, the receipt, and closing the day.

pub(crate) mod drawer;
pub(crate) mod receipts;

use super::membership;
use crate::app::Change;
use crate::domain::audit::{Detail, Subject};
use crate::domain::ids::{MemberId, PaymentId};
use crate::domain::payment::{Decision, Price, Status, Weighted};
use crate::domain::till::{CLERK_UNDOES_SECONDS, Kind, SECOND_FEE_SECONDS, Sums};
use crate::http::failure::{Failure, Stop};
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::members;
use crate::store::tables::outbox::Channel;
use crate::store::tables::payments::{self, Account};
use crate::store::tables::till::{self, Closing, Entry};

/// A fee that a clerk takes.
#[derive(Debug)]
pub(crate) struct Fee<'a> {
    pub(crate) member_id: MemberId,
    pub(crate) kind: Kind,
    /// The number of a voucher, or why the year is free of charge; empty for other kinds.
    pub(crate) reason: &'a str,
    /// Identifies the form, so that a form that is sent twice takes one fee.
    pub(crate) form_number: i64,
    /// Until when the membership was paid on the page that the clerk saw; Unix seconds.
    pub(crate) seen_until: Option<Moment>,
    /// The fee on that page, like `80.00 CHF`: no other amount is taken.
    pub(crate) seen_price: &'a str,
    /// Whether the clerk was asked, and takes a second fee within a day.
    pub(crate) is_second: bool,
}

/// Why a fee is not taken or undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denial {
    /// The site charges no fee.
    NoFee,
    /// The settings name no currency for the fee.
    NoCurrency,
    /// Fees taken since the last closing are in another currency.
    OtherCurrency,
    Banned,
    VoucherMissing,
    /// The voucher paid before.
    VoucherUsed,
    ReasonMissing,
    /// The member paid a fee within a day: the clerk is asked.
    Second,
    /// The settings name another fee than the clerk saw.
    PriceChanged,
    /// The membership is paid until another day than the clerk saw: a colleague took the fee meanwhile.
    Changed,
    /// The closing has counted the cash.
    Closed,
    /// The drawer does not hold the cash that the undoing takes out of it.
    NotInDrawer,
}

impl Denial {
    /// The key of the denial's text.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Denial::NoFee => "till.no_fee",
            Denial::NoCurrency => "till.no_currency",
            Denial::OtherCurrency => "till.other_currency",
            Denial::Banned => "till.banned",
            Denial::VoucherMissing => "till.voucher_missing",
            Denial::VoucherUsed => "till.voucher_used",
            Denial::ReasonMissing => "till.reason_missing",
            Denial::Second => "till.second",
            Denial::PriceChanged => "till.price_changed",
            Denial::Changed => "till.changed",
            Denial::Closed => "till.move_closed",
            Denial::NotInDrawer => "till.undo_too_much",
        }
    }
}

/// A clerk's count at the end of a day. Amounts in the smallest unit of the currency.
#[derive(Debug)]
pub(crate) struct CashCount<'a> {
    /// The currency of the page on which the clerk typed the amounts.
    pub(crate) currency: &'a str,
    pub(crate) counted_cents: i64,
    /// The cash that stays in the drawer for the next day.
    pub(crate) left_cents: i64,
    pub(crate) note: &'a str,
    /// Identifies the form, so that a form that is sent twice closes one day.
    pub(crate) form_number: i64,
    /// The last closing and the last entry when the clerk opened the page; 0 where there was none.
    pub(crate) seen_closing: i64,
    pub(crate) seen_entry: i64,
}

/// Why a day is not closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ClosingDenial {
    /// A colleague closed the day meanwhile.
    ClosedBefore,
    /// A fee was taken or undone after the clerk opened the page.
    Changed,
    /// The till counts in another currency than the page that the clerk saw.
    CurrencyChanged,
    /// The amount that stays in the drawer exceeds the counted amount.
    LeftTooMuch,
    /// The counted cash differs from the expected cash, and the note does not say why.
    NoteMissing,
    NoCurrency,
}

impl ClosingDenial {
    /// The key of the denial's text.
    pub(crate) fn key(self) -> &'static str {
        match self {
            ClosingDenial::ClosedBefore => "till.closed_before",
            ClosingDenial::Changed => "till.moved",
            ClosingDenial::CurrencyChanged => "till.currency_changed",
            ClosingDenial::LeftTooMuch => "till.left_too_much",
            ClosingDenial::NoteMissing => "till.note_missing",
            ClosingDenial::NoCurrency => "till.no_currency",
        }
    }
}

/// The till since the last closing.
#[derive(Debug)]
pub(crate) struct Day {
    /// The last closing; 0 where there was none, and `closed_at` is `None`.
    pub(crate) closing_id: i64,
    pub(crate) closed_at: Option<Moment>,
    /// The last closed entry, and the last entry of all.
    pub(crate) from: i64,
    pub(crate) to: i64,
    /// The cash that lay in the drawer when the day began.
    pub(crate) float_cents: i64,
    /// Whether the opening float is still to be entered: no closing in this currency says what lay in the drawer.
    pub(crate) takes_float: bool,
    /// The currency of the entries; without entries that of the fee, otherwise that of the last closing.
    pub(crate) currency: Option<String>,
    pub(crate) sums: Sums,
}

impl Day {
    pub(crate) fn expected_cents(&self) -> i64 {
        self.float_cents + self.sums.of(Kind::Cash).cents + self.sums.moved_cents()
    }
}

/// The open day.
pub(crate) fn read_day(site: &Site, tx: &Read) -> Result<Day, Failure> {
    let last = till::find_last_closing(tx)?;
    let from = last.as_ref().map_or(0, |(_, closing)| closing.last_entry_id);
    let to = till::last(tx)?;
    let currency = match till::find_currency(tx, from)? {
        Some(currency) => Some(currency),
        None => site.fee(tx)?.currency.or(last.as_ref().map(|(_, closing)| closing.currency.clone())),
    };
    // Another currency lies in the same drawer until it is counted again.
    let kept = currency.as_deref().map(|currency| till::find_left(tx, currency)).transpose()?.flatten();
    let sums = till::sum(tx, from, to)?;
    let float = sums.of(Kind::Float);
    Ok(Day {
        closing_id: last.as_ref().map_or(0, |(closing_id, _)| *closing_id),
        closed_at: last.as_ref().map(|(_, closing)| closing.closed_at),
        from,
        to,
        float_cents: kept.unwrap_or_default() + float.cents,
        takes_float: kept.is_none() && float.taken == float.undone,
        currency,
        sums,
    })
}

/// A fee that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TakenFee {
    /// The till's entry, whose number is the receipt's.
    pub(crate) entry_id: i64,
    /// Whether the receipt is sent by mail.
    pub(crate) is_mailed: bool,
}

/// Takes a yearly fee of a member whom the actor may serve, and extends the membership by a year. The same form sent
/// again takes no second fee; with other content, or after the fee was undone, it is refused. A voucher pays once. The
/// receipt is mailed where the site delivers mail and the address is confirmed. Audited; the member is notified.
pub(crate) fn take_fee(cx: &Change, fee: &Fee) -> Result<TakenFee, Stop<Denial>> {
    cx.check_staff()?;
    let subject = cx.served(fee.member_id)?;
    let mails = subject.email_confirmed && !subject.email.is_empty() && cx.site.delivers(Channel::Email);
    if let Some(entry_id) = till::find_by_form(cx.tx, fee.form_number)? {
        let line = till::find_line(cx.tx, entry_id)?.filter(|line| line.undone_by.is_none());
        let sent = (Some(fee.member_id), fee.kind, fee.reason);
        let same = line.is_some_and(|line| (line.member_id, line.kind, &*line.reason) == sent);
        return if same { Ok(TakenFee { entry_id, is_mailed: mails }) } else { Err(Stop::Denied(Denial::Changed)) };
    }
    let day = read_day(cx.site, cx.tx)?;
    let price = price(cx, fee, &day)?;
    if subject.banned {
        return Err(Stop::Denied(Denial::Banned));
    }
    if members::find_paid_until(cx.tx, fee.member_id)?.flatten() != fee.seen_until {
        return Err(Stop::Denied(Denial::Changed));
    }
    if !fee.is_second && till::has_paid_since(cx.tx, fee.member_id, cx.now() - SECOND_FEE_SECONDS)? {
        return Err(Stop::Denied(Denial::Second));
    }
    let (intent_id, cents) = (format!("desk-{}", fee.form_number), price.cents);
    let currency = price.currency.clone();
    let mut account = Account::new(&intent_id);
    account.report.status = Status::Succeeded;
    account.report.price = Weighted { value: Some(price), ..Weighted::default() };
    (account.assigned_to, account.decision) = (Some(fee.member_id), Some(Decision::Counts));
    membership::apply(cx, &mut account)?;
    let payment_id = payments::find_number(cx.tx, &intent_id)?.ok_or_else(Failure::broken)?;
    let entry_id = till::insert(
        cx.tx,
        &Entry {
            payment_id: Some(payment_id),
            kind: fee.kind,
            amount_cents: cents,
            currency,
            reason: fee.reason.to_owned(),
            undoes: None,
            paid_until: account.grant.map(|grant| grant.until),
            taken_by: cx.member_id(),
            taken_at: moment(cx, &day),
            form_number: Some(fee.form_number),
            reviewed_by: None,
        },
    )?;
    let detail = Detail::none().number("entry_id", entry_id).word("kind", fee.kind.name());
    cx.record("payment.taken", &Subject::Member(fee.member_id), &detail.number("amount_cents", cents))?;
    // A member whose message quota is used up gets the receipt on paper.
    let is_mailed = mails && receipts::post_receipt(cx, entry_id, fee.member_id, &subject.email)?.is_counted();
    Ok(TakenFee { entry_id, is_mailed })
}

/// The price of the fee, or why it cannot be taken.
fn price(cx: &Change, fee: &Fee, day: &Day) -> Result<Price, Stop<Denial>> {
    let wanted = cx.site.fee(cx.tx)?;
    if wanted.cents == 0 {
        return Err(Stop::Denied(Denial::NoFee));
    }
    let Some(currency) = wanted.currency else { return Err(Stop::Denied(Denial::NoCurrency)) };
    if day.to > day.from && day.currency.as_ref() != Some(&currency) {
        return Err(Stop::Denied(Denial::OtherCurrency));
    }
    let price = Price { cents: wanted.cents, currency };
    if price.to_string() != fee.seen_price {
        return Err(Stop::Denied(Denial::PriceChanged));
    }
    match fee.kind {
        Kind::Voucher if fee.reason.is_empty() => Err(Stop::Denied(Denial::VoucherMissing)),
        Kind::Voucher if till::is_voucher_used(cx.tx, fee.reason)? => Err(Stop::Denied(Denial::VoucherUsed)),
        Kind::Free if fee.reason.is_empty() => Err(Stop::Denied(Denial::ReasonMissing)),
        Kind::Free => Ok(Price { cents: 0, ..price }),
        Kind::Cash | Kind::Terminal | Kind::Voucher => Ok(price),
        Kind::Float | Kind::CashIn | Kind::CashOut => Err(Failure::broken().into()),
    }
}

/// The moment of a new entry: never before the last closing, even where the clock was set back.
fn moment(cx: &Change, day: &Day) -> Moment {
    day.closed_at.map_or(cx.now(), |closed_at| cx.now().max(closed_at))
}

/// The moment until which a clerk undoes a fee or a movement of cash without an admin: the last of its kind that the same clerk
/// made, minutes ago, on the day that is open. `None`: not at all.
pub(crate) fn own_undo_ends(
    tx: &Read,
    clerk_id: MemberId,
    entry_id: i64,
    entry: &Entry,
    now: Moment,
) -> Result<Option<Moment>, Failure> {
    let closed = till::find_last_closing(tx)?.map_or(0, |(_, closing)| closing.last_entry_id);
    let ends = entry.taken_at + CLERK_UNDOES_SECONDS;
    let is_open = entry.taken_by == Some(clerk_id) && entry_id > closed && now < ends;
    Ok((is_open && till::find_last_of(tx, clerk_id, entry.payment_id.is_some())? == Some(entry_id)).then_some(ends))
}

/// Undoes an entry of the till. A fee: the year that it granted is taken back, and the member is notified. Cash that was moved:
/// before the closing, which has counted it. An admin undoes any, a clerk the own last one within minutes and before the closing, else
/// 403. A second call changes nothing. Audited. 404 where there is no such entry. Returns the number of the entry that undoes it.
pub(crate) fn undo_entry(cx: &Change, entry_id: i64, reason: &str) -> Result<i64, Stop<Denial>> {
    cx.check_staff()?;
    let entry = till::find(cx.tx, entry_id)?.filter(|entry| entry.undoes.is_none()).ok_or_else(Failure::not_found)?;
    let (undo, is_admin) = (till::find_undo(cx.tx, entry_id)?, cx.check_admin().is_ok());
    let clerk_id = cx.member_id().unwrap_or_default();
    if !is_admin && own_undo_ends(cx.tx, clerk_id, entry_id, &entry, cx.now())?.is_none() {
        return Err(Failure::not_allowed().saying(Text::new("till.undo_admin")).into());
    }
    if let Some(undo) = undo {
        return Ok(undo);
    }
    if reason.is_empty() {
        return Err(Stop::Denied(Denial::ReasonMissing));
    }
    let day = read_day(cx.site, cx.tx)?;
    if day.to > day.from && day.currency.as_ref() != Some(&entry.currency) {
        return Err(Stop::Denied(Denial::OtherCurrency));
    }
    let subject = match entry.payment_id {
        Some(payment_id) => take_year_back(cx, payment_id, entry.amount_cents)?,
        None if entry_id <= day.from => return Err(Stop::Denied(Denial::Closed)),
        None => Subject::Site,
    };
    if entry.kind.is_in_drawer() && entry.amount_cents > cash_in(cx.tx, &day, &entry.currency)? {
        return Err(Stop::Denied(Denial::NotInDrawer));
    }
    let (kind, cents) = (entry.kind, -entry.amount_cents);
    let undo = till::insert(
        cx.tx,
        &Entry {
            amount_cents: cents,
            reason: reason.to_owned(),
            undoes: Some(entry_id),
            paid_until: None,
            taken_by: cx.member_id(),
            taken_at: moment(cx, &day),
            form_number: None,
            // What a clerk undid waits until an admin has seen it.
            reviewed_by: cx.member_id().filter(|_| is_admin),
            ..entry
        },
    )?;
    let action = if entry.payment_id.is_some() { "payment.undone" } else { "till.move_undone" };
    let detail = Detail::none().number("entry_id", undo).number("undoes", entry_id).word("kind", kind.name());
    cx.record(action, &subject, &detail.number("amount_cents", cents))?;
    Ok(undo)
}

/// The cash of a currency in the drawer.
fn cash_in(tx: &Read, day: &Day, currency: &str) -> Result<i64, Failure> {
    if day.currency.as_deref() == Some(currency) {
        return Ok(day.expected_cents());
    }
    Ok(till::find_left(tx, currency)?.unwrap_or_default())
}

/// Takes back the year that a fee granted. Returns whose fee it was.
fn take_year_back(cx: &Change, payment_id: PaymentId, cents: i64) -> Result<Subject, Failure> {
    let mut account = payments::find_by_number(cx.tx, payment_id)?.ok_or_else(Failure::broken)?;
    if let Some(member_id) = account.member_id {
        cx.served(member_id)?;
    }
    (account.report.status, account.refunded_cents) = (Status::Refunded, Some(cents));
    membership::apply(cx, &mut account)?;
    Ok(account.member_id.map_or(Subject::Payment(payment_id), Subject::Member))
}

/// Closes the day: everything since the last closing is summed, and no longer changes. The same form sent again makes
/// no second closing; with another count it is refused. Audited. Returns the number of the closing.
pub(crate) fn close_day(cx: &Change, count: &CashCount) -> Result<i64, Stop<ClosingDenial>> {
    cx.check_staff()?;
    if let Some(closing_id) = till::find_closing_by_form(cx.tx, count.form_number)? {
        let one = till::find_closing(cx.tx, closing_id)?.ok_or_else(Failure::not_found)?;
        let sent = (count.counted_cents, count.left_cents, count.note);
        let is_same = (one.counted_cents, one.left_cents, &*one.note) == sent;
        return if is_same { Ok(closing_id) } else { Err(Stop::Denied(ClosingDenial::ClosedBefore)) };
    }
    let day = read_day(cx.site, cx.tx)?;
    let closing = judge(cx, count, &day).map_err(Stop::Denied)?;
    let closing_id = till::insert_closing(cx.tx, &closing)?;
    let detail = Detail::none().number("closing_id", closing_id).number("counted_cents", closing.counted_cents);
    cx.record("till.closed", &Subject::Site, &detail.number("difference_cents", closing.difference_cents()))?;
    Ok(closing_id)
}

/// The closing of the day, or why it cannot be closed.
fn judge(cx: &Change, count: &CashCount, day: &Day) -> Result<Closing, ClosingDenial> {
    if day.closing_id != count.seen_closing {
        return Err(ClosingDenial::ClosedBefore);
    }
    if day.to != count.seen_entry {
        return Err(ClosingDenial::Changed);
    }
    let currency = day.currency.clone().ok_or(ClosingDenial::NoCurrency)?;
    if currency != count.currency {
        return Err(ClosingDenial::CurrencyChanged);
    }
    if count.left_cents > count.counted_cents {
        return Err(ClosingDenial::LeftTooMuch);
    }
    if count.counted_cents != day.expected_cents() && count.note.is_empty() {
        return Err(ClosingDenial::NoteMissing);
    }
    Ok(Closing {
        last_entry_id: day.to,
        currency,
        float_cents: day.float_cents,
        cash_cents: day.sums.of(Kind::Cash).cents,
        moved_cents: day.sums.moved_cents(),
        terminal_cents: day.sums.of(Kind::Terminal).cents,
        voucher_cents: day.sums.of(Kind::Voucher).cents,
        counted_cents: count.counted_cents,
        left_cents: count.left_cents,
        note: count.note.to_owned(),
        closed_by: cx.member_id(),
        closed_at: moment(cx, day),
        form_number: count.form_number,
    })
}

#[cfg(test)]
mod tests;
