//! Tests of the state of a payment, of years of membership, and of fees.

use super::*;
use crate::domain::ids::MemberId;
use crate::moment::Moment;
use proptest::prelude::*;

fn event(key: usize, status: Status) -> Event {
    Event { key: format!("evt_{key}"), at: Moment(0), status, price: None, member_id: None }
}

fn after(statuses: &[Status]) -> Status {
    let mut report = ProcessorReport::empty();
    statuses.iter().enumerate().for_each(|(key, status)| report.apply(&event(key, *status)));
    report.status
}

#[test]
fn a_payment_goes_forward_and_a_late_event_never_takes_it_back() {
    use Status::*;
    assert_eq!(after(&[]), Claimed);
    assert_eq!(after(&[Created, Processing, Succeeded]), Succeeded);
    for (events, status) in [
        (&[Succeeded, Created][..], Succeeded),
        (&[Succeeded, Processing, Failed, Canceled], Succeeded),
        (&[Failed, Processing], Failed),
        (&[Canceled, Created, Failed], Canceled),
        (&[Failed, Processing, Succeeded], Succeeded),
        (&[Refunded, Succeeded], Refunded),
        (&[Refunded], Refunded),
    ] {
        assert_eq!(after(events), status, "{events:?}");
    }
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let price = proptest::option::of((0..5_i64).prop_map(|cents| Price { cents, currency: "CHF".to_owned() }));
    let one = (1..Status::ALL.len(), 0..3_i64, price, proptest::option::of((1..4_i64).prop_map(MemberId)));
    proptest::collection::vec(one, 0..8).prop_map(|all| {
        let event = |(key, (status, at, price, member_id)): (usize, (usize, i64, Option<Price>, Option<MemberId>))| {
            Event { key: format!("evt_{key}"), at: Moment(at), status: Status::ALL[status], price, member_id }
        };
        all.into_iter().enumerate().map(event).collect()
    })
}

proptest! {
    #[test]
    fn any_order_and_repetition_of_the_same_events_ends_in_the_same_payment(
        (events, order) in events().prop_flat_map(|events| {
            let places = events.len().max(1);
            (Just(events), proptest::collection::vec(0..places, 0..40))
        })
    ) {
        let mut straight = ProcessorReport::empty();
        events.iter().for_each(|event| straight.apply(event));
        let mut shuffled = ProcessorReport::empty();
        // Some events repeatedly in any order, then each event in reverse order, so that none is missing.
        order.iter().filter_map(|place| events.get(*place)).for_each(|event| shuffled.apply(event));
        events.iter().rev().for_each(|event| shuffled.apply(event));
        prop_assert_eq!(straight, shuffled);
    }
}

#[test]
fn a_year_is_a_year_of_the_calendar() {
    let (new_year, leap_day) = (1_767_225_600, 1_835_395_200);
    let a_year_after = |moment| a_year_after(&TimeZone::UTC, moment);
    // To the last second of the day.
    assert_eq!(a_year_after(Moment(new_year)) - new_year, Moment(366 * 86_400 - 1));
    assert_eq!(a_year_after(Moment(leap_day)) - leap_day, Moment(366 * 86_400 - 1), "28 February 2029");
    assert_eq!(a_year_after(Moment::LAST), Moment::LAST);
}

#[test]
fn a_year_ends_on_the_same_day_of_the_clock_of_the_site() {
    let at = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_second();
    for (zone, from, until) in [
        // 1 March there, and 29 February in UTC.
        ("Pacific/Kiritimati", "2028-02-29T10:00:00Z", "2029-03-01T10:00:00Z"),
        // 29 February there, and 1 March in UTC.
        ("Pacific/Pago_Pago", "2028-03-01T05:00:00Z", "2029-03-01T11:00:00Z"),
        // Half past midnight there, in summer time, and a year later before it. Each day ends a second earlier.
        ("America/New_York", "2026-03-09T04:30:00Z", "2027-03-10T05:00:00Z"),
    ] {
        assert_eq!(
            a_year_after(&TimeZone::named(zone), Moment(at(from))),
            Moment(at(until) - 1),
            "{zone}: from {from}"
        );
    }
}

