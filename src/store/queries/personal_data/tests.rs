//! Tests that compare the list of data sets with the schema: each new table and column needs a decision here.

use super::*;
use rusqlite::Connection;
use std::collections::BTreeSet;

/// Tables without data about members, and why.
const NOBODY_S: &[(&str, &str)] = &[
    ("site", "the site's own"),
    ("tunnels", "places"),
    ("partners", "companies"),
    ("partner_secrets", "companies'"),
    ("partner_networks", "companies'"),
    ("partner_signatures", "companies'"),
    ("throttles", "keyed hashes that name nobody, swept after a day"),
    ("passcode_sends", "keyed hashes that name nobody, swept after an hour"),
    ("replays", "answers sealed by the site key and found by nobody's name, swept after a day"),
    ("deletions", "keyed hashes; the code is the person's own"),
    ("tls", "the site's own"),
    ("flown_hours", "sums"),
    ("booked_hours", "sums"),
    ("event_days", "sums"),
    ("erasures", "numbers of those who are no more: what a restored file needs"),
    ("members_search", "parts of the words in member_words, taken out by triggers and from the pages as well"),
    ("members_search_config", "parts of the words in member_words, taken out by triggers and from the pages as well"),
    ("members_search_data", "parts of the words in member_words, taken out by triggers and from the pages as well"),
    ("members_search_idx", "parts of the words in member_words, taken out by triggers and from the pages as well"),
    ("kiosks", "what the site's screens are called; the clerk who paired one stays a number"),
    ("kiosk_pairings", "likewise, for ten minutes"),
    ("site_texts", "the operator's words; who published them stays a number"),
    ("site_text_drafts", "the operator's words"),
    ("brief_pictures", "the operator's pictures; who added one stays a number"),
    ("audit", "numbers and our words; the log may not change"),
    ("misses", "counts an hour"),
    ("sync", "the site's own"),
    ("sync_refused", "numbers of rows, and what the receiver says of them"),
    ("refinery_schema_history", "the file's own"),
];

/// Columns of text and bytes that an erasure leaves as they are, and why they are not personal data.
const NOT_PERSONAL: &[(&str, &[&str], &str)] = &[
    ("bookings", &["ended_as"], "our word"),
    ("callbacks", &["sender", "event_key", "event", "about", "verdict"], "words and numbers of senders"),
    ("certificates", &["code", "cat_group", "cat_id", "track"], "a keyed hash, and the catalogue's words"),
    ("holdings", &["cat_group", "cat_id", "track"], "the catalogue's words"),
    ("signers", &["cat_group", "cat_id"], "the catalogue's words"),
    ("entries", &["kind", "status", "cat_group", "cat_id", "skill"], "our words and the catalogue's"),
    ("entry_moves", &["from_status", "to_status"], "our words"),
    ("history", &["event", "detail"], "our words, and a booking's numbers"),
    (
        "payments",
        &["intent_id", "currency", "status", "priced_by", "named_by", "question", "decision"],
        "the processor's numbers, our words",
    ),
    ("till_entries", &["kind", "currency"], "our words"),
    (
        "waiver_signatures",
        &["language", "text_hash", "place", "flyer_name", "relation", "signer_name", "strokes", "answers"],
        "a person's, and kept by a setting of the operator's that the page of the waiver explains",
    ),
    ("waiver_decisions", &["word"], "likewise"),
    ("members", &["role"], "our word"),
];

struct Column {
    table: String,
    name: String,
    kind: String,
    refers: bool,
}

fn columns() -> Vec<Column> {
    let mut conn = Connection::open_in_memory().unwrap();
    crate::store::engine::migrate::migrate(&mut conn).unwrap();
    let sql = "SELECT t.name, c.name, c.type,
                      EXISTS (SELECT 1 FROM pragma_foreign_key_list(t.name) f WHERE f.\"from\" = c.name AND f.\"table\" = 'members')
               FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'";
    let mut statement = conn.prepare(sql).unwrap();
    let column =
        |row: &Row| Ok(Column { table: row.get(0)?, name: row.get(1)?, kind: row.get(2)?, refers: row.get(3)? });
    statement.query_map([], column).unwrap().map(Result::unwrap).collect()
}

/// Whether a column is about a member: it refers to one, or has the name of such a column.
fn is_about_members(column: &Column) -> bool {
    column.refers || column.name.contains("member") || column.name == "voucher_id"
}

fn words(sql: &str) -> BTreeSet<&str> {
    sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').collect()
}

#[test]
fn every_column_that_refers_to_a_member_is_in_the_list() {
    let missing: Vec<String> = columns()
        .iter()
        .filter(|column| is_about_members(column) && !NOBODY_S.iter().any(|(table, _)| *table == column.table))
        .filter(|column| {
            !DATA_SETS
                .iter()
                .any(|data_set| data_set.table == column.table && words(data_set.condition).contains(&*column.name))
        })
        .map(|column| format!("{}.{}", column.table, column.name))
        .collect();
    assert!(missing.is_empty(), "no copy shows, and no erasure finds, what is held by {missing:?}: give each a part");
}

#[test]
fn every_table_is_a_member_s_or_said_to_be_nobody_s() {
    let undecided: BTreeSet<String> = columns()
        .into_iter()
        .map(|column| column.table)
        .filter(|table| !DATA_SETS.iter().any(|data_set| data_set.table == table))
        .filter(|table| !NOBODY_S.iter().any(|(name, _)| name == table))
        .collect();
    assert!(undecided.is_empty(), "{undecided:?}: does it hold anything of a person?");
    for (table, _) in NOBODY_S {
        assert!(columns().iter().any(|column| column.table == *table), "{table} is no table any more");
    }
}

#[test]
fn whatever_stays_of_an_erased_member_is_said_to_be_nobody_s() {
    let mut left = Vec::new();
    for column in columns().iter().filter(|column| ["TEXT", "BLOB"].contains(&&*column.kind)) {
        let parts: Vec<&DataSet> = DATA_SETS.iter().filter(|data_set| data_set.table == column.table).collect();
        let (mut goes, mut kept_because) = (false, false);
        for data_set in &parts {
            match data_set.erasure_policy {
                Delete => goes = true,
                Overwrite(sets, _) => {
                    let set = sets.split(',').any(|one| one.trim().starts_with(&format!("{} =", column.name)));
                    if set { goes = true } else { kept_because = true }
                }
                // A data set with `only` is of another member's rows: mentions of the person in them are searched for
                // and replaced.
                Keep(_) if data_set.only.is_empty() => kept_because = true,
                Keep(_) => {}
            }
        }
        let known =
            |(table, names, _): &(&str, &[&str], &str)| *table == column.table && names.contains(&&*column.name);
        if kept_because && !(goes && column.table == "entries") && !NOT_PERSONAL.iter().any(known) {
            left.push(format!("{}.{}", column.table, column.name));
        }
    }
    assert!(left.is_empty(), "{left:?} would stay of somebody who was erased");
}

#[test]
fn the_list_names_columns_that_are_there() {
    let columns = columns();
    for data_set in DATA_SETS {
        let known = |name: &str| columns.iter().any(|column| column.table == data_set.table && column.name == name);
        for name in data_set.only.iter().copied().chain(data_set.displays.iter().map(|(name, _)| *name)) {
            assert!(known(name), "{}.{name}", data_set.table);
        }
    }
    let names: BTreeSet<_> = DATA_SETS.iter().map(|data_set| data_set.name).collect();
    assert_eq!(names.len(), DATA_SETS.len());
}
