//! The values that a form replaces, as the page of the form showed them. A form that was open while somebody else saved is
//! refused, so that no change is lost unseen.

use crate::http::failure::Failure;
use crate::i18n::language::Text;
use crate::keys::hex;
use sha2::{Digest, Sha256};

/// Bytes of a mark: enough to tell the versions of one text apart.
const MARK_BYTES: usize = 12;
/// The name of the form field with the mark.
pub(crate) const FIELD: &str = "seen";

/// The mark of the values that a form showed. The default belongs to a caller that showed none: nothing is checked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(Option<String>);

/// The mark of values, for the form that shows them.
pub(crate) fn mark(values: &[&str]) -> String {
    let mut hash = Sha256::new();
    for value in values {
        hash.update(value.len().to_be_bytes());
        hash.update(value);
    }
    hex(&hash.finalize()[..MARK_BYTES])
}

impl Seen {
    pub(crate) fn of(mark: Option<String>) -> Seen {
        Seen(mark)
    }

    /// Whether the form showed the values that have this mark.
    pub(crate) fn is_mark(&self, stored: &str) -> bool {
        self.0.as_ref().is_none_or(|seen| seen == stored)
    }

    pub(crate) fn is(&self, stored: &[&str]) -> bool {
        self.is_mark(&mark(stored))
    }

    /// 422 where the stored values are others than those that the form showed; the text says what they are now.
    pub(crate) fn check(&self, stored: &[&str], now: impl FnOnce() -> String) -> Result<(), Failure> {
        if self.is(stored) {
            return Ok(());
        }
        Err(Failure::field(FIELD, Text::new("desk.changed_meanwhile").with("now", now())))
    }
}

#[cfg(test)]
mod tests {
    use super::{Seen, mark};

    #[test]
    fn values_are_told_apart_by_their_bounds_too() {
        let seen = Seen::of(Some(mark(&["ab", "c"])));
        assert!(seen.is(&["ab", "c"]) && Seen::default().is(&["x"]));
        for other in [&["a", "bc"][..], &["abc"], &["ab", "c", ""], &[]] {
            assert!(!seen.is(other), "{other:?}");
        }
    }
}
