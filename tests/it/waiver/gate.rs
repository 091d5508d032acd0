//! No check-in and no flight time without a waiver, by any path in any state.

use super::*;
use crate::desk::book_beside;
use tunneldesk::moment::Moment;

struct Stage {
    site: Site,
    admin: Clerk,
    kiosk: Clerk,
    partner: Caller,
    signer: Caller,
}

type Path = (&'static str, fn(&Stage, &Caller));

impl Stage {
    fn number(&self) -> String {
        self.site.next_number().to_string()
    }

    fn ask(&self, member: &Caller, minutes: i64) -> serde_json::Value {
        json!({
            "member_id": member.id, "member_pin": self.site.pin(member), "registration_id": self.site.next_number(),
            "flight_date": self.site.now() + 600, "minutes_booked": minutes, "tunnel_id": Site::TUNNEL_ID,
        })
    }

    fn kiosk_of(&self, member: &Caller) -> &Clerk {
        self.kiosk.post("/kiosk/leave", &[]);
        enter(&self.site, &self.kiosk, member);
        &self.kiosk
    }
}

/// Every path to a check-in or to flight time, except lists.
const PATHS: [Path; 14] = [
    ("check-in at the desk", |stage, member| {
        let booking = book(&stage.site, member, 60);
        stage.admin.post(&format!("/desk/bookings/{booking}/check-in"), &[]);
    }),
    ("walk-in at the desk", |stage, member| {
        let (who, number) = (member.id.to_string(), stage.number());
        let form = [("member", &*who), ("minutes", "12"), ("here", "on"), ("number", &number)];
        book_beside(&stage.admin, &form);
    }),
    ("time at the desk", |stage, member| {
        stage.admin.post(&format!("/desk/members/{}/time", member.id), &[("minutes", "12")]);
    }),
    ("time by the app", |stage, member| {
        member.post("/account/logbook/time/", json!({ "entry_date": stage.site.now(), "time": 12 }));
    }),
    ("time by existing clients", |stage, member| {
        member.post("/account/logbook/member/time/", json!({ "entry_date": stage.site.now(), "time": "12" }));
    }),
    ("more time by an edit", |stage, member| {
        let sql = "SELECT max(entry_id) FROM entries WHERE member_id = ?1 AND kind = 'time'";
        let entry: i64 = stage.site.change(|tx| Ok(tx.get(sql, [member.id])?));
        let body = json!({ "entry_date": stage.site.now(), "time": "400", "tunnel": "7", "comment": "" });
        member.ask(Method::PUT, &format!("/account/logbook/time/{entry}")).json(&body).send();
    }),
    ("check-in at the kiosk", |stage, member| {
        let booking = book(&stage.site, member, 60);
        stage.kiosk_of(member).post(&format!("/kiosk/bookings/{booking}/check-in"), &[]);
    }),
    ("time at the kiosk", |stage, member| {
        stage.kiosk_of(member).post("/kiosk/time", &[("minutes", "12")]);
    }),
    ("a partner's booking", |stage, member| {
        let reply = stage.partner.post("/external/partner-metrics/op/generate-token", stage.ask(member, 12)).ok();
        assert_eq!(reply.json()["status"], true, "the booking is taken: {reply}");
    }),
    ("a booking at the desk", |stage, member| {
        let (who, number) = (member.id.to_string(), stage.number());
        let form = [("member", &*who), ("minutes", "12"), ("clock", "23:30"), ("number", &number)];
        assert_eq!(book_beside(&stage.admin, &form).status, 303);
    }),
    ("a booking in force again", |stage, member| {
        let booking = book(&stage.site, member, 60);
        let sql = "UPDATE bookings SET ended_as = 'cancelled', ended_at = ?2, removed_date = ?2, removed_minutes = 12,
                          removed_comment = '' WHERE booking_id = ?1";
        stage.site.change(|tx| Ok(tx.run(sql, (booking, tx.now()))?));
        assert_eq!(stage.admin.post(&format!("/desk/bookings/{booking}/reinstate"), &[]).status, 303);
    }),
    ("a booking that is made longer", |stage, member| {
        let booking = book(&stage.site, member, 60);
        let sql = "INSERT INTO entries (member_id, kind, status, entry_date, minutes, tunnel_id, author_id, booking_id, created_at,
                        updated_at) VALUES (?1, 'time', 'open', ?2 + 60, 12, ?3, ?1, ?4, ?2, ?2)";
        stage.site.change(|tx| Ok(tx.run(sql, (member.id, tx.now(), Site::TUNNEL_ID, booking))?));
        let day = tunneldesk::domain::local_time::TimeZone::named("").date(Moment(stage.site.now()));
        let form = [("day", &*day), ("clock", "23:45"), ("minutes", "30")];
        assert_eq!(stage.admin.post(&format!("/desk/bookings/{booking}/move"), &form).status, 303);
    }),
    ("a booking at the kiosk", |stage, member| {
        let number = stage.number();
        stage.kiosk_of(member).post("/kiosk/book", &[("minutes", "12"), ("number", &number)]);
    }),
    ("an opening balance", |stage, member| {
        let body = json!({
            "instructor": stage.signer.id, "entry_date": stage.site.now(), "tunnel": Site::TUNNEL_ID, "time": 60, "skills": "",
        });
        let desk = stage.site.desk();
        desk.post(&format!("/account/logbook/opening-balance/{}", member.id), body);
    }),
];

