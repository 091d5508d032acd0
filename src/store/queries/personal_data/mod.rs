//! The personal data of a member, one data set at a time: for the copy that a person may ask for, and for erasure. One
//! list serves both, so nothing can be in one and forgotten in the other; tests hold it against the schema.
//!
//! A new table, or a new column that speaks of members, has its line here.

use crate::keys::{Keys, Purpose};
use crate::store::Read;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::ValueRef;
use rusqlite::{Result, Row};
use serde_json::{Map, Value};

/// Rows of one table that are a member's.
pub(crate) struct DataSet {
    /// The name of the data set in a copy.
    pub name: &'static str,
    pub table: &'static str,
    /// Which rows: a condition that speaks of the member as `:id`.
    pub(crate) whose: &'static str,
    /// The only columns that are shown, where the rest is somebody else's; empty: all.
    only: &'static [&'static str],
    /// Columns that are not shown as they are.
    unlike: &'static [(&'static str, Shown)],
    pub(crate) erasure_policy: ErasurePolicy,
}

/// How a column is shown.
#[derive(Clone, Copy)]
enum Shown {
    /// Not at all, and why.
    Hidden(&'static str),
    /// Opened by the site key.
    Opened(Purpose),
}

/// The erasure policy of a data set.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ErasurePolicy {
    Gone,
    /// The rows stay, and columns about the person are overwritten: the assignments, and why the rest may stay.
    Blanked(&'static str, &'static str),
    /// The rows stay as they are: why.
    Stays(&'static str),
}

use ErasurePolicy::{Blanked, Gone, Stays};
use Shown::{Hidden, Opened};

const SECRET: Shown = Hidden("a secret, or its hash: whoever holds it could sign in with it, and it says nothing else");
const NUMBERS: &str = "numbers and moments; the number leads to nobody any more";

const WAIVERS: &str =
    "the operator keeps signed waivers for so many years (waiver.keep_years), for as long as somebody may sue";

const EVENTS: ErasurePolicy =
    Blanked("sealed = :nothing", "that an event came, and what it did to the books: numbers of the sender's");

/// Of the member's address, if it is nobody else's here too.
macro_rules! address {
    () => {
        "(SELECT m.email FROM members m WHERE m.member_id = :id AND m.email <> '' AND NOT EXISTS
            (SELECT 1 FROM members o WHERE o.email = m.email AND o.member_id <> m.member_id))"
    };
}

const fn part(name: &'static str, table: &'static str, whose: &'static str, erasure_policy: ErasurePolicy) -> DataSet {
    DataSet { name, table, whose, only: &[], unlike: &[], erasure_policy }
}

impl DataSet {
    const fn only(self, only: &'static [&'static str]) -> DataSet {
        DataSet { only, ..self }
    }

    const fn unlike(self, unlike: &'static [(&'static str, Shown)]) -> DataSet {
        DataSet { unlike, ..self }
    }

    /// Why the rows stay when the member is erased; `None`: they go.
    pub(crate) fn stays(&self) -> Option<&'static str> {
        match self.erasure_policy {
            Gone => None,
            Blanked(_, why) | Stays(why) => Some(why),
        }
    }

    /// Columns that a copy does not show, and why not.
    pub(crate) fn hidden(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        self.unlike.iter().filter_map(|(column, shown)| match shown {
            Hidden(why) => Some((*column, *why)),
            Opened(_) => None,
        })
    }
}

