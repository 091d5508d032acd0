//! One binary for all tests over HTTP. The folders mirror `src/api`; the tests at the top hold for every operation,
//! because they are generated from the table.

#![allow(unreachable_pub, clippy::too_many_lines, reason = "nothing imports from here; tables of cases are long")]

mod at_once;
mod audit;
mod auth;
mod bad_input;
mod callbacks;
mod compatibility;
mod compression;
mod cors;
mod credentials;
mod crowds;
#[path = "../deadline/mod.rs"]
mod deadline;
mod description;
mod desk;
mod erasure;
mod events;
mod everywhere;
mod exposure;
mod from_home;
mod harness;
mod idempotency;
mod imports;
mod layers;
mod licences;
mod limits;
mod lists;
mod logbook;
mod malformed;
mod member;
mod names;
mod notifications;
mod outbox;
mod partner;
mod paths;
mod profile;
mod public;
mod public_client;
mod refusals;
mod same_effect;
mod spreadsheets;
mod sync;
mod table;
mod verify;
mod waiver;
mod world;
