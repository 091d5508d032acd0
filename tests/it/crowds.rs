//! Many requests at once, valid and invalid, to each row of the tables: the server answers all of them, and is ready a
//! moment later.

use crate::desk::{Clerk, day, demo, kiosk, table};
use crate::harness::{Caller, PASSWORD, Reply, Request, Site, Wire};
use crate::member::own_pages;
use crate::world::World;
use http::Method;
use std::time::{Duration, Instant};
use tunneldesk::routes::{PAGES, ROUTES, Route};

const CROWD: usize = 64;
/// The time for `/readyz` to answer after the crowd was answered.
const READY_TIME_MAX: Duration = Duration::from_secs(1);
const FORM: &str = "application/x-www-form-urlencoded";
/// Every field of the pages' forms, each with a wrong value.
const WRONG_FIELDS: &str = "code=00000000&number=1&pin=000000&credential=%7B%7D&username=nobody&password=wrong+one\
    &email=x&token=x&name=&role=x&member=x&minutes=x&place=999&skill=x&language=xx&typed=x&comment=&passcode=000000";

/// Connections that are reused from one row to the next.
struct Crowd {
    wires: Vec<Wire>,
    ready: Wire,
}

impl Crowd {
    fn before(site: &Site) -> Crowd {
        // Requests may be refused with 503, when no reading connection is free or a queue is full.
        site.expects_faults();
        let wire = || Wire::to(site.address());
        Crowd { wires: (0..CROWD).map(|_| wire()).collect(), ready: wire() }
    }

    /// Sends the requests in turn, all at once, and reads the answers. Returns the first.
    fn fire(&mut self, requests: &[Vec<u8>]) -> Reply {
        let line = String::from_utf8_lossy(requests[0].split(|byte| *byte == b'\r').next().unwrap()).into_owned();
        let asked = line.trim_end_matches(" HTTP/1.1");
        self.wires.iter_mut().zip(requests.iter().cycle()).for_each(|(wire, request)| wire.send(request));
        let answered = self.wires.iter_mut().map(|wire| {
            let reply = wire.receive(asked);
            assert!(reply.status < 500 || reply.status == 503, "{reply}");
            reply
        });
        let mut replies: Vec<Reply> = answered.collect();
        let since = Instant::now();
        self.ready.send(b"GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n");
        assert_eq!(self.ready.receive("GET /readyz").status, 200, "after {asked}");
        assert!(since.elapsed() < READY_TIME_MAX, "after {asked} /readyz took {:?}", since.elapsed());
        replies.swap_remove(0)
    }
}

/// The bytes of a request with the caller's credentials.
fn bytes(site: &Site, request: &Request, proof: &[(&str, String)]) -> Vec<u8> {
    let mut head = format!("{} {} HTTP/1.1\r\nhost: {}\r\n", request.method, request.path, site.address());
    proof.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
    request.headers.iter().for_each(|(name, value)| head += &format!("{name}: {}\r\n", value.to_str().unwrap()));
    head += &format!("content-length: {}\r\n\r\n", request.body.len());
    [head.as_bytes(), &request.body].concat()
}

fn with_body(request: &Request, body: &[u8]) -> Request {
    Request { body: body.to_vec(), ..request.clone() }
}

/// The row's valid request, and versions of it as a stranger or a mistaken caller sends them.
fn requests(world: &World, route: &Route) -> Vec<Vec<u8>> {
    let caller = world.right_caller(route);
    let good = world.request(route, &caller);
    let of = |request: &Request, caller: &Caller| {
        bytes(&world.site, request, &caller.proof(&request.method, &request.path, &request.body))
    };
    let text = String::from_utf8_lossy(&good.body).replace(PASSWORD, "another one entirely");
    let wrong = with_body(&good, text.as_bytes());
    vec![
        of(&good, &caller),
        of(&with_body(&good, b"{}"), &caller),
        of(&good, &caller),
        of(&wrong, &caller),
        bytes(&world.site, &good, &[]),
        of(&good, &caller),
    ]
}

#[test]
fn after_a_crowd_on_any_operation_the_server_is_ready() {
    let world = World::open();
    let mut crowd = Crowd::before(&world.site);
    for route in ROUTES {
        crowd.fire(&requests(&world, route));
    }
}

#[test]
fn after_a_crowd_on_any_page_the_server_is_ready() {
    let site = demo();
    site.hash_small();
    day(&site);
    let (clerk, kiosk) = (Clerk::at(&site, &site.admin()), kiosk::paired(&site));
    let (guest, jane) = (kiosk::paired(&site), site.flyer("jill"));
    let own = own_pages(&site, &site.flyer("kate"));
    kiosk::enter(&site, &guest, &jane);
    // A sign-in that has passed the password and awaits a code.
    let waits = Clerk::outside(&site);
    let protected = site.protect(&site.desk());
    waits.post("/desk/sign-in", &[("username", &protected.member.name), ("password", PASSWORD)]);
    let origin = format!("http://{}", site.address());
    let mut crowd = Crowd::before(&site);
    // The rows that sign out come last, because they end the sessions that the others need.
    let (out, in_order): (Vec<&Route>, Vec<&Route>) = PAGES
        .iter()
        .filter(|page| !page.live)
        .partition(|page| ["/desk/sign-out", "/me/sign-out"].contains(&page.path));
    for page in in_order.into_iter().chain(out) {
        let known = match page.caller() {
            "desk" => &clerk,
            "kiosk" => &kiosk,
            "guest" => &guest,
            "own" => &own,
            _ => &waits,
        };
        let sent = |line: &str, fields: &str| {
            let request = Request::new(&page.method, &table::path(page.path)).header("cookie", line);
            let request = request.header("origin", &origin);
            let request = match page.method {
                Method::POST => with_body(&request.header("content-type", FORM), fields.as_bytes()),
                _ => request,
            };
            bytes(&site, &request, &[])
        };
        let line = known.line();
        let reply = crowd.fire(&[
            sent(&line, WRONG_FIELDS),
            sent(&line, ""),
            sent(&line, WRONG_FIELDS),
            sent("none=1", WRONG_FIELDS),
        ]);
        let text = String::from_utf8_lossy(&reply.body);
        assert!(!text.contains("did not come from a page of this site"), "refused before it was looked at: {reply}");
    }
}
