//! `Idempotency-Key`: which request it is, by its caller, operation and key. What came of the request is kept by
//! `app::once`.

use super::session;
use crate::http::call::{Call, IdempotentRequest, PrincipalId};
use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::keys::Purpose;
use crate::site::Site;
use http::Method;
use std::cell::Cell;

const HEADER: &str = "idempotency-key";
const KEY_CHARS_MAX: usize = 255;

/// Names the request of a `POST` with a key, for [`Call::idempotency`]. 422 for a malformed key.
pub(super) fn identify(site: &Site, call: &Call, caller: PrincipalId) -> Result<(), Failure> {
    if call.method != Method::POST || !call.headers.contains_key(HEADER) {
        return Ok(());
    }
    let sound = |key: &&str| key.len() <= KEY_CHARS_MAX && key.bytes().all(|b| b.is_ascii_graphic() || b == b' ');
    let key = call.header(HEADER).filter(sound);
    let key = key.ok_or_else(|| {
        Failure::field("Idempotency-Key", Text::new("field.idempotency_key").with("max", KEY_CHARS_MAX))
    })?;
    // An open operation may still answer by the credential that a call carries, so the credential is part of the key.
    let carried = if caller == PrincipalId::Anyone { session::token(call).unwrap_or("") } else { "" };
    let whose = format!("{} {carried}", caller.text());
    // The path's parameters are part of the request, so the same key for another entry is another key.
    let mut parts = vec![call.row.path.as_bytes(), whose.as_bytes(), key.as_bytes()];
    parts.extend(call.params.iter().map(String::as_bytes));
    call.idempotency.get_or_init(|| IdempotentRequest {
        replay_key: site.keys.hash(Purpose::Replay, &parts),
        body_digest: site.keys.hash(Purpose::Replay, &[&call.body]),
        kept_as: Cell::new(None),
        token_hash: Cell::new(None),
        booking_id: Cell::new(None),
        shown_of: Cell::new(None),
    });
    Ok(())
}
