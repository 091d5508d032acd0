//! Role × operation × own, foreign and missing object, generated from the table: a permitted caller succeeds, every
//! other is refused, and a refusal changes nothing. The expected status follows from the row's caller and the owner of
//! the object that its path or body names. `world` states the owner for every name, so that a row with a new name fails
//! here until its owner is stated.

use crate::harness::{Caller, Reply, Request};
use crate::world::{MISSING, Object, Whose, World};
use serde_json::Value;
use tunneldesk::routes::{ROUTES, Route};

#[derive(Debug, Clone, Copy, PartialEq)]
enum Role {
    Nobody,
    /// A current flyer. For a foreign object this caller is the other member.
    Member,
    /// An instructor who is current.
    Instructor,
    Desk,
    Admin,
    Sync,
    Partner,
    /// The token of a member's booking.
    Booking,
}

const ROLES: [Role; 8] =
    [Role::Nobody, Role::Member, Role::Instructor, Role::Desk, Role::Admin, Role::Sync, Role::Partner, Role::Booking];

#[derive(Debug, Clone, Copy, PartialEq)]
enum Having {
    Own,
    Foreign,
    Missing,
}

/// The expected outcome of authentication for a role. `Ok`: the caller is admitted.
fn at_the_gate(route: &Route, role: Role) -> Result<(), u16> {
    use Role::*;
    match (route.caller(), role) {
        ("open", _) => Ok(()),
        // The body of a deletion request is signed itself, so any caller may send it; other callbacks are signed by
        // their sender.
        ("callback", _) if route.path == "/social-data-deletion" => Ok(()),
        // The app reports a payment with its member's session and another body than the processor's, which is sent
        // here.
        ("callback", Member | Instructor | Desk | Admin) if route.path == "/payment-webhook" => Err(422),
        ("callback", Sync | Booking) if route.path == "/payment-webhook" => Err(403),
        ("callback", _) => Err(401),
        (_, Nobody) => Err(401),
        ("standby", _) => Err(401),
        ("partner" | "listening", Partner) => Ok(()),
        ("partner", _) | (_, Partner) => Err(401),
        ("staff", Desk | Admin | Sync) => Ok(()),
        ("staff", _) | (_, Sync) => Err(403),
        ("bearer", _) => Ok(()),
        ("member" | "listening", Booking) => Err(403),
        ("member" | "listening", _) => Ok(()),
        (other, _) => panic!("say here whom {other} lets in"),
    }
}

/// The expected outcome after authentication. `Ok`: the operation succeeds.
fn of_the_object(whose: Whose, role: Role, having: Having) -> Result<(), u16> {
    use Role::*;
    let sees = |allowed: bool, refusal: u16| match (allowed, having) {
        (true, Having::Missing) => Err(404),
        (true, _) | (_, Having::Own) => Ok(()),
        (false, _) => Err(refusal),
    };
    match whose {
        Whose::Everybodys => sees(true, 404),
        Whose::MembersAndOverseers => sees([Desk, Admin, Instructor].contains(&role), 403),
        // An instructor may read every logbook, so the answer may reveal that the entry exists.
        Whose::MembersAndStaffs if role == Instructor && having == Having::Foreign => Err(403),
        Whose::MembersAndStaffs => sees([Desk, Admin].contains(&role), 404),
        Whose::OwnersAlone { refusal } => sees(false, refusal),
    }
}

/// The expected outcome for rows about a skill entry that awaits a signature. `Own`: the caller is asked and is
/// qualified to sign. `Foreign`: another member is asked.
fn of_the_asked(route: &Route, role: Role, having: Having) -> Result<(), u16> {
    use Role::*;
    let sees = having == Having::Own || [Desk, Admin, Instructor].contains(&role);
    match route.path.rsplit('/').next() {
        _ if having == Having::Missing || !sees => Err(404),
        Some("events") => Ok(()),
        // A foreign entry's callers are on no list of signers.
        Some("sign" | "deny") if having == Having::Own => Ok(()),
        Some("suspend" | "reinstate") if role == Admin => Ok(()),
        Some("sign" | "deny" | "suspend" | "reinstate") => Err(403),
        other => panic!("say here whom {other:?} obeys"),
    }
}

/// The expected outcome for an opening balance, which the desk enters for any member.
fn of_an_opening(role: Role, having: Having) -> Result<(), u16> {
    match (role, having) {
        (Role::Desk | Role::Admin, Having::Missing) => Err(404),
        (Role::Desk | Role::Admin, _) => Ok(()),
        _ => Err(403),
    }
}

