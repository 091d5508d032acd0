//! What the tables hold of people, declared beside each table's rows: for every column of text or bytes, what the erasure
//! of a member does to it; and which rows are a member's. Erasure, the search for mentions and `member export` are driven
//! by these declarations. Beside them stand the joining of accounts, when rows expire, what a clock that was ahead did to
//! them, and where they are seen. A test walks the schema: it fails on a column without a declaration, on a declaration
//! without a column, and on rows with an end that do not say when they go.

use crate::keys::SealedColumn;
use crate::store::Write;
use crate::store::joining::Join;

/// The declaration of one table.
#[derive(Debug)]
pub(crate) struct Table {
    pub name: &'static str,
    /// The SQL expression that numbers the rows, in the order of an index.
    pub key: &'static str,
    pub columns: &'static [Column],
    /// The rows that are about a member, by how they are found.
    pub rows: &'static [Rows],
    /// What the joining of two accounts does to each column that has a member's number: see [`crate::store::joining`].
    pub joins: &'static [Join],
    /// Which rows expire.
    pub expiries: &'static [Expiry],
    /// Where the rows are seen, so that a change of one is told there.
    pub seen: Seen,
    /// What becomes of rows that began while the clock was ahead, and would live too long by as much as the clock was wrong.
    pub ahead: Option<Ahead>,
}

/// Where rows are seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Seen {
    /// On no page that brings itself up to date.
    Nowhere,
    /// On the desk's pages.
    OnPages,
    /// In the desk's reports alone.
    InReports,
}

/// Rows that are removed some time after a moment of theirs.
#[derive(Debug)]
pub(crate) struct Expiry {
    /// The primary key of the rows.
    key: &'static str,
    /// The SQL expression of the moment.
    moment: &'static str,
    /// How long the rows are kept after it.
    seconds: i64,
    /// A further condition of the rows; empty: none.
    only: &'static str,
}

/// What becomes of rows that began in the future.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ahead {
    /// They are deleted, by the SQL expression of their latest moment.
    Deleted(&'static str),
    /// People still need them: they begin now by this column, and last until `ends_at` as long as they were to.
    BeginNow(&'static str),
}

impl Expiry {
    /// Rows that are kept this long after a moment.
    pub(crate) const fn after(key: &'static str, moment: &'static str, seconds: i64) -> Expiry {
        Expiry { key, moment, seconds, only: "" }
    }

    /// Rows that have an end.
    pub(crate) const fn at(key: &'static str, moment: &'static str) -> Expiry {
        Expiry::after(key, moment, 0)
    }

    /// Those of the rows alone that meet a condition.
    pub(crate) const fn only(self, only: &'static str) -> Expiry {
        Expiry { only, ..self }
    }

    /// The statement that removes `?1` of the rows, at the moment `?2` less the time for which they are kept.
    fn statement(&self, table: &str) -> String {
        let Expiry { key, moment, only, .. } = self;
        let and = if only.is_empty() { "" } else { " AND " };
        format!(
            "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {only}{and}{moment} <= ?2 LIMIT ?1)"
        )
    }
}

/// A column of text or bytes.
#[derive(Debug)]
pub(crate) struct Column {
    pub name: &'static str,
    pub erasure: Erasure,
    /// The column, where the site key seals its values.
    pub sealed: Option<&'static SealedColumn>,
    /// A secret, or its hash, that no export shows.
    pub is_secret: bool,
}

/// What the erasure of a member does to a column.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Erasure {
    /// The column holds nothing about a person; the reason.
    NotPersonal(
        #[cfg_attr(not(test), expect(dead_code, reason = "whoever reads the declaration needs it"))] &'static str,
    ),
    /// Stays as it is: the reason, and for how long.
    Kept(&'static str, &'static str),
    /// Goes with the person's rows, all of which are deleted.
    Deleted,
    /// Replaced by this SQL value in the person's rows, which stay. `:name` is the account's new name.
    Replaced(&'static str),
    /// Searched for mentions of the person in every row, and emptied in the person's own rows that stay.
    Searched(Mention),
}

/// What becomes of a text that mentions the person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mention {
    /// A neutral word stands in for the person.
    Word,
    /// The texts in a JSON value are searched, and a neutral word stands in for the person.
    WordInJson,
    /// The value is emptied: an answer, or a message of another server, in whose form nothing can be replaced.
    Emptied,
    /// The row is removed, because without the person it means nothing.
    RowRemoved,
}

