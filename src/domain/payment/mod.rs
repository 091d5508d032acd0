//! The state of a payment by the events of its processor. Events arrive at least once and in any order. Each event has a
//! weight, and a lighter event never replaces a heavier one, so the same events give the same state in every order.

use super::local_time::TimeZone;
use crate::domain::ids::MemberId;
use crate::i18n::language::Language;
use crate::i18n::number::grouped;
use crate::moment::Moment;
use iso_currency::Currency;

/// The state of a payment; a later value outranks an earlier one. `Failed` can be followed by success, because a member
/// whose card was refused may try another card on the same payment. A received payment outranks every refusal, and a
/// refund outranks a received payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Status {
    /// An app claims the payment, and the processor has not reported it.
    Claimed,
    Created,
    Processing,
    Failed,
    Canceled,
    Succeeded,
    Refunded,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Price {
    /// In the smallest unit of the currency.
    pub cents: i64,
    /// ISO 4217, upper case.
    pub currency: String,
}

/// The price of a year of membership.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fee {
    /// In the smallest unit of the currency; 0: the site charges no fee, and any payment is accepted.
    pub cents: i64,
    /// ISO 4217, upper case; `None`: the settings name none, and the site's country does not have exactly one.
    pub currency: Option<String>,
}

/// The reason why a payment waits for a decision of the desk before it extends a membership.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Issue {
    /// The fee was paid, but the member is unknown.
    Unmatched,
    /// The apps of two members claim the payment, and the processor names no member.
    DoublyClaimed,
    /// The processor reported no amount.
    Unpriced,
    /// The site charges a fee whose currency is unknown.
    FeeUnknown,
    OtherCurrency,
    Underpaid,
    /// Less than the fee remains; the membership stays extended until the desk decides.
    PartlyRefunded,
}

/// The decision of the desk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    /// The payment extends the membership, whatever its amount.
    Counts,
    /// The payment extends no membership.
    Void,
}

/// A value with the weight of the event that gave it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Weighted<T> {
    /// Empty: no event gave the value yet.
    pub weight: String,
    pub value: T,
}

/// One event of the processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    /// The unique id of the event.
    pub key: String,
    /// The processor's moment, in Unix seconds; 0 where there is none.
    pub at: Moment,
    pub status: Status,
    pub price: Option<Price>,
    /// The member who paid, where the event names one.
    pub member_id: Option<MemberId>,
}

/// The state of a payment by the processor's events.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ProcessorReport {
    pub status: Status,
    pub price: Weighted<Option<Price>>,
    pub member_id: Weighted<Option<MemberId>>,
}

impl Status {
    pub(crate) const ALL: [Status; 7] = [
        Status::Claimed,
        Status::Created,
        Status::Processing,
        Status::Failed,
        Status::Canceled,
        Status::Succeeded,
        Status::Refunded,
    ];

