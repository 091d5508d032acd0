//! Passwords: which are good enough, and their hashes (Argon2id, 19 MiB, two passes, one lane).

use crate::language::Text;
use argon2::password_hash::PasswordHasher;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use std::cell::RefCell;
use subtle::ConstantTimeEq;

const CHARS: std::ops::RangeInclusive<usize> = 8..=128;
/// Of zxcvbn's 0 to 4.
const SCORE_MIN: u8 = 2;
const MEMORY_KIB: u32 = 19 * 1024;
const PASSES: u32 = 2;
const LANES: u32 = 1;
const SALT_BYTES: usize = 16;

/// A hash that belongs to nobody (random bytes), so that an unknown account costs the same time as a known one.
const NOBODY: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$3kKpWHRlbtryY7UXMKAowg$FmEAm2H4XAhEQ6SMQAyQR9BrjBTEINt5+DvMOb0VdLE";

thread_local! {
    /// What this thread checks passwords in, until it rests: to take it from the system each time costs a third as much
    /// as the hash itself.
    static MEMORY: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

fn argon2() -> Argon2<'static> {
    let params = Params::new(MEMORY_KIB, PASSES, LANES, None).expect("the parameters are in range");
    Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
}

/// Whether a new password will do for this account; the text says why not and what would.
pub fn check(password: &str, username: &str, email: &str) -> Result<(), Text> {
    if !CHARS.contains(&password.chars().count()) {
        return Err(Text::new("field.password_length").with("min", CHARS.start()).with("max", CHARS.end()));
    }
    if [username, email].iter().any(|own| password.eq_ignore_ascii_case(own)) {
        return Err(Text::new("field.password_own"));
    }
    if u8::from(zxcvbn::zxcvbn(password, &[username, email]).score()) < SCORE_MIN {
        return Err(Text::new("field.password_weak"));
    }
    Ok(())
}

/// A PHC string with a new salt.
pub fn hash(secret: &str) -> String {
    let salt = crate::keys::random::<SALT_BYTES>();
    argon2().hash_password_with_salt(secret.as_bytes(), &salt).expect("the parameters are sound").to_string()
}

/// Whether the secret is the one of the hash. Takes the same time when there is no hash, and is false then.
pub fn verify(secret: &str, phc: Option<&str>) -> bool {
    let judged = phc.unwrap_or(NOBODY);
    // Nobody can have set a longer one, and hashing it would cost what an attacker sends.
    let judged_secret = if secret.chars().count() <= *CHARS.end() { secret } else { "" };
    let matches = MEMORY.with_borrow_mut(|memory| is_hash_of(judged, judged_secret, memory)).unwrap_or(false);
    matches && phc.is_some() && judged_secret.len() == secret.len()
}

fn is_hash_of(phc: &str, secret: &str, memory: &mut Vec<Block>) -> Option<bool> {
    let parsed = PasswordHash::new(phc).ok()?;
    let (salt, expected) = (parsed.salt.as_ref()?, parsed.hash.as_ref()?);
    let params = Params::try_from(&parsed).ok()?;
    memory.resize(params.block_count(), Block::default());
    let algorithm = Algorithm::try_from(parsed.algorithm.as_str()).ok()?;
    let argon2 = Argon2::new(algorithm, parsed.version?.try_into().ok()?, params);
    let mut hash = vec![0; expected.len()];
    argon2.hash_password_into_with_memory(secret.as_bytes(), salt, &mut hash, memory).ok()?;
    Some(hash.ct_eq(expected.as_bytes()).into())
}

/// Gives the memory that this thread hashed in back to the system.
pub fn rest() {
    MEMORY.take();
}

/// Whether the hash was made with other parameters than today's, so that the next sign-in should renew it.
pub fn is_outdated(phc: &str) -> bool {
    let Ok(parsed) = PasswordHash::new(phc) else { return true };
    let Ok(params) = Params::try_from(&parsed) else { return true };
    (params.m_cost(), params.t_cost(), params.p_cost()) != (MEMORY_KIB, PASSES, LANES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_matches_its_own_hash_only() {
        let phc = hash("correct horse battery");
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{phc}");
        assert!(verify("correct horse battery", Some(&phc)));
        assert!(!verify("correct horse batterz", Some(&phc)));
        assert!(!verify("correct horse battery", None));
        assert!(!is_outdated(NOBODY), "an unknown account must cost what a known one does");
        assert!(!verify(&"x".repeat(5000), Some(&phc)));
        assert!(!is_outdated(&phc));
        assert!(is_outdated("$argon2id$v=19$m=4096,t=3,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA"));
    }

    #[test]
    fn weak_short_long_and_own_names_are_refused_with_their_reason() {
        for (password, key) in [
            ("short", "field.password_length"),
            (&"x".repeat(129), "field.password_length"),
            ("password", "field.password_weak"),
            ("JaneTheFlyer", "field.password_own"),
            ("jane@example.com", "field.password_own"),
        ] {
            assert_eq!(check(password, "janetheflyer", "jane@example.com").unwrap_err().key(), key, "{password}");
        }
        check("wet hair, dry socks", "janetheflyer", "jane@example.com").unwrap();
    }
}
