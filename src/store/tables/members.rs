//! Members: their accounts, profiles and booking PINs.

use super::accounts::PASSWORD;
use super::bans;
use crate::domain::booking::Standing;
use crate::domain::certificate::name_on_paper;
use crate::domain::ids::{MemberId, TunnelId};
use crate::domain::password::Owner;
use crate::domain::role::Role;
use crate::http::failure::Failure;
use crate::moment::Moment;
use crate::store::personal::{CATALOGUE, OUR_WORD, Rows, Seen, Table, emptied, not_personal, replaced, searched};
pub(crate) use crate::store::tables::accounts::{
    ACCOUNTS_MAX, Account, find_account, find_account_by_id, find_certain_account, list_accounts,
};
use crate::store::{Read, Write, is_taken};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "members",
    "member_id",
    &[
        replaced("username", ":name"),
        replaced("screen_name", ":name"),
        replaced("real_name", ":name"),
        emptied("email"),
        emptied("phone"),
        emptied("country"),
        emptied("country_code"),
        not_personal("role", OUR_WORD),
        replaced("password_hash", "NULL").secret(),
        replaced("pin_hash", "NULL").secret(),
        emptied("language"),
        not_personal("reminded_by", OUR_WORD),
        searched("staff_note"),
        searched("ban_reason"),
        not_personal("programmes", CATALOGUE),
    ],
    &[Rows::emptied(
        "account",
        "member_id = :id",
        "email_confirmed_at = NULL, phone_confirmed_at = NULL, dob = NULL, tunnel_id = NULL, banned_until = NULL, leaves_at = NULL,
         banned_at = coalesce(banned_at, :now), updated_at = :now",
        "others' entries and the books refer to its number",
    )],
)
.seen(Seen::OnPages)];

row! {
    /// The columns of a member that a profile shows; flight times come from the logbook.
    #[derive(Debug)]
    pub(crate) struct Profile in "m." {
        pub member_id: MemberId,
        pub username: String,
        pub screen_name: String,
        pub real_name: String,
        pub email: String,
        pub email_verified: bool = "m.email_confirmed_at IS NOT NULL",
        pub phone: String,
        pub phone_verified: bool = "m.phone_confirmed_at IS NOT NULL",
        pub country: String,
        pub country_code: String,
        pub dob: Option<Moment>,
        pub tunnel_id: Option<TunnelId>,
        pub tunnel_name: Option<String> = "t.name",
        pub tunnel_country: Option<String> = "t.country",
        pub role: Role,
        pub join_date: Moment,
        pub paid_until: Option<Moment>,
        pub banned_at: Option<Moment>,
        pub flight_minutes: i64,
    }
}

impl Profile {
    /// The name that pages show: the real name, else the screen name, else the username.
    pub(crate) fn display_name(&self) -> &str {
        name_on_paper(&self.real_name, &self.screen_name, &self.username)
    }

    /// The member as the rules of passwords see the owner of a new one, at the tunnel of this name.
    pub(crate) fn owner<'a>(&'a self, site: &'a str) -> Owner<'a> {
        Owner {
            username: &self.username,
            email: &self.email,
            real_name: &self.real_name,
            screen_name: &self.screen_name,
            site,
        }
    }
}

/// A new member.
#[derive(Debug, Default)]
pub struct NewMember<'a> {
    /// The username, unique without regard to case.
    pub username: &'a str,
    /// The name that others see.
    pub screen_name: &'a str,
    /// The person's first and last name.
    pub real_name: &'a str,
    /// The e-mail address, not confirmed yet; empty: none.
    pub email: &'a str,
    /// The telephone number in E.164, not confirmed yet; empty: none.
    pub phone: &'a str,
    /// The country: ISO 3166-1 alpha-2; empty: not known.
    pub country: &'a str,
    /// The calling code of the country, without `+`; empty: not known.
    pub country_code: &'a str,
    /// Midnight UTC of the day of birth, in Unix seconds.
    pub dob: Option<Moment>,
    /// The home tunnel.
    pub tunnel_id: Option<TunnelId>,
    /// The role: a name of [`Role`]; empty: a member.
    pub role: &'a str,
    /// The hash of the password, a PHC string; `None`: the account has no password yet.
    pub password_hash: Option<&'a str>,
    /// Whether the site's terms are accepted now.
    pub accepted_terms: bool,
}

row! {
    /// The hashes of a member's password and PIN. At least one changes with a new password, a recovery and a new PIN.
    #[derive(Debug)]
    pub(crate) struct Secrets {
        password_hash: Option<String>,
        pin_hash: Option<[u8; 32]>,
    }
}

