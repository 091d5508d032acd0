//! The settings of papers, of reminders and of boards.

use super::Settings;
use crate::domain::unicode::{as_meant, breaks_line};

/// Who gives out receipts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Papers {
    /// The operator's name on receipts; empty: the tunnel's.
    pub name: String,
    /// The operator's address, in one line.
    pub address: String,
    /// The operator's tax number.
    pub tax_number: String,
}

/// Whether and when members are reminded.
#[derive(Debug, Clone, PartialEq)]
pub struct Reminders {
    /// Whether reminders are sent by mail or short message; notices are written all the same.
    pub enabled: bool,
    /// The first hour of the day in which they are sent, by the site's clock.
    pub from_hour: i64,
    /// The hour from which none is sent any more.
    pub until_hour: i64,
}

/// What boards in the hall show.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Board {
    /// Whether adults are shown by their first names instead of initials.
    pub first_names: bool,
    /// The hall's own message; empty: none.
    pub message: String,
}

impl Settings {
    pub(super) fn papers(&mut self) -> Papers {
        let mut line = |key: &str| self.text(key, line).unwrap_or_default();
        Papers { name: line("papers.name"), address: line("papers.address"), tax_number: line("papers.tax_number") }
    }

    pub(super) fn board(&mut self) -> Board {
        let message = self.text("board.message", line).unwrap_or_default();
        Board { first_names: self.truth("board.first_names"), message }
    }

    pub(super) fn reminders(&mut self) -> Reminders {
        let (from_hour, until_hour) =
            (self.whole("reminders.from_hour", 0, 23), self.whole("reminders.until_hour", 1, 24));
        if until_hour <= from_hour {
            let what = format!(
                "must be later on the same day than reminders.from_hour ({from_hour}), else no reminder is ever sent"
            );
            self.mistake("reminders.until_hour", &what);
        }
        Reminders { enabled: self.truth("reminders.enabled"), from_hour, until_hour }
    }
}

fn line(text: &str) -> Result<String, &'static str> {
    let sound = text.chars().count() <= 120 && !text.chars().any(breaks_line);
    if sound { Ok(as_meant(text).into_owned()) } else { Err("must be one line of at most 120 characters") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_for_boards_and_papers_is_one_line_that_reads_as_it_is_written() {
        assert_eq!(line("Fly \u{202e}now\u{202c}\u{feff}"), Ok("Fly now".to_owned()));
        for broken in ["Fly\u{2028}now", "Fly\u{2029}now", "Fly\nnow", "Fly\u{7}now"] {
            assert!(line(broken).is_err(), "{broken:?}");
        }
    }
}
