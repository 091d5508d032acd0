//! A source on another machine: the rows are read from the site's report with a session of the role `sync`. The state
//! of the sync is in a separate file.

use super::Status;
use super::batch::Row;
use super::source::{Change, Source};
use super::upstream::{Position, Trouble, error_line};
use crate::clock::Clock;
use crate::config::Sync;
use crate::moment::Moment;
use crate::ops::agent::agent;
use crate::store::tables::sync::{Refused, State};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use ureq::Agent;

const REPORT: &str = "/api/admin/reports/external/partner-metrics/history";
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The greatest number of rows in one page of the report.
const PAGE_ROWS_MAX: i64 = 500;

pub(crate) struct Reports {
    url: String,
    token: String,
    agent: Agent,
    site_id: String,
    clock: Arc<Clock>,
    file: PathBuf,
    file_state: FileState,
    /// The lock on the state file, which keeps other processes from writing it.
    _lock: File,
}

/// The content of the state file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct FileState {
    state: State,
    refused: Vec<Refused>,
}

#[derive(Deserialize)]
struct Page {
    total: i64,
    data: Vec<Row>,
}

impl Reports {
    /// Opens the report at the site's `url` with a session `token`, and reads the site's id. `authority`: PEM
    /// certificates that are trusted instead of the public ones. The error is one line.
    pub(crate) fn open(
        url: &str,
        token: String,
        authority: Option<&[u8]>,
        file: PathBuf,
        clock: Arc<Clock>,
    ) -> Result<Reports, String> {
        let lock = lock(&file)?;
        let file_state = read(&file)?;
        let url = url.trim_end_matches('/').trim_end_matches("/api").to_owned();
        let agent = agent(authority, "the certificate of the authority", ANSWER_TIME_MAX)?;
        let mut reports = Reports { url, token, agent, site_id: String::new(), clock, file, file_state, _lock: lock };
        reports.page(Some(i64::MAX - 1), 1)?;
        Ok(reports)
    }

    pub(crate) fn id(&self) -> String {
        self.site_id.clone()
    }

    pub(crate) fn clock(&self) -> Arc<Clock> {
        self.clock.clone()
    }

    pub(crate) fn refused_rows(&self) -> &[Refused] {
        &self.file_state.refused
    }

    /// The status of the site's sync.
    pub(crate) fn status(&mut self, settings: &Sync) -> Result<Status, String> {
        let state = self.file_state.state.clone();
        let newest = self.page(None, 1)?.data.first().map_or(0, |row| row.seq);
        let waiting = self.page(Some(state.cursor), 1)?;
        let lag_seconds = waiting.data.first().map_or(0, |oldest| (self.clock.now() - oldest.at).max(0));
        let State {
            cursor, taken_at, tried_at, trouble, failed_tries, batches, rows, renumbered, renumbered_at, ..
        } = state;
        Ok(Status {
            site_id: self.id(),
            upstream: settings.upstream.without_secrets(),
            scheduled: false,
            cursor,
            last_seq: newest,
            waiting_rows: waiting.total,
            lag_seconds,
            refused_rows: self.file_state.refused.len() as i64,
            taken_at,
            tried_at,
            trouble,
            failed_tries,
            batches,
            rows,
            renumbered,
            renumbered_at,
        })
    }

    /// The newest rows, or with `after` the oldest rows after that one.
    fn page(&mut self, after: Option<i64>, limit: i64) -> Result<Page, String> {
        let body = serde_json::json!({ "after": after, "limit": limit }).to_string();
        let failed = |e: ureq::Error| error_line(format!("the site cannot be asked: {e}"));
        let request = self.agent.post(format!("{}{REPORT}", self.url)).header("content-type", "application/json");
        let mut answer = request.header("token", &self.token).send(body).map_err(failed)?;
        if answer.status() == 401 || answer.status() == 403 {
            return Err(
                "the site refuses the session: issue one with `tunneldesk session issue --role sync`".to_owned()
            );
        }
        if !answer.status().is_success() {
            return Err(format!("the site answered {}", answer.status()));
        }
        let site_id = answer.headers().get("x-site-id").and_then(|id| id.to_str().ok()).unwrap_or_default().to_owned();
        if site_id.is_empty() || (!self.site_id.is_empty() && site_id != self.site_id) {
            return Err(format!("{} is not the site that it was, or none of this version", self.url));
        }
        self.site_id = site_id;
        let text = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec().map_err(failed)?;
        serde_json::from_slice(&text).map_err(|e| format!("the site's report cannot be read: {e}"))
    }
}

