//! A chain that does not begin.

use super::*;
use crate::config::Config;
use crate::domain::audit::Actor;
use crate::ops::backup;
use crate::ops::tests::new_site;
use crate::store::engine::copy::CheckSpeed;
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
    lock(&site.state::<Replica>().report).chainless_since = Some(site.now());
    backup::make(&site, &Actor::job("backup"), CheckSpeed::Full, &mut |_, _, _| ()).unwrap().off_site.unwrap().unwrap();
    let mut replicator = Replicator::new(&site, OffSite::of(&site).unwrap());
    replicator.take_over(lock(&site.state::<Replica>().next).take().unwrap());
    let status = status(&site).unwrap();
    assert!(!status.has_chain && status.trouble.unwrap().contains("backup.unconfirmed_mib"));
}
