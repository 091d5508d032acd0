//! The query plans of the product's statements: none may scan a table that grows with the site.

use rusqlite::ToSql;
use tunneldesk::site::Site;
use tunneldesk::store::Read;
use tunneldesk::store::prepared;

/// Tables that stay small, however many members there are and however long the site runs. Any other counts as large.
const SMALL: [&str; 16] = [
    // A partner has a few.
    "hooks",
    "hook_secrets",
    "site",
    "tunnels",
    "partners",
    "partner_secrets",
    "partner_networks",
    // Few rows are refused by the receiver: after several in a row none is set aside any more.
    "sync",
    "sync_refused",
    // At most fifty are open.
    "invitations",
    // At most eight are shown.
    "brief_pictures",
    "erasures",
    // One text of a kind in each language.
    "site_text_drafts",
    "sqlite_schema",
    "sqlite_sequence",
    "refinery_schema_history",
];

/// Indexes that contain only a few rows of a large table, those that are open.
const SMALL_INDEXES: [&str; 9] = [
    "alikes_open",
    "outbox_due",
    "outbox_dead",
    "entries_waiting",
    "contact_messages_open",
    "members_with_role",
    "payments_in_question",
    "refused_check_ins_open",
    // Its readers look at the last month only.
    "waiver_signatures_by_yes",
];

/// Statements that may scan a large table: a part of their text, and the reason.
const ALLOWED: &[(&str, &str)] = &[
    ("ORDER BY b.booking_id DESC LIMIT", "a report reads on in the order of its key until its page is full"),
    ("ORDER BY h.seq", "likewise"),
    ("ORDER BY a.seq DESC LIMIT", "likewise"),
    ("WHERE state = 'sent' ORDER BY message_id DESC LIMIT", "likewise, and nearly all are sent"),
    ("ORDER BY since DESC, address LIMIT", "likewise"),
    ("FROM passkeys ORDER BY passkey_id LIMIT 1", "the first row there is"),
    ("DELETE FROM passcodes WHERE (", "passcodes live ten minutes and are swept each minute, so there are few"),
    ("DELETE FROM sign_in_steps WHERE (", "steps live ten minutes and are swept each minute, so there are few"),
    ("DELETE FROM kiosk_", "codes live minutes and are swept each minute, guests are one a kiosk"),
    ("SELECT count(*) FROM till_closings", "one a day"),
    ("FROM settings s LEFT JOIN members m", "a row for each change that an admin made of a setting"),
    ("FROM (SELECT DISTINCT member_id FROM bookings INDEXED BY", "the flyers of a report, who were found by an index"),
    ("FROM kiosks ORDER BY kiosk_id DESC LIMIT", "a site has a few"),
    ("SELECT count(*) FROM kiosks", "likewise"),
    (
        "SELECT member_id FROM members m WHERE EXISTS (SELECT 1 FROM holdings",
        "everybody's levels, once after the catalogue changed",
    ),
    (
        "FROM contact_messages WHERE true ORDER BY contact_id DESC LIMIT",
        "reads on in the order of its key until its page is full",
    ),
    ("INSERT INTO members (", "what refers to a member is read only while SQLite counts references that lead nowhere"),
    ("FROM erasures) ORDER BY m.member_id DESC LIMIT", "reads on in the order of its key until its page is full"),
    ("INSERT INTO bookings", "what refers to a booking is read only while SQLite counts references that lead nowhere"),
    ("pragma_table_info(", "the columns of one table"),
    (" AS searched", "an erasure counts the rows that it will search, for its progress"),
    (
        "WHERE :after IS NULL ORDER BY",
        "an erasure searches every row for mentions, page by page in the order of its key",
    ),
    ("SELECT override_id, reason FROM waiver_overrides WHERE made_by", "an erasure, of what one of the staff wrote"),
    ("SELECT decision_id, word FROM waiver_decisions WHERE decided_by", "likewise"),
    ("FROM outbox WHERE recipient COLLATE NOCASE IN", "an erasure, and a person's copy; messages are kept for days"),
    (
        "SELECT decision_id, may_fly, decided_at FROM waiver_decisions WHERE decided_by",
        "a person's copy, for which few ask in an hour",
    ),
    ("SELECT override_id, made_at, ends_at FROM waiver_overrides WHERE made_by", "likewise"),
    ("SELECT voucher_id, created_at, used_at FROM devices WHERE voucher_id", "likewise"),
    (
        "OR EXISTS (SELECT 1 FROM members WHERE :word IN (",
        "an erasure asks once a word whether it is somebody else's name",
    ),
    (
        "INSERT INTO partner_users",
        "what refers to a user is read only while SQLite counts references that lead nowhere",
    ),
];

