//! The settings of a running site, which admins change in pages.

use crate::config::Config;
use crate::http::failure::Failure;
use crate::keys::Keys;
use crate::store::Read;
use crate::store::tables::settings;
use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// The settings in force. Whoever reads one gets it as it is now, so a change needs no restart.
pub struct LiveConfig {
    /// As the site began: defaults, file, environment, flags.
    start: Config,
    /// With what admins set; `None`: nothing.
    now: RwLock<Option<&'static Config>>,
    changes: AtomicU64,
}

impl LiveConfig {
    pub(crate) fn new(start: Config) -> LiveConfig {
        LiveConfig { start, now: RwLock::default(), changes: AtomicU64::new(0) }
    }

    /// The settings without what admins set.
    pub(crate) fn start(&self) -> &Config {
        &self.start
    }

    /// Counts the changes, for whoever keeps something that was made of the settings.
    pub(crate) fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Puts other settings in force. The earlier ones stay in memory, a few kilobytes a change, because threads read them.
    pub(crate) fn set(&self, config: Config) {
        if *self.deref() == config {
            return;
        }
        *self.now.write().unwrap_or_else(PoisonError::into_inner) = Some(Box::leak(Box::new(config)));
        self.changes.fetch_add(1, Ordering::AcqRel);
    }
}

impl Deref for LiveConfig {
    type Target = Config;

    fn deref(&self) -> &Config {
        let now: Option<&'static Config> = *self.now.read().unwrap_or_else(PoisonError::into_inner);
        now.unwrap_or(&self.start)
    }
}

/// The values that admins set, by key.
pub(crate) fn read(keys: &Keys, tx: &Read) -> Result<Vec<(String, String)>, Failure> {
    let rows = settings::list_in_force(tx)?.into_iter();
    Ok(rows.filter_map(|row| Some((row.key.clone(), row.value(keys)?))).collect())
}
