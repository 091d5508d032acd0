//! What lies in the way of a file outside.

use super::*;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

/// A directory with a file that must stay as it is, and a share beside it.
fn share() -> (tempfile::TempDir, PathBuf, Dir) {
    let dir = tempfile::tempdir().unwrap();
    let share = dir.path().join("share");
    std::fs::create_dir(&share).unwrap();
    std::fs::write(dir.path().join("own"), "own").unwrap();
    let root = Dir::root(&share).unwrap();
    (dir, share, root)
}

#[test]
fn nothing_is_read_or_written_through_a_link() {
    let (dir, share, root) = share();
    let own = dir.path().join("own");
    symlink(&own, share.join("link")).unwrap();
    symlink(dir.path(), share.join("away")).unwrap();
    std::fs::hard_link(&own, share.join("second")).unwrap();
    for said in [
        root.open("link", 100).unwrap_err(),
        root.append("link").unwrap_err(),
        root.folder("away").err().unwrap(),
        root.folder("link").err().unwrap(),
    ] {
        assert!(said.to_string().contains("it is a link"), "{said}");
    }
    assert!(root.append("second").unwrap_err().to_string().contains("second name"));
    for taken in ["link", "away", "second"] {
        assert_eq!(root.create(taken).unwrap_err().kind(), io::ErrorKind::AlreadyExists, "{taken}");
        assert!(root.make_folder(taken).is_err() && (taken == "second" || root.bytes_of(taken).unwrap().is_none()));
    }
    for way in ["../own", "..", ".", "", "/etc/passwd", "away/own", "link\0"] {
        assert!(root.open(way, 100).is_err() && root.create(way).is_err() && root.folder(way).is_err(), "{way}");
        assert!(root.remove(way).is_err() && root.remove_folder(way).is_err(), "{way}");
    }
    // A link is removed, and what it leads to stays.
    for link in ["link", "away", "second"] {
        root.remove_folder(link).unwrap();
    }
    assert_eq!((std::fs::read(own).unwrap(), root.names().unwrap().len()), (b"own".to_vec(), 0));
}

#[test]
fn files_alone_are_read_and_no_more_of_them_than_is_allowed() {
    let (_dir, share, root) = share();
    std::fs::create_dir(share.join("folder")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, share.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(share.join("socket")).unwrap();
    for (name, what) in [("folder", "a folder"), ("pipe", "a named pipe"), ("socket", "a socket")] {
        for said in [root.open(name, 100).unwrap_err(), root.append(name).unwrap_err()] {
            assert!(said.to_string().contains(what), "{name}: {said}");
        }
    }
    root.create("file").unwrap().set_len(1 << 40).unwrap();
    assert_eq!(root.open("file", (1 << 40) - 1).unwrap_err().kind(), io::ErrorKind::FileTooLarge);
    assert_eq!(root.bytes_of("file").unwrap(), Some(1 << 40));
    std::fs::write(share.join("file"), "text").unwrap();
    // A file that grows after it was opened is read up to the size that it had.
    let mut open = root.open("file", 4).unwrap();
    std::fs::write(share.join("file"), "text and more").unwrap();
    let mut read = String::new();
    open.read_to_string(&mut read).unwrap();
    assert_eq!(read, "text");
}

#[test]
fn a_folder_is_removed_with_what_is_in_it_and_nothing_beside_it() {
    let (dir, share, root) = share();
    let ticks = root.make_folder("backup").unwrap().make_folder("ticks").unwrap();
    drop(ticks.create("tick").unwrap());
    symlink(dir.path(), share.join("backup/away")).unwrap();
    root.remove_folder("backup").unwrap();
    assert_eq!(root.names().unwrap(), Vec::<String>::new());
    std::fs::create_dir_all(share.join("deep/a/b/c")).unwrap();
    assert!(root.remove_folder("deep").is_err() && dir.path().join("own").exists());
    root.remove_folder("missing").unwrap();
}
