//! PrincipalId sits at the desk: a session in a cookie, which pages take and the API does not.

use super::session::{self, token_hash};
use crate::domain::audit::By;
use crate::domain::role::{Rank, Role};
use crate::http::call::{Call, PrincipalId};
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::i18n::language::Text;
use crate::site::Site;
use crate::store::tables::members::Account;
use crate::store::tables::sessions::{self, Session, TokenHash};

/// Over https: a browser then takes the cookie from this very host and over nothing else.
const SECURE_NAME: &str = "__Host-desk";
/// Over plain http, where browsers refuse that prefix, also at `localhost`.
const PLAIN_NAME: &str = "desk";
const TOKEN_CHARS_MAX: usize = 128;

/// Somebody of the desk, or an admin, who is signed in in this browser.
#[derive(Debug)]
pub struct Clerk {
    id: i64,
    role: Role,
    session: TokenHash,
    /// When the holder of the session last proved who they are.
    proven_at: i64,
    by: By,
}

/// Lets a clerk go on with an answer that takes its time, for as long as the session that asked for it is in force and its
/// holder's role is the same.
#[derive(Debug)]
pub(crate) struct SessionGuard {
    id: i64,
    role: Role,
    session: TokenHash,
}

impl SessionGuard {
    /// 401 once the session has ended, or is not what it was.
    pub(crate) fn check(&self, site: &Site) -> Result<(), Failure> {
        let found = find_in_force(site, &self.session)?;
        let is_same = found.is_some_and(|found| found.member_id == self.id && found.role == self.role);
        if is_same { Ok(()) } else { Err(Failure::not_signed_in().because("the session ended meanwhile")) }
    }
}

impl Clerk {
    pub(crate) fn session_guard(&self) -> SessionGuard {
        SessionGuard { id: self.id, role: self.role, session: self.session }
    }

    pub(crate) fn id(&self) -> i64 {
        self.id
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// Whom this clerk may serve.
    pub(crate) fn rank(&self) -> Rank {
        Rank::Account { member_id: self.id, role: self.role }
    }

    /// The session that this browser holds.
    pub(crate) fn session(&self) -> &TokenHash {
        &self.session
    }

    /// The clerk and the origin of the call, for the audit log.
    pub(crate) fn by(&self) -> &By {
        &self.by
    }

    /// Why this clerk may not serve an account: see [`Rank::denial`].
    pub(crate) fn denial(&self, subject: &Account) -> Option<&'static str> {
        self.rank().denial(subject.member_id, subject.role)
    }

    /// For a change of what opens the own account: see [`session::is_fresh`].
    pub(crate) fn check_proven(&self, now: i64) -> Result<(), Failure> {
        if session::is_fresh(self.proven_at, now) { Ok(()) } else { Err(Failure::reauthentication_needed()) }
    }

    /// For what only an admin may do.
    pub(crate) fn check_admin(&self) -> Result<(), Failure> {
        let refused = || Failure::not_allowed().saying(Text::new("site.admins"));
        if self.role == Role::Admin { Ok(()) } else { Err(refused()) }
    }
}

/// The clerk whose session the browser holds, if it is in force and still a clerk's.
pub(crate) fn find(site: &Site, call: &Call) -> Result<Option<Clerk>, Failure> {
    let Some(hash) = cookie(call, name(site, call)).map(token_hash) else { return Ok(None) };
    let now = site.now();
    let Some(found) = find_in_force(site, &hash)? else { return Ok(None) };
    call.principal.set(PrincipalId::Member(found.member_id));
    if found.is_due_for_touch(now) {
        let touched = site.store.write(now, |tx| Ok(sessions::touch(tx, &hash)?));
        _ = touched.inspect_err(|e| tracing::warn!(cause = %e, "a session's last use was not written"));
    }
    let by = call.by(found.member_id);
    let proven_at = found.proven_at;
    Ok(Some(Clerk { id: found.member_id, role: found.role, session: hash, proven_at, by }))
}

