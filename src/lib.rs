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
//!
//! # Glossary
//!
//! One word a thing, in every room:
//!
//! | word | meaning |
//! |---|---|
//! | site | one tunnel with its database, settings and keys |
//! | data directory | the directory of the database, its key and its local backups; one process has its lock |
//! | writer | the one connection that changes the database; transactions queue for it |
//! | release | to give back the snapshot that a thread reads from, so that the WAL can be truncated |
//! | emergency reserve | a file of known size that is deleted when the disk is full, so that the site can still write |
//! | backup store | a directory of backups with their manifests: the local one, and the off-site one |
//! | off-site backup | a copy of each backup in the second directory that the settings name |
//! | drill | a backup that is restored beside the site and checked, to prove that it can be |
//! | tombstone | the number of an erased member, kept so that a restored backup forgets the member too |
//! | data set | the rows of one table that are a member's, with their erasure policy |
//! | call | a request after its head and body were read, on its way to an operation |
//! | principal | what credentials were turned into: a member, the staff, a kiosk and its guest, a partner, a third party |
//! | clerk | a member of the staff who is signed in at the desk |
//! | guest | the member who is signed in at a kiosk |
//! | actor, subject | who makes a change, and the account that the change is about |
//! | change | one effect under way: the transaction, its moment, the actor and the reader's language |
//! | outcome | what an effect came to, before an edge renders it |
//! | failure | a refusal with its public text and its hidden cause |
//! | audit row | who did what to whom, from where; each row carries a hash of the one before |
//! | counters | failed attempts by account, device and network; they decide how long a sign-in is delayed |
//! | step | a sign-in whose second factor is due |
//! | passcode | six digits sent to a confirmed address or number |
//! | PIN | the six digits by which a partner books for a member |
//! | programme, level, skill | `Flyer`; `Flyer 3 Static`; one skill that a level requires |
//! | entry | a row of a logbook: flight time, a skill, or a safety record |
//! | sign-off | the signature that opens a skill |
//! | holding | a level that a member holds, derived from signed skills |
//! | currency | whether a programme may be practised now, derived from flights and trainings |
//! | history | what partners did, numbered without gaps; the sync sends it upstream |
//! | outbox | messages that wait for their server; a delivery is one attempt |

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
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILD_REVISION"), ")");
