//! Sessions, and the booking tokens that `generate-token` returns. Only hashes of tokens are stored.

use super::{account_claims, email_tokens, kiosks, passcodes, passkeys, pins, sign_in_steps, signing_links};
use crate::domain::ids::{BookingId, MemberId, PartnerId};
use crate::domain::role::Role;
pub(crate) use crate::keys::TokenHash;
use crate::keys::hex;
use crate::moment::Moment;
use crate::store::joining::{OPENS, stays};
use crate::store::personal::{Ahead, Expiry, Rows, Table, deleted, secret};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "sessions",
    "",
    &[secret("token_hash"), deleted("user_agent"), secret("bound")],
    &[Rows::deleted("sessions", "member_id = :id")],
)
.expires(&[Expiry::at("token_hash", "min(ends_at, seen_at + idle_seconds)")])
.ahead(Ahead::Deleted("max(created_at, seen_at)"))
.joins(&[stays("member_id", OPENS)])];

/// A session's last use is written again after this fraction of the idle time.
const TOUCH_FRACTION: i64 = 24;
const SESSION_ID_BYTES: usize = 8;
/// A member who never reuses a session gets a new one at each sign-in; the least recently used are deleted first.
const SESSIONS_PER_MEMBER_MAX: i64 = 500;
/// Each change of a booking requests a new token.
const BOOKING_TOKENS_PER_MEMBER_MAX: i64 = 200;

row! {
    /// A session in force.
    #[derive(Debug)]
    pub struct Session in "s." {
        /// The member who is signed in.
        pub member_id: MemberId,
        /// The role of the account now.
        pub role: Role = "m.role",
        /// Whether the account is banned now.
        pub banned: bool = "m.banned_at IS NOT NULL",
        /// Whether the member asked for the erasure of the account.
        pub leaves: bool = "m.leaves_at IS NOT NULL",
        /// When the member last proved their identity; Unix seconds.
        pub proven_at: Moment,
        /// The same, with a password or code since the sign-in; 0 where the sign-in alone did.
        pub proven_anew_at: Moment,
        seen_at: Moment,
        idle_seconds: i64,
        bound: Option<Vec<u8>>,
    }
}

/// What binds the token of a session to its member.
fn session_mark(tx: &Read, token_hash: &TokenHash, member_id: MemberId) -> Option<Vec<u8>> {
    tx.binding("sessions", &[member_id.into()], token_hash).map(Vec::from)
}

/// What binds the token of a booking to its member and the booking.
fn booking_mark(
    tx: &Read,
    token_hash: &TokenHash,
    member_id: MemberId,
    booking_id: Option<BookingId>,
) -> Option<Vec<u8>> {
    tx.binding("booking_tokens", &[member_id.into(), booking_id.map_or(0, i64::from).into()], token_hash).map(Vec::from)
}

impl Session {
    /// Whether the stored last use is old enough to be written again.
    pub(crate) fn is_due_for_touch(&self, now: Moment) -> bool {
        now - self.seen_at >= self.idle_seconds / TOUCH_FRACTION
    }
}

row! {
    /// A booking token in force.
    #[derive(Debug)]
    pub(crate) struct BookingToken in "b." {
        pub member_id: MemberId,
        pub booking_id: Option<BookingId>,
        bound: Option<Vec<u8>>,
    }
}

row! {
    /// A session as its member sees it.
    #[derive(Debug)]
    pub(crate) struct Listed {
        pub token_hash: TokenHash,
        pub user_agent: String,
        pub created_at: Moment,
        pub seen_at: Moment,
        /// When the session ends unless it is used.
        pub ends_at: Moment = "min(ends_at, seen_at + idle_seconds)",
    }
}

impl Listed {
    /// A public name of the session, from which the token cannot be derived.
    pub(crate) fn session_id(&self) -> String {
        hex(&self.token_hash[..SESSION_ID_BYTES])
    }
}

