//! Days and moments as people and spreadsheets write them.

/// The parts of a date in the order in which they stand.
type Parts<'t> = [&'t str; 3];

/// A date, or a date and time, in the form that [`MomentInput::parse`](super::MomentInput::parse) reads: `2026-11-21`,
/// `2026-11-21T14:05`. Dates may also be written `21.11.2026`, `2026/11/21` and `20261121`, and times after a blank, because
/// spreadsheets write them so. `None` for every other text, above all for `5/4/1980`, which is a day of May in one country and
/// of April in another.
pub(super) fn iso(text: &str) -> Option<String> {
    let text = text.trim();
    let (date, time) = match text.find(['T', 't', ' ', '\u{a0}', '\u{202f}']) {
        Some(place) => {
            let (date, rest) = text.split_at(place);
            (date, rest.trim_start_matches(|c: char| c.is_whitespace() || c == 'T' || c == 't'))
        }
        None => (text, ""),
    };
    let [year, month, day] = year_first(date)?;
    let two = |part: &str| (1..=2).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_digit());
    if year.len() != 4 || !year.bytes().all(|byte| byte.is_ascii_digit()) || !two(month) || !two(day) {
        return None;
    }
    let hour = if time.find(':') == Some(1) { "0" } else { "" };
    let mark = if time.is_empty() { "" } else { "T" };
    Some(format!("{year}-{month:0>2}-{day:0>2}{mark}{hour}{time}"))
}

fn year_first(date: &str) -> Option<Parts<'_>> {
    let split = |sign| {
        let mut parts = date.split(sign);
        Some([parts.next()?, parts.next()?, parts.next()?]).filter(|_| parts.next().is_none())
    };
    if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some([&date[..4], &date[4..6], &date[6..]]);
    }
    match split('.') {
        Some([day, month, year]) if year.len() == 4 => Some([year, month, day]),
        parts => parts.or_else(|| split('-')).or_else(|| split('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::iso;

    #[test]
    fn dates_are_read_as_spreadsheets_write_them() {
        for (written, read) in [
            ("2026-11-21", "2026-11-21"),
            ("20261121", "2026-11-21"),
            ("21.11.2026", "2026-11-21"),
            ("1.5.1990", "1990-05-01"),
            ("2026/11/21", "2026-11-21"),
            ("2026/1/5", "2026-01-05"),
            ("2026.11.21", "2026-11-21"),
            (" 2026-11-21 14:05 ", "2026-11-21T14:05"),
            ("21.11.2026 9:05:07", "2026-11-21T09:05:07"),
            ("2026/11/21\u{a0}14:05", "2026-11-21T14:05"),
            ("2026-11-21T14:05:00+01:00", "2026-11-21T14:05:00+01:00"),
            ("2026-11-21t14:05z", "2026-11-21T14:05z"),
        ] {
            assert_eq!(iso(written).as_deref(), Some(read), "{written}");
        }
        for other in
            ["", "5/4/1980", "05/04/1980", "21-11-2026", "5.4.80", "21.11.2026.1", "43430", "1795219200", "soon"]
        {
            assert_eq!(iso(other), None, "{other}");
        }
    }
}
