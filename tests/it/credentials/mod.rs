//! Every row of the table against every credential, after the right one was seen to be admitted.

mod endings;
mod older;
mod ownership;
mod partners;
mod sessions;

use crate::harness::{Caller, Credential, Reply, Site};
use crate::world::World;
use tunneldesk::routes::{ROUTES, Route};

/// Whoever sees this in a message knows which row and which credential it was.
#[track_caller]
fn expect(reply: Reply, what: &str, status: u16) {
    assert_eq!(reply.status, status, "with {what}: {reply}");
    if status >= 400 {
        reply.refused(status);
    }
}

/// The gate let it pass: what comes then is the operation's own affair, and done.
#[track_caller]
fn expect_admitted(reply: Reply, what: &str) {
    assert!((200..300).contains(&reply.status), "with {what}: {reply}");
}

fn with_token(header: &'static str, prefix: &'static str, token: &str) -> Credential {
    Credential::Token { header, prefix, token: token.to_owned() }
}

#[test]
fn every_right_caller_is_admitted() {
    let world = World::open();
    for route in ROUTES {
        for caller in world.callers(route) {
            expect_admitted(caller.send(&world.request(route, &caller)), &caller.name);
        }
    }
}

#[test]
fn open_operations_ignore_a_bad_credential() {
    let world = World::open();
    for route in ROUTES.iter().filter(|route| ["open", "callback"].contains(&route.caller())) {
        // A sender's signature goes with the call, so that the bad credential is beside it.
        let caller = world.right_caller(route);
        for header in ["authorization", "token"] {
            let request = world.request(route, &caller).header(header, "garbage");
            expect_admitted(caller.send(&request), "a bad credential");
        }
    }
}

/// Sends the row's good request with each of these and wants each refused; nothing of it may be in the file.
fn refuse_all(site: &Site, world: &World, route: &Route, right: &Caller, wrong: Vec<(&str, Caller, u16)>) {
    let request = world.request(route, right);
    let before = site.rows();
    for (what, caller, status) in wrong {
        expect(caller.send(&request), what, status);
    }
    assert_eq!(site.rows(), before, "a refused {} {} left something behind", route.method, route.path);
    expect_admitted(right.send(&request), "the right credential");
}
