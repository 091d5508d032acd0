//! The settings of the standby.

use super::{Secret, Settings};
use crate::domain::standby::Wait;
use std::os::unix::fs::PermissionsExt;
use toml::Value;

/// A shorter token could be guessed.
const TOKEN_CHARS_MIN: usize = 32;
const TOKEN_CHARS_MAX: usize = 256;
const OTHERS: u32 = 0o077;

/// The settings of the standby.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Replica {
    /// The token that proves the standby; `None`: there is no standby.
    pub token: Option<Secret>,
    /// Whether answers wait for the standby.
    pub wait: Wait,
}

impl Replica {
    /// Whether an answer waits for the standby after the flush of its write.
    pub(crate) fn answers_wait(&self) -> bool {
        self.wait != Wait::Never
    }
}

impl Settings {
    /// Checks all settings of the standby, also while there is no token.
    pub(super) fn replica(&mut self) -> Replica {
        let wait = match &self.typed["replica.wait"].value {
            Value::Boolean(false) => Wait::Never,
            Value::Boolean(true) => Wait::InStep,
            Value::String(text) if text == "refuse" => Wait::Refuse,
            _ => {
                self.mistake("replica.wait", "must be true, false or \"refuse\"");
                Wait::Never
            }
        };
        let token = self.secret("replica.token", "replica.token_file");
        let wait = if token.is_some() { wait } else { Wait::Never };
        if let Some(what) = token.as_ref().and_then(|token| what_is_wrong(token.reveal())) {
            self.mistake("replica.token", what);
        }
        let file = self.typed["replica.token_file"].value.as_str().unwrap_or_default().to_owned();
        if !file.is_empty() && is_open_to_others(&file) {
            self.mistake("replica.token_file", "can be read by others: chmod 600");
        }
        Replica { token, wait }
    }
}

/// The fault of a token; `None`: the token is valid.
pub(crate) fn what_is_wrong(token: &str) -> Option<&'static str> {
    let is_plain = token.bytes().all(|byte| byte.is_ascii_graphic());
    let fits = (TOKEN_CHARS_MIN..=TOKEN_CHARS_MAX).contains(&token.len());
    (!(is_plain && fits))
        .then_some("must be a token of 32 to 256 letters, digits and signs, like `openssl rand -hex 32` makes")
}

/// Whether others than its owner can read a file.
pub(crate) fn is_open_to_others(file: &str) -> bool {
    std::fs::metadata(file).is_ok_and(|found| found.permissions().mode() & OTHERS != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Config, with};

    #[test]
    fn there_is_no_standby_unless_somebody_says_so() {
        assert_eq!(Config::defaults().replica, Replica::default());
        assert_eq!(with("[replica]\nwait = \"refuse\"").unwrap().replica, Replica::default());
    }

    #[test]
    fn a_token_lies_in_a_file_that_nobody_else_reads_and_cannot_be_guessed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let token = "5".repeat(64);
        std::fs::write(file.path(), format!("{token}\n")).unwrap();
        let settings = |wait: &str| format!("[replica]\ntoken_file = \"{}\"\nwait = {wait}", file.path().display());
        for (typed, wait) in [("false", Wait::Never), ("true", Wait::InStep), ("\"refuse\"", Wait::Refuse)] {
            let wanted = Replica { token: Some(Secret::new(&token)), wait };
            assert_eq!(with(&settings(typed)).unwrap().replica, wanted);
        }
        assert!(with(&settings("\"perhaps\"")).unwrap_err()[0].contains("must be true, false"));
        std::fs::set_permissions(file.path(), std::fs::Permissions::from_mode(0o640)).unwrap();
        assert!(with(&settings("true")).unwrap_err()[0].contains("chmod 600"));
        assert!(with("[replica]\ntoken = \"short\"").unwrap_err()[0].contains("openssl rand"));
    }
}
