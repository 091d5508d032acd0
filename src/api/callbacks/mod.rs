//! Callbacks of third parties. Each event is stored as it came, with its verdict, and counts once: the effect of the
//! event and the row that remembers it are one transaction.

mod claim;
pub(crate) mod deletion;
pub(crate) mod mail;
mod mail_event;
pub(crate) mod payment;
pub(crate) mod payment_event;

use crate::keys::hex;
use sha2::{Digest, Sha256};

/// The identifier of an event that has none of its own.
fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    format!("sha256:{}", hex(&hash.finalize()))
}
