//! The address and the clock of a site. Callers keep this value across a restart.

use super::caller::agent;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tunneldesk::clock::Clock;

#[derive(Clone)]
pub struct Endpoint(Arc<Mutex<Target>>);

struct Target {
    address: SocketAddr,
    clock: Arc<Clock>,
    agent: ureq::Agent,
    /// Answers of this server that it was busy, after which the caller repeated the request.
    busy: u64,
}

impl Endpoint {
    pub fn new(address: SocketAddr, clock: Arc<Clock>) -> Endpoint {
        Endpoint(Arc::new(Mutex::new(Target { address, clock, agent: agent(), busy: 0 })))
    }

    /// Sets the port and the clock of the restarted server.
    pub fn set(&self, address: SocketAddr, clock: Arc<Clock>) {
        *self.target() = Target { address, clock, agent: agent(), busy: 0 };
    }

    pub fn address(&self) -> SocketAddr {
        self.target().address
    }

    pub fn agent(&self) -> ureq::Agent {
        self.target().agent.clone()
    }

    pub fn clock(&self) -> Arc<Clock> {
        self.target().clock.clone()
    }

    pub fn count_busy(&self) {
        self.target().busy += 1;
    }

    pub fn busy(&self) -> u64 {
        self.target().busy
    }

    fn target(&self) -> MutexGuard<'_, Target> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
