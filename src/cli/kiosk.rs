//! `tunneldesk kiosk …`: the screens in the hall at which members help themselves.

use super::shell::Shell;
use super::{Part, Trouble, as_json, left_out, refused, shown_moment, table};
use crate::auth::kiosk;
use crate::domain::audit::{Detail, Whom};
use crate::store::tables::kiosks;
use crate::web::desk::kiosks::{NAME_CHARS_MAX, spaced};
use clap::Subcommand;
use serde_json::json;

/// Kiosks that a table shows, unless another number is asked for.
const LISTED_USUAL: i64 = 1_000;

#[derive(Subcommand)]
#[command(after_help = "Exit codes: 0 done; 1 refused (no such kiosk); 2 broken.")]
pub enum Kiosk {
    /// Make a code that turns the browser that takes it into a kiosk: open /kiosk there and type it
    Pair {
        /// Where it stands, for the list: "Entrance"
        name: String,
    },
    /// List kiosks, the latest first: 1000, or with --json all
    List {
        #[command(flatten)]
        part: Part,
    },
    /// Lock a kiosk out, at once
    Revoke {
        /// Which, as `kiosk list` numbers them
        #[arg(value_name = "NUMBER")]
        kiosk_id: i64,
    },
}

impl Kiosk {
    pub fn run(&self, site: &Shell, json: bool) -> Result<String, Trouble> {
        match self {
            Kiosk::Pair { name } => pair(site, name, json),
            Kiosk::List { part } => list(site, part, json),
            Kiosk::Revoke { kiosk_id } => revoke(site, *kiosk_id, json),
        }
    }
}

fn pair(site: &Shell, name: &str, json: bool) -> Result<String, Trouble> {
    let name = name.trim();
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || name.chars().any(char::is_control) {
        return Err(refused(format!("a kiosk's name has 1 to {NAME_CHARS_MAX} letters: say where it stands")));
    }
    let now = site.now();
    let code = site.store.write(now, |tx| {
        site.record(tx, "kiosk.code_made", &Whom::Site, &Detail::none())?;
        kiosk::new_pairing(site, tx, name, None)
    })?;
    let ends_at = now + kiosk::PAIRING_SECONDS;
    Ok(match json {
        true => as_json(&json!({ "name": name, "code": code, "ends_at": ends_at })),
        false => format!(
            "code: {}   (good once, until {} UTC: open /kiosk in the kiosk's browser and type it there)",
            spaced(&code),
            shown_moment(ends_at)
        ),
    })
}

fn list(site: &Shell, part: &Part, json: bool) -> Result<String, Trouble> {
    let limit = part.limit(LISTED_USUAL, json);
    let (kiosks, total) = site.store.read(|tx| Ok((kiosks::list(tx, limit, part.offset)?, kiosks::count(tx)?)))?;
    if json {
        let rows = kiosks.iter().map(|one| {
            json!({ "kiosk_id": one.kiosk_id, "name": one.name, "paired_at": one.paired_at, "used_at": one.used_at,
                    "revoked_at": one.revoked_at })
        });
        return Ok(as_json(&rows.collect::<Vec<_>>()));
    }
    let rows = kiosks.into_iter().map(|one| {
        let state = one.revoked_at.map_or_else(|| "in use".to_owned(), |at| format!("revoked {}", shown_moment(at)));
        vec![one.kiosk_id.to_string(), one.name, shown_moment(one.paired_at), shown_moment(one.used_at), state]
    });
    let rows: Vec<_> = rows.collect();
    let listed = table(&["NUMBER", "NAME", "PAIRED", "LAST SIGN-IN", ""], &rows);
    Ok(format!("{listed}{}", left_out(total, part.offset, rows.len())))
}

fn revoke(site: &Shell, kiosk_id: i64, json: bool) -> Result<String, Trouble> {
    let revoked = site.store.write(site.now(), |tx| {
        let revoked = kiosks::revoke(tx, kiosk_id)?;
        if revoked > 0 {
            site.record(tx, "kiosk.revoked", &Whom::Site, &Detail::none().number("kiosk_id", kiosk_id))?;
        }
        Ok(revoked)
    })?;
    if revoked == 0 {
        return Err(refused(format!("there is no kiosk {kiosk_id} in use: see `tunneldesk kiosk list`")));
    }
    Ok(match json {
        true => as_json(&json!({ "kiosk_id": kiosk_id })),
        false => format!("kiosk {kiosk_id} is locked out"),
    })
}
