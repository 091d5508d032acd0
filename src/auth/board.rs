//! A board: a paired screen in the hall that shows who flies next. Its key opens that page and nothing else.

use super::cookie::Cookie;
use super::session::token_hash;
use crate::domain::ids::KioskId;
use crate::http::call::Call;
use crate::http::failure::Failure;
use crate::http::reply::{self, Reply};
use crate::site::Site;
use crate::store::tables::kiosks::{self, Kind};

/// The key of a board, in its browser until the desk revokes it; browsers keep no cookie for longer.
pub(crate) const KEY: Cookie = Cookie::new("board", Some(400 * 24 * 3600)).below("/board");

/// A browser that was paired as a board.
#[derive(Debug)]
pub struct Board {
    id: KioskId,
}

impl Board {
    pub(crate) fn id(&self) -> KioskId {
        self.id
    }
}

/// The board whose key the browser holds, if it was not revoked.
pub(crate) fn find(site: &Site, call: &Call) -> Result<Option<Board>, Failure> {
    let Some(hash) = KEY.value(site, call).map(token_hash) else { return Ok(None) };
    let found = site.store.read(|tx| Ok(kiosks::find(tx, &hash, Kind::Board)?))?;
    Ok(found.map(|id| Board { id }))
}

/// Redirects a browser that is no board to the page for pairing.
pub(crate) fn to_start() -> Reply {
    reply::see_other("/board")
}
