//! The till: fees taken and undone at the desk, cash put in and taken out, and the day closings that sum them up. Amounts are in the smallest unit
//! of a currency, moments in Unix seconds. Rows are added and never changed.

use crate::domain::ids::{MemberId, PaymentId};
use crate::domain::till::{Kind, Sums, is_same_voucher};
use crate::moment::Moment;
use crate::store::joining::{WHO_DID, stays};
use crate::store::personal::{NUMBERS, OUR_WORD, Rows, Seen, Table, not_personal, searched};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[
    Table::new(
        "till_entries",
        "entry_id",
        &[not_personal("kind", OUR_WORD), not_personal("currency", "a currency"), searched("reason")],
        &[
            Rows::emptied(
                "till",
                "payment_id IN (SELECT payment_id FROM payments WHERE member_id = :id)",
                "",
                "the books must be kept: amounts, days and numbers of payments that are nobody's any more",
            ),
            Rows::others(
                "till_entries_made_for_others",
                "(taken_by = :id OR reviewed_by = :id)
                  AND (payment_id IS NULL OR payment_id NOT IN (SELECT payment_id FROM payments WHERE member_id = :id))",
                NUMBERS,
            )
            .only(&["entry_id", "kind", "amount_cents", "currency", "taken_at"]),
        ],
    )
    .joins(&[stays("taken_by", WHO_DID), stays("reviewed_by", WHO_DID)])
    .seen(Seen::OnPages),
    Table::new(
        "till_closings",
        "closing_id",
        &[not_personal("currency", "a currency"), searched("note")],
        &[Rows::others(
            "till_closings",
            "closed_by = :id",
            "the books must be kept; the person's name in a note is replaced",
        )
        .only(&["closing_id", "counted_cents", "left_cents", "note", "closed_at"])],
    )
    .joins(&[stays("closed_by", WHO_DID)]),
];

row! {
    /// A fee that was taken, cash that was put in or taken out, or the undoing of either.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) struct Entry {
        /// `None`: cash that was put in or taken out.
        pub(crate) payment_id: Option<PaymentId>,
        pub(crate) kind: Kind,
        /// Negative where a fee or cash put in was undone, or cash was taken out.
        pub(crate) amount_cents: i64,
        pub(crate) currency: String,
        /// The reason why the fee is free of charge or was undone; or the number of a voucher.
        pub(crate) reason: String,
        /// The entry that this one undoes.
        pub(crate) undoes: Option<i64>,
        /// Until when the entry makes the membership paid.
        pub(crate) paid_until: Option<Moment>,
        pub(crate) taken_by: Option<MemberId>,
        pub(crate) taken_at: Moment,
        /// The number of the form, by which a form that is sent twice is recognized.
        pub(crate) form_number: Option<i64>,
        /// The admin who saw an undoing; `None`: nobody yet.
        pub(crate) reviewed_by: Option<MemberId>,
    } saved
}

row! {
    /// An entry as lists show it: with the member, the clerk, and whether it was undone.
    #[derive(Debug)]
    pub(crate) struct Line in "e." {
        pub(crate) entry_id: i64,
        pub(crate) kind: Kind,
        pub(crate) amount_cents: i64,
        pub(crate) currency: String,
        pub(crate) reason: String,
        pub(crate) undoes: Option<i64>,
        pub(crate) paid_until: Option<Moment>,
        pub(crate) taken_at: Moment,
        pub(crate) reviewed_by: Option<MemberId>,
        pub(crate) undone_by: Option<i64> = "(SELECT u.entry_id FROM till_entries u WHERE u.undoes = e.entry_id)",
        /// The member; `None`: the payment has none.
        pub(crate) member_id: Option<MemberId> = "m.member_id",
        pub(crate) member: String = "coalesce(nullif(m.real_name, ''), nullif(m.screen_name, ''), m.username, '')",
        pub(crate) clerk: String = "coalesce(nullif(c.screen_name, ''), c.username, '')",
    }
}

row! {
    /// A day closing.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub(crate) struct Closing {
        /// The last entry of the day; 0: there was none yet.
        pub(crate) last_entry_id: i64,
        pub(crate) currency: String,
        /// The cash that the closing before left in the drawer, or the opening float.
        pub(crate) float_cents: i64,
        /// The fees paid in cash.
        pub(crate) cash_cents: i64,
        /// The cash put in otherwise, less the cash taken out.
        pub(crate) moved_cents: i64,
        pub(crate) terminal_cents: i64,
        pub(crate) voucher_cents: i64,
        pub(crate) counted_cents: i64,
        /// The cash that stays in the drawer for the next day.
        pub(crate) left_cents: i64,
        pub(crate) note: String,
        pub(crate) closed_by: Option<MemberId>,
        pub(crate) closed_at: Moment,
        pub(crate) form_number: i64,
    } saved
}

