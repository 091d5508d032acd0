//! tunneldesk: the on-site server of an indoor flight tunnel, as one binary over one SQLite file.
//!
//! # The way of a request
//!
//! One direction, each station once, on one thread from the gate on:
//!
//! ```text
//! server (socket, limits) → routes (the table, the matcher) → gate (who is this?) → api (the operation)
//!   → domain (the rule) → store (the row) → reply
//! ```
//!
//! [`server`] is the only async code. It reads a request whole, finds its row in [`routes::TABLE`], and hands a
//! [`call::Call`] to a fixed pool of threads; the briefest reads run where they arrived. There [`gate::admit`] turns
//! credentials into a principal, whose type is what the operation in [`api`] demands: a row that promises less than its
//! operation needs does not compile. The operation parses its [`fields`], asks the rules in [`domain`], opens one
//! transaction of the [`store`] and returns a [`reply::Reply`], or a [`failure::Failure`] that becomes the refusal
//! envelope at the edge.
//!
//! # The file
//!
//! One SQLite file in one directory, held by one process. Reads share a few connections, and each request sees one
//! snapshot. Writes queue for one connection; each is a savepoint, and the last in line flushes the disk for all of
//! them, so that a write is durable when it is acknowledged and thousands a second still are. The shape of the file is in
//! `sql/`, its questions in [`store`], and nowhere else.
//!
//! # The pages
//!
//! [`desk`] is what browsers see, at the same station as [`api`] and over the same rules: rows of
//! [`routes::PAGES`], whose principal comes from a cookie, and whose forms are taken from our own pages alone.
//! Templates in `assets/templates/` are compiled in.
//!
//! # The rest
//!
//! [`cli`] is what the technician types; while a server runs, commands are carried out by it through a local socket,
//! because nobody else may open its file. [`certificate`] sets the sheet of paper that a member frames, [`printout`] the
//! logbook on paper, [`gzip`] compresses what is large, [`progression`] draws the way through the catalogue; [`picture`] makes the pictures of strangers
//! harmless, [`notice`] puts what happened to a member into words, [`exchange`] takes lists of members, entries and bookings
//! in and writes them out. [`service`] is what the service manager says and hears. [`tls`] is the hall's own authority. [`jobs`] is what
//! runs by itself. [`demo`] fills a site with people.

pub mod api;
pub mod call;
pub mod certificate;
pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
pub mod desk;
pub mod domain;
pub mod exchange;
pub mod failure;
pub mod fields;
pub mod gate;
pub mod gzip;
pub mod jobs;
pub mod keys;
pub mod language;
pub mod log;
pub mod markup;
pub mod notice;
pub mod picture;
pub mod printout;
pub mod progression;
pub mod reply;
pub mod routes;
pub mod server;
pub mod service;
pub mod site;
pub mod stats;
pub mod store;
pub mod tls;
pub mod when;

/// With the revision that it was built from.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILD_REVISION"), ")");