fn import(site: &Site, members: &[Caller]) -> bool {
    let mut list = "username,kind,entry_date,minutes\n".to_owned();
    for member in members {
        list += &format!("{},time,{},12\n", member.name, site.now());
    }
    let mut file = tempfile::NamedTempFile::new().expect("a file for the list");
    file.write_all(list.as_bytes()).expect("the list is written");
    site.try_shell(&["import", "logbook", &file.path().to_string_lossy()])
}

#[test]
fn no_waiver_no_flight_by_any_path_in_any_state() {
    let site = Site::open_with(|config| {
        on(config);
        (config.kiosk_minutes, config.minutes_per_quarter_hour) = (vec![12], 0);
    });
    let (admin, kiosk, partner) = (demand(&site), paired(&site), site.partner());
    let signer = site.signer("ines", &[("Instructor", "4")]);
    let stage = Stage { site, admin, kiosk, partner, signer };
    let site = &stage.site;
    let denied: [(&str, Option<Paper>); 8] = [
        ("none", None),
        ("expired", Some(Paper { age_days: 366, ..GOOD })),
        ("old_version", Some(Paper { version: 1, ..GOOD })),
        ("minor_alone", Some(Paper { years: 10, ..GOOD })),
        ("came_of_age", Some(Paper { relation: "parent", ..GOOD })),
        ("undecided", Some(Paper { answer: "y", ..GOOD })),
        ("refused", Some(Paper { answer: "y", decision: Some(false), ..GOOD })),
        ("refused_and_old", Some(Paper { answer: "y", decision: Some(false), version: 1, ..GOOD })),
    ];
    let mut grounded = Vec::new();
    for (name, paper) in denied {
        let member = site.flyer(name);
        paper.iter().for_each(|paper| put(site, &member, paper));
        let before = flown(site, &member);
        for (path, take) in PATHS {
            take(&stage, &member);
            assert_eq!(flown(site, &member), before, "{name} flies by {path}");
        }
        member.post("/account/logbook/time/", json!({ "entry_date": site.now(), "time": 12 })).refused(409);
        grounded.push(member);
    }
    assert!(!import(site, &grounded), "a list with them is refused");
    assert!(grounded.iter().all(|member| flown(site, member) == (10, 0)));

    let allowed = [
        ("signed", Some(GOOD)),
        ("child", Some(Paper { years: 10, relation: "parent", ..GOOD })),
        ("cleared", Some(Paper { answer: "y", decision: Some(true), ..GOOD })),
        ("overridden", None),
    ];
    let mut flyers = Vec::new();
    for (name, paper) in allowed {
        let member = site.flyer(name);
        match &paper {
            Some(paper) => put(site, &member, paper),
            None => {
                let form = format!("/desk/members/{}/waiver/override", member.id);
                assert_eq!(stage.admin.post(&form, &[("reason", " ")]).status, 422, "a reason is needed");
                assert_eq!(stage.admin.post(&form, &[("reason", "the paper lies here")]).status, 303);
            }
        }
        for (path, take) in PATHS {
            let before = flown(site, &member);
            take(&stage, &member);
            assert_ne!(flown(site, &member), before, "{name} does not fly by {path}");
        }
        flyers.push(member);
    }
    assert!(import(site, &flyers), "a list with them is taken");
    let sql = "SELECT count(*) FROM audit WHERE action = 'waiver.overridden' AND detail NOT LIKE '%paper%'";
    assert_eq!(site.change(|tx| Ok(tx.get::<i64>(sql, [])?)), 1, "audited, without the reason");
    site.advance(std::time::Duration::from_secs(86_400));
    let overridden = flyers.pop().expect("the last one");
    let late = overridden.post("/account/logbook/time/", json!({ "entry_date": site.now(), "time": 12 }));
    assert_eq!(late.refused(409).json()["code"], "waiver_missing", "an override is for a day");
    // Flights from before the waiver was required, or at other tunnels, need no waiver.
    let before = json!({ "entry_date": site.now() - 3 * 86_400, "time": 12 });
    overridden.post("/account/logbook/time/", before).ok();
}

