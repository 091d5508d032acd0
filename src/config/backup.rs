//! The settings of backups.

use super::Settings;
use super::off_site::OffSiteLocation;
use super::recipient::Recipient;

/// When backups are made, and where their copies go.
#[derive(Debug, Clone, PartialEq)]
pub struct Backup {
    /// Hours between two backups; 0: none are made automatically.
    pub every_hours: i64,
    /// The off-site target, to which backups are copied.
    pub off_site: Option<OffSiteLocation>,
    /// The key to which off-site copies are encrypted.
    pub recipient: Option<Recipient>,
    /// Bytes of the WAL that may be unconfirmed off site.
    pub unconfirmed_bytes_max: u64,
}

impl Settings {
    /// The settings that say where the site is and its copies are, and the defaults of all others.
    pub(crate) fn for_restore(mut self) -> Settings {
        let is_needed = |key: &str| key == "data" || ["backup.", "replica."].iter().any(|table| key.starts_with(table));
        self.typed.retain(|key, _| is_needed(key));
        let others = Settings::new().typed.into_iter().filter(|(key, _)| !is_needed(key));
        self.typed.extend(others);
        // A name that is misspelt may be that of the place.
        let may_be_needed = |mistake: &String| {
            let mistake = mistake.to_lowercase();
            !mistake.contains("there is no such setting")
                || ["backup", "replica"].iter().any(|one| mistake.contains(one))
        };
        self.mistakes.retain(may_be_needed);
        self
    }

    pub(super) fn backup(&mut self) -> Backup {
        let recipient = |text: &str| if text.is_empty() { Ok(None) } else { Recipient::parse(text).map(Some) };
        Backup {
            every_hours: self.whole("backup.every_hours", 0, 168),
            off_site: self.off_site(),
            recipient: self.text("backup.recipient", recipient).flatten(),
            unconfirmed_bytes_max: self.whole("backup.unconfirmed_mib", 8, 4_096).cast_unsigned() * 1024 * 1024,
        }
    }
}
