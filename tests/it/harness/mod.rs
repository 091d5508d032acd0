//! A real server over a real database, a clock that stands still, and callers by role. The harness knows no particular
//! operation.

mod authenticator;
mod browser;
mod caller;
mod chromium;
pub mod description;
mod devtools;
mod endpoint;
mod file;
mod people;
pub mod pictures;
#[cfg(debug_assertions)]
mod plans;
mod reply;
pub mod senders;
mod site;
mod states;
mod wire;

pub use authenticator::{Authenticator, Protected};
pub use browser::Browser;
pub use caller::{Asking, Caller, Credential, Request, sign};
pub use file::Rows;
pub use people::PASSWORD;
pub use reply::{Reply, sheets};
pub use site::{Site, hold};
pub use states::Passcode;
pub use wire::Wire;

/// The first amount in the suite, the second in `tests/deep`, which takes every variant and more sequences.
pub fn amount<T>(suite: T, deep: T) -> T {
    if is_deep() { deep } else { suite }
}

/// Whether `tests/deep` runs, and not the suite.
pub fn is_deep() -> bool {
    std::env::var_os("TUNNELDESK_DEEP").is_some_and(|wanted| !wanted.is_empty())
}
