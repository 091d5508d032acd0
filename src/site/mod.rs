//! The site: the database, the settings and the shared state that every operation may use. Each thread that runs operations has
//! a [`Site`] of its own.

pub(crate) mod drawing;
pub(crate) mod hashing;
pub(crate) mod live;
pub(crate) mod priority;

use crate::clock::Clock;
use crate::config::Config;
use crate::domain::catalogue::Catalogue;
use crate::domain::ids::TunnelId;
use crate::domain::local_time::{Day, TimeZone};
use crate::domain::payment::{self, Fee};
use crate::http::failure::Failure;
use crate::i18n::language::Language;
use crate::keys::Keys;
use crate::moment::Moment;
use crate::stats::Stats;
use crate::store::tables::outbox::Channel;
use crate::store::tables::tunnels;
use crate::store::{Read, Store};
use drawing::Drawer;
use hashing::Hashers;
use live::LiveConfig;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::ops::Deref;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

/// One thread's connections to the database, and the state that all threads share.
pub struct Site {
    /// This thread's connections to the database.
    pub store: Store,
    shared: Arc<Shared>,
}

/// The state that all threads of a site share.
pub struct Shared {
    /// The time of day of the site.
    pub clock: Arc<Clock>,
    /// The settings in force.
    pub config: Arc<LiveConfig>,
    /// The keys beside the database.
    pub keys: Arc<Keys>,
    /// Programmes, levels and skills.
    pub catalogue: &'static Catalogue,
    /// Counters since the start.
    pub stats: Arc<Stats>,
    /// Hashes passwords, a few at a time.
    pub hashers: Arc<Hashers>,
    /// Draws pictures and documents.
    pub drawer: Drawer,
    /// The ports on which the server listens, once it does.
    ports: OnceLock<ListeningPorts>,
    /// Random, made with the site; partners' receivers know the site by it.
    pub site_id: Box<str>,
    /// The number of the site's own tunnel.
    pub tunnel_id: TunnelId,
    /// German as the country of the site spells it.
    pub(crate) german: Language,
    states: RwLock<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Deref for Site {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.shared
    }
}

/// The ports on which the server listens.
#[derive(Debug, Default, PartialEq)]
pub struct ListeningPorts {
    /// Plain HTTP.
    pub http: Vec<u16>,
    /// HTTPS.
    pub https: Vec<u16>,
}

/// The tunnel's name as it was last read, for answers that are made without the database.
#[derive(Default)]
pub(crate) struct CachedName(RwLock<String>);

impl CachedName {
    pub(crate) fn get(&self) -> String {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, name: &str) {
        if self.0.read().unwrap_or_else(PoisonError::into_inner).as_str() != name {
            name.clone_into(&mut self.0.write().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

impl ListeningPorts {
    /// The port in public links: HTTPS if there is one; 0 while the server does not listen.
    pub fn public(&self) -> u16 {
        self.https.first().or(self.http.first()).copied().unwrap_or(0)
    }
}

impl Site {
    /// Puts what admins set in pages in force. What became impossible, because the file changed meanwhile for example, is left out
    /// and logged.
    pub(crate) fn load_settings(&self) -> Result<(), Failure> {
        self.store.release();
        let set = self.store.read(|tx| live::read(&self.keys, tx))?;
        self.store.release();
        match self.config.start().with_desk(&set) {
            Ok(config) => self.config.set(config),
            Err(mistakes) => tracing::error!(?mistakes, "what admins set is not in force: the settings have mistakes"),
        }
        Ok(())
    }

    /// Whether messages of this channel are sent; otherwise they wait at the desk.
    pub(crate) fn delivers(&self, channel: Channel) -> bool {
        match channel {
            Channel::Email => self.config.mail.is_some(),
            Channel::Sms => self.config.sms.is_some(),
        }
    }

    /// Assembles a site from the parts that [`crate::ops::lifecycle`] has created or opened.
    pub(crate) fn assemble(
        store: Store,
        clock: Clock,
        config: Config,
        keys: Keys,
        row: tunnels::SiteRow,
        country: &str,
    ) -> Site {
        let shared = Shared {
            clock: Arc::new(clock),
            catalogue: config.catalogue,
            config: Arc::new(LiveConfig::new(config)),
            keys: Arc::new(keys),
            stats: Arc::default(),
            hashers: Arc::default(),
            drawer: Drawer::default(),
            ports: OnceLock::new(),
            site_id: row.site_id.into(),
            tunnel_id: row.tunnel_id,
            german: Language::german_of_country(country),
            states: RwLock::default(),
        };
        Site { store, shared: Arc::new(shared) }
    }

    /// The same site for another thread.
    pub fn for_another_thread(&self) -> Site {
        Site { store: self.store.for_another_thread(), shared: self.shared.clone() }
    }

    /// A value that a module keeps in memory while the site is open: one of its type, the default until [`Site::set_state`]
    /// puts another in its place.
    pub fn state<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let known = self.states.read().unwrap_or_else(PoisonError::into_inner).get(&TypeId::of::<T>()).cloned();
        let state = known.unwrap_or_else(|| {
            let mut all = self.states.write().unwrap_or_else(PoisonError::into_inner);
            all.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default())).clone()
        });
        state.downcast().expect("each value is kept under its own type")
    }

    /// Keeps a value that all threads share, one of each type: a later one replaces it.
    pub fn set_state<T: Send + Sync + 'static>(&self, value: T) {
        let mut all = self.states.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(TypeId::of::<T>(), Arc::new(value));
    }

