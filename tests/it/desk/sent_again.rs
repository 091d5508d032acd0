//! A form with the number of another: a browser that goes back brings pages back with their hidden numbers.

use super::till::field;
use super::{Clerk, demo};
use crate::harness::{Reply, Site, senders};
use std::time::Duration;

fn number(site: &Site, sql: &str) -> i64 {
    site.change(|tx| Ok(tx.get(sql, [])?))
}

fn register(clerk: &Clerk, form: &str, name: &str, minutes: &str) -> Reply {
    let fields = [("real_name", name), ("language", "en"), ("terms", "1"), ("number", form), ("minutes", minutes)];
    clerk.post("/desk/new-member", &fields)
}

#[test]
fn the_next_person_typed_over_a_sent_form_is_not_answered_as_the_person_before() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    let form = field(&clerk.get("/desk/new-member").page(), "number");
    let before = number(&site, "SELECT count(*) FROM members");
    assert_eq!(register(&clerk, &form, "Ada Erste", "10").status, 303);
    assert_eq!(register(&clerk, &form, "Ada Erste", "10").status, 303, "the same content is the first sending");
    for (name, minutes) in [("Ben Zweiter", "10"), ("Ada Erste", "20")] {
        let refused = register(&clerk, &form, name, minutes);
        assert_eq!(refused.status, 409, "{name} {minutes}: {refused}");
        let page = refused.page();
        assert!(page.contains("was sent before") && page.contains("<bdi>Ada Erste</bdi>"), "{page}");
    }
    assert_eq!(number(&site, "SELECT count(*) FROM members"), before + 1);
    assert_eq!(number(&site, "SELECT sum(minutes_booked) FROM bookings"), 10);
    // The page that refuses is a new form, so that the second person exists after one more press.
    let new = field(&register(&clerk, &form, "Ben Zweiter", "10").page(), "number");
    assert_ne!(new, form);
    // A quarter of an hour has room for fifteen minutes.
    let made = register(&clerk, &new, "Ben Zweiter", "5");
    assert!(made.status == 303 && made.header("location").unwrap().contains("done=here"), "{made}");
    assert_eq!(number(&site, "SELECT count(*) FROM members WHERE real_name = 'Ben Zweiter'"), 1);
}

fn booked(site: &Site) -> String {
    let sql = "SELECT group_concat(member_id || ' ' || minutes_booked, ', ') FROM bookings";
    site.change(|tx| Ok(tx.get(sql, [])?))
}

#[test]
fn a_booking_form_sent_again_for_another_flight_does_not_move_the_first() {
    let site = demo();
    let (jane, mark, clerk) = (site.member("jane"), site.member("mark"), Clerk::at(&site, &site.desk()));
    let (jane, mark) = (jane.id.to_string(), mark.id.to_string());
    let send = |member: &str, minutes: &str| {
        let fields = [("member", member), ("minutes", minutes), ("here", "1"), ("number", "4711")];
        clerk.post("/desk/bookings", &fields)
    };
    assert_eq!(send(&jane, "10").status, 303);
    site.advance(Duration::from_secs(60));
    assert_eq!(send(&jane, "10").status, 303, "a double click");
    for (member, minutes) in [(&mark, "10"), (&jane, "20")] {
        let refused = send(member, minutes);
        assert!(refused.status == 409 && refused.page().contains("booked jane, "), "{refused}");
        assert_eq!(booked(&site), format!("{jane} 10"));
    }
}

#[test]
fn an_invitation_form_sent_again_for_a_second_colleague_is_refused() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.mail = Some(senders::mail_to_nowhere());
    });
    let clerk = Clerk::at(&site, &site.admin());
    for email in ["", "nora@example.org"] {
        let form = if email.is_empty() { "21" } else { "22" };
        let send = |name: &str, email: &str, form: &str| {
            let fields = [("name", name), ("email", email), ("role", "desk"), ("language", "en"), ("number", form)];
            clerk.post("/desk/site/invitations", &fields)
        };
        let open = || number(&site, "SELECT count(*) FROM invitations");
        let before = open();
        assert!([200, 303].contains(&send("Nora Ek", email, form).status));
        assert!([200, 303].contains(&send("Nora Ek", email, form).status), "a double click");
        let refused = send("Olaf Ek", email, form);
        assert!(refused.status == 422 && refused.page().contains("was sent before"), "{refused}");
        assert_eq!(open(), before + 1);
        let other = if email.is_empty() { "" } else { "olaf@example.org" };
        let new = field(&refused.page(), "number");
        assert!([200, 303].contains(&send("Olaf Ek", other, &new).status));
        assert_eq!(open(), before + 2);
    }
}
