//! `tunneldesk signer …`: the members whom the tunnel lets sign for others.

use super::member::{find, find_certain};
use super::shell::Shell;
use super::{CommandError, CommandResult, Row, Table, done, refused, shown_moment};
use crate::app::Outcome;
use crate::app::signers::{self, NewAppointment, NotAppointed, Standing};
use crate::domain::catalogue::Catalogue;
use crate::domain::ids::TunnelId;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::signers as listed;
use crate::store::tables::signers::Appointment;
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
        tunnel: Option<TunnelId>,
    },
    /// Take a member off the list; what was signed stays signed
    Remove {
        name: String,
        programme: String,
        /// The number of a tunnel [default: this site's]
        #[arg(long)]
        tunnel: Option<TunnelId>,
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
    tunnel: Option<TunnelId>,
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
        let new = NewAppointment { tunnel_id, member_id: account.member_id, programme, first: self.first };
        if let Err(stop) = site.try_change(|cx| signers::appoint(cx, &new)) {
            let name = &self.name;
            return Err(refused(match stop.denial()? {
                NotAppointed::NoLevel => format!("{programme} has no level {cat_id}"),
                NotAppointed::NoTunnel => format!("there is no tunnel {tunnel_id}"),
                NotAppointed::ListedAlready => {
                    format!("{name} is on the list as {programme} already: remove first to change that")
                }
                NotAppointed::HoldsNone => {
                    format!(
                        "{name} holds no level of {programme}; at a new tunnel, appoint first signers with --first LEVEL"
                    )
                }
                NotAppointed::NotNeeded(holder) => {
                    format!("{holder} holds {programme} {cat_id} here and can sign: no first signer is needed")
                }
            }));
        }
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
}

/// The programme as the catalogue spells it, if its holders sign for others.
fn signing_programme(catalogue: &'static Catalogue, asked: &str) -> Result<&'static str, CommandError> {
    let signing = signers::programmes(catalogue);
    let found = signing.iter().find(|one| one.eq_ignore_ascii_case(asked));
    found.copied().ok_or_else(|| refused(format!("nobody signs as {asked}: give one of {}", signing.join(", "))))
}

fn remove(site: &Shell, name: &str, programme: &str, tunnel_id: TunnelId) -> CommandResult {
    let account = find(site, name)?;
    let programme = signing_programme(site.catalogue, programme)?;
    let removed = site.change(|cx| signers::remove(cx, account.member_id, tunnel_id, programme))?;
    if removed == Outcome::Unchanged {
        return Err(refused(format!("{} is not on the list of tunnel {tunnel_id} as {programme}", account.username)));
    }
    done(
        format!("{} can no longer sign as {programme} at tunnel {tunnel_id}", account.username),
        json!({ "member_id": account.member_id, "tunnel_id": tunnel_id, "cat_group": programme }),
    )
}

fn list(site: &Site, tunnel_id: TunnelId) -> CommandResult {
    let now = site.now();
    let shown = site.store.read(|tx| {
        let all = listed::list(tx, tunnel_id)?;
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
fn state(tx: &Read, one: &Appointment, now: Moment) -> Result<String, Failure> {
    Ok(match Standing::read(tx, one, now)? {
        Standing::StandsInFor(level) => format!("stands in for level {level}"),
        Standing::HoldsNone => "holds no level".to_owned(),
        Standing::Holds { level, is_current: false } => format!("level {level}, not current"),
        Standing::Holds { level, .. } => format!("level {level}"),
    })
}
