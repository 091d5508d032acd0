//! Tests that a demo site is the same each time, that its content follows the rules, and that its facts work.

mod fact_tests;

use super::facts::Facts;
use super::*;
use crate::config::Settings;
use crate::domain::catalogue::{Catalogue, LevelKey};
use crate::domain::currency::{self, Standing};
use crate::domain::ids::{MemberId, TunnelId};
use crate::domain::password::Owner;
use crate::domain::{email, password, signoff};
use crate::moment::Moment;
use crate::store::Read;
use crate::store::migrate;
use crate::store::queries::standing;
use crate::store::tables::tunnels;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// A Saturday at noon.
const NOW: Moment = Moment(1_772_280_000);
const PLAN: Plan = Plan { members: 120, entries: 4_000, seed: 7 };

struct MadeSite {
    dir: tempfile::TempDir,
    _data_dir: DataDir,
    site: Site,
    made: Made,
}

/// The site for the tests that only read, made once.
static SHARED: LazyLock<std::sync::Mutex<MadeSite>> = LazyLock::new(|| make(PLAN).into());

fn make(plan: Plan) -> MadeSite {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = DataDir::lock(dir.path()).unwrap();
    let (site, made) = create(&data_dir, config(), &|| Clock::frozen(NOW), &plan, &mut |_, _, _| ()).unwrap();
    MadeSite { dir, _data_dir: data_dir, site, made }
}

fn config() -> Config {
    let mut settings = Settings::new();
    settings.for_demo();
    settings.check().unwrap()
}

/// Runs a question on the shared site.
fn ask<T>(question: impl FnOnce(&Read) -> T) -> T {
    let made = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    // A snapshot is for one question; one that is kept over several tests would grow too old.
    made.site.store.release();
    made.site.store.read(|tx| Ok(question(tx))).unwrap()
}

fn numbers<const N: usize>(tx: &Read, sql: &str) -> Vec<[Option<i64>; N]> {
    let row = |row: &rusqlite::Row| (0..N).map(|n| row.get(n)).collect::<rusqlite::Result<Vec<_>>>();
    tx.list_with(sql, [], row).unwrap().into_iter().map(|values| values.try_into().unwrap()).collect()
}

fn count(tx: &Read, sql: &str) -> i64 {
    tx.get(sql, []).unwrap()
}

/// Every row of the tables that the demo fills, as text without the password hashes.
fn dump(site: &Site) -> Vec<String> {
    let tables = [
        "tunnels",
        "members",
        "partners",
        "partner_users",
        "bookings",
        "events",
        "entries",
        "entry_events",
        "signers",
        "holdings",
        "notices",
    ];
    site.store
        .read(|tx| {
            let mut rows = Vec::new();
            for table in tables {
                rows.extend(tx.list_with(&format!("SELECT * FROM {table}"), [], |row| {
                    let names: Vec<String> = row.as_ref().column_names().map(str::to_owned).collect();
                    let cell = |(n, name): (usize, &String)| match name.as_str() {
                        "password_hash" => Ok(String::new()),
                        _ => Ok(format!("{:?}", row.get_ref(n)?)),
                    };
                    Ok(format!(
                        "{table} {}",
                        names.iter().enumerate().map(cell).collect::<rusqlite::Result<Vec<_>>>()?.join(" ")
                    ))
                })?);
            }
            Ok(rows)
        })
        .unwrap()
}

#[test]
fn the_same_seed_on_the_same_day_gives_the_same_site_and_another_seed_another() {
    let small = Plan { members: 60, entries: 1_500, seed: 3 };
    let (one, two, other) = (make(small), make(small), make(Plan { seed: 4, ..small }));
    let (one_rows, two_rows) = (dump(&one.site), dump(&two.site));
    assert_eq!(one_rows.len(), two_rows.len());
    for (a, b) in one_rows.iter().zip(&two_rows) {
        assert_eq!(a, b);
    }
    assert_ne!(one_rows, dump(&other.site));
}

#[test]
fn the_file_is_sound_and_has_the_schema_of_any_other() {
    let mut fresh = rusqlite::Connection::open_in_memory().unwrap();
    migrate::migrate(&mut fresh).unwrap();
    let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY sql";
    let list = |tx: &Read| tx.list::<String>(sql, []).unwrap();
    ask(|tx| {
        assert_eq!(list(tx), list(&Read::on(&fresh)));
        let verdict: String = tx.get("PRAGMA integrity_check", []).unwrap();
        assert_eq!(verdict, "ok");
        assert_eq!(tx.list_with("PRAGMA foreign_key_check", [], |_| Ok(())).unwrap().len(), 0);
    });
}

