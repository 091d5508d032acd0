//! Checks in the sources which parts of the code may use what: the layers hold because this test does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A word, and the sources that may contain it.
struct Rule {
    words: &'static [&'static str],
    only_in: &'static [&'static str],
}

const RULES: &[Rule] = &[
    // Sockets belong to the server. The thread that watches over the end receives signals.
    Rule { words: &["hyper::", "hyper_util::", "http_body_util::"], only_in: &["server/"] },
    Rule { words: &["tokio::"], only_in: &["server/", "ops/shutdown.rs"] },
    // SQL belongs to the store, which turns a failed statement into a failure.
    Rule { words: &["rusqlite::", "refinery::"], only_in: &["store/"] },
    // One place compares the codes of failures; everybody else asks it for the kind.
    Rule { words: &["failure.code() ==", "failure.code() !="], only_in: &[] },
    // A denial and a failure are one error, `Stop`; an outcome that keeps what was written before it has a name.
    Rule { words: &["Result<Result<", "Result<std::result::Result<"], only_in: &[] },
    // The rules of the domain use no JSON; the catalogue is data that a file brings. The store keeps the details of a
    // row as JSON, and the effects fill in the details of their notices.
    Rule {
        words: &["serde_json::"],
        only_in: &[
            "api/",
            "http/answer/",
            "http/body/",
            "http/call.rs",
            "cli/",
            "config/outgoing.rs",
            "demo/",
            "app/",
            "http/fields/",
            "http/field_types.rs",
            "http/json.rs",
            "auth/confirmation.rs",
            "auth/limits/booking_pins.rs",
            "auth/passcode.rs",
            "auth/social/",
            "auth/passkey/",
            "auth/second_factor.rs",
            "auth/security_event.rs",
            "auth/undo.rs",
            "jobs/",
            "ops/backup/",
            "ops/replication/resume.rs",
            "ops/standby/",
            "i18n/language.rs",
            "http/reply.rs",
            "store/queries/mentions.rs",
            "store/queries/personal_data/mod.rs",
            "store/tables/events.rs",
            "store/tables/history.rs",
            "store/tables/outbox.rs",
            "store/tables/tls.rs",
            "domain/catalogue/mod.rs",
            "web/",
        ],
    },
    // Only the maker of off-site copies encrypts them.
    Rule { words: &["use age::"], only_in: &["config/recipient.rs", "ops/backup/encrypted.rs"] },
    // One reader of CSV lists handles the changes that spreadsheets make to them. The list of tunnels is short and has
    // its own.
    Rule { words: &["csv::"], only_in: &["app/import_export/", "cli/tunnel.rs"] },
    // ID tokens are verified with public keys, NATS servers ask for a signature, and what lies off site is signed.
    Rule {
        words: &["ring::signature"],
        only_in: &["auth/social/keys.rs", "jobs/sync/nats/login.rs", "ops/signature.rs"],
    },
    // Certificates are made and stored in one place. The server performs handshakes.
    Rule { words: &["rcgen::"], only_in: &["ops/tls/"] },
    Rule { words: &["rustls::"], only_in: &["ops/tls/", "server/tls.rs", "jobs/sync/nats/wire.rs"] },
    // Documents and pictures are drawn in one place each.
    Rule {
        words: &["krilla::"],
        only_in: &["documents/certificate/", "documents/printout/", "documents/paint.rs", "documents/typesetting/"],
    },
    Rule { words: &["harfrust::"], only_in: &["documents/typesetting/"] },
    Rule { words: &["mdns_sd::"], only_in: &["jobs/discovery.rs"] },
    Rule { words: &["qrcodegen::"], only_in: &["documents/qr.rs"] },
    Rule { words: &["image::"], only_in: &["documents/picture/mod.rs"] },
    Rule { words: &["argon2::"], only_in: &["domain/password.rs"] },
    Rule { words: &["zxcvbn::"], only_in: &["domain/strength.rs"] },
    Rule { words: &["webauthn_rs::"], only_in: &["auth/passkey/"] },
    // The service manager passes values in the environment too.
    Rule {
        words: &["std::env", "process::exit"],
        only_in: &[
            "main.rs",
            "config/mod.rs",
            "config/terminal.rs",
            "build.rs",
            "ops/",
            "store/engine/migrate/later.rs",
        ],
    },
    // What keeps data through faults is for the store and the copies; everybody else uses what `store` offers.
    Rule { words: &["store::engine"], only_in: &["store/", "ops/backup/", "ops/replication/", "ops/standby/"] },
    // Check-ins and flight time pass through one gate, which asks for the waiver.
    Rule {
        words: &["insert_time(", "insert_entry(", "update_booked_time(", "set_time_waits("],
        only_in: &["app/flights.rs", "store/"],
    },
    // One place changes a booking, and writes what became of it to the history.
    Rule {
        words: &[
            "insert_booking(",
            "update_booking(",
            "bookings::set_sent(",
            "set_ended(",
            "set_arrived(",
            "Event::Booking",
        ],
        only_in: &["app/bookings/steps.rs", "store/"],
    },
    // One place tells of what happened; a notice tells of itself.
    Rule { words: &[" events::insert("], only_in: &["app/events.rs", "store/tables/notices.rs"] },
    // One place keeps the outcomes of requests and the numbers of forms, so that nobody stores a reply.
    Rule { words: &["replays::insert(", "replays::find("], only_in: &["app/once.rs"] },
    // The time of day has one source. The monotonic clock is for limits and metrics.
    Rule { words: &["SystemTime", "Timestamp::now", "Zoned::now", "UNIX_EPOCH"], only_in: &["clock.rs"] },
    Rule {
        words: &["Instant"],
        only_in: &[
            "bounded.rs",
            "clock.rs",
            "server/",
            "site/hashing.rs",
            "store/engine/pace.rs",
            "store/engine/reader.rs",
            "store/engine/writer/database.rs",
            "store/engine/quick_check.rs",
            "auth/limits/rates.rs",
            "log/repeats.rs",
            "cli/control.rs",
            "cli/demo.rs",
            "cli/acquire.rs",
            "jobs/outbox/",
            "jobs/sync/nats/wire.rs",
        ],
    },
    // Foreign servers are called only by the threads that may wait for them.
    Rule { words: &["lettre::"], only_in: &["jobs/outbox/mail.rs", "config/outgoing.rs"] },
    Rule {
        words: &["ureq::"],
        only_in: &[
            "ops/agent.rs",
            "ops/replication/s3/",
            "jobs/hooks/",
            "jobs/outbox/sms.rs",
            "jobs/standby/client.rs",
            "jobs/sync/https.rs",
            "jobs/sync/reports.rs",
        ],
    },
    // Output goes through the log or the outcome of a command.
    Rule { words: &["println!", "eprintln!", "print!("], only_in: &["build.rs"] },
    Rule { words: &["dbg!", ".unwrap()", "todo!", "unimplemented!", "std::process::abort"], only_in: &[] },
    Rule { words: &["spawn_blocking", "process::Command"], only_in: &["build.rs"] },
];

