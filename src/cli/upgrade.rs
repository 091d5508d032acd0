//! `tunneldesk upgrade`: upgrades the database of an earlier version, while no server runs.

use super::acquire::offline;
use super::{CommandResult, Global, done, failed};
use crate::clock::Clock;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::data_dir::DataDir;
use crate::store::migrate;
use serde_json::json;

pub(super) fn run(global: &Global) -> CommandResult {
    let (config, data_dir) = offline(global, DataDir::lock)?;
    let dir = config.data.clone();
    let mut bar = global.bar();
    let opened = Site::open_or_upgrade(&data_dir, config, Clock::machine(Moment(0)), &mut |step, done, all| {
        bar.set(step, done, all);
    });
    drop(bar);
    let (site, upgraded) = opened.map_err(failed)?;
    site.close();
    let to = migrate::latest();
    let Some(upgraded) = upgraded else {
        let words = format!("The site in {} has this version's schema, {to}: nothing was changed.", dir.display());
        return done(words, json!({ "from": to, "to": to, "backup": null }));
    };
    let (from, name) = (upgraded.from, upgraded.backup.name());
    let words = format!(
        "The site in {} was upgraded from schema {from} to {to}. Backup {name} has it as it was: `tunneldesk rollback` \
         brings that back.\n\nNext:\n  tunneldesk serve --data {0}",
        dir.display()
    );
    done(words, json!({ "from": from, "to": to, "backup": name }))
}
