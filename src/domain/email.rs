//! E-mail addresses, as far as their form can be validated; only the confirmation shows whether mail arrives.

use super::unicode::{is_unseen, nfc};
use crate::i18n::language::Text;
use std::borrow::Cow;

const CHARS_MAX: usize = 254;
const LOCAL_CHARS_MAX: usize = 64;

/// Validates an address, and returns it in its one spelling: see [`one_spelling`]. Two addresses are compared without
/// regard to case.
pub(crate) fn parse(text: &str) -> Result<String, Text> {
    let address = one_spelling(text);
    let sound = address.len() <= CHARS_MAX
        && address.rsplit_once('@').is_some_and(|(local, domain)| local_part(local) && host(domain));
    if sound { Ok(address.into_owned()) } else { Err(Text::new("field.email")) }
}

/// The one spelling of an address with letters beyond ASCII: lower case, composed letters (Unicode NFC), the domain in
/// letters instead of `xn--`. SQLite and SMTP compare ASCII without regard to case, and other letters byte by byte. An
/// address in ASCII stays as it is, and so does a domain that is none.
pub(crate) fn one_spelling(address: &str) -> Cow<'_, str> {
    let coded = |domain: &str| domain.as_bytes().windows(4).any(|bytes| bytes.eq_ignore_ascii_case(b"xn--"));
    let Some((local, domain)) = address.rsplit_once('@') else { return Cow::Borrowed(address) };
    if address.is_ascii() && !coded(domain) {
        return Cow::Borrowed(address);
    }
    let (letters, valid) = idna::domain_to_unicode(domain);
    let domain = if valid.is_ok() { letters } else { domain.to_lowercase() };
    Cow::Owned(format!("{}@{domain}", nfc(&local.to_lowercase())))
}

/// The key of an address, or of a username: equal for two typed names exactly where the database finds the same rows by
/// them. Everything that is kept, counted or made up under a typed name goes by its key, because a difference between two
/// spellings would tell a stranger which addresses have an account.
pub(crate) fn canonical(name: &str) -> String {
    one_spelling(name).to_ascii_lowercase()
}

fn local_part(local: &str) -> bool {
    let odd = |c: char| c.is_control() || c.is_whitespace() || is_unseen(c) || "\"(),:;<>@[\\]".contains(c);
    (1..=LOCAL_CHARS_MAX).contains(&local.len())
        && !local.contains(odd)
        && !local.starts_with('.')
        && !local.ends_with('.')
        && !local.contains("..")
}

fn host(domain: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|c| c.is_alphanumeric() || c == '-')
    };
    domain.contains('.') && domain.split('.').all(label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_spellings_of_an_address_have_one_canonical_form() {
        let spellings =
            ["J\u{f6}rg@B\u{fc}cher.Example", "JO\u{308}RG@BU\u{308}CHER.EXAMPLE", "j\u{f6}rg@XN--bcher-kva.example"];
        for spelling in spellings {
            assert_eq!(canonical(spelling), "j\u{f6}rg@b\u{fc}cher.example", "{spelling}");
            assert_eq!(parse(spelling).unwrap(), "j\u{f6}rg@b\u{fc}cher.example", "{spelling}");
        }
        assert_eq!(canonical("Jane@Example.com"), "jane@example.com");
        assert_eq!(canonical("Nobody"), "nobody");
    }

    #[test]
    fn letters_that_only_look_like_ascii_are_one_in_a_domain_and_not_in_a_username() {
        for spelling in ["jane@\u{ff45}xample.com", "jane@exam\u{ad}ple.com", "Jane@example\u{3002}com"] {
            assert_eq!(canonical(spelling), "jane@example.com", "{spelling}");
        }
        assert_eq!(canonical("\u{212a}ate"), "\u{212a}ate", "a Kelvin sign is no k to the database");
    }

    #[test]
    fn usual_addresses_pass_and_odd_ones_do_not() {
        for good in ["a@example.com", "Jane.Doe+tunnel@mail.example.co.uk", "o'neil@example.org", "jörg@exämple.de"] {
            assert_eq!(parse(good).unwrap(), good);
        }
        for bad in [
            "",
            "a",
            "@example.com",
            "a@",
            "a@b",
            "a b@example.com",
            "a@exa_mple.com",
            ".a@example.com",
            "a..b@example.com",
            "a@-x.com",
            "a@x..com",
            "<a@example.com>",
            "\u{200b}a@example.com",
            "ja\u{ad}ne@example.com",
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(parse(&format!("{}@example.com", "a".repeat(65))).is_err());
    }
}