impl Secrets {
    /// The parts for a keyed hash.
    pub(crate) fn parts(&self) -> [&[u8]; 2] {
        let password = self.password_hash.as_deref().unwrap_or_default().as_bytes();
        [password, self.pin_hash.as_ref().map_or(&[][..], |hash| &hash[..])]
    }
}

/// Adds a member; returns the number. Refuses a username that is taken.
pub fn insert(tx: &Write, new: &NewMember) -> std::result::Result<MemberId, Failure> {
    let role = if new.role.is_empty() { Role::Member.name() } else { new.role };
    let inserted = insert!(tx.insert, "INSERT INTO members" {
        username: new.username, screen_name: new.screen_name, real_name: new.real_name, email: new.email,
        phone: new.phone, country: new.country, country_code: new.country_code, dob: new.dob,
        tunnel_id: new.tunnel_id, role,
        terms_accepted_at: new.accepted_terms.then_some(tx.now()), join_date: tx.now(), updated_at: tx.now(),
    });
    let member_id = inserted.map(MemberId).map_err(username_conflict)?;
    if let Some(phc) = new.password_hash {
        set_password(tx, member_id, phc)?;
    }
    Ok(member_id)
}

fn username_conflict(error: rusqlite::Error) -> Failure {
    if is_taken(&error) { Failure::username_taken() } else { error.into() }
}

fn email_conflict(error: rusqlite::Error) -> Failure {
    if is_taken(&error) { Failure::email_taken() } else { error.into() }
}

/// The smallest member number.
pub(crate) fn find_first(tx: &Read) -> Result<Option<MemberId>> {
    tx.get(sql!("SELECT min(member_id) FROM members"), [])
}

pub(crate) fn username_is_free(tx: &Read, username: &str) -> Result<bool> {
    let sql = sql!("SELECT NOT EXISTS (SELECT 1 FROM members WHERE username = :username)");
    tx.get(sql, named_params! {":username": username})
}

const PROFILE: &str =
    joined!("SELECT ", Profile::COLUMNS, " FROM members m LEFT JOIN tunnels t ON t.tunnel_id = m.tunnel_id");

pub(crate) fn find(tx: &Read, member_id: MemberId) -> Result<Option<Profile>> {
    tx.find(sql!(PROFILE, " WHERE m.member_id = ?1"), [member_id])
}

/// The members of a role, or all, newest first.
pub(crate) fn list(tx: &Read, role: Option<Role>, limit: i64, offset: i64) -> Result<Vec<Profile>> {
    let sql =
        sql!(PROFILE, " WHERE :role IS NULL OR m.role = :role ORDER BY m.member_id DESC LIMIT :limit OFFSET :offset");
    tx.list(sql, named_params! {":role": role.map(Role::name), ":limit": limit, ":offset": offset})
}

/// How many members there are of a role, or in all.
pub(crate) fn count_with_role(tx: &Read, role: Option<Role>) -> Result<i64> {
    let sql = sql!("SELECT count(*) FROM members WHERE ?1 IS NULL OR role = ?1");
    tx.get(sql, [role.map(Role::name)])
}

/// The members with a role (desk, admin, …), by number.
pub(crate) fn list_with_role(tx: &Read) -> Result<Vec<Profile>> {
    tx.list(sql!(PROFILE, " WHERE m.role <> 'member' ORDER BY m.member_id"), [])
}

pub(crate) fn exists(tx: &Read, member_id: MemberId) -> Result<bool> {
    tx.get(sql!("SELECT EXISTS (SELECT 1 FROM members WHERE member_id = :id)"), named_params! {":id": member_id})
}

/// The highest number that a member was given; 0: none was.
pub(crate) fn last_id(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'members'), 0)"), [])
}

/// The member who confirmed this address.
pub(crate) fn find_by_confirmed_email(tx: &Read, email: &str) -> Result<Option<MemberId>> {
    let sql = sql!("SELECT member_id FROM members WHERE email = :email AND email_confirmed_at IS NOT NULL");
    tx.find(sql, named_params! {":email": email})
}

/// Changes the columns of the profile that the member may change. Refuses a username that is taken.
pub(crate) fn update_profile(
    tx: &Write,
    member_id: MemberId,
    username: &str,
    screen_name: &str,
    real_name: &str,
    tunnel_id: TunnelId,
) -> std::result::Result<(), Failure> {
    let changed = update!(tx, "UPDATE members" {
        username, screen_name, real_name, tunnel_id, updated_at: tx.now()
    } "WHERE member_id = ?", member_id);
    changed.map(|_| ()).map_err(username_conflict)
}

