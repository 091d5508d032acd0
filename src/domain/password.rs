//! Passwords: strength rules, and hashes (Argon2id, 19 MiB, two passes, one lane) over Unicode NFC.

use super::strength;
use super::unicode::nfc;
use crate::i18n::language::Text;
use argon2::password_hash::phc::PasswordHash;
use argon2::{Algorithm, Argon2, Block, Params, Version};
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::cell::RefCell;
use subtle::ConstantTimeEq;

const CHARS: std::ops::RangeInclusive<usize> = 8..=128;
const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;

/// Salt and digest of a hash of random bytes that belongs to no account, so that an unknown account costs the same time
/// as a known one.
const NOBODY: &str = "3kKpWHRlbtryY7UXMKAowg$FmEAm2H4XAhEQ6SMQAyQR9BrjBTEINt5+DvMOb0VdLE";

/// The cost of one hash, in one lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    memory_kib: u32,
    passes: u32,
}

thread_local! {
    /// The memory in which this thread hashes, kept until [`rest`], because an allocation for each hash costs a third
    /// as much as the hash.
    static MEMORY: RefCell<Vec<Block>> = const { RefCell::new(Vec::new()) };
}

impl Cost {
    /// The cost of a site's passwords and security answers.
    pub const FULL: Cost = Cost { memory_kib: 19 * 1024, passes: 2 };
    /// A thousandth of the cost, for tests that hash thousands of passwords. Not in a release build.
    #[cfg(debug_assertions)]
    pub const SMALL: Cost = Cost { memory_kib: 32, passes: 1 };
    const LANES: u32 = 1;

    fn params(self) -> Params {
        Params::new(self.memory_kib, self.passes, Cost::LANES, None).expect("the parameters are in range")
    }

    /// The PHC string of a salt and a digest in Base64.
    fn phc(self, salt_and_digest: &str) -> String {
        format!("$argon2id$v=19$m={},t={},p={}${salt_and_digest}", self.memory_kib, self.passes, Cost::LANES)
    }
}

/// The personal data of the owner of a new password; unknown fields are empty.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Owner<'a> {
    pub username: &'a str,
    pub email: &'a str,
    pub real_name: &'a str,
    pub screen_name: &'a str,
    /// The tunnel's name.
    pub site: &'a str,
}

impl Owner<'_> {
    /// The words that an attacker who knows the owner would try first.
    fn words(&self) -> [&str; 5] {
        [self.username, self.email, self.real_name, self.screen_name, self.site]
    }
}

/// Checks that a new password is strong enough for this owner. The text says why it is not, and what would be. Takes
/// milliseconds.
pub(crate) fn check(password: &str, owner: &Owner) -> Result<(), Text> {
    check_form(password, owner)?;
    strength::judge(&nfc(password), &owner.words())
}

/// The fast part of [`check`]: the length, and that the password is not the owner's name or address.
pub(crate) fn check_form(password: &str, owner: &Owner) -> Result<(), Text> {
    let password = &*nfc(password);
    if !CHARS.contains(&password.chars().count()) {
        return Err(Text::new("field.password_length").with("min", CHARS.start()).with("max", CHARS.end()));
    }
    if [owner.username, owner.email].iter().any(|own| is_name(password, own)) {
        return Err(Text::new("field.password_own"));
    }
    Ok(())
}

/// Whether a password is this username or address, without regard to case.
pub(crate) fn is_name(password: &str, name: &str) -> bool {
    nfc(password).eq_ignore_ascii_case(name)
}

/// Hashes a secret with a new salt, as a PHC string.
pub fn hash(secret: &str, cost: Cost) -> String {
    let (salt, mut digest) = (crate::keys::random::<SALT_BYTES>(), [0; HASH_BYTES]);
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, cost.params());
    MEMORY
        .with_borrow_mut(|memory| {
            memory.resize(argon2.params().block_count(), Block::default());
            argon2.hash_password_into_with_memory(nfc(secret).as_bytes(), &salt, &mut digest, memory)
        })
        .expect("the parameters are sound");
    let base64 = |bytes: &[u8]| base64::Engine::encode(&STANDARD_NO_PAD, bytes);
    cost.phc(&format!("{}${}", base64(&salt), base64(&digest)))
}

