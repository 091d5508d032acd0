//! The till: kinds of payment at the desk, the sums of a day's entries, and the cash expected in the drawer. Amounts
//! are in the smallest unit of a currency.

use super::payment::{Price, decimals};
use super::unicode::in_usual_width;
use crate::i18n::language::Language;

/// Whoever paid a fee so recently pays no second one without a question.
pub(crate) const SECOND_FEE_SECONDS: i64 = 86_400;

/// How long a clerk may undo the last fee that the same clerk took, without an admin.
pub(crate) const CLERK_UNDOES_SECONDS: i64 = 600;

/// How a membership fee is paid at the desk, or how cash moves without one. Card data never reaches this server: it stays in the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Kind {
    #[default]
    Cash,
    /// Paid by card, at a separate terminal.
    Terminal,
    /// Paid by a voucher, whose number is stored.
    Voucher,
    /// Free of charge, with a reason.
    Free,
    /// The cash in the drawer before the first payment of all.
    Float,
    /// Cash that is put into the drawer, with a reason.
    CashIn,
    /// Cash that is taken out of the drawer, with a reason.
    CashOut,
}

impl Kind {
    pub(crate) const FEES: [Kind; 4] = [Kind::Cash, Kind::Terminal, Kind::Voucher, Kind::Free];
    pub(crate) const MOVEMENTS: [Kind; 3] = [Kind::Float, Kind::CashIn, Kind::CashOut];
    const ALL: [Kind; 7] =
        [Kind::Cash, Kind::Terminal, Kind::Voucher, Kind::Free, Kind::Float, Kind::CashIn, Kind::CashOut];

    pub(crate) fn name(self) -> &'static str {
        ["cash", "terminal", "voucher", "free", "float", "in", "out"][self as usize]
    }

    pub(crate) fn parse(name: &str) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether an entry of this kind is of cash in the drawer.
    pub(crate) fn is_in_drawer(self) -> bool {
        matches!(self, Kind::Cash | Kind::Float | Kind::CashIn | Kind::CashOut)
    }

    /// The key of the kind's text.
    pub(crate) fn key(self) -> &'static str {
        ["till.cash", "till.terminal", "till.voucher", "till.free", "till.kind_float", "till.kind_in", "till.kind_out"]
            [self as usize]
    }
}

/// Whether two numbers are of one voucher: capitals, blanks and what stands between its groups do not matter.
pub(crate) fn is_same_voucher(one: &str, other: &str) -> bool {
    let plain = |number: &str| -> String {
        in_usual_width(number).chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    one == other || (plain(one) == plain(other) && !plain(one).is_empty())
}

/// The sum of entries of one kind over a span of time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sum {
    /// The number of fees taken or movements made, and of fees undone.
    pub(crate) taken: i64,
    pub(crate) undone: i64,
    /// The amount taken less the amount undone.
    pub(crate) cents: i64,
}

/// The sums of entries over a span of time, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sums([Sum; Kind::ALL.len()]);

impl Sums {
    /// Adds an entry.
    pub(crate) fn add(&mut self, kind: Kind, cents: i64, is_undo: bool) {
        let sum = &mut self.0[kind as usize];
        if is_undo {
            sum.undone += 1;
        } else {
            sum.taken += 1;
        }
        sum.cents += cents;
    }

    pub(crate) fn of(&self, kind: Kind) -> Sum {
        self.0[kind as usize]
    }

    /// The sum over every fee.
    pub(crate) fn total(&self) -> Sum {
        Kind::FEES.into_iter().map(|kind| self.of(kind)).fold(Sum::default(), |all, one| Sum {
            taken: all.taken + one.taken,
            undone: all.undone + one.undone,
            cents: all.cents + one.cents,
        })
    }

    /// The cash put into the drawer without a fee since it was opened, less the cash taken out.
    pub(crate) fn moved_cents(&self) -> i64 {
        self.of(Kind::CashIn).cents + self.of(Kind::CashOut).cents
    }

    /// The number of entries.
    pub(crate) fn count(&self) -> i64 {
        self.0.iter().map(|sum| sum.taken + sum.undone).sum()
    }
}

/// Parses a typed amount: `1'234.50`, `1,234.50`, `1.234,50`, `1234,5` or `1234`. `None` where the text is not an amount of
/// the currency (ISO 4217, upper case), or is negative. The last point or comma begins the decimals, where the currency has
/// any: `1.234` is none.
pub(crate) fn parse_amount(typed: &str, currency: &str) -> Option<i64> {
    let decimals = decimals(currency);
    let plain: String =
        typed.chars().filter(|c| !matches!(c, ' ' | '\'' | '\u{2019}' | '\u{a0}' | '\u{202f}')).collect();
    let point = plain.rfind(['.', ',']).filter(|_| decimals > 0);
    let (whole, part) = point.map_or((&*plain, ""), |at| (&plain[..at], &plain[at + 1..]));
    let thousands = if point.is_some_and(|at| plain[at..].starts_with(',')) { '.' } else { ',' };
    let groups: Vec<&str> = whole.split(|c| c == thousands || (c == '.' && point.is_none())).collect();
    let are_thousands = groups.len() == 1 || (groups[0].len() <= 3 && groups[1..].iter().all(|group| group.len() == 3));
    let whole = groups.concat();
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let sound = are_thousands
        && !groups[0].is_empty()
        && whole.len() <= 9
        && part.len() <= decimals
        && digits(&whole)
        && digits(part);
    sound.then_some(())?;
    let unit = 10_i64.pow(decimals as u32);
    let padded = format!("{part:0<decimals$}");
    let cents = if padded.is_empty() { 0 } else { padded.parse::<i64>().ok()? };
    Some(whole.parse::<i64>().ok()? * unit + cents)
}

