//! The addresses, sign-ins and secrets of a demo site: on the terminal, and in `demo.json` for programs.

use super::PASSWORD;
use super::data::PEOPLE;
use crate::app::partners::Terms;
use crate::app::{self, RankedActor};
use crate::auth::{new_token, token_hash};
use crate::domain::audit::{Actor, ActorId, Origin};
use crate::domain::password::{self, Cost};
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::tables::{members, partners, sessions, tunnels};
use crate::store::{Read, Write};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const FILE: &str = "demo.json";

/// The content of `demo.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// The URL of the site, with `/api`.
    pub base_url: String,
    pub tunnel_id: i64,
    #[serde(default)]
    pub tunnel_name: String,
    pub sync_token: String,
    pub partner: PartnerFacts,
    pub members: Vec<MemberFacts>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct PartnerFacts {
    pub client_id: String,
    pub secret: String,
}

/// An account to sign in with; `state` says what is special about it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct MemberFacts {
    pub username: String,
    pub password: String,
    pub member_id: i64,
    pub email: String,
    pub role: String,
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub state: String,
}

impl Facts {
    /// Reads the accounts of a demo site, and its tokens from `demo.json`; tokens that are lost or expired are made again.
    /// Refuses a site that is no demo.
    pub(crate) fn gather(site: &Site) -> Result<Facts, String> {
        let dir = site.store.path().parent().unwrap_or(Path::new("."));
        let stored = std::fs::read(dir.join(FILE)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let facts = match is_demo(site) {
            Ok(true) => gather(site, stored.as_ref()),
            Ok(false) => {
                let dir = dir.display();
                return Err(format!("the site in {dir} is no demo site: leave out --demo, or give another --data"));
            }
            Err(e) => Err(e),
        };
        site.store.release();
        facts.map_err(|e| format!("the facts of the demo cannot be gathered: {e}"))
    }

    /// Writes `demo.json` for this address and returns the text for the terminal.
    pub(crate) fn publish(&mut self, data: &Path, url: &str, addresses: &[SocketAddr]) -> Result<String, String> {
        self.base_url = format!("{url}/api");
        let path = data.join(FILE);
        self.write(&path).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok(banner(self, url, addresses, &path))
    }

    /// Writes the file whole or not at all, readable by its owner alone.
    fn write(&self, path: &Path) -> std::io::Result<()> {
        let fresh = path.with_extension("json.new");
        _ = std::fs::remove_file(&fresh);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        std::fs::rename(&fresh, path)
    }

    /// The first account in this state.
    pub(crate) fn find(&self, state: &str) -> Option<&MemberFacts> {
        self.members.iter().find(|member| member.state == state)
    }
}

/// The states of the accounts that the banner names; the others are only in `demo.json`.
const NAMED: [&str; 4] = ["current flyer", "instructor 4", "desk", "admin"];

/// The text that `serve --demo` prints: the addresses, some accounts, and one command to paste.
fn banner(facts: &Facts, url: &str, addresses: &[SocketAddr], path: &Path) -> String {
    let mut text = format!("\n{}: a demo site, full of invented people\n\n", facts.tunnel_name);
    let listening: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let mut line = |label: &str, value: &str| _ = writeln!(text, "  {label:<10}{value}");
    line("address", &format!("{url}   (listening on {})", listening.join(", ")));
    let named: Vec<_> = NAMED.iter().filter_map(|state| facts.find(state)).collect();
    let width = named.iter().map(|member| member.username.chars().count()).max().unwrap_or(0);
    for (n, member) in named.iter().enumerate() {
        line(if n == 0 { "sign in" } else { "" }, &format!("{:width$}   {}", member.username, member.state));
    }
    line("password", &format!("{PASSWORD}   (the same for all)"));
    line("partner", &format!("client-id {}", facts.partner.client_id));
    line("", &format!("secret    {}", facts.partner.secret));
    line("in full", &format!("{}   ({} sign-ins in all states)", path.display(), facts.members.len()));
    _ = write!(
        text,
        "\nThe latest bookings:\n\n  curl {}/admin/reports/external/partner-metrics/bookings -H 'token: {}' \
         -H 'content-type: application/json' -d '{{\"limit\":3}}'\n\nCtrl-C stops it; what is changed is kept.\n",
        facts.base_url, facts.sync_token
    );
    text
}

/// Whether a site is a demo, by the demo's password: `demo.json` with its tokens must never be written for a real
/// site.
fn is_demo(site: &Site) -> Result<bool, Failure> {
    let mut hashes = site.store.read(|tx| {
        let ids = 1..=PEOPLE.cast.len() as i64;
        let accounts = ids.map(|id| members::find_account_by_id(tx, id)).collect::<Result<Vec<_>, _>>()?;
        Ok(accounts.into_iter().flatten().filter_map(|account| account.password_hash).collect::<Vec<_>>())
    })?;
    // Nearly all accounts have the same hash, so nearly always one check is enough.
    hashes.dedup();
    Ok(hashes.iter().take(5).any(|hash| password::verify(PASSWORD, Some(hash), Cost::FULL)))
}

/// Gathers the facts. `stored`: those of `demo.json`, whose tokens are used again while they are in force.
fn gather(site: &Site, stored: Option<&Facts>) -> Result<Facts, Failure> {
    let now = site.now();
    let (members, tunnel, partner, session) = site.store.read(|tx| {
        let partner = stored.map(|facts| is_in_force(site, tx, &facts.partner, now)).transpose()?;
        let session =
            stored.map(|facts| sessions::find(tx, &token_hash(&facts.sync_token), now)).transpose()?.flatten();
        Ok((list_members(tx)?, tunnels::find(tx, site.tunnel_id)?, partner, session))
    })?;
    let partner = match stored {
        Some(facts) if partner == Some(true) => facts.partner.clone(),
        _ => renew_partner(site)?,
    };
    let sync_token = match stored {
        Some(facts) if session.is_some_and(|session| session.role == Role::Sync && !session.banned) => {
            facts.sync_token.clone()
        }
        _ => site.store.write(now, issue_sync_token)?,
    };
    let tunnel_name = tunnel.map(|tunnel| tunnel.name).unwrap_or_default();
    Ok(Facts { base_url: String::new(), tunnel_id: site.tunnel_id, tunnel_name, sync_token, partner, members })
}

fn is_in_force(site: &Site, tx: &Read, partner: &PartnerFacts, now: i64) -> Result<bool, Failure> {
    let secrets = partners::list_secrets(tx, Some(&partner.client_id), now)?;
    let unsealed = |sealed: &[u8]| site.keys.unseal(Purpose::PartnerSecret, sealed);
    Ok(secrets.iter().any(|secret| unsealed(&secret.sealed).as_deref() == Some(partner.secret.as_bytes())))
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

fn issue_sync_token(tx: &Write) -> Result<String, Failure> {
    let account = members::list(tx, Some(Role::Sync), 1, 0)?;
    let account = account.first().ok_or_else(|| Failure::broken().because("the demo has no account for jobs"))?;
    let (token, hash) = new_token();
    sessions::insert(tx, &hash, account.member_id, Role::Sync, "issued for demo.json")?;
    Ok(token)
}

/// The cast: a current flyer first, then the others in the order of their numbers.
fn list_members(tx: &Read) -> Result<Vec<MemberFacts>, Failure> {
    let mut all = Vec::new();
    for (member, member_id) in PEOPLE.cast.iter().zip(1..) {
        let Some(profile) = members::find(tx, member_id)? else { continue };
        all.push(MemberFacts {
            username: profile.username,
            password: PASSWORD.to_owned(),
            member_id,
            email: profile.email,
            role: profile.role.name().to_owned(),
            name: profile.real_name,
            state: member.state.clone(),
        });
    }
    let first = all.iter().position(|member| member.state == "current flyer").unwrap_or(0);
    all[..=first].rotate_right(1);
    Ok(all)
}
