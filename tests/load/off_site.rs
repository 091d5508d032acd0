//! The cost of the continuous off-site copy for writers and readers: two servers on copies of one site, measured in
//! turns, one of them with an off-site target.

use crate::bars::Measured;
use crate::generator::{Callers, EAGER, Load, Seen};
use crate::server::{self, Server};
use crate::site::Requests;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Members who enter flight time while others read: 200 writes a second.
const WRITING: Callers = Callers { connections: 4, every: Some(Duration::from_millis(20)), open: false };
const CHAIN_TIME_MAX: Duration = Duration::from_secs(120);
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// The duration of writes between two checks for a tick.
const WARM_UP: Duration = Duration::from_secs(1);

pub struct Copied {
    with: Server,
    without: Server,
    second: PathBuf,
}

impl Copied {
    pub fn start(site: &Path, requests: &Requests) -> Result<Copied, String> {
        let second = site.with_file_name("second");
        std::fs::create_dir(&second).map_err(|e| format!("cannot make the off-site place: {e}"))?;
        let (with, without) = (server::copy(site, "copied")?, server::copy(site, "not-copied")?);
        let place = second.to_str().ok_or("the room has an odd name")?;
        // The server with an off-site target makes the base of its chain anyway. Neither server makes backups or drills
        // while it is measured.
        let no_backups = ("TUNNELDESK_BACKUP_EVERY_HOURS", "0");
        let copied = Copied {
            with: Server::product_with(&with, &[no_backups, ("TUNNELDESK_BACKUP_OFF_SITE", place)])?,
            without: Server::product_with(&without, &[no_backups])?,
            second,
        };
        let since = Instant::now();
        while copied.ticks() == 0 {
            if since.elapsed() > CHAIN_TIME_MAX {
                return Err(format!("no tick came to the off-site place within {CHAIN_TIME_MAX:?}"));
            }
            // Writes start after the base is complete: a base made under full load would fall so far behind that its
            // part of the WAL would be dropped.
            match copied.has_base() {
                true => _ = requests.time.run_by_these(WRITING, copied.with.address, WARM_UP)?,
                false => std::thread::sleep(LOOK_INTERVAL),
            }
        }
        server::command(&with, &["backup", "drill"])?;
        Ok(copied)
    }

    fn has_base(&self) -> bool {
        let bases = std::fs::read_dir(&self.second).into_iter().flatten().flatten();
        bases.map(|base| base.path()).any(|base| base.join("manifest.json").exists())
    }

    /// The number of ticks in the off-site target.
    fn ticks(&self) -> usize {
        let entries = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
        entries(&self.second).map(|base| entries(&base.join("ticks")).count()).sum()
    }

    /// Measures both servers in turns, each as often first as second, because pages of one run that the kernel writes
    /// later burden the next run.
    pub fn measure(&self, requests: &Requests, time: Duration) -> Result<Vec<(Measured, Seen)>, String> {
        use Measured::*;
        let (before, time) = (self.ticks(), time / 2);
        let turns = [(&self.with, true), (&self.without, false), (&self.without, false), (&self.with, true)];
        let mut seen = Vec::new();
        for (server, is_copied) in turns {
            let what = if is_copied { Copied } else { Plain };
            seen.push((what, costing(server, || requests.time.run(server.address, time))?));
        }
        let beside: (&Load, Callers) = (&requests.time, WRITING);
        for (server, is_copied) in turns {
            let what = if is_copied { ReadCopied } else { ReadPlain };
            let run = || requests.profile.run_among(EAGER, beside, server.address, time);
            seen.push((what, costing(server, run)?));
        }
        match self.ticks() > before {
            true => Ok(seen),
            false => Err("no tick came to the off-site place, so nothing was measured".to_owned()),
        }
    }

    /// The peak memory of the server with an off-site target, in KiB. Stops both servers.
    pub fn finish(self) -> Result<u64, String> {
        let kib = self.with.memory_kib("VmHWM");
        self.with.stop()?;
        self.without.stop()?;
        Ok(kib)
    }
}

fn costing(server: &Server, run: impl FnOnce() -> Result<Seen, String>) -> Result<Seen, String> {
    let before = server.cpu();
    Ok(run()?.costing(server.cpu() - before))
}