/// Sets the password hash, a PHC string, bound to the member's row.
pub fn set_password(tx: &Write, member_id: MemberId, password_hash: &str) -> Result<usize> {
    let sql = sql!("UPDATE members SET password_hash = :hash, updated_at = :now WHERE member_id = :id");
    let bound = tx.bound(PASSWORD, &[member_id.into()], password_hash);
    tx.run(sql, named_params! {":hash": bound, ":now": tx.now(), ":id": member_id})
}

/// Sets the username. Refuses one that is taken.
pub(crate) fn set_username(tx: &Write, member_id: MemberId, username: &str) -> std::result::Result<usize, Failure> {
    let changed = update!(tx, "UPDATE members" { username, updated_at: tx.now() } "WHERE member_id = ?", member_id);
    changed.map_err(username_conflict)
}

pub(crate) fn set_role(tx: &Write, member_id: MemberId, role: Role) -> Result<usize> {
    let sql = sql!("UPDATE members SET role = :role, updated_at = :now WHERE member_id = :id");
    tx.run(sql, named_params! {":role": role.name(), ":now": tx.now(), ":id": member_id})
}

/// Marks the address as confirmed. Refuses one that another member has confirmed.
pub fn confirm_email(tx: &Write, member_id: MemberId) -> std::result::Result<usize, Failure> {
    let sql = sql!(
        "UPDATE members SET email_confirmed_at = coalesce(email_confirmed_at, :now), updated_at = :now WHERE member_id = :id"
    );
    let confirmed = tx.run(sql, named_params! {":now": tx.now(), ":id": member_id});
    let confirmed = confirmed.map_err(email_conflict)?;
    bans::renew_kept(tx, member_id)?;
    Ok(confirmed)
}

/// The desk's internal note about a member; empty where there is none.
pub(crate) fn find_staff_note(tx: &Read, member_id: MemberId) -> Result<String> {
    tx.get(sql!("SELECT staff_note FROM members WHERE member_id = ?1"), [member_id])
}

pub(crate) fn set_staff_note(tx: &Write, member_id: MemberId, text: &str) -> Result<usize> {
    let sql = sql!("UPDATE members SET staff_note = ?2, updated_at = ?3 WHERE member_id = ?1");
    tx.run(sql, (member_id, text, tx.now()))
}

/// Changes the columns of a profile that the desk may change, except for the address and the number.
pub(crate) fn update_person(
    tx: &Write,
    member_id: MemberId,
    real_name: &str,
    screen_name: &str,
    dob: Option<Moment>,
) -> Result<usize> {
    update!(tx, "UPDATE members" { real_name, screen_name, dob, updated_at: tx.now() } "WHERE member_id = ?", member_id)
}

/// Sets the day of birth (midnight in UTC) where it is unknown.
pub(crate) fn set_dob(tx: &Write, member_id: MemberId, dob: Moment) -> Result<usize> {
    let sql = sql!("UPDATE members SET dob = ?2, updated_at = ?3 WHERE member_id = ?1 AND dob IS NULL");
    tx.run(sql, (member_id, dob, tx.now()))
}

/// Sets an unconfirmed telephone number, in E.164 or empty.
pub(crate) fn set_claimed_phone(tx: &Write, member_id: MemberId, phone: &str) -> Result<usize> {
    let sql = sql!("UPDATE members SET phone = ?2, phone_confirmed_at = NULL, updated_at = ?3 WHERE member_id = ?1");
    tx.run(sql, (member_id, phone, tx.now()))
}

/// Sets an unconfirmed e-mail address, or none, where the present one is unconfirmed too.
pub(crate) fn set_claimed_email(tx: &Write, member_id: MemberId, email: &str) -> Result<usize> {
    let sql =
        sql!("UPDATE members SET email = ?2, updated_at = ?3 WHERE member_id = ?1 AND email_confirmed_at IS NULL");
    tx.run(sql, (member_id, email, tx.now()))
}

/// Sets until when the membership is paid, in Unix seconds; `None`: as if never paid.
pub fn set_paid_until(tx: &Write, member_id: MemberId, paid_until: Option<Moment>) -> Result<usize> {
    let sql = sql!("UPDATE members SET paid_until = :paid_until, updated_at = :now WHERE member_id = :id");
    tx.run(sql, named_params! {":paid_until": paid_until, ":now": tx.now(), ":id": member_id})
}

/// Until when a member's membership is paid; `None` where there is no such member.
pub(crate) fn find_paid_until(tx: &Read, member_id: MemberId) -> Result<Option<Option<Moment>>> {
    tx.find(sql!("SELECT paid_until FROM members WHERE member_id = ?1"), [member_id])
}

