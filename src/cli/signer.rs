//! `tunneldesk signer …`: the members whom the tunnel lets sign for others.

use super::member::{find, find_certain};
use super::shell::Shell;
use super::{CommandError, CommandResult, Row, Table, done, refused, shown_moment};
use crate::app::{Outcome, accounts};
use crate::domain::catalogue::{Catalogue, LevelKey};
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::Read;
use crate::store::queries::{holdings, standing};
use crate::store::tables::signers::{self, Appointment, NewSigner};
use crate::store::tables::tunnels;
use clap::{Args, Subcommand};
use serde_json::{Value, json};

#[derive(Subcommand)]
pub(super) enum Signer {
    /// Let a member sign as a holder of a programme: Instructor, Trainer, Examiner or Military;
    /// ends the codes and links that were mailed or printed for the account before
    Add(Add),
    /// List who may sign, by name
    List {
        /// The number of a tunnel [default: this site's]
        #[arg(long)]
        tunnel: Option<i64>,
    },
    /// Take a member off the list; what was signed stays signed
    Remove {
        name: String,
        programme: String,
        /// The number of a tunnel [default: this site's]
        #[arg(long)]
        tunnel: Option<i64>,
    },
}

#[derive(Args)]
pub(super) struct Add {
    name: String,
    programme: String,
    /// Appoint a first signer for a level, until a member holds that level by the logbook
    #[arg(long, value_name = "LEVEL", value_parser = clap::value_parser!(u8).range(1..=9))]
    first: Option<u8>,
    /// The number of a tunnel [default: this site's]
    #[arg(long)]
    tunnel: Option<i64>,
}

impl Signer {
    pub(super) fn run(&self, site: &Shell) -> CommandResult {
        match self {
            Signer::Add(add) => add.run(site),
            Signer::List { tunnel } => list(site, tunnel.unwrap_or(site.tunnel_id)),
            Signer::Remove { name, programme, tunnel } => {
                remove(site, name, programme, tunnel.unwrap_or(site.tunnel_id))
            }
        }
    }
}

impl Add {
    fn run(&self, site: &Shell) -> CommandResult {
        let account = find_certain(site, &self.name)?;
        let programme = signing_programme(site.catalogue, &self.programme)?;
        let tunnel_id = self.tunnel.unwrap_or(site.tunnel_id);
        let cat_id = self.first.map(|level| level.to_string()).unwrap_or_default();
        if let Some(level) = self.first {
            let key = LevelKey { cat_group: programme, cat_id: &cat_id, track: "" };
            site.catalogue.find_level(key).ok_or_else(|| refused(format!("{programme} has no level {level}")))?;
        }
        let against = site.store.read(|tx| self.against(site, tx, account.member_id, programme, &cat_id, tunnel_id))?;
        if let Some(why) = against {
            return Err(refused(why));
        }
        let new = NewSigner {
            tunnel_id,
            member_id: account.member_id,
            cat_group: programme,
            cat_id: &cat_id,
            appointed_by: None,
        };
        site.change(|cx| accounts::add_signer(cx, &new, programme, self.first))?;
        let words = match self.first {
            Some(_) => {
                format!("{} stands in for {programme} {cat_id} at tunnel {tunnel_id} and may sign", account.username)
            }
            None => format!("{} may sign as {programme} at tunnel {tunnel_id}", account.username),
        };
        let values = json!({ "member_id": account.member_id, "username": account.username, "tunnel_id": tunnel_id,
                             "cat_group": programme, "cat_id": cat_id });
        done(words, values)
    }

