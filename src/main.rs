//! Parse, run, exit code.

use std::process::ExitCode;

fn main() -> ExitCode {
    settle_libc();
    tunneldesk::store::configure_sqlite();
    tunneldesk::cli::main(std::env::args_os())
}

/// A static glibc crashes where `nsswitch.conf` names a module that it would have to load; this asks for the built-in
/// ones alone. And hashes of passwords (19 MB each) go back to the system as soon as they are done: left to itself,
/// malloc learns to keep such blocks. What is smaller stays for the next document: a page that goes back to the system and
/// comes again costs a third of the time that a document takes.
fn settle_libc() {
    // SAFETY: sets this process's mask; what we make (database, key, demo secrets) is for its owner alone.
    unsafe { libc::umask(0o077) };
    #[cfg(target_env = "gnu")]
    {
        const KEPT_BYTES_MAX: i32 = 1024 * 1024;
        const ARENAS_MAX: i32 = 2;
        // SAFETY: called first thing, while no other thread runs.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, KEPT_BYTES_MAX);
            libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES_MAX);
            libc::mallopt(libc::M_ARENA_MAX, ARENAS_MAX);
        }
    }
    #[cfg(all(target_env = "gnu", target_feature = "crt-static"))]
    {
        unsafe extern "C" {
            fn __nss_configure_lookup(database: *const libc::c_char, services: *const libc::c_char) -> libc::c_int;
        }
        // SAFETY: both strings end in a zero byte and live for ever; called first thing, while no other thread runs.
        unsafe {
            __nss_configure_lookup(c"hosts".as_ptr(), c"files dns".as_ptr());
            for database in [c"passwd", c"group", c"services", c"protocols", c"networks"] {
                __nss_configure_lookup(database.as_ptr(), c"files".as_ptr());
            }
        }
    }
}
