//! The addresses, sign-ins and secrets of a demo site: on the terminal, and in `demo.json` for programs.

use crate::site::Site;
use std::net::SocketAddr;
use std::path::Path;

pub struct Facts;

impl Facts {
    pub fn gather(_site: &Site) -> Result<Facts, String> {
        Ok(Facts)
    }

    pub fn publish(&self, _data: &Path, url: &str, _addresses: &[SocketAddr]) -> Result<String, String> {
        Ok(url.to_owned())
    }
}
