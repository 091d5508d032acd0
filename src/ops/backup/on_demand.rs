//! A backup or a drill that a clerk starts at the desk.

use super::{drill, make};
use crate::domain::audit::Actor;
use crate::ops::on_demand;
use crate::site::Site;
use crate::store::copy_check::CheckSpeed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    Backup,
    Drill,
}

/// Starts the work. `false`: a backup or a drill that was started so is still running.
pub(crate) fn begin(site: &Site, work: Work, actor: &Actor) -> bool {
    let actor = actor.clone();
    on_demand::begin(site, work, move |site| run(site, work, &actor))
}

fn run(site: &Site, work: Work, actor: &Actor) -> Result<String, String> {
    match work {
        Work::Backup => {
            let made = make(site, actor, CheckSpeed::Gentle, &mut |_, _, _| ())?;
            match made.off_site {
                Some(Err(cause)) => Err(format!("{} has no off-site copy: {cause}", made.backup.name())),
                _ => Ok(made.backup.name()),
            }
        }
        Work::Drill => {
            let drill = drill::run(site, actor, CheckSpeed::Gentle, &mut |_, _, _| ())?;
            if drill.trouble.is_empty() { Ok(drill.backup) } else { Err(drill.trouble) }
        }
    }
}
