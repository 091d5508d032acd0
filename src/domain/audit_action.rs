//! The actions in the audit log: each has a text, whose key is `action.` with its name, and there are no others.

use crate::i18n::language::Language;

const KEY: &str = "action.";

/// Every action, in no order.
pub(crate) fn all() -> impl Iterator<Item = &'static str> {
    Language::English.texts().keys().filter_map(|key| key.strip_prefix(KEY))
}

/// Whether there is an action of this name.
pub(crate) fn is_known(action: &str) -> bool {
    Language::English.texts().contains_key(&format!("{KEY}{action}"))
}
