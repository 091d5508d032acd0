//! tunneldesk: the on-site server of an indoor flight tunnel, as one binary over one SQLite file.
#![doc = include_str!("README.md")]

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
pub mod moment;
pub mod ops;
pub mod routes;
pub mod server;
pub mod site;
mod stats;
pub mod store;
mod web;

/// With the revision that it was built from.
pub(crate) const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("BUILD_REVISION"), ")");
