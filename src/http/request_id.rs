//! The id of a request, in the answer's header and in the log: the caller's own, or a new one.

use crate::keys::{hex, random};
use std::ops::RangeInclusive;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The length of a caller's request id, in characters.
const ID_CHARS: RangeInclusive<usize> = 8..=128;

/// A caller's well-formed request id, else a new one.
pub(crate) fn accept_or_create(sent: Option<&str>) -> String {
    let sound = |id: &&str| {
        ID_CHARS.contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    };
    sent.filter(sound).map_or_else(create, str::to_owned)
}

/// A request id that is unique in this process: a counter with a random start and a long stride. Random bytes of the kernel
/// for each id would cost more than reading the rest of the head.
fn create() -> String {
    const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;
    static NEXT: LazyLock<AtomicU64> = LazyLock::new(|| AtomicU64::new(u64::from_ne_bytes(random())));
    hex(&NEXT.fetch_add(STRIDE, Ordering::Relaxed).to_be_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_id_is_accepted_when_well_formed() {
        assert_eq!(accept_or_create(Some("abc-123_DEF.4")), "abc-123_DEF.4");
        for odd in
            [None, Some(""), Some("short"), Some("has space in it"), Some("line\nbreak--"), Some(&*"x".repeat(129))]
        {
            let made = accept_or_create(odd);
            assert_eq!(made.len(), 16, "{odd:?}");
        }
    }
}
