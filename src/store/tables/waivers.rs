//! Signed waivers, the staff's decisions on them, and the staff's permissions to fly without one. A signed waiver is
//! never changed.

use crate::domain::ids::{MemberId, SignatureId, TunnelId};
use crate::domain::waiver::{Relation, Signed, SigningPlace};
use crate::moment::Moment;
use crate::store::joining::{WHO_DID, moves, stays};
use crate::store::personal::{OUR_WORD, Rows, Seen, Table, kept, not_personal, searched};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

const WAIVERS: &str = "the operator keeps signed waivers for as long as somebody may sue";
const KEPT_UNTIL: &str =
    "for waiver.keep_years years after the signature; where none are set, as long as the flyer's account";
/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::new("waiver_signatures", "", &[
        not_personal("language", OUR_WORD),
        not_personal("text_hash", "of the operator's text"),
        not_personal("place", OUR_WORD),
        kept("flyer_name", WAIVERS, KEPT_UNTIL),
        not_personal("relation", OUR_WORD),
        kept("signer_name", WAIVERS, KEPT_UNTIL),
        kept("strokes", WAIVERS, KEPT_UNTIL),
        kept("answers", WAIVERS, KEPT_UNTIL),
    ], &[
        Rows::deleted("waivers", "member_id = :id AND kept = 0"),
        Rows::kept("waivers_kept", "member_id = :id AND kept = 1", WAIVERS),
        Rows::others("waivers_signed_for_others", "signer_id = :id AND member_id <> :id", "the waiver is the flyer's")
            .only(&["signature_id", "version", "language", "signed_at", "place", "relation", "signer_name"]),
    ]).seen(Seen::OnPages).joins(&[moves("member_id", "signature_id"), moves("signer_id", "signature_id"), stays("witness_id", WHO_DID)]),
    Table::new("waiver_decisions", "decision_id", &[searched("word")], &[
        Rows::deleted("waiver_decisions", "signature_id IN (SELECT signature_id FROM waiver_signatures WHERE member_id = :id AND kept = 0)"),
        Rows::kept("waiver_decisions_kept", "signature_id IN (SELECT signature_id FROM waiver_signatures WHERE member_id = :id AND kept = 1)", WAIVERS),
        Rows::others("waiver_decisions_made_for_others", "decided_by = :id AND signature_id NOT IN (SELECT signature_id FROM waiver_signatures WHERE member_id = :id)",
            "the waiver is the flyer's; the person's name in it is replaced").only(&["decision_id", "may_fly", "decided_at"]),
    ]).seen(Seen::OnPages).joins(&[stays("decided_by", WHO_DID)]),
    Table::new("waiver_overrides", "override_id", &[searched("reason")], &[
        Rows::deleted("waiver_overrides", "member_id = :id"),
        Rows::others("waiver_overrides_made_for_others", "made_by = :id AND member_id <> :id", "the flyer's; the person's name in it is replaced")
            .only(&["override_id", "made_at", "ends_at"]),
    ]).seen(Seen::OnPages).joins(&[moves("member_id", "override_id"), stays("made_by", WHO_DID)]),
];

row! {
    /// A waiver that was signed for one flyer. Moments in Unix seconds.
    #[derive(Debug, Clone, PartialEq)]
    pub(crate) struct Signature {
        pub(crate) member_id: MemberId,
        pub(crate) version: i64,
        pub(crate) language: String,
        pub(crate) text_hash: [u8; 32],
        pub(crate) signed_at: Moment,
        pub(crate) place: SigningPlace,
        pub(crate) flyer_name: String,
        /// Midnight of the day of birth in UTC.
        pub(crate) born: Moment,
        pub(crate) relation: Relation,
        pub(crate) signer_name: String,
        /// The signer's account, where the signer is not the flyer.
        pub(crate) signer_id: Option<MemberId>,
        /// The signature as an SVG path; empty: the typed name is the signature.
        pub(crate) strokes: String,
        /// The answers: `y` or `n` for each question.
        pub(crate) answers: String,
        /// The clerk at the desk who saw the signature.
        pub(crate) witness_id: Option<MemberId>,
        /// Whether the waiver outlives the account.
        pub(crate) kept: bool,
        pub(crate) kept_until: Option<Moment>,
    }
}

