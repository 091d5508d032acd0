//! `tunneldesk serve`: runs the site.

use super::output::FAILED;
use super::owner::become_owner;
use super::socket::SocketFile;
use super::{CommandError, CommandResult, Global, acquire, check_settings, control, failed, holder, nothing, refused};
use crate::clock::Clock;
use crate::config::Config;
use crate::demo;
use crate::jobs;
use crate::moment::Moment;
use crate::ops::backup::upgrade::Upgraded;
use crate::ops::footprint;
use crate::ops::replication::resume::Rest;
use crate::ops::replication::{self, ReplicationThread};
use crate::ops::shutdown::{self, ShutdownCause, ShutdownWatch};
use crate::ops::standby;
use crate::ops::systemd::Service;
use crate::server::{self, Running, Sockets, watchdog};
use crate::site::Site;
use crate::store::Condition;
use crate::store::data_dir::{DataDir, LockError};
use crate::store::integrity;
use crate::store::reserve::Reserve;
use clap::Args;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::Write;
use std::net::TcpListener;
use std::sync::{Arc, mpsc};
use std::time::Duration;

/// How often a running server checks the disk.
const WATCH_INTERVAL: Duration = Duration::from_millis(500);
/// The time that answers which are ready get after a failed flush.
const STOPPED_DRAIN_TIME_MAX: Duration = Duration::from_millis(300);
/// Checks of the disk between two releases of free memory, each of which takes about a millisecond.
const CHECKS_BETWEEN_SHEDDING: u64 = 20;
/// Checks of the disk before the first release of memory after a start: the jobs have begun by then.
const CHECKS_BEFORE_SHEDDING: u64 = 2;
/// Descriptors that are no connections: the database and its readers, the listeners, a backup or a mail that is being
/// sent.
const DESCRIPTORS_BESIDE: u64 = 40;
/// The least number of connections, however few descriptors the system allows.
const CONNECTIONS_MIN: u64 = 8;

#[derive(Args)]
pub(super) struct Serve {
    /// Run a site full of invented people, in a directory of its own
    #[arg(long)]
    demo: bool,
    /// Where to listen, ADDRESS:PORT; may be given several times [default: `listen` of the settings]
    #[arg(long, value_name = "ADDR")]
    listen: Vec<String>,
    /// Do not flush the disk for a write: for the control of the power cuts, which must lose something
    #[cfg(debug_assertions)]
    #[arg(long, hide = true)]
    flush_seldom: bool,
    /// What the off-site copy gets wrong: for the control of the lost disks, which must lose something
    #[cfg(debug_assertions)]
    #[arg(long, hide = true, value_parser = replication::Fault::parse)]
    off_site_fault: Option<replication::Fault>,
}

/// The jobs that run while the database takes writes.
struct Jobs {
    until_dropped: Vec<mpsc::Sender<()>>,
    sending: jobs::outbox::OutboxThreads,
    replicating: Option<ReplicationThread>,
}

impl Jobs {
    fn start(site: &Site) -> Result<Jobs, CommandError> {
        let until_dropped = vec![
            start("check", site, jobs::check_database)?,
            start("scrub", site, jobs::scrub::run_until_stopped)?,
            start("audit end", site, crate::ops::audit_end::keep_until_stopped)?,
            start("purge", site, jobs::purge_until_stopped)?,
            start("backup", site, crate::ops::backup::run_until_stopped)?,
            start("reminders", site, jobs::reminders::run_until_stopped)?,
            start("sync", site, jobs::sync::run_until_stopped)?,
            start("webhooks", site, jobs::hooks::run_until_stopped)?,
            start("status", site, jobs::status::run_until_stopped)?,
            start("discovery", site, jobs::discovery::run_until_stopped)?,
            start("fence", site, standby::run_until_stopped)?,
            start("promoted", site, jobs::standby::ask_former_main)?,
        ];
        let cannot = |e| failed(format!("cannot start a thread: {e}"));
        let replicating = replication::start(site, crate::ops::backup::make_base).map_err(cannot)?;
        Ok(Jobs { until_dropped, sending: jobs::outbox::start(site).map_err(failed)?, replicating })
    }

