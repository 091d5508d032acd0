//! What was opened before a change of what opens it: dead after the change, on every row of the table that asks for it.

use super::with_token;
use crate::auth::passkeys::{Page, question, refused, verify};
use crate::harness::{Authenticator, Caller, PASSWORD, Protected, Request, senders};
use crate::world::World;
use http::Method;
use serde_json::json;
use tunneldesk::domain::role::Role;
use tunneldesk::routes::{ROUTES, Route};
use tunneldesk::store::tables::security_answers;

const NEW: &str = "four dry socks in a row";
const USER: &str = "/account/profile/user";
const FACTOR: &str = "/account/profile/2fa-operation";
const RECOVER: &str = "/auth/account-access/recover-password";

/// Somebody whose credentials change, by a session that may outlive it.
struct Person {
    caller: Caller,
    /// Where the change takes a second factor that is on.
    protected: Option<Protected>,
}

type Make = fn(&World, &Person);

/// What ends older tokens, and whether the member had a second factor before.
const CHANGES: [(&str, bool, Make); 11] = [
    ("a password change", false, |_, person| {
        let body = json!({ "password": NEW, "current_password": PASSWORD, "password_confirm": NEW });
        person.caller.put("/account/profile/change-password", body).ok();
    }),
    ("a recovery", false, |world, person| {
        let (site, name) = (&world.site, &person.caller.name);
        let phc = site.inside().hash("volvo");
        site.change(|tx| Ok(security_answers::set(tx, person.caller.id, 3, &phc)?));
        site.stranger().post(RECOVER, json!({ "username": name })).ok();
        let passcode = site.last_passcode(&person.caller).expect("a passcode went out");
        let body = json!({ "username": name, "passcode": passcode, "password": NEW, "answer_3": "volvo" });
        assert_eq!(site.stranger().post(RECOVER, body).ok_json()["status"], true);
    }),
    ("a ban", false, |world, person| world.site.shell(&["member", "ban", &person.caller.name])),
    ("a ban that was lifted", false, |world, person| {
        world.site.shell(&["member", "ban", &person.caller.name]);
        world.site.shell(&["member", "ban", &person.caller.name, "--lift"]);
    }),
    ("an authenticator", false, |world, person| _ = world.site.protect(&person.caller)),
    ("another authenticator", true, |world, person| {
        let (now, protected) = (world.site.now(), person.protected.as_ref().expect("one before"));
        let mut body = json!({ "username": person.caller.name, "password": PASSWORD });
        body["code"] = protected.authenticator.code(now).into();
        let setup = person.caller.post("/auth/login/totp/setup", &body).ok_json();
        body["code"] = Authenticator::scan(&setup).code(now).into();
        assert_eq!(person.caller.post("/auth/login/totp/verify-setup", &body).ok_json()["status"], true);
    }),
    ("passcodes", false, |_, person| _ = person.caller.post(FACTOR, json!({ "operation": "enable" })).ok()),
    ("no second factor any more", true, |_, person| {
        let code = &person.protected.as_ref().expect("one before").recovery_codes[0];
        person.caller.post(FACTOR, json!({ "operation": "disable", "code": code })).ok();
    }),
    ("a second factor that the shell took", true, |world, person| {
        world.site.shell(&["member", "reset-second-factor", &person.caller.name]);
    }),
    ("a password from the shell", false, |world, person| {
        world.site.shell(&["member", "reset-password", &person.caller.name]);
    }),
    ("another role", false, |world, person| {
        world.site.shell(&["member", "set-role", &person.caller.name, "member"]);
    }),
];

/// Rows that ask for a token, or take one for a signature.
fn rows() -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(|route| !["open", "callback"].contains(&route.caller()))
}

#[test]
fn after_a_change_every_older_token_of_a_member_is_refused_on_every_operation() {
    let world = World::open();
    for change in &CHANGES {
        let flyer = world.site.flyer(&format!("flyer{}", world.site.next_number()));
        older_tokens_are_refused(&world, flyer, Role::Member, change);
    }
}

/// The demo's, where staff may turn a second factor off.
#[test]
fn after_a_change_every_older_token_of_the_desk_is_refused_on_every_operation() {
    let world = World::open_with(|config| {
        config.demo = true;
        // Whoever works here recovers by a passcode that leaves the house.
        config.mail = Some(senders::mail_to_nowhere());
    });
    // A sent passcode is no second factor for whoever works here.
    for change in CHANGES.iter().filter(|(what, ..)| *what != "passcodes") {
        older_tokens_are_refused(&world, world.site.desk(), Role::Desk, change);
    }
}

fn older_tokens_are_refused(world: &World, caller: Caller, role: Role, (what, protected, make): &(&str, bool, Make)) {
    let site = &world.site;
    let protected = protected.then(|| site.protect(&caller));
    let again = || site.sign_in(caller.id, &caller.name, role, std::time::Duration::ZERO);
    let in_token = again();
    let older = [
        ("a session", again()),
        ("a session in token", in_token.with(with_token("token", "", in_token.token()))),
        ("a booking token", site.booking_token(&world.partner, &caller)),
    ];
    for (_, token) in &older {
        token.get(USER).ok();
    }
    let registering = question(site, &older[0].1, json!({ "device_id": 7 }));
    // Everything that the requests name is made while the member still can.
    let requests: Vec<Request> = rows().map(|route| world.request(route, &wanted_by(world, route, &caller))).collect();
    make(world, &Person { caller, protected });
    let before = site.rows();
    for request in &requests {
        for (kind, token) in &older {
            let reply = token.send(request);
            assert_eq!(reply.status, 401, "{kind} from before {what}: {reply}");
            reply.check_envelope();
        }
    }
    assert_eq!(site.rows(), before, "after {what} an older token left something behind");
    refused(&verify(site, &Page::at(&site.origin()).create(&registering).1));
    // An ended session is as good as none where none is needed.
    let asked = older[0].1.ask(Method::POST, "/auth/login/bio-web-option").header("origin", &site.origin());
    let asked = asked.json(&json!({ "username": "jane", "device_id": 7 })).send().ok_json();
    assert!(asked["publicKey"]["allowCredentials"].is_array(), "after {what}: {asked}");
}

/// Whoever the row's request is made for: partners' things are a partner's.
fn wanted_by(world: &World, route: &Route, caller: &Caller) -> Caller {
    if route.caller() == "partner" { world.partner.clone() } else { caller.clone() }
}
