//! The secrets of the services that call back (payment processor, mail provider), and the address of the mail webhook
//! as the provider knows it.

use super::{Config, Secret, Settings};

/// The secrets of the services that call back; a callback of a service without one is answered with 503.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Callbacks {
    /// The payment processor's secret.
    pub payment_secret: Option<Secret>,
    /// The mail provider's key.
    pub mail_key: Option<Secret>,
    /// The exact address of our webhook at the mail provider, where it is not the usual path below the public one.
    pub mail_url: Option<String>,
}

impl Settings {
    pub(super) fn callbacks(&mut self) -> Callbacks {
        let payment_secret = self.secret("callbacks.payment_secret", "callbacks.payment_secret_file");
        let mail_key = self.secret("callbacks.mail_key", "callbacks.mail_key_file");
        let mail_url = self.text("callbacks.mail_url", webhook).flatten();
        let public_url = self.typed["public_url"].value.as_str();
        if mail_key.is_some() && mail_url.is_none() && public_url == Some("") {
            self.mistake("callbacks.mail_url", "must be given, or public_url: the mail provider signs the address");
        }
        Callbacks { payment_secret, mail_key, mail_url }
    }
}

impl Config {
    /// The address that the mail provider signs together with the events. `port`: for a site whose settings name no
    /// address.
    pub(crate) fn mail_webhook_url(&self, port: u16) -> String {
        let usual = || format!("{}/api/mail-webhook", self.public_url(port));
        self.callbacks.mail_url.clone().unwrap_or_else(usual)
    }
}

/// Checks the webhook's address, and keeps it unchanged: a slash at its end is part of what is signed.
fn webhook(text: &str) -> Result<Option<String>, &'static str> {
    let sound = (text.starts_with("https://") || text.starts_with("http://")) && !text.contains([' ', '#']);
    match text {
        "" => Ok(None),
        _ if sound => Ok(Some(text.to_owned())),
        _ => Err("must be like https://tunnel.example.org/api/mail-webhook"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::with;

    #[test]
    fn the_address_is_the_public_one_or_what_is_given_to_the_letter() {
        let below = with("public_url = \"https://t.example/\"\n[callbacks]\nmail_key = \"k\"").unwrap();
        assert_eq!(below.mail_webhook_url(0), "https://t.example/api/mail-webhook");
        let given = with("[callbacks]\nmail_key = \"k\"\nmail_url = \"https://t.example/hook/?a=B\"").unwrap();
        assert_eq!(given.mail_webhook_url(0), "https://t.example/hook/?a=B");
    }

    #[test]
    fn secrets_come_from_files_too_and_are_never_shown() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "whsec_hush\n").unwrap();
        let config = with(&format!("[callbacks]\npayment_secret_file = \"{}\"", file.path().display())).unwrap();
        assert_eq!(config.callbacks.payment_secret, Some(Secret::new("whsec_hush")));
        assert!(!format!("{config:?}").contains("hush"));
        let mut settings = Settings::new();
        settings.add_file("[callbacks]\npayment_secret = \"hush\"\nmail_key = \"hush\"", "t.toml");
        assert!(!format!("{:?}", settings.effective()).contains("hush"));
    }

    #[test]
    fn an_empty_file_is_no_secret() {
        let file = tempfile::NamedTempFile::new().unwrap();
        for text in ["", "\n", "  \r\n"] {
            std::fs::write(file.path(), text).unwrap();
            for (table, key) in [("callbacks", "payment_secret_file"), ("social.facebook", "app_secret_file")] {
                let mistakes = with(&format!("[{table}]\n{key} = \"{}\"", file.path().display())).unwrap_err();
                assert!(mistakes.len() == 1 && mistakes[0].contains("is an empty file"), "{mistakes:?}");
            }
        }
    }

    #[test]
    fn a_key_without_an_address_and_an_address_that_is_none_are_mistakes() {
        for file in ["[callbacks]\nmail_key = \"k\"", "[callbacks]\nmail_url = \"tunnel.example/hook\""] {
            let mistakes = with(file).unwrap_err();
            assert!(mistakes.len() == 1 && mistakes[0].contains("mail_url"), "{mistakes:?}");
        }
    }
}