/// Whether two secrets are equal after Unicode normalisation.
pub(crate) fn is_same(one: &str, other: &str) -> bool {
    nfc(one) == nfc(other)
}

/// Whether the secret matches the hash. Without a hash the answer is `false`, after the time of a hash of this cost.
///
/// A hash from before normalisation is of the secret as typed. A secret that is not in NFC is therefore tried in both
/// forms, whatever the first result.
pub(crate) fn verify(secret: &str, phc: Option<&str>, cost: Cost) -> bool {
    let normal = nfc(secret);
    let is_right = verify_as_typed(&normal, phc, cost);
    if normal == secret { is_right } else { is_right | verify_as_typed(secret, phc, cost) }
}

fn verify_as_typed(secret: &str, phc: Option<&str>, cost: Cost) -> bool {
    let judged = phc.map_or_else(|| cost.phc(NOBODY), str::to_owned);
    // A longer secret cannot have been set, and hashing it would let an attacker choose the cost.
    let judged_secret = if secret.chars().count() <= *CHARS.end() { secret } else { "" };
    let matches = MEMORY.with_borrow_mut(|memory| is_hash_of(&judged, judged_secret, memory)).unwrap_or(false);
    matches && phc.is_some() && judged_secret.len() == secret.len()
}

fn is_hash_of(phc: &str, secret: &str, memory: &mut Vec<Block>) -> Option<bool> {
    let parsed = PasswordHash::new(phc).ok()?;
    let (salt, expected) = (parsed.salt.as_ref()?, parsed.hash.as_ref()?);
    let params = Params::try_from(&parsed).ok()?;
    // Ours have none. The crate would take both from the stored string, where whoever wrote it may have put anything.
    if !params.data().is_empty() || !params.keyid().is_empty() {
        return None;
    }
    memory.resize(params.block_count(), Block::default());
    let algorithm = Algorithm::try_from(parsed.algorithm.as_str()).ok()?;
    let argon2 = Argon2::new(algorithm, parsed.version?.try_into().ok()?, params);
    let mut hash = vec![0; expected.len()];
    argon2.hash_password_into_with_memory(secret.as_bytes(), salt, &mut hash, memory).ok()?;
    Some(hash.ct_eq(expected.as_bytes()).into())
}

/// Returns this thread's hashing memory to the system.
pub(crate) fn rest() {
    MEMORY.take();
}

/// Whether the hash has other parameters than this cost, so that the next sign-in should renew it.
pub(crate) fn is_outdated(phc: &str, cost: Cost) -> bool {
    let Ok(parsed) = PasswordHash::new(phc) else { return true };
    let Ok(params) = Params::try_from(&parsed) else { return true };
    (params.m_cost(), params.t_cost(), params.p_cost()) != (cost.memory_kib, cost.passes, Cost::LANES)
}

#[cfg(test)]
mod tests {
    use super::*;

    const JANE: Owner = Owner {
        username: "janetheflyer",
        email: "jane@example.com",
        real_name: "Wilhelmina Quixote",
        screen_name: "Mina Quixote",
        site: "Windwerk Winterthur",
    };

