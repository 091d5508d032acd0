//! What one person, one partner or one address may do, and that honest use never meets it.

use crate::desk::Clerk;
use crate::harness::{Caller, PASSWORD, Reply, Site, senders};
use http::Method;
use serde_json::{Value, json};
use std::time::Duration;
use tunneldesk::auth::allowance::{self, UsedUp};
use tunneldesk::auth::new_token;
use tunneldesk::domain::{password, role::Role};
use tunneldesk::store::tables::outbox::Channel;
use tunneldesk::store::tables::{members, notices, sessions};

const QUESTIONS: &str = "/auth/account-access/security-questions";
const RECOVER: &str = "/auth/account-access/recover-password";
const SEND: &str = "/account/profile/send-verification-passcode";
const TIME: &str = "/account/logbook/time/";
const GENERATE: &str = "/external/partner-metrics/op/generate-token";
const HOUR: Duration = Duration::from_secs(3_600);
const DAY: Duration = Duration::from_secs(86_400);

fn asked_of(site: &Site, name: &str) -> Vec<i64> {
    let reply = site.stranger().get(&format!("{QUESTIONS}?username={name}")).ok();
    assert_eq!(reply.header("cache-control"), Some("private, no-store"));
    reply.json().as_array().unwrap().iter().map(|one| one["question"].as_i64().unwrap()).collect()
}

fn recover(site: &Site, name: &str) -> Reply {
    site.stranger().post(RECOVER, json!({"username": name, "option": "email"}))
}

/// Messages in line for this recipient.
fn messages_to(site: &Site, recipient: &str) -> i64 {
    site.change(|tx| {
        let sql = "SELECT count(*) FROM outbox WHERE recipient = ?1";
        Ok(tx.get(sql, [recipient], |row| row.get(0))?)
    })
}

fn flight(site: &Site) -> Value {
    json!({"entry_date": site.now() - 60, "time": "10"})
}

#[test]
fn everybody_is_asked_three_questions_always_the_same() {
    let site = Site::open();
    let phc = password::hash("volvo");
    for (name, own) in [("none", &[][..]), ("one", &[3]), ("two", &[3, 7]), ("three", &[1, 3, 7])] {
        let member = site.member(name);
        for question in own {
            site.change(|tx| Ok(members::set_security_answer(tx, member.id, *question, &phc)?));
        }
        let asked = asked_of(&site, name);
        assert_eq!(asked.len(), 3, "{name}");
        assert!(asked.is_sorted() && own.iter().all(|question| asked.contains(question)), "{name}: {asked:?}");
        assert_eq!(asked_of(&site, name), asked, "{name}");
        assert_eq!(asked_of(&site, &format!("{name}@example.com")), asked, "by the address too");
    }
    assert_eq!(asked_of(&site, "nobody").len(), 3);
}

#[test]
fn one_own_answer_and_two_to_made_up_questions_recover_the_account() {
    let site = Site::open();
    let jane = site.member("jane");
    site.change(|tx| Ok(members::set_security_answer(tx, jane.id, 3, &password::hash("volvo"))?));
    recover(&site, "jane").ok();
    let passcode = site.mails().pop().expect("a mail waits")["values"]["passcode"].clone();
    let mut body = json!({"username": "jane", "passcode": passcode, "password": "four dry socks in a row"});
    for question in asked_of(&site, "jane") {
        body[format!("answer_{question}")] = if question == 3 { "volvo" } else { "whatever" }.into();
    }
    assert_eq!(site.stranger().post(RECOVER, body).ok().json()["status"], true);
}

#[test]
fn an_address_asks_for_so_many_recoveries_an_hour_whoever_it_names() {
    let site = Site::open_with(|config| config.limits.recoveries_per_hour_per_address = 6);
    site.member("jane");
    let before = site.rows();
    recover(&site, "jane").ok();
    for n in 0..4 {
        recover(&site, &format!("nobody-{n}")).ok();
    }
    site.stranger().get(&format!("{QUESTIONS}?username=jane")).ok();
    for name in ["jane", "nobody"] {
        let refused = recover(&site, name).refused(429);
        assert!(refused.header("retry-after").is_some());
        site.stranger().get(&format!("{QUESTIONS}?username={name}")).refused(429);
        site.stranger().post("/auth/account-access/recover-username", json!({"email": "a@example.com"})).refused(429);
    }
    let after = site.rows();
    let more: i64 = after.iter().map(|(table, rows)| rows - before[table]).sum();
    assert!(more <= 12, "five requests left {more} rows");
}

