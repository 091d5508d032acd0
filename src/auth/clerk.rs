//! The clerk at the desk: a session in a cookie, which the pages accept and the API does not.

use super::challenge;
use super::cookie::Cookie;
use super::origin;
use super::session::{self, token_hash};
use crate::domain::audit::Actor;
use crate::domain::ids::MemberId;
use crate::domain::role::{Rank, Role};
use crate::http::call::{Call, PrincipalId};
use crate::http::failure::Failure;
use crate::http::reply::Reply;
use crate::http::row::Row;
use crate::i18n::language::Text;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::Write;
use crate::store::tables::members::Account;
use crate::store::tables::sessions::{self, Session, TokenHash};

/// The token of the session that is open in a browser.
pub(crate) const SESSION: Cookie = Cookie::new("desk", None);
/// The token of a sign-in whose second factor is due.
pub(crate) const CHALLENGE: Cookie = Cookie::new("step", Some(challenge::LIFE_SECONDS));

/// The form that ends a session; sent after its end, nothing is lost.
const SIGN_OUT: &str = "/desk/sign-out";

/// A member of the staff who is signed in in this browser.
#[derive(Debug)]
pub struct Clerk {
    id: MemberId,
    role: Role,
    session: TokenHash,
    proofs: Proofs,
    actor: Actor,
}

/// When a session last proved the identity of its holder.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Proofs {
    /// By signing in, or by a password or code since.
    pub(crate) at: Moment,
    /// By a password or code since the sign-in.
    pub(crate) anew_at: Moment,
}

/// Checks during a long answer that the clerk's session is still in force and the clerk's role unchanged.
#[derive(Debug)]
pub(crate) struct SessionGuard {
    id: MemberId,
    role: Role,
    session: TokenHash,
}

impl SessionGuard {
    /// 401 once the session has ended or the role has changed.
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

    pub(crate) fn id(&self) -> MemberId {
        self.id
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// The clerk's rank, which decides whose accounts the clerk may change.
    pub(crate) fn rank(&self) -> Rank {
        Rank::Account { member_id: self.id, role: self.role }
    }

    /// The session that this browser holds.
    pub(crate) fn session(&self) -> &TokenHash {
        &self.session
    }

    /// The clerk and the origin of the call, for the audit log.
    pub(crate) fn actor(&self) -> &Actor {
        &self.actor
    }

    /// Why this clerk may not change an account: see [`Rank::denial`].
    pub(crate) fn denial(&self, subject: &Account) -> Option<&'static str> {
        self.rank().denial(subject.member_id, subject.role)
    }

    /// Ends the session that this browser holds.
    pub(crate) fn end_session(&self, tx: &Write) -> Result<(), Failure> {
        sessions::delete(tx, &self.session)?;
        Ok(())
    }

    /// 403 unless the last proof of identity is recent, see [`session::check_fresh`].
    pub(crate) fn check_proven(&self, now: Moment) -> Result<(), Failure> {
        session::check_fresh(self.proofs.at, now)
    }

    /// The session's last proofs of identity.
    pub(crate) fn proofs(&self) -> Proofs {
        self.proofs
    }

    /// 403 where a row is for admins and the clerk is none, or needs a recent proof of identity.
    pub(super) fn check_row(&self, row: &Row, now: Moment) -> Result<(), Failure> {
        if row.admins {
            self.check_admin()?;
        }
        if row.proven { self.check_proven(now) } else { Ok(()) }
    }

    /// 403 unless the clerk is an admin.
    pub(crate) fn check_admin(&self) -> Result<(), Failure> {
        let refused = || Failure::not_allowed().saying(Text::new("site.admins"));
        if self.role == Role::Admin { Ok(()) } else { Err(refused()) }
    }
}

/// The clerk whose session the browser holds, if it is in force and still a clerk's.
pub(crate) fn find(site: &Site, call: &Call) -> Result<Option<Clerk>, Failure> {
    let Some(hash) = token(site, call).map(token_hash) else { return Ok(None) };
    let now = site.now();
    let Some(found) = find_in_force(site, &hash)? else { return Ok(None) };
    call.principal.set(PrincipalId::Member(found.member_id));
    if found.is_due_for_touch(now) {
        session::touch(site, &hash, now);
    }
    let actor = call.actor(found.member_id);
    let proofs = Proofs { at: found.proven_at, anew_at: found.proven_anew_at };
    Ok(Some(Clerk { id: found.member_id, role: found.role, session: hash, proofs, actor }))
}

/// The session, if it is in force and belongs to a member of the staff.
fn find_in_force(site: &Site, hash: &TokenHash) -> Result<Option<Session>, Failure> {
    let now = site.now();
    let found = site.store.read(|tx| Ok(sessions::find(tx, hash, now)?))?;
    Ok(found.filter(|found| found.role.is_staff() && !found.banned && !found.leaves))
}

/// Redirects to the sign-in, see [`origin::to_sign_in`].
pub(crate) fn to_sign_in(call: &Call) -> Reply {
    origin::to_sign_in(call, "/desk", "/desk/sign-in", SIGN_OUT)
}

/// The token of the session that the browser holds, in force or not.
pub(super) fn token<'a>(site: &Site, call: &'a Call) -> Option<&'a str> {
    SESSION.value(site, call)
}