/// The rooms and their allowed imports: only rooms further down this list, so that there is no cycle. `lib.rs`
/// describes the rooms.
#[rustfmt::skip]
const MATRIX: &[(&str, &[&str])] = &[
    ("cli",       &["server", "routes", "web", "jobs", "demo", "app", "ops", "auth", "http", "site", "store", "domain", "i18n", "config", "log", "keys", "clock", "files", "moment"]),
    ("server",    &["routes", "web", "jobs", "ops", "auth", "http", "site", "store", "domain", "i18n", "config", "log", "stats", "moment"]),
    ("routes",    &["web", "api", "auth", "http", "site"]),
    ("web",       &["jobs", "app", "ops", "auth", "documents", "http", "site", "store", "domain", "i18n", "config", "keys", "moment"]),
    ("api",       &["app", "ops", "auth", "documents", "http", "site", "store", "domain", "i18n", "keys", "moment"]),
    ("jobs",      &["app", "ops", "auth", "documents", "http", "site", "store", "domain", "i18n", "config", "keys", "clock", "bounded", "files", "moment"]),
    ("demo",      &["app", "ops", "auth", "http", "site", "store", "domain", "i18n", "config", "clock", "files", "moment"]),
    ("app",       &["ops", "auth", "documents", "http", "site", "store", "domain", "i18n", "config", "log", "keys", "moment"]),
    ("ops",       &["auth", "http", "site", "store", "domain", "i18n", "config", "log", "keys", "clock", "files", "moment"]),
    ("auth",      &["http", "site", "store", "domain", "i18n", "config", "log", "keys", "files", "moment"]),
    ("documents", &["store", "domain", "i18n", "moment"]),
    ("site",      &["http", "store", "domain", "i18n", "config", "stats", "keys", "clock", "moment"]),
    ("store",     &["http", "domain", "keys", "clock", "files", "moment"]),
    ("stats",     &["http"]),
    ("http",      &["domain", "i18n", "keys", "moment"]),
    ("log",       &["config", "clock"]),
    ("config",    &["domain", "files"]),
    ("domain",    &["i18n", "keys", "moment"]),
    ("i18n",      &["moment"]),
    ("keys",      &["files", "moment"]),
    ("clock",     &["moment"]),
    ("bounded",   &[]),
    ("files",     &[]),
    ("moment",    &[]),
];

