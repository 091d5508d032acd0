//! The logbook group.

mod time;
