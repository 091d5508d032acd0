//! The facts about the data directory, also where its site cannot be opened.

use super::{shown_bytes, unreadable};
use crate::domain::health::{FREE_BYTES_ALARM, FREE_BYTES_WARNING, Fact, State, WAL_BYTES_ALARM, WAL_BYTES_WARNING};
use crate::i18n::language::Text;
use crate::store::data_dir;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The permission bits of group and others.
const OTHERS: u32 = 0o077;
/// The emergency reserve.
const RESERVE_FILE: &str = "reserve";

pub(crate) fn space(data: &Path) -> Fact {
    let free = match data_dir::free_bytes(data) {
        Ok(free) => free,
        Err(e) => return unreadable("space", &e),
    };
    let state = State::below(free, FREE_BYTES_WARNING, FREE_BYTES_ALARM);
    let text = Text::new("health.space").with("free", shown_bytes(free));
    Fact::judged("space", state, text, Text::new("health.space.next")).with_figure(
        "free_bytes",
        "Free bytes on the disk of the data directory.",
        free.cast_signed(),
    )
}

pub(crate) fn reserve(data: &Path) -> Fact {
    match std::fs::metadata(data.join(RESERVE_FILE)) {
        Ok(file) => {
            let text = Text::new("health.reserve").with("size", shown_bytes(file.len()));
            Fact::ok("reserve", text).with_figure("bytes", "Size of the emergency reserve.", file.len().cast_signed())
        }
        Err(_) => Fact::ok("reserve", Text::new("health.reserve.none")),
    }
}

/// A key file that others can read is an alarm, because the key opens everything; other files are a warning.
pub(crate) fn permissions(data: &Path) -> Fact {
    let mode = |path: &Path| std::fs::metadata(path).map(|file| file.permissions().mode() & 0o777);
    let places = [
        (data_dir::key(data), State::Alarm, "600"),
        (data_dir::signing_key(data), State::Alarm, "600"),
        (data_dir::database(data), State::Warning, "600"),
        (data.to_owned(), State::Warning, "700"),
    ];
    for (path, state, wanted) in places {
        let mode = match mode(&path) {
            Ok(mode) => mode,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
            Err(e) => return unreadable("permissions", &e),
        };
        if mode & OTHERS != 0 {
            let shown = path.display();
            let text = Text::new("health.permissions.open").with("path", shown).with("mode", format!("{mode:o}"));
            let next = Text::new("health.permissions.next").with("path", path.display()).with("mode", wanted);
            return Fact::judged("permissions", state, text, next);
        }
    }
    Fact::ok("permissions", Text::new("health.permissions"))
}

pub(crate) fn wal(data: &Path) -> Fact {
    let bytes = std::fs::metadata(data_dir::wal(data)).map_or(0, |file| file.len());
    let state = State::above(bytes, WAL_BYTES_WARNING, WAL_BYTES_ALARM);
    let text = Text::new("health.wal").with("size", shown_bytes(bytes));
    Fact::judged("wal", state, text, Text::new("health.wal.next")).with_figure(
        "bytes",
        "Size of the write-ahead log when it was judged.",
        bytes.cast_signed(),
    )
}
