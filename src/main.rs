//! Parse, run, exit code.

use rustix::fs::Mode;
use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use std::process::ExitCode;

fn main() -> ExitCode {
    configure_libc();
    tunneldesk::store::configure_sqlite();
    tunneldesk::cli::main(std::env::args_os())
}

/// Sets the mask of new files, turns off dumps of memory, which holds keys and what they seal, and sets two things in glibc. Memory: blocks of 1 MB and more (a password hash takes 19 MB) go back to
/// the system when they are freed, which malloc by itself would stop doing; smaller blocks stay, because getting pages again
/// takes a third of the time of a document. Name service: a static glibc crashes where `nsswitch.conf` names a module that it
/// would have to load, so only the built-in ones are used.
fn configure_libc() {
    // New files (database, key, demo secrets) are readable by their owner alone; no dump is written, and no other process of
    // the user may read the memory.
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
    _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
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