    #[test]
    fn a_password_matches_its_own_hash_only() {
        let phc = hash("correct horse battery", Cost::FULL);
        assert!(phc.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{phc}");
        assert!(verify("correct horse battery", Some(&phc), Cost::FULL));
        assert!(!verify("correct horse batterz", Some(&phc), Cost::FULL));
        assert!(!verify("correct horse battery", None, Cost::FULL));
        assert!(
            !is_outdated(&Cost::FULL.phc(NOBODY), Cost::FULL),
            "an unknown account must cost what a known one does"
        );
        assert!(!verify(&"x".repeat(5000), Some(&phc), Cost::FULL));
        assert!(!is_outdated(&phc, Cost::FULL));
        assert!(is_outdated("$argon2id$v=19$m=4096,t=3,p=1$c2FsdHNhbHQ$aGFzaGhhc2hoYXNoaGFzaA", Cost::FULL));
    }

    /// `é` as one character, and as a letter with a combining accent.
    const COMPOSED: &str = "caf\u{e9} correct battery";
    const DECOMPOSED: &str = "cafe\u{301} correct battery";

    /// A hash from before secrets were normalised.
    fn hash_as_typed(secret: &str) -> String {
        let mut digest = [0; HASH_BYTES];
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, Cost::FULL.params());
        argon2.hash_password_into(secret.as_bytes(), &[7; SALT_BYTES], &mut digest).unwrap();
        let base64 = |bytes: &[u8]| base64::Engine::encode(&STANDARD_NO_PAD, bytes);
        Cost::FULL.phc(&format!("{}${}", base64(&[7; SALT_BYTES]), base64(&digest)))
    }

    #[test]
    fn the_same_letters_are_the_same_password_in_whichever_form_they_are_typed() {
        for set in [COMPOSED, DECOMPOSED] {
            let phc = hash(set, Cost::FULL);
            assert!(verify(COMPOSED, Some(&phc), Cost::FULL) && verify(DECOMPOSED, Some(&phc), Cost::FULL));
            assert!(!verify("cafe correct battery", Some(&phc), Cost::FULL));
        }
        let old = hash_as_typed(DECOMPOSED);
        assert!(verify(DECOMPOSED, Some(&old), Cost::FULL) && !verify(COMPOSED, Some(&old), Cost::FULL));
        assert!(is_same(COMPOSED, DECOMPOSED) && !verify(DECOMPOSED, None, Cost::FULL));
        let longest = "e\u{301}o\u{308}".repeat(CHARS.end() / 2);
        assert!(check(&longest, &JANE).err().is_none_or(|text| text.key() != "field.password_length"));
        assert!(verify(&longest, Some(&hash(&longest, Cost::FULL)), Cost::FULL));
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
            assert_eq!(check(password, &JANE).unwrap_err().key(), key, "{password}");
        }
        check("wet hair, dry socks", &JANE).unwrap();
    }

    #[test]
    fn what_is_known_of_the_owner_makes_no_good_password() {
        let nobody = Owner::default();
        for password in ["quixotewindwerk", "WilhelminaQuixote", "Winterthur-9"] {
            check(password, &nobody).unwrap();
            assert_eq!(check(password, &JANE).unwrap_err().key(), "field.password_weak", "{password}");
        }
    }

    #[test]
    fn a_hash_that_says_what_it_is_associated_with_opens_nothing() {
        let phc = hash("four dry socks", Cost::SMALL);
        assert!(verify("four dry socks", Some(&phc), Cost::SMALL));
        let argon2 = |params| Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
        let mut params = argon2::ParamsBuilder::new();
        params.m_cost(32).t_cost(1).p_cost(1).data(argon2::AssociatedData::new(b"owner").unwrap());
        let (salt, mut digest) = ([7; SALT_BYTES], [0; HASH_BYTES]);
        argon2(params.build().unwrap()).hash_password_into(b"four dry socks", &salt, &mut digest).unwrap();
        let base64 = |bytes: &[u8]| base64::Engine::encode(&STANDARD_NO_PAD, bytes);
        let own =
            format!("$argon2id$v=19$m=32,t=1,p=1,data={}${}${}", base64(b"owner"), base64(&salt), base64(&digest));
        assert!(!verify("four dry socks", Some(&own), Cost::SMALL));
    }
}
