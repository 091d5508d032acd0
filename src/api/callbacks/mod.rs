//! Callbacks of third parties. Each event is stored as received, with its verdict, and applied once: the effect and the row
//! are written in one transaction.

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