#[test]
fn there_is_as_much_as_was_asked_for() {
    let made = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).made;
    ask(|tx| {
        assert_eq!(count(tx, "SELECT count(*) FROM members"), 120);
        assert_eq!(count(tx, "SELECT count(*) FROM entries"), made.entries as i64);
        assert_eq!(count(tx, "SELECT count(*) FROM bookings"), made.bookings as i64);
        assert!((3_800..4_100).contains(&made.entries), "{made:?}");
        assert!(made.bookings > 500 && count(tx, "SELECT count(*) FROM notices") > 20, "{made:?}");
    });
}

#[test]
fn flight_time_is_the_sum_of_the_entries() {
    ask(|tx| {
        let wrong =
            "SELECT count(*) FROM members m WHERE flight_minutes <> (SELECT coalesce(sum(minutes), 0) FROM entries e
                     WHERE e.member_id = m.member_id AND e.kind = 'time' AND e.status = 'open')";
        assert_eq!(count(tx, wrong), 0);
        assert!(count(tx, "SELECT sum(flight_minutes) FROM members") > 10_000);
    });
}

#[test]
fn the_history_says_what_the_bookings_say() {
    ask(|tx| {
        let at = numbers::<1>(tx, "SELECT at FROM history ORDER BY seq");
        assert!(at.is_sorted(), "the history goes back in time");
        let last = "SELECT count(*) FROM bookings b JOIN history h ON h.seq =
                        (SELECT max(seq) FROM history WHERE booking_id = b.booking_id AND event LIKE 'booking.%')
                    WHERE h.detail ->> 'minutes_booked' = b.minutes_booked AND h.detail ->> 'flight_date' = b.flight_date
                      AND h.detail ->> 'registration_id' = b.registration_id AND h.member_id = b.member_id AND h.at = b.updated_at";
        let bookings = count(tx, "SELECT count(*) FROM bookings");
        assert_eq!(count(tx, last), bookings);
        assert_eq!(count(tx, "SELECT count(*) FROM history WHERE event = 'booking.recorded'"), bookings);
        assert!(count(tx, "SELECT count(*) FROM history WHERE event = 'booking.changed'") > 0);
        assert!(count(tx, "SELECT count(*) FROM history WHERE event = 'token.refused'") > 0);
        let unknown = "SELECT count(*) FROM bookings b JOIN members m USING (member_id)
                       WHERE NOT EXISTS (SELECT 1 FROM partner_users u WHERE u.email = m.email)";
        assert_eq!(count(tx, unknown), 0);
    });
}

#[test]
fn a_booking_enters_flight_time_just_for_current_flyers() {
    ask(|tx| {
        let sql = "SELECT b.created_at, e.entry_date - b.flight_date, e.minutes - b.minutes_booked, h.since,
                          (SELECT max(entry_date) FROM entries p WHERE p.member_id = b.member_id AND p.kind = 'time'
                           AND p.entry_date <= b.created_at), m.paid_until, m.email_confirmed_at
                   FROM bookings b JOIN members m USING (member_id) LEFT JOIN entries e USING (booking_id)
                   LEFT JOIN holdings h ON h.member_id = b.member_id AND h.cat_group = 'Flyer' AND h.cat_id = '1'";
        let (mut entered, mut not) = (0, 0);
        for [made, dates, minutes, since, last, paid, confirmed] in numbers::<7>(tx, sql) {
            let made = made.unwrap();
            let flyer = since.is_some_and(|since| since <= made);
            let current = flyer && last.is_some_and(|last| made < last + currency::FLYER_DAYS * 86_400);
            if dates.is_some() {
                assert_eq!((dates, minutes), (Some(0), Some(0)));
                assert!(current, "booked at {made}, last flown {last:?}, flyer since {since:?}");
                entered += 1;
            } else {
                not += 1;
            }
            assert!(confirmed.is_some() && (!flyer || paid.is_some_and(|until| made < until)));
        }
        assert!(entered > 300 && not > 50, "{entered} {not}");
        let ahead =
            format!("SELECT count(*) FROM entries WHERE kind = 'time' AND entry_date > {NOW} AND booking_id IS NULL");
        assert_eq!(count(tx, &ahead), 0, "flown in the future");
    });
}

/// A member's levels with the moment from which each is held, derived from the entries.
fn levels(tx: &Read, member_id: MemberId) -> Vec<(LevelKey<'static>, Moment)> {
    let sql = "SELECT skill, coalesce(approval_date, entry_date) FROM entries WHERE member_id = ?1 AND kind = 'skill' AND status = 'open'";
    let open: Vec<(String, Moment)> = tx.list(sql, [member_id]).unwrap();
    let open: Vec<(&str, Moment)> = open.iter().map(|(skill, at)| (skill.as_str(), *at)).collect();
    Catalogue::built_in().held(&open).into_iter().map(|held| (held.level.key(), held.since)).collect()
}