/// Rows about a member.
#[derive(Debug)]
pub(crate) struct Rows {
    /// The name of the part in an export.
    pub part: &'static str,
    /// The SQL condition of the rows, with the member as `:id`.
    pub condition: &'static str,
    /// The columns that an export shows, where the others are about another person; empty: all.
    pub only: &'static [&'static str],
    pub fate: Fate,
}

/// What an erasure does to rows about the member.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fate {
    Deleted,
    /// The rows stay without what was about the person: further SQL assignments, for numbers, and the reason.
    Emptied(&'static str, &'static str),
    /// The person's rows stay as they are, for this reason.
    Kept(&'static str),
    /// Rows of others that the person had a part in: they stay, for this reason, and are searched for each of the person's
    /// names, however common.
    Others(&'static str),
}

/// The reason to keep rows of numbers alone.
pub(crate) const NUMBERS: &str = "numbers and moments; the number leads to nobody any more";
pub(crate) const OUR_WORD: &str = "a word of the product's own";
pub(crate) const CATALOGUE: &str = "words of the catalogue";
pub(crate) const HASH: &str = "a keyed hash that names nobody";
pub(crate) const OPERATOR: &str = "the operator's own words about the site";

impl Table {
    pub(crate) const fn new(
        name: &'static str,
        key: &'static str,
        columns: &'static [Column],
        rows: &'static [Rows],
    ) -> Table {
        Table { name, key, columns, rows, joins: &[], expiries: &[], seen: Seen::Nowhere, ahead: None }
    }

    pub(crate) const fn seen(self, seen: Seen) -> Table {
        Table { seen, ..self }
    }

    pub(crate) const fn expires(self, expiries: &'static [Expiry]) -> Table {
        Table { expiries, ..self }
    }

    pub(crate) const fn ahead(self, ahead: Ahead) -> Table {
        Table { ahead: Some(ahead), ..self }
    }

    /// Removes expired rows, this many of a kind at most. Returns how many.
    pub(crate) fn purge(&self, tx: &Write, rows: i64) -> rusqlite::Result<usize> {
        self.expiries.iter().try_fold(0, |removed, expiry| {
            Ok(removed + tx.run(&expiry.statement(self.name), (rows, tx.now() - expiry.seconds))?)
        })
    }

    pub(crate) const fn joins(self, joins: &'static [Join]) -> Table {
        Table { joins, ..self }
    }

    /// A table without rows about members.
    pub(crate) const fn nobodys(name: &'static str, columns: &'static [Column]) -> Table {
        Table::new(name, "", columns, &[])
    }

    /// The columns that are searched for mentions.
    pub(crate) fn searched(&self) -> impl Iterator<Item = (&'static Column, Mention)> {
        self.columns.iter().filter_map(|column| match column.erasure {
            Erasure::Searched(mention) => Some((column, mention)),
            _ => None,
        })
    }
}

const fn column(name: &'static str, erasure: Erasure) -> Column {
    Column { name, erasure, sealed: None, is_secret: false }
}

pub(crate) const fn not_personal(name: &'static str, why: &'static str) -> Column {
    column(name, Erasure::NotPersonal(why))
}

pub(crate) const fn kept(name: &'static str, why: &'static str, how_long: &'static str) -> Column {
    column(name, Erasure::Kept(why, how_long))
}

pub(crate) const fn deleted(name: &'static str) -> Column {
    column(name, Erasure::Deleted)
}

/// A secret, or its hash, that goes with the person's rows.
pub(crate) const fn secret(name: &'static str) -> Column {
    deleted(name).secret()
}

pub(crate) const fn emptied(name: &'static str) -> Column {
    column(name, Erasure::Replaced("''"))
}

pub(crate) const fn replaced(name: &'static str, sql: &'static str) -> Column {
    column(name, Erasure::Replaced(sql))
}

/// A free text: a neutral word stands in for the person.
pub(crate) const fn searched(name: &'static str) -> Column {
    mentioned(name, Mention::Word)
}

pub(crate) const fn mentioned(name: &'static str, mention: Mention) -> Column {
    column(name, Erasure::Searched(mention))
}

impl Column {
    pub(crate) const fn secret(self) -> Column {
        Column { is_secret: true, ..self }
    }

    pub(crate) const fn sealed(self, column: &'static SealedColumn) -> Column {
        Column { sealed: Some(column), ..self }
    }
}

impl Rows {
    pub(crate) const fn deleted(part: &'static str, condition: &'static str) -> Rows {
        Rows { part, condition, only: &[], fate: Fate::Deleted }
    }

    pub(crate) const fn emptied(
        part: &'static str,
        condition: &'static str,
        also: &'static str,
        why: &'static str,
    ) -> Rows {
        Rows { part, condition, only: &[], fate: Fate::Emptied(also, why) }
    }

    pub(crate) const fn kept(part: &'static str, condition: &'static str, why: &'static str) -> Rows {
        Rows { part, condition, only: &[], fate: Fate::Kept(why) }
    }

    pub(crate) const fn others(part: &'static str, condition: &'static str, why: &'static str) -> Rows {
        Rows { part, condition, only: &[], fate: Fate::Others(why) }
    }

    pub(crate) const fn only(self, only: &'static [&'static str]) -> Rows {
        Rows { only, ..self }
    }

    /// The reason why the rows stay when the member is erased; `None`: they are deleted.
    pub(crate) fn kept_because(&self) -> Option<&'static str> {
        match self.fate {
            Fate::Deleted => None,
            Fate::Emptied(_, why) | Fate::Kept(why) | Fate::Others(why) => Some(why),
        }
    }
}

