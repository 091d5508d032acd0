//! Every row of the table with every wrong credential, after the right one was admitted.

mod endings;
mod older;
mod ownership;
mod partners;
mod sessions;
mod swaps;

use crate::harness::{Caller, Credential, Reply, Site};
use crate::world::World;
use tunneldesk::routes::{ROUTES, Route};

/// Asserts the status. The message of a failure names the row and the credential.
#[track_caller]
fn expect(reply: Reply, what: &str, status: u16) {
    assert_eq!(reply.status, status, "with {what}: {reply}");
    if status >= 400 {
        reply.refused(status);
    }
}

/// Asserts that authentication passed and the operation succeeded.
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
        // A callback's signature is part of the call, so the bad credential is sent in addition.
        let caller = world.right_caller(route);
        for header in ["authorization", "token"] {
            let request = world.request(route, &caller).header(header, "garbage");
            expect_admitted(caller.send(&request), "a bad credential");
        }
    }
}

/// Sends the row's good request with each wrong credential. Asserts that each is refused and that the database does not
/// change.
fn refuse_all(site: &Site, world: &World, route: &Route, right: &Caller, wrong: Vec<(&str, Caller, u16)>) {
    let request = world.request(route, right);
    let before = site.rows();
    for (what, caller, status) in wrong {
        expect(caller.send(&request), what, status);
    }
    assert_eq!(site.rows(), before, "a refused {} {} left something behind", route.method, route.path);
    expect_admitted(right.send(&request), "the right credential");
}
