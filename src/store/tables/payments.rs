//! Payments, as the processor reports them, and whose they are.

use crate::domain::payment::{Decision, Heard, Price, Question, Said, Status};
use crate::store::{Read, Write};
use rusqlite::{Result, Row, named_params};

/// A payment as its member sees it.
#[derive(Debug)]
pub struct Payment {
    pub payment_id: i64,
    pub intent_id: String,
    pub amount_cents: i64,
    pub currency: String,
    pub status: String,
    pub created_at: i64,
    pub updated_at: i64,
}

/// A payment with all that decides whose it is and what it does.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    pub intent_id: String,
    pub heard: Heard,
    /// Whose it is by an app's word.
    pub claimed_by: Option<i64>,
    /// Whose it is by the desk's.
    pub assigned_to: Option<i64>,
    /// Whose it is.
    pub member_id: Option<i64>,
    pub grant: Option<Grant>,
    /// Whose it is by the word of another app.
    pub rival_claim: Option<i64>,
    /// What went back of it, in the smallest unit of its currency.
    pub refunded_cents: Option<i64>,
    /// What the desk has to decide.
    pub question: Option<Question>,
    pub decision: Option<Decision>,
}

/// The time of membership that a payment gave. Moments in Unix seconds.
#[derive(Debug, Clone, PartialEq)]
pub struct Grant {
    pub member_id: i64,
    pub until: i64,
    /// What the membership was paid until before.
    pub paid_before: Option<i64>,
}

