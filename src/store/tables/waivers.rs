//! Signed waivers, what staff decided on them, and days on which staff lets somebody fly without one. A signed waiver
//! is never changed.

use crate::domain::waiver::{Place, Relation, Signed};
use crate::store::engine::columns::row;
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

row! {
    /// A waiver that was signed for one flyer. Moments in Unix seconds.
    #[derive(Debug, Clone)]
    pub(crate) struct Signature {
        pub(crate) member_id: i64,
        pub(crate) version: i64,
        pub(crate) language: String,
        pub(crate) text_hash: [u8; 32],
        pub(crate) signed_at: i64,
        pub(crate) place: Place,
        pub(crate) flyer_name: String,
        /// Midnight of the day of birth in UTC.
        pub(crate) born: i64,
        pub(crate) relation: Relation,
        pub(crate) signer_name: String,
        /// The signer's own account, where it is another's than the flyer's.
        pub(crate) signer_id: Option<i64>,
        /// An SVG path; empty: the typed name is the signature.
        pub(crate) strokes: String,
        /// `y` or `n` for each question.
        pub(crate) answers: String,
        /// The clerk at the desk.
        pub(crate) witness_id: Option<i64>,
        /// Whether it outlives the account.
        pub(crate) kept: bool,
        pub(crate) kept_until: Option<i64>,
    }
}

row! {
    /// What staff decided.
    #[derive(Debug, Clone)]
    pub(crate) struct Decision {
        pub(crate) may_fly: bool,
        pub(crate) word: String,
        pub(crate) decided_by: Option<i64>,
        pub(crate) decided_at: i64,
    }
}

row! {
    /// A day on which somebody flies because staff says so.
    #[derive(Debug)]
    pub(crate) struct Override {
        pub(crate) reason: String,
        pub(crate) made_by: Option<i64>,
    }
}

/// Returns the number of the signature.
pub(crate) fn insert(tx: &Write, new: &Signature) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO waiver_signatures" {
        member_id: new.member_id, version: new.version, language: &new.language, text_hash: &new.text_hash[..],
        signed_at: new.signed_at, place: new.place, flyer_name: &new.flyer_name, born: new.born, relation: new.relation,
        signer_name: &new.signer_name, signer_id: new.signer_id, strokes: &new.strokes, answers: &new.answers,
        witness_id: new.witness_id, kept: new.kept, kept_until: new.kept_until,
    })
}

pub(crate) fn find(tx: &Read, signature_id: i64) -> Result<Option<Signature>> {
    tx.find(sql!("SELECT ", Signature::COLUMNS, " FROM waiver_signatures WHERE signature_id = ?1"), [signature_id], row)
}

/// A member's, the newest first, each with its number.
pub(crate) fn list(tx: &Read, member_id: i64, limit: i64) -> Result<Vec<(i64, Signature)>> {
    let sql = sql!(
        "SELECT signature_id, ",
        Signature::COLUMNS,
        " FROM waiver_signatures WHERE member_id = ?1 ORDER BY signature_id DESC LIMIT ?2"
    );
    tx.list(sql, (member_id, limit), row)
}

row! {
    struct Latest in "s." {
        version: i64,
        signed_at: i64,
        born: i64,
        relation: Relation,
        has_yes: bool = "instr(s.answers, 'y') > 0",
        decision: Option<bool> = "(SELECT d.may_fly FROM waiver_decisions d WHERE d.signature_id = s.signature_id
                                   ORDER BY d.decision_id DESC LIMIT 1)",
    }
}

/// The one that counts: the latest.
pub(crate) fn find_latest(tx: &Read, member_id: i64) -> Result<Option<Signed>> {
    let sql = sql!(
        "SELECT ",
        Latest::COLUMNS,
        " FROM waiver_signatures s WHERE s.member_id = ?1 ORDER BY s.signature_id DESC LIMIT 1"
    );
    Ok(tx.find(sql, [member_id], row)?.map(Latest::into_signed))
}

/// Signatures for a flyer from a moment on.
pub(crate) fn count_since(tx: &Read, member_id: i64, since: i64) -> Result<i64> {
    let sql = sql!("SELECT count(*) FROM waiver_signatures WHERE member_id = ?1 AND signed_at >= ?2");
    tx.get(sql, (member_id, since), row)
}

impl Latest {
    fn into_signed(self) -> Signed {
        let Latest { version, signed_at, born, relation, has_yes, decision } = self;
        Signed { version, signed_at, born, relation, has_yes, decision }
    }
}

/// Of bookings at a tunnel between two moments; `to` is not included.
const BOOKED: &str = " WHERE b.tunnel_id = :tunnel_id AND b.flight_date >= :from AND b.flight_date < :to";

