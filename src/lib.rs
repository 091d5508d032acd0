//! tunneldesk: the on-site server of an indoor flight tunnel, as one binary over one SQLite file.
//!
//! # The path of a request
//!
//! One direction, each layer once:
//!
//! ```text
//! server (socket, limits) → routes (the table) → auth (the principal) → api or web (the operation)
//!   → app (the effect) → domain (the rule) → store (the row) → http::reply
//! ```
//!
//! [`server`] is the only async code. It reads a request whole, finds its row in [`routes::TABLE`], and hands a
//! [`http::call::Call`] to a pool of threads. There [`auth::admit`] turns credentials into a principal, whose type the
//! operation in [`api`] or [`web`] requires: a row whose credentials do not fit its operation does not compile. The
//! operation parses its [`http::fields`], applies the rules in [`domain`], opens one transaction of the [`store`] and
//! returns a [`http::reply::Reply`], or a [`http::failure::Failure`] that becomes the error envelope or an error page.
//!
//! # The database
//!
//! One SQLite file in the data directory, which one process locks. Reads share a few connections, and each request sees one
//! snapshot. Writes queue for one connection; each is a savepoint, and the last in the queue flushes the disk for all of
//! them, so that a write is durable when it is acknowledged, at thousands of writes a second. The schema is in `sql/`, and
//! all SQL statements are in [`store`].
//!
//! # The rooms
//!
//! | room | what it does |
//! |---|---|
//! | [`cli`] | the commands of the technician; while a server runs, it executes them, because only one process may open the database |
//! | [`server`] | listener, TLS handshake, connection, matcher, thread pool, metrics |
//! | [`routes`] | the table of operations and pages |
//! | [`api`] | the operations of the contract, and our own |
//! | [`web`] | the pages of the desk and the kiosk, and those that mails link to; templates in `assets/templates/` are compiled in |
//! | [`jobs`] | background jobs: the outbox, the sync, reminders, scrubbing, the standby, purging expired rows |
//! | [`app`] | the effects of the product: one function each, with its rule, audit row and notice |
//! | [`demo`] | a site full of invented people |
//! | [`auth`] | credentials in, principals out; origin of forms, rate limits |
//! | [`ops`] | backups, replication, the standby, health, TLS certificates, the service manager, shutdown |
//! | [`site`] | the state that every operation may use |
//! | [`http`] | the types that an operation receives and returns |
//! | [`documents`] | certificates, printed logbooks, the map of progression, pictures |
//! | [`store`] | the database: `engine` opens, writes and repairs it, `tables` has the statements of each table, `queries` those over several |
//! | [`domain`] | rules without clock, file, JSON or SQL |
//! | [`i18n`] | languages, and dates in words |
//! | [`config`], [`clock`], [`keys`], [`files`], [`bounded`], [`log`], [`stats`] | settings, the time of day, the site key, opening of files, exchanges with limits, the log, counters |
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
//! | off-site target | the directory or bucket that the settings name for copies of backups |
//! | off-site copy | the copies of backups there, and the ticks behind the newest |
//! | base, tick, chain | a backup that ticks continue; one file with the pages that a second's commits changed; a base with its ticks |
//! | epoch | a number that each promotion of a standby raises, so that the replaced machine stops writing |
//! | drill | a backup that is restored into a directory of its own and checked, to prove that it can be |
//! | tombstone | the number of an erased member, kept so that a restored backup forgets the member too |
//! | data set | the rows of one table that are a member's, with their erasure policy |
//! | call | a request whose head and body were read, for an operation |
//! | row | an operation's line in the table of routes, with the properties of its requests and answers |
//! | principal | an authenticated caller: a member, a clerk, a kiosk and its guest, a partner, a third party |
//! | clerk | a member of the staff who is signed in at the desk |
//! | guest | the member who is signed in at a kiosk |
//! | actor, subject | who makes a change and from where, and the account or thing that the change is about |
//! | change | one effect under way: the transaction, its moment, the actor and the reader's language |
//! | outcome | the result of an effect, before an edge renders it |
//! | failure | a refusal with its public text and its hidden cause |
//! | audit row | an action with its actor and its subject; each row carries a hash of the one before |
//! | counters | failed attempts by account, device and network; they decide how long a sign-in is delayed |
//! | device | a client at which a member signed in before, recognised by its token |
//! | sign-in challenge | the token of a sign-in whose first factor was passed, until the second factor is |
//! | rate limit | how many requests of one kind a caller may send in a time |
//! | message quota | how many messages requests may cause: to a member, to an address, and in all |
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
mod bounded;
pub mod cli;
pub mod clock;
pub mod config;
pub mod demo;
mod documents;
pub mod domain;
mod files;
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
