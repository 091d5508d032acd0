//! Sessions and booking tokens.

use super::{expect, expect_admitted, refuse_all, with_token};
use crate::harness::{Caller, PASSWORD, Site};
use crate::world::{ADMINS_ALONE, World};
use http::Method;
use serde_json::json;
use std::time::Duration;
use tunneldesk::domain::role::Role;
use tunneldesk::routes::{ROUTES, Route};

const NEW: &str = "four dry socks in a row";
const DAY: Duration = Duration::from_secs(86_400);

fn rows_for(callers: &'static [&'static str]) -> impl Iterator<Item = &'static Route> {
    ROUTES.iter().filter(move |route| callers.contains(&route.caller()))
}

/// Credentials that every row with a session must refuse.
fn dead(world: &World) -> Vec<(&'static str, Caller, u16)> {
    let site = &world.site;
    let stranger = site.stranger();
    let jane_again = |ago| site.sign_in(world.jane.id, "jane", Role::Member, ago);
    let ended = jane_again(Duration::ZERO);
    ended.ask(Method::POST, "/auth/logout").send().ok();
    let (banned, banned_desk) = (site.flyer("banned"), site.desk());
    let banned_token = site.booking_token(&world.partner, &banned);
    [&banned, &banned_desk].iter().for_each(|person| site.ban(person));
    let long_gone = site.sign_in(world.desk.id, "desk", Role::Desk, Duration::from_secs(12 * 3600));
    let garbage = |token: &str| stranger.with(with_token("authorization", "Bearer ", token));
    vec![
        ("no credential", stranger.clone(), 401),
        ("garbage", garbage("garbage"), 401),
        ("garbage of the right length", garbage(&"A".repeat(43)), 401),
        ("a token that is too long", garbage(&"A".repeat(4000)), 401),
        ("a token with one letter more", garbage(&format!("{}A", world.jane.token())), 401),
        ("a token with one letter less", garbage(&world.jane.token()[1..]), 401),
        ("an empty token", garbage(""), 401),
        ("another scheme", world.jane.with(with_token("authorization", "Basic ", world.jane.token())), 401),
        ("a session that ended by logging out", ended, 401),
        ("a session that was idle for 30 days", jane_again(30 * DAY), 401),
        ("a desk session that was idle for 12 hours", long_gone, 401),
        ("the session of a banned member", banned, 401),
        ("the session of a banned desk account", banned_desk, 401),
        ("the booking token of a banned member", banned_token, 401),
        ("a partner's signature", world.partner.clone(), 401),
    ]
}

#[test]
fn rows_for_members_refuse_everything_else() {
    let world = World::open();
    let dead = dead(&world);
    for route in rows_for(&["member"]) {
        // A new token each time: some rows end the member's other sessions and tokens.
        let token = world.site.booking_token(&world.partner, &world.site.again(&world.jane));
        let mut wrong = dead.clone();
        wrong.push(("a session of the sync job", world.sync.clone(), 403));
        wrong.push(("a booking token", token, 403));
        let right = world.right_caller(route);
        refuse_all(&world.site, &world, route, &right, wrong);
    }
}

#[test]
fn rows_for_bookings_too_refuse_everything_else() {
    let world = World::open();
    let dead = dead(&world);
    for route in rows_for(&["bearer"]) {
        let mut wrong = dead.clone();
        wrong.push(("a session of the sync job", world.sync.clone(), 403));
        refuse_all(&world.site, &world, route, &world.right_caller(route), wrong);
    }
}

#[test]
fn rows_for_staff_refuse_members_and_booking_tokens() {
    let world = World::open();
    let token = world.site.booking_token(&world.partner, &world.jane);
    let dead = dead(&world);
    for route in rows_for(&["staff"]) {
        for right in [&world.desk, &world.admin, &world.sync] {
            let mut wrong = dead.clone();
            wrong.push(("a member's session", world.jane.clone(), 403));
            wrong.push(("a booking token", token.clone(), 403));
            refuse_all(&world.site, &world, route, right, wrong);
        }
    }
}

#[test]
fn the_desk_and_the_admins_are_members_too_and_sync_is_not() {
    let world = World::open();
    for route in rows_for(&["member", "bearer"]) {
        for (caller, admitted) in [(&world.desk, true), (&world.admin, true), (&world.sync, false)] {
            let desk_stays_out = ADMINS_ALONE.contains(&route.path) && caller.id == world.desk.id;
            let admitted = admitted && !desk_stays_out;
            let right = world.right_caller(route);
            let again = world.site.sign_in(caller.id, &caller.name, role_of(&world, caller), Duration::ZERO);
            let own = if admitted { &again } else { &right };
            let reply = again.send(&world.request(route, own));
            if admitted { expect_admitted(reply, &caller.name) } else { expect(reply, &caller.name, 403) }
        }
    }
}

/// A way to end everything that the member's credentials opened.
type End = fn(&Site, &Caller);

