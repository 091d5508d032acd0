//! Which process has the lock of a data directory, and what to do about it.

use clap::CommandFactory;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Commands that go on until somebody ends them.
const ENDLESS: [&str; 2] = ["serve", "standby"];

/// A process that has a directory locked.
struct Holder {
    pid: u32,
    /// The command that it carries out, such as `restore`; `None`: it is another program.
    command: Option<String>,
}

/// The error for a directory that another process has locked: which one, and what to do.
pub(super) fn in_use(dir: &Path) -> String {
    let shown = dir.display();
    match find(dir) {
        Some(Holder { pid, command: Some(command) }) if !ENDLESS.contains(&&*command) => format!(
            "`tunneldesk {command}` (process {pid}) is at work on {shown}: wait until it has ended, or stop it with `kill {pid}`"
        ),
        Some(Holder { pid, command: Some(command) }) if command == "standby" => {
            format!("a standby (process {pid}) is running on {shown}: stop it first")
        }
        Some(Holder { pid, .. }) => format!("a tunneldesk (process {pid}) is running on {shown}: stop it first"),
        None => format!("a tunneldesk is running on {shown}: stop it first"),
    }
}

/// The process that has the directory locked. `None`: none has, or it cannot be seen from here.
fn find(dir: &Path) -> Option<Holder> {
    let locked = std::fs::metadata(dir).ok()?;
    let is_it = |pid: &u32| {
        // File systems may have inodes of the same number.
        let mut open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.any(|fd| std::fs::metadata(fd.path()).is_ok_and(|it| (it.dev(), it.ino()) == (locked.dev(), locked.ino())))
    };
    let locks = std::fs::read_to_string("/proc/locks").ok()?;
    let pid = locks.lines().filter_map(|line| holder_in(line, locked.ino())).find(is_it)?;
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = words.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect::<Vec<_>>();
    let is_ours = words.first().is_some_and(|program| program.ends_with("tunneldesk"));
    let commands = super::Cli::command();
    let command = words.iter().skip(1).find(|word| commands.find_subcommand(word.as_ref()).is_some());
    Some(Holder { pid, command: command.filter(|_| is_ours).map(|word| word.to_string()) })
}

/// The process in a line of `/proc/locks`, if it has a file with this inode locked by `flock`:
/// `1: FLOCK  ADVISORY  WRITE 4711 08:01:262145 0 EOF`.
fn holder_in(line: &str, inode: u64) -> Option<u32> {
    let fields: Vec<&str> = line.split_whitespace().collect();
    let is_it = *fields.get(1)? == "FLOCK" && fields.get(5)?.rsplit(':').next()?.parse() == Ok(inode);
    if is_it { fields[4].parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::data_dir::DataDir;

    #[test]
    fn the_process_that_has_a_directory_locked_is_named() {
        let dir = tempfile::tempdir().unwrap();
        assert!(find(dir.path()).is_none());
        assert_eq!(in_use(dir.path()), format!("a tunneldesk is running on {}: stop it first", dir.path().display()));
        let _locked = DataDir::lock(dir.path()).unwrap();
        let holder = find(dir.path()).unwrap();
        assert_eq!((holder.pid, holder.command), (std::process::id(), None));
        assert!(in_use(dir.path()).contains(&format!("(process {})", std::process::id())));
    }

    #[test]
    fn locks_of_other_kinds_and_waiting_ones_are_no_holders() {
        let line = "1: FLOCK  ADVISORY  WRITE 4711 08:01:262145 0 EOF";
        assert_eq!([262_145, 26].map(|inode| holder_in(line, inode)), [Some(4711), None]);
        for other in [line.replace("FLOCK", "POSIX"), line.replace("1: ", "1: -> "), String::new()] {
            assert_eq!(holder_in(&other, 262_145), None, "{other}");
        }
    }
}
