//! Where a site is reached, and what time it has: callers keep this across a restart.

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

    /// The server was started again: another port, another clock.
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
