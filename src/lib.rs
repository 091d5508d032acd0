//! tunneldesk: the on-site server of an indoor flight tunnel, as one binary over one SQLite file.
//!
//! # The way of a request
//!
//! One direction, each station once, on one thread from the gate on:
//!
//! ```text
//! server (socket, limits) → routes (the table) → auth (who is this?) → api or web (the operation)
//!   → app (the effect) → domain (the rule) → store (the row) → http::reply
//! ```
//!
//! [`server`] is the only async code. It reads a request whole, finds its row in [`routes::TABLE`], and hands a
//! [`http::call::Call`] to a fixed pool of threads; the briefest reads run where they arrived. There [`auth::admit`] turns
//! credentials into a principal, whose type is what the operation in [`api`] or [`web`] demands: a row that promises less
//! than its operation needs does not compile. The operation parses its [`http::fields`], asks the rules in [`domain`], opens
//! one transaction of the [`store`] and returns a [`http::reply::Reply`], or a [`http::failure::Failure`] that becomes the
//! refusal envelope at the edge.
//!
//! # The file
//!
//! One SQLite file in one directory, held by one process. Reads share a few connections, and each request sees one
//! snapshot. Writes queue for one connection; each is a savepoint, and the last in line flushes the disk for all of
//! them, so that a write is durable when it is acknowledged and thousands a second still are. The shape of the file is in
//! `sql/`, its questions in [`store`], and nowhere else.
//!
//! # The rooms
//!
//! | room | what it does |
//! |---|---|
//! | [`cli`] | what the technician types; while a server runs, it carries the commands out, because nobody else may open its file |
//! | [`server`] | listener, TLS handshake, connection, matcher, thread pool, metrics |
//! | [`routes`] | the table of operations and pages |
//! | [`api`] | the operations of the contract and of ours |
//! | [`web`] | the pages of the desk and the kiosk, and those that mails lead to; templates in `assets/templates/` are compiled in |
//! | [`jobs`] | what runs by itself: sending messages, the sync upstream, reminders, removing what has expired |
//! | [`app`] | what the product does: one function an effect, with its rule, audit row and notice |
//! | [`demo`] | a site full of invented people |
//! | [`auth`] | credentials in, principals out; origin of forms, rate limits, idempotency |
//! | [`ops`] | backups, health, TLS certificates, the service manager, the end of the process |
//! | [`site`] | what every operation may touch |
//! | [`http`] | what an operation receives and returns |
//! | [`documents`] | certificates, printed logbooks, the map of progression, pictures |
//! | [`store`] | the file: `engine` opens, writes and mends it, `tables` has the statements of each table, `queries` those over several |
//! | [`domain`] | rules without clock, file, JSON or SQL |
//! | [`i18n`] | languages, and dates in words |
//! | [`config`], [`clock`], [`keys`], [`log`], [`stats`] | settings, the time of day, the site key, the log, counters |

pub mod api;
mod app;
pub mod auth;
pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
mod documents;
pub mod domain;
pub mod http;
pub mod i18n;
pub mod jobs;
pub mod keys;
mod log;
pub mod ops;
pub mod routes;
pub mod server;
pub mod site;
mod stats;
pub mod store;
mod web;

/// With the revision that it was built from.
pub const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILD_REVISION"), ")");