/// The ones that count, of the members who have a booking at a tunnel between two moments; `to` is not included.
pub(crate) fn list_latest_of_booked(tx: &Read, tunnel_id: i64, (from, to): (i64, i64)) -> Result<Vec<(i64, Signed)>> {
    let sql = sql!(
        "SELECT b.member_id, ",
        Latest::COLUMNS,
        " FROM bookings b JOIN waiver_signatures s ON s.signature_id =
              (SELECT max(signature_id) FROM waiver_signatures WHERE member_id = b.member_id)",
        BOOKED
    );
    let params = named_params! {":tunnel_id": tunnel_id, ":from": from, ":to": to};
    let found: Vec<(i64, Latest)> = tx.list(sql, params, row)?;
    Ok(found.into_iter().map(|(member_id, latest)| (member_id, latest.into_signed())).collect())
}

/// The times in which members with such a booking fly without one: the member, from when and until when.
pub(crate) fn list_overrides_of_booked(
    tx: &Read,
    tunnel_id: i64,
    (from, to): (i64, i64),
) -> Result<Vec<(i64, i64, i64)>> {
    let sql = sql!(
        "SELECT b.member_id, o.made_at, o.ends_at FROM bookings b JOIN waiver_overrides o ON o.member_id = b.member_id",
        BOOKED
    );
    tx.list(sql, named_params! {":tunnel_id": tunnel_id, ":from": from, ":to": to}, row)
}

row! {
    /// A waiver on which staff has still to decide.
    #[derive(Debug)]
    pub(crate) struct Undecided in "s." {
        pub(crate) member_id: i64,
        pub(crate) signed_at: i64,
        pub(crate) name: String = "s.flyer_name",
    }
}

/// Latest waivers with a yes that were signed after a moment, and on which nobody has decided.
const UNDECIDED: &str = " FROM waiver_signatures s
      WHERE instr(s.answers, 'y') > 0 AND s.signed_at > ?1
        AND NOT EXISTS (SELECT 1 FROM waiver_decisions d WHERE d.signature_id = s.signature_id)
        AND NOT EXISTS (SELECT 1 FROM waiver_signatures n WHERE n.member_id = s.member_id AND n.signature_id > s.signature_id)";

pub(crate) fn count_undecided(tx: &Read, since: i64) -> Result<i64> {
    tx.get(sql!("SELECT count(*)", UNDECIDED), [since], row)
}

/// The one that waits longest first.
pub(crate) fn list_undecided(tx: &Read, since: i64, limit: i64) -> Result<Vec<Undecided>> {
    let sql = sql!("SELECT ", Undecided::COLUMNS, UNDECIDED, " ORDER BY s.signed_at, s.signature_id LIMIT ?2");
    tx.list(sql, (since, limit), row)
}

/// `by`: the clerk.
pub(crate) fn insert_decision(
    tx: &Write,
    signature_id: i64,
    may_fly: bool,
    word: &str,
    by: Option<i64>,
) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO waiver_decisions" { signature_id, may_fly, word, decided_by: by, decided_at: tx.now() })
}

/// Of a waiver, the newest first.
pub(crate) fn list_decisions(tx: &Read, signature_id: i64) -> Result<Vec<Decision>> {
    let sql = sql!(
        "SELECT ",
        Decision::COLUMNS,
        " FROM waiver_decisions WHERE signature_id = ?1 ORDER BY decision_id DESC LIMIT 20"
    );
    tx.list(sql, [signature_id], row)
}

/// `by`: the clerk.
pub(crate) fn insert_override(tx: &Write, member_id: i64, reason: &str, by: Option<i64>, ends_at: i64) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO waiver_overrides" { member_id, reason, made_by: by, made_at: tx.now(), ends_at })
}

/// The one by which a member flies at a moment.
pub(crate) fn find_override(tx: &Read, member_id: i64, at: i64) -> Result<Option<Override>> {
    let sql = sql!(
        "SELECT ",
        Override::COLUMNS,
        " FROM waiver_overrides WHERE member_id = ?1 AND made_at <= ?2 AND ?2 < ends_at ORDER BY override_id DESC LIMIT 1"
    );
    tx.find(sql, (member_id, at), row)
}

/// What a clerk is called; empty where there is none any more.
pub(crate) fn find_clerk(tx: &Read, member_id: Option<i64>) -> Result<String> {
    super::till::find_clerk(tx, member_id)
}

/// Removes waivers whose time is over, with what was decided on them.
pub(crate) fn purge_expired(tx: &Write, rows: i64) -> Result<usize> {
    const OVER: &str =
        joined!("SELECT signature_id FROM waiver_signatures WHERE kept_until <= ?1 ORDER BY kept_until LIMIT ?2");
    tx.run(sql!("DELETE FROM waiver_decisions WHERE signature_id IN (", OVER, ")"), (tx.now(), rows))?;
    tx.run(sql!("DELETE FROM waiver_signatures WHERE signature_id IN (", OVER, ")"), (tx.now(), rows))
}
