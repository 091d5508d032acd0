//! `tunneldesk export`: writes members, the logbook or bookings as CSV, for other programs and for another site.

use super::streams::Streams;
use super::{CommandError, CommandResult, failed, text};
use crate::app::import_export::cell::Separator;
use crate::app::import_export::{self, Kind, Refusal};
use crate::site::Site;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

#[derive(Args)]
#[command(
    after_help = "The file begins with a byte order mark, by which spreadsheets know UTF-8. Moments are the site's own, with their offset from UTC (RFC 3339), people are named by username, and no cell begins with what a spreadsheet takes \
    for a formula: an apostrophe stands before it, which `tunneldesk import` takes off again. Erased members are left out, \
    with their entries and bookings. `tunneldesk import LIST --help` has the columns."
)]
pub(super) struct Export {
    list: List,
    /// What stands between two cells
    #[arg(long, value_enum, default_value = "comma")]
    separator: TypedSeparator,
    /// Write to this file, completely or not at all, instead of standard output
    #[arg(long, value_name = "FILE")]
    to: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum List {
    /// Everybody, without passwords
    Members,
    /// Every entry of everybody
    Logbook,
    /// Every booking of every partner
    Bookings,
}

#[derive(Clone, Copy, ValueEnum)]
enum TypedSeparator {
    Comma,
    Semicolon,
    Tab,
}

impl Export {
    pub(super) fn output_path(&self) -> Option<PathBuf> {
        self.to.clone()
    }

    pub(super) fn run(&self, site: &Site, streams: &mut Streams) -> CommandResult {
        let kind = match self.list {
            List::Members => Kind::Members,
            List::Logbook => Kind::Logbook,
            List::Bookings => Kind::Bookings,
        };
        let separator = match self.separator {
            TypedSeparator::Comma => Separator::Comma,
            TypedSeparator::Semicolon => Separator::Semicolon,
            TypedSeparator::Tab => Separator::Tab,
        };
        let written =
            import_export::export(site, kind, separator, streams.part, streams.progress).map_err(|refusal| {
                match refusal {
                    Refusal::Failed(failure) => CommandError::from(failure),
                    Refusal::Unreadable(why) => failed(why.in_english()),
                    Refusal::Mistakes(..) => failed("the list could not be written"),
                }
            })?;
        let rows = if written == 1 { "row" } else { "rows" };
        text(self.to.as_ref().map_or_else(String::new, |to| format!("{written} {rows} in {}", to.display())))
    }
}
