//! Limits on messages by mail and telephone: to one address, by one member, by strangers and by the whole site.

use super::{DAY, HOUR, recover};
use crate::desk::Clerk;
use crate::harness::{Caller, PASSWORD, Site, senders};
use serde_json::json;
use tunneldesk::auth::limits::messages::{self, DailyQuota};
use tunneldesk::domain::ids::MemberId;
use tunneldesk::store::tables::outbox::Channel;

const SEND: &str = "/account/profile/send-verification-passcode";

/// The number of queued messages for this recipient.
fn messages_to(site: &Site, recipient: &str) -> i64 {
    site.change(|tx| {
        let sql = "SELECT count(*) FROM outbox WHERE recipient = ?1";
        Ok(tx.get(sql, [recipient])?)
    })
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
    site.member("victim");
    for _ in 0..8 {
        _ = recover(&site, "victim");
    }
    assert_eq!(messages_to(&site, "victim@example.com"), 10, "recoveries are counted apart");
}

#[test]
fn anonymous_requests_do_not_use_up_a_member_s_daily_passcodes() {
    let site = Site::open();
    let jane = site.member("jane");
    for _ in 0..3 {
        for _ in 0..5 {
            recover(&site, "jane").ok();
        }
        recover(&site, "jane").refused(429);
        site.advance(HOUR);
    }
    assert_eq!(messages_to(&site, "jane@example.com"), 8, "five an hour, and eight a day from one network");
    site.prove_all();
    jane.post(SEND, json!({"email": "jane@example.com"})).ok();
    assert_eq!(messages_to(&site, "jane@example.com"), 9);
}

#[test]
fn neither_recoveries_nor_other_members_use_up_the_passcodes_for_signing_in() {
    let site = Site::open();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    jane.post("/account/profile/2fa-operation", json!({ "operation": "enable" })).ok();
    for _ in 0..5 {
        recover(&site, "jane").ok();
        mark.post(SEND, json!({"email": "jane@example.com"})).ok();
    }
    assert_eq!(messages_to(&site, "jane@example.com"), 6, "five for others, and one about the second factor");
    let sign_in = || site.stranger().post("/auth/login", json!({ "username": "jane", "password": PASSWORD })).ok();
    for sent in 7..12 {
        assert_eq!(sign_in().json()["confirmationPending"], 3);
        assert_eq!(messages_to(&site, "jane@example.com"), sent);
    }
    sign_in();
    assert_eq!(messages_to(&site, "jane@example.com"), 11, "five an hour");
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

/// The key of the *System status* text about the day's messages.
fn told_of_passcodes(site: &Site) -> &'static str {
    let facts = tunneldesk::ops::health::check(site.inside(), tunneldesk::ops::health::Depth::Quick);
    facts.into_iter().find(|fact| fact.name == "passcodes").expect("it is looked at").text.key()
}

#[test]
fn anonymous_requests_use_up_at_most_half_of_the_daily_mails() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.mail = Some(senders::mail_to_nowhere());
        config.contact_to = Some("house@windwerk.example".to_owned());
        config.limits.mails_per_day = 12;
    });
    let (jane, admin) = (site.member("jane"), Clerk::at(&site, &site.admin()));
    let sent = || site.rows()["outbox"];
    let form = json!({ "name": "Ann Other", "email": "ann@example.com", "message": "Do you open on Sundays?" });
    // Each request has another purpose and another recipient, so that only the site's quota is used up.
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
fn the_site_s_daily_short_messages_are_limited_and_the_desk_is_told() {
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

#[test]
fn messages_about_changes_are_limited_and_notices_are_not() {
    let site = Site::open();
    let jane = site.member("jane");
    site.change(|tx| {
        for _ in 0..40 {
            let actor = tunneldesk::domain::audit::Actor::job("test");
            let (event, language) = (tunneldesk::auth::security_event::Event::RecoveryCodes, Default::default());
            tunneldesk::auth::security_event::record_and_notify(
                site.inside(),
                tx,
                MemberId(jane.id),
                event,
                &json!({}),
                language,
                &actor,
            )?;
        }
        Ok(())
    });
    assert_eq!((messages_to(&site, "jane@example.com"), site.rows()["notices"]), (30, 40));
    let used_up = site.change(|tx| messages::daily_quota(site.inside(), tx, Channel::Email));
    assert_eq!(used_up, DailyQuota::Available, "the site's share is another");
}

#[test]
fn the_contact_form_writes_so_many_mails_a_day_and_the_desk_has_every_message() {
    let site = Site::open_with(|config| config.contact_to = Some("desk@windwerk.example".to_owned()));
    let taken = site.change(|tx| {
        let mut taken = 0;
        for _ in 0..199 {
            taken += i64::from(messages::take_for_site_address(site.inside(), tx, "desk@windwerk.example")?);
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
        config.limits.mails_per_day = 8;
    });
    let form = json!({ "name": "Ann Other", "email": "ann@example.com", "message": "Do you open on Sundays?" });
    for _ in 0..3 {
        site.stranger().post("/public/contact", &form).ok();
    }
    assert_eq!(messages_to(&site, "desk@windwerk.example"), 2, "a quarter");
    for name in ["jane", "mark"] {
        site.member(name);
        recover(&site, name).ok();
    }
    let used_up = site.change(|tx| messages::daily_quota(site.inside(), tx, Channel::Email));
    assert_eq!(used_up, DailyQuota::AnonymousUsedUp);
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

#[test]
fn sign_ups_of_strangers_use_up_neither_recoveries_nor_the_messages_of_staff() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.mail = Some(senders::mail_to_nowhere());
        config.limits.mails_per_day = 16;
    });
    let (jane, admin) = (site.member("jane"), Clerk::at(&site, &site.admin()));
    for n in 0..8 {
        let new = json!({
            "username": format!("new-{n}"), "real_name": "Mo Example", "email": format!("new-{n}@example.com"),
            "password": PASSWORD, "terms": true,
        });
        site.stranger().post("/auth/signup", new).ok();
    }
    assert_eq!(site.rows()["outbox"], 4, "a quarter of the day's mails");
    recover(&site, "jane").ok();
    assert_eq!(messages_to(&site, "jane@example.com"), 1);
    // Members use up the rest, and the staff's own messages still go.
    for n in 0..20 {
        let member = site.member(&format!("member-{n}"));
        member.post(SEND, json!({"email": format!("other-{n}@example.com")}));
    }
    assert_eq!((site.rows()["outbox"], told_of_passcodes(&site)), (16, "health.passcodes.mails"));
    jane.post(SEND, json!({"email": "jane-2@example.com"})).refused(429);
    assert_eq!(admin.post("/desk/site/mail-test", &[]).status, 303);
    let invitation = [
        ("name", "Nora Ek"),
        ("email", "new.clerk@example.com"),
        ("role", "desk"),
        ("language", "en"),
        ("number", "7"),
    ];
    let invited = admin.post("/desk/site/invitations", &invitation);
    assert_eq!(invited.status, 303, "{invited}");
    assert_eq!(messages_to(&site, "new.clerk@example.com"), 1);
}
