//! Tests that what is kept with a member is what the logbook says, and that reading it costs the same for everybody.

use super::*;
use crate::domain::ids::MemberId;
use crate::moment::Moment;
use crate::store::engine::migrate;
use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};
use std::sync::Mutex;

const DAY: i64 = 86_400;
/// The evening of 1 June 2025 in Zurich, when it is the next day in Auckland and the same in UTC.
const NOW: Moment = Moment(1_748_806_200);
const PROGRAMMES: [&str; 7] = ["Flyer", "AFC", "Coach", "Instructor", "Trainer", "Examiner", "Military"];
const LOGBOOKS: [&str; 4] = ["Coach", "Instructor", "Trainer", "Military"];

/// A site in this time zone, with ten members.
fn site(zone: &str) -> Connection {
    let mut conn = Connection::open_in_memory().unwrap();
    migrate::migrate(&mut conn).unwrap();
    conn.execute_batch(&format!(
        "PRAGMA foreign_keys = off;
         INSERT INTO tunnels (tunnel_id, name, city, country, time_zone, created_at) VALUES (1, 'Windwerk', '', 'CH', '{zone}', 0);
         INSERT INTO site (only, site_id, tunnel_id, key_check, clock_high_water, created_at) VALUES (1, 'x', 1, x'', 0, 0);
         WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10)
         INSERT INTO members (member_id, username, screen_name, real_name, email, join_date, updated_at)
             SELECT i, 'm' || i, '', '', '', 0, 0 FROM n"
    ))
    .unwrap();
    conn
}

fn hold(conn: &Connection, member_id: MemberId, cat_group: &str, cat_id: &str) {
    let sql = "INSERT OR IGNORE INTO holdings (member_id, cat_group, cat_id, track, since) VALUES (?1, ?2, ?3, '', 0)";
    conn.execute(sql, (member_id, cat_group, cat_id)).unwrap();
}

fn enter(conn: &Connection, member_id: MemberId, kind: &str, cat_group: &str, at: Moment) -> i64 {
    let sql = "INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, cat_group, created_at, updated_at)
               VALUES (?1, ?2, 'open', ?3, 10, 1, 1, ?4, 0, 0)";
    conn.execute(sql, (member_id, kind, at, cat_group)).unwrap();
    conn.last_insert_rowid()
}

static TRACED: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn note(event: TraceEvent) {
    if let TraceEvent::Stmt(_, sql) = event {
        TRACED.lock().unwrap().push(sql.to_owned());
    }
}

/// Whoever holds more is asked for with the same statements, each of which reads one row.
#[test]
fn a_standing_is_read_by_the_same_statements_whatever_is_held() {
    let mut conn = site("Europe/Zurich");
    for (member_id, count) in (1..).map(MemberId).zip([0, 1, 4, PROGRAMMES.len()]) {
        for cat_group in &PROGRAMMES[..count] {
            ["1", "2", "3", "4"].iter().for_each(|cat_id| hold(&conn, member_id, cat_group, cat_id));
            (0..20).for_each(|back| _ = enter(&conn, member_id, "safety", cat_group, NOW - back * DAY));
        }
        enter(&conn, member_id, "time", "", NOW - DAY);
    }
    conn.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note)).unwrap();
    let statements = |member_id| {
        TRACED.lock().unwrap().clear();
        read(&Read::on(&conn), member_id, NOW).unwrap();
        TRACED.lock().unwrap().clone()
    };
    let of_a_newcomer = statements(MemberId(1));
    assert_eq!(of_a_newcomer.len(), 2, "{of_a_newcomer:?}");
    for sql in &of_a_newcomer {
        assert!(!sql.contains("holdings") && !sql.contains("safety"), "reads what is kept: {sql}");
    }
    for member_id in [2, 3, 4].map(MemberId) {
        assert_eq!(statements(member_id), of_a_newcomer);
    }
    assert_eq!(read(&Read::on(&conn), MemberId(4), NOW).unwrap().role_name, "Examiner");
}

#[test]
fn days_are_those_of_the_sites_calendar_for_whoever_only_flies_too() {
    for (zone, last) in
        [("Europe/Zurich", "2025-11-28T23:59:59+01:00"), ("Pacific/Auckland", "2025-11-29T23:59:59+13:00")]
    {
        let conn = site(zone);
        hold(&conn, MemberId(1), "Flyer", "1");
        enter(&conn, MemberId(1), "time", "", NOW);
        let renewal = read(&Read::on(&conn), MemberId(1), NOW).unwrap().currency.flyer.renewal;
        assert_eq!(renewal.map(|at| TimeZone::named(zone).rfc3339(at)).as_deref(), Some(last));
    }
}

