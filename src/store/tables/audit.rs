//! The audit log: who did what to whom from where. A row is written in the transaction of its action, and never
//! changed.

use crate::domain::audit::{self, Actor, Detail, Hash, Head, Row, Subject};
use crate::domain::audit_action;
use crate::moment::Moment;
use crate::store::personal::{OUR_WORD, Rows, Table, kept, not_personal};
use crate::store::{Conditions, Read, Write};
use rusqlite::Result;

const AS_LONG_AS_THE_LOG: &str = "as long as the log";
/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "audit",
    "",
    &[
        kept("actor", "a number, or the machine's user at the shell: the log may not change", AS_LONG_AS_THE_LOG),
        not_personal("action", OUR_WORD),
        not_personal("subject", "a number: it leads to nobody any more"),
        kept("origin", "the address from which the action came: the log may not change", AS_LONG_AS_THE_LOG),
        not_personal("detail", "numbers and words of the product's own"),
        not_personal("hash", "a hash over numbers and words"),
    ],
    &[Rows::kept(
        "audit_log",
        "actor = 'member:' || :id OR subject = 'member:' || :id",
        "the log may not change; it has numbers for names",
    )
    .only(&["at", "action", "origin"])],
)];

columns! { Row in "a." { seq, at, actor, action, subject, origin, detail } saved }

row! {
    /// A row with its hash.
    #[derive(Debug, Clone, PartialEq)]
    pub struct HashedRow in "a." {
        /// The row that was hashed.
        pub row: Row = Row::COLUMNS,
        /// The row's hash of 32 bytes; another length is a manipulation.
        pub hash: Vec<u8>,
    }
}

/// The site as a subject, the only one without a colon.
pub(crate) const SITE: &str = "site";

/// A filter of the audit log. Pages go by key: `before` is the last `seq` of the page before.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// The actor as stored, `member:7`, or the kind of actor alone, `cli`.
    pub actor: Option<String>,
    /// The subject as stored, `member:9` or `site`, or the kind of subject alone, `member`.
    pub subject: Option<String>,
    /// The action, such as `member.banned`.
    pub action: Option<String>,
    /// The begin, included; Unix seconds.
    pub since: Option<Moment>,
    /// The end, not included; Unix seconds.
    pub until: Option<Moment>,
    /// Only rows with a smaller `seq`.
    pub before: Option<i64>,
}

/// Adds a row to the chain, in the transaction of the action, and marks the chain's new end. Returns the row's number.
pub fn insert(tx: &Write, actor: &Actor, action: &'static str, subject: &Subject, detail: &Detail) -> Result<i64> {
    let seq = insert_unmarked(tx, actor, action, subject, detail)?;
    mark_end(tx)?;
    Ok(seq)
}

/// What the mark of the chain's end is bound to.
const END: &str = "audit end";

/// Marks the end of the chain by its key, which the database does not have.
pub(crate) fn mark_end(tx: &Write) -> Result<usize> {
    let end = head(tx)?;
    let mark = tx.binding(END, &[end.seq.into()], &end.hash).map(Vec::from);
    tx.run(sql!("UPDATE site SET audit_mark = ?1"), [mark])
}

/// Whether the end of the chain is one that this site marked.
pub(crate) fn is_end_marked(tx: &Read) -> Result<bool> {
    let end = head(tx)?;
    let mark: Option<Vec<u8>> = tx.get(sql!("SELECT audit_mark FROM site"), [])?;
    Ok(tx.is_bound(END, &[end.seq.into()], &end.hash, mark.as_deref()))
}

/// The mark of an end of the chain, for a copy of it outside the database.
pub(crate) fn end_mark(tx: &Read, end: &Head) -> Option<Hash> {
    tx.binding(END, &[end.seq.into()], &end.hash)
}

/// The hash of a row.
pub(crate) fn find_hash(tx: &Read, seq: i64) -> Result<Option<Vec<u8>>> {
    tx.find(sql!("SELECT hash FROM audit WHERE seq = ?1"), [seq])
}