#[test]
fn no_caller_reaches_another_s_data() {
    let world = World::open_with(|config| {
        config.limits.passkey_questions_per_minute_per_address = 1_000_000;
        config.limits.sign_in_misses_per_address = 1_000_000;
    });
    for route in ROUTES {
        let object = world.object(route);
        let cases: &[Having] = match &object {
            Some(_) => &[Having::Own, Having::Foreign, Having::Missing],
            None => &[Having::Own],
        };
        for role in ROLES {
            cases.iter().for_each(|having| try_it(&world, route, object.as_ref(), role, *having));
        }
    }
}

fn try_it(world: &World, route: &Route, object: Option<&Object>, role: Role, having: Having) {
    let caller = somebody(world, role);
    let gate = at_the_gate(route, role);
    let expected = match (gate, object) {
        (Err(status), _) => Err(status),
        (Ok(()), _) if route.path.starts_with("/account/logbook/entries/") => of_the_asked(route, role, having),
        (Ok(()), _) if route.path.starts_with("/account/logbook/opening-balance/") => of_an_opening(role, having),
        (Ok(()), Some(object)) => of_the_object(object.whose, role, having),
        (Ok(()), None) => Ok(()),
    };
    let request = request(world, route, object, &caller, role, having);
    // A signature of a whole request is used up by a refusal too.
    let rows = || {
        let mut rows = world.site.rows();
        rows.remove("partner_signatures");
        rows
    };
    let before = rows();
    let reply = caller.send(&request);
    let what = format!("{role:?} with {having:?}: {reply}");
    match expected {
        Ok(()) => assert!((200..300).contains(&reply.status), "{what}"),
        Err(status) => {
            assert_eq!(reply.status, status, "{what}");
            check_refusal(&reply);
            assert_eq!(rows(), before, "something stayed behind: {what}");
        }
    }
}

/// Checks the error envelope of a refusal. A page refuses with a page, which has none.
fn check_refusal(reply: &Reply) {
    if reply.header("content-type") == Some("application/json") {
        reply.check_envelope();
    }
}

/// A new person each time, because some rows end what others need.
fn somebody(world: &World, role: Role) -> Caller {
    let (site, number) = (&world.site, world.site.next_number());
    match role {
        Role::Nobody => site.stranger(),
        Role::Member => site.flyer(&format!("member{number}")),
        Role::Instructor => site.instructor(&format!("instructor{number}")),
        Role::Desk => site.desk(),
        Role::Admin => site.admin(),
        Role::Sync => site.sync(),
        Role::Partner => world.partner.clone(),
        Role::Booking => site.booking_token(&world.partner, &site.flyer(&format!("booked{number}"))),
    }
}

/// The row's request for an object of the caller, of another member, or that does not exist.
fn request(
    world: &World,
    route: &Route,
    object: Option<&Object>,
    caller: &Caller,
    role: Role,
    having: Having,
) -> Request {
    let other = || world.callers(route).pop().expect("somebody whom the row admits");
    let owns = at_the_gate(route, role).is_ok() && !["open", "callback"].contains(&route.caller());
    match (having, object) {
        (Having::Own, Some(object)) if owns && role == Role::Booking => {
            let path = world.path_with(route, &object.name, &world.booked(caller, &object.name));
            Request { path, ..world.request(route, &world.site.again(caller)) }
        }
        (Having::Own, _) if owns => world.request(route, caller),
        (Having::Missing, Some(object)) => without(world, route, object, world.request(route, &other())),
        _ => world.request(route, &other()),
    }
}

/// The same request for an object that does not exist.
fn without(world: &World, route: &Route, object: &Object, request: Request) -> Request {
    let missing = MISSING.iter().find(|(name, _)| *name == object.name).map_or("999999999", |(_, value)| value);
    let mut request = request;
    if object.in_path {
        request.path = world.path_with(route, &object.name, missing);
    }
    if let Ok(mut body) = serde_json::from_slice::<Value>(&request.body) {
        let named = ["entry_id", "id", &object.name].into_iter().filter(|name| body.get(name).is_some());
        for name in named.collect::<Vec<_>>() {
            body[name] = missing.parse::<i64>().map_or_else(|_| missing.into(), Value::from);
        }
        request.body = serde_json::to_vec(&body).unwrap();
    }
    request
}
