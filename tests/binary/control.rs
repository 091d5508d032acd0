//! How commands reach a running server, and how an impostor at either end is refused.

use crate::harness::{Desk, Ran, Server, text};
use sha2::{Digest, Sha256};
use std::fs::Permissions;
use std::io::{ErrorKind, Read, Write};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use tunneldesk::keys::hex;
use tunneldesk::store::data_dir::DataDir;

const NOBODY: u32 = 65_534;

fn socket(desk: &Desk) -> PathBuf {
    desk.data().join("control.sock")
}

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

/// Runs `work` as another user, who may enter the directory of the desk. `None`: the tests do not run as root, which
/// this needs.
fn as_nobody<T: Send>(desk: &Desk, work: impl FnOnce() -> T + Send) -> Option<T> {
    if desk.path().metadata().unwrap().uid() != 0 {
        println!("SKIPPED: only root acts as somebody else");
        return None;
    }
    set_mode(desk.path(), 0o755);
    set_mode(&desk.data(), 0o777);
    let become_nobody = || {
        // SAFETY: the arguments are plain numbers. The raw system call changes the user of this thread alone, which
        // ends after `work`.
        assert_eq!(unsafe { libc::syscall(libc::SYS_setresuid, NOBODY, NOBODY, NOBODY) }, 0);
        work()
    };
    Some(std::thread::scope(|scope| scope.spawn(become_nobody).join().unwrap()))
}

#[test]
fn a_process_that_listens_at_the_socket_name_of_earlier_versions_gets_no_command() {
    let desk = Desk::with_site();
    let digest = Sha256::digest(desk.data().canonicalize().unwrap().as_os_str().as_bytes());
    let name = format!("tunneldesk-{}", hex(&digest[..16]));
    let thief = UnixListener::bind_addr(&SocketAddr::from_abstract_name(name).unwrap()).unwrap();
    thief.set_nonblocking(true).unwrap();
    let server = desk.serve();
    desk.add_member("jane", "member");
    assert!(desk.run(&["member", "list"]).done().contains("jane"));
    assert_eq!(thief.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "a command came to somebody else");
    let found = socket(&desk).metadata().unwrap();
    assert!(found.file_type().is_socket() && found.permissions().mode() & 0o777 == 0o600, "{found:?}");
    assert_eq!(server.stop().code, Some(0));
    assert!(!socket(&desk).exists(), "a server that ended left its socket");
}

#[test]
fn the_socket_of_a_killed_server_blocks_neither_commands_nor_the_next_server() {
    let desk = Desk::with_site();
    let server = desk.serve();
    server.kill();
    server.ended();
    assert!(socket(&desk).exists());
    let backup = desk.json(&["backup"]);
    assert!(!Path::new(text(&backup["dir"])).join("control.sock").exists());
    assert!(!desk.run(&["doctor"]).out.contains("control.sock"));
    let server = desk.serve();
    desk.add_member("jane", "member");
    assert_eq!(server.stop().code, Some(0));
    assert!(desk.run(&["member", "list"]).done().contains("jane") && !socket(&desk).exists());
}

#[test]
fn a_data_directory_may_have_a_path_longer_than_a_socket_address() {
    let desk = Desk::empty();
    let long = desk.path().join("d".repeat(120)).join("e".repeat(120));
    let at = |args: &[&str]| {
        let mut command = desk.command(&["--data", long.to_str().unwrap()]);
        command.args(args);
        command
    };
    Ran::from(at(&["init", "--name", "Windwerk", "--country", "CH"]).output().unwrap()).done();
    let server = Server::start(at(&["serve"]));
    assert!(Ran::from(at(&["callbacks", "list"]).output().unwrap()).done().contains("0 events kept"));
    assert!(long.join("control.sock").metadata().unwrap().file_type().is_socket());
    assert_eq!(server.stop().code, Some(0));
    assert!(!long.join("control.sock").exists());
}

#[test]
fn a_command_sends_nothing_to_another_user_who_listens_in_place_of_the_server() {
    let desk = Desk::with_site();
    let _held = DataDir::lock(&desk.data()).unwrap();
    let Some(stranger) = as_nobody(&desk, || UnixListener::bind(socket(&desk)).unwrap()) else { return };
    stranger.set_nonblocking(true).unwrap();
    let command = ["member", "reset-password", "jane", "--password-stdin"];
    let said = desk.run_with_input(&command, "violet-anvil-harbour-93").trouble(2);
    assert!(said.contains("another user listens at") && said.contains("control.sock"), "{said}");
    assert_eq!(stranger.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "the file was the stranger's");
    // The socket file may be given to another owner; the identity of the listening process stays.
    chown(socket(&desk), Some(0), Some(0)).unwrap();
    let said = desk.run_with_input(&command, "violet-anvil-harbour-93").trouble(2);
    assert!(said.contains("another user listens at"), "{said}");
    let mut heard = Vec::new();
    stranger.accept().unwrap().0.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, b"", "a stranger was told a command");
    let doctor = desk.run(&["doctor"]);
    assert!(doctor.code == Some(2) && doctor.out.contains("another user listens at"), "{}", doctor.out);
}

#[test]
fn a_server_takes_no_command_from_another_user() {
    let desk = Desk::with_site();
    let server = desk.serve();
    set_mode(&socket(&desk), 0o666);
    let answered = as_nobody(&desk, || {
        let mut stream = UnixStream::connect(socket(&desk)).unwrap();
        // The server may have closed the connection already.
        _ = stream
            .write_all(b"{\"args\":[\"tunneldesk\",\"session\",\"issue\",\"--role\",\"sync\"],\"secret\":null}\n");
        let mut answer = String::new();
        _ = stream.read_to_string(&mut answer);
        answer
    });
    assert_eq!(answered.unwrap_or_default(), "");
    assert_eq!(server.stop().code, Some(0));
}
