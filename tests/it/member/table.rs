//! Every own page, generated from the route table: with each kind of credential, and about own, foreign and missing objects.

use super::own_pages;
use crate::desk::kiosk::{enter, paired};
use crate::desk::{Clerk, book};
use crate::harness::{Caller, Reply, Site};
use http::Method;
use tunneldesk::routes::{PAGES, Route};

/// A number that nothing has.
const MISSING: &str = "99999";

fn rows() -> impl Iterator<Item = &'static Route> {
    PAGES.iter().filter(|page| page.caller() == "own")
}

fn send(browser: &Clerk, route: &Route, path: &str, form: &[(&str, &str)]) -> Reply {
    if route.method == Method::GET { browser.get(path) } else { browser.post(path, form) }
}

/// What one member has: a name for each place of a path, and the object of the row that differs from it.
struct Things {
    booking: i64,
    time: i64,
    asked: i64,
    waits: i64,
    payment: i64,
    child: i64,
}

fn site() -> Site {
    Site::open_with(|config| {
        (config.demo, config.waiver.required) = (true, true);
        config.yearly_fee_cents = 3_000;
    })
}

/// A member who flies, asks, signs, pays and has a child.
fn furnish(site: &Site, who: &Caller, signer: &Caller, student: &Caller, payment: i64) -> Things {
    site.brief(who, "Flyer");
    site.brief(student, "Flyer");
    let child = site.member(&format!("child{payment}"));
    let time = site.change(|tx| {
        let dob = tx.now().0 / 86_400 * 86_400 - 4_000 * 86_400;
        tx.run("UPDATE members SET dob = ?2 WHERE member_id = ?1", (child.id, dob))?;
        let sql = "INSERT INTO guardianships (child_id, guardian_id, relation, made_at) VALUES (?1, ?2, 'parent', ?3)";
        tx.run(sql, (child.id, who.id, tx.now()))?;
        let sql = "INSERT INTO payments (payment_id, intent_id, member_id, status, amount_cents, currency, created_at, updated_at)
                   VALUES (?1, 'desk-' || ?1, ?2, 'succeeded', 3000, 'CHF', ?3, ?3)";
        tx.run(sql, (payment, who.id, tx.now()))?;
        let sql = "INSERT INTO till_entries (payment_id, kind, amount_cents, currency, reason, undoes, paid_until, taken_by, taken_at)
                   VALUES (?1, 'cash', 3000, 'CHF', '', NULL, ?2 + 31536000, NULL, ?2)";
        tx.run(sql, (payment, tx.now()))?;
        let sql = "INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, created_at, updated_at)
                   VALUES (?1, 'time', 'open', ?2 - 3600, 12, ?3, ?1, ?2, ?2) RETURNING entry_id";
        Ok(tx.get::<i64>(sql, (who.id, tx.now(), Site::TUNNEL_ID))?)
    });
    Things {
        booking: book(site, who, 5 * 86_400),
        time,
        asked: site.ask_for(who, "10102", signer),
        waits: site.ask_for(student, "10101", who),
        payment,
        child: child.id,
    }
}

/// The path of a row about these things; `None` where the row is about the member alone.
fn path_of(route: &Route, of: &Things) -> Option<String> {
    let entry = match route.path {
        path if path.starts_with("/me/logbook/time") => of.time,
        path if path.starts_with("/me/signing") => of.waits,
        _ => of.asked,
    };
    let named =
        [("{booking_id}", of.booking), ("{entry_id}", entry), ("{payment_id}", of.payment), ("{child_id}", of.child)];
    let path = named.iter().fold(route.path.to_owned(), |path, (place, id)| path.replace(place, &id.to_string()));
    assert!(!path.replace("{skill}", "").contains('{'), "say here whose {path} is");
    (path != route.path).then_some(path)
}