#[test]
fn forty_sign_ups_send_five_mails_to_one_address_and_all_answer_alike() {
    let site = Site::open();
    let mut answers = Vec::new();
    for n in 0..12 {
        let body = json!({
            "username": format!("member-{n}"), "real_name": "Mo Example", "email": "victim@example.com",
            "password": PASSWORD, "terms": true,
        });
        let mut answer = site.stranger().post("/auth/signup", body).ok().json();
        answer.as_object_mut().unwrap().remove("member_id");
        answers.push(answer);
    }
    assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
    assert_eq!(messages_to(&site, "victim@example.com"), 5);
    site.advance(HOUR);
    site.member("victim");
    for _ in 0..8 {
        _ = recover(&site, "victim");
    }
    assert_eq!(messages_to(&site, "victim@example.com"), 10, "ten a day, whatever they are");
}

#[test]
fn what_strangers_ask_for_does_not_use_up_the_members_own_passcodes_of_the_day() {
    let site = Site::open();
    let jane = site.member("jane");
    for _ in 0..3 {
        for _ in 0..5 {
            recover(&site, "jane").ok();
        }
        recover(&site, "jane").refused(429);
        site.advance(HOUR);
    }
    assert_eq!(messages_to(&site, "jane@example.com"), 10, "ten a day");
    site.prove_all();
    jane.post(SEND, json!({"email": "jane@example.com"})).ok();
    assert_eq!(messages_to(&site, "jane@example.com"), 11);
}

#[test]
fn a_member_gets_five_passcodes_an_hour_and_ten_a_day_wherever_they_go() {
    let site = Site::open();
    let jane = site.member("jane");
    let send = |n: i64| {
        site.prove_all();
        jane.post(SEND, json!({"country": "41", "phone": format!("7912345{n:02}")}))
    };
    for n in 0..5 {
        send(n).ok();
    }
    let refused = send(5).refused(429);
    assert_eq!(refused.json()["code"], "passcode_too_many");
    site.advance(HOUR);
    for n in 5..10 {
        send(n).ok();
    }
    site.advance(HOUR);
    let wait: u64 = send(10).refused(429).header("retry-after").unwrap().parse().unwrap();
    assert!((70_000..86_400).contains(&wait), "{wait}");
    site.advance(DAY);
    send(11).ok();
}

#[test]
fn short_messages_go_to_telephones_of_the_country_once_an_address_is_confirmed() {
    let site = Site::open();
    let jane = site.member("jane");
    for phone in ["+41900123456", "+41840123456", "+491711234567", "+881612345678", "+870773111632", "+19002345678"] {
        let refused = jane.post(SEND, json!({"country": "41", "phone": phone})).refused(422);
        assert_eq!(refused.bad_fields(), ["phone"], "{phone}");
    }
    let new = site.member("new");
    site.change(|tx| Ok(tx.run("UPDATE members SET email_confirmed_at = NULL WHERE member_id = ?1", [new.id])?));
    let refused = new.post(SEND, json!({"country": "41", "phone": "791234567"})).refused(409);
    assert_eq!(refused.json()["code"], "email_not_confirmed");
    assert_eq!(site.rows()["outbox"], 0);
    jane.post(SEND, json!({"country": "41", "phone": "791234567"})).ok();

    let site = Site::open_with(|config| config.calling_codes = vec![49]);
    let jane = site.member("jane");
    jane.post(SEND, json!({"country": "49", "phone": "1711234567"})).ok();
    jane.post(SEND, json!({"country": "41", "phone": "791234567"})).refused(422);
}

