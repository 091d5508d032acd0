//! Tokens opened before a change of the account's credentials: after the change, every row of the table that needs a
//! token refuses them.

use super::with_token;
use crate::auth::passkeys::{Page, question, refused, verify};
use crate::harness::{Authenticator, Caller, PASSWORD, Protected, Request, senders};
use crate::world::World;
use http::Method;
use serde_json::json;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::domain::role::Role;
use tunneldesk::routes::{ROUTES, Route};
use tunneldesk::store::tables::security_answers;

const NEW: &str = "four dry socks in a row";
const USER: &str = "/account/profile/user";
const FACTOR: &str = "/account/profile/2fa-operation";
const RECOVER: &str = "/auth/account-access/recover-password";

/// A person whose credentials change, by a session that may survive the change.
struct Person {
    caller: Caller,
    /// `Some` if the change needs a second factor that is on.
    protected: Option<Protected>,
}

type Make = fn(&World, &Person);

/// The changes that end older tokens; whether the member has a second factor before; and how the change is made.
const CHANGES: [(&str, bool, Make); 11] = [
    ("a password change", false, |_, person| {
        let body = json!({ "password": NEW, "current_password": PASSWORD, "password_confirm": NEW });
        person.caller.put("/account/profile/change-password", body).ok();
    }),
    ("a recovery", false, |world, person| {
        let (site, name) = (&world.site, &person.caller.name);
        let phc = site.inside().hash("volvo");
        site.change(|tx| Ok(security_answers::set(tx, MemberId(person.caller.id), 3, &phc)?));
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

/// Rows that need a token, or accept one in place of a signature.
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

/// On a demo site, where staff may turn a second factor off.
#[test]
fn after_a_change_every_older_token_of_the_desk_is_refused_on_every_operation() {
    let world = World::open_with(|config| {
        config.demo = true;
        // Staff recover by a passcode that is sent by mail.
        config.mail = Some(senders::mail_to_nowhere());
    });
    // A sent passcode cannot be the second factor of staff.
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
    // Everything that the requests name is made before the change, while the member still can.
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
    // Where no session is needed, an ended one is ignored.
    let asked = older[0].1.ask(Method::POST, "/auth/login/bio-web-option").header("origin", &site.origin());
    let asked = asked.json(&json!({ "username": "jane", "device_id": 7 })).send().ok_json();
    assert!(asked["publicKey"]["allowCredentials"].is_array(), "after {what}: {asked}");
}

/// The caller for whom the row's request is made: rows of partners name things of a partner.
fn wanted_by(world: &World, route: &Route, caller: &Caller) -> Caller {
    if route.caller() == "partner" { world.partner.clone() } else { caller.clone() }
}