#[test]
fn after_a_new_password_a_recovery_or_a_ban_older_tokens_are_refused_on_every_operation() {
    let world = World::open();
    let site = &world.site;
    let ends: [(&str, End); 3] = [
        ("a new password", |_, ann| {
            let body = json!({ "password": NEW, "current_password": PASSWORD, "password_confirm": NEW });
            ann.put("/account/profile/change-password", body).ok();
        }),
        ("a recovery", |site, ann| {
            let path = "/auth/account-access/recover-password";
            site.stranger().post(path, json!({ "username": ann.name })).ok();
            let code = site.last_passcode(ann).expect("a passcode went out");
            let body = json!({ "username": ann.name, "passcode": code, "password": NEW });
            assert_eq!(site.stranger().post(path, body).ok().json()["status"], true);
        }),
        ("a ban", |site, ann| site.ban(ann)),
    ];
    for (place, (what, end)) in ends.iter().enumerate() {
        let ann = site.flyer(&format!("ann{place}"));
        let older = [site.again(&ann), site.booking_token(&world.partner, &ann)];
        older.iter().for_each(|token| _ = token.get("/account/profile/user").ok());
        end(site, &ann);
        for route in rows_for(&["member", "bearer"]) {
            let request = world.request(route, &world.right_caller(route));
            older.iter().for_each(|token| expect(token.send(&request), what, 401));
        }
    }
}

fn role_of(world: &World, caller: &Caller) -> Role {
    [(&world.desk, Role::Desk), (&world.admin, Role::Admin), (&world.sync, Role::Sync)]
        .into_iter()
        .find(|(one, _)| one.id == caller.id)
        .map_or(Role::Member, |(_, role)| role)
}

#[test]
fn a_token_is_accepted_in_three_headers() {
    let world = World::open();
    for route in rows_for(&["member", "bearer", "staff"]) {
        for (header, prefix) in
            [("authorization", "Bearer "), ("authorization", "bearer "), ("authorization", ""), ("token", "")]
        {
            let caller = world.right_caller(route);
            let request = world.request(route, &caller);
            let token = with_token(header, prefix, caller.token());
            expect_admitted(caller.with(token).send(&request), &format!("{header}: {prefix}…"));
        }
    }
}

/// The rows that a booking token opens by the rules: the profile, the logbook, and the one entry that the booking made.
const WITH_A_BOOKING: [&str; 16] = [
    "GET /account/profile/user",
    "PUT /account/logbook/time/{entry_id}",
    "GET /account/logbook/skills/{status}/{member_id}",
    "GET /account/logbook/mobile/skills/{member_id}",
    "GET /account/logbook/time/{member_id}",
    "GET /account/logbook/category/{member_id}",
    "GET /account/logbook/filter-skills/{member_id}/{category}",
    "GET /account/logbook/coach-safety/{member_id}",
    "GET /account/logbook/flyer-safety/{member_id}",
    "GET /account/logbook/instructor-safety/{member_id}",
    "GET /account/logbook/military-safety/{member_id}",
    "GET /account/logbook/trainer-safety/{member_id}",
    "GET /account/logbook/progression/{member_id}",
    "GET /account/logbook/export/{member_id}",
    "GET /account/logbook/print/{member_id}",
    "GET /account/dashboard/flyer-skills-levels/{member_id}",
];

#[test]
fn a_booking_token_reads_its_member_and_edits_its_entry_and_nothing_else() {
    let world = World::open();
    let token = world.site.booking_token(&world.partner, &world.jane);
    let entry = world.booked(&token, "entry_id");
    for route in ROUTES.iter().filter(|route| !["open", "callback"].contains(&route.caller())) {
        let right = world.right_caller(route);
        let row = format!("{} {}", route.method, route.path);
        let mut request = world.request(route, &right);
        if !WITH_A_BOOKING.contains(&row.as_str()) {
            let status = if ["partner", "standby"].contains(&route.caller()) { 401 } else { 403 };
            expect(token.send(&request), "a booking token", status);
            continue;
        }
        if route.path.contains("{entry_id}") {
            expect(token.send(&request), "a booking token, for another entry of the same member", 403);
            request.path = format!("/api/account/logbook/time/{entry}");
        }
        expect_admitted(token.send(&request), "a booking token");
        if route.path.contains("{member_id}") {
            let other = world.path(route, &world.mark);
            request.path = other;
            expect(token.send(&request), "a booking token, for another member", 403);
        }
    }
}

#[test]
fn a_booking_token_ends_after_a_day_and_with_its_member() {
    let world = World::open();
    let tokens =
        [world.site.booking_token(&world.partner, &world.jane), world.site.booking_token(&world.partner, &world.mark)];
    world.site.advance(DAY - Duration::from_secs(1));
    tokens[0].get("/account/profile/user").ok();
    world.site.ban(&world.mark);
    tokens[1].get("/account/profile/user").refused(401);
    world.site.advance(Duration::from_secs(1));
    for route in rows_for(&["bearer"]) {
        let jane = world.right_caller(route);
        expect(tokens[0].send(&world.request(route, &jane)), "a booking token of yesterday", 401);
    }
}

#[test]
fn a_session_in_use_lives_180_days_and_no_longer() {
    let site = Site::open();
    let jane = site.member("jane");
    for _ in 0..8 {
        site.advance(20 * DAY);
        jane.get("/account/profile/user").ok();
    }
    site.advance(20 * DAY - Duration::from_secs(1));
    jane.get("/account/profile/user").ok();
    site.advance(Duration::from_secs(1));
    jane.get("/account/profile/user").refused(401);
}

#[test]
fn the_token_header_counts_beside_an_authorization_that_is_no_token() {
    let site = Site::open();
    let (jane, stranger) = (site.member("jane"), site.stranger());
    for other in ["Basic Zm9vOmJhcg==", "Bearer null", "Bearer", "undefined"] {
        let asked = stranger.ask(Method::GET, "/account/profile/user").header("authorization", other);
        asked.header("token", jane.token()).send().ok();
    }
    let asked = stranger.ask(Method::GET, "/account/profile/user").header("token", "old");
    asked.header("authorization", &format!("Bearer {}", jane.token())).send().ok();
}
