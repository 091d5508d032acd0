//! `tunneldesk clock …`: sets the database's clock back after the machine's clock was ahead, while no server runs.

use super::acquire::offline;
use super::shell::shell_actor;
use super::{CommandResult, Global, done, failed, refused, show_moments_of, shown_moment};
use crate::clock;
use crate::moment::Moment;
use crate::ops::lifecycle;
use crate::site::Site;
use crate::store::alarm;
use crate::store::data_dir::DataDir;
use clap::Subcommand;
use serde_json::json;

#[derive(Subcommand)]
pub(super) enum Clock {
    /// Accept the machine's clock although the database has seen a later moment; the server must be stopped
    ///
    /// Sessions, tokens and codes that were made meanwhile end; what was written meanwhile keeps its date. Where much was,
    /// a backup from before is the better way: `tunneldesk restore`.
    SetBack,
}

impl Clock {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let Clock::SetBack = self;
        let actor = shell_actor();
        let (config, data_dir) = offline(global, DataDir::lock)?;
        let machine = clock::Clock::machine(Moment(0)).now();
        let site = Site::open(&data_dir, config, clock::Clock::machine(Moment(0))).map_err(failed)?;
        show_moments_of(&site);
        if !site.clock.is_suspect() {
            site.close();
            return Err(refused(format!(
                "the database has seen nothing later than this machine's clock ({}): there is nothing to set back",
                shown_moment(machine)
            )));
        }
        let seen = site.now();
        let ended = lifecycle::set_clock_back(&site, &actor, machine);
        site.close();
        let ended = ended?;
        alarm::clear(data_dir.dir(), alarm::Kind::ClockAhead);
        let words = format!(
            "The site goes on at {}; it had come to {}. {ended} sessions, tokens and codes from then have ended.\n\
             What was written meanwhile keeps its date.",
            shown_moment(machine),
            shown_moment(seen)
        );
        done(words, json!({ "from": seen, "to": machine, "ended": ended }))
    }
}
