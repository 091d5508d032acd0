//! Webhooks by the rules of Standard Webhooks: what an answer means, when a delivery is tried again, and which addresses are called.

use crate::i18n::language::Text;
use crate::moment::Moment;
use http::{StatusCode, Uri};
use jiff::fmt::rfc2822;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The longest body.
pub(crate) const BODY_BYTES_MAX: usize = 20 * 1024;
/// The longest address.
pub(crate) const URL_CHARS_MAX: usize = 500;
/// Seconds from one try of a delivery to the next; after the last it is not sent any more.
const AGAIN_AFTER: [i64; 10] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400, 86_400];
/// A hook that takes nothing for this long ends.
const FAILING_SECONDS_MAX: i64 = 5 * 86_400;
/// The most that an answer may put off the next try by `Retry-After`.
const RETRY_AFTER_MAX: i64 = 86_400;

/// Why a delivery was not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// The status of the answer.
    Answered(u16),
    /// The name leads to no address, or to none that may be called.
    NoAddress,
    /// No answer came in time.
    Late,
    /// The connection was refused or broke.
    Connection,
    /// The certificate is not valid, or there is no TLS.
    Tls,
    /// The event is larger than a webhook may be.
    TooLarge,
    /// The event is not kept any more.
    Purged,
    /// The secret cannot be read.
    NoSecret,
    /// A fault of this program.
    Internal,
}

/// Those that have a word; an answer has its status.
const WORDS: [(Trouble, &str, &str); 8] = [
    (Trouble::NoAddress, "no_address", "hook.no_address"),
    (Trouble::Late, "late", "hook.late"),
    (Trouble::Connection, "connection", "hook.connection"),
    (Trouble::Tls, "tls", "hook.tls"),
    (Trouble::TooLarge, "too_large", "hook.too_large"),
    (Trouble::Purged, "purged", "hook.purged"),
    (Trouble::NoSecret, "no_secret", "hook.no_secret"),
    (Trouble::Internal, "internal", "hook.internal"),
];

impl Trouble {
    /// As it is stored.
    pub(crate) fn name(self) -> String {
        match (self, WORDS.iter().find(|(one, ..)| *one == self)) {
            (Trouble::Answered(status), _) => status.to_string(),
            (_, Some((_, word, _))) => (*word).to_owned(),
            (_, None) => "internal".to_owned(),
        }
    }

    /// What was stored, in words; `None` where there is no trouble.
    pub(crate) fn text(stored: &str) -> Option<Text> {
        if stored.is_empty() {
            return None;
        }
        let key = WORDS.iter().find(|(_, word, _)| *word == stored).map(|(.., key)| *key);
        Some(key.map_or_else(|| Text::new("hook.answered").with("status", stored), Text::new))
    }

    /// Whether sending the same event again is of no use.
    pub(crate) fn is_final(self) -> bool {
        matches!(self, Trouble::TooLarge | Trouble::Purged)
    }

    /// Whether the server says that the address is gone for good.
    pub(crate) fn is_gone(self) -> bool {
        self == Trouble::Answered(StatusCode::GONE.as_u16())
    }
}

/// The moment of the next try, after `tries` failed ones and one more at `now`: with a jitter of up to a tenth, by a random byte,
/// and not before the moment that the receiver asked for. `None`: there is none.
pub(crate) fn again_at(now: Moment, tries: i64, retry_after: Option<i64>, dice: u8) -> Option<Moment> {
    let pause = *AGAIN_AFTER.get(usize::try_from(tries).ok()?)?;
    let jitter = pause / 10 * i64::from(dice) / 255;
    Some(now + (pause + jitter).max(retry_after.unwrap_or(0).clamp(0, RETRY_AFTER_MAX)))
}

/// The seconds of `Retry-After`, which is a number of them or a date.
pub(crate) fn retry_after(value: &str, now: Moment) -> Option<i64> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value.parse().unwrap_or(i64::MAX));
    }
    let at = Moment(rfc2822::parse(value).ok()?.timestamp().as_second());
    Some((at - now).max(0))
}

/// Whether a hook that has taken nothing since a moment ends now.
pub(crate) fn fails_too_long(now: Moment, failing_since: Option<Moment>) -> bool {
    failing_since.is_some_and(|since| now - since >= FAILING_SECONDS_MAX)
}

