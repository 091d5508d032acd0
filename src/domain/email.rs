//! E-mail addresses, as far as their form can be validated; only the confirmation shows whether mail arrives.

use super::unicode::nfc;
use crate::i18n::language::Text;

const CHARS_MAX: usize = 254;
const LOCAL_CHARS_MAX: usize = 64;

/// Validates an address, and returns it unchanged. Two addresses are compared without regard to case.
pub(crate) fn parse(text: &str) -> Result<String, Text> {
    let sound = text.len() <= CHARS_MAX
        && text.rsplit_once('@').is_some_and(|(local, domain)| local_part(local) && host(domain));
    if sound { Ok(text.to_owned()) } else { Err(Text::new("field.email")) }
}

/// The one spelling under which an address is suppressed: lower case, composed letters (Unicode NFC), the domain in ASCII.
/// A domain that has no ASCII form stays as it is.
pub(crate) fn canonical(address: &str) -> String {
    let lower = nfc(&address.to_lowercase()).into_owned();
    let international = lower.rsplit_once('@').filter(|(_, domain)| !domain.is_ascii());
    let ascii =
        international.and_then(|(local, domain)| Some(format!("{local}@{}", idna::domain_to_ascii(domain).ok()?)));
    ascii.unwrap_or(lower)
}

fn local_part(local: &str) -> bool {
    let odd = |c: char| c.is_control() || c.is_whitespace() || "\"(),:;<>@[\\]".contains(c);
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
            assert_eq!(canonical(spelling), "j\u{f6}rg@xn--bcher-kva.example", "{spelling}");
        }
        assert_eq!(canonical("Jane@Example.com"), "jane@example.com");
        assert_eq!(canonical("Nobody"), "nobody");
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
        ] {
            assert!(parse(bad).is_err(), "{bad}");
        }
        assert!(parse(&format!("{}@example.com", "a".repeat(65))).is_err());
    }
}
