//! Certificates: which signature earned a level, and the code by which a stranger verifies a printed certificate. The
//! code is 120 bits in Crockford's base 32, so that it can be read out and typed.

use super::catalogue::Level;

pub(crate) const CODE_BYTES: usize = 15;
const CODE_CHARS: usize = CODE_BYTES * 8 / 5;
const GROUP_CHARS: usize = 4;
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// An open skill entry that counts towards a level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Signed {
    pub skill: String,
    pub approval: i64,
    /// The name on the certificate: see [`name_on_paper`].
    pub signer_name: String,
    pub signer_username: String,
    pub tunnel_name: String,
}

/// The signature that completed a level. For a skill that was signed twice, the first signature counts; of the skills,
/// the last.
pub(crate) fn completing<'a>(level: &Level, signed: &'a [Signed]) -> Option<&'a Signed> {
    let first = |skill: &str| signed.iter().filter(|one| one.skill == skill).min_by_key(|one| one.approval);
    level
        .skills
        .iter()
        .filter(|skill| skill.required)
        .filter_map(|skill| first(&skill.skill))
        .max_by_key(|s| s.approval)
}

/// The name on a document: the real name, which a stranger can compare with a passport; without one, the screen name or
/// the username.
pub(crate) fn name_on_paper<'a>(real_name: &'a str, screen_name: &'a str, username: &'a str) -> &'a str {
    [real_name, screen_name].into_iter().find(|name| !name.trim().is_empty()).unwrap_or(username)
}

/// The code of a certificate, from a keyed hash.
pub(crate) fn code(bytes: &[u8; CODE_BYTES]) -> String {
    // Five bytes make eight characters of five bits.
    let chars = bytes.chunks_exact(5).flat_map(|five| {
        let bits = five.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        (0..8).rev().map(move |place| char::from(ALPHABET[(bits >> (place * 5) & 31) as usize]))
    });
    chars.collect()
}

/// Parses a typed code: in either case, with or without hyphens, `o` for zero, `i` and `l` for one.
pub(crate) fn parse_code(text: &str) -> Option<String> {
    let plain = text.chars().filter(|c| !['-', ' '].contains(c)).map(|c| match c.to_ascii_lowercase() {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    });
    let code: String = plain.take(CODE_CHARS + 1).collect();
    (code.len() == CODE_CHARS && code.bytes().all(|byte| ALPHABET.contains(&byte))).then_some(code)
}

/// The printed form of a code: capitals in groups of four.
pub(crate) fn number(code: &str) -> String {
    let capitals = code.to_ascii_uppercase();
    let groups = capitals.as_bytes().chunks(GROUP_CHARS).map(|group| String::from_utf8_lossy(group).into_owned());
    groups.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::catalogue::{Catalogue, LevelKey};
    use proptest::prelude::*;

    #[test]
    fn a_code_is_base_32_and_known_again_as_people_type_it() {
        let code = code(&[0, 0, 0, 0, 31, 255, 255, 255, 255, 255, 8, 66, 16, 132, 33]);
        assert_eq!(code, "0000000zzzzzzzzz11111111");
        assert_eq!(number(&code), "0000-000Z-ZZZZ-ZZZZ-1111-1111");
        for typed in [&*code, &number(&code), "OOOO-oooz zzzz-zzzz-iIlL-1111"] {
            assert_eq!(parse_code(typed).as_deref(), Some(&*code), "{typed}");
        }
        for odd in [
            "",
            "0000",
            "0000000zzzzzzzzz1111111u",
            "0000000zzzzzzzzz111111111",
            "../../../../etc/passwd-x",
            "éééééééééééééééééééééééé",
        ] {
            assert_eq!(parse_code(odd), None, "{odd}");
        }
    }

    proptest! {
        #[test]
        fn no_two_hashes_share_a_code(one: [u8; CODE_BYTES], other: [u8; CODE_BYTES]) {
            prop_assert_eq!(one == other, code(&one) == code(&other));
            prop_assert_eq!(parse_code(&number(&code(&one))), Some(code(&one)));
        }
    }

    #[test]
    fn the_last_first_signature_of_a_required_skill_completes_a_level() {
        let key = LevelKey { cat_group: "Flyer", cat_id: "1", track: "" };
        let level = Catalogue::built_in().find_level(key).unwrap();
        let signed = |skill: &str, approval, signer: &str| Signed {
            skill: skill.to_owned(),
            approval,
            signer_username: String::new(),
            signer_name: signer.to_owned(),
            tunnel_name: String::new(),
        };
        let mut all: Vec<Signed> = level.skills.iter().map(|s| signed(&s.skill, 10, "Ann")).collect();
        let required = level.skills.iter().find(|s| s.required).unwrap();
        all.push(signed(&required.skill, 99, "Late again"));
        let place = all
            .iter()
            .rposition(|s| s.skill != required.skill && level.skills.iter().any(|l| l.required && l.skill == s.skill));
        all[place.unwrap()] = Signed { approval: 20, signer_name: "Bea".to_owned(), ..all[place.unwrap()].clone() };
        for skill in level.skills.iter().filter(|s| !s.required) {
            all.push(signed(&skill.skill, 30, "Optional"));
        }
        assert_eq!(completing(level, &all).unwrap().signer_name, "Bea");
        assert_eq!(completing(level, &[]), None);
    }
}