impl Source for Reports {
    fn site_id(&self) -> &str {
        &self.site_id
    }

    fn now(&self) -> Moment {
        self.clock.now()
    }

    fn state(&mut self) -> Result<State, String> {
        Ok(self.file_state.state.clone())
    }

    fn write(&mut self, state: &State, change: Option<Change>) -> Result<(), String> {
        self.file_state.state = state.clone();
        match change {
            Some(Change::Refused(refused)) => {
                self.file_state.refused.retain(|row| row.seq != refused.seq);
                self.file_state.refused.push(refused);
                self.file_state.refused.sort_by_key(|row| row.seq);
            }
            Some(Change::Taken(after, last)) => {
                self.file_state.refused.retain(|row| row.seq <= after || row.seq > last)
            }
            None => {}
        }
        write(&self.file, &self.file_state).map_err(|e| format!("cannot write {}: {e}", self.file.display()))
    }

    fn rows(&mut self, after: i64, limit: i64) -> Result<Vec<Row>, String> {
        let mut rows: Vec<Row> = Vec::new();
        while (rows.len() as i64) < limit {
            let wanted = (limit - rows.len() as i64).min(PAGE_ROWS_MAX);
            let page = self.page(Some(rows.last().map_or(after, |row| row.seq)), wanted)?.data;
            let short = (page.len() as i64) < wanted;
            rows.extend(page);
            if short {
                break;
            }
        }
        Ok(rows)
    }

    fn refused(&mut self, tried_before: Moment, limit: i64) -> Result<Vec<Refused>, String> {
        let due = self.file_state.refused.iter().filter(|row| row.tried_at < tried_before);
        Ok(due.take(limit.unsigned_abs() as usize).cloned().collect())
    }

    /// Called where another machine sent rows for this site, or the state file is new. Only the site itself can
    /// renumber its rows.
    fn skip_to(&mut self, state: &State, position: Position) -> Result<State, Trouble> {
        let state =
            State { cursor: position.seq, held: position.seq, offered: position.seq, pending: 0, ..state.clone() };
        self.write(&state, None).map_err(Trouble::later)?;
        Ok(state)
    }
}

fn with_suffix(file: &Path, end: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(end);
    name.into()
}

fn lock(file: &Path) -> Result<File, String> {
    let path = with_suffix(file, ".lock");
    let failed = |e: std::io::Error| format!("cannot open {}: {e}", path.display());
    let lock = crate::files::open_with(File::options().create(true).append(true), &path).map_err(failed)?;
    lock.try_lock().map_err(|_| format!("another sync works with {}: wait for it or stop it", file.display()))?;
    Ok(lock)
}

fn read(file: &Path) -> Result<FileState, String> {
    match crate::files::read(file) {
        Ok(json) => serde_json::from_slice(&json).map_err(|e| {
            format!("{} is damaged: {e}; remove it, and the receiver says where to go on", file.display())
        }),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(FileState::default()),
        Err(e) => Err(format!("cannot read {}: {e}", file.display())),
    }
}

/// Replaces the state file atomically, and flushes it.
fn write(file: &Path, state: &FileState) -> std::io::Result<()> {
    let unfinished = with_suffix(file, ".new");
    let mut new = File::create(&unfinished)?;
    new.write_all(&serde_json::to_vec(state)?)?;
    new.sync_all()?;
    std::fs::rename(&unfinished, file)?;
    let dir = file.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(dir)?.sync_all()
}
