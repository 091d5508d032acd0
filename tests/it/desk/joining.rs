//! Two accounts of one person are joined by an admin, and parted again within a day.

use super::kiosk::paired;
use super::till::field;
use super::{Clerk, demo};
use crate::harness::{Caller, PASSWORD, Site};
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::domain::catalogue::Catalogue;
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::queries::holdings;

const GENERATE: &str = "/external/partner-metrics/op/generate-token";

fn number(site: &Site, sql: &str, member_id: i64) -> i64 {
    site.change(|tx| Ok(tx.get(sql, [member_id])?))
}

/// Sends a booking of the number and the PIN; the answer.
fn send(site: &Site, partner: &Caller, (number, pin): (i64, &str), registration: i64) -> Value {
    let body = json!({
        "member_id": number, "member_pin": pin, "registration_id": registration, "flight_date": site.now() + 3600,
        "minutes_booked": 12, "tunnel_id": Site::TUNNEL_ID,
    });
    partner.post(GENERATE, body).ok().json()
}

fn join(admin: &Clerk, joined: &Caller, survivor: &Caller) -> crate::harness::Reply {
    admin.post(&format!("/desk/members/{}/join", survivor.id), &[("with", &joined.id.to_string())])
}

fn undo(admin: &Clerk, joined: &Caller, survivor: &Caller) -> crate::harness::Reply {
    admin.post(&format!("/desk/members/{}/join/undo", survivor.id), &[("with", &joined.id.to_string())])
}

fn may_sign_in(site: &Site, name: &str) -> bool {
    let reply = site.stranger().post("/auth/login", json!({ "username": name, "password": PASSWORD }));
    reply.json()["token"].as_str().is_some_and(|token| !token.is_empty())
}

/// The owner of each row that is not a credential, and the sums that follow from them.
fn record(site: &Site) -> Vec<String> {
    let sql = "SELECT 'entry ' || entry_id || ' ' || member_id FROM entries
               UNION ALL SELECT 'booking ' || booking_id || ' ' || member_id FROM bookings
               UNION ALL SELECT 'payment ' || payment_id || ' ' || member_id || ' ' || granted_to FROM payments
               UNION ALL SELECT 'card ' || card || ' ' || member_id FROM cards
               UNION ALL SELECT 'guardian ' || guardianship_id || ' ' || child_id || ' ' || guardian_id FROM guardianships
               UNION ALL SELECT 'waiver ' || signature_id || ' ' || member_id FROM waiver_signatures
               UNION ALL SELECT 'brief ' || confirmation_id || ' ' || member_id FROM brief_confirmations
               UNION ALL SELECT 'holds ' || member_id || ' ' || cat_group || cat_id || track || since FROM holdings
               UNION ALL SELECT 'sums ' || member_id || ' ' || entries || ' ' || flight_minutes || ' '
                                || coalesce(paid_until, 0) FROM members ORDER BY 1";
    site.change(|tx| Ok(tx.list(sql, [])?))
}

/// Two accounts with something of everything; the first is joined into the second.
fn pair(site: &Site) -> (Caller, Caller) {
    let (twin, jane) = (site.member("twin"), site.member("jane"));
    site.learn(&twin, "Flyer", "1");
    site.brief(&twin, "Flyer");
    let child = site.member("child");
    site.change(|tx| {
        let now = tx.now();
        tx.run("UPDATE members SET real_name = 'Jane Doe-Twin', phone = '+41791112233' WHERE member_id = ?1", [twin.id])?;
        tx.run("INSERT INTO cards (card, member_id, tied_at) VALUES ('TWIN1', ?1, ?2)", (twin.id, now))?;
        tx.run(
            "INSERT INTO payments (member_id, intent_id, amount_cents, currency, status, granted_to, granted_until, created_at, updated_at)
             VALUES (?1, 'pi_twin', 3000, 'CHF', 'succeeded', ?1, ?2, ?2, ?2)",
            (twin.id, now),
        )?;
        tx.run("UPDATE members SET paid_until = ?2 WHERE member_id = ?1", (twin.id, now + 86_400 * 300))?;
        tx.run(
            "INSERT INTO guardianships (child_id, guardian_id, relation, made_at) VALUES (?1, ?2, 'parent', ?3)",
            (child.id, twin.id, now),
        )?;
        tx.run(
            "INSERT INTO waiver_signatures (member_id, version, language, text_hash, signed_at, place, flyer_name, born, relation,
                                            signer_name, strokes, answers, kept)
             VALUES (?1, 1, 'en', x'00', ?2, 'desk', 'Twin', 0, 'self', 'Twin', '', 'n', 1)",
            (twin.id, now),
        )?;
        tx.run(
            "INSERT INTO brief_confirmations (member_id, version, language, text_hash, confirmed_at) VALUES (?1, 1, 'en', x'00', ?2)",
            (twin.id, now),
        )?;
        Ok(())
    });
    (twin, jane)
}

