//! What the site is called on its network, and where its metrics are read.

use super::replica::what_is_wrong;
use super::values::host_name;
use super::{Secret, Settings};
use std::net::SocketAddr;

impl Settings {
    pub(super) fn local_name(&mut self) -> Option<String> {
        self.text("local_name", local_name).flatten()
    }

    /// The names, and the local one behind them.
    pub(super) fn names(&mut self) -> Vec<String> {
        let mut names = self.list("names", host_name);
        // A mistake in it was named when it was read.
        let local = self.typed["local_name"].value.as_str().and_then(|text| local_name(text.trim()).ok()).flatten();
        names.extend(local.filter(|name| !names.contains(name)).into_iter().collect::<Vec<_>>());
        names
    }

    pub(super) fn metrics_listen(&mut self) -> Option<SocketAddr> {
        self.text("metrics_listen", socket).flatten()
    }

    /// The token of `/metrics`, without which nobody but this machine may read it.
    pub(super) fn metrics_token(&mut self) -> Option<Secret> {
        let token = self.secret("metrics_token", "metrics_token_file");
        if let Some(what) = token.as_ref().and_then(|token| what_is_wrong(token.reveal())) {
            self.mistake("metrics_token", what);
        }
        // A mistake in it was named when it was read.
        let address = self.typed["metrics_listen"].value.as_str().and_then(|text| socket(text.trim()).ok()).flatten();
        if token.is_none() && address.is_some_and(|address| !address.ip().is_loopback()) {
            self.mistake("metrics_listen", "must be a loopback address, unless there is a metrics_token");
        }
        token
    }
}

/// An address to listen on, or none.
fn socket(text: &str) -> Result<Option<SocketAddr>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| "is not ADDRESS:PORT, for instance 127.0.0.1:9464")
}

/// A name of multicast DNS, or none.
fn local_name(text: &str) -> Result<Option<String>, &'static str> {
    if text.is_empty() {
        return Ok(None);
    }
    let name = host_name(text)?;
    match name.strip_suffix(".local").is_some_and(|label| !label.contains('.')) {
        true => Ok(Some(name)),
        false => Err("must be one word before .local, like tunneldesk.local"),
    }
}