/// What the System status says of the day's messages.
fn told_of_passcodes(site: &Site) -> &'static str {
    let facts = tunneldesk::ops::health::look(site.inside(), tunneldesk::ops::health::Look::Brief);
    facts.into_iter().find(|fact| fact.name == "passcodes").expect("it is looked at").text.key()
}

#[test]
fn strangers_use_up_half_of_a_day_s_mails_and_members_and_staff_get_theirs() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.mail = Some(senders::mail_to_nowhere());
        config.contact_to = Some("house@windwerk.example".to_owned());
        config.limits.mails_per_day = 12;
    });
    let (jane, admin) = (site.member("jane"), Clerk::at(&site, &site.admin()));
    let sent = || site.rows()["outbox"];
    let form = json!({ "name": "Ann Other", "email": "ann@example.com", "message": "Do you open on Sundays?" });
    // Each asks for something else, for somebody else: no share but the site's is used up.
    for n in 0..4 {
        site.member(&format!("member-{n}"));
        recover(&site, &format!("member-{n}")).ok();
        site.stranger().post("/public/contact", &form).ok();
        let new = json!({
            "username": format!("new-{n}"), "real_name": "Mo Example", "email": format!("new-{n}@example.com"),
            "password": PASSWORD, "terms": true,
        });
        site.stranger().post("/auth/signup", new).ok();
    }
    assert_eq!((sent(), told_of_passcodes(&site)), (6, "health.passcodes.strangers"));
    for n in 0..3 {
        jane.post(SEND, json!({"email": format!("jane-{n}@example.com")})).ok();
        assert_eq!(admin.post("/desk/site/mail-test", &[]).status, 303);
    }
    assert_eq!((sent(), told_of_passcodes(&site)), (12, "health.passcodes.mails"));
    jane.post(SEND, json!({"email": "jane-3@example.com"})).refused(429);
    site.advance(DAY);
    recover(&site, "member-3").ok();
    assert_eq!((sent(), told_of_passcodes(&site)), (13, "health.passcodes"));
}

#[test]
fn the_sites_share_of_short_messages_has_an_end_and_the_desk_is_told() {
    let site = Site::open_with(|config| config.limits.sms_per_day = 2);
    let members: Vec<Caller> = (0..3).map(|n| site.member(&format!("member-{n}"))).collect();
    let send = |n: usize| members[n].post(SEND, json!({"country": "41", "phone": format!("79123450{n}")}));
    send(0).ok();
    assert_eq!(told_of_passcodes(&site), "health.passcodes");
    send(1).ok();
    send(2).refused(429);
    assert_eq!(told_of_passcodes(&site), "health.passcodes.sms");
    members[2].post(SEND, json!({"email": "other@example.com"})).ok();
    site.advance(DAY);
    site.prove_all();
    send(2).ok();
}

fn guess(partner: &Caller, member_id: i64, pin: &str) -> Reply {
    partner.post(GENERATE, json!({"member_id": member_id, "member_pin": pin})).ok()
}

