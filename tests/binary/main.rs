//! Tests of the real executable: its commands, its processes, its sockets, its end by any signal.
//!
//! Each test runs the executable in a directory of its own and looks at nothing inside it but the database file.

#![allow(unreachable_pub, clippy::too_many_lines, reason = "nothing imports from here; tables of cases are long")]

mod audit;
mod backups;
mod books;
mod callbacks;
mod cli;
mod control;
#[path = "../deadline/mod.rs"]
mod deadline;
mod doctor;
mod faults;
mod forms;
mod harness;
mod kills;
mod limits;
mod log;
mod long_lists;
mod metrics;
mod off_site;
mod outbox;
mod people;
mod shutdown;
mod standby;
mod storm;
mod story;
mod sync;
mod tls;
mod upgrade;
mod waits;
