//! Secrets that the service manager hands over as files that only this service can read (systemd's `LoadCredential`):
//! each has the name of its setting.

use super::{SECRETS, Settings};
use std::path::Path;

impl Settings {
    /// The secrets in the directory that `CREDENTIALS_DIRECTORY` names.
    pub(super) fn add_credentials(&mut self, dir: &Path) {
        for key in SECRETS {
            let path = dir.join(key);
            if !path.exists() {
                continue;
            }
            match crate::files::read_given_text(&path) {
                Ok(text) => self.set(key, text.trim_end_matches(['\r', '\n']), &format!("credential: {key}")),
                Err(e) => self.mistakes.push(format!("{}: cannot be read: {e}", path.display())),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    #[test]
    fn a_credential_is_the_secret_that_it_is_named_after() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("callbacks.payment_secret"), "whsec_hush\n").unwrap();
        std::fs::write(dir.path().join("listen"), "a credential is no setting").unwrap();
        let mut settings = Settings::new();
        settings.add_credentials(dir.path());
        let shown = format!("{:?}", settings.effective());
        assert!(shown.contains("credential") && !shown.contains("hush"), "{shown}");
        assert_eq!(settings.check().unwrap().callbacks.payment_secret, Some(Secret::new("whsec_hush")));
    }

    #[test]
    fn a_credential_beside_a_secret_in_a_file_is_a_mistake() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("callbacks.payment_secret"), "one").unwrap();
        let mut settings = Settings::new();
        settings.set("callbacks.payment_secret_file", "/somewhere", "t.toml: callbacks.payment_secret_file");
        settings.add_credentials(dir.path());
        let mistakes = settings.check().unwrap_err();
        assert!(mistakes.len() == 1 && mistakes[0].contains("give one of them"), "{mistakes:?}");
    }

    #[test]
    fn the_unit_asks_for_every_secret() {
        let unit = include_str!("../../packaging/systemd/tunneldesk.service");
        for key in SECRETS {
            assert!(unit.contains(&format!("\nLoadCredential={key}:tunneldesk.{key}\n")), "{key} is not in the unit");
        }
        assert_eq!(unit.matches("\nLoadCredential=").count(), SECRETS.len());
    }
}