fn insert_unmarked(tx: &Write, actor: &Actor, action: &'static str, subject: &Subject, detail: &Detail) -> Result<i64> {
    debug_assert!(audit_action::is_known(action), "{action} has no text");
    let head = head(tx)?;
    let row = Row {
        seq: head.seq + 1,
        at: tx.now(),
        actor: actor.id.to_string(),
        action: action.to_owned(),
        subject: subject.to_string(),
        origin: actor.origin.to_string(),
        detail: detail.to_string(),
    };
    let hash = match tx.chain_key {
        Some(key) => key.hash(&head.hash, &row),
        None => audit::hash(&head.hash, &row),
    };
    insert!(tx.run, "INSERT INTO audit" Row: row, { hash: hash })?;
    tx.run(sql!("UPDATE site SET audit_seq = ?1, audit_hash = ?2"), (row.seq, hash))?;
    Ok(row.seq)
}

/// The head of the chain by the site's row; of an empty chain the genesis hash.
pub(crate) fn head(tx: &Read) -> Result<Head> {
    let sql = sql!("SELECT site_id, audit_seq, audit_hash FROM site");
    let (site_id, seq, hash): (String, i64, Option<Vec<u8>>) = tx.get(sql, [])?;
    // A hash of another length is a manipulation, which the verification reports; the site goes on.
    let ours = |hash: Vec<u8>| Hash::try_from(hash).unwrap_or_default();
    Ok(Head { seq, hash: hash.map_or_else(|| audit::genesis(&site_id), ours) })
}

const HASHED_ROW: &str = joined!("SELECT ", HashedRow::COLUMNS, " FROM audit a");

/// A page of the rows that match the filter, newest first.
pub fn list(tx: &Read, filter: &Filter, limit: i64) -> Result<Vec<HashedRow>> {
    let Some(bounds) = Bounds::of(tx, filter)? else { return Ok(Vec::new()) };
    let conditions = bounds.conditions(filter).with(":limit", &limit);
    let sql = format!("{HASHED_ROW} WHERE {} ORDER BY a.seq DESC LIMIT :limit", conditions.sql());
    tx.list(&sql, &*conditions.params)
}

/// The number of rows that match the filter.
pub(crate) fn count(tx: &Read, filter: &Filter) -> Result<i64> {
    let Some(bounds) = Bounds::of(tx, filter)? else { return Ok(0) };
    let conditions = bounds.conditions(filter);
    let sql = format!("SELECT count(*) FROM audit a WHERE {}", conditions.sql());
    tx.get(&sql, &*conditions.params)
}

/// A filter as bounds of the table's columns.
struct Bounds {
    actor: Named,
    subject: Named,
    /// A span of time as a range of `seq`, which every index has: numbers and moments increase together.
    first: Option<i64>,
    end: Option<i64>,
}

/// One actor or subject, or all of a kind as a range: `cli` is everything from `cli:` up to `cli;`, not included.
#[derive(Default)]
struct Named {
    one: Option<String>,
    from: Option<String>,
    to: Option<String>,
}

impl Named {
    fn of(name: &Option<String>) -> Named {
        match name {
            Some(one) if one.contains(':') || one == SITE => Named { one: Some(one.clone()), ..Named::default() },
            Some(kind) => Named { one: None, from: Some(format!("{kind}:")), to: Some(format!("{kind};")) },
            None => Named::default(),
        }
    }
}

impl Bounds {
    /// `None`: no row is as new as the begin of the filter.
    fn of(tx: &Read, filter: &Filter) -> Result<Option<Bounds>> {
        let first = match filter.since.map(|since| find_since(tx, since)).transpose()? {
            Some(None) => return Ok(None),
            first => first.flatten(),
        };
        let end = filter.until.map(|until| find_since(tx, until)).transpose()?.flatten();
        Ok(Some(Bounds { actor: Named::of(&filter.actor), subject: Named::of(&filter.subject), first, end }))
    }

