//! `tunneldesk rollback`: restores the database as it was before the last upgrade, while no server runs.

use super::acquire::offline;
use super::shell::shell_actor;
use super::{CommandResult, Global, done, failed, refused, show_moments_in, shown_moment};
use crate::domain::local_time::TimeZone;
use crate::ops::backup::rollback::{self, RollbackError, RolledBack};
use crate::store::data_dir::DataDir;
use crate::store::queries::erasure::zone_of;
use serde_json::json;

pub(super) fn run(global: &Global) -> CommandResult {
    let by = shell_actor();
    let (config, data_dir) = offline(global, DataDir::lock)?;
    let mut bar = global.bar();
    let ran = rollback::run(&data_dir, &config, &by, &mut |step, done, all| bar.set(step, done, all));
    drop(bar);
    let rolled_back = ran.map_err(|error| match error {
        RollbackError::NothingToDo(text) => refused(text),
        RollbackError::Failed(text) => failed(format!("nothing was changed: {text}")),
    })?;
    let manifest = &rolled_back.backup.manifest;
    let zone = manifest.time_zone().or_else(|| zone_of(&data_dir.database()));
    show_moments_in(zone.unwrap_or(TimeZone::UTC));
    let values = json!({ "backup": rolled_back.backup.name(), "made_at": manifest.made_at, "schema": manifest.schema,
                         "version": version(&rolled_back), "replaced": rolled_back.replaced,
                         "erased_and_back": rolled_back.erased_and_back });
    done(in_words(&rolled_back, &config.data), values)
}

fn version(done: &RolledBack) -> Option<&str> {
    let upgrade = done.backup.manifest.upgrade.as_ref();
    upgrade.map(|upgrade| upgrade.from_version.as_str()).filter(|version| !version.is_empty())
}

fn in_words(done: &RolledBack, data: &std::path::Path) -> String {
    let manifest = &done.backup.manifest;
    let kept = match &done.replaced {
        Some(dir) => format!("\nWhat was written since then is in {} alone.", dir.display()),
        None => "\nIt was so already: nothing was changed.".to_owned(),
    };
    let back = match done.erased_and_back {
        0 => "",
        1 => "\nOne member who was erased since is in it again; the next upgrade erases them again.",
        _ => &*format!(
            "\n{} members who were erased since are in it again; the next upgrade erases them again.",
            done.erased_and_back
        ),
    };
    let which = match version(done) {
        Some(version) => format!("tunneldesk {version}"),
        None => format!("the tunneldesk of before (it knows schema {} and no later one)", manifest.schema),
    };
    format!(
        "The site is as it was before the upgrade of {} (schema {}, {}).{kept}{back}\n\nNext: install {which}, and with that one\n  \
         tunneldesk serve --data {}\nThis version, {}, would upgrade the site again.",
        shown_moment(manifest.made_at),
        manifest.schema,
        done.backup.name(),
        data.display(),
        crate::VERSION
    )
}
