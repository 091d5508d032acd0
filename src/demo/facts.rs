//! The addresses, sign-ins and secrets of a demo site: on the terminal, and in `demo.json` for programs.

use super::PASSWORD;
use super::data::PEOPLE;
use crate::app::partners::Terms;
use crate::app::{self, Actor};
use crate::auth::{new_token, token_hash};
use crate::domain::audit::{By, Origin, Who};
use crate::domain::password::{self, Cost};
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::keys::Purpose;
use crate::site::Site;
use crate::store::tables::{members, partners, sessions, tunnels};
use crate::store::{Read, Write};
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

const FILE: &str = "demo.json";

/// The content of `demo.json`.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Facts {
    /// With `/api`.
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

/// Somebody to sign in as; `state` says what was special when the site was made.
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
    /// Tokens that an earlier start wrote are used again where they are still in force.
    pub(crate) fn gather(site: &Site) -> Result<Facts, String> {
        let dir = site.store.path().parent().unwrap_or(Path::new("."));
        let known: Option<Facts> =
            std::fs::read(dir.join(FILE)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let gathered = if is_demo(site)? { gather(site, known.as_ref()) } else { return Err(not_a_demo(dir)) };
        site.store.release();
        gathered.map_err(|e| format!("the facts of the demo cannot be gathered: {e}"))
    }

    /// Writes `demo.json` for this address and returns what to say on the terminal.
    pub(crate) fn publish(&mut self, data: &Path, url: &str, addresses: &[SocketAddr]) -> Result<String, String> {
        self.base_url = format!("{url}/api");
        let path = data.join(FILE);
        self.write(&path).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
        Ok(super::banner::banner(self, url, addresses, &path))
    }

    /// Whole or not at all, and for its owner alone.
    fn write(&self, path: &Path) -> std::io::Result<()> {
        let fresh = path.with_extension("json.new");
        _ = std::fs::remove_file(&fresh);
        let mut file = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&fresh)?;
        serde_json::to_writer_pretty(&mut file, self)?;
        file.write_all(b"\n")?;
        std::fs::rename(&fresh, path)
    }

    /// The first who is in this state.
    pub(crate) fn find(&self, state: &str) -> Option<&MemberFacts> {
        self.members.iter().find(|member| member.state == state)
    }
}

/// A demo knows the demo's password: somebody's real site must never get a sync token and a secret into a file.
fn is_demo(site: &Site) -> Result<bool, String> {
    let hashes = site.store.read(|tx| {
        let ids = 1..=PEOPLE.cast.len() as i64;
        let accounts = ids.map(|id| members::find_account_by_id(tx, id)).collect::<Result<Vec<_>, _>>()?;
        Ok(accounts.into_iter().flatten().filter_map(|account| account.password_hash).collect::<Vec<_>>())
    });
    let mut hashes = hashes.map_err(|e| format!("the members cannot be read: {e}"))?;
    // Nearly all have the same one, so nearly always one look is enough.
    hashes.dedup();
    Ok(hashes.iter().take(5).any(|hash| password::verify(PASSWORD, Some(hash), Cost::FULL)))
}

fn not_a_demo(dir: &Path) -> String {
    format!("the site in {} is no demo site: leave out --demo, or give another --data", dir.display())
}

fn gather(site: &Site, known: Option<&Facts>) -> Result<Facts, Failure> {
    let now = site.now();
    let members = site.store.read(list_members)?;
    let kept_partner = known.map(|facts| &facts.partner);
    let (tunnel_name, partner_holds, sync_holds) = site.store.read(|tx| {
        let name = tunnels::find(tx, site.tunnel_id)?.map(|tunnel| tunnel.name).unwrap_or_default();
        let partner = kept_partner.map(|partner| is_in_force(site, tx, partner, now)).transpose()?;
        let session = known.map(|facts| sessions::find(tx, &token_hash(&facts.sync_token), now)).transpose()?.flatten();
        Ok((
            name,
            partner.unwrap_or(false),
            session.is_some_and(|session| session.role == Role::Sync && !session.banned),
        ))
    })?;
    let partner = match kept_partner {
        Some(partner) if partner_holds => partner.clone(),
        _ => renew_partner(site)?,
    };
    let sync_token = match known {
        Some(facts) if sync_holds => facts.sync_token.clone(),
        _ => site.store.write(now, issue_sync_token)?,
    };
    Ok(Facts { base_url: String::new(), tunnel_id: site.tunnel_id, tunnel_name, sync_token, partner, members })
}

fn is_in_force(site: &Site, tx: &Read, partner: &PartnerFacts, now: i64) -> Result<bool, Failure> {
    let secrets = partners::list_secrets(tx, Some(&partner.client_id), now)?;
    let unsealed = |sealed: &[u8]| site.keys.unseal(Purpose::PartnerSecret, sealed);
    Ok(secrets.iter().any(|secret| unsealed(&secret.sealed).as_deref() == Some(partner.secret.as_bytes())))
}

/// A new secret in place of the lost ones, for the partner who made the bookings, or for a new one if that was revoked.
fn renew_partner(site: &Site) -> Result<PartnerFacts, Failure> {
    let by = By { who: Who::Job("demo"), origin: Origin::Site };
    let handed = app::change(site, Actor::owner(&by), Language::default(), |cx| {
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
    for (part, member_id) in PEOPLE.cast.iter().zip(1..) {
        let Some(profile) = members::find(tx, member_id)? else { continue };
        all.push(MemberFacts {
            username: profile.username,
            password: PASSWORD.to_owned(),
            member_id,
            email: profile.email,
            role: profile.role.name().to_owned(),
            name: profile.real_name,
            state: part.state.clone(),
        });
    }
    let first = all.iter().position(|member| member.state == "current flyer").unwrap_or(0);
    all[..=first].rotate_right(1);
    Ok(all)
}
