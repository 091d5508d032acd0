//! The recipient of encrypted backups: a public key of age, as the settings name it.

use age::x25519;

/// The recipient of encrypted copies.
#[derive(Debug, Clone, PartialEq)]
pub struct Recipient(pub(crate) x25519::Recipient);

impl Recipient {
    pub(crate) fn parse(text: &str) -> Result<Recipient, &'static str> {
        let secret = text.to_ascii_uppercase().starts_with("AGE-SECRET-KEY-");
        if secret {
            return Err("is the secret key: only the public one, which begins with age1, belongs here");
        }
        text.parse().map(Recipient).map_err(
            |_| "is not a public key of age, like age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p",
        )
    }
}