#[test]
fn a_guest_without_a_waiver_is_led_to_it_and_a_signature_with_a_yes_is_acknowledged() {
    let site = Site::open_with(on);
    demand(&site);
    let (kiosk, eve) = (paired(&site), site.flyer("eve"));
    enter(&site, &kiosk, &eve);
    let logged = kiosk.post("/kiosk/time", &[("minutes", "10")]);
    assert_eq!(logged.header("location"), Some("/kiosk/waiver"), "{logged}");
    assert!(kiosk.get("/kiosk/waiver").page().contains("/assets/join"));
    let (dob, answer) = (format!("dob_{}", eve.id), format!("answer_{}_1", eve.id));
    let form = [("version", "2"), ("language", "en"), ("signer_name", "Eve"), (&*dob, "1990-05-31"), (&*answer, "y")];
    let signed = kiosk.post("/kiosk/waiver", &form);
    let page = kiosk.get(signed.header("location").expect("a page that acknowledges the signature")).page();
    assert!(page.contains("Signed. Because of an answer"), "{page}");
    assert!(!page.contains("/assets/join"), "no script of a form without the form: {page}");
}

#[test]
fn a_waiver_that_was_signed_in_error_is_kept_and_counts_no_more() {
    let site = Site::open_with(on);
    let (admin, jane) = (demand(&site), site.flyer("jane"));
    let card = format!("/desk/members/{}/waiver", jane.id);
    let flies = || {
        let reply = jane.post("/account/logbook/time/", json!({ "entry_date": site.now(), "time": 1 }));
        assert!([201, 409].contains(&reply.status), "{reply}");
        reply.status == 201
    };
    put(&site, &jane, &Paper { answer: "y", decision: Some(false), ..GOOD });
    put(&site, &jane, &GOOD);
    assert!(flies(), "the later waiver counts");
    let error = format!("{card}/error");
    let clerk = Clerk::at(&site, &site.desk());
    assert_eq!(clerk.post(&error, &[("signature", "2"), ("reason", "her sister's card")]).status, 403);
    assert_eq!(admin.post(&error, &[("signature", "2"), ("reason", "")]).status, 422);
    assert_eq!(admin.post(&error, &[("signature", "9"), ("reason", "x")]).status, 404);
    assert!(flies(), "nothing was marked yet");
    let done = admin.post(&error, &[("signature", "2"), ("reason", "her sister's card")]);
    assert_eq!(done.header("location"), Some(&*format!("{card}?done=error")));
    assert!(!flies(), "the decision on the waiver before counts again");
    let page = admin.get(&card).page();
    assert!(page.contains("Signed in error.") && page.contains("her sister&#39;s card"), "{page}");
    assert_eq!(admin.post(&error, &[("signature", "2"), ("reason", "again")]).status, 303);
    assert_eq!(site.rows()["waiver_decisions"], 2, "a second mark adds nothing");
    assert_eq!(site.rows()["waiver_signatures"], 2, "both are kept");
    // What is marked is decided no more, and a new signature counts.
    let decide = [("signature", "2"), ("may_fly", "yes"), ("word", "x")];
    assert_eq!(admin.post(&format!("{card}/decide"), &decide).status, 409);
    assert_eq!(admin.post(&error, &[("signature", "1"), ("reason", "hers too")]).status, 303);
    assert!(!flies(), "none is left");
    put(&site, &jane, &GOOD);
    assert!(flies());
}