#[test]
fn everything_moves_but_what_opens_an_account_and_an_undo_gives_back_exactly_that() {
    let site = demo();
    let (twin, jane) = pair(&site);
    let (partner, admin) = (site.partner(), Clerk::at(&site, &site.admin()));
    let (of_twin, of_jane) = (site.pin(&twin), site.pin(&jane));
    let first = send(&site, &partner, (twin.id, &of_twin), 41)["booking"]["booking_id"].as_i64().expect("booked");
    partner.post("/external/partner-metrics/op", json!({ "email": "twin@example.com" })).ok();
    // The same skill stands in both logbooks: the survivor's stays the one that counts.
    let skill = "INSERT INTO entries (member_id, kind, status, entry_date, tunnel_id, author_id, cat_group, cat_id, skill, created_at, updated_at)
                 SELECT ?2, kind, status, entry_date, tunnel_id, ?2, cat_group, cat_id, skill, created_at, updated_at
                 FROM entries WHERE member_id = ?1 AND kind = 'skill' ORDER BY entry_id LIMIT 1";
    site.change(|tx| {
        tx.run(skill, (twin.id, jane.id))?;
        Ok(holdings::refresh(tx, MemberId(jane.id), Catalogue::built_in())?)
    });
    let before = record(&site);
    let search = admin.get(&format!("/desk/members/{}/join?q=Doe-Twin", jane.id)).page();
    assert!(search.contains(&format!("/desk/members/{}/join?with={}", jane.id, twin.id)), "{search}");
    let plan = admin.get(&format!("/desk/members/{}/join?with={}", jane.id, twin.id)).page();
    for said in [
        "Bookings: 1",
        "Payments: 1",
        "Waivers: 1",
        "Guardians and children: 1",
        "Cards and wristbands: 1",
        "has the same",
    ] {
        assert!(plan.contains(said), "{said}: {plan}");
    }
    assert_eq!(record(&site), before, "looking changes nothing");
    let audited = number(&site, "SELECT count(*) FROM audit WHERE ?1 = ?1", 0);
    let done = join(&admin, &twin, &jane);
    assert_eq!(done.header("location"), Some(&*format!("/desk/members/{}?done=joined", jane.id)), "{done}");

    // What is the twin's still: the entry of the skill that both have.
    let left = |table: &str| number(&site, &format!("SELECT count(*) FROM {table} WHERE member_id = ?1"), twin.id);
    assert_eq!(
        ["entries", "bookings", "payments", "cards", "waiver_signatures", "holdings"].map(left),
        [1, 0, 0, 0, 0, 0]
    );
    assert_eq!(number(&site, "SELECT count(*) FROM guardianships WHERE guardian_id = ?1", jane.id), 1);
    assert_eq!(number(&site, "SELECT count(*) FROM audit WHERE ?1 = ?1", 0), audited + 1, "one row");
    // What follows from the entries is what they say, computed from nothing.
    let joined = record(&site);
    site.change(|tx| {
        tx.run("DELETE FROM holdings", [])?;
        let all: Vec<i64> = tx.list("SELECT member_id FROM members", [])?;
        Ok(all.iter().try_for_each(|one| holdings::refresh(tx, MemberId(*one), Catalogue::built_in()))?)
    });
    assert_eq!(record(&site), joined);
    let sums =
        "SELECT flight_minutes = (SELECT coalesce(sum(minutes), 0) FROM entries e WHERE e.member_id = m.member_id
                       AND kind = 'time' AND status = 'open')
                   AND entries = (SELECT count(*) FROM entries e WHERE e.member_id = m.member_id)
                FROM members m WHERE member_id = ?1";
    assert_eq!((number(&site, sums, twin.id), number(&site, sums, jane.id)), (1, 1));
    assert!(site.holdings(&jane).contains(&"Flyer 1".to_owned()));

    // The number leads to the survivor, both names are found, and both addresses are told.
    assert_eq!(
        admin.get(&format!("/desk/members/{}", twin.id)).header("location"),
        Some(&*format!("/desk/members/{}", jane.id))
    );
    let found = admin.get("/desk/members?q=Doe-Twin").page();
    assert!(found.contains(&format!("href=\"/desk/members/{}\"", jane.id)), "{found}");
    let told: Vec<(String, String)> = site.security_events().into_iter().map(|(_, to, event)| (to, event)).collect();
    for (to, event) in [("twin@example.com", "joined_away"), ("jane@example.com", "joined")] {
        assert!(told.contains(&(to.to_owned(), event.to_owned())), "{told:?}");
    }
    twin.get("/account/profile/user").refused(401);
    assert!(!may_sign_in(&site, "twin") && may_sign_in(&site, "jane"));
    assert_eq!(partner.get("/external/partner-metrics/op").ok().json()[0]["member_id"], jane.id);
    let last = "SELECT event || ' ' || member_id FROM history WHERE booking_id = ?1 ORDER BY seq DESC LIMIT 1";
    let last = || site.change(|tx| Ok(tx.get::<String>(last, [first])?));
    assert_eq!(last(), format!("booking.changed {}", jane.id));

    // A partner calls by the old number: with the survivor's PIN only.
    let refused = send(&site, &partner, (twin.id, &of_twin), 42);
    assert_eq!(refused["status"], false, "{refused}");
    let later = send(&site, &partner, (twin.id, &of_jane), 42)["booking"]["booking_id"].as_i64().expect("booked");
    assert_eq!(number(&site, "SELECT member_id FROM bookings WHERE booking_id = ?1", later), jane.id);
    let again = send(&site, &partner, (twin.id, &of_twin), 41);
    assert_eq!(
        (&again["status"], &again["token"]),
        (&json!(true), &json!("")),
        "the booking is known, and no token is given: {again}"
    );

    let undone = undo(&admin, &twin, &jane);
    assert_eq!(undone.header("location"), Some(&*format!("/desk/members/{}?done=unjoined", jane.id)), "{undone}");
    let (parted, fresh) = (record(&site), format!("booking {later} {}", jane.id));
    let own = |rows: &[String]| -> Vec<String> {
        let entry = number(&site, "SELECT coalesce(max(entry_id), 0) FROM entries WHERE booking_id = ?1", later);
        let fresh = [fresh.clone(), format!("entry {entry} {}", jane.id)];
        let sums = format!("sums {} ", jane.id);
        rows.iter().filter(|row| !fresh.contains(row) && !row.starts_with(&sums)).cloned().collect()
    };
    assert_eq!(own(&parted), own(&before), "what was moved is back");
    assert!(parted.contains(&fresh), "what came later stays");
    assert_eq!(last(), format!("booking.changed {}", twin.id));
    assert!(may_sign_in(&site, "twin"));
    assert_eq!(undo(&admin, &twin, &jane).status, 404, "there is nothing left to undo");
}

