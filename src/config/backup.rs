//! The settings of backups.

use super::Settings;
use super::off_site::OffSiteLocation;
use super::recipient::Recipient;

/// When backups are made, and where their copies go.
#[derive(Debug, Clone, PartialEq)]
pub struct Backup {
    /// Hours between two; 0: none by themselves.
    pub every_hours: i64,
    /// On another disk, or another machine.
    pub off_site: Option<OffSiteLocation>,
    /// Whom the copies there are encrypted to.
    pub recipient: Option<Recipient>,
    /// Bytes of the write-ahead log that may wait until the second place has them.
    pub unconfirmed_bytes_max: u64,
}

impl Settings {
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
