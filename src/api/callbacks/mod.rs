//! What third parties call back with. Each event is kept as it came, with its verdict, and counts once: what it does and
//! that it was here are one transaction.

mod claim;
pub(crate) mod deletion;
pub(crate) mod mail;
mod mail_event;
pub(crate) mod payment;
pub(crate) mod payment_event;

use crate::keys::hex;
use sha2::{Digest, Sha256};

/// What stands for an event that has no name of its own.
fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    }
    format!("sha256:{}", hex(&hash.finalize()))
}