    fn conditions<'a>(&'a self, filter: &'a Filter) -> Conditions<'a> {
        Conditions::default()
            .when("a.actor = :actor", ":actor", &self.actor.one)
            .when("a.actor >= :actor_from", ":actor_from", &self.actor.from)
            .when("a.actor < :actor_to", ":actor_to", &self.actor.to)
            .when("a.subject = :subject", ":subject", &self.subject.one)
            .when("a.subject >= :subject_from", ":subject_from", &self.subject.from)
            .when("a.subject < :subject_to", ":subject_to", &self.subject.to)
            .when("a.action = :action", ":action", &filter.action)
            .when("a.seq >= :first", ":first", &self.first)
            .when("a.seq < :end", ":end", &self.end)
            .when("a.seq < :before", ":before", &filter.before)
    }
}

/// The first row of this moment or later.
fn find_since(tx: &Read, moment: Moment) -> Result<Option<i64>> {
    tx.find(sql!("SELECT seq FROM audit WHERE at >= ?1 ORDER BY at, seq LIMIT 1"), [moment])
}

/// The latest row of an action.
pub(crate) fn find_last(tx: &Read, action: &str) -> Result<Option<HashedRow>> {
    Ok(list(tx, &Filter { action: Some(action.to_owned()), ..Filter::default() }, 1)?.pop())
}

/// The rows after a number, oldest first: to walk the chain.
pub fn list_after(tx: &Read, seq: i64, limit: i64) -> Result<Vec<HashedRow>> {
    tx.list(sql!(HASHED_ROW, " WHERE a.seq > ?1 ORDER BY a.seq LIMIT ?2"), (seq, limit))
}