row! {
    /// A decision of the staff on a waiver.
    #[derive(Debug, Clone)]
    pub(crate) struct Decision {
        pub(crate) may_fly: bool,
        pub(crate) word: String,
        pub(crate) decided_by: Option<MemberId>,
        pub(crate) decided_at: Moment,
        /// Whether the waiver was signed in error, for the reason in `word`: `may_fly` says nothing then.
        pub(crate) in_error: bool,
    }
}

row! {
    /// A permission of the staff to fly without a waiver.
    #[derive(Debug)]
    pub(crate) struct Override {
        pub(crate) reason: String,
        pub(crate) made_by: Option<MemberId>,
    }
}

/// Adds a signature; returns its number.
pub(crate) fn insert(tx: &Write, new: &Signature) -> Result<SignatureId> {
    insert!(tx.insert, "INSERT INTO waiver_signatures" {
        member_id: new.member_id, version: new.version, language: &new.language, text_hash: &new.text_hash[..],
        signed_at: new.signed_at, place: new.place, flyer_name: &new.flyer_name, born: new.born, relation: new.relation,
        signer_name: &new.signer_name, signer_id: new.signer_id, strokes: &new.strokes, answers: &new.answers,
        witness_id: new.witness_id, kept: new.kept, kept_until: new.kept_until,
    })
    .map(SignatureId)
}

pub(crate) fn find(tx: &Read, signature_id: SignatureId) -> Result<Option<Signature>> {
    tx.find(sql!("SELECT ", Signature::COLUMNS, " FROM waiver_signatures WHERE signature_id = ?1"), [signature_id])
}

/// A member's waivers, newest first, each with its number.
pub(crate) fn list(tx: &Read, member_id: MemberId, limit: i64) -> Result<Vec<(SignatureId, Signature)>> {
    let sql = sql!(
        "SELECT signature_id, ",
        Signature::COLUMNS,
        " FROM waiver_signatures WHERE member_id = ?1 ORDER BY signature_id DESC LIMIT ?2"
    );
    tx.list(sql, (member_id, limit))
}

columns! {
    Signed in "s." {
        version,
        signed_at,
        born,
        relation,
        has_yes = "instr(s.answers, 'y') > 0",
        decision = "(SELECT d.may_fly FROM waiver_decisions d WHERE d.signature_id = s.signature_id
                     ORDER BY d.decision_id DESC LIMIT 1)",
    }
}

/// Whether the waiver `s` counts: it was not signed in error.
const COUNTS: &str =
    joined!("NOT EXISTS (SELECT 1 FROM waiver_decisions e WHERE e.signature_id = s.signature_id AND e.in_error = 1)");

/// A member's latest waiver that was not signed in error, which is the one that counts.
pub(crate) fn find_latest(tx: &Read, member_id: MemberId) -> Result<Option<Signed>> {
    let sql = sql!(
        "SELECT ",
        Signed::COLUMNS,
        " FROM waiver_signatures s WHERE s.member_id = ?1 AND ",
        COUNTS,
        " ORDER BY s.signature_id DESC LIMIT 1"
    );
    tx.find(sql, [member_id])
}

/// The number of waivers signed for a flyer from a moment on.
pub(crate) fn count_since(tx: &Read, member_id: MemberId, since: Moment) -> Result<i64> {
    let sql = sql!("SELECT count(*) FROM waiver_signatures WHERE member_id = ?1 AND signed_at >= ?2");
    tx.get(sql, (member_id, since))
}

/// The condition of bookings at a tunnel between two moments; `to` is not included.
const BOOKED: &str = " WHERE b.tunnel_id = :tunnel_id AND b.flight_date >= :from AND b.flight_date < :to";

