//! Recovery codes: a second factor for a member without the phone. Sixty random bits each, in letters that are not
//! confused.

/// The number of recovery codes of a member.
pub(crate) const CODES: usize = 10;
/// The alphabet without `i`, `l`, `o` and `u`, which resemble other characters or form words.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
const CHARS: usize = 12;
const GROUP: usize = 4;

/// Formats random bytes as a code: `abcd-efgh-jkmn`.
pub(crate) fn from_bytes(bytes: [u8; CHARS]) -> String {
    let letters: Vec<char> = bytes.iter().map(|b| char::from(LETTERS[usize::from(b % 32)])).collect();
    letters.chunks(GROUP).map(|group| group.iter().collect::<String>()).collect::<Vec<_>>().join("-")
}

/// Normalises a typed code before it is hashed: without hyphens and spaces, in lower case, with common mistakes
/// corrected. `None` where the text is not shaped like a code.
pub(crate) fn normalise(typed: &str) -> Option<String> {
    let mended = typed.chars().filter(|c| !c.is_whitespace() && *c != '-').map(|c| match c.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    });
    let code: String = mended.take(CHARS + 1).collect();
    let sound = code.len() == CHARS && code.bytes().all(|b| LETTERS.contains(&b));
    sound.then_some(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_read_however_it_was_copied() {
        let shown = from_bytes([0, 1, 2, 3, 31, 63, 95, 127, 255, 10, 20, 0]);
        assert_eq!(shown, "0123-zzzz-zam0");
        for typed in ["0123-zzzz-zam0", "0123ZZZZZAM0", " 0123 zzzz zam0 ", "ol23-zzzz-zamO", "Oi23-zzzz-zam0"] {
            assert_eq!(normalise(typed).as_deref(), Some("0123zzzzzam0"), "{typed}");
        }
    }

    #[test]
    fn what_cannot_be_a_code_is_none() {
        for typed in ["", "123456", "0123-zzzz-zam", "0123-zzzz-zam01", "0123-zzzz-zamu", "0123-zzzz-zamé"] {
            assert_eq!(normalise(typed), None, "{typed}");
        }
    }
}
