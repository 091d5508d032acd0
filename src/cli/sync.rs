//! `tunneldesk sync`: sends the partner metrics upstream now, or shows how far they are. A running server sends them
//! by itself; `--from` sends them from another machine.

use super::shell::Shell;
use super::{CommandError, CommandResult, Global, Row, Table, done, failed, nothing, refused, shown_moment};
use crate::clock::Clock;
use crate::config;
use crate::jobs::sync::{self, Reports, Status, Uploader};
use crate::moment::Moment;
use crate::ops::Progress;
use crate::site::Site;
use crate::store::tables::sync::Refused;
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc;

const REFUSED_SHOWN_MAX: usize = 50;

#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 done; 1 refused, for instance because the settings name no receiver; 2 failed: the receiver \
                  is not reached or takes nothing. What waits, waits; nothing is lost."
)]
pub(super) struct Sync {
    /// Send what waits now, and end; the default
    #[arg(long, conflicts_with_all = ["status", "dry_run", "again", "rewind"])]
    once: bool,
    /// Show how far the metrics are, what waits, and what the receiver refuses
    #[arg(long, conflicts_with_all = ["dry_run", "again", "rewind"])]
    status: bool,
    /// Say what would be sent, and send nothing
    #[arg(long, conflicts_with_all = ["again", "rewind"])]
    dry_run: bool,
    /// Offer the rows that the receiver refused once more
    #[arg(long, conflicts_with = "rewind")]
    again: bool,
    /// Send everything after this `seq` again, to a stream that was emptied; 0: everything
    #[arg(long, value_name = "SEQ", value_parser = clap::value_parser!(i64).range(0..))]
    rewind: Option<i64>,
    /// Send for a site on another machine, read from its report; without --once until stopped
    #[arg(long, value_name = "URL", requires = "token_file", conflicts_with_all = ["dry_run", "again", "rewind"])]
    from: Option<String>,
    /// The file with a token of `tunneldesk session issue --role sync`
    #[arg(long, value_name = "FILE", requires = "from")]
    token_file: Option<PathBuf>,
    /// The file that remembers how far the rows of that site went
    #[arg(long, value_name = "FILE", requires = "from", default_value = "tunneldesk-sync.json")]
    state: PathBuf,
    /// PEM: the authority of that site's certificate, if it has one of its own
    #[arg(long, value_name = "FILE", requires = "from")]
    site_ca: Option<PathBuf>,
}

impl Sync {
    /// Whether the command needs no site on this machine.
    pub(super) fn is_remote(&self) -> bool {
        self.from.is_some()
    }

    pub(super) fn run(&self, site: &Shell, progress: &mut Progress) -> CommandResult {
        if self.status {
            let status = sync::status(site)?;
            return status_result(&status, sync::refused(site)?);
        }
        let settings = site.config.sync.as_ref().ok_or_else(no_receiver)?;
        if self.dry_run {
            return dry_run(site, settings);
        }
        if let Some(seq) = self.rewind {
            return rewind(site, seq);
        }
        let mut uploader = sync::uploader(site).map_err(refused)?.ok_or_else(no_receiver)?;
        if self.again {
            return again(site, &mut uploader, progress);
        }
        let total = sync::status(site)?.waiting_rows.unsigned_abs();
        // The snapshot of the status has no later rows, so it is released.
        site.store.release();
        let rows = sync::drain(&mut uploader, &mut |rows| progress("sending", rows, total.max(rows)));
        let status = sync::status(site)?;
        carried(rows.map_err(failed)?, &status)
    }

    /// Sends for a site on another machine; this machine needs no site.
    pub(super) fn run_remote(&self, global: &Global) -> CommandResult {
        let config = global.checked()?;
        let settings = config.sync.as_ref().ok_or_else(no_receiver)?;
        let mut reports = self.reports()?;
        if self.status {
            let status = reports.status(settings).map_err(failed)?;
            return status_result(&status, reports.refused_rows().to_vec());
        }
        let upstream = sync::upstream(settings, &reports.id(), reports.clock()).map_err(refused)?;
        let total = reports.status(settings).map_err(failed)?.waiting_rows.unsigned_abs();
        let mut uploader = Uploader::new(Box::new(reports), upstream, settings, Arc::default());
        if !self.once {
            crate::log::start(&config.log);
            // Runs until the process ends: the position is stored after each batch.
            let (_never, stop) = mpsc::channel();
            sync::work(uploader, settings, &stop);
            return nothing();
        }
        let mut bar = global.bar();
        let rows = sync::drain(&mut uploader, &mut |rows| bar.set("sending", rows, total.max(rows)));
        drop((bar, uploader));
        let status = self.reports()?.status(settings).map_err(failed)?;
        carried(rows.map_err(failed)?, &status)
    }

    fn reports(&self) -> Result<Reports, CommandError> {
        let file = |path: &PathBuf| {
            crate::files::read_given(path).map_err(|e| refused(format!("cannot read {}: {e}", path.display())))
        };
        let token = self.token_file.as_ref().map(file).transpose()?.unwrap_or_default();
        let token = String::from_utf8_lossy(&token).trim().to_owned();
        let authority = self.site_ca.as_ref().map(file).transpose()?;
        let url = self.from.as_deref().unwrap_or_default();
        let clock = Arc::new(Clock::machine(Moment(0)));
        Reports::open(url, token, authority.as_deref(), self.state.clone(), clock).map_err(failed)
    }
}

