//! A chain that does not begin, and one that is damaged off site.

use super::status::Status;
use super::*;
use crate::config::Config;
use crate::domain::audit::Actor;
use crate::ops::backup;
use crate::ops::tests::new_site;
use crate::store::copy_check::CheckSpeed;
use crate::store::engine::data_dir::DataDir;

#[test]
fn a_base_with_too_many_unconfirmed_bytes_behind_it_begins_no_chain_and_the_status_names_the_setting() {
    let (dir, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data_dir = DataDir::lock(dir.path()).unwrap();
    let mut config = Config { data: dir.path().to_owned(), ..Config::defaults() };
    config.backup.off_site = Some(crate::config::OffSiteLocation::Directory(target.path().to_owned()));
    // The audit row of the backup is larger.
    config.backup.unconfirmed_bytes_max = 1;
    let site = new_site(&data_dir, config);
    site.state::<Replica>().is_on.store(true, Ordering::Release);
    backup::make(&site, &Actor::job("backup"), CheckSpeed::Full, &mut |_, _, _| ()).unwrap().off_site.unwrap().unwrap();
    let mut replicator = Replicator::new(&site, OffSite::of(&site).unwrap(), backup::make_base);
    replicator.take_over(lock(&site.state::<Replica>().next).take().unwrap());
    let status = status(&site).unwrap();
    assert!(!status.has_chain && status.trouble.unwrap().contains("backup.unconfirmed_mib"));
}

/// Writes three ticks, and lets `spoil` do something to them.
fn found_after(spoil: impl FnOnce(&std::path::Path)) -> (Option<verify::Flaw>, Status) {
    let (dir, target) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let data_dir = DataDir::lock(dir.path()).unwrap();
    let mut config = Config { data: dir.path().to_owned(), ..Config::defaults() };
    config.backup.off_site = Some(crate::config::OffSiteLocation::Directory(target.path().to_owned()));
    let site = new_site(&data_dir, config);
    site.state::<Replica>().is_on.store(true, Ordering::Release);
    site.store.writer().capture.begin_counting(FollowerKind::OffSite, site.now());
    backup::make(&site, &Actor::job("backup"), CheckSpeed::Full, &mut |_, _, _| ()).unwrap().off_site.unwrap().unwrap();
    let mut replicator = Replicator::new(&site, OffSite::of(&site).unwrap(), backup::make_base);
    replicator.take_over(lock(&site.state::<Replica>().next).take().unwrap());
    for second in 1..=3 {
        let write = "UPDATE site SET clock_high_water = clock_high_water + 1";
        site.store.write(site.now() + second, |tx| Ok(tx.run(write, [])?)).unwrap();
        replicator.ship(TICK_TIME_MAX, false);
    }
    assert_eq!(replicator.look_now().unwrap(), None);
    let base = replicator.chain.as_ref().unwrap().base.path().unwrap();
    spoil(&base);
    let flaw = replicator.look_now().unwrap();
    if let Some(flaw) = replicator.look_now().unwrap() {
        replicator.hear_flaw(flaw);
    }
    assert_eq!(replicator.rounds_to_base, 0, "a new base may begin at once");
    (flaw, status(&site).unwrap())
}

#[test]
fn a_damaged_or_missing_file_of_the_chain_is_found_and_what_is_behind_it_counts_as_lost() {
    let flip = |path: std::path::PathBuf| {
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(path, bytes).unwrap();
    };
    let tick = |base: &std::path::Path| base.join("ticks/0000000002.tick");
    type Spoiling<'s> = &'s dyn Fn(&std::path::Path);
    let cases: [(&str, Spoiling<'_>); 4] = [
        ("is damaged", &|base| flip(tick(base))),
        ("tick 2 is missing", &|base| std::fs::remove_file(tick(base)).unwrap()),
        ("tunneldesk.sqlite is damaged", &|base| flip(base.join("tunneldesk.sqlite"))),
        ("site.key is missing", &|base| std::fs::remove_file(base.join("site.key")).unwrap()),
    ];
    for (word, spoil) in cases {
        let (flaw, status) = found_after(spoil);
        let said = status.trouble.unwrap();
        assert!(flaw.is_some() && said.contains(word) && !status.has_chain, "{word}: {said}");
    }
    let (flaw, status) = found_after(|_| ());
    assert!(flaw.is_none() && status.has_chain && status.behind_bytes == 0 && status.trouble.is_none());
}
