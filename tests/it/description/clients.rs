//! The clients of `packaging/clients`: what is generated of them is what today's description makes.

use crate::harness::description::text;
use std::process::Command;

#[test]
fn the_generated_part_of_the_clients_is_what_the_description_makes() {
    let dir = tempfile::tempdir().unwrap();
    let document = dir.path().join("openapi.json");
    std::fs::write(&document, text()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/packaging/clients/generate");
    let output = Command::new("python3").arg(script).arg("--check").arg(&document).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