    /// The status that an event of this type reports; `None` for types that do not change a payment.
    pub(crate) fn of_event(event: &str) -> Option<Status> {
        match event {
            "payment_intent.created" => Some(Status::Created),
            "payment_intent.processing" => Some(Status::Processing),
            "payment_intent.succeeded" => Some(Status::Succeeded),
            "payment_intent.payment_failed" => Some(Status::Failed),
            "payment_intent.canceled" => Some(Status::Canceled),
            "charge.refunded" => Some(Status::Refunded),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        ["claimed", "created", "processing", "failed", "canceled", "succeeded", "refunded"][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<Status> {
        Status::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl Fee {
    /// Checks whether the price pays a year.
    ///
    /// # Errors
    ///
    /// The issue that the desk must decide.
    pub(crate) fn paid_by(&self, price: Option<&Price>) -> Result<(), Issue> {
        if self.cents == 0 {
            return Ok(());
        }
        let price = price.ok_or(Issue::Unpriced)?;
        match &self.currency {
            None => Err(Issue::FeeUnknown),
            Some(currency) if *currency != price.currency => Err(Issue::OtherCurrency),
            Some(_) if price.cents < self.cents => Err(Issue::Underpaid),
            Some(_) => Ok(()),
        }
    }
}

impl Issue {
    pub(crate) const ALL: [Issue; 7] = [
        Issue::Unmatched,
        Issue::DoublyClaimed,
        Issue::Unpriced,
        Issue::FeeUnknown,
        Issue::OtherCurrency,
        Issue::Underpaid,
        Issue::PartlyRefunded,
    ];

    pub(crate) fn name(self) -> &'static str {
        ["unmatched", "doubly_claimed", "unpriced", "fee_unknown", "other_currency", "underpaid", "partly_refunded"]
            [self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<Issue> {
        Issue::ALL.into_iter().find(|issue| issue.name() == name)
    }
}

impl Decision {
    pub(crate) fn name(self) -> &'static str {
        ["counts", "void"][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<Decision> {
        [Decision::Counts, Decision::Void].into_iter().find(|decision| decision.name() == name)
    }
}

/// The currency of a country (ISO 3166-1 alpha-2); `None` where the country has several, or does not exist.
pub(crate) fn currency_of(country: &str) -> Option<String> {
    let used = Currency::from_country(country.parse().ok()?);
    let mut coined =
        used.into_iter().filter(|one| !one.is_fund() && !one.is_special() && one.is_superseded().is_none());
    coined.next().filter(|_| coined.next().is_none()).map(|one| one.code().to_owned())
}

impl Event {
    /// The weight of the event, which compares as text: by status, then by the processor's moment, then by key, so that
    /// two events never have equal weights.
    fn weight(&self) -> String {
        format!("{}.{:012}.{}", self.status as u8, self.at.0.clamp(0, 999_999_999_999), self.key)
    }
}

impl ProcessorReport {
    /// The state before the first event.
    pub(crate) fn empty() -> ProcessorReport {
        ProcessorReport { status: Status::Claimed, price: Weighted::default(), member_id: Weighted::default() }
    }

    /// Applies one event. For each value, the heaviest event that has it wins.
    pub(crate) fn apply(&mut self, event: &Event) {
        let weight = event.weight();
        self.status = self.status.max(event.status);
        if let Some(price) = event.price.as_ref().filter(|_| weight > self.price.weight) {
            self.price = Weighted { weight: weight.clone(), value: Some(price.clone()) };
        }
        if event.member_id.is_some() && weight > self.member_id.weight {
            self.member_id = Weighted { weight, value: event.member_id };
        }
    }
}

/// The last second of the same day of the next year by the site's clock; of 28 February after a 29 February.
pub(crate) fn a_year_after(zone: &TimeZone, moment: Moment) -> Moment {
    years_after(zone, moment, 1)
}

fn years_after(zone: &TimeZone, moment: Moment, years: i64) -> Moment {
    zone.end_of_day_years_later(moment, years).unwrap_or(moment)
}

/// The end of a membership after the year that ended at `granted_until` is taken back. If that was the last year, the
/// end is `before` again; otherwise the later years move back by one calendar year.
pub(crate) fn without_year(
    zone: &TimeZone,
    paid_until: Option<Moment>,
    granted_until: Moment,
    before: Option<Moment>,
) -> Option<Moment> {
    if paid_until == Some(granted_until) { before } else { Some(years_after(zone, paid_until?, -1)) }
}

/// The number of decimals of an amount in this currency (ISO 4217, upper case): that of ISO 4217, or where the processor counts in
/// other units than ISO, that of the processor. 2 for a code that is none.
pub(crate) fn decimals(currency: &str) -> usize {
    match currency {
        "MGA" => 0,
        "ISK" => 2,
        _ => Currency::from_code(currency).and_then(Currency::exponent).map_or(2, usize::from),
    }
}

/// The currency of this code in upper or lower case, if it is money that people pay with: no metal, fund or placeholder.
pub(crate) fn money_of(code: &str) -> Option<String> {
    let known = Currency::from_code(&code.to_ascii_uppercase())?;
    (!known.is_special() && !known.is_fund()).then(|| known.code().to_owned())
}

impl Price {
    /// As the language writes an amount: `1,234.05 CHF`, `1.234,05 CHF`.
    pub(crate) fn in_words(&self, language: Language) -> String {
        let plain = self.to_string();
        let (number, currency) = plain.split_once(' ').unwrap_or((&plain, ""));
        let (sign, number) = number.strip_prefix('-').map_or(("", number), |number| ("-", number));
        let (whole, cents) = number.split_once('.').unwrap_or((number, ""));
        let whole = whole.parse().map_or_else(|_| whole.to_owned(), |whole| grouped(language, whole));
        let point = match (cents, language) {
            ("", _) => "",
            (_, Language::English) => ".",
            _ => ",",
        };
        format!("{sign}{whole}{point}{cents} {currency}")
    }
}

impl std::fmt::Display for Price {
    /// An amount with its currency, for machines: `30.00 CHF`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let decimals = decimals(&self.currency);
        if decimals == 0 {
            return write!(f, "{} {}", self.cents, self.currency);
        }
        let (sign, cents) = (if self.cents < 0 { "-" } else { "" }, self.cents.unsigned_abs());
        let unit = 10_u64.pow(decimals as u32);
        write!(f, "{sign}{}.{:0decimals$} {}", cents / unit, cents % unit, self.currency)
    }
}

#[cfg(test)]
mod tests;