/// The sessions in force, newest first.
pub(crate) fn list_of_member(tx: &Read, member_id: MemberId, now: Moment) -> Result<Vec<Listed>> {
    let sql = sql!("SELECT ", Listed::COLUMNS, " FROM sessions
               WHERE member_id = ?1 AND ?2 < ends_at AND ?2 < seen_at + idle_seconds ORDER BY created_at DESC, token_hash");
    tx.list(sql, (member_id, now))
}

/// Adds a session, and deletes the member's least recently used ones beyond the limit.
pub fn insert(tx: &Write, token_hash: &TokenHash, member_id: MemberId, role: Role, user_agent: &str) -> Result<usize> {
    let (idle, most) = role.session_lifetime();
    insert!(tx.run, "INSERT INTO sessions" {
        token_hash: &token_hash[..], member_id, user_agent, created_at: tx.now(), seen_at: tx.now(),
        proven_at: tx.now(), idle_seconds: idle.as_secs() as i64, ends_at: tx.now() + most.as_secs() as i64,
        bound: session_mark(tx, token_hash, member_id),
    })?;
    let surplus = sql!(
        "DELETE FROM sessions WHERE token_hash IN
                   (SELECT token_hash FROM sessions WHERE member_id = :id AND token_hash <> :hash
                    ORDER BY seen_at DESC, created_at DESC LIMIT -1 OFFSET :kept)"
    );
    tx.run(surplus, named_params! {":id": member_id, ":hash": &token_hash[..], ":kept": SESSIONS_PER_MEMBER_MAX - 1})
}

/// The session of a token while it is in force.
pub fn find(tx: &Read, token_hash: &TokenHash, now: Moment) -> Result<Option<Session>> {
    let sql = sql!(
        "SELECT ",
        Session::COLUMNS,
        " FROM sessions s JOIN members m ON m.member_id = s.member_id
               WHERE s.token_hash = ?1 AND s.parked_at IS NULL AND ?2 < s.ends_at AND ?2 < s.seen_at + s.idle_seconds"
    );
    let found: Option<Session> = tx.find(sql, (&token_hash[..], now))?;
    Ok(found.filter(|found| found.bound.is_some() && found.bound == session_mark(tx, token_hash, found.member_id)))
}

row! {
    /// A session that waits at a shared screen: its token is not valid until its owner resumes it.
    #[derive(Debug)]
    pub(crate) struct Parked in "s." {
        pub member_id: MemberId,
        pub name: String = "coalesce(nullif(m.real_name, ''), nullif(m.screen_name, ''), m.username)",
        pub username: String = "m.username",
        pub role: Role = "m.role",
        pub banned: bool = "m.banned_at IS NOT NULL",
        pub proven_at: Moment,
        pub wrong_pins: i64,
        bound: Option<Vec<u8>>,
    }
}

pub(crate) fn find_parked(tx: &Read, token_hash: &TokenHash, now: Moment) -> Result<Option<Parked>> {
    let sql = sql!(
        "SELECT ",
        Parked::COLUMNS,
        " FROM sessions s JOIN members m ON m.member_id = s.member_id WHERE s.token_hash = ?1
          AND s.parked_at IS NOT NULL AND ?2 < s.ends_at AND ?2 < s.seen_at + s.idle_seconds"
    );
    let found: Option<Parked> = tx.find(sql, (&token_hash[..], now))?;
    Ok(found.filter(|found| found.bound.is_some() && found.bound == session_mark(tx, token_hash, found.member_id)))
}

/// Parks a session: its token is not valid any more.
pub(crate) fn park(tx: &Write, token_hash: &TokenHash) -> Result<usize> {
    let sql =
        sql!("UPDATE sessions SET parked_at = ?2, wrong_pins = 0, seen_at = max(seen_at, ?2) WHERE token_hash = ?1");
    tx.run(sql, (&token_hash[..], tx.now()))
}

/// Resumes a parked session under a new token.
pub(crate) fn resume(tx: &Write, parked: &TokenHash, renewed: &TokenHash) -> Result<usize> {
    let Some(found) = find_parked(tx, parked, tx.now())? else { return Ok(0) };
    let bound = session_mark(tx, renewed, found.member_id);
    let sql = sql!(
        "UPDATE sessions SET token_hash = ?2, parked_at = NULL, wrong_pins = 0, seen_at = max(seen_at, ?3), bound = ?4
               WHERE token_hash = ?1 AND parked_at IS NOT NULL"
    );
    tx.run(sql, (&parked[..], &renewed[..], tx.now(), bound))
}

/// Counts a wrong PIN at a parked session.
pub(crate) fn count_wrong_pin(tx: &Write, token_hash: &TokenHash) -> Result<usize> {
    tx.run(sql!("UPDATE sessions SET wrong_pins = wrong_pins + 1 WHERE token_hash = ?1"), [&token_hash[..]])
}

/// Whether a token is still valid for a session, a booking, or the second step of a sign-in.
pub(crate) fn is_in_force(tx: &Read, token_hash: &TokenHash, now: Moment) -> Result<bool> {
    if find(tx, token_hash, now)?.is_some_and(|session| !session.banned) {
        return Ok(true);
    }
    Ok(find_booking_token(tx, token_hash, now)?.is_some() || sign_in_steps::find(tx, token_hash, now)?.is_some())
}

/// Records that the holder of the session has just proved their identity anew.
pub(crate) fn set_proven(tx: &Write, token_hash: &TokenHash) -> Result<usize> {
    tx.run(
        sql!("UPDATE sessions SET proven_at = max(proven_at, ?2), proven_anew_at = max(proven_anew_at, ?2) WHERE token_hash = ?1"),
        (&token_hash[..], tx.now()),
    )
}

pub(crate) fn touch(tx: &Write, token_hash: &TokenHash) -> Result<usize> {
    tx.run(sql!("UPDATE sessions SET seen_at = max(seen_at, ?2) WHERE token_hash = ?1"), (&token_hash[..], tx.now()))
}

pub(crate) fn delete(tx: &Write, token_hash: &TokenHash) -> Result<usize> {
    tx.run(sql!("DELETE FROM sessions WHERE token_hash = ?1"), [&token_hash[..]])
}

/// Ends the member's credentials and all that they opened: everything of [`delete_of_member`], the booking PIN, every
/// passcode that was sent, and a mailed link that would replace the confirmed address. For a change after which no
/// earlier credential may open the account.
pub(crate) fn end_credentials(tx: &Write, member_id: MemberId, kept: Option<&TokenHash>) -> Result<usize> {
    pins::clear(tx, member_id)?;
    end_all_but_pin(tx, member_id, kept)
}

/// Like [`end_credentials`], and leaves the booking PIN.
pub(crate) fn end_all_but_pin(tx: &Write, member_id: MemberId, kept: Option<&TokenHash>) -> Result<usize> {
    account_claims::delete_of_member(tx, member_id)?;
    passcodes::delete_of_member(tx, member_id)?;
    email_tokens::end_address_changes(tx, member_id)?;
    delete_of_member(tx, member_id, kept)
}

/// Ends everything that a member's old credentials opened: every session except `kept`, every booking token, every
/// passkey challenge, a sign-in that waits for its second step, guest sign-ins and codes at kiosks, and the code for
/// signing a waiver.
pub fn delete_of_member(tx: &Write, member_id: MemberId, kept: Option<&TokenHash>) -> Result<usize> {
    kiosks::end_of_member(tx, member_id)?;
    signing_links::delete_of_member(tx, member_id)?;
    tx.run(sql!("DELETE FROM booking_tokens WHERE member_id = :id"), named_params! {":id": member_id})?;
    passkeys::forget_challenges(tx, member_id)?;
    sign_in_steps::delete(tx, member_id)?;
    let sql = sql!("DELETE FROM sessions WHERE member_id = :id AND token_hash IS NOT :kept");
    tx.run(sql, named_params! {":id": member_id, ":kept": kept.map(|hash| &hash[..])})
}

/// Adds a token for one member and one booking, valid until `ends_at` (Unix seconds).
pub fn insert_booking_token(
    tx: &Write,
    token_hash: &TokenHash,
    member_id: MemberId,
    booking_id: Option<BookingId>,
    ends_at: Moment,
) -> Result<usize> {
    insert!(tx.run, "INSERT INTO booking_tokens" {
        token_hash: &token_hash[..], member_id, booking_id, created_at: tx.now(), ends_at,
        bound: booking_mark(tx, token_hash, member_id, booking_id),
    })?;
    let surplus = sql!(
        "DELETE FROM booking_tokens WHERE token_hash IN
                   (SELECT token_hash FROM booking_tokens WHERE member_id = :id AND token_hash <> :hash
                    ORDER BY ends_at DESC LIMIT -1 OFFSET :kept)"
    );
    let kept = BOOKING_TOKENS_PER_MEMBER_MAX - 1;
    tx.run(surplus, named_params! {":id": member_id, ":hash": &token_hash[..], ":kept": kept})
}

pub(crate) fn find_booking_token(tx: &Read, token_hash: &TokenHash, now: Moment) -> Result<Option<BookingToken>> {
    let sql = sql!(
        "SELECT ",
        BookingToken::COLUMNS,
        " FROM booking_tokens b JOIN members m ON m.member_id = b.member_id
               WHERE b.token_hash = ?1 AND ?2 < b.ends_at AND m.banned_at IS NULL"
    );
    let found: Option<BookingToken> = tx.find(sql, (&token_hash[..], now))?;
    let ours = |found: &BookingToken| booking_mark(tx, token_hash, found.member_id, found.booking_id);
    Ok(found.filter(|found| found.bound.is_some() && found.bound == ours(found)))
}

/// Ends the booking tokens that were issued to a partner: those of the member and the moment of a row in its history.
pub(crate) fn end_booking_tokens_of_partner(tx: &Write, partner_id: PartnerId) -> Result<usize> {
    let sql = sql!(
        "DELETE FROM booking_tokens AS b WHERE :now < b.ends_at AND EXISTS
                   (SELECT 1 FROM history h WHERE h.at = b.created_at AND h.event = 'token.issued'
                           AND h.partner_id = :partner_id AND h.member_id = b.member_id)"
    );
    tx.run(sql, named_params! {":now": tx.now(), ":partner_id": partner_id})
}