    /// The ports on which the server answers; none before it does.
    pub fn ports(&self) -> &ListeningPorts {
        const NONE: &ListeningPorts = &ListeningPorts { http: Vec::new(), https: Vec::new() };
        self.ports.get().unwrap_or(NONE)
    }

    /// The origin of public links: with the port on which the server listens, or the one of the settings while none runs.
    pub fn public_url(&self) -> String {
        let configured = self.config.tls.listen.first().or(self.config.listen.first()).map_or(0, |one| one.port());
        let answers = self.ports().public();
        self.config.public_url(if answers == 0 { configured } else { answers })
    }

    /// Stores the ports on which the server listens: the settings may leave the choice to the system.
    pub(crate) fn set_ports(&self, ports: ListeningPorts) {
        _ = self.ports.set(ports);
    }

    /// The language of a tag, as this site spells it.
    pub(crate) fn find_language(&self, tag: &str) -> Option<Language> {
        Language::find(tag).map(|language| language.spelt_as(self.german))
    }

    /// The tunnel's name, as people know it.
    pub fn name(&self) -> Result<String, Failure> {
        let found = self.store.read(|tx| Ok(tunnels::find(tx, self.tunnel_id)?))?;
        let name = found.map_or_else(String::new, |tunnel| tunnel.name);
        self.state::<CachedName>().keep(&name);
        Ok(name)
    }

    /// Waits between two runs of a job; `false` once the sender of `stop` is dropped. What the job has read is released first: a
    /// snapshot that stays open while a thread rests keeps the log from being cut.
    pub(crate) fn rest(&self, stop: &Receiver<()>, wait: Duration) -> bool {
        self.store.release();
        stop.recv_timeout(wait) == Err(RecvTimeoutError::Timeout)
    }

    /// Now, in Unix seconds.
    pub fn now(&self) -> Moment {
        self.clock.now()
    }

    /// The fee of a year's membership.
    pub(crate) fn fee(&self, tx: &Read) -> Result<Fee, Failure> {
        let currency = self.currency(tx, self.config.fee_currency.as_deref())?;
        Ok(Fee { cents: self.config.yearly_fee_cents, currency })
    }

    /// The currency of this name; without one that of the site's country.
    pub(crate) fn currency(&self, tx: &Read, named: Option<&str>) -> Result<Option<String>, Failure> {
        match named {
            Some(named) => Ok(Some(named.to_owned())),
            None => Ok(tunnels::find(tx, self.tunnel_id)?.and_then(|tunnel| payment::currency_of(&tunnel.country))),
        }
    }

    /// The span of the arrivals that the desk and the kiosk show at a moment.
    pub(crate) fn arrivals_day(&self, zone: &TimeZone, moment: Moment) -> Day {
        zone.arrivals_day(moment, self.config.evening_until_hour)
    }

    /// The site's clock: days are what it says, wherever people read them.
    pub fn time_zone(&self) -> Result<TimeZone, Failure> {
        self.store.read(|tx| Ok(tunnels::find_time_zone(tx, self.tunnel_id)?))
    }
}