/// Parts of the standard library that rooms may not use.
const STRANGERS: &[(&str, &[&str])] = &[
    ("domain/", &["std::fs"]),
    ("api/", &["std::fs", "std::thread"]),
    // The edges write through the effects of `app`, and through `auth` the rows of credentials.
    ("api/", WRITES),
    ("web/", WRITES),
    ("cli/", WRITES),
];

/// How a source names a write of the store.
const WRITES: &[&str] = &["store::Write", "store::{Read, Write}", "store.write(", "&Write"];

/// The other rooms that a source names.
fn imported<'t>(room: &str, text: &'t str) -> Vec<&'t str> {
    let word = |rest: &'t str| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    let mut named: Vec<&str> = text.split("crate::").skip(1).map(word).collect();
    for group in text.split("use crate::{").skip(1) {
        let group = group.split(';').next().unwrap_or("");
        let mut depth = 0;
        for part in group.split_inclusive(['{', '}', ',']) {
            if depth == 0 {
                named.push(word(part.trim_start()));
            }
            depth += part.matches('{').count();
            depth = depth.saturating_sub(part.matches('}').count());
        }
    }
    named.retain(|name| *name != room && MATRIX.iter().any(|(known, _)| known == name));
    named
}

#[test]
fn rooms_import_from_below_and_there_is_no_circle() {
    for (place, (room, allowed)) in MATRIX.iter().enumerate() {
        let below: Vec<&str> = MATRIX[place + 1..].iter().map(|(name, _)| *name).collect();
        let above: Vec<_> = allowed.iter().filter(|name| !below.contains(name)).collect();
        assert!(above.is_empty(), "{room} may import {above:?}, which is not below it: that could be a circle");
    }
    let (mut strays, mut unused) = (Vec::new(), Vec::new());
    let sources = sources();
    let room_of = |name: &str| name.split('/').next().unwrap_or("").trim_end_matches(".rs").to_owned();
    for (name, text) in &sources {
        let room = room_of(name);
        let Some((_, allowed)) = MATRIX.iter().find(|(known, _)| *known == room) else {
            assert!(["lib", "main", "build"].contains(&room.as_str()), "{name} lies in no room of the matrix");
            continue;
        };
        strays.extend(
            imported(&room, text).into_iter().filter(|one| !allowed.contains(one)).map(|one| format!("{name}: {one}")),
        );
    }
    for (room, allowed) in MATRIX {
        let uses = |wanted: &str| {
            sources.iter().any(|(name, text)| room_of(name) == *room && imported(room, text).contains(&wanted))
        };
        unused.extend(allowed.iter().filter(|one| !uses(one)).map(|one| format!("{room}: {one}")));
    }
    assert!(strays.is_empty(), "imports that the matrix does not allow: {strays:#?}");
    assert!(unused.is_empty(), "nothing needs these places of the matrix any more: {unused:#?}");
}