    /// Why a member cannot be put on the list.
    fn against(
        &self,
        site: &Site,
        tx: &Read,
        member_id: i64,
        programme: &str,
        cat_id: &str,
        tunnel_id: i64,
    ) -> Result<Option<String>, Failure> {
        if !tunnels::exists(tx, tunnel_id)? {
            return Ok(Some(format!("there is no tunnel {tunnel_id}")));
        }
        if signers::is_listed(tx, tunnel_id, member_id, programme)? {
            return Ok(Some(format!(
                "{} is on the list as {programme} already: remove first to change that",
                self.name
            )));
        }
        let holds = |member_id: i64, least: &str| -> Result<bool, Failure> {
            let held = holdings::list(tx, member_id)?;
            Ok(held.iter().any(|one| one.cat_group == programme && one.cat_id.as_str() >= least))
        };
        if self.first.is_none() {
            let why = format!(
                "{} holds no level of {programme}; at a new tunnel, appoint first signers with --first LEVEL",
                self.name
            );
            return Ok(if holds(member_id, "")? { None } else { Some(why) });
        }
        // First signers are for a tunnel without a signer who holds a level by the logbook.
        for one in
            signers::list(tx, tunnel_id)?.iter().filter(|one| one.cat_group == programme && one.cat_id.is_empty())
        {
            let currency = standing::read(tx, one.member_id, site.now())?.currency.find(programme);
            if currency.is_some_and(|currency| currency.current) && holds(one.member_id, cat_id)? {
                let name = &one.username;
                return Ok(Some(format!(
                    "{name} holds {programme} {cat_id} here and can sign: no first signer is needed"
                )));
            }
        }
        Ok(None)
    }
}

/// The programme as the catalogue spells it, if its holders sign for others.
fn signing_programme<'c>(catalogue: &'c Catalogue, asked: &str) -> Result<&'c str, CommandError> {
    let mut signing: Vec<&str> = catalogue
        .levels()
        .flat_map(|level| &level.signed_by)
        .flat_map(|signer| std::iter::once(signer.cat_group.as_str()).chain(signer.and_holds.as_deref()))
        .collect();
    signing.sort_unstable();
    signing.dedup();
    let found = signing.iter().find(|one| one.eq_ignore_ascii_case(asked));
    found.copied().ok_or_else(|| refused(format!("nobody signs as {asked}: give one of {}", signing.join(", "))))
}

fn remove(site: &Shell, name: &str, programme: &str, tunnel_id: i64) -> CommandResult {
    let account = find(site, name)?;
    let programme = signing_programme(site.catalogue, programme)?;
    let removed = site.change(|cx| accounts::remove_signer(cx, account.member_id, tunnel_id, programme))?;
    if removed == Outcome::Unchanged {
        return Err(refused(format!("{} is not on the list of tunnel {tunnel_id} as {programme}", account.username)));
    }
    done(
        format!("{} can no longer sign as {programme} at tunnel {tunnel_id}", account.username),
        json!({ "member_id": account.member_id, "tunnel_id": tunnel_id, "cat_group": programme }),
    )
}

fn list(site: &Site, tunnel_id: i64) -> CommandResult {
    let now = site.now();
    let shown = site.store.read(|tx| {
        let all = signers::list(tx, tunnel_id)?;
        all.into_iter()
            .map(|one| state(tx, &one, now).map(|state| Listed { one, state }))
            .collect::<Result<Vec<_>, Failure>>()
    })?;
    Ok(Box::new(Table::new(shown)))
}

/// A signer, and the present state of the appointment.
struct Listed {
    one: Appointment,
    state: String,
}

impl Row for Listed {
    const HEADINGS: &'static [&'static str] = &["NUMBER", "USERNAME", "NAME", "SIGNS AS", "", "SINCE"];

    fn cells(&self) -> Vec<String> {
        let Listed { one, state } = self;
        vec![
            one.member_id.to_string(),
            one.username.clone(),
            one.screen_name.clone(),
            one.cat_group.clone(),
            state.clone(),
            shown_moment(one.appointed_at),
        ]
    }

    fn value(&self) -> Value {
        let Listed { one, state } = self;
        json!({
            "member_id": one.member_id, "username": one.username, "tunnel_id": one.tunnel_id,
            "cat_group": one.cat_group, "cat_id": one.cat_id, "appointed_by": one.appointed_by,
            "appointed_at": one.appointed_at, "state": state,
        })
    }
}

/// The state of the appointment now: its level, and whether that is current.
fn state(tx: &Read, one: &Appointment, now: i64) -> Result<String, Failure> {
    if !one.cat_id.is_empty() {
        return Ok(format!("stands in for level {}", one.cat_id));
    }
    let held = holdings::list(tx, one.member_id)?;
    let level = held.iter().filter(|held| held.cat_group == one.cat_group).map(|held| held.cat_id.as_str()).max();
    let currency = standing::read(tx, one.member_id, now)?.currency.find(&one.cat_group);
    Ok(match (level, currency) {
        (None, _) => "holds no level".to_owned(),
        (Some(level), Some(currency)) if !currency.current => format!("level {level}, not current"),
        (Some(level), _) => format!("level {level}"),
    })
}
