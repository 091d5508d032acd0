//! The settings of sign-in by social networks: client ids, key files and secret.

use super::{Secret, Settings};
use std::path::PathBuf;

/// The networks by which members sign in; one that is `None` is refused.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Social {
    /// The settings of Google.
    pub google: Option<TokenIssuer>,
    /// The settings of Apple.
    pub apple: Option<TokenIssuer>,
    /// The app secret of Facebook.
    pub facebook: Option<Secret>,
}

/// A network whose ID tokens count.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenIssuer {
    /// The client ids of the apps whose tokens count.
    pub client_ids: Vec<String>,
    /// The file of the network's public keys, a JWK set. The file may be replaced, so it is read again for each sign-in.
    pub keys_file: PathBuf,
}

impl Settings {
    pub(super) fn social(&mut self) -> Social {
        let facebook = self.secret("social.facebook.app_secret", "social.facebook.app_secret_file");
        Social { google: self.token_issuer("google"), apple: self.token_issuer("apple"), facebook }
    }

    /// The settings of a network; `None` where both are empty. One without the other is a mistake.
    fn token_issuer(&mut self, name: &str) -> Option<TokenIssuer> {
        let (ids_key, file_key) = (format!("social.{name}.client_ids"), format!("social.{name}.keys_file"));
        let client_ids = self.list(&ids_key, client_id);
        let keys_file = self.text(&file_key, |s| Ok(PathBuf::from(s))).unwrap_or_default();
        match (client_ids.is_empty(), keys_file.as_os_str().is_empty()) {
            (false, false) => return Some(TokenIssuer { client_ids, keys_file }),
            (true, true) => {}
            (true, false) => self.mistake(&ids_key, "must name the client ids whose keys_file is given"),
            (false, true) => self.mistake(&file_key, "must name the file with the keys for the client_ids"),
        }
        None
    }
}

fn client_id(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    if text.is_empty() { Err("must not be empty") } else { Ok(text.to_owned()) }
}
