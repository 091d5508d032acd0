//! `tunneldesk partner …`: booking partners and their secrets.

use super::shell::Shell;
use super::{Answered, Row, Table, Trouble, done, refused, shown_moment};
use crate::auth::access::{
    self, Handed, KEEP_DAYS, KEEP_DAYS_MAX, REQUESTS_PER_MINUTE, REQUESTS_PER_MINUTE_MAX, Terms,
};
use crate::domain::audit::{Detail, Whom};
use crate::site::Site;
use crate::store::tables::partners;
use clap::{Args, Subcommand};
use ipnet::IpNet;
use serde_json::{Value, json};

#[derive(Subcommand)]
pub enum Partner {
    /// Add a partner; prints its client-id and its secret, once
    Add(Add),
    /// List partners, newest first
    List,
    /// Give a partner a second secret; the old one goes on for some days
    Rotate {
        client_id: String,
        /// Days that the old secret goes on; 0 ends it at once
        #[arg(long, default_value_t = KEEP_DAYS, value_parser = clap::value_parser!(i64).range(0..=KEEP_DAYS_MAX))]
        keep_days: i64,
    },
    /// End a partner's access for good
    Revoke { client_id: String },
}

#[derive(Args)]
pub struct Add {
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
    pub fn run(&self, site: &Shell) -> Answered {
        match self {
            Partner::Add(add) => add.run(site),
            Partner::List => list(site),
            Partner::Rotate { client_id, keep_days } => rotate(site, client_id, *keep_days),
            Partner::Revoke { client_id } => revoke(site, client_id),
        }
    }
}

impl Add {
    fn run(&self, site: &Shell) -> Answered {
        if self.name.trim().is_empty() {
            return Err(refused("a partner needs a name"));
        }
        let terms =
            Terms { strict: self.strict, networks: self.allow.clone(), requests_per_minute: self.requests_per_minute };
        let handed = site.store.write(site.now(), |tx| {
            let handed = access::begin(site, tx, self.client_id.as_deref(), self.name.trim(), &terms)?;
            let detail = Detail::none().flag("strict", self.strict).number("networks", self.allow.len() as i64);
            site.record(tx, "partner.added", &Whom::Partner(handed.client_id.clone()), &detail)?;
            Ok(handed)
        })?;
        shown_secret(&handed)
    }
}

fn shown_secret(Handed { client_id, secret, .. }: &Handed) -> Answered {
    let words = format!("client-id: {client_id}\nsecret:    {secret}   (shown this once)");
    done(words, json!({ "client_id": client_id, "secret": secret }))
}

fn find(site: &Site, client_id: &str) -> Result<partners::Partner, Trouble> {
    let found = site.store.read(|tx| Ok(partners::find(tx, client_id)?))?;
    found.ok_or_else(|| {
        refused(format!("there is no partner {client_id}: `tunneldesk partner list` shows their client-ids"))
    })
}

fn rotate(site: &Shell, client_id: &str, keep_days: i64) -> Answered {
    let partner = find(site, client_id)?;
    if partner.revoked_at.is_some() {
        return Err(refused(format!("{} is revoked: add it anew", partner.name)));
    }
    let handed = site.store.write(site.now(), |tx| {
        let detail = Detail::none().number("keep_days", keep_days);
        site.record(tx, "partner.rotated", &Whom::Partner(client_id.to_owned()), &detail)?;
        access::rotate(site, tx, partner, keep_days)
    })?;
    shown_secret(&handed)
}

fn revoke(site: &Shell, client_id: &str) -> Answered {
    let partner = find(site, client_id)?;
    site.store.write(site.now(), |tx| {
        site.record(tx, "partner.revoked", &Whom::Partner(client_id.to_owned()), &Detail::none())?;
        Ok(partners::revoke(tx, partner.partner_id)?)
    })?;
    done(format!("{} can no longer call", partner.name), json!({ "client_id": client_id }))
}

fn list(site: &Site) -> Answered {
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
