//! Sessions and booking tokens: the principal of the token that a request carries.

use crate::domain::audit::Actor;
use crate::domain::ids::{BookingId, MemberId};
use crate::domain::role::Role;
use crate::http::call::{Call, PrincipalId, TOKEN};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::keys::unhex;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::tables::sessions::{self, BookingToken, TokenHash};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::AUTHORIZATION;
use sha2::{Digest, Sha256};

const TOKEN_BYTES: usize = 32;
const TOKEN_CHARS_MAX: usize = 128;
/// How long after a proof of identity a session may change its account's credentials.
const PROOF_SECONDS: i64 = 10 * 60;
/// In base64url.
const TOKEN_CHARS: usize = (TOKEN_BYTES * 4).div_ceil(3);

/// A member with a session, staff included.
#[derive(Debug)]
pub struct Member {
    id: MemberId,
    role: Role,
    session: TokenHash,
    /// The session's last proof of identity, in Unix seconds.
    proven_at: Moment,
    leaves: bool,
    actor: Actor,
}

/// A session that may read the reports.
#[derive(Debug)]
pub struct Staff(());

/// The bearer of a token: a member's session, or the token that a booking gave.
#[derive(Debug)]
pub enum Bearer {
    /// A member's session.
    Member(Member),
    /// The token of a booking; `booking_id` is `None` where the token was issued without a booking.
    Booking { member_id: MemberId, booking_id: Option<BookingId> },
}

impl Member {
    pub(crate) fn id(&self) -> MemberId {
        self.id
    }

    pub(crate) fn role(&self) -> Role {
        self.role
    }

    /// The member and the origin of the call, for the audit log.
    pub(crate) fn actor(&self) -> &Actor {
        &self.actor
    }

    /// The session that this call came by.
    pub(crate) fn session(&self) -> &TokenHash {
        &self.session
    }

    /// Whether the member asked for the erasure of the account.
    pub(super) fn leaves(&self) -> bool {
        self.leaves
    }

    /// For a change of the account's credentials: 403 where the last proof of identity (a sign-in, or a password or code
    /// since) is more than ten minutes ago. A session token alone may be stolen.
    pub(crate) fn check_proven(&self, now: Moment) -> Result<(), Failure> {
        check_fresh(self.proven_at, now)
    }
}

impl Bearer {
    /// The member whose token it is.
    pub(crate) fn member_id(&self) -> MemberId {
        match self {
            Bearer::Member(member) => member.id,
            Bearer::Booking { member_id, .. } => *member_id,
        }
    }
}

/// 403 unless a proof of identity is recent enough to change credentials: ten minutes.
pub(crate) fn check_fresh(proven_at: Moment, now: Moment) -> Result<(), Failure> {
    if now - proven_at <= PROOF_SECONDS { Ok(()) } else { Err(Failure::reauthentication_needed()) }
}

/// A new token of 256 random bits, and its hash.
pub fn new_token() -> (String, TokenHash) {
    let token = URL_SAFE_NO_PAD.encode(crate::keys::random::<TOKEN_BYTES>());
    let hash = token_hash(&token);
    (token, hash)
}

/// The hash of a token, as it is stored.
pub fn token_hash(token: &str) -> TokenHash {
    Sha256::digest(token).into()
}

/// The token of `Authorization: Bearer <t>`, `Authorization: <t>` or `token: <t>`. Where the value of `Authorization` has
/// not the length of a token (a proxy's own credentials, or `Bearer null` of an app without a token), `token` counts.
pub(crate) fn token(call: &Call) -> Option<&str> {
    let authorization = call.header(AUTHORIZATION).map(|value| {
        let (scheme, rest) = value.split_once(' ').unwrap_or(("", value));
        if scheme.eq_ignore_ascii_case("bearer") { rest.trim() } else { value }
    });
    let token = authorization.filter(|text| text.len() == TOKEN_CHARS).or_else(|| call.header(TOKEN)).or(authorization);
    token.filter(|token| token.len() <= TOKEN_CHARS_MAX)
}

