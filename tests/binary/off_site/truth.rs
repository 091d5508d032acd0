//! What is said about the copy is true: its lag while the target is away, and the second that a restore reached.

use super::oracle::{self, Oracle, restored};
use super::storms::begin;
use super::{is_base, second, ticks, until};
use crate::backups::cut_short;
use crate::harness::{Server, text};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Seconds that a word about the copy may be old, beside other tests.
const OLD_SECONDS_MAX: i64 = 4;
const ALARM_SECONDS: i64 = 10;
/// How long the target is away: long enough for the alarm.
const AWAY: Duration = Duration::from_secs(20);
/// The place of the second of a tick's commits in its head.
const MOMENT: std::ops::Range<usize> = 32..40;

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> {
    std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
}

/// The newest second that is in the copy, by its files alone.
fn newest_second(copy: &Path) -> i64 {
    let of_base = |base: &Path| {
        let manifest: Value = serde_json::from_slice(&std::fs::read(base.join("manifest.json")).ok()?).ok()?;
        manifest["chain"]["moment"].as_i64()
    };
    let of_tick = |tick: &Path| Some(i64::from_be_bytes(std::fs::read(tick).ok()?.get(MOMENT)?.try_into().ok()?));
    let bases = entries(copy).filter(|path| is_base(path));
    let moments = bases.filter_map(|base| {
        let newest = entries(&base.join("ticks")).filter(|tick| tick.extension().is_some_and(|is| is == "tick")).max();
        newest.and_then(|tick| of_tick(&tick)).max(of_base(&base))
    });
    moments.max().unwrap_or_default()
}

/// Compares what the figures say with the files of the copy.
fn watch(server: &Server, copy: &Path, oracle: &Oracle) -> (i64, bool) {
    let lag = |second: i64, now: i64| oracle.oldest_after(second).map_or(0, |oldest| now - oldest);
    let most = lag(newest_second(copy), oracle::now());
    let seconds = server.figure("tunneldesk_health_off_site_lag_seconds").cast_signed();
    let is_alarm = server.figure("tunneldesk_health{fact=\"off_site\"}") == 2;
    let least = lag(newest_second(copy), oracle::now()).min(most);
    let said = format!("{seconds} s are said to be missing, alarm: {is_alarm}; it is {least} to {most} s");
    assert!(seconds >= least - OLD_SECONDS_MAX, "{said}");
    assert!(is_alarm || least <= ALARM_SECONDS + OLD_SECONDS_MAX, "{said}");
    (seconds, is_alarm)
}

#[test]
fn the_lag_and_the_alarm_are_true_while_the_target_is_away_and_comes_back() {
    let (desk, server, mut oracle) = begin();
    let (there, away) = (second(&desk), desk.path().join("away"));
    let since = Instant::now();
    let mut longest = (0, false);
    std::fs::rename(&there, &away).unwrap();
    while since.elapsed() < AWAY {
        oracle.write_once(&server);
        longest = longest.max(watch(&server, &away, &oracle));
    }
    assert!(longest.0 > ALARM_SECONDS && longest.1, "{longest:?} after {AWAY:?}");
    std::fs::rename(&away, &there).unwrap();
    until("the end of the alarm", || {
        oracle.write_once(&server);
        let (seconds, is_alarm) = watch(&server, &there, &oracle);
        (seconds <= 1 && !is_alarm).then_some(())
    });
    assert_eq!(server.stop().code, Some(0));
}

#[test]
fn a_restore_that_stops_before_the_newest_tick_says_so_also_by_its_exit_code() {
    let (desk, server, mut oracle) = begin();
    until("some ticks", || {
        oracle.write_once(&server);
        (ticks(&desk).len() > 5).then_some(())
    });
    assert_eq!(server.stop().code, Some(0));
    desk.run(&["restore", "--dry-run"]).done();
    let all = ticks(&desk);
    // Nobody can tell a tick whose writer was interrupted from one that somebody cut.
    let newest = all.last().unwrap();
    let whole = std::fs::read(newest).unwrap();
    for length in [whole.len() - 1, 10, 0] {
        std::fs::write(newest, &whole[..length]).unwrap();
        let said: Value = serde_json::from_str(&cut_short(&desk, &["restore", "--dry-run", "--json"])).unwrap();
        assert_eq!((said["ticks"].as_u64(), &said["trouble"]), (Some(all.len() as u64 - 1), &Value::Null), "{said}");
        assert!(newest.ends_with(text(&said["cut"])), "{said}");
        let said = cut_short(&desk, &["restore", "--dry-run"]);
        assert!(said.contains("is cut short, and what was in it is lost") && said.contains("is stopped"), "{said}");
    }
    std::fs::write(newest, whole).unwrap();
    let damaged = &all[3];
    let mut bytes = std::fs::read(damaged).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(damaged, bytes).unwrap();
    let reached = i64::from_be_bytes(std::fs::read(&all[2]).unwrap()[MOMENT].try_into().unwrap());

    let said: Value = serde_json::from_str(&cut_short(&desk, &["restore", "--dry-run", "--json"])).unwrap();
    assert_eq!(
        (&said["moment"], &said["ticks"], &said["dry_run"]),
        (&reached.into(), &3.into(), &true.into()),
        "{said}"
    );
    assert!(text(&said["trouble"]).contains("0000000004.tick"), "{said}");
    // An earlier second can be had in full. More writes of the last one may be in the damaged tick.
    desk.run(&["restore", "--dry-run", "--at", &oracle::shown(reached - 1)]).done();
    cut_short(&desk, &["restore", "--dry-run", "--at", &oracle::shown(reached)]);
    let said = cut_short(&desk, &["restore"]);
    assert!(said.contains("What came after that is lost") && said.contains("0000000004.tick"), "{said}");
    let (missing, _) = oracle.differences(&restored(&desk.data()), reached - 1);
    assert_eq!(missing, [""; 0]);
}

#[test]
fn the_backup_before_a_damaged_one_comes_back_with_what_was_copied_behind_it_by_the_printed_command() {
    let (desk, server, mut oracle) = begin();
    let base = || ticks(&desk).first().map(|tick| tick.ancestors().nth(2).unwrap().to_owned());
    let first = until("some ticks", || {
        oracle.write_once(&server);
        base().filter(|_| ticks(&desk).len() > 3)
    });
    desk.run(&["backup"]).done();
    let newest = until("ticks behind the next base", || {
        oracle.write_once(&server);
        base().filter(|base| *base != first)
    });
    assert_eq!(server.stop().code, Some(0));
    std::fs::remove_dir_all(desk.data()).unwrap();
    let database = newest.join("tunneldesk.sqlite");
    let mut bytes = std::fs::read(&database).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&database, bytes).unwrap();
    let said = desk.run(&["restore"]).trouble(2);
    assert!(said.contains("tunneldesk.sqlite is damaged") && !desk.data().exists(), "{said}");
    let command = said.split_once("`tunneldesk restore ").and_then(|(_, rest)| rest.split_once('`')).expect(&said).0;
    let (name, at) = command.split_once(" --at ").expect(&said);
    assert_eq!(Some(name), first.file_name().unwrap().to_str(), "{said}");
    let said = cut_short(&desk, &["restore", name, "--at", at.trim_matches('"')]);
    let passed_over = format!("A newer backup was passed over: {}", newest.file_name().unwrap().to_str().unwrap());
    assert!(said.contains(&passed_over) && said.contains("ticks behind it"), "{said}");
}
