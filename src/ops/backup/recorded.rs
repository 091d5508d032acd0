//! What happens to backups, in the audit log.

use super::backup_store::Backup;
use crate::domain::audit::{Actor, Detail, Subject};
use crate::site::Site;
use crate::store::tables::audit;

/// Writes the audit row. A backup counts also where its row cannot be written, on a full disk for example.
pub(super) fn record(site: &Site, actor: &Actor, action: &'static str, backup: &Backup, detail: Detail) {
    let subject = Subject::Backup(backup.name());
    let recorded = site.store.write(site.now(), |tx| Ok(audit::insert(tx, actor, action, &subject, &detail)?));
    _ = recorded.inspect_err(|e| tracing::error!(action, cause = %e, "an action is missing in the audit log"));
}
