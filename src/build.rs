//! Puts the git revision into the binary, for `--version`, and the number of the latest migration. Without git, and unless
//! `TUNNELDESK_REVISION` says it, the revision is unknown and the build goes on.

use std::process::Command;

fn main() {
    println!("cargo:rerun-if-env-changed=TUNNELDESK_REVISION");
    for path in [".git/HEAD", ".git/refs/heads", ".git/packed-refs"] {
        if std::path::Path::new(path).exists() {
            println!("cargo:rerun-if-changed={path}");
        }
    }
    let given = std::env::var("TUNNELDESK_REVISION").ok().filter(|revision| !revision.is_empty());
    let revision = given.or_else(|| git(&["rev-parse", "--short=12", "HEAD"])).unwrap_or_else(|| "unknown".to_owned());
    // Cargo hands it on to what `cargo run` starts, where a name like a setting's would be refused as an unknown one.
    println!("cargo:rustc-env=BUILD_REVISION={revision}");
    println!("cargo:rerun-if-changed={MIGRATIONS}");
    println!("cargo:rustc-env=LATEST_SCHEMA={}", latest_schema());
}

const MIGRATIONS: &str = "sql/migrations";

/// The number of the migration that runs last: 12 of `V0012__name.sql`.
fn latest_schema() -> i64 {
    let files = std::fs::read_dir(MIGRATIONS).expect("the migrations can be listed").flatten();
    let number = |name: &str| name.strip_prefix('V')?.split("__").next()?.parse().ok();
    files.filter_map(|file| number(file.file_name().to_str()?)).max().expect("there are migrations")
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