/// The rows that record a return to an earlier state, by a restore, a rollback or a promotion: number and moment.
pub(crate) fn list_returns(tx: &Read) -> Result<Vec<(i64, Moment)>> {
    let sql = sql!(
        "SELECT seq, at FROM audit WHERE action IN ('site.restored', 'site.rolled_back', 'site.promoted') ORDER BY seq"
    );
    tx.list(sql, [])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::audit::{ActorId, Origin};
    use crate::domain::ids::MemberId;
    use crate::store::engine::migrate;
    use rusqlite::Connection;
    use std::net::Ipv4Addr;

    fn file() -> Connection {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate::migrate(&mut conn).unwrap();
        conn.execute_batch(
            "INSERT INTO tunnels (tunnel_id, name, country, created_at) VALUES (1, 'Here', 'CH', 0);
             INSERT INTO site (only, site_id, tunnel_id, key_check, clock_high_water, created_at) VALUES (1, 'ab', 1, x'', 0, 0);",
        )
        .unwrap();
        conn
    }

    fn fill(conn: &Connection) {
        let here = Origin::Address(Ipv4Addr::LOCALHOST.into());
        let cli = ActorId::Cli { uid: 0, user: "root".to_owned() };
        let member = |member_id| Subject::Member(member_id);
        for (at, id, action, subject, origin) in [
            (10, ActorId::Member(MemberId(1)), "member.banned", member(MemberId(7)), here),
            (20, cli, "member.banned", member(MemberId(8)), Origin::Shell),
            (30, ActorId::Member(MemberId(10)), "entry.signed", member(MemberId(7)), here),
            (40, ActorId::Job("tls"), "tls.renewed", Subject::Site, Origin::Site),
        ] {
            insert(&Write::on(conn, Moment(at)), &Actor { id, origin }, action, &subject, &Detail::none()).unwrap();
        }
    }

    #[test]
    fn rows_are_numbered_without_gaps_and_hashed_with_the_one_before() {
        let conn = file();
        fill(&conn);
        let rows = list_after(&Read::on(&conn), 0, 100).unwrap();
        let mut hash = audit::genesis("ab");
        for (number, kept) in rows.iter().enumerate() {
            assert_eq!(kept.row.seq, number as i64 + 1);
            hash = audit::hash(&hash, &kept.row);
            assert_eq!(kept.hash, hash);
        }
        assert_eq!(head(&Read::on(&conn)).unwrap(), Head { seq: 4, hash });
    }

    #[test]
    fn an_action_that_is_rolled_back_leaves_no_row_and_no_gap() {
        let conn = file();
        fill(&conn);
        conn.execute_batch("SAVEPOINT tried").unwrap();
        fill(&conn);
        conn.execute_batch("ROLLBACK TO tried; RELEASE tried").unwrap();
        fill(&conn);
        let rows = list_after(&Read::on(&conn), 0, 100).unwrap();
        assert_eq!(rows.len(), 8);
        assert_eq!(head(&Read::on(&conn)).unwrap().seq, 8);
    }

    #[test]
    fn nothing_changes_removes_or_reorigins_a_row() {
        let conn = file();
        fill(&conn);
        for sql in [
            "UPDATE audit SET action = 'nothing' WHERE seq = 2",
            "UPDATE audit SET seq = 9 WHERE seq = 4",
            "DELETE FROM audit WHERE seq = 4",
            "DELETE FROM audit",
            "INSERT OR REPLACE INTO audit (seq, at, actor, action, subject, origin, hash) VALUES (2, 0, '', '', '', '', x'')",
            "REPLACE INTO audit (seq, at, actor, action, subject, origin, hash) VALUES (4, 0, '', '', '', '', x'')",
            "INSERT INTO audit (seq, at, actor, action, subject, origin, hash) VALUES (6, 0, '', '', '', '', x'')",
            "UPDATE site SET audit_seq = 3",
            "UPDATE site SET audit_seq = 6",
        ] {
            let refusal = conn.execute(sql, []).unwrap_err().to_string();
            assert!(refusal.contains("audit log"), "{sql}: {refusal}");
        }
        assert_eq!(list_after(&Read::on(&conn), 0, 100).unwrap().len(), 4);
    }

    #[test]
    fn pages_go_by_key_and_filters_meet() {
        let conn = file();
        fill(&conn);
        let seqs = |filter: Filter, limit| {
            let rows = list(&Read::on(&conn), &filter, limit).unwrap();
            assert!(count(&Read::on(&conn), &filter).unwrap() >= rows.len() as i64);
            rows.iter().map(|kept| kept.row.seq).collect::<Vec<_>>()
        };
        let actor = |actor: &str| Filter { actor: Some(actor.to_owned()), ..Filter::default() };
        assert_eq!(seqs(Filter::default(), 2), [4, 3]);
        assert_eq!(seqs(Filter { before: Some(3), ..Filter::default() }, 2), [2, 1]);
        assert_eq!(seqs(actor("member:1"), 9), [1], "member 10 is another");
        assert_eq!(seqs(actor("member"), 9), [3, 1]);
        assert_eq!(seqs(actor("cli"), 9), [2]);
        assert_eq!(seqs(actor("job"), 9), [4]);
        let subject = |subject: &str| Filter { subject: Some(subject.to_owned()), ..Filter::default() };
        assert_eq!(seqs(subject("member:7"), 9), [3, 1]);
        assert_eq!((seqs(subject("member"), 9), seqs(subject(SITE), 9)), (vec![3, 2, 1], vec![4]));
        assert_eq!(seqs(subject("mem"), 9), [0; 0]);
        let banned_since =
            |since| Filter { action: Some("member.banned".to_owned()), since: Some(since), ..Filter::default() };
        assert_eq!(seqs(banned_since(Moment(15)), 9), [2]);
        let span = |since, until| {
            seqs(Filter { since: Some(Moment(since)), until: Some(Moment(until)), ..Filter::default() }, 9)
        };
        assert_eq!(count(&Read::on(&conn), &banned_since(Moment(15))).unwrap(), 1);
        assert_eq!((span(20, 40), span(0, 99), span(41, 99)), (vec![3, 2], vec![4, 3, 2, 1], vec![]));
    }
}
