//! `tunneldesk key …`: replaces the site key, while no server runs.

use super::acquire::offline;
use super::shell::shell_actor;
use super::{CommandResult, Global, done, failed};
use crate::clock::Clock;
use crate::moment::Moment;
use crate::ops::signature::Signer;
use crate::site::Site;
use crate::store::data_dir::DataDir;
use clap::Subcommand;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum Key {
    /// Make a new site key and seal everything by it, and a new key by which copies are signed; the server must be stopped
    Rotate,
}

impl Key {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let Key::Rotate = self;
        let by = shell_actor();
        let (config, data_dir) = offline(global, DataDir::lock)?;
        let dir = config.data.clone();
        let site = Site::open(&data_dir, config, Clock::machine(Moment(0))).map_err(failed)?;
        let rotated = site.rotate_key(&data_dir, &by);
        site.close();
        let rotated = rotated.map_err(failed)?;
        let signer = Signer::ensure(&dir).map_err(failed)?.successor();
        signer.write(&dir).map_err(|e| failed(format!("cannot write the new signing key: {e}")))?;
        let fingerprint = signer.public().fingerprint();
        let damaged = match rotated.damaged {
            0 => String::new(),
            damaged => format!(" {damaged} of them could not be opened before, and stay so."),
        };
        let words = format!(
            "The site has a new key, and {} values are sealed by it.{damaged} PINs, recovery codes and delays go on.\n\
             Copies of the database from before open with the old key only, which is gone from here: make a new backup \
             of {} now, database and key together.\n\
             Copies off site are signed by a new key too, {fingerprint}: note it. A standby refuses it until its copy is moved \
             away.",
            rotated.values,
            dir.display()
        );
        done(words, json!({ "values": rotated.values, "damaged": rotated.damaged, "fingerprint": fingerprint }))
    }
}