impl Account {
    pub fn new(intent_id: &str) -> Account {
        Account {
            intent_id: intent_id.to_owned(),
            heard: Heard::nothing(),
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

/// Our own number of a payment that is there.
pub fn find_number(tx: &Read, intent_id: &str) -> Result<i64> {
    tx.get("SELECT payment_id FROM payments WHERE intent_id = ?1", [intent_id], |row| row.get(0))
}

const LISTED: &str = "payment_id, intent_id, amount_cents, currency, status, created_at, updated_at FROM payments";

fn payment(row: &Row) -> Result<Payment> {
    Ok(Payment {
        payment_id: row.get(0)?,
        intent_id: row.get(1)?,
        amount_cents: row.get(2)?,
        currency: row.get(3)?,
        status: row.get(4)?,
        created_at: row.get(5)?,
        updated_at: row.get(6)?,
    })
}

/// A member's, newest first.
pub fn list(tx: &Read, member_id: i64, limit: i64, offset: i64) -> Result<Vec<Payment>> {
    let sql = format!("SELECT {LISTED} WHERE member_id = :id ORDER BY payment_id DESC LIMIT :limit OFFSET :offset");
    tx.list(&sql, named_params! {":id": member_id, ":limit": limit, ":offset": offset}, payment)
}

pub fn count(tx: &Read, member_id: i64) -> Result<i64> {
    tx.get("SELECT count(*) FROM payments WHERE member_id = ?1", [member_id], |row| row.get(0))
}

/// Nobody's yet, newest first.
pub fn list_unmatched(tx: &Read, limit: i64, offset: i64) -> Result<Vec<Payment>> {
    let sql = format!("SELECT {LISTED} WHERE member_id IS NULL ORDER BY payment_id DESC LIMIT ?1 OFFSET ?2");
    tx.list(&sql, (limit, offset), payment)
}

pub fn count_unmatched(tx: &Read) -> Result<i64> {
    tx.get("SELECT count(*) FROM payments WHERE member_id IS NULL", [], |row| row.get(0))
}

/// What waits for the desk's decision, the oldest first, each with its number.
pub fn list_questions(tx: &Read, limit: i64, offset: i64) -> Result<Vec<(i64, i64, Account)>> {
    let sql = format!(
        "SELECT {ACCOUNT}, payment_id, updated_at FROM payments WHERE question <> ''
         ORDER BY payment_id LIMIT ?1 OFFSET ?2"
    );
    tx.list(&sql, (limit, offset), |row| Ok((row.get(17)?, row.get(18)?, account(row)?)))
}

pub fn count_questions(tx: &Read) -> Result<i64> {
    tx.get("SELECT count(*) FROM payments WHERE question <> ''", [], |row| row.get(0))
}

const ACCOUNT: &str =
    "status, amount_cents, currency, priced_by, named_member, named_by, claimed_by, assigned_to, member_id,
     granted_to, granted_until, paid_before, intent_id, rival_claim, refunded_cents, question, decision";

pub fn find(tx: &Read, intent_id: &str) -> Result<Option<Account>> {
    tx.find(&format!("SELECT {ACCOUNT} FROM payments WHERE intent_id = ?1"), [intent_id], account)
}

/// By our own number.
pub fn find_by_number(tx: &Read, payment_id: i64) -> Result<Option<Account>> {
    tx.find(&format!("SELECT {ACCOUNT} FROM payments WHERE payment_id = ?1"), [payment_id], account)
}

fn account(row: &Row) -> Result<Account> {
    let (cents, currency): (i64, String) = (row.get(1)?, row.get(2)?);
    let price = Some(Price { cents, currency }).filter(|price| !price.currency.is_empty());
    let heard = Heard {
        status: Status::parse(row.get_ref(0)?.as_str()?).unwrap_or(Status::Claimed),
        price: Said { weight: row.get(3)?, value: price },
        member_id: Said { weight: row.get(5)?, value: row.get(4)? },
    };
    let grant = match row.get::<_, Option<i64>>(9)? {
        Some(member_id) => Some(Grant { member_id, until: row.get(10)?, paid_before: row.get(11)? }),
        None => None,
    };
    Ok(Account {
        intent_id: row.get(12)?,
        heard,
        claimed_by: row.get(6)?,
        assigned_to: row.get(7)?,
        member_id: row.get(8)?,
        grant,
        rival_claim: row.get(13)?,
        refunded_cents: row.get(14)?,
        question: Question::parse(row.get_ref(15)?.as_str()?),
        decision: Decision::parse(row.get_ref(16)?.as_str()?),
    })
}

/// Writes a payment, new or known.
pub fn save(tx: &Write, account: &Account) -> Result<usize> {
    let sql = "INSERT INTO payments (intent_id, status, amount_cents, currency, priced_by, named_member, named_by, claimed_by,
                                     assigned_to, member_id, granted_to, granted_until, paid_before, rival_claim,
                                     refunded_cents, question, decision, created_at, updated_at)
               VALUES (:intent_id, :status, :cents, :currency, :priced_by, :named_member, :named_by, :claimed_by,
                       :assigned_to, :member_id, :granted_to, :granted_until, :paid_before, :rival_claim,
                       :refunded_cents, :question, :decision, :now, :now)
               ON CONFLICT (intent_id) DO UPDATE SET
                   status = excluded.status, amount_cents = excluded.amount_cents, currency = excluded.currency,
                   priced_by = excluded.priced_by, named_member = excluded.named_member, named_by = excluded.named_by,
                   claimed_by = excluded.claimed_by, assigned_to = excluded.assigned_to, member_id = excluded.member_id,
                   granted_to = excluded.granted_to, rival_claim = excluded.rival_claim,
                   refunded_cents = excluded.refunded_cents, question = excluded.question, decision = excluded.decision,
                   granted_until = excluded.granted_until, paid_before = excluded.paid_before, updated_at = excluded.updated_at";
    let (heard, grant) = (&account.heard, account.grant.as_ref());
    let price = heard.price.value.as_ref();
    tx.run(
        sql,
        named_params! {
            ":intent_id": account.intent_id, ":status": heard.status.name(), ":cents": price.map_or(0, |price| price.cents),
            ":currency": price.map_or("", |price| &price.currency), ":priced_by": heard.price.weight,
            ":named_member": heard.member_id.value, ":named_by": heard.member_id.weight, ":claimed_by": account.claimed_by,
            ":assigned_to": account.assigned_to, ":member_id": account.member_id,
            ":granted_to": grant.map(|grant| grant.member_id), ":rival_claim": account.rival_claim,
            ":refunded_cents": account.refunded_cents, ":question": account.question.map_or("", Question::name),
            ":decision": account.decision.map_or("", Decision::name),
            ":granted_until": grant.map(|grant| grant.until), ":paid_before": grant.and_then(|grant| grant.paid_before),
            ":now": tx.now(),
        },
    )
}

/// Claims of a member that the processor has said nothing of.
pub fn count_claims(tx: &Read, member_id: i64) -> Result<i64> {
    tx.get("SELECT count(*) FROM payments WHERE member_id = ?1 AND status = 'claimed'", [member_id], |row| row.get(0))
}

/// Claims of a member to what another had claimed first, which the desk has not decided.
pub fn count_rival_claims(tx: &Read, member_id: i64) -> Result<i64> {
    let sql = "SELECT count(*) FROM payments WHERE question <> '' AND rival_claim = ?1";
    tx.get(sql, [member_id], |row| row.get(0))
}

/// Removes claims of `old` or before of which the processor never said anything.
pub fn sweep_claims(tx: &Write, old: i64, rows: i64) -> Result<usize> {
    let sql = "DELETE FROM payments WHERE payment_id IN
               (SELECT payment_id FROM payments WHERE status = 'claimed' AND created_at <= ?1 LIMIT ?2)";
    tx.run(sql, (old, rows))
}
