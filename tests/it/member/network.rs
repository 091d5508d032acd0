//! A network between a telephone and the site that can be lost, also between a request and its answer.

use crate::harness::Site;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    Through,
    /// No request arrives.
    Lost,
    /// Requests arrive, and no answer comes back.
    AnswersLost,
    /// The test is over.
    Ended,
}

pub struct Network {
    address: SocketAddr,
    state: Arc<AtomicU8>,
    open: Arc<Mutex<Vec<TcpStream>>>,
}

impl Network {
    pub fn to(site: &Site) -> Network {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let network = Network {
            address: listener.local_addr().expect("it has an address"),
            state: Arc::new(AtomicU8::new(State::Through as u8)),
            open: Arc::default(),
        };
        let (state, open, site) = (network.state.clone(), network.open.clone(), site.address());
        thread::spawn(move || {
            for telephone in listener.incoming().map_while(Result::ok) {
                match state.load(Ordering::SeqCst) {
                    now if now == State::Ended as u8 => return,
                    now if now == State::Lost as u8 => {}
                    _ => carry(telephone, site, &state, &open),
                }
            }
        });
        network
    }

    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Connections from before end.
    pub fn set(&self, state: State) {
        self.state.store(state as u8, Ordering::SeqCst);
        for stream in self.open.lock().unwrap().drain(..) {
            _ = stream.shutdown(Shutdown::Both);
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.set(State::Ended);
        _ = TcpStream::connect(self.address);
    }
}

fn carry(telephone: TcpStream, site: SocketAddr, state: &Arc<AtomicU8>, open: &Mutex<Vec<TcpStream>>) {
    let Ok(server) = TcpStream::connect(site) else { return };
    let copy = |stream: &TcpStream| stream.try_clone().expect("a descriptor is free");
    open.lock().unwrap().extend([copy(&telephone), copy(&server)]);
    let (to_server, to_telephone) = ((copy(&telephone), copy(&server)), (server, telephone));
    let state = state.clone();
    thread::spawn(move || pass(to_server.0, to_server.1, || true));
    thread::spawn(move || {
        pass(to_telephone.0, to_telephone.1, || state.load(Ordering::SeqCst) != State::AnswersLost as u8);
    });
}

/// Passes bytes on until an end closes or they may not pass.
fn pass(mut from: TcpStream, mut to: TcpStream, may_pass: impl Fn() -> bool) {
    let mut bytes = [0; 16 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes) {
        if !may_pass() || to.write_all(&bytes[..count]).is_err() {
            break;
        }
    }
    _ = from.shutdown(Shutdown::Both);
    _ = to.shutdown(Shutdown::Both);
}
