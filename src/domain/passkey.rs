//! The rules of passkeys: their number, their default names, and the signs of a copied one.

/// Passkeys of a member: more than a member has devices.
pub(crate) const KEYS_MAX: i64 = 10;
/// The lifetime of a challenge: the browser's response must arrive within it.
pub(crate) const CHALLENGE_SECONDS: i64 = 5 * 60;

/// Whether a signature counter shows that the passkey was copied. An authenticator raises its counter with each signature,
/// so a counter that did not grow comes from a second authenticator. Zero before and now: the authenticator has none.
pub(crate) fn is_copied(counter_before: i64, counter_shown: i64) -> bool {
    (counter_before > 0 || counter_shown > 0) && counter_shown <= counter_before
}

/// The name of a passkey that the member did not name, from the browser and the device that registered it:
/// `Safari, iPhone`; `Passkey` where the user agent tells neither.
pub(crate) fn name_from(user_agent: &str) -> String {
    called(user_agent).unwrap_or_else(|| "Passkey".to_owned())
}

/// What people call a browser and its device; `None` where the user agent tells neither.
pub(crate) fn called(user_agent: &str) -> Option<String> {
    let first = |known: &[(&str, &'static str)]| {
        known.iter().find(|(word, _)| user_agent.contains(word)).map(|(_, name)| *name)
    };
    // The first match wins, so the order matters: the user agent of an iPhone contains "like Mac OS X", that of Edge
    // "Chrome", and that of Chrome "Safari".
    let device = first(&[
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Android", "Android"),
        ("Windows", "Windows"),
        ("Mac OS X", "Mac"),
        ("CrOS", "Chromebook"),
        ("Linux", "Linux"),
    ]);
    let browser = first(&[
        ("Edg", "Edge"),
        ("Firefox/", "Firefox"),
        ("FxiOS/", "Firefox"),
        ("CriOS/", "Chrome"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    match (browser, device) {
        (Some(browser), Some(device)) => Some(format!("{browser}, {device}")),
        (one, other) => one.or(other).map(str::to_owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_that_does_not_grow_was_counted_twice() {
        for (before, shown, copied) in
            [(0, 0, false), (0, 1, false), (1, 2, false), (5, 900, false), (1, 1, true), (2, 1, true), (1, 0, true)]
        {
            assert_eq!(is_copied(before, shown), copied, "{before} {shown}");
        }
    }

    #[test]
    fn a_passkey_is_called_after_its_browser_and_device() {
        for (user_agent, name) in [
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) Version/18.5 Mobile/15E148 Safari/604.1",
                "Safari, iPhone",
            ),
            ("Mozilla/5.0 (Windows NT 10.0) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0", "Edge, Windows"),
            ("Mozilla/5.0 (Linux; Android 15) Chrome/140.0.0.0 Mobile Safari/537.36", "Chrome, Android"),
            ("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "Firefox, Linux"),
            ("TunnelApp/3 (iPad)", "iPad"),
            ("curl/8", "Passkey"),
            ("", "Passkey"),
        ] {
            assert_eq!(name_from(user_agent), name, "{user_agent}");
        }
    }
}
