//! `tunneldesk partner …`: booking partners and their secrets.

use super::partner_hook::{Hook, TWO_SECRETS};
use super::shell::Shell;
use super::{CommandError, CommandResult, Row, Table, done, refused, shown_moment};
use crate::app::Change;
use crate::app::partners::{
    self as access, IssuedCredentials, KEEP_DAYS, KEEP_DAYS_MAX, REQUESTS_PER_MINUTE, REQUESTS_PER_MINUTE_MAX, Terms,
};
use crate::http::failure::Failure;
use crate::site::Site;
use crate::store::tables::partners;
use clap::{Args, Subcommand};
use ipnet::IpNet;
use serde_json::{Value, json};

#[derive(Subcommand)]
pub(super) enum Partner {
    /// Add a partner; prints its client-id and its secret, once
    Add(Add),
    /// List partners, newest first
    List,
    /// Give a partner a second secret; the old one goes on for some days
    Rotate {
        client_id: String,
        /// Days that the old secret goes on; 0 ends it now, and the booking tokens that the partner got
        #[arg(long, default_value_t = KEEP_DAYS, value_parser = clap::value_parser!(i64).range(0..=KEEP_DAYS_MAX))]
        keep_days: i64,
        /// End the older secret now where two are in force
        #[arg(long)]
        force: bool,
    },
    /// End a partner's access for good, and the booking tokens that it got
    Revoke { client_id: String },
    /// Webhooks: where a partner's events are sent as they happen
    #[command(subcommand)]
    Hook(Hook),
}

#[derive(Args)]
pub(super) struct Add {
    /// What the partner is called
    name: String,
    /// The client-id that it has already, at a site whose bookings are imported here [default: a new one]
    #[arg(long, value_name = "ID", value_parser = client_id)]
    client_id: Option<String>,
    /// Demand a signed timestamp, and refuse a signature that was used before
    #[arg(long)]
    strict: bool,
    /// An address or network that the partner may call from; may be given several times [default: from anywhere]
    #[arg(long, value_name = "CIDR", value_parser = network)]
    allow: Vec<IpNet>,
    /// Requests a minute; 0 for no limit
    #[arg(long, default_value_t = REQUESTS_PER_MINUTE, value_parser = clap::value_parser!(i64).range(0..=REQUESTS_PER_MINUTE_MAX))]
    requests_per_minute: i64,
}

fn client_id(text: &str) -> Result<String, String> {
    let sound =
        (3..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
    if sound {
        Ok(text.to_owned())
    } else {
        Err("is not 3 to 64 letters, digits, dots, underscores or hyphens".to_owned())
    }
}

fn network(text: &str) -> Result<IpNet, String> {
    access::network(text).ok_or_else(|| "is not an address or a network like 10.0.0.0/8".to_owned())
}

impl Partner {
    pub(super) fn run(&self, site: &Shell) -> CommandResult {
        match self {
            Partner::Add(add) => add.run(site),
            Partner::List => list(site),
            Partner::Rotate { client_id, keep_days, force } => rotate(site, client_id, *keep_days, *force),
            Partner::Revoke { client_id } => revoke(site, client_id),
            Partner::Hook(hook) => hook.run(site),
        }
    }
}

impl Add {
    fn run(&self, site: &Shell) -> CommandResult {
        if self.name.trim().is_empty() {
            return Err(refused("a partner needs a name"));
        }
        let terms =
            Terms { strict: self.strict, networks: self.allow.clone(), requests_per_minute: self.requests_per_minute };
        let handed = site.change(|cx| access::create(cx, self.client_id.as_deref(), &self.name, &terms))?;
        shown_secret(&handed)
    }
}

fn shown_secret(IssuedCredentials { client_id, secret, .. }: &IssuedCredentials) -> CommandResult {
    let words = format!("client-id: {client_id}\nsecret:    {secret}   (shown this once)");
    done(words, json!({ "client_id": client_id, "secret": secret }))
}

/// Runs an effect on the partner of a client-id. Returns the partner's name and the result of the effect.
fn change<T>(
    site: &Shell,
    client_id: &str,
    effect: impl FnOnce(&Change, &partners::Partner) -> Result<T, Failure>,
) -> Result<(String, T), CommandError> {
    let mut name = String::new();
    let changed = site.change(|cx| {
        let partner = access::find_client(cx.tx, client_id)?;
        name.clone_from(&partner.name);
        effect(cx, &partner)
    });
    match changed {
        Ok(value) => Ok((name, value)),
        Err(failure) if failure.is(Failure::not_found) => {
            Err(refused(format!("there is no partner {client_id}: `tunneldesk partner list` shows their client-ids")))
        }
        Err(failure) if failure.is(Failure::partner_revoked) => Err(refused(format!("{name} is revoked: add it anew"))),
        Err(failure) => Err(failure.into()),
    }
}

fn rotate(site: &Shell, client_id: &str, keep_days: i64, force: bool) -> CommandResult {
    let (_, handed) = change(site, client_id, |cx, partner| {
        // Whoever keeps none for a day has chosen already.
        let ends_older = force || keep_days == 0;
        if !ends_older && partners::list_spans(cx.tx, partner.partner_id, cx.now())?.len() > 1 {
            return Ok(None);
        }
        access::rotate(cx, partner, keep_days).map(Some)
    })?;
    shown_secret(&handed.ok_or_else(|| refused(TWO_SECRETS))?)
}

fn revoke(site: &Shell, client_id: &str) -> CommandResult {
    let (name, _) = change(site, client_id, access::revoke)?;
    done(format!("{name} can no longer call"), json!({ "client_id": client_id }))
}

fn list(site: &Site) -> CommandResult {
    let now = site.now();
    let shown = site.store.read(|tx| {
        partners::list(tx)?
            .into_iter()
            .map(|partner| {
                let networks = partners::list_networks(tx, partner.partner_id)?;
                let secrets = partners::list_secrets(tx, Some(&partner.client_id), now)?.len();
                Ok(Listed { partner, networks, secrets })
            })
            .collect::<Result<Vec<_>, crate::http::failure::Failure>>()
    })?;
    Ok(Box::new(Table::new(shown)))
}

/// A partner, the networks that it may call from, and how many secrets it has.
struct Listed {
    partner: partners::Partner,
    networks: Vec<String>,
    secrets: usize,
}

impl Row for Listed {
    const HEADINGS: &'static [&'static str] = &["CLIENT-ID", "NAME", "STATE", "FROM", "PACE", "", "SINCE"];

    fn cells(&self) -> Vec<String> {
        let Listed { partner, networks, secrets } = self;
        let from = if networks.is_empty() { "anywhere".to_owned() } else { networks.join(", ") };
        let pace = partner.requests_per_minute.map_or("no limit".to_owned(), |n| format!("{n}/min"));
        let state = match partner.revoked_at {
            Some(_) => "revoked".to_owned(),
            None => format!("{secrets} secret{}", if *secrets == 1 { "" } else { "s" }),
        };
        vec![
            partner.client_id.clone(),
            partner.name.clone(),
            state,
            from,
            pace,
            if partner.strict { "strict" } else { "" }.to_owned(),
            shown_moment(partner.created_at),
        ]
    }

    fn value(&self) -> Value {
        let Listed { partner: p, networks, secrets } = self;
        json!({
            "client_id": p.client_id, "name": p.name, "strict": p.strict, "requests_per_minute": p.requests_per_minute,
            "networks": networks, "secrets": secrets, "created_at": p.created_at, "revoked_at": p.revoked_at,
        })
    }
}
