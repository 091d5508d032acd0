//! A command typed by root runs as the owner of the data directory, so that it leaves no file there that the service cannot
//! open. The process keeps the rights to read any file and to use a port below 1024.

use super::{CommandError, failed};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A capability of `linux/capability.h`.
const CAP_DAC_READ_SEARCH: u32 = 2;
const CAP_NET_BIND_SERVICE: u32 = 10;
const KEPT: u32 = 1 << CAP_DAC_READ_SEARCH | 1 << CAP_NET_BIND_SERVICE;
const CAPABILITY_VERSION_3: u32 = 0x2008_0522;

#[repr(C)]
struct Header {
    version: u32,
    pid: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct Half {
    effective: u32,
    permitted: u32,
    inheritable: u32,
}

/// The way back to root for a process that runs as the owner: the output file of a command is created where root may write,
/// and belongs to root.
#[derive(Default)]
pub(crate) struct RootAccess(Option<(libc::uid_t, libc::gid_t)>);

impl RootAccess {
    pub(crate) fn as_root<T>(&self, work: impl FnOnce() -> T) -> T {
        let Some((uid, gid)) = self.0 else { return work() };
        // SAFETY: plain numbers in, no memory touched. If one fails, `work` is done with fewer rights.
        unsafe { (libc::seteuid(0), libc::setegid(0)) };
        let done = work();
        // SAFETY: plain numbers in; this process had both before.
        unsafe { (libc::setegid(gid), libc::seteuid(uid)) };
        keep_capabilities(true);
        done
    }
}

/// Changes the user from root to the owner of this directory; does nothing for other users. Called while no other thread runs.
pub(super) fn become_owner(dir: &Path) -> Result<(), CommandError> {
    leave_root(dir, false).map(drop)
}

/// Like [`become_owner`], with a way back.
pub(super) fn become_owner_reversibly(dir: &Path) -> Result<RootAccess, CommandError> {
    leave_root(dir, true)
}

fn leave_root(dir: &Path, may_return: bool) -> Result<RootAccess, CommandError> {
    let we_are_root = rustix::process::geteuid().is_root();
    let Ok(found) = std::fs::metadata(dir) else { return Ok(RootAccess(None)) };
    if !we_are_root || found.uid() == 0 {
        return Ok(RootAccess(None));
    }
    let failed = |e| failed(format!("cannot act as the owner of {}: {e}", dir.display()));
    give_up_root(found.uid(), found.gid(), may_return).map_err(failed)?;
    Ok(RootAccess(Some((found.uid(), found.gid()))))
}

fn give_up_root(uid: libc::uid_t, gid: libc::gid_t, may_return: bool) -> std::io::Result<()> {
    let done = |code| if code == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) };
    let (saved_uid, saved_gid) = if may_return { (0, 0) } else { (uid, gid) };
    // SAFETY: plain numbers in, no memory touched.
    unsafe {
        done(libc::prctl(libc::PR_SET_KEEPCAPS, 1, 0, 0, 0))?;
        done(libc::setgroups(0, std::ptr::null()))?;
        done(libc::setresgid(gid, gid, saved_gid))?;
        done(libc::setresuid(uid, uid, saved_uid))?;
    }
    keep_capabilities(may_return);
    Ok(())
}

/// Keeps [`KEPT`] of the capabilities that the process has.
fn keep_capabilities(may_return: bool) {
    let header = Header { version: CAPABILITY_VERSION_3, pid: 0 };
    let none = Half { effective: 0, permitted: 0, inheritable: 0 };
    let mut halves = [none; 2];
    // SAFETY: the kernel reads and writes structs of its own shape, which outlive the calls.
    unsafe {
        if libc::syscall(libc::SYS_capget, &raw const header, halves.as_mut_ptr()) == 0 {
            let kept = halves[0].permitted & KEPT;
            let rest = if may_return { halves.map(|half| half.permitted) } else { [kept, 0] };
            halves = [Half { effective: kept, permitted: rest[0], ..none }, Half { permitted: rest[1], ..none }];
            libc::syscall(libc::SYS_capset, &raw const header, halves.as_ptr());
        }
    }
}
