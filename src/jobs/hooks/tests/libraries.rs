//! The standard's own libraries, which verify what was sent.

use super::receiver::Got;
use serde_json::json;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// The verdict of both libraries, in Python and in JavaScript, on each request under a secret: they are the same.
pub(super) fn verdicts(requests: &[(&str, &Got)]) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let installed = Command::new(root.join("tests/install-standardwebhooks")).output().unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let lines: String = requests
        .iter()
        .map(|(secret, got)| {
            let line = json!({ "secret": secret, "headers": got.headers, "body": got.body, "now": got.now });
            format!("{line}\n")
        })
        .collect();
    let python = root.join("target/standardwebhooks/python/bin/python");
    let [python, javascript] = [(python.as_path(), "webhooks.py"), (Path::new("node"), "webhooks.js")]
        .map(|(program, script)| run(Command::new(program).arg(root.join("tests/callbacks").join(script)), &lines));
    assert_eq!(python.len(), requests.len());
    assert_eq!(python, javascript, "the libraries disagree");
    python
}

fn run(program: &mut Command, lines: &str) -> Vec<String> {
    let mut running = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut stdin = running.stdin.take().unwrap();
    let lines = lines.to_owned();
    let feeds = std::thread::spawn(move || stdin.write_all(lines.as_bytes()).unwrap());
    let said = String::from_utf8(running.wait_with_output().unwrap().stdout).unwrap();
    feeds.join().unwrap();
    said.lines().map(str::to_owned).collect()
}
