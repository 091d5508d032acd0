//! The personal data of a member, one data set at a time: for the copy that a person may request, and for erasure. One
//! list serves both, so that no data set can be in one and missing in the other; tests compare the list with the
//! schema.
//!
//! A new table, or a new column about members in another table, needs its line here; a column of `members` needs its place in
//! [`members::ERASED`].

use crate::keys::{Keys, Purpose};
use crate::store::Read;
use crate::store::tables::members;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::ValueRef;
use rusqlite::{Result, Row};
use serde_json::{Map, Value};

/// The rows of one table that belong to a member.
pub(crate) struct DataSet {
    /// The name of the data set in a copy.
    pub name: &'static str,
    pub table: &'static str,
    /// The SQL condition of the rows, with the member as `:id`.
    pub(crate) condition: &'static str,
    /// The columns that a copy shows, where the others are about another person; empty: all.
    only: &'static [&'static str],
    /// Columns that a copy does not show as they are.
    displays: &'static [(&'static str, Display)],
    pub(crate) erasure_policy: ErasurePolicy,
}

/// How a copy shows a column.
#[derive(Clone, Copy)]
enum Display {
    /// The column is not shown, for this reason.
    Hidden(&'static str),
    /// The column is shown unsealed by the site key.
    Unsealed(Purpose),
}

/// The erasure policy of a data set.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ErasurePolicy {
    Delete,
    /// The rows stay, and columns about the person are overwritten: the SQL assignments, and the reason why the rest
    /// stays.
    Overwrite(&'static str, &'static str),
    /// The rows stay as they are; the reason.
    Keep(&'static str),
}

use Display::{Hidden, Unsealed};
use ErasurePolicy::{Delete, Keep, Overwrite};

const SECRET: Display =
    Hidden("a secret, or its hash: whoever holds it could sign in with it, and it says nothing else");
const NUMBERS: &str = "numbers and moments; the number leads to nobody any more";

const WAIVERS: &str =
    "the operator keeps signed waivers for so many years (waiver.keep_years), for as long as somebody may sue";

const EVENTS: ErasurePolicy =
    Overwrite("sealed = :nothing", "that an event came, and what it did to the books: numbers of the sender's");

/// The member's address, where no other member has the same one.
macro_rules! address {
    () => {
        "(SELECT m.email FROM members m WHERE m.member_id = :id AND m.email <> '' AND NOT EXISTS
            (SELECT 1 FROM members o WHERE o.email = m.email AND o.member_id <> m.member_id))"
    };
}

/// The spellings of the member's address: the stored one, which may date from before addresses had one spelling, and the
/// one in which addresses are stored since.
macro_rules! spellings {
    () => {
        concat!("(", address!(), ", canonical_address(", address!(), "))")
    };
}

const fn set(
    name: &'static str,
    table: &'static str,
    condition: &'static str,
    erasure_policy: ErasurePolicy,
) -> DataSet {
    DataSet { name, table, condition, only: &[], displays: &[], erasure_policy }
}

impl DataSet {
    const fn only(self, only: &'static [&'static str]) -> DataSet {
        DataSet { only, ..self }
    }

    const fn displays(self, displays: &'static [(&'static str, Display)]) -> DataSet {
        DataSet { displays, ..self }
    }

    /// The reason why rows stay when the member is erased; `None`: they are deleted.
    pub(crate) fn kept_because(&self) -> Option<&'static str> {
        match self.erasure_policy {
            Delete => None,
            Overwrite(_, why) | Keep(why) => Some(why),
        }
    }

    /// Columns that a copy does not show, and the reasons.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.displays.iter().filter_map(|(column, shown)| match shown {
            Hidden(why) => Some((*column, *why)),
            Unsealed(_) => None,
        })
    }
}