/// What is kept, and the same from the levels and the logbook.
fn both(conn: &Connection, member_id: MemberId) -> [String; 2] {
    let ask = |sql: &str| conn.query_row(sql, [member_id], |row| row.get::<_, String>(0)).unwrap();
    let last = |logbook: &str| {
        let of = "FROM entries WHERE member_id = ?1 AND kind = 'safety' AND status = 'open'";
        format!("coalesce((SELECT max(entry_date) {of} AND cat_group = '{logbook}'), '-')")
    };
    let trained = LOGBOOKS.map(last).join(" || ' ' || ");
    [
        ask("SELECT programmes || ' ' || holds_flyer_1 || ' ' || coalesce(coach_trained, '-') || ' '
                    || coalesce(instructor_trained, '-') || ' ' || coalesce(trainer_trained, '-') || ' '
                    || coalesce(military_trained, '-') FROM members WHERE member_id = ?1"),
        ask(&format!(
            "SELECT coalesce((SELECT group_concat(DISTINCT cat_group) FROM holdings WHERE member_id = ?1), '') || ' '
                    || EXISTS (SELECT 1 FROM holdings WHERE member_id = ?1 AND cat_group = 'Flyer' AND cat_id = '1') || ' '
                    || {trained}"
        )),
    ]
}

#[test]
fn what_is_kept_follows_every_change_of_levels_and_trainings() {
    let conn = site("");
    // A generator of its own, so that a failure comes again.
    let mut state = 7_u64;
    let mut below = |most: i64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as i64) % most
    };
    for step in 0..600 {
        let (member_id, other) = (MemberId(below(3) + 1), MemberId(below(3) + 1));
        let cat_group = PROGRAMMES[below(7) as usize];
        let entry_id = below(step + 1) + 1;
        match below(9) {
            0 | 1 => hold(&conn, member_id, cat_group, if below(2) == 0 { "1" } else { "2" }),
            2 => {
                _ = conn
                    .execute("DELETE FROM holdings WHERE member_id = ?1 AND cat_group = ?2", (member_id, cat_group))
                    .unwrap()
            }
            3 | 4 => {
                _ = enter(
                    &conn,
                    member_id,
                    if below(3) == 0 { "time" } else { "safety" },
                    cat_group,
                    Moment(below(90) * DAY),
                )
            }
            5 => _ = conn.execute("DELETE FROM entries WHERE entry_id = ?1", [entry_id]).unwrap(),
            6 => {
                _ = conn
                    .execute("UPDATE entries SET entry_date = ?2 WHERE entry_id = ?1", [entry_id, below(90) * DAY])
                    .unwrap()
            }
            7 => _ = conn.execute("UPDATE entries SET member_id = ?2 WHERE entry_id = ?1", (entry_id, other)).unwrap(),
            _ => {
                let sql = "UPDATE entries SET status = iif(status = 'open', 'suspended', 'open') WHERE entry_id = ?1";
                conn.execute(sql, [entry_id]).unwrap();
            }
        }
        for member_id in (1..=3).map(MemberId) {
            let [kept, true_now] = both(&conn, member_id);
            assert_eq!(kept, true_now, "member {member_id} after step {step}");
        }
    }
    let before = both(&conn, MemberId(1));
    conn.execute("UPDATE members SET coach_trained = 1, military_trained = NULL", []).unwrap();
    recount(&Write::on(&conn, Moment(0))).unwrap();
    assert_eq!(both(&conn, MemberId(1)), before, "after rows were written without triggers");
}

#[test]
fn a_training_of_a_later_day_hides_none_before_it() {
    let conn = site("");
    hold(&conn, MemberId(1), "Instructor", "1");
    enter(&conn, MemberId(1), "safety", "Instructor", NOW - DAY);
    let currency = |now| read(&Read::on(&conn), MemberId(1), now).unwrap().currency.instructor;
    let before = currency(NOW);
    assert!(before.current);
    enter(&conn, MemberId(1), "safety", "Instructor", NOW + 200 * DAY);
    assert_eq!(currency(NOW), before);
    assert!(currency(NOW + 200 * DAY).renewal > before.renewal);
}
