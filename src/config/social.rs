//! Who may vouch for a member: the social networks' client ids, key files and secret, as typed.

use super::Settings;
use std::path::{Path, PathBuf};

const SECRET_BYTES_MAX: u64 = 4096;

#[derive(Debug, Clone, PartialEq, Default)]
pub struct Social {
    pub google: Option<TokenIssuer>,
    pub apple: Option<TokenIssuer>,
    pub facebook: Option<AppSecret>,
}

/// A network whose ID tokens count.
#[derive(Debug, Clone, PartialEq)]
pub struct TokenIssuer {
    /// Tokens for other apps than these do not count.
    pub client_ids: Vec<String>,
    /// The network's public keys as a JWK set. Somebody refreshes it, so it is read anew for each sign-in.
    pub keys_file: PathBuf,
}

/// Never shown, also not by accident.
#[derive(Clone, PartialEq)]
pub struct AppSecret(String);

impl AppSecret {
    pub fn new(secret: &str) -> AppSecret {
        AppSecret(secret.to_owned())
    }

    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

impl std::fmt::Debug for AppSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("(secret)")
    }
}

impl Settings {
    pub(super) fn social(&mut self) -> Social {
        Social { google: self.token_issuer("google"), apple: self.token_issuer("apple"), facebook: self.app_secret() }
    }

    /// `None` where nothing is said; one half alone is a mistake.
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

    fn app_secret(&mut self) -> Option<AppSecret> {
        let typed = self.text("social.facebook.app_secret", |s| Ok(s.to_owned())).unwrap_or_default();
        let file_key = "social.facebook.app_secret_file";
        let file = self.text(file_key, |s| Ok(PathBuf::from(s))).unwrap_or_default();
        match (typed.is_empty(), file.as_os_str().is_empty()) {
            (true, true) => None,
            (false, true) => Some(AppSecret(typed)),
            (false, false) => {
                self.mistake(file_key, "and app_secret cannot both be given");
                None
            }
            (true, false) => match read_secret(&file) {
                Ok(secret) => Some(AppSecret(secret)),
                Err(what) => {
                    self.mistake(file_key, what);
                    None
                }
            },
        }
    }
}

fn client_id(text: &str) -> Result<String, &'static str> {
    let text = text.trim();
    if text.is_empty() { Err("must not be empty") } else { Ok(text.to_owned()) }
}

fn read_secret(path: &Path) -> Result<String, &'static str> {
    use std::io::Read;
    let mut text = String::new();
    let read = std::fs::File::open(path).and_then(|file| file.take(SECRET_BYTES_MAX).read_to_string(&mut text));
    match read {
        Err(_) => Err("cannot be read"),
        Ok(_) if text.trim().is_empty() => Err("is empty"),
        Ok(_) => Ok(text.trim().to_owned()),
    }
}