impl Closing {
    /// The cash that should be in the drawer.
    pub(crate) fn expected_cents(&self) -> i64 {
        self.float_cents + self.cash_cents + self.moved_cents
    }

    /// The surplus of cash in the drawer; negative: cash is missing.
    pub(crate) fn difference_cents(&self) -> i64 {
        self.counted_cents - self.expected_cents()
    }
}

/// Adds an entry; returns its number.
pub(crate) fn insert(tx: &Write, entry: &Entry) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO till_entries" Entry: entry, {})
}

pub(crate) fn find(tx: &Read, entry_id: i64) -> Result<Option<Entry>> {
    tx.find(sql!("SELECT ", Entry::COLUMNS, " FROM till_entries WHERE entry_id = ?1"), [entry_id])
}

/// The entry that a form made.
pub(crate) fn find_by_form(tx: &Read, form_number: i64) -> Result<Option<i64>> {
    tx.find(sql!("SELECT entry_id FROM till_entries WHERE form_number = ?1"), [form_number])
}

/// The entry that undoes another.
pub(crate) fn find_undo(tx: &Read, entry_id: i64) -> Result<Option<i64>> {
    tx.find(sql!("SELECT entry_id FROM till_entries WHERE undoes = ?1"), [entry_id])
}

/// The last fee that a clerk took, or the last cash that the clerk moved; undone or not.
pub(crate) fn find_last_of(tx: &Read, clerk_id: MemberId, is_fee: bool) -> Result<Option<i64>> {
    let sql = sql!(
        "SELECT max(entry_id) FROM till_entries
          WHERE taken_by = ?1 AND undoes IS NULL AND (payment_id IS NOT NULL) = ?2"
    );
    tx.get(sql, (clerk_id, is_fee))
}

/// The undoings that no admin has seen: how many, and the first.
pub(crate) fn find_unreviewed(tx: &Read) -> Result<(i64, i64)> {
    let sql = sql!(
        "SELECT count(*), coalesce(min(entry_id), 0) FROM till_entries WHERE undoes IS NOT NULL AND reviewed_by IS NULL"
    );
    tx.get(sql, [])
}

/// Notes that an admin has seen an undoing; 0 where there is none that waits.
pub(crate) fn set_reviewed(tx: &Write, entry_id: i64, admin: Option<MemberId>) -> Result<usize> {
    let sql = sql!(
        "UPDATE till_entries SET reviewed_by = ?2 WHERE entry_id = ?1 AND undoes IS NOT NULL AND reviewed_by IS NULL"
    );
    tx.run(sql, (entry_id, admin))
}

/// Whether a fee that stands was paid by the voucher of this number.
pub(crate) fn is_voucher_used(tx: &Read, number: &str) -> Result<bool> {
    let sql = sql!(
        "SELECT e.reason FROM till_entries e WHERE e.kind = 'voucher' AND e.undoes IS NULL
            AND NOT EXISTS (SELECT 1 FROM till_entries u WHERE u.undoes = e.entry_id)"
    );
    let used: Vec<String> = tx.list(sql, [])?;
    Ok(used.iter().any(|used| is_same_voucher(used, number)))
}

/// Whether a fee of the member that stands was taken after a moment.
pub(crate) fn has_paid_since(tx: &Read, member_id: MemberId, since: Moment) -> Result<bool> {
    let sql = sql!(
        "SELECT EXISTS (SELECT 1 FROM payments p JOIN till_entries e ON e.payment_id = p.payment_id
          WHERE p.member_id = ?1 AND e.taken_at > ?2 AND e.undoes IS NULL
           AND NOT EXISTS (SELECT 1 FROM till_entries u WHERE u.undoes = e.entry_id))"
    );
    tx.get(sql, (member_id, since))
}

/// Whether a payment was taken at the till.
pub(crate) fn has_payment(tx: &Read, payment_id: PaymentId) -> Result<bool> {
    tx.get(sql!("SELECT EXISTS (SELECT 1 FROM till_entries WHERE payment_id = ?1)"), [payment_id])
}

/// The number of the last entry; 0 where there is none.
pub(crate) fn last(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT coalesce(max(entry_id), 0) FROM till_entries"), [])
}

