//! The packages of the binary: allowed licences, banned packages, and minimum versions.

use serde_json::Value;
use std::process::Command;

/// Licences that permit shipping a binary, alone or as one side of an `OR`.
const ALLOWED: [&str; 13] = [
    "0BSD",
    "MIT",
    // As MIT, but without the duty to include the notice: borrow-or-share, only for the tests.
    "MIT-0",
    // Covers only its own files, which are used unchanged: webauthn-rs.
    "MPL-2.0",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "ISC",
    "Unicode-3.0",
    "Zlib",
    "Unlicense",
];

/// The binary is static, and uses no C library for TLS.
const BANNED: [&str; 4] = ["openssl", "openssl-sys", "native-tls", "openssl-src"];

/// The first versions without known faults, and the faults.
const AT_LEAST: [(&str, [u64; 3]); 5] = [
    ("hyper", [1, 12, 0]),
    ("rusqlite", [0, 41, 0]),
    // Earlier versions took badexample.com for example.com.
    ("webauthn-rs", [0, 6, 2]),
    ("rustls", [0, 23, 18]),
    ("tokio", [1, 54, 0]),
];

/// The packages built for this platform. A fresh machine lacks even the manifests of the others.
fn packages() -> Vec<Value> {
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let cargo = Command::new(env!("CARGO"))
        .args(["metadata", "--offline", "--format-version", "1", "--filter-platform", &platform, "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo can be run");
    assert!(cargo.status.success(), "{}", String::from_utf8_lossy(&cargo.stderr));
    let metadata: Value = serde_json::from_slice(&cargo.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap().clone();
    assert!(packages.len() > 100, "the dependencies were not found");
    packages
}

/// Whether every part of an `AND` has an allowed side in its `OR`.
fn is_allowed(expression: &str) -> bool {
    let expression = expression.replace('/', " OR ").replace(['(', ')'], "");
    expression.split(" AND ").all(|part| part.split(" OR ").any(|one| ALLOWED.contains(&one.trim())))
}

#[test]
fn every_dependency_has_a_licence_that_we_can_ship() {
    for package in packages() {
        let (name, licence) = (&package["name"], package["license"].as_str().unwrap_or("none"));
        assert!(is_allowed(licence), "{name} has the licence {licence}");
    }
}

#[test]
fn a_licence_that_binds_us_is_noticed() {
    assert!(is_allowed("(MIT OR Apache-2.0) AND Unicode-3.0") && is_allowed("GPL-3.0 OR MIT"));
    assert!(!is_allowed("GPL-3.0") && !is_allowed("MIT AND GPL-3.0") && !is_allowed("none"));
}

#[test]
fn nothing_is_linked_that_a_static_binary_cannot_carry() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        assert!(!BANNED.contains(&name), "{name} is a dependency");
        let source = package["source"].as_str();
        assert!(source.is_none_or(|s| s.starts_with("registry+")), "{name} is not from the registry: {source:?}");
    }
}

#[test]
fn what_had_a_flaw_is_newer_than_the_flaw() {
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let version = package["version"].as_str().unwrap().split(['-', '+']).next().unwrap();
        let version: Vec<u64> = version.split('.').map(|part| part.parse().unwrap()).collect();
        for (_, least) in AT_LEAST.iter().filter(|(known, _)| *known == name) {
            assert!(version.as_slice() >= least.as_slice(), "{name} is {version:?} and must be {least:?} or later");
        }
    }
    assert!(rusqlite::version_number() >= 3_051_003, "SQLite {} can lose a commit", rusqlite::version());
}
