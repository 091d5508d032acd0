//! One person, whose name stands in every column that can hold it, by the pages, the API, the shell, the kiosk, callbacks and
//! lists; and that nothing is left after an erasure: in no byte of the data directory or of a new backup, in whatever form.

mod bytes;
mod deeds;

use crate::harness::Site;
use deeds::{ADDRESS, Cast};
use rusqlite::ToSql;
use rusqlite::types::Value;
use std::collections::BTreeSet;
use tunneldesk::keys::Part;
use tunneldesk::store::personal_columns::{self, Holding, HoldingKind};

const NOBODY_S: &str = "declared as nobody's, and empty here";
/// Columns that no deed here fills, and why.
const NOT_REACHED: &[(&str, &str)] = &[
    ("brief_confirmations.language", NOBODY_S),
    ("brief_confirmations.text_hash", NOBODY_S),
    ("certificates.track", NOBODY_S),
    ("consents.kind", NOBODY_S),
    ("consents.language", NOBODY_S),
    ("consents.place", NOBODY_S),
    ("consents.text_hash", NOBODY_S),
    ("holdings.track", NOBODY_S),
    ("hook_deliveries.trouble", NOBODY_S),
    ("hook_secrets.sealed", NOBODY_S),
    ("hooks.address", NOBODY_S),
    ("hooks.ended_as", NOBODY_S),
    ("hooks.trouble", NOBODY_S),
    ("hooks.types", NOBODY_S),
    ("hooks.url", NOBODY_S),
    ("joined_rows.column_name", NOBODY_S),
    ("joined_rows.row_key", "no account is joined here"),
    ("joined_rows.table_name", NOBODY_S),
    ("kept_bans.address_hash", "nobody is banned here"),
    ("members_search_idx.term", "SQLite's own, empty in a small index"),
    ("payments.named_by", NOBODY_S),
    ("refused_check_ins.reason", NOBODY_S),
    ("reminders.kind", NOBODY_S),
    ("reminders.programme", NOBODY_S),
    ("replays.token_hash", NOBODY_S),
    ("settings.key", "nobody changes a setting here"),
    ("settings.sealed", NOBODY_S),
    ("signers.cat_id", NOBODY_S),
    ("sync.trouble", NOBODY_S),
    ("sync.upstream", NOBODY_S),
    ("tunnels.phone", NOBODY_S),
    ("tunnels.time_zone", NOBODY_S),
    ("tunnels.website", NOBODY_S),
];

/// The values of a column in some rows, those that are sealed opened.
fn opened(site: &Site, holding: &Holding, rest: &str, member_id: i64) -> Vec<String> {
    let place = holding.sealed.map_or(&[][..], |sealed| sealed.row);
    let place_columns: String = place.iter().map(|column| format!(", {column}")).collect();
    let sql = format!(
        "SELECT CAST({0} AS BLOB){place_columns} FROM {1} WHERE {0} IS NOT NULL AND ({rest}) AND :id = :id",
        holding.column, holding.table
    );
    let read = |row: &rusqlite::Row| {
        let place: Vec<Value> = (1..=place.len()).map(|at| row.get(at)).collect::<rusqlite::Result<_>>()?;
        Ok((row.get::<_, Vec<u8>>(0)?, place))
    };
    let id: &[(&str, &dyn ToSql)] = &[(":id", &member_id)];
    let open = |(value, place): (Vec<u8>, Vec<Value>)| match holding.sealed {
        Some(sealed) => site.inside().keys.unseal(&sealed.at(place.iter().map(part)), &value).unwrap_or_default(),
        None => value,
    };
    let found = site.change(|tx| Ok(tx.list_with(&sql, id, read)?));
    found.into_iter().map(|one| String::from_utf8_lossy(&open(one)).into_owned()).collect()
}

fn part(value: &Value) -> Part<'_> {
    match value {
        Value::Integer(number) => (*number).into(),
        Value::Text(text) => text.as_str().into(),
        Value::Blob(bytes) => bytes.as_slice().into(),
        other => panic!("{other:?} names no row"),
    }
}

/// Whether the column holds something of the person: a value in the person's rows, or a text that names the person.
fn is_about(site: &Site, holding: &Holding, accounts: &[i64]) -> bool {
    match holding.kind {
        HoldingKind::Searched => {
            opened(site, holding, "1", accounts[0]).iter().any(|text| bytes::names(text.as_bytes()).is_some())
        }
        HoldingKind::Own | HoldingKind::Kept => accounts.iter().any(|member_id| {
            let mut rows = holding.condition.iter();
            rows.any(|rows| opened(site, holding, rows, *member_id).iter().any(|text| !text.is_empty()))
        }),
    }
}

/// Every column of text or bytes that the schema has; those of SQLite's own tables are numbers and names of tables.
fn columns(site: &Site) -> Vec<(String, String)> {
    let sql = "SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c
               WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND c.type NOT LIKE '%INT%' AND c.type <> 'REAL'";
    site.read(|tx| Ok(tx.list(sql, [])?))
}

