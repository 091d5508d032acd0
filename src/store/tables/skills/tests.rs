//! Tests that every query of signed entries uses an index, however large the logbook is.

use super::*;
use crate::domain::catalogue::Catalogue;
use crate::domain::entry::Kind;
use crate::store::engine::migrate;
use crate::store::queries::standing;
use crate::store::tables::{entries, signers};
use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use std::sync::Mutex;

static ASKED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note(event: TraceEvent) {
    if let TraceEvent::Stmt(_, sql) = event {
        ASKED.lock().unwrap().push(sql.to_owned());
    }
}

/// Runs every query once, on an empty database; the results do not matter.
fn ask_everything(tx: &Write) {
    let everything = Shown { statuses: &["open", "not_current"], lapsed: &["Flyer"] };
    each(tx, 1, everything, (50, 0), |_| ControlFlow::Continue(())).unwrap();
    count(tx, 1, everything).unwrap();
    find(tx, 1).unwrap();
    list_opening(tx, 1).unwrap();
    list_statuses(tx, 1, Kind::Skill, "10101", 0).unwrap();
    list_waiting(tx, 1, 50, 0).unwrap();
    count_waiting(tx, 1).unwrap();
    entry_events::list(tx, 1).unwrap();
    entry_events::insert(tx, 1, 1, None, entry_events::EntryState::Deleted).unwrap();
    standing::lapsed(tx, 1, 0).unwrap();
    entries::each_time(tx, 1, (50, 0), |_| ControlFlow::Continue(())).unwrap();
    let level = Catalogue::built_in().levels().next().unwrap();
    let authority = signers::find_authority(tx, Catalogue::built_in(), 1, 2, level, 1, 0).unwrap();
    assert!(authority.is_err(), "nobody is there");
    signers::list_able(tx, Catalogue::built_in(), level, 1, 0).unwrap();
    signers::list(tx, 1).unwrap();
    signers::end(tx, 1, 1, "Instructor", None).unwrap();
}

#[test]
fn no_question_reads_a_large_table_from_end_to_end() {
    let mut conn = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut conn).unwrap();
    conn.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note)).unwrap();
    ask_everything(&Write::on(&conn, 0));
    let asked = ASKED.lock().unwrap().clone();
    conn.trace_v2(TraceEventCodes::empty(), None::<fn(TraceEvent)>).unwrap();
    assert!(asked.len() >= 15, "{asked:?}");
    for sql in asked.iter().filter(|sql| !sql.starts_with("--")) {
        // No values are bound, because a plan does not depend on them here.
        let mut explained = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let plan: Vec<String> = explained.raw_query().mapped(|row| row.get(3)).collect::<Result<_>>().unwrap();
        let large = |step: &&String| {
            let scans = step.starts_with("SCAN ") && !step.contains("VIRTUAL TABLE") && !step.contains("CONSTANT ROW");
            scans || step.contains("USE TEMP B-TREE FOR ORDER BY") && sql.contains("LIMIT")
        };
        let found: Vec<_> = plan.iter().filter(large).collect();
        assert!(found.is_empty(), "{sql}: {plan:?}");
    }
}
