//! Payments as the processor reports them, and the members to whom they belong.

use crate::domain::ids::{MemberId, PaymentId};
use crate::domain::payment::{Decision, Issue, Price, ProcessorReport, Status, Weighted};
use crate::moment::Moment;
use crate::store::joining::moves;
use crate::store::personal::{Expiry, OUR_WORD, Rows, Table, not_personal};
use crate::store::{Read, Write};
use rusqlite::{Result, named_params};

/// How long a payment is kept that an app claimed and the processor never reported.
const CLAIM_KEPT_SECONDS: i64 = 30 * 86_400;

/// What an erasure does to these tables.
pub(crate) const PERSONAL: &[Table] = &[Table::new(
    "payments",
    "",
    &[
        not_personal("intent_id", "the processor's number"),
        not_personal("currency", "a currency"),
        not_personal("status", OUR_WORD),
        not_personal("priced_by", "the weight of an event"),
        not_personal("named_by", "the weight of an event"),
        not_personal("question", OUR_WORD),
        not_personal("decision", OUR_WORD),
    ],
    &[Rows::kept(
        "payments",
        "member_id = :id OR named_member = :id OR claimed_by = :id OR assigned_to = :id OR granted_to = :id OR rival_claim = :id",
        "the books must be kept; the processor's numbers",
    )],
).expires(&[Expiry::after("payment_id", "created_at", CLAIM_KEPT_SECONDS).only("status = 'claimed'")]).joins(&[moves("member_id", "payment_id"), moves("named_member", "payment_id"), moves("claimed_by", "payment_id"), moves("assigned_to", "payment_id"), moves("granted_to", "payment_id"), moves("rival_claim", "payment_id")])];

row! {
    /// A payment as its member sees it.
    #[derive(Debug)]
    pub(crate) struct Payment {
        pub payment_id: PaymentId,
        pub intent_id: String,
        pub amount_cents: i64,
        pub currency: String,
        pub status: String,
        pub created_at: Moment,
        pub updated_at: Moment,
        /// The number of the receipt of a fee that was taken at the till.
        pub receipt: Option<i64> = "(SELECT t.entry_id FROM till_entries t
                                     WHERE t.payment_id = payments.payment_id AND t.undoes IS NULL)",
    }
}

/// A payment with all that decides its member and its effect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Account {
    pub intent_id: String,
    pub report: ProcessorReport,
    /// The member who claimed the payment by an app.
    pub claimed_by: Option<MemberId>,
    /// The member to whom the desk assigned the payment.
    pub assigned_to: Option<MemberId>,
    /// The member to whom the payment belongs.
    pub member_id: Option<MemberId>,
    pub grant: Option<Grant>,
    /// Another member who claimed the payment after the first.
    pub rival_claim: Option<MemberId>,
    /// The refunded part, in the smallest unit of the payment's currency.
    pub refunded_cents: Option<i64>,
    /// The decision that waits for the desk.
    pub question: Option<Issue>,
    pub decision: Option<Decision>,
}

row! {
    /// An [`Account`] as the table stores it: a missing price is 0 with an empty currency, a missing question or
    /// decision is an empty text.
    struct PaymentRow {
        intent_id: String,
        status: Status,
        amount_cents: i64,
        currency: String,
        priced_by: String,
        named_member: Option<MemberId>,
        named_by: String,
        claimed_by: Option<MemberId>,
        assigned_to: Option<MemberId>,
        member_id: Option<MemberId>,
        granted_to: Option<MemberId>,
        granted_until: Option<Moment>,
        paid_before: Option<Moment>,
        rival_claim: Option<MemberId>,
        refunded_cents: Option<i64>,
        question: String,
        decision: String,
    } saved
}

/// The membership time that a payment granted. Moments in Unix seconds.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Grant {
    pub member_id: MemberId,
    pub until: Moment,
    /// Until when the membership was paid before this payment.
    pub paid_before: Option<Moment>,
}

impl Account {
    pub(crate) fn new(intent_id: &str) -> Account {
        Account {
            intent_id: intent_id.to_owned(),
            report: ProcessorReport::empty(),
            claimed_by: None,
            assigned_to: None,
            member_id: None,
            grant: None,
            rival_claim: None,
            refunded_cents: None,
            question: None,
            decision: None,
        }
    }
}

/// The site's own number of a payment.
pub(crate) fn find_number(tx: &Read, intent_id: &str) -> Result<Option<PaymentId>> {
    tx.find(sql!("SELECT payment_id FROM payments WHERE intent_id = ?1"), [intent_id])
}

const LISTED: &str = joined!("SELECT ", Payment::COLUMNS, " FROM payments");

/// A member's payments, newest first.
pub(crate) fn list(tx: &Read, member_id: MemberId, limit: i64, offset: i64) -> Result<Vec<Payment>> {
    let sql = sql!(LISTED, " WHERE member_id = :id ORDER BY payment_id DESC LIMIT :limit OFFSET :offset");
    tx.list(sql, named_params! {":id": member_id, ":limit": limit, ":offset": offset})
}

/// One payment, in the form of the lists.
pub(crate) fn find_listed(tx: &Read, payment_id: PaymentId) -> Result<Option<Payment>> {
    tx.find(sql!(LISTED, " WHERE payment_id = ?1"), [payment_id])
}