    fn stop(self) {
        drop(self.until_dropped);
        self.sending.stop();
        // Replication stops last, so that every write is copied.
        self.replicating.into_iter().for_each(ReplicationThread::stop);
    }
}

/// Takes commands from the shell until the returned value is dropped. If the disk takes no writes, the site is served without
/// commands where no socket can be created.
fn listen_for_commands(site: &Site, data_dir: &DataDir, writable: bool) -> Result<Option<SocketFile>, CommandError> {
    match control::listen(data_dir.dir(), site.for_another_thread()) {
        Ok(socket_file) => Ok(Some(socket_file)),
        Err(cause) if !writable => {
            tracing::warn!(%cause, "no commands are taken from the shell while the disk takes no writes");
            Ok(None)
        }
        Err(e) => Err(failed(format!("cannot take commands from the shell: {e}"))),
    }
}

impl Serve {
    pub(super) fn run(self, global: &Global) -> CommandResult {
        let mut service = Service::from_environment();
        let ended = self.run_for(&mut service, global);
        if let Err(CommandError::Refused(text) | CommandError::Failed(text)) = &ended {
            service.notify(&format!("STATUS={}", text.replace('\n', " ")));
        }
        ended
    }

    fn run_for(&self, service: &mut Service, global: &Global) -> CommandResult {
        let mut config = self.config(global)?;
        crate::log::start(&config.log);
        fit_connections(&mut config, raise_descriptor_limit());
        become_owner(&config.data)?;
        let data_dir = Arc::new(self.lock(&config)?);
        let sockets = self.bind(&config, service.take_sockets())?;
        let blame = |trouble| blame(&data_dir, trouble);
        let (site, demo) = self.open(&data_dir, config, service).map_err(blame)?;
        standby::begin(&site);
        let running = server::start(&site, sockets).map_err(failed)?;
        let writable = site.store.writer().condition() != Condition::ReadOnly;
        let _socket_file = listen_for_commands(&site, &data_dir, writable)?;
        let jobs = if writable { Some(Jobs::start(&site).map_err(blame)?) } else { None };
        let Watching { writable: writable_again, until_dropped: _watching } =
            watch(service, &site, &running, &data_dir)?;
        let looked_at = site.for_another_thread();
        let is_stopped = move || looked_at.store.writer().is_stopped();
        let shutdown = ShutdownWatch::listen(is_stopped, writable_again, FAILED)
            .map_err(|e| failed(format!("cannot wait for signals: {e}")))?;
        let url = announce(&site, &running, demo, data_dir.dir())?;
        let how = if writable { "on" } else { "READ ONLY on" };
        service.notify(&format!("READY=1\nSTATUS={how} {url}"));
        let cause = shutdown.wait();
        if cause == ShutdownCause::StoreStopped {
            running.stop_within(STOPPED_DRAIN_TIME_MAX);
            shutdown::end_after_failed_flush(FAILED);
        }
        tracing::info!("stopping");
        service.notify("STOPPING=1\nSTATUS=stopping");
        standby::end(&site);
        running.stop();
        jobs.into_iter().for_each(Jobs::stop);
        site.close();
        if cause == ShutdownCause::Writable {
            return Err(failed("the disk takes writes again, and the site was served as it is until now; start again"));
        }
        nothing()
    }

    fn config(&self, global: &Global) -> Result<Config, CommandError> {
        let mut settings = global.settings();
        if self.demo {
            settings.for_demo();
        }
        if !self.listen.is_empty() {
            settings.set("listen", self.listen.clone(), "--listen");
        }
        check_settings(settings)
    }

    fn lock(&self, config: &Config) -> Result<DataDir, CommandError> {
        let lock = if self.demo { DataDir::create } else { DataDir::lock };
        acquire::lock(&config.data, lock).map_err(|error| match error {
            LockError::InUse => refused(format!("{}, or give this one another --data", holder::in_use(&config.data))),
            LockError::Unusable(text) if self.demo || config.data.exists() => failed(text),
            LockError::Unusable(text) => refused(format!(
                "{text}; make a site with `tunneldesk init`, or look at one with `tunneldesk serve --demo`"
            )),
        })
    }

