//! The settings of the waiver.

use super::Settings;

/// Whether flying needs a signed waiver, and for how long a signature counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Waiver {
    /// Whether flying needs a waiver in force, once a text is published.
    pub required: bool,
    /// Days after which a signature has expired; 0: never.
    pub valid_days: i64,
    /// The age below which a guardian signs; 0: a guardian never signs.
    pub guardian_below_years: i64,
    /// Years for which a signed waiver is kept, also after its flyer's account was erased; 0: as long as the account.
    pub keep_years: i64,
}

impl Settings {
    pub(super) fn waiver(&mut self) -> Waiver {
        Waiver {
            required: self.truth("waiver.required"),
            valid_days: self.whole("waiver.valid_days", 0, 36_500),
            guardian_below_years: self.whole("waiver.guardian_below_years", 0, 99),
            keep_years: self.whole("waiver.keep_years", 0, 99),
        }
    }
}