/// Whether an answer takes the delivery. A redirect does not.
pub(crate) fn is_taken(status: StatusCode) -> bool {
    status.is_success()
}

/// Checks that a text is an address that a webhook may have: https, with a host, and without a name or password, which everybody who
/// sees the list would read. The error says what is wrong with it.
pub(crate) fn check_url(text: &str) -> Result<(), Text> {
    let wrong = |key| Err(Text::new(key));
    if text.chars().count() > URL_CHARS_MAX {
        return Err(Text::new("hook.url_long").with_count("max", URL_CHARS_MAX));
    }
    if !text.is_ascii() {
        return wrong("hook.url_letters");
    }
    // It would never be sent.
    if text.contains('#') {
        return wrong("hook.url_fragment");
    }
    let uri: Option<Uri> = text.parse().ok().filter(|uri: &Uri| uri.scheme_str() == Some("https"));
    let Some(whole) = uri.as_ref().and_then(Uri::authority).filter(|whole| !whole.host().is_empty()) else {
        return wrong("hook.url_wrong");
    };
    if whole.as_str().contains('@') {
        return wrong("hook.url_name");
    }
    let port = whole.as_str().strip_prefix(whole.host()).unwrap_or_default();
    if !port.is_empty() && whole.port_u16().is_none_or(|port| port == 0) {
        return wrong("hook.url_port");
    }
    Ok(())
}

/// Whether the host of an address is itself an address that may not be called. A name is judged at each connection, by what it leads
/// to.
pub(crate) fn names_closed_address(url: &str, named: Option<IpAddr>) -> bool {
    let uri: Option<Uri> = url.parse().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default().trim_matches(['[', ']']);
    match host.parse() {
        Ok(address) => !may_call(address, named),
        // A number is an address in another spelling.
        Err(_) => is_number(host) || host.trim_end_matches('.').eq_ignore_ascii_case("localhost") && named.is_none(),
    }
}

/// Whether a host ends in a number, which some resolvers take for an address: `2130706433`, `0x7f.1`.
fn is_number(host: &str) -> bool {
    let last = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
    last.starts_with(|c: char| c.is_ascii_digit())
        && (last.starts_with("0x") || last.starts_with("0X") || last.bytes().all(|c| c.is_ascii_digit()))
}

/// Whether an address may be called: a public one, or the private one that an admin named.
pub(crate) fn may_call(address: IpAddr, named: Option<IpAddr>) -> bool {
    named.is_some_and(|named| named.to_canonical() == address.to_canonical()) || is_public(address)
}

fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_multicast()
        // This network, carriers' own, protocol assignments, relays of 6to4, benchmarks, and what is reserved.
        || a == 0
        || (a == 100 && (64..128).contains(&b))
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        || (a == 198 && (b == 18 || b == 19))
        || a >= 240;
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let [a, b, between @ .., high, low] = address.segments();
    // Addresses that carry one of the other family: NAT64.
    if (a, b) == (0x64, 0xff9b) {
        let [x, y] = [high.to_be_bytes(), low.to_be_bytes()];
        return between == [0; 4] && is_public_v4(Ipv4Addr::new(x[0], x[1], y[0], y[1]));
    }
    // Global unicast without protocol assignments (Teredo among them), documentation and 6to4.
    (a & 0xe000) == 0x2000 && a != 0x2002 && !(a == 0x2001 && (b < 0x200 || b == 0xdb8)) && !(a == 0x3fff && b < 0x1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_tried_ten_times_more_at_growing_pauses() {
        let mut now = Moment(0);
        for (tries, pause) in AGAIN_AFTER.into_iter().enumerate() {
            let (soonest, latest) = (again_at(now, tries as i64, None, 0), again_at(now, tries as i64, None, 255));
            assert_eq!(soonest, Some(now + pause));
            assert!(latest >= soonest && latest <= Some(now + pause + pause / 10));
            now += pause;
        }
        assert_eq!(again_at(now, 10, None, 0), None);
        assert_eq!(again_at(Moment(0), 0, Some(120), 0), Some(Moment(120)), "the receiver asks for a pause");
        assert_eq!(again_at(Moment(0), 0, Some(i64::MAX), 0), Some(Moment(RETRY_AFTER_MAX)));
        assert_eq!(again_at(Moment(0), 1, Some(-5), 0), Some(Moment(300)));
        assert!(
            !fails_too_long(Moment(FAILING_SECONDS_MAX - 1), Some(Moment(0)))
                && fails_too_long(Moment(FAILING_SECONDS_MAX), Some(Moment(0)))
        );
    }

    #[test]
    fn public_addresses_are_called_and_no_others_but_the_one_that_is_named() {
        for public in ["8.8.8.8", "100.63.0.1", "2606:4700::1111", "64:ff9b::808:808", "::ffff:8.8.8.8"] {
            assert!(may_call(public.parse().unwrap(), None), "{public}");
        }
        for private in [
            "127.0.0.1",
            "10.0.0.1",
            "172.16.0.1",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "0.0.0.0",
            "224.0.0.1",
            "255.255.255.255",
            "198.18.0.1",
            "192.0.0.8",
            "::1",
            "::",
            "fe80::1",
            "fc00::1",
            "fd12::1",
            "ff02::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "64:ff9b:1::808:808",
            "2001:db8::1",
            "2001::7f00:1",
            "3fff::1",
            "192.88.99.1",
            "::127.0.0.1",
        ] {
            let address: IpAddr = private.parse().unwrap();
            assert!(!may_call(address, None), "{private}");
            assert!(
                may_call(address, Some(address)) && !may_call(address, Some("10.9.9.9".parse().unwrap())),
                "{private}"
            );
        }
    }

    #[test]
    fn a_pause_is_asked_for_in_seconds_or_by_a_date() {
        let now = Moment(784_111_777);
        assert_eq!(retry_after("120", now), Some(120));
        assert_eq!(retry_after(" 0 ", now), Some(0));
        assert_eq!(retry_after("99999999999999999999", now), Some(i64::MAX));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:59:37 GMT", now), Some(600));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:39:37 GMT", now), Some(0), "past");
        for odd in ["", "-5", "soon", "1.5", "06.11.1994"] {
            assert_eq!(retry_after(odd, now), None, "{odd}");
        }
    }

    #[test]
    fn what_is_wrong_with_a_webhook_s_address_is_said() {
        for good in ["https://example.org/hook", "https://example.org:8443/a?b=c", "https://[2606:4700::1111]/"] {
            assert_eq!(check_url(good), Ok(()), "{good}");
        }
        let long = format!("https://example.org/{}", "x".repeat(URL_CHARS_MAX));
        for (bads, key) in [
            (
                &["http://example.org/", "example.org", "https:///x", "", "file:///etc", "https://a b/"][..],
                "hook.url_wrong",
            ),
            (&["https://a:b@example.org/", "https://a@example.org:0/"], "hook.url_name"),
            (
                &["https://a.example:0/", "https://a.example:99999/", "https://a.example:/", "https://[::1]:0"],
                "hook.url_port",
            ),
            (&["https://☃.example/", "https://a.example/ü"], "hook.url_letters"),
            (&["https://a.example/x#frag", "https://a.example#"], "hook.url_fragment"),
            (&[&long], "hook.url_long"),
        ] {
            for bad in bads {
                assert_eq!(check_url(bad).map_err(|text| text.key()), Err(key), "{bad}");
            }
        }
    }

    #[test]
    fn every_trouble_is_stored_and_told_in_words() {
        for (trouble, word, key) in WORDS {
            assert_eq!((trouble.name().as_str(), Trouble::text(word).unwrap().key()), (word, key));
        }
        assert_eq!(Trouble::Answered(503).name(), "503");
        assert_eq!(Trouble::text("503").unwrap().key(), "hook.answered");
        assert_eq!(Trouble::text(""), None);
        assert!(Trouble::Answered(410).is_gone() && Trouble::Purged.is_final() && !Trouble::Late.is_final());
    }

    #[test]
    fn an_address_of_a_private_network_is_closed_unless_it_is_named() {
        let named = Some("10.0.0.1".parse().unwrap());
        for closed in
            ["127.0.0.1", "127.0.0.1:8443", "[::1]", "169.254.169.254", "[::ffff:127.0.0.1]", "localhost", "LOCALHOST."]
        {
            assert!(names_closed_address(&format!("https://{closed}/x"), None), "{closed}");
        }
        assert!(names_closed_address("https://10.0.0.2/", named) && !names_closed_address("https://10.0.0.1/", named));
        for open in ["93.184.216.34", "partner.example", "[2606:2800:220:1::1]"] {
            assert!(!names_closed_address(&format!("https://{open}/"), None), "{open}");
        }
    }
}