    /// Opens the ports. A demo beside another server does without the port for metrics.
    fn bind(&self, config: &Config, passed: Vec<TcpListener>) -> Result<Sockets, CommandError> {
        match Sockets::bind_or_take(config, passed) {
            Err(_) if self.demo => Sockets::without_metrics(config).map_err(failed),
            bound => bound.map_err(failed),
        }
    }

    fn open(
        &self,
        data_dir: &DataDir,
        config: Config,
        service: &Service,
    ) -> Result<(Site, Option<demo::Facts>), CommandError> {
        let reserve = Reserve::in_dir(data_dir.dir());
        reserve.release_if_disk_full();
        if let Some((why, next)) = data_dir.why_unwritable() {
            return Ok((open_read_only(data_dir, config, why, next)?, None));
        }
        let fresh = !data_dir.database().exists();
        let site = if self.demo && fresh {
            let made = demo::create(data_dir, config, &|| Clock::machine(Moment(0)), &demo::USUAL, &mut |_, _, _| ());
            made.map_err(failed)?.0
        } else {
            let mut told = (String::new(), 0);
            let mut tell = |step: &str, done: u64, total: u64| {
                let now = (step.to_owned(), done.saturating_mul(100) / total.max(1));
                if told.0 != now.0 {
                    tracing::info!(
                        step,
                        "upgrading the file; the site answers once that is done, on a large one after minutes"
                    );
                }
                if told != now {
                    service.notify_progress(step, done, total);
                    told = now;
                }
            };
            let rest = Rest::keep(&config);
            let opened = Site::open_or_upgrade(data_dir, config, Clock::machine(Moment(0)), &mut tell);
            let (site, upgraded) = opened.map_err(failed)?;
            rest.into_iter().for_each(|rest| rest.lay(&site));
            if let Some(Upgraded { from, backup }) = upgraded {
                let backup = backup.at;
                tracing::info!(from, %backup, "the file was upgraded; `tunneldesk rollback` brings it back as it was");
            }
            site
        };
        site.store.set_reserve(reserve);
        #[cfg(debug_assertions)]
        if self.flush_seldom {
            site.store.flush_seldom().map_err(|e| failed(e.to_string()))?;
        }
        #[cfg(debug_assertions)]
        if let Some(fault) = self.off_site_fault {
            fault.begin(&site);
        }
        let facts = if self.demo { Some(demo::Facts::gather(&site).map_err(refused)?) } else { None };
        Ok((site, facts))
    }
}

/// Replaces an error that damage may have caused by a report of the damage, which says what to do.
fn blame(data_dir: &DataDir, trouble: CommandError) -> CommandError {
    match &trouble {
        CommandError::Failed(text)
            if !text.contains("tunneldesk restore")
                && data_dir.database().exists()
                && data_dir.check_kinds().is_ok() =>
        {
            integrity::find_damage(&data_dir.database()).map_or(trouble, CommandError::Failed)
        }
        _ => trouble,
    }
}

/// Opens the site without writes: better than a start that fails over and over.
fn open_read_only(data_dir: &DataDir, config: Config, why: &str, next: &str) -> Result<Site, CommandError> {
    let site = Site::open_read_only(data_dir, config, Clock::machine(Moment(0))).map_err(failed)?;
    let dir = data_dir.dir().display();
    tracing::error!(%dir, "the disk {why}: the site is served as it is, and nobody can sign in or enter anything; {next} (`df`, `dmesg`), and the site starts again by itself");
    Ok(site)
}

/// Runs a job on a thread of its own until the sender is dropped.
fn start(name: &str, site: &Site, job: fn(&Site, &mpsc::Receiver<()>)) -> Result<mpsc::Sender<()>, CommandError> {
    spawn(name, site, move |site, stopped| jobs::restart_on_panic(site, stopped, jobs::FAULT_PAUSE, job))
}

