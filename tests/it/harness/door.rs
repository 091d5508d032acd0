//! The address and the clock of a site. Callers keep this value across a restart.

use super::caller::agent;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use tunneldesk::clock::Clock;

#[derive(Clone)]
pub struct Door(Arc<Mutex<Behind>>);

struct Behind {
    address: SocketAddr,
    clock: Arc<Clock>,
    agent: ureq::Agent,
}

impl Door {
    pub fn new(address: SocketAddr, clock: Arc<Clock>) -> Door {
        Door(Arc::new(Mutex::new(Behind { address, clock, agent: agent() })))
    }

    /// Sets the port and the clock of the restarted server.
    pub fn moved(&self, address: SocketAddr, clock: Arc<Clock>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Behind { address, clock, agent: agent() };
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
