//! The address and the clock of a site. Callers keep this value across a restart.

use super::caller::agent;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tunneldesk::clock::Clock;

#[derive(Clone)]
pub struct Endpoint(Arc<Mutex<Target>>);

struct Target {
    address: SocketAddr,
    clock: Arc<Clock>,
    agent: ureq::Agent,
}

impl Endpoint {
    pub fn new(address: SocketAddr, clock: Arc<Clock>) -> Endpoint {
        Endpoint(Arc::new(Mutex::new(Target { address, clock, agent: agent() })))
    }

    /// Sets the port and the clock of the restarted server.
    pub fn set(&self, address: SocketAddr, clock: Arc<Clock>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Target { address, clock, agent: agent() };
    }

    pub fn address(&self) -> SocketAddr {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).address
    }

    pub fn agent(&self) -> ureq::Agent {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).agent.clone()
    }

    pub fn clock(&self) -> Arc<Clock> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clock.clone()
    }
}
