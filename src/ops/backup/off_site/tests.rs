//! Backups and drills while the off-site target hangs.

use super::*;
use crate::config::OffSiteLocation;
use crate::domain::audit::Actor;
use crate::moment::Moment;
use crate::ops::backup::backup_store::local_store;
use crate::ops::backup::{drill, make};
use crate::ops::tests::new_site;
use crate::store::copy_check::CheckSpeed;
use crate::store::engine::data_dir::DataDir;
use std::fs::OpenOptions;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::sync::mpsc;

const LONG: Duration = Duration::from_secs(60);

#[test]
fn a_clock_that_jumps_ahead_ends_no_chain_of_the_last_day() {
    const HOUR: i64 = 3_600;
    let made = |made_at| Backup { at: Target::directory("base".into()), manifest: Manifest::blank(Moment(made_at)) };
    let ended = |newest, made_before| {
        let backups: Vec<Backup> = [newest].into_iter().chain((0..48).map(|hour| -hour * HOUR)).map(made).collect();
        ended_chains(&backups, Moment(newest), &PruneExceptions { proven: None, made_before }).count()
    };
    assert_eq!(ended(HOUR, Moment::FIRST), 23, "those that ended more than a day ago");
    let a_year_ahead = 365 * 24 * HOUR;
    assert_eq!(ended(a_year_ahead, Moment(a_year_ahead)), 0);
}

#[test]
fn local_backups_and_drills_go_on_while_the_off_site_target_hangs() {
    let dir = tempfile::tempdir().unwrap();
    let (data, target) = (dir.path().join("site"), dir.path().join("target"));
    // A FIFO in place of the manifest: a reader hangs until a writer opens it, as at a share whose server is gone.
    let hanging = target.join("hanging");
    std::fs::create_dir_all(&hanging).unwrap();
    let manifest = hanging.join("manifest.json");
    rustix::fs::mkfifoat(rustix::fs::CWD, &manifest, rustix::fs::Mode::RUSR).unwrap();
    std::fs::set_permissions(&manifest, std::fs::Permissions::from_mode(0o1600)).unwrap();
    let data_dir = DataDir::create(&data).unwrap();
    let mut config = Config::defaults();
    config.data = data;
    config.backup.off_site = Some(OffSiteLocation::Directory(target.clone()));
    let site = new_site(&data_dir, config);
    // Long enough for a busy machine; the test waits in vain some ten times.
    let limits = (Duration::from_millis(300), Duration::from_secs(3));
    let off_site = OffSite::with_limits(Target::directory(target.clone()), limits.0, limits.1);
    let off_site = Arc::new(OffSite { data: site.config.data.clone(), ..off_site });
    site.set_state(OfSite(OnceLock::from(Some(off_site.clone()))));
    let make = || make(&site, &Actor::job("backup"), CheckSpeed::Full, &mut |_, _, _| ()).unwrap();
    for made in 1..=3 {
        let cause = make().off_site.unwrap().unwrap_err();
        assert!(cause.contains("does not answer"), "{cause}");
        assert_eq!(local_store(&site.config.data).list().len(), made);
    }
    // A copy that hangs in the middle keeps neither a second backup nor a drill waiting.
    let (hang, hangs) = mpsc::channel::<()>();
    std::fs::rename(&hanging, dir.path().join("aside")).unwrap();
    let (begun, begins) = mpsc::channel();
    let copying = off_site.clone();
    let hung = std::thread::spawn(move || {
        let timeouts = Timeouts { idle: LONG, step: LONG };
        copying.copies.run(timeouts, &mut |_, _| begun.send(()).unwrap(), move |step| {
            step(0, 1);
            hangs.recv().is_ok()
        })
    });
    begins.recv().unwrap();
    while off_site.list().is_err() {
        _ = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(dir.path().join("aside/manifest.json"));
    }
    let cause = make().off_site.unwrap().unwrap_err();
    assert!(cause.contains("in progress"), "{cause}");
    drill::run(&site, &Actor::job("drill"), CheckSpeed::Full, &mut |_, _, _| ()).unwrap();
    hang.send(()).unwrap();
    assert_eq!(hung.join().unwrap(), Ok(true));
    std::fs::rename(dir.path().join("aside"), &hanging).unwrap();
    assert!(make().off_site.unwrap().is_err());
    assert!(off_site.list().is_err());
    // The target answers again: both threads that hang there read an empty manifest and end.
    while !(off_site.queries.is_idle() && off_site.copies.is_idle()) {
        // Without a wait: the reader that hung there may be gone already.
        _ = OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(&manifest);
        std::thread::yield_now();
    }
    std::fs::remove_dir_all(&hanging).unwrap();
    assert!(make().off_site.unwrap().is_ok());
    assert_eq!(off_site.list().unwrap().backups.len(), 1);
}