/// In the order in which they go: what is found by another row goes before that row.
#[rustfmt::skip]
pub(crate) const DATA_SETS: &[DataSet] = &[
    part("events_about_payments", "callbacks",
         "about <> '' AND about IN (SELECT intent_id FROM payments WHERE member_id = :id)", EVENTS)
        .unlike(&[("sealed", Opened(Purpose::Callback))]),
    part("events_about_messages", "callbacks",
         "about <> '' AND about IN (SELECT 'message ' || message_id FROM outbox WHERE member_id = :id)", EVENTS)
        .unlike(&[("sealed", Opened(Purpose::Callback))]),
    part("partner_records", "partner_users", concat!("email = ", address!()),
         Blanked("email = '', deleted_at = coalesce(deleted_at, :now), updated_at = :now",
                 "the partner's history counts it; without the address it is nobody's")),
    part("address_marks", "suppressed", concat!("address = ", address!()), Gone),
    part("contact_messages", "contact_messages", "member_id = :id", Gone),
    part("contact_messages_by_address", "contact_messages", concat!("email COLLATE NOCASE = ", address!()), Gone),
    part("messages", "outbox", "member_id = :id", Gone).unlike(&[("sealed", Opened(Purpose::Message))]),
    part("messages_to_the_address", "outbox", concat!("recipient COLLATE NOCASE = ", address!()), Gone)
        .unlike(&[("sealed", Opened(Purpose::Message))]),
    part("security_questions", "security_answers", "member_id = :id", Gone).unlike(&[("answer_hash", SECRET)]),
    part("sessions", "sessions", "member_id = :id", Gone).unlike(&[("token_hash", SECRET)]),
    part("booking_tokens", "booking_tokens", "member_id = :id", Gone).unlike(&[("token_hash", SECRET)]),
    part("kiosk", "kiosk_guests", "member_id = :id", Gone).unlike(&[("token_hash", SECRET)]),
    part("kiosk_codes", "kiosk_codes", "member_id = :id", Gone).unlike(&[("code_hash", SECRET)]),
    part("cards", "cards", "member_id = :id", Gone),
    part("notices", "notices", "member_id = :id", Gone),
    part("passcodes", "passcodes", "member_id = :id", Gone).unlike(&[("code_hash", SECRET)]),
    part("second_factor", "second_factors", "member_id = :id", Gone)
        .unlike(&[("sealed", SECRET), ("sealed_pending", SECRET)]),
    part("recovery_codes", "recovery_codes", "member_id = :id", Gone).unlike(&[("code_hash", SECRET)]),
    part("passkeys", "passkeys", "member_id = :id", Gone),
    part("passkey_challenges", "passkey_challenges", "member_id = :id", Gone)
        .unlike(&[("challenge_hash", SECRET), ("session_hash", SECRET), ("sealed", SECRET)]),
    part("email_confirmations", "email_tokens", "member_id = :id", Gone).unlike(&[("token_hash", SECRET)]),
    part("account_codes", "account_claims", "member_id = :id", Gone).unlike(&[("code_hash", SECRET)]),
    part("registration", "registrations", "member_id = :id", Gone),
    part("registrations_made_for_others", "registrations", "registered_by = :id AND member_id <> :id", Stays(NUMBERS))
        .only(&["registered_at"]),
    part("invitations_to_the_address", "invitations", concat!("email = ", address!()), Gone)
        .unlike(&[("code_hash", SECRET)]),
    part("invitations_given", "invitations", "invited_by = :id", Gone).only(&["role", "created_at", "ends_at"]),
    part("undos", "undos", "member_id = :id", Gone).unlike(&[("token_hash", SECRET)]),
    part("social_links", "social_links", "member_id = :id", Gone),
    part("signing_links", "signing_links", "member_id = :id", Gone).unlike(&[("code_hash", SECRET)]),
    part("waiver_decisions", "waiver_decisions",
         "signature_id IN (SELECT signature_id FROM waiver_signatures WHERE member_id = :id AND kept = 0)", Gone),
    part("waiver_decisions_kept", "waiver_decisions",
         "signature_id IN (SELECT signature_id FROM waiver_signatures WHERE member_id = :id AND kept = 1)", Stays(WAIVERS)),
    part("waivers", "waiver_signatures", "member_id = :id AND kept = 0", Gone),
    part("waivers_kept", "waiver_signatures", "member_id = :id AND kept = 1", Stays(WAIVERS)),
    part("waivers_signed_for_others", "waiver_signatures", "signer_id = :id AND member_id <> :id",
         Stays("the waiver is the flyer's"))
        .only(&["signature_id", "version", "language", "signed_at", "place", "relation", "signer_name"]),
    part("waiver_overrides", "waiver_overrides", "member_id = :id", Gone),
    part("guardians", "guardianships", "child_id = :id OR guardian_id = :id", Gone),
    part("emergency_contact", "emergency_contacts", "member_id = :id", Gone),
    part("consents", "consents", "member_id = :id", Gone),
    part("consents_said_for_others", "consents", "said_by = :id AND member_id <> :id", Stays(NUMBERS))
        .only(&["consent_id", "kind", "given", "said_at"]),
    part("safety_briefs_read", "brief_confirmations", "member_id = :id", Gone),
    part("devices", "devices", "member_id = :id", Gone).unlike(&[("device_hash", SECRET)]),
    part("devices_vouched_for", "devices", "voucher_id = :id AND member_id <> :id", Stays(NUMBERS))
        .only(&["voucher_id", "created_at", "used_at"]),
    part("sign_in_steps", "sign_in_steps", "member_id = :id", Gone).unlike(&[("step_hash", SECRET)]),
    part("picture", "media", "member_id = :id", Gone),
    part("reminders", "reminders", "member_id = :id", Gone),
    part("certificates", "certificates", "member_id = :id",
         Blanked("member_id = NULL", "a code on paper must be known to be known as void")),
    part("levels", "holdings", "member_id = :id", Stays("derived from entries, which stay")),
    part("signing_rights", "signers", "member_id = :id",
         Blanked("ended_at = coalesce(ended_at, :now)", "others' signatures rest on what was in force")),
    part("signing_rights_given", "signers", "appointed_by = :id OR ended_by = :id", Stays(NUMBERS)),
    part("entries", "entries", "member_id = :id",
         Blanked("comment = '', comments_instructor = '', comment_denial = ''",
                 "signatures and the minutes that the tunnel counts; the catalogue's words")),
    part("entries_signed_for_others", "entries", "instructor_id = :id AND member_id <> :id",
         Stays("others' levels rest on it; the person's name in it is replaced"))
        .only(&["entry_id", "kind", "status", "cat_group", "cat_id", "skill", "approval_date", "comments_instructor",
                "comment_denial"]),
    part("entries_made_for_others", "entries", "author_id = :id AND author_id <> member_id",
         Stays("others' logbooks; the person's name in it is replaced"))
        .only(&["entry_id", "kind", "status", "entry_date", "minutes", "comment", "created_at"]),
    part("entry_moves", "entry_moves", "member_id = :id", Stays(NUMBERS)),
    part("bookings", "bookings", "member_id = :id",
         Blanked("removed_comment = NULL", "the partner's metrics count them; numbers and moments")),
    part("history", "history", "member_id = :id", Stays("append-only, and goes upstream; numbers and moments")),
    part("payments", "payments",
         "member_id = :id OR named_member = :id OR claimed_by = :id OR assigned_to = :id OR granted_to = :id OR rival_claim = :id",
         Stays("the books must be kept; the processor's numbers")),
    part("till", "till_entries", "payment_id IN (SELECT payment_id FROM payments WHERE member_id = :id)",
         Blanked("reason = ''", "the books must be kept: amounts, days and numbers of payments that are nobody's any more")),
    part("till_entries_made_for_others", "till_entries",
         "taken_by = :id AND payment_id NOT IN (SELECT payment_id FROM payments WHERE member_id = :id)", Stays(NUMBERS))
        .only(&["entry_id", "kind", "amount_cents", "currency", "taken_at"]),
    part("till_closings", "till_closings", "closed_by = :id", Stays("the books must be kept; the person's name in a note is replaced"))
        .only(&["closing_id", "counted_cents", "left_cents", "note", "closed_at"]),
    part("notes_for_the_next_shift", "shift_note", "only = 1 AND member_id = :id", Gone),
    part("account", "members", "member_id = :id",
         Blanked("username = :name, screen_name = :name, real_name = :name, email = '', email_confirmed_at = NULL,
                  phone = '', phone_confirmed_at = NULL, country = '', country_code = '', dob = NULL, tunnel_id = NULL,
                  password_hash = NULL, pin_hash = NULL, language = '', staff_note = '', ban_reason = '', banned_until = NULL,
                  banned_at = coalesce(banned_at, :now),
                  updated_at = :now",
                 "others' entries and the books refer to its number"))
        .unlike(&[("password_hash", SECRET), ("pin_hash", SECRET)]),
];

/// A member's rows of one part, as JSON: moments and numbers as they are kept, bytes in base64. A sealed value that the
/// site key does not open is null.
pub(crate) fn rows(tx: &Read, keys: &Keys, part: &DataSet, member_id: i64) -> Result<Vec<Map<String, Value>>> {
    let columns = if part.only.is_empty() { "*".to_owned() } else { part.only.join(", ") };
    let sql = format!("SELECT {columns} FROM {} WHERE {}", part.table, part.whose);
    tx.list(&sql, rusqlite::named_params! {":id": member_id}, |row| shown(keys, part, row))
}

fn shown(keys: &Keys, part: &DataSet, row: &Row) -> Result<Map<String, Value>> {
    let mut shown = Map::new();
    for (place, column) in row.as_ref().column_names().enumerate() {
        let value = row.get_ref(place)?;
        match part.unlike.iter().find(|(unlike, _)| *unlike == column) {
            Some((_, Hidden(_))) => {}
            Some((_, Opened(purpose))) => _ = shown.insert(column.to_owned(), opened(keys, *purpose, value)),
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