/// Columns that hold nothing: of the person where the column can, and otherwise of anybody.
fn empty(site: &Site, accounts: &[i64]) -> (usize, BTreeSet<String>) {
    let holdings: Vec<Holding> = personal_columns::holdings().collect();
    let columns = columns(site);
    let is_filled = |(table, column): &&(String, String)| match holdings
        .iter()
        .find(|one| (one.table, one.column) == (table, column))
    {
        Some(holding) => is_about(site, holding, accounts),
        None => {
            let sql = format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE length({column}) > 0)");
            site.read(|tx| Ok(tx.get::<bool>(&sql, [])?))
        }
    };
    let (filled, empty): (Vec<_>, Vec<_>) = columns.iter().partition(is_filled);
    (filled.len(), empty.into_iter().map(|(table, column)| format!("{table}.{column}")).collect())
}

#[test]
fn nothing_of_an_erased_person_is_left_in_any_column_or_byte() {
    let cast = Cast::on_stage(0);
    let site = &cast.world.site;
    cast.play();
    let (filled, empty) = empty(site, &cast.accounts());
    println!("{filled} columns of text or bytes are filled, {} are not: {empty:?}", empty.len());
    let seen = bytes::traces(site).len();
    for account in cast.accounts() {
        site.shell(&["member", "erase", &account.to_string(), "--yes"]);
    }
    site.shell(&["backup"]);
    let left = bytes::traces(site);
    let columns: BTreeSet<String> = deeds::MARKS.iter().flat_map(|mark| site.holds_text(mark)).collect();
    println!("{columns:?} name the person; {seen} traces before the erasure; after it {left:#?}");
    assert_eq!(cast.refused.take(), Vec::<String>::new());
    let expected: BTreeSet<String> = NOT_REACHED.iter().map(|(column, _)| (*column).to_owned()).collect();
    assert_eq!(
        empty.symmetric_difference(&expected).collect::<Vec<_>>(),
        [""; 0],
        "a column that nothing here fills is filled by a deed in deeds.rs, or stands in NOT_REACHED; a filled one does not"
    );
    assert!(seen > 0, "the search sees nothing at all");
    assert_eq!(left, Vec::<String>::new());
}

/// The control of the search: two columns are treated as if they were declared as kept.
#[test]
fn a_column_that_an_erasure_passes_over_is_found() {
    let cast = Cast::on_stage(0);
    let site = &cast.world.site;
    cast.use_the_desk();
    let keep_row = "CREATE TRIGGER keeps_row BEFORE DELETE ON emergency_contacts BEGIN SELECT RAISE(IGNORE); END";
    let keep_text = "CREATE TRIGGER keeps_text AFTER UPDATE OF staff_note ON members
                     BEGIN UPDATE members SET staff_note = old.staff_note WHERE member_id = old.member_id; END";
    for trigger in [keep_row, keep_text] {
        site.change(|tx| Ok(tx.run(trigger, [])?));
    }
    site.shell(&["member", "erase", ADDRESS, "--yes"]);
    let columns: BTreeSet<String> = deeds::MARKS.iter().flat_map(|mark| site.holds_text(mark)).collect();
    let left = bytes::traces(site);
    for trigger in ["keeps_row", "keeps_text"] {
        site.change(|tx| Ok(tx.run(&format!("DROP TRIGGER {trigger}"), [])?));
    }
    assert_eq!(columns, BTreeSet::from(["emergency_contacts.name", "members.staff_note"].map(str::to_owned)));
    assert!(left.iter().any(|trace| trace.contains("tunneldesk.sqlite")), "{left:?}");
}

#[test]
fn what_is_kept_of_an_erased_person_is_declared_as_kept() {
    let cast = Cast::on_stage(10);
    let site = &cast.world.site;
    cast.sign_waivers();
    site.shell(&["member", "erase", ADDRESS, "--yes"]);
    let mut found: Vec<String> = deeds::MARKS.iter().flat_map(|mark| site.holds_text(mark)).collect();
    found.sort();
    found.dedup();
    assert_eq!(found, ["waiver_signatures.flyer_name", "waiver_signatures.signer_name"]);
    let kept: BTreeSet<String> = personal_columns::holdings()
        .filter(|one| matches!(one.kind, HoldingKind::Kept))
        .map(|one| format!("{}.{}", one.table, one.column))
        .collect();
    assert!(found.iter().all(|column| kept.contains(column)), "{kept:?}");
}

#[test]
fn an_address_that_a_person_has_not_confirmed_yet_is_taken_out_of_the_texts_of_others() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    site.change(|tx| {
        let pending = "INSERT INTO email_tokens (token_hash, member_id, email, takes_over, created_at, ends_at)
                       VALUES (x'01', ?1, 'perpetua@vq.example', 1, ?2, ?2)";
        tx.run(pending, (jane.id, tx.now()))?;
        let note = "UPDATE members SET staff_note = 'answer perpetua@vq.example' WHERE member_id = ?1";
        Ok(tx.run(note, [mark.id])?)
    });
    site.shell(&["member", "erase", &jane.id.to_string(), "--yes"]);
    let note: String = site.change(|tx| Ok(tx.get("SELECT staff_note FROM members WHERE member_id = ?1", [mark.id])?));
    assert!(note.starts_with("answer ") && !note.contains("perpetua"), "{note}");
}