/// The tables that libraries keep in the database.
pub(crate) const OF_LIBRARIES: &[Table] = &[
    Table::nobodys(
        "refinery_schema_history",
        &[
            not_personal("name", "the names of migrations"),
            not_personal("applied_on", "moments"),
            not_personal("checksum", "sums of migrations"),
        ],
    ),
    Table::nobodys("members_search", &[not_personal("words", "taken out by triggers with the words of the member")]),
    Table::nobodys(
        "members_search_data",
        &[not_personal("block", "taken out by triggers with the words of the member, and from the pages")],
    ),
    Table::nobodys(
        "members_search_idx",
        &[
            not_personal("segid", "SQLite's own"),
            not_personal("term", "taken out by triggers with the words of the member, and from the pages"),
            not_personal("pgno", "SQLite's own"),
        ],
    ),
    Table::nobodys("members_search_config", &[not_personal("k", "SQLite's own"), not_personal("v", "SQLite's own")]),
];

/// The addresses of the member, today's and earlier ones, where no other member has the same one.
macro_rules! addresses {
    () => {
        "(SELECT w.word FROM (SELECT email AS word, member_id FROM members
                              UNION ALL SELECT word, member_id FROM former_names WHERE kind = 'email') w
          WHERE w.member_id = :id AND w.word <> ''
            AND NOT EXISTS (SELECT 1 FROM members o WHERE o.email = w.word AND o.member_id <> :id))"
    };
}

/// The spellings of the member's addresses: the stored ones, which may date from before addresses had one spelling, and
/// the one in which addresses are stored since.
macro_rules! spellings {
    () => {
        concat!("(SELECT word FROM ", addresses!(), " UNION SELECT canonical_address(word) FROM ", addresses!(), ")")
    };
}

/// The telephone numbers of the member, today's and earlier ones, where no other member has the same one.
macro_rules! phones {
    () => {
        "(SELECT w.word FROM (SELECT phone AS word, member_id FROM members
                              UNION ALL SELECT word, member_id FROM former_names WHERE kind = 'phone') w
          WHERE w.member_id = :id AND w.word <> ''
            AND NOT EXISTS (SELECT 1 FROM members o WHERE o.phone = w.word AND o.member_id <> :id))"
    };
}