/// The greatest amount of cash, in the smallest unit, that is moved without a question: 10,000 in a currency of two decimals.
pub(crate) fn usual_cash_max(currency: &str) -> i64 {
    10_000 * 10_i64.pow(decimals(currency).max(2) as u32)
}

/// A typed amount for a text that says how to type one: `123.50`, or `123` in a currency without decimals.
pub(crate) fn example_amount(language: Language, currency: &str) -> String {
    let cents = 1_235 * 10_i64.pow(decimals(currency) as u32) / 10;
    let said = Price { cents, currency: currency.to_owned() }.in_words(language);
    said.split(' ').next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_voucher_is_the_same_however_its_number_is_typed() {
        for typed in ["GV-1001", "gv-1001", "GV 1001", "GV1001", "gv\u{2013}1001", "ＧＶ-1001", "GV.10/01"] {
            assert!(super::is_same_voucher(typed, "GV-1001"), "{typed}");
        }
        for other in ["GV-1002", "1001", "GV-01001", "-", ""] {
            assert!(!super::is_same_voucher(other, "GV-1001"), "{other}");
        }
        assert!(!super::is_same_voucher("-", "."));
    }

    #[test]
    fn an_amount_is_read_however_people_write_it() {
        for (typed, cents) in [
            ("0", Some(0)),
            ("12", Some(1200)),
            ("12.5", Some(1250)),
            ("12,50", Some(1250)),
            ("1'234.05", Some(123_405)),
            ("1 234,05", Some(123_405)),
            ("12.", Some(1200)),
            ("1,234.05", Some(123_405)),
            ("1.234,05", Some(123_405)),
            ("1.234.567,5", Some(123_456_750)),
            ("1,23.05", None),
            ("1,,234.05", None),
            (",234.05", None),
            ("1234,567.05", None),
            ("1,234", None),
            ("", None),
            (".5", None),
            ("-3", None),
            ("1.234", None),
            ("1.2.3", None),
            ("12 CHF", None),
            ("9999999999", None),
        ] {
            assert_eq!(parse_amount(typed, "CHF"), cents, "{typed}");
        }
        assert_eq!((parse_amount("500", "JPY"), parse_amount("5.00", "JPY")), (Some(500), None));
        assert_eq!((parse_amount("1.500", "JPY"), parse_amount("1,500", "JPY")), (Some(1_500), Some(1_500)));
        for language in Language::ALL {
            let shown = Price { cents: 123_456_789, currency: "CHF".to_owned() }.in_words(language);
            assert_eq!(
                parse_amount(shown.trim_end_matches(" CHF"), "CHF"),
                Some(123_456_789),
                "{shown}, as the page shows it"
            );
        }
    }

    #[test]
    fn the_example_of_an_amount_is_one_of_its_currency() {
        for (currency, english, french) in
            [("CHF", "123.50", "123,50"), ("JPY", "123", "123"), ("KWD", "123.500", "123,500")]
        {
            let example = |language| example_amount(language, currency);
            assert_eq!(
                (example(Language::English), example(Language::French)),
                (english.to_owned(), french.to_owned())
            );
            assert!(Language::ALL.iter().all(|language| parse_amount(&example(*language), currency).is_some()));
        }
    }

    #[test]
    fn the_names_of_kinds_go_both_ways() {
        assert_eq!(Kind::ALL.map(|kind| Kind::parse(kind.name())), Kind::ALL.map(Some));
        assert_eq!(Kind::parse("card"), None);
    }

    proptest! {
        #[test]
        fn sums_are_those_of_their_kinds_and_an_undone_fee_leaves_nothing(
            entries in proptest::collection::vec((0..4_usize, 0..100_000_i64, any::<bool>()), 0..60)
        ) {
            let mut sums = Sums::default();
            let mut left = 0;
            for (kind, cents, is_undone) in &entries {
                let kind = Kind::FEES[*kind];
                sums.add(kind, *cents, false);
                if *is_undone {
                    sums.add(kind, -cents, true);
                } else {
                    left += cents;
                }
            }
            prop_assert_eq!(sums.total().cents, left);
            prop_assert_eq!(Kind::FEES.map(|kind| sums.of(kind).cents).iter().sum::<i64>(), left);
            prop_assert_eq!(sums.total().taken, entries.len() as i64);
        }
    }
}