#[test]
fn no_other_credential_opens_an_own_page() {
    let site = site();
    let (jane, ann) = (site.flyer("jane"), site.desk());
    let kiosk = paired(&site);
    enter(&site, &kiosk, &jane);
    let with = |name: &str, value: &str| {
        let browser = Clerk::outside(&site);
        browser.cookies.borrow_mut().insert(name.to_owned(), value.to_owned());
        browser
    };
    let banned = site.member("banned");
    let of_banned = own_pages(&site, &banned);
    site.change(|tx| Ok(tx.run("UPDATE members SET banned_at = 1 WHERE member_id = ?1", [banned.id])?));
    let signed_out = own_pages(&site, &jane);
    let copied = signed_out.cookies.borrow()["me"].clone();
    signed_out.post("/me/sign-out", &[]);
    let clerk = Clerk::at(&site, &ann);
    let desk_session = clerk.cookies.borrow()["desk"].clone();
    let all = [
        ("nobody", Clerk::outside(&site)),
        ("a session of the app", with("me", jane.token())),
        ("a session of the app, at the desk", with("desk", jane.token())),
        ("a clerk", clerk),
        ("a clerk's session", with("me", &desk_session)),
        ("a job's", with("me", site.sync().token())),
        ("a kiosk and its guest", kiosk),
        ("a banned member", of_banned),
        ("a session that has ended", with("me", &copied)),
        ("nonsense", with("me", "x")),
    ];
    let count = site.rows();
    for route in rows() {
        let path = crate::desk::table::path(route.path);
        for (what, browser) in &all {
            let reply = send(browser, route, &path, &[]);
            let to = reply.header("location").unwrap_or_default();
            let refused = reply.status == 303 && to.starts_with("/me/sign-in") && reply.body.is_empty();
            assert!(refused, "{what}: {} {path}: {reply}", route.method);
        }
    }
    assert_eq!(site.rows(), count, "nothing was written");
}

#[test]
fn who_asked_to_leave_reaches_nothing_but_the_way_back() {
    let site = site();
    let browser = own_pages(&site, &site.flyer("jane"));
    assert_eq!(browser.post("/me/leaving", &[]).status, 303);
    for route in rows().filter(|route| !route.path.starts_with("/me/leaving") && route.path != "/me/sign-out") {
        let reply = send(&browser, route, &crate::desk::table::path(route.path), &[]);
        assert_eq!((reply.status, reply.header("location")), (303, Some("/me/leaving")), "{}", route.path);
    }
}

#[test]
fn what_is_another_members_is_as_missing_as_what_nobody_has() {
    let site = site();
    let (ines, otto) = (site.signer("ines", &[("Instructor", "4")]), site.signer("otto", &[("Instructor", "4")]));
    let (jane, mark) = (site.member("kim"), site.member("lena"));
    let (own, foreign) = (furnish(&site, &ines, &otto, &jane, 900), furnish(&site, &otto, &ines, &mark, 901));
    let browser = own_pages(&site, &ines);
    let mut looked = 0;
    for route in rows().filter(|route| route.path.contains('{')) {
        // A form that was sent again after its entry went says nothing, and does nothing.
        let forgives = route.path == "/me/logbook/time/{entry_id}/delete";
        let Some(theirs) = path_of(route, &foreign) else {
            // A skill is nobody's.
            assert_eq!(
                send(&browser, route, &route.path.replace("{skill}", "10103"), &[]).status / 100,
                if route.method == Method::GET { 2 } else { 4 }
            );
            assert_eq!(send(&browser, route, &route.path.replace("{skill}", MISSING), &[]).status, 404);
            continue;
        };
        let nothing =
            Things { booking: 99_999, time: 99_999, asked: 99_999, waits: 99_999, payment: 99_999, child: 99_999 };
        let missing = path_of(route, &nothing).expect("a path");
        let form = [("reason", "x"), ("seen", "x")];
        let count = site.rows();
        assert_eq!(send(&browser, route, &theirs, &form).status, 404, "{} {theirs}", route.method);
        let reply = send(&browser, route, &missing, &form);
        assert_eq!(reply.status, if forgives { 303 } else { 404 }, "{} {missing}", route.method);
        assert_eq!(site.rows(), count, "{} {theirs} wrote something", route.method);
        let mine = path_of(route, &own).expect("a path");
        let reply = send(&browser, route, &mine, &form);
        assert!([200, 303, 409, 422].contains(&reply.status), "{} {mine}: {reply}", route.method);
        looked += 1;
    }
    assert!(looked >= 10, "{looked} rows name an object");
}
