//! Rollbacks that are refused, and the audit row that a rollback leaves. Here a backup of this version is marked as one from
//! before an upgrade.

use super::{Desk, schema, text};
use crate::harness::edit_manifest;
use serde_json::json;
use sha2::{Digest, Sha256};

/// A backup as an upgrade leaves it, of a database with this schema.
fn way_back(desk: &Desk, schema: i64) -> std::path::PathBuf {
    desk.run(&["backup"]).done();
    let found = std::fs::read_dir(desk.data().join("backups")).unwrap().map(|entry| entry.unwrap().path());
    let backup = found.filter(|path| path.join("manifest.json").exists()).max().unwrap();
    edit_manifest(&backup, |manifest| {
        manifest["schema"] = json!(schema);
        manifest["upgrade"] = json!({ "from_version": "0.0.9 (abc)", "to_schema": schema + 1 });
    });
    backup
}

fn members(desk: &Desk) -> usize {
    desk.json(&["member", "list"]).as_array().unwrap().len()
}

#[test]
fn a_second_rollback_does_not_undo_what_came_after_the_first() {
    let desk = Desk::with_site();
    way_back(&desk, schema(&desk.database()));
    desk.add_member("late", "member");
    let said = desk.run(&["rollback"]).trouble(1);
    assert!(said.contains("nothing to take back"), "{said}");
    assert_eq!(members(&desk), 1);
}

#[test]
fn a_rollback_to_a_backup_with_the_key_of_another_site_is_refused() {
    let desk = Desk::with_site();
    desk.add_member("jane", "member");
    let backup = way_back(&desk, schema(&desk.database()) - 1);
    let key = format!("{}\n", "7".repeat(64));
    let refused = |part: &str| {
        let said = desk.run(&["rollback"]).trouble(2);
        assert!(said.contains("nothing was changed") && said.contains(part), "{said}");
        assert_eq!(members(&desk), 1);
        assert!(!desk.data().join("replaced-1").exists());
    };
    std::fs::write(backup.join("site.key"), &key).unwrap();
    refused("site.key");
    // The rollback is also refused if the manifest names that key.
    let digest: String = Sha256::digest(&key).iter().map(|byte| format!("{byte:02x}")).collect();
    edit_manifest(&backup, |manifest| manifest["files"]["site.key"] = json!({ "bytes": key.len(), "sha256": digest }));
    refused("is not that of its file");
}

#[test]
fn a_rollback_is_recorded_with_its_actor_in_the_database_that_it_brings_back() {
    let desk = Desk::with_site();
    way_back(&desk, schema(&desk.database()) - 1);
    desk.add_member("late", "member");
    let done = desk.json(&["rollback"]);
    assert_eq!(text(&done["version"]), "0.0.9 (abc)");
    assert_eq!(members(&desk), 0);
    let log = desk.json(&["audit", "list"]);
    let last = &log[0];
    assert_eq!(text(&last["action"]), "site.rolled_back", "{log}");
    assert!(text(&last["actor"]).starts_with("cli:"), "{log}");
    assert!(text(&last["subject"]).starts_with("backup:"), "{log}");
}