#[test]
fn an_impostor_who_is_joined_with_the_victim_gets_nothing() {
    let site = demo();
    let (victim, partner, admin) = (site.flyer("victim"), site.partner(), Clerk::at(&site, &site.admin()));
    let pin = site.pin(&victim);
    let impostor = site.member("victim2");
    let (stolen, phone) = (site.pin(&impostor), "+41790000000");
    site.change(|tx| {
        tx.run("UPDATE members SET real_name = 'victim', phone = ?2, phone_confirmed_at = 1 WHERE member_id = ?1", (impostor.id, phone))?;
        tx.run(
            "INSERT INTO social_links (provider, subject, member_id, created_at, used_at) VALUES ('google', 's', ?1, 1, 1)",
            [impostor.id],
        )?;
        Ok(())
    });
    let way_in = "SELECT username || email || phone || coalesce(password_hash, '') || hex(coalesce(pin_hash, ''))
                  FROM members WHERE member_id = ?1";
    let way_in = || site.change(|tx| Ok(tx.get::<String>(way_in, [victim.id])?));
    let before = way_in();
    assert_eq!(join(&admin, &impostor, &victim).status, 303);
    assert_eq!(way_in(), before);
    assert_eq!(number(&site, "SELECT count(*) FROM social_links WHERE member_id = ?1", victim.id), 0);
    impostor.get("/account/profile/user").refused(401);
    assert!(!may_sign_in(&site, "victim2"));
    for number in [impostor.id, victim.id] {
        assert_eq!(send(&site, &partner, (number, &stolen), 7)["status"], false);
    }
    assert_eq!(send(&site, &partner, (victim.id, &pin), 7)["status"], true);
    let mails = site.mails().len();
    site.stranger()
        .post("/auth/account-access/recover-password", json!({ "username": "victim2", "option": "email" }))
        .ok();
    assert_eq!(site.mails().len(), mails, "no recovery either");
    let events = site.security_events();
    assert!(events.iter().any(|(_, to, _)| to == "victim@example.com"), "the victim is told: {events:?}");
    // The desk cannot open the closed account again but by undoing the join.
    admin.post(&format!("/desk/members/{}/ban/lift", impostor.id), &[]);
    assert!(!may_sign_in(&site, "victim2"));
}

