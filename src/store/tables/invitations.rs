//! Invitations of staff: each has a code, of which only a keyed hash is stored, until it is used, withdrawn or expired.

use crate::domain::ids::{InvitationId, MemberId};
use crate::domain::role::Role;
use crate::moment::Moment;
use crate::store::joining::{WHO_DID, stays};
use crate::store::personal::{Ahead, Expiry, Mention, OUR_WORD, Rows, Table, deleted, mentioned, not_personal, secret};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "invitations",
    "invitation_id",
    &[
        secret("code_hash"),
        mentioned("name", Mention::RowRemoved),
        deleted("email"),
        not_personal("role", OUR_WORD),
        not_personal("language", OUR_WORD),
    ],
    &[
        Rows::deleted("invitations_to_the_address", concat!("email IN ", spellings!())),
        Rows::deleted("invitations_given", "invited_by = :id").only(&["role", "created_at", "ends_at"]),
    ],
)
.expires(&[Expiry::at("invitation_id", "ends_at")])
.ahead(Ahead::BeginNow("created_at"))
.joins(&[stays("invited_by", WHO_DID)])];

row! {
    /// A valid invitation: not expired, and by a member who is still an admin, or by the owner of the machine for a site without one.
    #[derive(Debug, Clone)]
    pub(crate) struct Invitation in "i." {
        pub(crate) invitation_id: InvitationId,
        pub(crate) name: String,
        /// The address to which the code was mailed; empty: the code was printed.
        pub(crate) email: String,
        pub(crate) role: Role,
        pub(crate) language: String,
        /// `None`: the owner of the machine.
        pub(crate) invited_by: Option<MemberId>,
        pub(crate) inviter: String = "coalesce(nullif(m.screen_name, ''), m.username, '')",
        pub(crate) ends_at: Moment,
    }
}

const GOOD: &str = joined!(
    "SELECT ",
    Invitation::COLUMNS,
    " FROM invitations i LEFT JOIN members m ON m.member_id = i.invited_by
      WHERE i.ends_at > :now AND iif(i.invited_by IS NULL, NOT EXISTS (SELECT 1 ",
    ADMINS,
    "), m.role = 'admin' AND m.banned_at IS NULL)"
);

/// The admins who can sign in.
const ADMINS: &str = "FROM members a WHERE a.role <> 'member' AND a.role = 'admin' AND a.banned_at IS NULL
     AND (a.password_hash IS NOT NULL OR EXISTS (SELECT 1 FROM passkeys p WHERE p.member_id = a.member_id)
          OR EXISTS (SELECT 1 FROM social_links s WHERE s.member_id = a.member_id))";

/// A new invitation.
#[derive(Debug)]
pub(crate) struct NewInvitation<'a> {
    pub(crate) code_hash: &'a [u8; 32],
    pub(crate) form_number: i64,
    pub(crate) name: &'a str,
    pub(crate) email: &'a str,
    pub(crate) role: Role,
    pub(crate) language: &'a str,
    /// `None`: the owner of the machine.
    pub(crate) invited_by: Option<MemberId>,
    /// When the invitation expires; Unix seconds.
    pub(crate) ends_at: Moment,
}

/// Adds an invitation; returns its number.
pub(crate) fn insert(tx: &Write, new: &NewInvitation) -> Result<InvitationId> {
    insert!(tx.insert, "INSERT INTO invitations" {
        code_hash: &new.code_hash[..], form_number: new.form_number, name: new.name, email: new.email,
        role: new.role.name(), language: new.language, invited_by: new.invited_by, created_at: tx.now(),
        ends_at: new.ends_at,
    })
    .map(InvitationId)
}

pub(crate) fn find_by_code(tx: &Read, code_hash: &[u8; 32], now: Moment) -> Result<Option<Invitation>> {
    let sql = sql!(GOOD, " AND i.code_hash = :hash");
    tx.find(sql, named_params! {":now": now, ":hash": &code_hash[..]})
}

/// Whether the code was for the first admin of a site that has one by now.
pub(crate) fn is_spare(tx: &Read, code_hash: &[u8; 32], now: Moment) -> Result<bool> {
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM invitations WHERE code_hash = ?1 AND ?2 < ends_at AND invited_by IS NULL)
            AND EXISTS (SELECT 1 ",
        ADMINS,
        ")"
    );
    tx.get(sql, (&code_hash[..], now))
}

/// The valid invitations, newest first.
pub(crate) fn list(tx: &Read, now: Moment, limit: i64) -> Result<Vec<Invitation>> {
    let sql = sql!(GOOD, " ORDER BY i.invitation_id DESC LIMIT :limit");
    tx.list(sql, named_params! {":now": now, ":limit": limit})
}

/// The number of invitations, valid or not.
pub(crate) fn count(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM invitations"), [])
}

/// Whether an invitation names this person and role.
pub(crate) fn is_for(tx: &Read, invitation_id: InvitationId, name: &str, email: &str, role: Role) -> Result<bool> {
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM invitations WHERE invitation_id = ?1 AND name = ?2 AND email = ?3 AND role = ?4)"
    );
    tx.get(sql, (invitation_id, name, email, role.name()))
}

/// The number of the invitation that a form made.
pub(crate) fn find_by_form(tx: &Read, form_number: i64) -> Result<Option<InvitationId>> {
    tx.find(sql!("SELECT invitation_id FROM invitations WHERE form_number = ?1"), [form_number])
}

pub(crate) fn delete(tx: &Write, invitation_id: InvitationId) -> Result<usize> {
    tx.run(sql!("DELETE FROM invitations WHERE invitation_id = ?1"), [invitation_id])
}

/// Deletes the invitations that were mailed to an address, before a new one.
pub(crate) fn delete_to(tx: &Write, email: &str) -> Result<usize> {
    tx.run(sql!("DELETE FROM invitations WHERE email = ?1 AND email <> ''"), [email])
}

/// Deletes the invitations of a member who is no longer an admin.
pub(crate) fn delete_of_inviter(tx: &Write, member_id: MemberId) -> Result<usize> {
    tx.run(sql!("DELETE FROM invitations WHERE invited_by = ?1"), [member_id])
}
