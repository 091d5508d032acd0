//! The operator's texts that members sign, confirm or consent to: drafts, and published versions. A published version
//! is never changed.

use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::joining::{WHO_DID, stays};
use crate::store::personal::{OUR_WORD, Table, not_personal, searched};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

const PUBLISHED: &str = "the operator's published words, on which signatures rest and which may not change";
/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::nobodys(
        "site_texts",
        &[
            not_personal("kind", OUR_WORD),
            not_personal("language", OUR_WORD),
            not_personal("title", PUBLISHED),
            not_personal("body", PUBLISHED),
            not_personal("questions", PUBLISHED),
            not_personal("text_hash", PUBLISHED),
        ],
    )
    .joins(&[stays("published_by", WHO_DID)]),
    Table::new(
        "site_text_drafts",
        "kind || ' ' || language",
        &[
            not_personal("kind", OUR_WORD),
            not_personal("language", OUR_WORD),
            searched("title"),
            searched("body"),
            searched("questions"),
        ],
        &[],
    ),
];

named! {
    /// The purpose of a text.
    pub(crate) enum Kind {
        Waiver = "waiver",
        Brief = "brief",
        /// Consent to photographs.
        Photos = "photos",
        Newsletter = "newsletter",
    }
}

row! {
    /// A text in one language, as it was published.
    #[derive(Debug, Clone)]
    pub(crate) struct SiteText {
        pub(crate) version: i64,
        /// The language of the text; ISO 639-1.
        pub(crate) language: String,
        pub(crate) title: String,
        pub(crate) body: String,
        /// The questions, one a line.
        pub(crate) questions: String,
        pub(crate) text_hash: [u8; 32],
        /// When the version was published; Unix seconds.
        pub(crate) published_at: Moment,
    }
}

row! {
    /// A text that is being written.
    #[derive(Debug, Clone, Default, PartialEq, Eq)]
    pub(crate) struct Draft {
        pub(crate) language: String,
        pub(crate) title: String,
        pub(crate) body: String,
        pub(crate) questions: String,
    }
}

row! {
    /// The versions of a kind that are in force.
    #[derive(Debug, Clone, Copy)]
    pub(crate) struct InForce {
        /// The oldest version that is still valid: the last one that every member had to accept again.
        pub(crate) version_min: i64 = "max(iif(asks_again = 1, version, 1))",
        /// The version that is shown now.
        pub(crate) version: i64 = "max(version)",
        /// When the first version was published; Unix seconds.
        pub(crate) since: Moment = "min(published_at)",
    }
}

/// A published version of a kind.
#[derive(Debug)]
pub(crate) struct Version {
    pub(crate) version: i64,
    pub(crate) published_at: Moment,
    pub(crate) asks_again: bool,
    /// The languages of the version, separated by commas.
    pub(crate) languages: String,
}

/// The versions of a kind that are in force; `None`: no version was published yet.
pub(crate) fn find_in_force(tx: &Read, kind: Kind) -> Result<Option<InForce>> {
    tx.find(sql!("SELECT ", InForce::COLUMNS, " FROM site_texts WHERE kind = ?1 HAVING count(*) > 0"), [kind])
}

pub(crate) fn find(tx: &Read, kind: Kind, version: i64, language: &str) -> Result<Option<SiteText>> {
    let sql = sql!("SELECT ", SiteText::COLUMNS, " FROM site_texts WHERE kind = ?1 AND version = ?2 AND language = ?3");
    tx.find(sql, (kind, version, language))
}

/// A version in the given language, else in English, else in its first language.
pub(crate) fn find_best(tx: &Read, kind: Kind, version: i64, language: &str) -> Result<Option<SiteText>> {
    let sql = sql!(
        "SELECT ",
        SiteText::COLUMNS,
        " FROM site_texts WHERE kind = ?1 AND version = ?2
          ORDER BY language = ?3 DESC, language = 'en' DESC, language LIMIT 1"
    );
    tx.find(sql, (kind, version, language))
}

pub(crate) fn list_versions(tx: &Read, kind: Kind, limit: i64) -> Result<Vec<Version>> {
    let sql = sql!(
        "SELECT version, max(published_at), max(asks_again), group_concat(language, ', ') FROM site_texts
               WHERE kind = ?1 GROUP BY version ORDER BY version DESC LIMIT ?2"
    );
    let version =
        |(version, published_at, asks_again, languages)| Version { version, published_at, asks_again, languages };
    Ok(tx.list(sql, (kind, limit))?.into_iter().map(version).collect())
}

/// Publishes a draft as a version. `by`: the admin.
pub(crate) fn insert(
    tx: &Write,
    (kind, version, asks_again): (Kind, i64, bool),
    draft: &Draft,
    text_hash: &[u8; 32],
    by: Option<MemberId>,
) -> Result<usize> {
    insert!(tx.run, "INSERT INTO site_texts" {
        kind, version, language: &draft.language, title: &draft.title, body: &draft.body, questions: &draft.questions,
        text_hash: &text_hash[..], asks_again, published_at: tx.now(), published_by: by,
    })
}

pub(crate) fn find_draft(tx: &Read, kind: Kind, language: &str) -> Result<Option<Draft>> {
    let sql = sql!("SELECT ", Draft::COLUMNS, " FROM site_text_drafts WHERE kind = ?1 AND language = ?2");
    tx.find(sql, (kind, language))
}

pub(crate) fn list_drafts(tx: &Read, kind: Kind) -> Result<Vec<Draft>> {
    tx.list(sql!("SELECT ", Draft::COLUMNS, " FROM site_text_drafts WHERE kind = ?1 ORDER BY language"), [kind])
}

pub(crate) fn set_draft(tx: &Write, kind: Kind, draft: &Draft) -> Result<usize> {
    insert!(tx.run, "INSERT OR REPLACE INTO site_text_drafts" {
        kind, language: &draft.language, title: &draft.title, body: &draft.body, questions: &draft.questions,
        saved_at: tx.now(),
    })
}

/// Deletes the drafts of a kind, in one language or in all.
pub(crate) fn delete_drafts(tx: &Write, kind: Kind, language: Option<&str>) -> Result<usize> {
    let sql = sql!("DELETE FROM site_text_drafts WHERE kind = :kind AND language = coalesce(:language, language)");
    tx.run(sql, named_params! {":kind": kind, ":language": language})
}
