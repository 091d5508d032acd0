//! One more migration, in a build for tests: it stands for what a later version brings. A site of this version is then one of an
//! earlier version, which the tests upgrade and take back.

use refinery::Migration;
use std::path::PathBuf;

/// The environment variable that names the file of the migration. It is no setting, so it has not the prefix of one.
const FILE: &str = "LATER_MIGRATION_FOR_TESTS";

/// The file of the migration, where there is one more.
pub(super) fn path() -> Option<PathBuf> {
    std::env::var_os(FILE).map(PathBuf::from)
}

pub(super) fn read(path: PathBuf) -> Migration {
    let sql = std::fs::read_to_string(path).expect("the tests name a file that is there");
    Migration::unapplied(&format!("V{}__later", super::latest()), &sql).expect("that is how migrations are named")
}
