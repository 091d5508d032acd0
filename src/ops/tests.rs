//! A site for unit tests.

use super::lifecycle::Identity;
use crate::clock::Clock;
use crate::config::Config;
use crate::domain::ids::TunnelId;
use crate::moment::Moment;
use crate::site::Site;
use crate::store::data_dir::DataDir;

/// The moment at which the clock of [`new_site`] stands.
pub(crate) const NOW: Moment = Moment(1_800_000_000);

/// A new site in an empty data directory.
pub(crate) fn new_site(data_dir: &DataDir, config: Config) -> Site {
    let identity = Identity { tunnel_id: TunnelId(1), name: "Here".into(), city: String::new(), country: "CH".into() };
    Site::create(data_dir, config, Clock::frozen(NOW), &identity).unwrap()
}
