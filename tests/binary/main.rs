//! What only the real executable can show: its commands, its processes, its sockets, its end by any signal.
//!
//! Each test runs it in a directory of its own and knows nothing of its insides but the file it leaves.

mod backups;
mod callbacks;
mod cli;
mod ending;
mod figures;
mod harness;
mod kills;
mod limits;
mod log;
mod outbox;
mod story;
mod tls;
mod upgrade;