columns! {
    Standing in "" {
        banned = "banned_at IS NOT NULL",
        email_confirmed = "email_confirmed_at IS NOT NULL",
        paid_until,
        holds_flyer_1,
    }
}

/// The facts that decide whether a member may book.
pub(crate) fn find_standing(tx: &Read, member_id: MemberId) -> Result<Option<Standing>> {
    let sql = sql!("SELECT ", Standing::COLUMNS, " FROM members WHERE member_id = :id");
    tx.find(sql, named_params! {":id": member_id})
}

row! {
    /// The holder of a logbook.
    #[derive(Debug)]
    pub(crate) struct Holder {
        pub dob: Option<Moment>,
        /// Entries of every kind in the logbook.
        pub entries: i64,
        pub email_confirmed: bool = "email_confirmed_at IS NOT NULL",
    }
}

pub(crate) fn find_holder(tx: &Read, member_id: MemberId) -> Result<Holder> {
    let sql = sql!("SELECT ", Holder::COLUMNS, " FROM members WHERE member_id = ?1");
    tx.get(sql, [member_id])
}

pub(crate) fn find_secrets(tx: &Read, member_id: MemberId) -> Result<Option<Secrets>> {
    tx.find(sql!("SELECT ", Secrets::COLUMNS, " FROM members WHERE member_id = ?1"), [member_id])
}

/// Sets e-mail address and telephone number, each with whether it is confirmed.
pub(crate) fn set_reach(tx: &Write, member_id: MemberId, email: (&str, bool), phone: (&str, bool)) -> Result<usize> {
    let sql = sql!(
        "UPDATE members SET email = :email, email_confirmed_at = iif(:email_confirmed, :now, NULL), phone = :phone,
                                  phone_confirmed_at = iif(:phone_confirmed, :now, NULL), updated_at = :now
               WHERE member_id = :id"
    );
    tx.run(
        sql,
        named_params! {":email": email.0, ":email_confirmed": email.1, ":phone": phone.0, ":phone_confirmed": phone.1,
        ":now": tx.now(), ":id": member_id},
    )
}

/// Removes the password: no sign-in by password until a new one is set.
pub(crate) fn clear_password(tx: &Write, member_id: MemberId) -> Result<usize> {
    let sql = sql!("UPDATE members SET password_hash = NULL, updated_at = :now WHERE member_id = :id");
    tx.run(sql, named_params! {":now": tx.now(), ":id": member_id})
}

/// Sets a confirmed address. Refuses one that another member has confirmed.
pub(crate) fn set_email(tx: &Write, member_id: MemberId, email: &str) -> std::result::Result<usize, Failure> {
    let sql =
        sql!("UPDATE members SET email = :email, email_confirmed_at = :now, updated_at = :now WHERE member_id = :id");
    let changed = tx.run(sql, named_params! {":email": email, ":now": tx.now(), ":id": member_id});
    let changed = changed.map_err(email_conflict)?;
    bans::renew_kept(tx, member_id)?;
    Ok(changed)
}

/// Sets a confirmed telephone number, in E.164.
pub(crate) fn set_phone(tx: &Write, member_id: MemberId, phone: &str) -> Result<usize> {
    let sql =
        sql!("UPDATE members SET phone = :phone, phone_confirmed_at = :now, updated_at = :now WHERE member_id = :id");
    let changed = tx.run(sql, named_params! {":phone": phone, ":now": tx.now(), ":id": member_id})?;
    bans::renew_kept(tx, member_id)?;
    Ok(changed)
}

/// The name that a clerk is shown by; empty where there is no such member.
pub(crate) fn find_clerk_name(tx: &Read, member_id: Option<MemberId>) -> Result<String> {
    let sql = sql!("SELECT coalesce(nullif(screen_name, ''), username) FROM members WHERE member_id = ?1");
    Ok(tx.find(sql, [member_id])?.unwrap_or_default())
}

/// The tag of the language in which a member signed in last, or chose at the desk; none where there is no such member.
pub(crate) fn find_language(tx: &Read, member_id: MemberId) -> Result<Option<String>> {
    tx.find(sql!("SELECT language FROM members WHERE member_id = ?1"), [member_id])
}

/// The confirmed address for mails that the member did not request, and the tag of the member's language (empty:
/// unknown).
pub(crate) fn find_correspondence(tx: &Read, member_id: MemberId) -> Result<Option<(String, String)>> {
    let sql = sql!("SELECT email, language FROM members WHERE member_id = ?1 AND email_confirmed_at IS NOT NULL");
    tx.find(sql, [member_id])
}
