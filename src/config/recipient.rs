//! The recipient of encrypted backups: a public key of age, as the settings name it.

#[cfg(feature = "encrypted-backups")]
use age::x25519;

/// The error for an option that needs encryption, in a build without it.
#[cfg(not(feature = "encrypted-backups"))]
pub(crate) const LACKING: &str =
    "needs a build with the cargo feature `encrypted-backups`, which this tunneldesk was built without";

/// The recipient of encrypted copies.
#[cfg(feature = "encrypted-backups")]
#[derive(Debug, Clone, PartialEq)]
pub struct Recipient(pub(crate) x25519::Recipient);

/// The recipient of encrypted copies, which this build does not have.
#[cfg(not(feature = "encrypted-backups"))]
#[derive(Debug, Clone, PartialEq)]
pub enum Recipient {}

impl Recipient {
    #[cfg(feature = "encrypted-backups")]
    pub(crate) fn parse(text: &str) -> Result<Recipient, &'static str> {
        let secret = text.to_ascii_uppercase().starts_with("AGE-SECRET-KEY-");
        if secret {
            return Err("is the secret key: only the public one, which begins with age1, belongs here");
        }
        text.parse().map(Recipient).map_err(
            |_| "is not a public key of age, like age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
        )
    }

    #[cfg(not(feature = "encrypted-backups"))]
    pub(crate) fn parse(_: &str) -> Result<Recipient, &'static str> {
        Err(LACKING)
    }
}
