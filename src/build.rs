//! Puts the git revision into the binary, for `--version`, and of the migrations the number of the latest, the checksum of the
//! first and the statements of all. Without git, and unless `TUNNELDESK_REVISION` says it, the revision is unknown and the build goes on.

use std::hash::{DefaultHasher, Hash, Hasher};
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
    let migrations = migrations();
    let (latest, _, _) = migrations.last().expect("there are migrations");
    println!("cargo:rustc-env=LATEST_SCHEMA={latest}");
    println!("cargo:rustc-env=FIRST_MIGRATION_CHECKSUM={}", checksum(&migrations[0]));
    let schema: String = migrations.iter().map(|(_, _, sql)| sql.as_str()).collect();
    let out = std::env::var("OUT_DIR").expect("cargo names a directory for what is made");
    std::fs::write(format!("{out}/schema.sql"), schema).expect("that directory takes files");
}

const MIGRATIONS: &str = "sql/migrations";

/// The number, the name and the text of each migration, in their order: 12 and `name` of `V0012__name.sql`.
fn migrations() -> Vec<(i32, String, String)> {
    let files = std::fs::read_dir(MIGRATIONS).expect("the migrations can be listed").flatten();
    let migration = |file: std::fs::DirEntry| {
        let name = file.file_name().into_string().ok()?;
        let (number, name) = name.strip_prefix('V')?.strip_suffix(".sql")?.split_once("__")?;
        let sql = std::fs::read_to_string(file.path()).expect("a migration can be read");
        Some((number.parse().ok()?, name.to_owned(), sql))
    };
    let mut migrations: Vec<_> = files.filter_map(migration).collect();
    migrations.sort();
    migrations
}

/// The checksum by which the migration library knows a migration; a test compares the two.
fn checksum((number, name, sql): &(i32, String, String)) -> u64 {
    let mut hasher = DefaultHasher::new();
    (name, number, sql).hash(&mut hasher);
    hasher.finish()
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
