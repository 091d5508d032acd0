//! The accounts of members, as signing in needs them, found by what people type.

use crate::domain::email;
use crate::domain::ids::MemberId;
use crate::domain::role::Role;
use crate::store::Read;
use rusqlite::{Result, named_params};
use std::borrow::Cow;

row! {
    /// The columns of a member that signing in needs.
    #[derive(Debug, Clone)]
    pub(crate) struct Account {
        pub member_id: MemberId,
        pub username: String,
        pub email: String,
        pub role: Role,
        /// A PHC string. Empty, which no password fits: the hash was written by somebody without the key.
        pub password_hash: Option<String>,
        pub email_confirmed: bool = "email_confirmed_at IS NOT NULL",
        pub banned: bool = "banned_at IS NOT NULL",
        /// Whether the owner asked for the erasure of the account: the own pages alone open, to take it back.
        pub leaves: bool = "leaves_at IS NOT NULL",
    }
}

/// The greatest number of accounts that one name may mean.
pub(crate) const ACCOUNTS_MAX: usize = 2;
/// What the hash of a password is bound to: this column, and the member's number.
pub(super) const PASSWORD: &str = "members.password_hash";
const ACCOUNT: &str = joined!("SELECT ", Account::COLUMNS, " FROM members");

/// The account of a username, or of an e-mail address: the one that confirmed the address, else the only one that
/// claims it.
pub(crate) fn find_account(tx: &Read, name: &str) -> Result<Option<Account>> {
    Ok(list_accounts(tx, name)?.into_iter().next())
}

/// The accounts that a name may mean: the one of a username; of an e-mail address the one that confirmed it, and the one that
/// claims it without, where no other does. At most [`ACCOUNTS_MAX`].
pub(crate) fn list_accounts(tx: &Read, name: &str) -> Result<Vec<Account>> {
    if !name.contains('@') {
        let found = tx.list(sql!(ACCOUNT, " WHERE username = :name"), named_params! {":name": name})?;
        return Ok(found.into_iter().map(|account| unbound(tx, account)).collect());
    }
    let claims = sql!(ACCOUNT, " WHERE email = :name ORDER BY email_confirmed_at IS NULL, member_id LIMIT 3");
    let list = |address: &str| tx.list(claims, named_params! {":name": address});
    let mut found: Vec<Account> = list(name)?;
    // The name as typed comes first, for a row that an earlier version wrote in that spelling.
    if found.is_empty()
        && let Cow::Owned(address) = email::one_spelling(name)
    {
        found = list(&address)?;
    }
    if found.iter().filter(|account| !account.email_confirmed).count() > 1 {
        found.retain(|account| account.email_confirmed);
    }
    Ok(found.into_iter().map(|account| unbound(tx, account)).collect())
}

/// An account with the password's hash as it was before it was bound to its row.
fn unbound(tx: &Read, account: Account) -> Account {
    let phc = |stored: String| tx.unbound(PASSWORD, &[account.member_id.into()], &stored).unwrap_or_default();
    Account { password_hash: account.password_hash.map(phc), ..account }
}

/// As [`find_account`], for a name that another person typed: an e-mail address means only the member who confirmed it,
/// because a stranger may have signed up with it.
pub(crate) fn find_certain_account(tx: &Read, name: &str) -> Result<Option<Account>> {
    Ok(find_account(tx, name)?.filter(|account| account.email_confirmed || !name.contains('@')))
}

pub(crate) fn find_account_by_id(tx: &Read, member_id: MemberId) -> Result<Option<Account>> {
    let found = tx.find(sql!(ACCOUNT, " WHERE member_id = :id"), named_params! {":id": member_id})?;
    Ok(found.map(|account| unbound(tx, account)))
}
