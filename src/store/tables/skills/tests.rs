//! Tests that queries of entries and bookings use an index, however large the logbook is.

use super::*;
use crate::domain::catalogue::Catalogue;
use crate::domain::entry::Kind;
use crate::domain::ids::{EntryId, MemberId, TunnelId};
use crate::http::failure::Stop;
use crate::moment::Moment;
use crate::store::engine::migrate;
use crate::store::queries::{logbook, standing};
use crate::store::tables::{bookings, entries, signers};
use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use std::sync::{Mutex, PoisonError};

static TRACED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note(event: TraceEvent) {
    if let TraceEvent::Stmt(_, sql) = event {
        TRACED.lock().unwrap().push(sql.to_owned());
    }
}

/// Each statement that `queries` runs on an empty database, with the steps of its plan.
fn plans(queries: fn(&Write)) -> Vec<(String, Vec<String>)> {
    // The trace of SQLite calls a function without state, so that one test at a time collects statements.
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut conn = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut conn).unwrap();
    conn.pragma_update(None, "foreign_keys", false).unwrap();
    TRACED.lock().unwrap().clear();
    conn.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note)).unwrap();
    queries(&Write::on(&conn, Moment(0)));
    conn.trace_v2(TraceEventCodes::empty(), None::<fn(TraceEvent)>).unwrap();
    let traced = std::mem::take(&mut *TRACED.lock().unwrap());
    let statements = traced.into_iter().filter(|sql| !sql.starts_with("--"));
    let explained = statements.map(|sql| {
        // No values are bound, because a plan does not depend on them here.
        let mut explain = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
        let plan = explain.raw_query().mapped(|row| row.get(3)).collect::<Result<_>>().unwrap();
        (sql, plan)
    });
    explained.collect()
}

/// Runs every query once, on an empty database; the results do not matter.
fn ask_everything(tx: &Write) {
    let everything = Shown { statuses: &["open", "not_current"], lapsed: &["Flyer"] };
    each(tx, MemberId(1), everything, (50, 0), |_| ControlFlow::Continue(())).unwrap();
    count(tx, MemberId(1), everything).unwrap();
    find(tx, EntryId(1)).unwrap();
    list_opening(tx, EntryId(1)).unwrap();
    list_statuses(tx, MemberId(1), Kind::Skill, "10101", EntryId(0)).unwrap();
    list_waiting(tx, MemberId(1), 50, 0).unwrap();
    count_waiting(tx, MemberId(1)).unwrap();
    entry_events::list(tx, EntryId(1)).unwrap();
    entry_events::insert(tx, EntryId(1), MemberId(1), None, entry_events::EntryState::Deleted).unwrap();
    standing::lapsed(tx, MemberId(1), Moment(0)).unwrap();
    logbook::list_record(tx, MemberId(1), Kind::Skill, Moment(0), 500).unwrap();
    logbook::list_suspended_records(tx, MemberId(1)).unwrap();
    entries::each_time(tx, MemberId(1), (50, 0), |_| ControlFlow::Continue(())).unwrap();
    let level = Catalogue::built_in().levels().next().unwrap();
    let authority =
        signers::find_authority(tx, Catalogue::built_in(), MemberId(1), MemberId(2), level, TunnelId(1), Moment(0));
    assert!(matches!(authority, Err(Stop::Denied(_))), "nobody is there");
    signers::list_able(tx, Catalogue::built_in(), level, TunnelId(1), Moment(0)).unwrap();
    signers::list(tx, TunnelId(1)).unwrap();
    signers::end(tx, TunnelId(1), MemberId(1), "Instructor", None).unwrap();
}

#[test]
fn no_question_reads_a_large_table_from_end_to_end() {
    let plans = plans(ask_everything);
    assert!(plans.len() >= 15, "{plans:?}");
    for (sql, plan) in plans {
        let large = |step: &&String| {
            let scans = step.starts_with("SCAN ") && !step.contains("VIRTUAL TABLE") && !step.contains("CONSTANT ROW");
            scans || step.contains("USE TEMP B-TREE FOR ORDER BY") && sql.contains("LIMIT")
        };
        let found: Vec<_> = plan.iter().filter(large).collect();
        assert!(found.is_empty(), "{sql}: {plan:?}");
    }
}

/// A row of the table is a page of the file of its own on a large site; the rows of a member's index are side by side.
#[test]
fn the_lists_of_a_member_are_read_from_the_members_index_alone() {
    let plans = plans(|tx| {
        entries::each_time(tx, MemberId(1), (50, 0), |_| ControlFlow::Continue(())).unwrap();
        entries::count_time(tx, MemberId(1)).unwrap();
        entries::find_flown(tx, MemberId(1), Moment(0)).unwrap();
        logbook::list_skill_states(tx, MemberId(1)).unwrap();
        logbook::list_taken_skills(tx, MemberId(1)).unwrap();
        let of_one = bookings::Filter { member_id: Some(MemberId(1)), ..bookings::Filter::default() };
        bookings::list(tx, &of_one, 50, 0).unwrap();
        bookings::count(tx, &of_one).unwrap();
    });
    assert_eq!(plans.len(), 7, "{plans:?}");
    for (sql, plan) in plans {
        let mut large = plan.iter().filter(|step| step.contains("_by_member") || step.contains("entries_booked"));
        assert!(large.next().is_some(), "{sql}: {plan:?}");
        let rows = plan.iter().find(|step| step.contains(" USING INDEX "));
        assert!(rows.is_none(), "{rows:?} reads rows of the table: {sql}");
    }
}
