//! Malformed, oversized, deep, wrong-typed and hostile input, sent to every operation with the right credentials, so
//! that it passes authentication. No request may break the server, hang or leave rows behind. The random numbers are
//! the same in every run. IT_SEED=7 takes others; IT_REQUESTS=5000 sends more requests to each row, in parts of 120
//! with numbers of their own, side by side; IT_ROW="POST /auth/login" sends to this row alone.

pub mod dice;
mod garbage;
mod spoil;
mod values;

use crate::harness::{Caller, Reply, Request, Rows, Wire};
use crate::world::World;
use dice::Dice;
use http::Method;
use spoil::{End, Spoilt};
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tunneldesk::routes::{ROUTES, Route};

const REQUESTS: usize = 120;
const SEED: u64 = 20_260_528;
/// More threads than cores: a delayed answer costs time but no processor.
const THREADS: usize = 4;
const PARTS_SIDE_BY_SIDE: usize = 6;
/// An answer that took this long was most likely delayed because of failed attempts.
const HELD_BACK: Duration = Duration::from_millis(200);

/// The time after which rate limits start anew and delays end.
const PACE_OVER: Duration = Duration::from_secs(20 * 60);

fn from_environment<T: std::str::FromStr>(name: &str, default: T) -> T {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

#[test]
fn no_input_breaks_an_operation_or_leaves_a_row_behind() {
    // Rows that hash passwords take longest, so they come first.
    let (slow, brief): (Vec<&Route>, Vec<&Route>) = ROUTES.iter().partition(|route| route.hashes);
    let parts = from_environment("IT_REQUESTS", REQUESTS).div_ceil(REQUESTS);
    let seed = from_environment("IT_SEED", SEED);
    let wanted = from_environment("IT_ROW", String::new());
    let rows = slow.into_iter().chain(brief).filter(|route| named(route).contains(&wanted));
    let tasks = Mutex::new(rows.flat_map(|route| (0..parts).map(move |part| (route, part))));
    let next = || tasks.lock().expect("no thread fails while it takes a row").next();
    std::thread::scope(|scope| {
        for _ in 0..THREADS * parts.min(PARTS_SIDE_BY_SIDE) {
            scope.spawn(|| {
                let world = World::open_with(|config| {
                    config.limits.sign_in_misses_per_address = 1_000_000;
                    config.limits.passkey_questions_per_minute_per_address = 1_000_000;
                });
                world.site.keep_sessions();
                world.site.outrank_standbys();
                while let Some((route, part)) = next() {
                    batter(&world, route, seed + part as u64);
                    if parts > 1 {
                        println!("{}: part {} of {parts}", named(route), part + 1);
                    }
                }
            });
        }
    });
}

fn named(route: &Route) -> String {
    format!("{} {}", route.method, route.path)
}

/// The counts of a row's answers, which must show that requests reached the operation.
#[derive(Default, Debug)]
struct Seen {
    done: usize,
    refused: usize,
    by_the_parser: usize,
}

fn batter(world: &World, route: &'static Route, seed: u64) {
    let row = named(route);
    let mut dice = Dice::new(seed, &row);
    let mut wire = Wire::to(world.site.address());
    let (mut caller, mut good) = fresh(world, route);
    let (mut seen, mut kept) = (Seen::default(), Kept::look(world));
    for throw in 0..REQUESTS {
        let spoilt = spoil::spoil(&mut dice, &good, &caller, route.hashes);
        let asked = format!("{row} (IT_SEED={seed}, throw {throw}, {})", spoilt.how);
        kept.renew(world);
        let since = Instant::now();
        let reply = throw_it(&mut wire, &spoilt, &asked);
        let Some(reply) = reply else {
            assert!(spoilt.end != End::Whole, "{asked}: the connection was closed without an answer");
            continue;
        };
        judge(world, &reply, &kept, &mut seen);
        if reply.status == 429 || since.elapsed() > HELD_BACK {
            world.site.advance(PACE_OVER);
            world.site.reset_rate_limits();
        }
        if reply.status < 300 && route.method != Method::GET {
            (caller, good) = fresh(world, route);
        }
    }
    let reached = seen.done > 0 && (seen.by_the_parser > 0 || good.body.is_empty());
    assert!(reached, "{row}: the throws did not reach what they were meant for: {seen:?}");
}

fn fresh(world: &World, route: &Route) -> (Caller, Request) {
    let caller = world.right_caller(route);
    let request = world.request(route, &caller);
    (caller, request)
}

fn throw_it(wire: &mut Wire, spoilt: &Spoilt, asked: &str) -> Option<Reply> {
    match spoilt.end {
        End::Whole => wire.exchange(&spoilt.bytes, asked),
        End::Odd => wire.exchange_alone(&spoilt.bytes, false, asked),
        End::Never => wire.exchange_alone(&spoilt.bytes, true, asked),
    }
}

/// The state of the database: its rows, and the number of transactions. Without a further transaction nothing can have
/// changed, and most refusals begin none.
struct Kept {
    rows: Rows,
    transactions: u64,
}

impl Kept {
    fn look(world: &World) -> Kept {
        let transactions = world.site.transactions();
        let mut rows = world.site.rows();
        // A refused request may leave counted attempts and its used signature behind, and nothing else.
        for counted in ["throttles", "failed_attempts", "partner_signatures"] {
            rows.remove(counted);
        }
        Kept { rows, transactions }
    }

    fn renew(&mut self, world: &World) {
        if world.site.transactions() != self.transactions {
            *self = Kept::look(world);
        }
    }
}

fn judge(world: &World, reply: &Reply, before: &Kept, seen: &mut Seen) {
    assert!(reply.status < 500, "{reply}");
    match reply.status {
        200..300 | 304 => seen.done += 1,
        _ => {
            seen.refused += 1;
            if world.site.transactions() != before.transactions {
                let after = Kept::look(world).rows;
                assert_eq!(after, before.rows, "a refused request left something behind: {reply}");
            }
            // Bytes that are not HTTP are refused before an error envelope can be written.
            let no_http = reply.body.is_empty() && [400, 405, 414, 431].contains(&reply.status);
            if !no_http {
                reply.check_envelope();
            }
            seen.by_the_parser += usize::from([400, 415, 422].contains(&reply.status) && !no_http);
        }
    }
}