#[test]
fn what_is_taken_back_is_what_was_given() {
    let a_year_after = |moment| a_year_after(&TimeZone::UTC, moment);
    let without_year = |until, granted, before| without_year(&TimeZone::UTC, until, granted, before);
    let (may_2027, may_2028) = (a_year_after(Moment(1_780_000_000)), a_year_after(a_year_after(Moment(1_780_000_000))));
    assert_eq!(without_year(Some(may_2027), may_2027, None), None);
    assert_eq!(without_year(Some(may_2027), may_2027, Some(Moment(5))), Some(Moment(5)));
    assert_eq!(without_year(Some(may_2028), may_2027, None), Some(may_2027), "another year came after it and stays");
    assert_eq!(without_year(None, may_2027, Some(Moment(5))), None, "the desk took it off already");
}

#[test]
fn a_fee_is_paid_by_enough_of_its_own_currency() {
    let fee = |currency: Option<&str>| Fee { cents: 3000, currency: currency.map(str::to_owned) };
    let price = |cents, currency: &str| Some(Price { cents, currency: currency.to_owned() });
    let paid = |fee: Fee, price: Option<Price>| fee.paid_by(price.as_ref());
    for enough in [3000, 3001] {
        assert_eq!(paid(fee(Some("CHF")), price(enough, "CHF")), Ok(()));
    }
    assert_eq!(paid(fee(Some("CHF")), price(2999, "CHF")), Err(Issue::Underpaid));
    assert_eq!(paid(fee(Some("CHF")), price(3000, "JPY")), Err(Issue::OtherCurrency));
    assert_eq!(paid(fee(None), price(3000, "CHF")), Err(Issue::FeeUnknown));
    assert_eq!(paid(fee(Some("CHF")), None), Err(Issue::Unpriced));
    assert_eq!(paid(Fee { cents: 0, currency: None }, None), Ok(()));
    assert_eq!(Issue::ALL.map(|one| Issue::parse(one.name())), Issue::ALL.map(Some));
}

#[test]
fn a_country_has_one_currency_or_says_nothing() {
    for (country, currency) in
        [("CH", "CHF"), ("DE", "EUR"), ("HR", "EUR"), ("US", "USD"), ("AE", "AED"), ("BG", "EUR")]
    {
        assert_eq!(currency_of(country).as_deref(), Some(currency), "{country}");
    }
    assert_eq!((currency_of("PA"), currency_of("XX"), currency_of("")), (None, None, None));
}

#[test]
fn a_price_is_written_as_people_write_it() {
    let shown = |cents, currency: &str| Price { cents, currency: currency.to_owned() }.to_string();
    assert_eq!((shown(3005, "CHF"), shown(500, "JPY")), ("30.05 CHF".to_owned(), "500 JPY".to_owned()));
    assert_eq!((shown(5_000, "KWD"), shown(-5, "BHD")), ("5.000 KWD".to_owned(), "-0.005 BHD".to_owned()));
    let said = Price { cents: 1_234_567, currency: "TND".to_owned() };
    assert_eq!(
        (said.in_words(Language::English), said.in_words(Language::French)),
        ("1,234.567 TND".to_owned(), "1\u{202f}234,567 TND".to_owned())
    );
}

#[test]
fn an_amount_has_the_decimals_of_iso_4217_and_is_typed_as_it_is_shown() {
    for (currency, expected) in [
        ("JPY", 0),
        ("KRW", 0),
        ("UGX", 0),
        ("XOF", 0),
        ("CHF", 2),
        ("EUR", 2),
        ("HUF", 2),
        ("KWD", 3),
        ("BHD", 3),
        ("OMR", 3),
        ("JOD", 3),
        ("TND", 3),
        ("IQD", 3),
        ("LYD", 3),
        // The processor counts the one in whole units, the other in hundredths.
        ("MGA", 0),
        ("ISK", 2),
    ] {
        assert_eq!(decimals(currency), expected, "{currency}");
        for cents in [0, 5, 12_345, 999_999] {
            let shown = Price { cents, currency: currency.to_owned() }.to_string();
            let amount = shown.strip_suffix(&format!(" {currency}")).expect("the currency");
            assert_eq!(crate::domain::till::parse_amount(amount, currency), Some(cents), "{shown}");
        }
    }
}

#[test]
fn a_fee_is_of_money_and_not_of_a_metal() {
    for money in ["CHF", "eur", "KWD", "XAF", "XOF", "XPF", "XCD"] {
        assert_eq!(money_of(money), Some(money.to_ascii_uppercase()));
    }
    for none in ["XXX", "XTS", "XAU", "XAG", "XPT", "XPD", "XDR", "CHE", "CLF", "FRANCS", ""] {
        assert_eq!(money_of(none), None, "{none}");
    }
}