/// The data sets in the order of erasure: a data set that is found by way of other rows comes before those.
#[rustfmt::skip]
pub(crate) const DATA_SETS: &[DataSet] = &[
    set("events_about_payments", "callbacks",
         "about <> '' AND about IN (SELECT intent_id FROM payments WHERE member_id = :id)", EVENTS)
        .displays(&[("sealed", Unsealed(Purpose::Callback))]),
    set("events_about_messages", "callbacks",
         "about <> '' AND about IN (SELECT 'message ' || message_id FROM outbox WHERE member_id = :id)", EVENTS)
        .displays(&[("sealed", Unsealed(Purpose::Callback))]),
    set("partner_records", "partner_users", concat!("email IN ", spellings!()),
         Overwrite("email = '', deleted_at = coalesce(deleted_at, :now), updated_at = :now",
                 "the partner's history counts it; without the address it is nobody's")),
    set("address_marks", "suppressed", concat!("address IN ", spellings!()), Delete),
    set("contact_messages", "contact_messages", "member_id = :id", Delete),
    set("contact_messages_by_address", "contact_messages", concat!("email COLLATE NOCASE IN ", spellings!()), Delete),
    set("messages", "outbox", "member_id = :id", Delete).displays(&[("sealed", Unsealed(Purpose::Message))]),
    set("messages_to_the_address", "outbox", concat!("recipient COLLATE NOCASE IN ", spellings!()), Delete)
        .displays(&[("sealed", Unsealed(Purpose::Message))]),
    set("security_questions", "security_answers", "member_id = :id", Delete).displays(&[("answer_hash", SECRET)]),
    set("sessions", "sessions", "member_id = :id", Delete).displays(&[("token_hash", SECRET)]),
    set("booking_tokens", "booking_tokens", "member_id = :id", Delete).displays(&[("token_hash", SECRET)]),
    set("kiosk", "kiosk_guests", "member_id = :id", Delete).displays(&[("token_hash", SECRET)]),
    set("kiosk_codes", "kiosk_codes", "member_id = :id", Delete).displays(&[("code_hash", SECRET)]),
    set("cards", "cards", "member_id = :id", Delete),
    set("notices", "notices", "member_id = :id", Delete),
    set("passcodes", "passcodes", "member_id = :id", Delete).displays(&[("code_hash", SECRET)]),
    set("second_factor", "second_factors", "member_id = :id", Delete)
        .displays(&[("sealed", SECRET), ("sealed_pending", SECRET)]),
    set("recovery_codes", "recovery_codes", "member_id = :id", Delete).displays(&[("code_hash", SECRET)]),
    set("passkeys", "passkeys", "member_id = :id", Delete),
    set("passkey_challenges", "passkey_challenges", "member_id = :id", Delete)
        .displays(&[("challenge_hash", SECRET), ("session_hash", SECRET), ("sealed", SECRET)]),
    set("email_confirmations", "email_tokens", "member_id = :id", Delete).displays(&[("token_hash", SECRET)]),
    set("account_codes", "account_claims", "member_id = :id", Delete).displays(&[("code_hash", SECRET)]),
    set("registration", "registrations", "member_id = :id", Delete),
    set("registrations_made_for_others", "registrations", "registered_by = :id AND member_id <> :id", Keep(NUMBERS))
        .only(&["registered_at"]),
    set("invitations_to_the_address", "invitations", concat!("email IN ", spellings!()), Delete)
        .displays(&[("code_hash", SECRET)]),
    set("invitations_given", "invitations", "invited_by = :id", Delete).only(&["role", "created_at", "ends_at"]),
    set("undos", "undos", "member_id = :id", Delete).displays(&[("token_hash", SECRET)]),
    set("social_links", "social_links", "member_id = :id", Delete),
    set("signing_links", "signing_links", "member_id = :id", Delete).displays(&[("code_hash", SECRET)]),
    set("waiver_decisions", "waiver_decisions",
         "signature_id IN (SELECT signature_id FROM waiver_signatures WHERE member_id = :id AND kept = 0)", Delete),
    set("waiver_decisions_kept", "waiver_decisions",
         "signature_id IN (SELECT signature_id FROM waiver_signatures WHERE member_id = :id AND kept = 1)", Keep(WAIVERS)),
    set("waivers", "waiver_signatures", "member_id = :id AND kept = 0", Delete),
    set("waivers_kept", "waiver_signatures", "member_id = :id AND kept = 1", Keep(WAIVERS)),
    set("waivers_signed_for_others", "waiver_signatures", "signer_id = :id AND member_id <> :id",
         Keep("the waiver is the flyer's"))
        .only(&["signature_id", "version", "language", "signed_at", "place", "relation", "signer_name"]),
    set("waiver_overrides", "waiver_overrides", "member_id = :id", Delete),
    set("guardians", "guardianships", "child_id = :id OR guardian_id = :id", Delete),
    set("emergency_contact", "emergency_contacts", "member_id = :id", Delete),
    set("consents", "consents", "member_id = :id", Delete),
    set("consents_said_for_others", "consents", "said_by = :id AND member_id <> :id", Keep(NUMBERS))
        .only(&["consent_id", "kind", "given", "said_at"]),
    set("safety_briefs_read", "brief_confirmations", "member_id = :id", Delete),
    set("devices", "devices", "member_id = :id", Delete).displays(&[("device_hash", SECRET)]),
    set("devices_vouched_for", "devices", "voucher_id = :id AND member_id <> :id", Keep(NUMBERS))
        .only(&["voucher_id", "created_at", "used_at"]),
    set("sign_in_steps", "sign_in_steps", "member_id = :id", Delete).displays(&[("step_hash", SECRET)]),
    set("picture", "media", "member_id = :id", Delete),
    set("reminders", "reminders", "member_id = :id", Delete),
    set("certificates", "certificates", "member_id = :id",
         Overwrite("member_id = NULL", "a code on paper must be known to be known as void")),
    set("levels", "holdings", "member_id = :id", Keep("derived from entries, which stay")),
    set("signing_rights", "signers", "member_id = :id",
         Overwrite("ended_at = coalesce(ended_at, :now)", "others' signatures rest on what was in force")),
    set("signing_rights_given", "signers", "appointed_by = :id OR ended_by = :id", Keep(NUMBERS)),
    set("entries", "entries", "member_id = :id",
         Overwrite("comment = '', comments_instructor = '', comment_denial = ''",
                 "signatures and the minutes that the tunnel counts; the catalogue's words")),
    set("entries_signed_for_others", "entries", "instructor_id = :id AND member_id <> :id",
         Keep("others' levels rest on it; the person's name in it is replaced"))
        .only(&["entry_id", "kind", "status", "cat_group", "cat_id", "skill", "approval_date", "comments_instructor",
                "comment_denial"]),
    set("entries_made_for_others", "entries", "author_id = :id AND author_id <> member_id",
         Keep("others' logbooks; the person's name in it is replaced"))
        .only(&["entry_id", "kind", "status", "entry_date", "minutes", "comment", "created_at"]),
    set("entry_moves", "entry_moves", "member_id = :id", Keep(NUMBERS)),
    set("bookings", "bookings", "member_id = :id",
         Overwrite("removed_comment = NULL, pin_hash = NULL", "the partner's metrics count them; numbers and moments"))
        .displays(&[("pin_hash", SECRET)]),
    set("history", "history", "member_id = :id", Keep("append-only, and goes upstream; numbers and moments")),
    set("payments", "payments",
         "member_id = :id OR named_member = :id OR claimed_by = :id OR assigned_to = :id OR granted_to = :id OR rival_claim = :id",
         Keep("the books must be kept; the processor's numbers")),
    set("till", "till_entries", "payment_id IN (SELECT payment_id FROM payments WHERE member_id = :id)",
         Overwrite("reason = ''", "the books must be kept: amounts, days and numbers of payments that are nobody's any more")),
    set("till_entries_made_for_others", "till_entries",
         "taken_by = :id AND payment_id NOT IN (SELECT payment_id FROM payments WHERE member_id = :id)", Keep(NUMBERS))
        .only(&["entry_id", "kind", "amount_cents", "currency", "taken_at"]),
    set("till_closings", "till_closings", "closed_by = :id", Keep("the books must be kept; the person's name in a note is replaced"))
        .only(&["closing_id", "counted_cents", "left_cents", "note", "closed_at"]),
    set("notes_for_the_next_shift", "shift_note", "only = 1 AND member_id = :id", Delete),
    set("account", "members", "member_id = :id",
         Overwrite(members::ERASED, "others' entries and the books refer to its number"))
        .displays(&[("password_hash", SECRET), ("pin_hash", SECRET)]),
];