pub(crate) fn count(tx: &Read, member_id: MemberId) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM payments WHERE member_id = ?1"), [member_id])
}

/// Payments without a member, newest first.
pub(crate) fn list_unmatched(tx: &Read, limit: i64, offset: i64) -> Result<Vec<Payment>> {
    let sql = sql!(LISTED, " WHERE member_id IS NULL ORDER BY payment_id DESC LIMIT ?1 OFFSET ?2");
    tx.list(sql, (limit, offset))
}

pub(crate) fn count_unmatched(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM payments WHERE member_id IS NULL"), [])
}

/// The payments that wait for a decision of the desk, the oldest first, each with its number.
pub(crate) fn list_questions(tx: &Read, limit: i64, offset: i64) -> Result<Vec<(PaymentId, Moment, Account)>> {
    let sql = sql!(
        "SELECT payment_id, updated_at, ",
        PaymentRow::COLUMNS,
        " FROM payments WHERE question <> '' ORDER BY payment_id LIMIT ?1 OFFSET ?2"
    );
    let found: Vec<(PaymentId, Moment, PaymentRow)> = tx.list(sql, (limit, offset))?;
    Ok(found.into_iter().map(|(payment_id, updated_at, kept)| (payment_id, updated_at, kept.into())).collect())
}

pub(crate) fn count_questions(tx: &Read) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM payments WHERE question <> ''"), [])
}

pub(crate) fn find(tx: &Read, intent_id: &str) -> Result<Option<Account>> {
    let sql = sql!("SELECT ", PaymentRow::COLUMNS, " FROM payments WHERE intent_id = ?1");
    Ok(tx.find::<PaymentRow>(sql, [intent_id])?.map(Account::from))
}

/// A payment by the site's own number.
pub(crate) fn find_by_number(tx: &Read, payment_id: PaymentId) -> Result<Option<Account>> {
    let sql = sql!("SELECT ", PaymentRow::COLUMNS, " FROM payments WHERE payment_id = ?1");
    Ok(tx.find::<PaymentRow>(sql, [payment_id])?.map(Account::from))
}

impl From<PaymentRow> for Account {
    fn from(kept: PaymentRow) -> Account {
        let price = Some(Price { cents: kept.amount_cents, currency: kept.currency });
        let grant = kept.granted_to.zip(kept.granted_until);
        Account {
            intent_id: kept.intent_id,
            report: ProcessorReport {
                status: kept.status,
                price: Weighted { weight: kept.priced_by, value: price.filter(|price| !price.currency.is_empty()) },
                member_id: Weighted { weight: kept.named_by, value: kept.named_member },
            },
            claimed_by: kept.claimed_by,
            assigned_to: kept.assigned_to,
            member_id: kept.member_id,
            grant: grant.map(|(member_id, until)| Grant { member_id, until, paid_before: kept.paid_before }),
            rival_claim: kept.rival_claim,
            refunded_cents: kept.refunded_cents,
            question: Issue::parse(&kept.question),
            decision: Decision::parse(&kept.decision),
        }
    }
}

impl From<Account> for PaymentRow {
    fn from(account: Account) -> PaymentRow {
        let (report, grant) = (account.report, account.grant);
        let price = report.price.value.unwrap_or(Price { cents: 0, currency: String::new() });
        PaymentRow {
            intent_id: account.intent_id,
            status: report.status,
            amount_cents: price.cents,
            currency: price.currency,
            priced_by: report.price.weight,
            named_member: report.member_id.value,
            named_by: report.member_id.weight,
            claimed_by: account.claimed_by,
            assigned_to: account.assigned_to,
            member_id: account.member_id,
            granted_to: grant.as_ref().map(|grant| grant.member_id),
            granted_until: grant.as_ref().map(|grant| grant.until),
            paid_before: grant.and_then(|grant| grant.paid_before),
            rival_claim: account.rival_claim,
            refunded_cents: account.refunded_cents,
            question: account.question.map_or("", Issue::name).to_owned(),
            decision: account.decision.map_or("", Decision::name).to_owned(),
        }
    }
}

/// Writes a payment, new or known.
pub(crate) fn save(tx: &Write, account: &Account) -> Result<usize> {
    let kept = PaymentRow::from(account.clone());
    insert!(tx.run, "INSERT INTO payments" PaymentRow: kept, { created_at: tx.now(), updated_at: tx.now() }
            "ON CONFLICT (intent_id) DO UPDATE SET updated_at = excluded.updated_at, ", PaymentRow::EXCLUDED)
}

/// The number of a member's claims to payments that the processor has not reported.
pub(crate) fn count_claims(tx: &Read, member_id: MemberId) -> Result<i64> {
    tx.get(sql!("SELECT count(*) FROM payments WHERE member_id = ?1 AND status = 'claimed'"), [member_id])
}

/// The number of a member's claims to payments that another member had claimed first, and that the desk has not
/// decided.
pub(crate) fn count_rival_claims(tx: &Read, member_id: MemberId) -> Result<i64> {
    let sql = sql!("SELECT count(*) FROM payments WHERE question <> '' AND rival_claim = ?1");
    tx.get(sql, [member_id])
}
