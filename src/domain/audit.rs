//! The audit log's format: the values of a row, and the hash that links each row to the one before.
//!
//! The chain begins with a hash of the site's id, so that a row of another site does not fit. A row's hash covers the
//! hash of the row before and every value of the row, each prefixed with its length, so that no two rows hash the same
//! bytes.
//!
//! The hash is an HMAC under a key that is stored beside the database and not in it: an intruder who can only write to
//! the database cannot compute the hash of a changed row. Rows from before the key existed have a plain SHA-256; the
//! hash of the last such row is stored with the key.

pub use crate::keys::{ChainKey, Hash};

pub(crate) use crate::keys::Head;

use crate::domain::ids::{MemberId, PaymentId};
use crate::moment::Moment;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use std::fmt::{self, Display, Write};
use std::net::IpAddr;

const DETAIL_NAME_CHARS_MAX: usize = 80;

/// Who makes a change: numbers and names of machines, never a person's name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActorId {
    /// A member, by number.
    Member(MemberId),
    /// A user at the machine's shell.
    Cli {
        /// The numeric id of the Unix user.
        uid: u32,
        /// The name of the Unix user; empty: the system has no name for the id.
        user: String,
    },
    /// A partner, by client identifier.
    Partner(String),
    /// A background job, by name.
    Job(&'static str),
    /// A third party that calls a webhook.
    Sender(&'static str),
}

/// The account or thing that a change is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The site as a whole.
    Site,
    /// A member, by number.
    Member(MemberId),
    /// A partner, by client identifier.
    Partner(String),
    /// A tunnel, by number.
    Tunnel(i64),
    /// A payment, by number.
    Payment(PaymentId),
    /// A backup, by its name in the backup store.
    Backup(String),
}

/// Where a change was made from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// A caller's IP address.
    Address(IpAddr),
    /// The shell of the server.
    Shell,
    /// The product itself: a job.
    Site,
}

/// Who makes a change, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The member, machine user, partner, job or third party.
    pub id: ActorId,
    /// The address, the shell or the product itself.
    pub origin: Origin,
}

/// Further data of an action, as JSON. A detail takes only numbers and words from the source code, so that neither
/// personal data nor secrets enter the log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Detail(String);

/// A row as it is stored, without its hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The number of the row, from 1, without gaps.
    pub seq: i64,
    /// The moment, in Unix seconds.
    pub at: Moment,
    /// The actor as text: `member:7`.
    pub actor: String,
    /// The action: `member.banned`.
    pub action: String,
    /// The subject as text: `member:9`.
    pub subject: String,
    /// The origin as text: an address, `shell` or `site`.
    pub origin: String,
    /// The detail as JSON.
    pub detail: String,
}

impl ChainKey {
    /// The hash of a row under the key.
    pub fn hash(&self, before: &Hash, row: &Row) -> Hash {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.secret).expect("HMAC takes a key of any length");
        each_part(before, row, |part| mac.update(part));
        mac.finalize().into_bytes().into()
    }

    fn is_of(&self, row: &Row) -> bool {
        self.plain_end.is_none_or(|end| row.seq > end.seq)
    }
}

/// The hash that a stored row must have: an HMAC under the site's key, or a plain hash for a row from before the key.
pub(crate) fn hash_of_kept(key: Option<&ChainKey>, before: &Hash, row: &Row) -> Hash {
    match key.filter(|key| key.is_of(row)) {
        Some(key) => key.hash(before, row),
        None => hash(before, row),
    }
}

impl Actor {
    /// An actor at a network address.
    pub(crate) fn caller(id: ActorId, address: IpAddr) -> Actor {
        Actor { id, origin: Origin::Address(address) }
    }

    /// A background job as an actor.
    pub fn job(name: &'static str) -> Actor {
        Actor { id: ActorId::Job(name), origin: Origin::Site }
    }
}

impl Display for ActorId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ActorId::Member(member_id) => write!(f, "member:{member_id}"),
            ActorId::Cli { uid, user } => write!(f, "cli:{}({uid})", plain(user)),
            ActorId::Partner(client_id) => write!(f, "partner:{}", plain(client_id)),
            ActorId::Job(name) => write!(f, "job:{name}"),
            ActorId::Sender(name) => write!(f, "sender:{name}"),
        }
    }
}

impl Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Site => f.write_str("site"),
            Subject::Member(member_id) => write!(f, "member:{member_id}"),
            Subject::Partner(client_id) => write!(f, "partner:{}", plain(client_id)),
            Subject::Tunnel(tunnel_id) => write!(f, "tunnel:{tunnel_id}"),
            Subject::Payment(payment_id) => write!(f, "payment:{payment_id}"),
            Subject::Backup(name) => write!(f, "backup:{}", plain(name)),
        }
    }
}

impl Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Address(address) => write!(f, "{}", address.to_canonical()),
            Origin::Shell => f.write_str("shell"),
            Origin::Site => f.write_str("site"),
        }
    }
}

/// A name from outside the program, truncated, and with `_` in place of every character that could control a terminal:
/// only ASCII letters, digits, `.`, `_` and `-` stay.
fn plain(name: &str) -> String {
    let sound = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    name.chars().take(DETAIL_NAME_CHARS_MAX).map(sound).collect()
}

impl Detail {
    /// No further data.
    pub fn none() -> Detail {
        Detail::default()
    }

    /// Adds a number under a name.
    pub fn number(self, name: &'static str, value: impl Into<i64>) -> Detail {
        self.with(name, value.into())
    }

    pub(crate) fn flag(self, name: &'static str, value: bool) -> Detail {
        self.with(name, value)
    }