/// The modules by their paths, such as `ops::backup::restore`, and the file of each.
fn modules(sources: &[(String, String)]) -> BTreeMap<String, usize> {
    let path = |name: &str| name.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
    sources.iter().enumerate().map(|(place, (name, _))| (path(name), place)).collect()
}

/// The paths that a `use` behind `prefix` names: `{a::{b, c}, d}` are three.
fn paths(prefix: &str, tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else { return vec![format!("{prefix}{tree}")] };
    let (before, inside) = (&tree[..open], &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())]);
    let mut depth = 0;
    let parts = inside.split(|c| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    parts.filter(|part| !part.trim().is_empty()).flat_map(|part| paths(&format!("{prefix}{before}"), part)).collect()
}

/// The files whose items a source imports. What a folder's own file hands on is its parts', and no import of them.
fn imported_files(name: &str, text: &str, modules: &BTreeMap<String, usize>) -> BTreeSet<usize> {
    let own = name.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
    // A declaration begins its line; nothing but who may see it stands before.
    let begins = |at: &usize| {
        let before = text[..*at].rsplit('\n').next().unwrap_or("").trim();
        before.is_empty() || before == "pub" || (before.starts_with("pub(") && before.ends_with(')'))
    };
    let uses = text.match_indices("use ").map(|(at, _)| at).filter(begins);
    let trees = uses.filter_map(|at| text[at + "use ".len()..].split_once(';')).map(|(tree, _)| tree);
    let mut found = BTreeSet::new();
    for path in trees.flat_map(|tree| paths("", tree)) {
        let mut base: Vec<&str> = own.split("::").collect();
        let mut rest = path.as_str();
        while let Some(more) = rest.strip_prefix("super::") {
            base.pop();
            rest = more;
        }
        let whole = match rest.strip_prefix("crate::") {
            Some(more) => more.to_owned(),
            None if rest.len() < path.len() => format!("{}::{rest}", base.join("::")),
            None => format!("{own}::{}", rest.trim_start_matches("self::")),
        };
        let parts: Vec<&str> = whole.split("::").collect();
        let longest = (1..=parts.len()).rev().find_map(|length| {
            let module = parts[..length].join("::");
            modules.get(&module).map(|place| (module, *place))
        });
        found.extend(
            longest
                .filter(|(module, _)| !format!("{own}::").starts_with(&format!("{module}::")))
                .map(|(_, place)| place),
        );
    }
    found
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    let sources = sources();
    let modules = modules(&sources);
    let mut left: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for (place, (name, text)) in sources.iter().enumerate() {
        left.insert(place, imported_files(name, text, &modules));
    }
    assert!(left.values().map(BTreeSet::len).sum::<usize>() > 2_000, "the imports were not found");
    // Whoever imports only files that are done is done, and so is whoever is imported by nobody else.
    loop {
        let before = left.len();
        let (known, wanted) =
            (left.keys().copied().collect::<BTreeSet<_>>(), left.values().flatten().copied().collect::<BTreeSet<_>>());
        left.retain(|place, needs| wanted.contains(place) && needs.iter().any(|one| known.contains(one)));
        if left.len() == before {
            break;
        }
    }
    let names: Vec<&str> = left.keys().map(|place| &*sources[*place].0).collect();
    assert!(names.is_empty(), "in circles, or between two: {names:#?}");
}

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

/// Every source by its path below `src/`, without comments and without its tests.
fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let name = |path: &PathBuf| path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
    let product = |text: &str| {
        let product = text.replace("#[cfg(test)]\nmod tests;\n", "");
        let before_tests = product.split("#[cfg(test)]").next().unwrap_or("");
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