/// Panics if a statement of the product that was not checked yet scans a large table.
pub fn check(site: &Site) {
    let new = prepared::take_new();
    let ours = new.iter().filter(|(_, place)| place.file().starts_with("src/"));
    let judged = ours.filter(|(sql, _)| !ALLOWED.iter().any(|(part, _)| sql.contains(part)));
    let found = site.store.read(|tx| {
        let mut found = Vec::new();
        for (sql, place) in judged {
            let through = read_through(tx, sql).unwrap_or_else(|e| panic!("{place}: {e}: {sql}"));
            found.extend((!through.is_empty()).then(|| format!("{place} reads through {through:?}: {sql}")));
        }
        Ok(found)
    });
    site.store.release();
    let found = found.expect("the file can be read");
    assert!(found.is_empty(), "{found:#?}");
}

/// The large tables, by their name in the statement, that it scans from end to end, with or without an index.
fn read_through(tx: &Read, sql: &str) -> rusqlite::Result<Vec<String>> {
    let unbound: &[(&str, &dyn ToSql)] = &[];
    let steps: Vec<String> = tx.list_with(&format!("EXPLAIN QUERY PLAN {sql}"), unbound, |row| row.get(3))?;
    // Constant rows, lists of values, and the rows of a subquery, whose steps are listed themselves, are no scans of a
    // table.
    let few = |step: &&String| !SMALL_INDEXES.iter().any(|index| step.split_whitespace().any(|word| word == *index));
    // A full-text index that is searched for words (`M`) reads only the matching rows.
    let by_letters = |step: &&String| {
        let plan = step.split_once(" VIRTUAL TABLE INDEX ").and_then(|(_, plan)| plan.split_once(':'));
        !plan.is_some_and(|(_, asked)| asked.contains('M'))
    };
    let scanned = steps
        .iter()
        .filter(few)
        .filter(by_letters)
        .filter_map(|step| step.strip_prefix("SCAN ")?.split_whitespace().next());
    let large = scanned
        .filter(|name| !name.starts_with('(') && *name != "CONSTANT" && *name != "json_each" && !is_small(sql, name));
    Ok(large.map(str::to_owned).collect())
}

/// Whether a name in the statement is that of a small table or an alias for one (`FROM tunnels t`).
fn is_small(sql: &str, name: &str) -> bool {
    let words = sql.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let words: Vec<&str> = words.collect();
    SMALL.contains(&name) || words.windows(2).any(|pair| pair[1] == name && SMALL.contains(&pair[0]))
}

#[test]
fn a_statement_that_reads_through_a_large_table_is_noticed() {
    let site = super::Site::open();
    let through = |sql: &str| site.inside().store.read(|tx| Ok(read_through(tx, sql)?)).expect("sound SQL");
    assert_eq!(through("SELECT entry_id FROM entries WHERE comment = ?1"), ["entries"]);
    assert_eq!(through("SELECT count(*) FROM entries e JOIN tunnels t USING (tunnel_id)"), ["e"]);
    assert_eq!(through("SELECT username FROM members WHERE screen_name = :name"), ["members"]);
    assert_eq!(through("DELETE FROM sessions WHERE user_agent = ?1"), ["sessions"]);
    assert_eq!(through("SELECT rowid FROM members_search WHERE words LIKE ?1"), ["members_search"]);
    for sound in [
        "SELECT entry_id FROM entries WHERE member_id = ?1 AND kind = 'time' ORDER BY entry_date DESC",
        "SELECT t.name FROM tunnels t",
        "SELECT EXISTS (SELECT 1 FROM members WHERE member_id = ?1)",
        "UPDATE members SET role = ?2 WHERE member_id = ?1",
        "SELECT rowid FROM members_search WHERE members_search MATCH ?1 ORDER BY rowid DESC LIMIT 20",
    ] {
        assert!(through(sound).is_empty(), "{sound}: {:?}", through(sound));
    }
}