    /// Adds a word from the source code under a name: a role, a programme, a state.
    pub(crate) fn word(self, name: &'static str, value: &'static str) -> Detail {
        self.with(name, quoted(value))
    }

    /// Adds a list of numbers under a name.
    pub fn numbers<T: Copy + Into<i64>>(self, name: &'static str, values: &[T]) -> Detail {
        let values: Vec<_> = values.iter().map(|value| (*value).into().to_string()).collect();
        self.with(name, format_args!("[{}]", values.join(",")))
    }

    /// Adds the names of the changed fields.
    pub(crate) fn fields(self, values: &[&'static str]) -> Detail {
        let values: Vec<_> = values.iter().map(|value| quoted(value)).collect();
        self.with("fields", format_args!("[{}]", values.join(",")))
    }

    fn with(mut self, name: &'static str, value: impl Display) -> Detail {
        let comma = if self.0.is_empty() { "" } else { "," };
        _ = write!(self.0, "{comma}{}:{value}", quoted(name));
        self
    }
}

impl Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.0)
    }
}

fn quoted(word: &'static str) -> String {
    debug_assert!(word.chars().all(|c| !c.is_control() && c != '"' && c != '\\'), "{word:?} is no plain word");
    format!("\"{word}\"")
}

/// The hash before the first row.
pub fn genesis(site_id: &str) -> Hash {
    Sha256::new().chain_update(b"tunneldesk audit log of site ").chain_update(site_id).finalize().into()
}

/// The hash of a row without a key, which anyone can compute.
pub fn hash(before: &Hash, row: &Row) -> Hash {
    let mut digest = Sha256::new();
    each_part(before, row, |part| digest.update(part));
    digest.finalize().into()
}

/// Passes the bytes that a row's hash covers to `take`, piece by piece.
fn each_part(before: &Hash, row: &Row, mut take: impl FnMut(&[u8])) {
    take(before);
    let (seq, at) = (row.seq.to_be_bytes(), row.at.0.to_be_bytes());
    let texts = [&row.actor, &row.action, &row.subject, &row.origin, &row.detail];
    let parts = [&seq[..], &at[..]].into_iter().chain(texts.into_iter().map(String::as_bytes));
    for part in parts {
        take(&(part.len() as u64).to_be_bytes());
        take(part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row {
        Row {
            seq: 1,
            at: Moment(1_700_000_000),
            actor: "member:7".to_owned(),
            action: "member.banned".to_owned(),
            subject: "member:8".to_owned(),
            origin: "10.0.0.5".to_owned(),
            detail: "{}".to_owned(),
        }
    }

    #[test]
    fn a_hash_changes_with_every_value_with_what_came_before_and_with_the_site() {
        let before = genesis("ab");
        let known = hash(&before, &row());
        assert_eq!(hash(&before, &row()), known);
        let changes: [fn(&mut Row); 8] = [
            |row| row.seq = 2,
            |row| row.at += 1,
            |row| row.actor.push('1'),
            |row| row.action = "member.unbanned".to_owned(),
            |row| row.subject = "member:9".to_owned(),
            |row| row.origin = "10.0.0.6".to_owned(),
            |row| row.detail = "{\"a\":1}".to_owned(),
            // The same letters with another boundary.
            |row| (row.action, row.subject) = ("member.bannedm".to_owned(), "ember:8".to_owned()),
        ];
        for change in changes {
            let mut changed = row();
            change(&mut changed);
            assert_ne!(hash(&before, &changed), known, "{changed:?}");
        }
        assert_ne!(hash(&known, &row()), known);
        assert_ne!(hash(&genesis("ac"), &row()), known);
    }

    #[test]
    fn a_keyed_hash_changes_with_its_key_and_begins_behind_the_plain_rows() {
        let key = |byte, plain_end| ChainKey { secret: [byte; 32], plain_end };
        let before = genesis("ab");
        let keyed = key(7, None).hash(&before, &row());
        assert_ne!(keyed, hash(&before, &row()));
        assert_ne!(keyed, key(8, None).hash(&before, &row()));
        let old = key(7, Some(Head { seq: 1, hash: keyed }));
        let next = Row { seq: 2, ..row() };
        assert_eq!(hash_of_kept(None, &before, &row()), hash(&before, &row()));
        assert_eq!(hash_of_kept(Some(&key(7, None)), &before, &row()), keyed);
        assert_eq!(hash_of_kept(Some(&old), &before, &row()), hash(&before, &row()));
        assert_eq!(hash_of_kept(Some(&old), &before, &next), old.hash(&before, &next));
    }

    #[test]
    fn the_hash_stays_what_it_is_for_files_that_are_out_there() {
        let hex: String = hash(&genesis("ab"), &row()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "e77847d90e10fb08659cb20f97a2e3df4c1cffde799f011961725b0f69a19c0b");
    }

    #[test]
    fn names_of_machines_come_in_plain_letters_and_details_are_json() {
        let cli = ActorId::Cli { uid: 0, user: "ro\u{1b}[31mot".to_owned() };
        assert_eq!(cli.to_string(), "cli:ro__31mot(0)");
        assert_eq!(Subject::Backup("../a b".to_owned()).to_string(), "backup:.._a_b");
        let detail = Detail::none().number("days", 7).word("role", "desk").fields(&["email"]).numbers("ids", &[1, 2]);
        let detail = detail.flag("all", true).to_string();
        let read: serde_json::Value = serde_json::from_str(&detail).unwrap();
        assert_eq!(
            read,
            serde_json::json!({ "days": 7, "role": "desk", "fields": ["email"], "ids": [1, 2], "all": true })
        );
        assert_eq!(Detail::none().to_string(), "{}");
    }
}