/// Prints the address of the site, and returns it.
fn announce(
    site: &Site,
    running: &Running,
    demo: Option<demo::Facts>,
    data: &std::path::Path,
) -> Result<String, CommandError> {
    if site.clock.is_suspect() {
        tracing::warn!("the clock is behind what this file has seen; set it: signed timestamps are refused until then");
    }
    let first = running.secure_addresses.first().or(running.addresses.first());
    let port = first.map_or(0, |address| address.port());
    let url = site.config.public_url(port);
    let text = match demo {
        Some(mut facts) => facts.publish(data, &url, &running.addresses).map_err(failed)?,
        None => format!("tunneldesk {} on {url}  (data: {})", crate::VERSION, data.display()),
    };
    let text = if site.store.writer().condition() == Condition::ReadOnly { format!("READ ONLY: {text}") } else { text };
    _ = writeln!(std::io::stdout(), "{text}");
    for address in &running.addresses {
        tracing::info!(%address, site_id = &*site.site_id, "listening");
    }
    for address in &running.secure_addresses {
        tracing::info!(%address, "listening for https");
    }
    if let Some(address) = running.metrics_address {
        tracing::info!(%address, "listening for metrics");
    }
    // Writes the log's lines now: a test or a script waits for the addresses in them.
    crate::log::flush();
    Ok(url)
}

/// The threads that watch the server until this is dropped. The shutdown waits for none of them: each may hang with
/// the disk.
struct Watching {
    /// Gets a message when a database that was served without writes can be written.
    writable: mpsc::Receiver<()>,
    until_dropped: Vec<mpsc::Sender<()>>,
}

fn watch(service: &Service, site: &Site, running: &Running, data_dir: &Arc<DataDir>) -> Result<Watching, CommandError> {
    let (tell, writable) = mpsc::channel();
    let data_dir = data_dir.clone();
    let mut until_dropped = vec![spawn("watch", site, move |site, stop| watch_disk(site, &data_dir, &tell, stop))?];
    if let Some(patience) = service.watchdog {
        let (service, pulse) = (service.notifier(), running.network_probe());
        let feed = move |site: &Site, stop: &mpsc::Receiver<()>| {
            watchdog::feed_until_stopped(&service, patience, site, &pulse, stop);
        };
        until_dropped.push(spawn("watchdog", site, feed)?);
    }
    Ok(Watching { writable, until_dropped })
}

/// Runs work on a thread of its own until the sender is dropped.
fn spawn(
    name: &str,
    site: &Site,
    work: impl FnOnce(&Site, &mpsc::Receiver<()>) + Send + 'static,
) -> Result<mpsc::Sender<()>, CommandError> {
    let (stop, stopped) = mpsc::channel();
    let site = site.for_another_thread();
    let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(move || work(&site, &stopped));
    spawned.map(|_| stop).map_err(|e| failed(format!("cannot start a thread: {e}")))
}

/// Checks whether there is room on the disk and whether a read-only database can be written again, and releases free
/// memory.
fn watch_disk(site: &Site, data_dir: &DataDir, writable: &mpsc::Sender<()>, stop: &mpsc::Receiver<()>) {
    let mut checks = 0_u64;
    // A start uses more code and memory than most of what follows.
    footprint::shed();
    while site.rest(stop, WATCH_INTERVAL) {
        match site.store.writer().condition() {
            Condition::ReadOnly if data_dir.why_unwritable().is_none() => _ = writable.send(()),
            _ => site.store.check_free_space(),
        }
        checks += 1;
        if checks == CHECKS_BEFORE_SHEDDING || checks.is_multiple_of(CHECKS_BETWEEN_SHEDDING) {
            footprint::shed();
        }
    }
}

/// Lowers the configured number of connections where the system allows few descriptors.
fn fit_connections(config: &mut Config, descriptors: u64) {
    let connections = descriptors.saturating_sub(DESCRIPTORS_BESIDE).max(CONNECTIONS_MIN) as usize;
    if connections < config.limits.connections_max {
        tracing::warn!(
            descriptors,
            connections,
            "the system allows few descriptors: fewer connections than configured"
        );
        config.limits.connections_max = connections;
    }
}

/// Raises the limit of open descriptors as far as the system allows: each connection is one. Returns the limit.
fn raise_descriptor_limit() -> u64 {
    const WANTED: u64 = 65_536;
    let limit = getrlimit(Resource::Nofile);
    let (is, raised) = (limit.current.unwrap_or(u64::MAX), limit.maximum.unwrap_or(u64::MAX).min(WANTED));
    let wanted = Rlimit { current: Some(raised), ..limit };
    if is < raised && setrlimit(Resource::Nofile, wanted).is_ok() { raised } else { is }
}