#[test]
fn what_cannot_be_joined_is_named_before_and_refused() {
    let site = demo();
    let who = site.admin();
    let (jane, admin, desk) = (site.member("jane"), Clerk::at(&site, &who), Clerk::at(&site, &site.desk()));
    let (clerk, banned, signer) = (site.desk(), site.member("banned"), site.signer("ines", &[("Instructor", "4")]));
    let child = site.member("child");
    site.ban(&banned);
    site.change(|tx| {
        let sql = "INSERT INTO guardianships (child_id, guardian_id, relation, made_at) VALUES (?1, ?2, 'parent', 1)";
        Ok(tx.run(sql, (child.id, jane.id))?)
    });
    for (other, said) in [
        (&clerk, "Accounts of staff"),
        (&banned, "banned or closed"),
        (&signer, "signs off skills"),
        (&child, "two persons"),
        (&jane, "the same account"),
    ] {
        let plan = admin.get(&format!("/desk/members/{}/join?with={}", jane.id, other.id)).page();
        assert!(plan.contains(said) && !plan.contains("Join now"), "{said}: {plan}");
        let refused = join(&admin, other, &jane).status;
        assert!(refused == 422 || refused == 403, "{said}: {refused}");
    }
    let twin = site.member("twin");
    assert_eq!(join(&desk, &twin, &jane).status, 403, "not by the desk");
    assert_eq!(join(&admin, &twin, &site.admin()).status, 422, "not into an account of the staff");
    // An old proof of identity is not enough, and one from just now is.
    site.change(|tx| Ok(tx.run("UPDATE sessions SET proven_at = 0", [])?));
    let refused = join(&admin, &twin, &jane);
    assert!(refused.status == 403 && refused.page().contains("Confirm that it is you"), "{refused}");
    site.prove_all();
    assert_eq!(join(&admin, &twin, &jane).status, 303);
    // A joined account is not joined again, nor does anything change it; after a day the join stays.
    assert_eq!(join(&admin, &twin, &jane).status, 404);
    assert_eq!(admin.post(&format!("/desk/members/{}/note", twin.id), &[("text", "x"), ("seen", "")]).status, 404);
    assert!(admin.get(&format!("/desk/members/{}", jane.id)).page().contains("/join/undo"));
    site.keep_sessions();
    site.advance(Duration::from_secs(86_400));
    site.prove_all();
    assert_eq!(undo(&admin, &twin, &jane).status, 409);
}

