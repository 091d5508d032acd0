//! `tunneldesk kiosk …`: the screens on site at which members help themselves.

use super::shell::Shell;
use super::{CommandError, CommandResult, Row, RowRange, Table, done, refused, shown_moment};
use crate::app::Outcome;
use crate::app::kiosks::{self as app_kiosks, NAME_CHARS_MAX};
use crate::auth::kiosk;
use crate::domain::ids::KioskId;
use crate::http::failure::Failure;
use crate::store::tables::kiosks::{self, Kind};
use crate::web::desk::kiosks::spaced;
use clap::Subcommand;
use serde_json::{Value, json};

/// Kiosks that a table shows without `--limit`.
const LISTED_USUAL: i64 = 1_000;

#[derive(Subcommand)]
#[command(after_help = "Exit codes: 0 done; 1 refused (no such kiosk); 2 failed.")]
pub(super) enum Kiosk {
    /// Make a code that turns the browser that takes it into a kiosk: open /kiosk there and type it
    Pair {
        /// Where it stands, for the list: "Entrance"
        name: String,
        /// A board instead, which shows who flies next: open /board there
        #[arg(long)]
        board: bool,
    },
    /// List kiosks, the latest first: 1000, or with --json all
    List {
        #[command(flatten)]
        part: RowRange,
    },
    /// Lock a kiosk out, from this moment on
    Revoke {
        /// Which, as `kiosk list` numbers them
        #[arg(value_name = "NUMBER")]
        kiosk_id: KioskId,
    },
}

impl Kiosk {
    pub(super) fn run(&self, site: &Shell) -> CommandResult {
        match self {
            Kiosk::Pair { name, board } => pair(site, if *board { Kind::Board } else { Kind::Kiosk }, name),
            Kiosk::List { part } => list(site, part),
            Kiosk::Revoke { kiosk_id } => revoke(site, *kiosk_id),
        }
    }
}

fn pair(site: &Shell, kind: Kind, name: &str) -> CommandResult {
    let unfit = |failure: Failure| match failure.problems() {
        [] => CommandError::from(failure),
        _ => refused(format!("a kiosk's name has 1 to {NAME_CHARS_MAX} letters: say where it stands")),
    };
    let ends_at = site.now() + kiosk::PAIRING_SECONDS;
    let code = site.change(|cx| app_kiosks::pair(cx, kind, name)).map_err(unfit)?;
    let words = format!(
        "code: {}   (good once, until {}: open /{} in that browser and type it there)",
        spaced(&code),
        shown_moment(ends_at),
        kind.name()
    );
    done(words, json!({ "kind": kind, "name": name.trim(), "code": code, "ends_at": ends_at }))
}

fn list(site: &Shell, part: &RowRange) -> CommandResult {
    let limit = part.limit(site, LISTED_USUAL);
    let (kiosks, total) = site.store.read(|tx| Ok((kiosks::list(tx, limit, part.offset)?, kiosks::count(tx)?)))?;
    Ok(Box::new(Table::new(kiosks).page_of(total, part)))
}

impl Row for kiosks::Kiosk {
    const HEADINGS: &'static [&'static str] = &["NUMBER", "KIND", "NAME", "PAIRED", "LAST SIGN-IN", ""];

    fn cells(&self) -> Vec<String> {
        let state = self.revoked_at.map_or_else(|| "in use".to_owned(), |at| format!("revoked {}", shown_moment(at)));
        vec![
            self.kiosk_id.to_string(),
            self.kind.name().to_owned(),
            self.name.clone(),
            shown_moment(self.paired_at),
            shown_moment(self.used_at),
            state,
        ]
    }

    fn value(&self) -> Value {
        json!({ "kiosk_id": self.kiosk_id, "kind": self.kind, "name": self.name, "paired_at": self.paired_at, "used_at": self.used_at,
                "revoked_at": self.revoked_at })
    }
}

fn revoke(site: &Shell, kiosk_id: KioskId) -> CommandResult {
    if site.change(|cx| app_kiosks::revoke(cx, kiosk_id))? == Outcome::Unchanged {
        return Err(refused(format!("there is no kiosk {kiosk_id} in use: see `tunneldesk kiosk list`")));
    }
    done(format!("kiosk {kiosk_id} is locked out"), json!({ "kiosk_id": kiosk_id }))
}