#[test]
fn what_is_held_follows_from_the_entries_and_was_open_to_the_member() {
    ask(|tx| {
        for [member_id] in numbers::<1>(tx, "SELECT member_id FROM members") {
            let member_id = MemberId(member_id.unwrap());
            let mut derived = levels(tx, member_id);
            derived.sort_by_key(|(key, since)| (key.cat_group, key.cat_id, key.track, *since));
            let sql = "SELECT cat_group, cat_id, track, since FROM holdings WHERE member_id = ?1 ORDER BY 1, 2, 3";
            let stored = tx.list::<(String, String, String, Moment)>(sql, [member_id]);
            let shown = |(key, since): &(LevelKey, Moment)| {
                (key.cat_group.to_owned(), key.cat_id.to_owned(), key.track.to_owned(), *since)
            };
            assert_eq!(derived.iter().map(shown).collect::<Vec<_>>(), stored.unwrap(), "{member_id}");
            for (key, since) in &derived {
                let before: Vec<LevelKey> =
                    derived.iter().filter(|(one, at)| one != key && at <= since).map(|(one, _)| *one).collect();
                let level = Catalogue::built_in().find_level(*key).unwrap();
                assert!(level.admits(&before), "{member_id} holds {level} and not what it requires");
            }
        }
    });
}

