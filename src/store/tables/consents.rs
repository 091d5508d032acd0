//! The register of consents: who consented or not, to which text, and when. Rows are added and never changed; the last
//! of a kind counts.

use super::site_texts::Kind;
use crate::domain::ids::MemberId;
use crate::domain::waiver::SigningPlace;
use crate::moment::Moment;
use crate::store::joining::{ITS_OWN, WHO_DID, stays};
use crate::store::personal::{NUMBERS, OUR_WORD, Rows, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::Result;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "consents",
    "",
    &[
        not_personal("kind", OUR_WORD),
        not_personal("language", OUR_WORD),
        not_personal("text_hash", "of the operator's text"),
        not_personal("place", OUR_WORD),
    ],
    &[
        Rows::deleted("consents", "member_id = :id"),
        Rows::others("consents_said_for_others", "said_by = :id AND member_id <> :id", NUMBERS).only(&[
            "consent_id",
            "kind",
            "given",
            "said_at",
        ]),
    ],
)
.joins(&[stays("member_id", ITS_OWN), stays("said_by", WHO_DID)])];

row! {
    /// A member's consent, or its withdrawal. Moments in Unix seconds.
    #[derive(Debug, Clone)]
    pub(crate) struct Consent {
        pub(crate) member_id: MemberId,
        pub(crate) kind: Kind,
        pub(crate) given: bool,
        pub(crate) version: i64,
        /// The language of the text; ISO 639-1.
        pub(crate) language: String,
        pub(crate) text_hash: [u8; 32],
        pub(crate) said_at: Moment,
        pub(crate) place: SigningPlace,
        /// The guardian or clerk who answered, where it was not the member.
        pub(crate) said_by: Option<MemberId>,
    }
}

pub(crate) fn insert(tx: &Write, new: &Consent) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO consents" {
        member_id: new.member_id, kind: new.kind, given: new.given, version: new.version, language: &new.language,
        text_hash: &new.text_hash[..], said_at: new.said_at, place: new.place, said_by: new.said_by,
    })
}

/// A member's last consent of a kind.
pub(crate) fn find_last(tx: &Read, member_id: MemberId, kind: Kind) -> Result<Option<Consent>> {
    let sql = sql!(
        "SELECT ",
        Consent::COLUMNS,
        " FROM consents WHERE member_id = ?1 AND kind = ?2 ORDER BY consent_id DESC LIMIT 1"
    );
    tx.find(sql, (member_id, kind))
}

/// A member's consents, newest first.
pub(crate) fn list(tx: &Read, member_id: MemberId, limit: i64) -> Result<Vec<Consent>> {
    let sql =
        sql!("SELECT ", Consent::COLUMNS, " FROM consents WHERE member_id = ?1 ORDER BY consent_id DESC LIMIT ?2");
    tx.list(sql, (member_id, limit))
}