/// The hash of the session token that a call to an open operation carries, in force or not.
pub(crate) fn presented_session(call: &Call) -> Option<TokenHash> {
    token(call).map(token_hash)
}

/// The member whose session the request carries. A booking token is 403.
fn signed_in(site: &Site, call: &Call) -> Result<Member, Failure> {
    let token = token(call).ok_or_else(Failure::not_signed_in)?;
    let hash = token_hash(token);
    // Whose account is about to be erased has the own pages alone.
    if let Some(member) = find_member(site, call, hash)?.filter(|member| !member.leaves) {
        return Ok(member);
    }
    Err(match find_booking_token(site, &hash, site.now())? {
        Some(_) => Failure::not_allowed().saying(Text::new("not_allowed.booking")),
        None if is_signature(token) => Failure::not_signed_in().saying(Text::new("not_signed_in.signature")),
        None => Failure::not_signed_in(),
    })
}

/// The member of a session that is in force. A banned member has none.
pub(super) fn find_member(site: &Site, call: &Call, hash: TokenHash) -> Result<Option<Member>, Failure> {
    let now = site.now();
    let found = site.store.read(|tx| Ok(sessions::find(tx, &hash, now)?))?;
    let Some(found) = found.filter(|found| !found.banned) else { return Ok(None) };
    call.principal.set(PrincipalId::Member(found.member_id));
    if found.is_due_for_touch(now) {
        touch(site, &hash, now);
    }
    let actor = call.actor(found.member_id);
    let (proven_at, leaves) = (found.proven_at, found.leaves);
    Ok(Some(Member { id: found.member_id, role: found.role, session: hash, proven_at, leaves, actor }))
}

/// Whether a token has the form of a partner's signature, which partners take for the credential of the reports too.
fn is_signature(token: &str) -> bool {
    unhex(token).is_some_and(|digest| digest.len() == 32)
}

/// Records the session's use. On a full disk the session stays valid, and its use is recorded another time.
pub(super) fn touch(site: &Site, hash: &TokenHash, now: Moment) {
    let touched = site.store.write(now, |tx| Ok(sessions::touch(tx, hash)?));
    _ = touched.inspect_err(|e| tracing::warn!(cause = %e, "a session's last use was not written"));
}

fn find_booking_token(site: &Site, hash: &TokenHash, now: Moment) -> Result<Option<BookingToken>, Failure> {
    site.store.read(|tx| Ok(sessions::find_booking_token(tx, hash, now)?))
}

pub(crate) fn member(site: &Site, call: &Call) -> Result<Member, Failure> {
    let member = signed_in(site, call)?;
    if member.role == Role::Sync {
        return Err(Failure::not_allowed().saying(Text::new("not_allowed.sync")));
    }
    Ok(member)
}

/// The member whose session a call to an open operation carries; `None` without one, and where the session has ended.
pub(crate) fn member_if_any(site: &Site, call: &Call) -> Result<Option<Member>, Failure> {
    match member(site, call) {
        Ok(member) => Ok(Some(member)),
        Err(refusal) if refusal.status().is_client_error() => Ok(None),
        Err(fault) => Err(fault),
    }
}

pub(crate) fn staff(site: &Site, call: &Call) -> Result<Staff, Failure> {
    let Member { role, .. } = signed_in(site, call)?;
    if role.is_staff() || role == Role::Sync { Ok(Staff(())) } else { Err(Failure::not_allowed()) }
}

pub(crate) fn bearer(site: &Site, call: &Call) -> Result<Bearer, Failure> {
    let refusal = match member(site, call) {
        Ok(member) => return Ok(Bearer::Member(member)),
        Err(refusal) => refusal,
    };
    let Some(token) = token(call) else { return Err(refusal) };
    let Some(found) = find_booking_token(site, &token_hash(token), site.now())? else { return Err(refusal) };
    call.principal.set(PrincipalId::Booking(found.member_id));
    Ok(Bearer::Booking { member_id: found.member_id, booking_id: found.booking_id })
}