fn no_receiver() -> CommandError {
    refused("nothing goes upstream: name a receiver in [sync] of tunneldesk.toml (url, client_id, secret_file)")
}

fn carried(rows: u64, status: &Status) -> CommandResult {
    let except = match status.refused_rows {
        0 => String::new(),
        some => format!(", except {} that it refuses (tunneldesk sync --status)", count(some)),
    };
    let position = format!("the receiver has everything up to row {}{except}.", status.cursor);
    let words = match rows {
        0 => format!("Nothing waited: {position}"),
        _ => format!("Sent {}; {position}", count(rows as i64)),
    };
    done(words, json!({ "rows": rows, "status": status }))
}

fn again(site: &Site, uploader: &mut Uploader, progress: &mut Progress) -> CommandResult {
    let mut told = |offered, all| progress("sending again", offered as u64, all as u64);
    let taken = uploader.offer_refused(&mut told).map_err(failed)?;
    let left = sync::status(site)?.refused_rows;
    let words = match (taken, left) {
        (0, 0) => "The receiver refuses nothing.".to_owned(),
        _ => format!("The receiver took {} this time and refuses {}.", count(taken as i64), count(left)),
    };
    done(words, json!({ "taken": taken, "refused_rows": left }))
}

fn rewind(site: &Shell, seq: i64) -> CommandResult {
    let waiting = sync::rewind(site, site.actor(), seq)?;
    let words = format!("{} go again, unless the receiver says that it has them.", count(waiting));
    done(words, json!({ "cursor": seq, "waiting_rows": waiting }))
}

fn dry_run(site: &Site, settings: &config::Sync) -> CommandResult {
    let status = sync::status(site)?;
    let batch = sync::next(site, settings)?;
    let first = batch.as_ref().map(|batch| {
        json!({ "key": batch.key(), "after": batch.after, "last": batch.last, "rows": batch.rows, "bytes": batch.body.len() })
    });
    let values = json!({ "waiting_rows": status.waiting_rows, "first_batch": first });
    let Some(batch) = batch else { return done("Nothing to send.", values) };
    let words = format!(
        "{} would go to {}, unless it says that it has them.\nFirst batch: rows {} to {} in {:.1} KB, key {}",
        count(status.waiting_rows),
        status.upstream,
        batch.after + 1,
        batch.last,
        batch.body.len() as f64 / 1e3,
        batch.key()
    );
    done(words, values)
}

fn count(rows: i64) -> String {
    if rows == 1 { "1 row".to_owned() } else { format!("{rows} rows") }
}

fn status_result(status: &Status, refused: Vec<Refused>) -> CommandResult {
    let values = json!({ "status": status, "refused": refused });
    let mut lines = vec![("site", status.site_id.clone()), ("upstream", upstream(status))];
    let taken = status.taken_at.map_or(String::new(), |at| format!(", the last on {}", shown_moment(at)));
    let batches = match status.batches {
        0 => "nothing yet".to_owned(),
        1 => format!("{} in 1 batch{taken}", count(status.rows)),
        many => format!("{} in {many} batches{taken}", count(status.rows)),
    };
    lines.push(("sent", batches));
    lines.push(("position", format!("row {} of {}", status.cursor, status.last_seq)));
    lines.push((
        "waiting",
        match status.waiting_rows {
            0 => "nothing".to_owned(),
            rows => format!("{}, the oldest for {}", count(rows), duration(status.lag_seconds)),
        },
    ));
    if !status.trouble.is_empty() {
        let tried = status.tried_at.map_or(String::new(), |at| format!(", the last on {}", shown_moment(at)));
        let tries =
            if status.failed_tries == 1 { "1 try".to_owned() } else { format!("{} tries", status.failed_tries) };
        lines.push(("trouble", format!("{} ({tries} in a row{tried})", status.trouble)));
    }
    if let Some(at) = status.renumbered_at {
        let why = "because the file was put back and the receiver has others under theirs";
        lines.push(("renumbered", format!("{} on {}, {why}", count(status.renumbered), shown_moment(at))));
    }
    lines.push(("refused", if refused.is_empty() { "nothing".to_owned() } else { count(status.refused_rows) }));
    let lines: Vec<_> = lines.iter().map(|(name, value)| format!("{name:<12}{value}")).collect();
    done(lines.join("\n") + &refused_in_words(refused), values)
}

fn upstream(status: &Status) -> String {
    match (status.upstream.as_str(), status.scheduled) {
        ("", _) => "none: name one in [sync] of tunneldesk.toml".to_owned(),
        (upstream, true) => upstream.to_owned(),
        (upstream, false) => format!("{upstream}, by `tunneldesk sync` alone"),
    }
}

fn refused_in_words(refused: Vec<Refused>) -> String {
    if refused.is_empty() {
        return String::new();
    }
    let table = Table::new(refused).shown_max(REFUSED_SHOWN_MAX);
    format!(
        "\n\n{table}\n\nThe others go past them. They are offered again every day, and now by `tunneldesk sync --again`."
    )
}

impl Row for Refused {
    const HEADINGS: &'static [&'static str] = &["ROW", "REFUSED", "TRIES", "THE RECEIVER SAID"];

    fn cells(&self) -> Vec<String> {
        vec![self.seq.to_string(), shown_moment(self.refused_at), self.tries.to_string(), self.error.clone()]
    }

    fn value(&self) -> Value {
        json!(self)
    }
}

/// A duration as people say it, such as `5 min`.
fn duration(seconds: i64) -> String {
    match seconds {
        ..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}