/// A member's rows of one data set as JSON: moments and numbers as stored, bytes in base64. A sealed value that the
/// site key does not open is null.
pub(crate) fn rows(tx: &Read, keys: &Keys, data_set: &DataSet, member_id: i64) -> Result<Vec<Map<String, Value>>> {
    let columns = if data_set.only.is_empty() { "*".to_owned() } else { data_set.only.join(", ") };
    let sql = format!("SELECT {columns} FROM {} WHERE {}", data_set.table, data_set.condition);
    tx.list_with(&sql, rusqlite::named_params! {":id": member_id}, |row| displayed_row(keys, data_set, row))
}

fn displayed_row(keys: &Keys, data_set: &DataSet, row: &Row) -> Result<Map<String, Value>> {
    let mut shown = Map::new();
    for (index, column) in row.as_ref().column_names().enumerate() {
        let value = row.get_ref(index)?;
        match data_set.displays.iter().find(|(displays, _)| *displays == column) {
            Some((_, Hidden(_))) => {}
            Some((_, Unsealed(purpose))) => _ = shown.insert(column.to_owned(), opened(keys, *purpose, value)),
            None => _ = shown.insert(column.to_owned(), plain(value)),
        }
    }
    Ok(shown)
}

fn plain(value: ValueRef) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Blob(bytes) => STANDARD.encode(bytes).into(),
    }
}

fn opened(keys: &Keys, purpose: Purpose, value: ValueRef) -> Value {
    let ValueRef::Blob(sealed) = value else { return Value::Null };
    let text = keys.unseal(purpose, sealed).and_then(|plain| String::from_utf8(plain).ok());
    text.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap_or(Value::String(text)))
}

#[cfg(test)]
mod tests;
