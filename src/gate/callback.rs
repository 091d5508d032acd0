//! Third parties that call back: a sender is known by the signature of its own scheme.

use crate::call::Call;
use crate::failure::Failure;
use crate::site::Site;

/// Whose signature scheme an operation expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provider {
    /// The social login provider.
    Social,
    /// The mail delivery provider.
    Mail,
    /// The payment processor.
    Payment,
}

/// A third party whose signature was right.
pub struct Sender(());

/// No provider has a key yet, so nobody is a sender.
pub(super) fn admit(_site: &Site, call: &Call, _provider: Provider) -> Result<Sender, Failure> {
    if call.route.built { Err(Failure::not_configured()) } else { Err(Failure::not_built()) }
}