#[test]
fn erasing_the_survivor_erases_the_joined_account() {
    let site = demo();
    let (twin, jane) = pair(&site);
    let admin = Clerk::at(&site, &site.admin());
    assert_eq!(join(&admin, &twin, &jane).status, 303);
    let held = site.shell_output(&["member", "export", "jane"]).stdout;
    let held = String::from_utf8_lossy(&held);
    for word in ["twin@example.com", "jane@example.com", "TWIN1"] {
        assert!(held.contains(word), "the copy is of the whole person: {word}");
    }
    let of_the_closed = ["member", "erase", "twin@example.com", "--yes"];
    assert!(!site.try_shell(&of_the_closed), "a command on the closed account would act on another one");
    site.shell(&["member", "erase", "jane", "--yes"]);
    let erased: Vec<i64> = site.change(|tx| Ok(tx.list("SELECT member_id FROM erasures ORDER BY 1", [])?));
    assert_eq!(erased, [twin.id, jane.id], "all of the person");
    for word in ["twin@example.com", "Doe-Twin", "+41791112233", "TWIN1", "jane@example.com"] {
        let left: Vec<String> =
            site.holds_text(word).into_iter().filter(|column| !column.starts_with("audit.")).collect();
        assert_eq!(left, Vec::<String>::new(), "{word}");
    }
    assert_eq!(undo(&admin, &twin, &jane).status, 404);
}

#[test]
fn the_desk_learns_of_people_who_sign_up_alone_again() {
    let site = demo();
    let kiosk = paired(&site);
    for (name, email) in
        [("Ada Østergård", "ada@example.org"), ("ADA OSTERGARD", "a@example.org"), ("Østergård Ada", "b@example.org")]
    {
        let sent = field(&kiosk.get("/kiosk/join").page(), "number");
        let born = [("day", "1"), ("month", "12"), ("year", "1995"), ("terms", "1"), ("number", &*sent)];
        let joined = kiosk.post("/kiosk/join", &[&[("real_name", name), ("email", email)], &born[..]].concat());
        assert_eq!(joined.status, 200, "{joined}");
        kiosk.post("/kiosk/leave", &[]);
    }
    let numbers: Vec<i64> =
        site.change(|tx| Ok(tx.list("SELECT member_id FROM members WHERE dob IS NOT NULL ORDER BY 1", [])?));
    let [first, second, third] = numbers[..] else { panic!("{numbers:?}") };
    let (admin, desk) = (Clerk::at(&site, &site.admin()), Clerk::at(&site, &site.desk()));
    let today = admin.get("/desk").page();
    for other in [second, third] {
        assert!(today.contains(&format!("/desk/members/{first}/join?with={other}")), "{today}");
        assert!(desk.get("/desk").page().contains(&format!("/desk/members/{other}\"")));
    }
    assert!(desk.get(&format!("/desk/members/{third}")).page().contains("Two persons"));
    assert_eq!(desk.post(&format!("/desk/members/{third}/alike"), &[]).status, 303);
    let joined = admin.post(&format!("/desk/members/{first}/join"), &[("with", &second.to_string())]);
    assert_eq!(joined.status, 303, "{joined}");
    assert!(!admin.get("/desk").page().contains("/join?with="), "both are settled");
}

#[test]
fn a_join_is_not_undone_while_the_survivor_is_one_of_the_staff() {
    let site = demo();
    let (twin, jane, admin) = (site.member("twin"), site.member("jane"), Clerk::at(&site, &site.admin()));
    assert_eq!(join(&admin, &twin, &jane).status, 303);
    let make = |role: &str| {
        let sql = "UPDATE members SET role = ?2 WHERE member_id = ?1";
        site.change(|tx| Ok(tx.run(sql, (jane.id, role))?));
    };
    make("desk");
    let rows = record(&site);
    let refused = undo(&admin, &twin, &jane);
    assert!(refused.status == 409 && refused.page().contains("make it a member"), "{refused}");
    assert_eq!((record(&site), may_sign_in(&site, "twin")), (rows, false));
    make("member");
    assert_eq!(undo(&admin, &twin, &jane).status, 303);
    assert!(may_sign_in(&site, "twin"));
}
