//! Who may know what, read from the sources: the layers of the house hold because this test does.

use std::path::{Path, PathBuf};

/// A word, where it may stand, and why.
struct Rule {
    words: &'static [&'static str],
    only_in: &'static [&'static str],
}

const RULES: &[Rule] = &[
    // Sockets are the server's; signals are heard by the thread that watches over the end.
    Rule { words: &["hyper::", "hyper_util::", "http_body_util::"], only_in: &["server/"] },
    Rule { words: &["tokio::"], only_in: &["server/", "ops/ending.rs"] },
    // SQL is the store's. A failed statement becomes a failure in one place; and the gate's counters and the
    // demo pass the store's own result on, so that they compose with other statements.
    Rule { words: &["rusqlite::", "refinery::"], only_in: &["store/", "http/failure.rs", "auth/sign_in.rs", "demo/"] },
    // The rules know no JSON; the catalogue is data that a file brings. The store keeps the details of a row as JSON, and
    // the effects say what their notices speak of.
    Rule {
        words: &["serde_json::"],
        only_in: &[
            "api/",
            "http/body.rs",
            "http/call.rs",
            "cli/",
            "config/outgoing.rs",
            "demo/",
            "app/",
            "http/fields.rs",
            "http/kinds.rs",
            "auth/callback/mail.rs",
            "auth/confirmation.rs",
            "auth/passcode.rs",
            "auth/social/",
            "auth/passkey/",
            "auth/second_factor.rs",
            "auth/security_event.rs",
            "auth/undo.rs",
            "jobs/",
            "ops/backup/",
            "i18n/language.rs",
            "http/reply.rs",
            "store/queries/held/mod.rs",
            "store/tables/history.rs",
            "store/tables/outbox.rs",
            "store/tables/tls.rs",
            "domain/catalogue/mod.rs",
            "web/",
        ],
    },
    // Copies for another place are encrypted by their maker alone.
    Rule { words: &["use age::"], only_in: &["config/recipient.rs", "ops/backup/encrypted.rs"] },
    // Lists in CSV have one reader that knows what spreadsheets do to them; the list of tunnels is a short one.
    Rule { words: &["csv::"], only_in: &["app/import_export/", "cli/tunnel.rs"] },
    // Only ID tokens are checked by public keys, and only NATS servers want to see one.
    Rule { words: &["ring::signature"], only_in: &["auth/social/keys.rs", "jobs/sync/nats/login.rs"] },
    // Certificates are made and kept in one place; the server shakes hands.
    Rule { words: &["rcgen::"], only_in: &["ops/tls/"] },
    Rule { words: &["rustls::"], only_in: &["ops/tls/", "server/tls.rs", "jobs/sync/nats/wire.rs"] },
    // Paper and pictures are drawn in one place each.
    Rule { words: &["krilla::", "rustybuzz::"], only_in: &["documents/certificate/", "documents/printout/"] },
    Rule { words: &["qrcodegen::"], only_in: &["documents/certificate/", "documents/qr.rs"] },
    Rule { words: &["image::"], only_in: &["documents/picture/mod.rs"] },
    Rule { words: &["argon2::"], only_in: &["domain/password.rs"] },
    Rule { words: &["zxcvbn::"], only_in: &["domain/strength.rs"] },
    Rule { words: &["webauthn_rs::"], only_in: &["auth/passkey/"] },
    // The service manager speaks through the environment too.
    Rule {
        words: &["std::env", "process::exit"],
        only_in: &["main.rs", "config/mod.rs", "config/terminal.rs", "build.rs", "ops/"],
    },
    // The time of day has one source; the monotonic clock is for limits and figures.
    Rule { words: &["SystemTime", "Timestamp::now", "Zoned::now", "UNIX_EPOCH"], only_in: &["clock.rs"] },
    Rule {
        words: &["Instant"],
        only_in: &[
            "clock.rs",
            "server/",
            "site/hashing.rs",
            "store/engine/reader.rs",
            "store/engine/soundness.rs",
            "auth/rates.rs",
            "cli/control.rs",
            "cli/demo.rs",
            "jobs/outbox/",
            "jobs/sync/nats/wire.rs",
        ],
    },
    // Other people's servers are spoken to by the one thread that may wait for them.
    Rule { words: &["lettre::"], only_in: &["jobs/outbox/mail.rs", "config/outgoing.rs"] },
    Rule {
        words: &["ureq::"],
        only_in: &["jobs/agent.rs", "jobs/outbox/sms.rs", "jobs/sync/https.rs", "jobs/sync/reports.rs"],
    },
    // What is said goes through the log or the command's outcome.
    Rule { words: &["println!", "eprintln!", "print!("], only_in: &["build.rs"] },
    Rule { words: &["dbg!", ".unwrap()", "todo!", "unimplemented!", "std::process::abort"], only_in: &[] },
    Rule { words: &["spawn_blocking", "process::Command"], only_in: &["build.rs"] },
];