/// The waiver that counts of each member who has a booking at the tunnel between the two moments.
pub(crate) fn list_latest_of_booked(
    tx: &Read,
    tunnel_id: TunnelId,
    (from, to): (Moment, Moment),
) -> Result<Vec<(MemberId, Signed)>> {
    let sql = sql!(
        "SELECT b.member_id, ",
        Signed::COLUMNS,
        " FROM bookings b JOIN waiver_signatures s ON s.signature_id =
              (SELECT s.signature_id FROM waiver_signatures s WHERE s.member_id = b.member_id AND ",
        COUNTS,
        " ORDER BY s.signature_id DESC LIMIT 1)",
        BOOKED
    );
    tx.list(sql, named_params! {":tunnel_id": tunnel_id, ":from": from, ":to": to})
}

/// The permissions of members who have a booking at the tunnel between the two moments: member, begin and end.
pub(crate) fn list_overrides_of_booked(
    tx: &Read,
    tunnel_id: TunnelId,
    (from, to): (Moment, Moment),
) -> Result<Vec<(MemberId, Moment, Moment)>> {
    let sql = sql!(
        "SELECT b.member_id, o.made_at, o.ends_at FROM bookings b JOIN waiver_overrides o ON o.member_id = b.member_id",
        BOOKED
    );
    tx.list(sql, named_params! {":tunnel_id": tunnel_id, ":from": from, ":to": to})
}

row! {
    /// A waiver that waits for a decision of the staff.
    #[derive(Debug)]
    pub(crate) struct Undecided in "s." {
        pub(crate) member_id: MemberId,
        pub(crate) signed_at: Moment,
        pub(crate) name: String = "s.flyer_name",
    }
}

/// Latest waivers with a "yes" answer that were signed after a moment, and have no decision. A later one that was signed in
/// error takes the place of none.
const UNDECIDED: &str = " FROM waiver_signatures s
      WHERE instr(s.answers, 'y') > 0 AND s.signed_at > ?1
        AND NOT EXISTS (SELECT 1 FROM waiver_decisions d WHERE d.signature_id = s.signature_id)
        AND NOT EXISTS (SELECT 1 FROM waiver_signatures n WHERE n.member_id = s.member_id AND n.signature_id > s.signature_id
            AND NOT EXISTS (SELECT 1 FROM waiver_decisions e WHERE e.signature_id = n.signature_id AND e.in_error = 1))";

pub(crate) fn count_undecided(tx: &Read, since: Moment) -> Result<i64> {
    tx.get(sql!("SELECT count(*)", UNDECIDED), [since])
}

/// The waivers without a decision, oldest first.
pub(crate) fn list_undecided(tx: &Read, since: Moment, limit: i64) -> Result<Vec<Undecided>> {
    let sql = sql!("SELECT ", Undecided::COLUMNS, UNDECIDED, " ORDER BY s.signed_at, s.signature_id LIMIT ?2");
    tx.list(sql, (since, limit))
}

/// Adds a decision on a waiver. `by`: the clerk.
pub(crate) fn insert_decision(
    tx: &Write,
    signature_id: SignatureId,
    may_fly: bool,
    word: &str,
    by: Option<MemberId>,
) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO waiver_decisions" { signature_id, may_fly, word, decided_by: by, decided_at: tx.now() })
}

/// Marks a waiver as signed in error. `by`: the admin.
pub(crate) fn insert_error(tx: &Write, signature_id: SignatureId, word: &str, by: Option<MemberId>) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO waiver_decisions" {
        signature_id, may_fly: false, word, decided_by: by, decided_at: tx.now(), in_error: true,
    })
}

/// The decisions on a waiver, newest first.
pub(crate) fn list_decisions(tx: &Read, signature_id: SignatureId) -> Result<Vec<Decision>> {
    let sql = sql!(
        "SELECT ",
        Decision::COLUMNS,
        " FROM waiver_decisions WHERE signature_id = ?1 ORDER BY decision_id DESC LIMIT 20"
    );
    tx.list(sql, [signature_id])
}

/// Adds a permission; returns its number. `by`: the clerk.
pub(crate) fn insert_override(
    tx: &Write,
    member_id: MemberId,
    reason: &str,
    by: Option<MemberId>,
    ends_at: Moment,
) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO waiver_overrides" { member_id, reason, made_by: by, made_at: tx.now(), ends_at })
}

/// The permission of a member that is valid at a moment.
pub(crate) fn find_override(tx: &Read, member_id: MemberId, at: Moment) -> Result<Option<Override>> {
    let sql = sql!(
        "SELECT ",
        Override::COLUMNS,
        " FROM waiver_overrides WHERE member_id = ?1 AND made_at <= ?2 AND ?2 < ends_at ORDER BY override_id DESC LIMIT 1"
    );
    tx.find(sql, (member_id, at))
}

/// Deletes waivers whose retention time is over, with their decisions.
pub(crate) fn purge_expired(tx: &Write, rows: i64) -> Result<usize> {
    const OVER: &str =
        joined!("SELECT signature_id FROM waiver_signatures WHERE kept_until <= ?1 ORDER BY kept_until LIMIT ?2");
    tx.run(sql!("DELETE FROM waiver_decisions WHERE signature_id IN (", OVER, ")"), (tx.now(), rows))?;
    tx.run(sql!("DELETE FROM waiver_signatures WHERE signature_id IN (", OVER, ")"), (tx.now(), rows))
}