const LINE: &str = joined!(
    "SELECT ",
    Line::COLUMNS,
    " FROM till_entries e LEFT JOIN payments p ON p.payment_id = e.payment_id
      LEFT JOIN members m ON m.member_id = p.member_id LEFT JOIN members c ON c.member_id = e.taken_by"
);

pub(crate) fn find_line(tx: &Read, entry_id: i64) -> Result<Option<Line>> {
    tx.find(sql!(LINE, " WHERE e.entry_id = ?1"), [entry_id])
}

/// The entries after `from` up to `to`, the newest first.
pub(crate) fn list(tx: &Read, from: i64, to: i64, limit: i64) -> Result<Vec<Line>> {
    let sql = sql!(LINE, " WHERE e.entry_id > :from AND e.entry_id <= :to ORDER BY e.entry_id DESC LIMIT :limit");
    tx.list(sql, named_params! {":from": from, ":to": to, ":limit": limit})
}

/// The sums of the entries after `from` up to `to`. All are in one currency: none of another is taken before a closing.
pub(crate) fn sum(tx: &Read, from: i64, to: i64) -> Result<Sums> {
    let sql =
        sql!("SELECT kind, amount_cents, undoes IS NOT NULL FROM till_entries WHERE entry_id > ?1 AND entry_id <= ?2");
    let mut sums = Sums::default();
    tx.list(sql, (from, to))?
        .into_iter()
        .for_each(|(kind, cents, is_undo): (Kind, i64, bool)| sums.add(kind, cents, is_undo));
    Ok(sums)
}

/// The currency of the entries after `from`; `None`: there are no entries.
pub(crate) fn find_currency(tx: &Read, from: i64) -> Result<Option<String>> {
    let sql = sql!("SELECT currency FROM till_entries WHERE entry_id > ?1 ORDER BY entry_id LIMIT 1");
    tx.find(sql, [from])
}

/// Adds a closing; returns its number.
pub(crate) fn insert_closing(tx: &Write, closing: &Closing) -> Result<i64> {
    insert!(tx.insert, "INSERT INTO till_closings" Closing: closing, {})
}

/// The closing that a form made.
pub(crate) fn find_closing_by_form(tx: &Read, form_number: i64) -> Result<Option<i64>> {
    tx.find(sql!("SELECT closing_id FROM till_closings WHERE form_number = ?1"), [form_number])
}

/// The last closing, with its number.
pub(crate) fn find_last_closing(tx: &Read) -> Result<Option<(i64, Closing)>> {
    let sql = sql!(
        "SELECT closing_id, ",
        Closing::COLUMNS,
        " FROM till_closings WHERE closing_id = (SELECT max(closing_id) FROM till_closings)"
    );
    tx.find(sql, [])
}

/// What the last closing in a currency left in the drawer; `None`: there is no closing in it.
pub(crate) fn find_left(tx: &Read, currency: &str) -> Result<Option<i64>> {
    let sql = sql!("SELECT left_cents FROM till_closings WHERE currency = ?1 ORDER BY closing_id DESC LIMIT 1");
    tx.find(sql, [currency])
}

pub(crate) fn find_closing(tx: &Read, closing_id: i64) -> Result<Option<Closing>> {
    let sql = sql!("SELECT ", Closing::COLUMNS, " FROM till_closings WHERE closing_id = ?1");
    tx.find(sql, [closing_id])
}

/// The last entry that the closing before this one summed up; 0: there is no earlier closing.
pub(crate) fn find_start(tx: &Read, closing_id: i64) -> Result<i64> {
    let sql = sql!("SELECT last_entry_id FROM till_closings WHERE closing_id < ?1 ORDER BY closing_id DESC LIMIT 1");
    Ok(tx.find(sql, [closing_id])?.unwrap_or(0))
}

/// The closings before a number, newest first, each with its number and the clerk's name.
pub(crate) fn list_closings(tx: &Read, before: i64, limit: i64, offset: i64) -> Result<Vec<(i64, String, Closing)>> {
    let sql = sql!(
        "SELECT closing_id, coalesce((SELECT coalesce(nullif(screen_name, ''), username) FROM members
                                      WHERE member_id = closed_by), ''), ",
        Closing::COLUMNS,
        " FROM till_closings WHERE closing_id < ?1 ORDER BY closing_id DESC LIMIT ?2 OFFSET ?3"
    );
    tx.list(sql, (before, limit, offset))
}

pub(crate) fn count_closings(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM till_closings"), [])
}
