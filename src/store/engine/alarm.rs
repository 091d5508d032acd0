//! Alarms: faults that were found and not repaired yet. Each is a small file beside the database, so that an alarm
//! survives a restart and can be raised while the database takes no writes.

use crate::moment::Moment;
use std::path::{Path, PathBuf};

/// Characters of a cause that are kept.
const CAUSE_CHARS_MAX: usize = 400;

/// The fault that an alarm reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A page, a row or an index of the database is damaged. Ends when a backup was verified, or restored.
    Damage,
    /// The WAL of the last process was not complete. Ends when the operator has acknowledged it (`doctor --noted`), or
    /// restored a backup.
    LostLog,
    /// Another program changed the database while the site was stopped. Ends when the operator has acknowledged it
    /// (`doctor --noted`), or restored a backup.
    Changed,
    /// Flipped bits in the database or its WAL were corrected: the memory or the disk fails. Ends when the operator has
    /// acknowledged it (`doctor --noted`).
    Corrected,
    /// The machine's clock jumped ahead to the moment of the alarm, from `last_good`. Ends when the jump is no longer doubted,
    /// or by `clock set-back`.
    ClockAhead,
    /// The last backup failed. Ends with the next one that succeeds.
    Backup,
    /// A local backup is damaged; the cause is its name. Ends when the backup is gone.
    SpoiltBackup,
}

/// An active alarm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alarm {
    /// The moment at which the alarm was first raised (Unix seconds).
    pub since: Moment,
    /// The cause in one line.
    pub cause: String,
    /// The second of the last write before the fault (Unix seconds), where it is known.
    pub last_good: Option<Moment>,
}

fn path(dir: &Path, kind: Kind) -> PathBuf {
    dir.join(match kind {
        Kind::Damage => "alarm-damage",
        Kind::LostLog => "alarm-log",
        Kind::Changed => "alarm-changed",
        Kind::Corrected => "alarm-corrected",
        Kind::ClockAhead => "alarm-clock",
        Kind::Backup => "alarm-backup",
        Kind::SpoiltBackup => "alarm-spoilt-backup",
    })
}

/// Raises the alarm at `now` (Unix seconds). An active alarm keeps its first moment and gets the new cause.
pub fn raise(dir: &Path, kind: Kind, now: Moment, cause: &str) {
    raise_after(dir, kind, now, cause, None);
}

/// [`raise`] with the second of the last write before the fault. An active alarm keeps its own.
pub(crate) fn raise_after(dir: &Path, kind: Kind, now: Moment, cause: &str, last_good: Option<Moment>) {
    let (since, last_good) = find(dir, kind).map_or((now, last_good), |alarm| (alarm.since, alarm.last_good));
    let cause: String = cause.chars().take(CAUSE_CHARS_MAX).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let last_good = last_good.map_or_else(String::new, |moment| moment.to_string());
    let (path, text) = (path(dir, kind), format!("{since}\n{cause}\n{last_good}\n"));
    let beside = dir.join(".alarm.new");
    let kept = crate::files::write(&beside, text).and_then(|()| std::fs::rename(&beside, &path));
    _ = kept.inspect_err(
        |e| tracing::error!(%cause, e = %e, "an alarm may be forgotten: {} cannot be written", path.display()),
    );
}

/// Ends the alarm. Returns whether it was active.
pub fn clear(dir: &Path, kind: Kind) -> bool {
    std::fs::remove_file(path(dir, kind)).is_ok()
}

/// The moment on a line of the file.
fn moment_in(line: Option<&str>) -> Option<Moment> {
    line?.parse().ok().map(Moment)
}

pub(crate) fn find(dir: &Path, kind: Kind) -> Option<Alarm> {
    let bytes = crate::files::read(&path(dir, kind)).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let mut lines = text.lines();
    // An alarm whose file is damaged is active too.
    let since = moment_in(lines.next()).unwrap_or(Moment(0));
    let cause = lines.next().unwrap_or_default().to_owned();
    Some(Alarm { since, cause, last_good: moment_in(lines.next()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_stands_since_its_first_time_until_it_is_cleared() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(find(dir.path(), Kind::Damage), None);
        raise(dir.path(), Kind::Damage, Moment(7), "page 9\nis gone");
        raise(dir.path(), Kind::Damage, Moment(8), &"é".repeat(999));
        let alarm = find(dir.path(), Kind::Damage).unwrap();
        assert_eq!((alarm.since, alarm.cause), (Moment(7), "é".repeat(CAUSE_CHARS_MAX)));
        raise_after(dir.path(), Kind::LostLog, Moment(9), "the log is gone", Some(Moment(5)));
        raise_after(dir.path(), Kind::LostLog, Moment(19), "the log is gone again", Some(Moment(15)));
        let alarm = find(dir.path(), Kind::LostLog).unwrap();
        assert_eq!((alarm.since, alarm.last_good), (Moment(9), Some(Moment(5))));
        assert_eq!(find(dir.path(), Kind::Backup), None);
        assert!(clear(dir.path(), Kind::Damage) && !clear(dir.path(), Kind::Damage));
    }
}
