//! The addresses, sign-ins and secrets of a demo site: on the terminal, and in `demo.json` for programs.

use super::PASSWORD;
use super::people::{PEOPLE, SYNC};
use crate::app::partners::Terms;
use crate::app::{self, RankedActor};
use crate::auth::{new_token, token_hash};
use crate::domain::audit::{Actor, ActorId, Origin};
use crate::domain::ids::{MemberId, TunnelId};
use crate::domain::password::{self, Cost};
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::site::Site;
use crate::store::Read;
use crate::store::tables::{members, partners, sessions, tunnels};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const FILE: &str = "demo.json";
/// The content of `demo.json`.
#[derive(Debug, Serialize)]
pub(crate) struct Facts {
    /// The URL of the site, with `/api`.
    pub base_url: String,
    pub tunnel_id: TunnelId,
    pub tunnel_name: String,
    #[serde(flatten)]
    pub secrets: Secrets,
    pub members: Vec<MemberFacts>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Secrets {
    pub sync_token: String,
    pub partner: PartnerFacts,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct PartnerFacts {
    pub client_id: String,
    pub secret: String,
}

/// An account to sign in with; `state` says what is special about it.
#[derive(Debug, Serialize)]
pub(crate) struct MemberFacts {
    pub username: String,
    pub password: &'static str,
    pub member_id: MemberId,
    pub email: String,
    pub role: Role,
    pub name: String,
    pub state: &'static str,
}

impl Facts {
    /// Reads the accounts of a demo site, and its secrets from `demo.json`; those that are lost or expired are made again.
    /// Refuses a site that is no demo.
    pub(crate) fn gather(site: &Site) -> Result<Facts, String> {
        let dir = site.store.path().parent().unwrap_or(Path::new("."));
        let stored = crate::files::read(&dir.join(FILE)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let facts = gather(site, stored.unwrap_or_default());
        site.store.release();
        facts.map_err(|e| format!("the facts of the demo cannot be gathered: {e}"))?.ok_or_else(|| {
            format!("the site in {} is no demo site: leave out --demo, or give another --data", dir.display())
        })
    }

    /// Writes `demo.json` for this address, completely or not at all and readable by its owner alone, and returns the text for
    /// the terminal.
    pub(crate) fn publish(&mut self, data: &Path, url: &str, addresses: &[SocketAddr]) -> Result<String, String> {
        self.base_url = format!("{url}/api");
        let path = data.join(FILE);
        let write = || -> std::io::Result<()> {
            let fresh = path.with_extension("json.new");
            _ = std::fs::remove_file(&fresh);
            let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
            serde_json::to_writer_pretty(&mut file, self)?;
            file.write_all(b"\n")?;
            std::fs::rename(&fresh, &path)
        };
        write().map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok(banner(self, url, addresses, &path))
    }

    /// The first account in this state.
    pub(crate) fn find(&self, state: &str) -> Option<&MemberFacts> {
        self.members.iter().find(|member| member.state == state)
    }
}

/// The text that `serve --demo` prints: the addresses, some accounts, and one command to paste.
fn banner(facts: &Facts, url: &str, addresses: &[SocketAddr], path: &Path) -> String {
    let Facts { base_url, tunnel_name, secrets: Secrets { sync_token, partner }, members, .. } = facts;
    let listening: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let named = ["current flyer", "instructor 4", "desk", "admin"].iter().filter_map(|state| facts.find(state));
    let accounts: Vec<String> = named.map(|member| format!("{:<22}{}", member.username, member.state)).collect();
    format!(
        "
{tunnel_name}: a demo site, full of invented people

  address   {url}   (listening on {})
  sign in   {}
  password  {PASSWORD}   (the same for all)
  partner   client-id {}
            secret    {}
  in full   {}   ({} sign-ins in all states)

The latest bookings:

  curl {base_url}/admin/reports/external/partner-metrics/bookings -H 'token: {sync_token}' \
         -H 'content-type: application/json' -d '{{\"limit\":3}}'

Ctrl-C stops it; what is changed is kept.
",
        listening.join(", "),
        accounts.join("\n            "),
        partner.client_id,
        partner.secret,
        path.display(),
        members.len()
    )
}

/// Gathers the facts; `None` where the site is no demo, for which `demo.json` with its secrets must never be written. A
/// demo is known by its password. The stored secrets are used again while they are in force.
fn gather(site: &Site, mut secrets: Secrets) -> Result<Option<Facts>, Failure> {
    let now = site.now();
    let read = site.store.read(|tx| {
        let hash = members::find_account_by_id(tx, SYNC)?.and_then(|account| account.password_hash);
        let session = sessions::find(tx, &token_hash(&secrets.sync_token), now)?;
        let session = session.filter(|session| session.role == Role::Sync && !session.banned);
        let partner = partners::list_secrets(tx, Some(&secrets.partner.client_id), now)?
            .into_iter()
            .any(|secret| secret.open(&site.keys).as_deref() == Some(secrets.partner.secret.as_bytes()));
        Ok((hash, session.is_some(), partner, list_members(tx)?, tunnels::find(tx, site.tunnel_id)?))
    })?;
    let (hash, session_in_force, partner_in_force, members, tunnel) = read;
    if !hash.is_some_and(|hash| password::verify(PASSWORD, Some(&hash), Cost::FULL)) {
        return Ok(None);
    }
    if !partner_in_force {
        secrets.partner = renew_partner(site)?;
    }
    if !session_in_force {
        let (token, hash) = new_token();
        site.store.write(now, |tx| Ok(sessions::insert(tx, &hash, SYNC, Role::Sync, "issued for demo.json")?))?;
        secrets.sync_token = token;
    }
    let tunnel_name = tunnel.map(|tunnel| tunnel.name).unwrap_or_default();
    Ok(Some(Facts { base_url: String::new(), tunnel_id: site.tunnel_id, tunnel_name, secrets, members }))
}

/// Replaces the secret of the partner who made the bookings; if that partner was revoked, a new one is added.
fn renew_partner(site: &Site) -> Result<PartnerFacts, Failure> {
    let actor = Actor { id: ActorId::Job("demo"), origin: Origin::Site };
    let handed = app::change(site, RankedActor::owner(&actor), Language::default(), |cx| {
        match partners::list(cx.tx)?.iter().rfind(|partner| partner.revoked_at.is_none()) {
            Some(partner) => app::partners::rotate(cx, partner, 0),
            None => app::partners::create(cx, None, super::fill::PARTNER_NAME, &Terms::default()),
        }
    })?;
    Ok(PartnerFacts { client_id: handed.client_id, secret: handed.secret })
}

/// The cast, in the order of their numbers: the current flyers first, then the others.
fn list_members(tx: &Read) -> Result<Vec<MemberFacts>, Failure> {
    let mut all = Vec::new();
    for (person, member_id) in PEOPLE.cast.iter().zip((1..).map(MemberId)) {
        let Some(profile) = members::find(tx, member_id)? else { continue };
        all.push(MemberFacts {
            username: profile.username,
            password: PASSWORD,
            member_id,
            email: profile.email,
            role: profile.role,
            name: profile.real_name,
            state: person.state,
        });
    }
    all.sort_by_key(|member| member.state != "current flyer");
    Ok(all)
}