/// Directories, and what nothing in them may name.
const STRANGERS: &[(&str, &[&str])] = &[
    (
        "domain/",
        &[
            "crate::store",
            "crate::api",
            "crate::auth",
            "crate::server",
            "crate::site",
            "crate::http::call",
            "crate::http::reply",
            "crate::clock",
            "crate::cli",
            "crate::http::failure",
            "std::fs",
        ],
    ),
    (
        "store/",
        &[
            "crate::api",
            "crate::auth",
            "crate::server",
            "crate::site",
            "crate::http::call",
            "crate::http::reply",
            "crate::cli",
        ],
    ),
    ("api/", &["crate::server", "crate::cli", "crate::jobs", "std::fs", "std::thread"]),
    ("auth/", &["crate::api", "crate::server", "crate::cli"]),
];

#[test]
fn every_word_stands_where_it_may() {
    let mut strays = Vec::new();
    for (name, text) in sources() {
        for rule in RULES.iter().filter(|rule| !rule.only_in.iter().any(|place| name.starts_with(place))) {
            strays.extend(rule.words.iter().filter(|word| text.contains(**word)).map(|word| format!("{name}: {word}")));
        }
        for (_, words) in STRANGERS.iter().filter(|(place, _)| name.starts_with(place)) {
            strays.extend(words.iter().filter(|word| text.contains(**word)).map(|word| format!("{name}: {word}")));
        }
    }
    assert!(strays.is_empty(), "{strays:#?}");
}

#[test]
fn no_place_is_allowed_more_than_it_uses() {
    let sources = sources();
    for rule in RULES {
        for place in rule.only_in.iter().filter(|place| !["web/", "demo/", "jobs/"].contains(place)) {
            let uses = |(name, text): &(String, String)| {
                name.starts_with(place) && rule.words.iter().any(|w| text.contains(w))
            };
            assert!(sources.iter().any(uses), "{place} no longer needs {:?}: take it off the rule", rule.words);
        }
    }
}

#[test]
fn every_file_says_what_it_is_for_and_fits_on_a_few_screens() {
    for (path, text) in files() {
        assert!(text.starts_with("//! "), "{} does not begin with what it is for", path.display());
        let lines = text.lines().count();
        assert!(lines <= 500, "{} has {lines} lines: it is more than one thing", path.display());
    }
}

/// Every source by its name below `src/`, without comments and without its tests.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
    let product = |text: &str| {
        let before_tests = text.split("#[cfg(test)]").next().unwrap_or("");
        let code = before_tests.lines().map(|line| line.split("//").next().unwrap_or(""));
        code.collect::<Vec<_>>().join("\n")
    };
    let sources: Vec<_> = files().into_iter().map(|(path, text)| (name(&path), product(&text))).collect();
    let sources: Vec<_> =
        sources.into_iter().filter(|(name, _)| !name.ends_with("tests.rs") && !name.contains("/tests/")).collect();
    assert!(sources.len() > 60, "the sources were not found");
    sources
}

fn files() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut dirs = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            match path.extension() {
                _ if path.is_dir() => dirs.push(path),
                Some(kind) if kind == "rs" => found.push((path.clone(), std::fs::read_to_string(&path).unwrap())),
                _ => {}
            }
        }
    }
    found
}