/// The session, if it is in force and somebody's who works here.
fn find_in_force(site: &Site, hash: &TokenHash) -> Result<Option<Session>, Failure> {
    let now = site.now();
    let found = site.store.read(|tx| Ok(sessions::find(tx, hash, now)?))?;
    Ok(found.filter(|found| found.role.is_staff() && !found.banned))
}

/// Leads a browser that is not signed in to the sign-in, which leads back to the page that was asked for where a GET
/// can ask for it.
pub(crate) fn to_sign_in(call: &Call) -> Reply {
    let wanted = if call.reads() && call.path != "/desk" { format!("?to={}", call.path) } else { String::new() };
    reply::see_other(&format!("/desk/sign-in{wanted}"))
}

/// The reply with a new session for the browser.
pub(crate) fn with_session_cookie(site: &Site, call: &Call, reply: Reply, token: &str) -> Reply {
    reply.with_cookie(&set(site, call, name(site, call), token, None))
}

/// The reply that ends the browser's session.
pub(crate) fn without_session_cookie(site: &Site, call: &Call, reply: Reply) -> Reply {
    reply.with_cookie(&set(site, call, name(site, call), "", Some(0)))
}

/// Whether the browser speaks https: with us, or with the machine before us that does it for us.
pub(crate) fn is_secure(site: &Site, call: &Call) -> bool {
    let public = site.config.public_url.as_deref().and_then(|url| url.strip_prefix("https://"));
    let host = public.and_then(|rest| rest.split('/').next()).map(crate::http::call::host_name);
    call.secure || host.is_some_and(|host| call.host() == Some(host))
}

/// The token of the session that the browser holds, in force or not.
pub(super) fn token<'a>(site: &Site, call: &'a Call) -> Option<&'a str> {
    cookie(call, name(site, call))
}

fn name(site: &Site, call: &Call) -> &'static str {
    if is_secure(site, call) { SECURE_NAME } else { PLAIN_NAME }
}

pub(crate) fn cookie<'a>(call: &'a Call, name: &str) -> Option<&'a str> {
    long_cookie(call, name, TOKEN_CHARS_MAX)
}

pub(super) fn long_cookie<'a>(call: &'a Call, name: &str, chars_max: usize) -> Option<&'a str> {
    let mut pairs = call.header("cookie").into_iter().flat_map(|line| line.split(';'));
    let value = pairs.find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))?;
    Some(value).filter(|value| !value.is_empty() && value.len() <= chars_max)
}

pub(crate) fn set(site: &Site, call: &Call, name: &str, value: &str, seconds: Option<i64>) -> String {
    let secure = if is_secure(site, call) { "; Secure" } else { "" };
    let age = seconds.map_or_else(String::new, |seconds| format!("; Max-Age={seconds}"));
    format!("{name}={value}; Path=/{age}; HttpOnly; SameSite=Strict{secure}")
}

/// The way from a right password to its second factor, as the browser carries it.
pub(crate) mod challenge_cookie {
    use super::{Call, Reply, Site};

    const SECONDS: i64 = 10 * 60;

    fn name(site: &Site, call: &Call) -> &'static str {
        if super::is_secure(site, call) { "__Host-step" } else { "step" }
    }

    /// The token that the browser brings.
    pub(crate) fn token<'a>(site: &Site, call: &'a Call) -> Option<&'a str> {
        super::cookie(call, name(site, call))
    }

    pub(crate) fn set(site: &Site, call: &Call, reply: Reply, token: &str) -> Reply {
        reply.with_cookie(&super::set(site, call, name(site, call), token, Some(SECONDS)))
    }

    pub(crate) fn clear(site: &Site, call: &Call, reply: Reply) -> Reply {
        reply.with_cookie(&super::set(site, call, name(site, call), "", Some(0)))
    }
}