#[test]
fn a_partner_that_sprays_pins_is_paused_and_the_desk_is_told() {
    let site = Site::open_with(|config| config.demo = true);
    let (partner, other, admin, jane) = (site.partner(), site.partner(), site.admin(), site.member("jane"));
    let pin = site.pin(&jane);
    let wrong = guess(&partner, 1_000, "000000").json();
    for n in 1..31 {
        let reply = guess(&partner, 1_000 + n, "000000");
        assert_eq!((reply.json(), reply.header("retry-after")), (wrong.clone(), None));
    }
    let before = site.rows();
    let reply = guess(&partner, jane.id, &pin);
    assert_eq!(reply.json(), wrong, "the right PIN gets the answer of a wrong one");
    assert_eq!(reply.header("retry-after"), Some("900"));
    let body = json!({"member_id": jane.id, "member_pin": pin});
    for n in 0..3 {
        let asking = partner.ask(Method::POST, GENERATE).json(&body);
        asking.header("idempotency-key", &format!("key-{n}")).send().ok();
    }
    assert_eq!(site.rows(), before, "a pause writes nothing");
    assert_eq!(guess(&other, jane.id, &pin).json()["status"], true, "another partner goes on");

    let paused = |site: &Site| {
        let sql = "SELECT count(*) FROM audit WHERE deed = 'partner.paused' AND whom = ?1";
        let whom = format!("partner:{}", partner.client_id());
        site.change(|tx| Ok(tx.get(sql, [&whom], |row| row.get::<_, i64>(0))?))
    };
    assert_eq!(paused(&site), 1);
    let fact = tunneldesk::ops::health::look(site.inside(), tunneldesk::ops::health::Look::Brief);
    let fact = fact.into_iter().find(|fact| fact.name == "partners").unwrap();
    assert_eq!((fact.text.key(), fact.figure), ("health.partners.paused", Some(("paused", 1))));
    let clerk = Clerk::at(&site, &admin);
    assert!(clerk.get("/desk/partners").page().contains("paused for 15 min"));

    site.advance(Duration::from_secs(901));
    assert_eq!(guess(&partner, jane.id, &pin).json()["status"], true);
    assert!(!clerk.get("/desk/partners").page().contains("paused for"));
}

#[test]
fn a_partner_whose_members_mistype_now_and_then_is_never_paused() {
    let site = Site::open();
    let partner = site.partner();
    for n in 0..100 {
        assert_eq!(guess(&partner, 1_000 + n, "000000").header("retry-after"), None, "{n}");
        site.advance(Duration::from_secs(61));
    }
}

#[test]
fn a_person_makes_so_many_changes_a_day_and_looks_as_often_as_wanted() {
    let site = Site::open_with(|config| config.limits.changes_per_day_per_member = 3);
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    for _ in 0..3 {
        jane.post(TIME, flight(&site)).ok();
    }
    let refused = jane.post(TIME, flight(&site)).refused(429);
    assert!(refused.header("retry-after").is_some());
    jane.post("/account/logbook/member/time/", flight(&site)).refused(429);
    jane.ask(Method::POST, "/account/profile/booking-pin").send().refused(429);
    for _ in 0..5 {
        jane.get("/account/profile/user").ok();
    }
    mark.post(TIME, flight(&site)).ok();
    jane.ask(Method::POST, "/auth/logout").send().ok();
}

#[test]
fn a_logbook_is_full_at_some_point_and_sooner_without_a_confirmed_address() {
    let site = Site::open();
    for (name, most, confirmed) in [("jane", 50_000, true), ("new", 1_000, false)] {
        let member = site.member(name);
        site.change(|tx| {
            if !confirmed {
                tx.run("UPDATE members SET email_confirmed_at = NULL WHERE member_id = ?1", [member.id])?;
            }
            let sql = "WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n < ?2)
                       INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, created_at, updated_at)
                       SELECT ?1, 'time', 'open', ?3, 1, ?4, ?1, ?3, ?3 FROM n";
            Ok(tx.run(sql, (member.id, most, tx.now() - 86_400, Site::TUNNEL_ID))?)
        });
        let entry_id = member.post(TIME, flight(&site)).ok().json()["entry_id"].clone();
        let refused = member.post(TIME, flight(&site)).refused(409);
        assert_eq!(refused.json()["code"], "logbook_full");
        assert!(refused.json()["message"].as_str().unwrap().contains(&most.to_string()), "{refused}");
        member.delete(&format!("/account/logbook/{entry_id}")).ok();
        member.post(TIME, flight(&site)).ok();
    }
}

#[test]
fn what_a_member_leaves_behind_by_signing_in_and_being_told_has_an_end() {
    let site = Site::open();
    let jane = site.member("jane");
    let (_, newest) = new_token();
    site.change(|tx| {
        for n in 0..600 {
            sessions::insert(tx, &new_token().1, jane.id, Role::Member, "it")?;
            sessions::insert_booking_token(tx, &new_token().1, jane.id, None, tx.now() + n)?;
        }
        sessions::insert(tx, &newest, jane.id, Role::Member, "it")?;
        for _ in 0..5_100 {
            notices::insert(tx, jane.id, "notice.pin_paused", "{\"minutes\": 15}")?;
        }
        Ok(())
    });
    let rows = site.rows();
    assert_eq!((rows["sessions"], rows["booking_tokens"], rows["notices"]), (500, 200, 5_000));
    let kept = site.change(|tx| Ok(sessions::find(tx, &newest, tx.now())?));
    assert!(kept.is_some(), "the newest session stays");
}