/// The levels and the safety records of a signer.
type Signer = (Vec<(LevelKey<'static>, Moment)>, Vec<(String, Moment)>);

#[test]
fn whoever_signed_might_at_that_moment() {
    ask(|tx| {
        let zone = tunnels::find_zone_of_site(tx).unwrap();
        let mut known: BTreeMap<MemberId, Signer> = BTreeMap::new();
        let sql = "SELECT member_id, skill, coalesce(approval_date, entry_date), instructor_id FROM entries WHERE kind <> 'time'";
        let rows: Vec<(MemberId, String, Moment, Option<MemberId>)> = tx.list(sql, []).unwrap();
        for (member_id, skill, at, signer) in rows {
            let level = signoff::level_of(Catalogue::built_in(), &skill).unwrap();
            let signer = signer.unwrap_or_else(|| panic!("nobody signed {skill} of {member_id}"));
            let (held, trained) = known.entry(signer).or_insert_with(|| {
                let sql = "SELECT cat_group, entry_date FROM entries WHERE member_id = ?1 AND kind = 'safety'";
                (levels(tx, signer), tx.list(sql, [signer]).unwrap())
            });
            let sql = "SELECT cat_group, cat_id, appointed_at FROM signers
                       WHERE member_id = ?1 AND appointed_at <= ?2 AND coalesce(ended_at, ?2 + 1) > ?2";
            let appointed: Vec<(String, String, Moment)> = tx.list(sql, (signer, at)).unwrap();
            let stand_in = appointed.iter().filter(|(_, cat_id, _)| !cat_id.is_empty());
            let mut held: Vec<LevelKey> = held.iter().filter(|(_, since)| *since <= at).map(|(key, _)| *key).collect();
            held.extend(stand_in.clone().map(|(cat_group, cat_id, _)| LevelKey { cat_group, cat_id, track: "" }));
            let mut trained: Vec<(&str, Moment)> =
                trained.iter().map(|(logbook, at)| (logbook.as_str(), *at)).collect();
            trained.extend(stand_in.map(|(cat_group, _, day)| match cat_group.as_str() {
                "Examiner" => ("Trainer", *day),
                own => (own, *day),
            }));
            let standing = Standing { held: &held, last_flight: Some(at), trained: &trained, zone: &zone };
            let listed: Vec<String> = appointed.iter().map(|(cat_group, ..)| cat_group.clone()).collect();
            let one = signoff::Signer {
                member_id: signer,
                held: &held,
                currency: currency::of(&standing, Moment(at.0)),
                listed: &listed,
                in_good_standing: true,
            };
            let verdict = signoff::authority(&one, member_id, level);
            assert!(verdict.is_ok(), "{signer} signed {level} for {member_id} at {at}: {verdict:?}");
        }
        let stand_ins = count(tx, "SELECT count(DISTINCT member_id) FROM signers WHERE cat_id <> ''");
        assert_eq!(stand_ins, 2, "only the founders were appointed");
        assert_eq!(count(tx, "SELECT count(*) FROM signers WHERE cat_id <> '' AND ended_at IS NULL"), 0);
        assert!(count(tx, "SELECT count(*) FROM signers WHERE ended_at IS NULL") >= 12);
    });
}

#[test]
fn every_entry_that_is_signed_has_the_moves_that_led_to_its_state() {
    ask(|tx| {
        let sql = "SELECT count(*) FROM entries e WHERE e.kind <> 'time' AND e.status IS NOT
                   (SELECT to_status FROM entry_events v WHERE v.entry_id = e.entry_id ORDER BY step DESC LIMIT 1)";
        assert_eq!(count(tx, sql), 0, "the last move is not the state");
        let sql =
            "SELECT count(*) FROM entry_events v JOIN entry_events n ON n.entry_id = v.entry_id AND n.step = v.step + 1
                   WHERE n.from_status <> v.to_status OR n.at < v.at";
        assert_eq!(count(tx, sql), 0, "a move does not begin where the one before it ended");
        let sql = "SELECT count(*) FROM entry_events v JOIN entries e USING (entry_id)
                   WHERE v.to_status = 'open' AND v.member_id IS NOT e.instructor_id";
        assert_eq!(count(tx, sql), 0, "somebody else signed");
        assert_eq!(count(tx, &format!("SELECT count(*) FROM entry_events WHERE at >= {NOW}")), 0);
    });
}

#[test]
fn people_fly_as_people_do() {
    ask(|tx| {
        let by_day =
            "SELECT (entry_date / 86400 + 3) % 7, count(*) FROM entries WHERE kind = 'time' GROUP BY 1 ORDER BY 1";
        let week: Vec<i64> = numbers::<2>(tx, by_day).into_iter().map(|[_, n]| n.unwrap()).collect();
        assert!(week[5] > 2 * week[0] && week[6] > 2 * week[1], "weekends are not busier: {week:?}");
        let flights =
            numbers::<1>(tx, "SELECT count(*) FROM entries WHERE kind = 'time' GROUP BY member_id ORDER BY 1");
        let flights: Vec<i64> = flights.into_iter().filter_map(|[n]| n).collect();
        assert!(flights[flights.len() / 10] <= 4 && flights[flights.len() * 9 / 10] > 30, "{flights:?}");
        let unbriefed = "SELECT count(*) FROM entries e WHERE e.kind = 'time' AND NOT EXISTS
                         (SELECT 1 FROM entries s WHERE s.member_id = e.member_id AND s.kind = 'safety' AND s.cat_group = 'Flyer'
                          AND s.entry_date < e.entry_date)";
        assert_eq!(count(tx, unbriefed), 0, "flown without a brief");
        let unborn = "SELECT count(*) FROM entries e JOIN members m USING (member_id) WHERE e.entry_date < m.dob + 4 * 365 * 86400";
        assert_eq!(count(tx, unborn), 0);
        let addresses: Vec<String> = tx.list("SELECT email FROM members", []).unwrap();
        assert!(addresses.iter().all(|one| email::parse(one).is_ok() && one.split_once("@example.").is_some()));
    });
}

#[test]
fn people_come_for_their_flights_but_for_a_few_and_nobody_comes_before_the_time() {
    ask(|tx| {
        let of = |range: &str| {
            let sql = format!("SELECT count(*), count(arrived_at) FROM bookings WHERE flight_date {range}");
            numbers::<2>(tx, &sql)[0].map(Option::unwrap)
        };
        let ([past, came], [ahead, early]) = (of(&format!("< {NOW}")), of(&format!("> {NOW} + 1800")));
        assert!(past - past / 20 < came && came < past, "{came} of {past}");
        assert!(ahead > 0 && early == 0, "{early} of {ahead}");
    });
}

#[test]
fn a_real_site_is_not_given_a_demo_s_keys() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = DataDir::lock(dir.path()).unwrap();
    let identity = Identity { tunnel_id: TunnelId(1), name: "Real".into(), city: String::new(), country: "CH".into() };
    let site = Site::create(&data_dir, config(), Clock::frozen(NOW), &identity).unwrap();
    let refusal = Facts::gather(&site).err().unwrap();
    assert!(refusal.contains("no demo site") && !refusal.contains('\n'), "{refusal}");
    assert!(!dir.path().join("demo.json").exists());
}

#[test]
fn what_was_left_unfinished_is_swept_away_and_few_or_no_entries_will_do() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = DataDir::lock(dir.path()).unwrap();
    let unfinished = restore::new_site_dir(&data_dir);
    std::fs::create_dir(&unfinished).unwrap();
    std::fs::write(unfinished.join("tunneldesk.sqlite"), "half of it").unwrap();
    let plan = Plan { members: 40, entries: 0, seed: 1 };
    let (site, made) = create(&data_dir, config(), &|| Clock::frozen(NOW), &plan, &mut |_, _, _| ()).unwrap();
    assert!(made.members == 40 && !unfinished.exists());
    drop(site);
    assert!(create(&data_dir, config(), &|| Clock::frozen(NOW), &plan, &mut |_, _, _| ()).is_err());
}