#[test]
fn what_is_out_of_date_goes_however_much_there_is() {
    let site = Site::open();
    site.change(|tx| {
        let sql = "WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 5000)
                   INSERT INTO passcode_sends (address_hash, sent_at) SELECT randomblob(32), ?1 FROM n";
        Ok(tx.run(sql, [tx.now()])?)
    });
    site.advance(2 * DAY);
    assert_eq!(tunneldesk::jobs::sweep_all(&site.for_a_job()).unwrap(), 5_000);
    assert_eq!(site.rows()["passcode_sends"], 0);
}

#[test]
fn messages_about_changes_have_an_end_and_the_notices_have_them_all() {
    let site = Site::open();
    let jane = site.member("jane");
    site.change(|tx| {
        for _ in 0..40 {
            let by = tunneldesk::domain::audit::By::job("test");
            let (event, language) = (tunneldesk::auth::security_event::Event::RecoveryCodes, Default::default());
            tunneldesk::auth::security_event::tell(site.inside(), tx, jane.id, event, &json!({}), language, &by)?;
        }
        Ok(())
    });
    assert_eq!((messages_to(&site, "jane@example.com"), site.rows()["notices"]), (30, 40));
    let used_up = site.change(|tx| allowance::used_up(site.inside(), tx, Channel::Email));
    assert_eq!(used_up, UsedUp::Nothing, "the site's share is another");
}

#[test]
fn the_contact_form_writes_so_many_mails_a_day_and_the_desk_has_every_message() {
    let site = Site::open_with(|config| config.contact_to = Some("desk@windwerk.example".to_owned()));
    let taken = site.change(|tx| {
        let mut taken = 0;
        for _ in 0..199 {
            taken += i64::from(allowance::take_for_house(site.inside(), tx, "desk@windwerk.example")?);
        }
        Ok(taken)
    });
    assert_eq!(taken, 199);
    let form = json!({ "name": "Ann Other", "email": "ann@example.com", "message": "Do you open on Sundays?" });
    for _ in 0..3 {
        site.stranger().post("/public/contact", &form).ok();
    }
    assert_eq!((messages_to(&site, "desk@windwerk.example"), site.rows()["contact_messages"]), (1, 3));
    site.advance(DAY);
    site.stranger().post("/public/contact", &form).ok();
    assert_eq!(messages_to(&site, "desk@windwerk.example"), 2);
}

#[test]
fn mails_of_the_contact_form_are_part_of_what_the_site_sends_in_a_day() {
    let site = Site::open_with(|config| {
        config.contact_to = Some("desk@windwerk.example".to_owned());
        config.limits.mails_per_day = 4;
    });
    let form = json!({ "name": "Ann Other", "email": "ann@example.com", "message": "Do you open on Sundays?" });
    for _ in 0..3 {
        site.stranger().post("/public/contact", &form).ok();
    }
    assert_eq!(messages_to(&site, "desk@windwerk.example"), 2);
    let used_up = site.change(|tx| allowance::used_up(site.inside(), tx, Channel::Email));
    assert_eq!(used_up, UsedUp::StrangersPart);
}

#[test]
fn an_admin_sends_five_test_messages_an_hour() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.mail = Some(senders::mail_to_nowhere());
    });
    let admin = Clerk::at(&site, &site.admin());
    for _ in 0..5 {
        assert_eq!(admin.post("/desk/site/mail-test", &[]).status, 303);
    }
    assert_eq!(admin.post("/desk/site/mail-test", &[]).status, 429);
    site.advance(HOUR);
    assert_eq!(admin.post("/desk/site/mail-test", &[]).status, 303);
}
