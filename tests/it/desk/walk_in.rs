//! Walk-in bookings: whom the clerk is asked about before, and how arrivals of one name are told apart.

use super::{Clerk, book, demo};
use crate::harness::Site;

fn bookings(site: &Site) -> i64 {
    site.change(|tx| Ok(tx.get("SELECT count(*) FROM bookings", [])?))
}

#[test]
fn a_member_who_is_booked_today_is_booked_again_only_when_the_clerk_says_so() {
    let site = demo();
    let (jane, clerk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let standing = book(&site, &jane, 600);
    let number = jane.id.to_string();
    for (place, here) in [("here", true), ("by telephone", false)] {
        let form = [("member", "jane"), ("usual", "10"), ("clock", "23:30"), ("number", "8"), ("here", "yes")];
        let refused = clerk.post("/desk/bookings", &form[..if here { 5 } else { 4 }]);
        assert!(refused.status == 422 && refused.page().contains("booked on that day already"), "{place}: {refused}");
        let page = refused.page();
        assert!(page.contains(&format!("action=\"/desk/bookings/{standing}/check-in\"")), "{place}: {page}");
        assert!(
            page.contains(&format!("name=\"beside\" value=\"{standing}\"")) && page.contains("Another flight"),
            "{place}: {page}"
        );
    }
    assert_eq!(bookings(&site), 1);
    let card = clerk.get(&format!("/desk?book={}", jane.id)).page();
    assert!(card.contains("Booked on this day already") && card.contains("name=\"beside\""), "{card}");
    let other_day = clerk.get(&format!("/desk?day=2026-12-24&book={}", jane.id)).page();
    assert!(!other_day.contains("name=\"beside\""), "{other_day}");
    let form = [("member", &*number), ("usual", "10"), ("clock", "23:30"), ("number", "8"), ("here", "yes")];
    let shown = standing.to_string();
    for (beside, status) in [("999", 422), (&*shown, 303)] {
        let reply = clerk.post("/desk/bookings", &[&form[..], &[("beside", beside)]].concat());
        assert_eq!(reply.status, status, "of a booking that the page did not show the clerk does not know: {reply}");
    }
    assert_eq!(bookings(&site), 2);
    let far = [("member", &*number), ("usual", "10"), ("day", "2099-01-01"), ("clock", "12:00"), ("number", "9")];
    let refused = clerk.post("/desk/bookings", &far);
    assert!(refused.status == 422 && refused.page().contains("more than two years ahead"), "{refused}");
    assert_eq!(bookings(&site), 2);
}

#[test]
fn a_full_quarter_of_an_hour_is_booked_only_when_the_clerk_says_so() {
    let site = demo();
    let (jane, mark, clerk) = (site.flyer("jane"), site.flyer("mark"), Clerk::at(&site, &site.desk()));
    let form = |member: &str, minutes: &str, clock: &str, number: &str, more: &[(&str, &str)]| {
        let fields = [("member", member), ("minutes", minutes), ("clock", clock), ("number", number)];
        clerk.post("/desk/bookings", &[&fields[..], more].concat())
    };
    assert_eq!(form(&jane.name, "10", "23:30", "1", &[]).status, 303);
    let full = form(&mark.name, "10", "23:35", "2", &[]);
    assert!(full.status == 422 && full.page().contains("has no room"), "{full}");
    let begins = super::till::field(&full.page(), "full_quarter");
    assert_eq!(form(&mark.name, "10", "23:45", "2", &[("full_quarter", &begins)]).status, 303);
    let booked = || -> String {
        let sql = "SELECT booking_id FROM bookings WHERE member_id = ?1 ORDER BY flight_date LIMIT 1";
        site.change(|tx| Ok(tx.get::<i64>(sql, [mark.id])?)).to_string()
    };
    let other = form(&mark.name, "10", "23:50", "3", &[("full_quarter", &begins), ("beside", &booked())]);
    assert_eq!(other.status, 422, "what the clerk said is said of one quarter: {other}");
    assert_eq!(form(&mark.name, "5", "23:32", "4", &[("beside", &booked())]).status, 303, "fifteen minutes have room");
    let known = [("full_quarter", &*begins), ("beside", &booked())];
    assert_eq!(form(&mark.name, "10", "23:35", "5", &known).status, 303);
    assert_eq!(bookings(&site), 4);
}

#[test]
fn a_move_and_an_undone_cancellation_ask_before_a_full_quarter_too() {
    let site = demo();
    let (jane, mark, clerk) = (site.flyer("jane"), site.flyer("mark"), Clerk::at(&site, &site.desk()));
    let book = |member: &str, clock: &str, number: &str| {
        let form = [("member", member), ("minutes", "10"), ("clock", clock), ("number", number)];
        assert_eq!(clerk.post("/desk/bookings", &form).status, 303);
        site.change(|tx| Ok(tx.get::<i64>("SELECT max(booking_id) FROM bookings", [])?))
    };
    let (first, second) = (book(&jane.name, "23:30", "1"), book(&mark.name, "23:45", "2"));
    let path = format!("/desk/bookings/{second}");
    let day = super::till::field(&clerk.get(&path).page(), "day");
    let move_to = |clock: &str, minutes: &str, more: &[(&str, &str)]| {
        let form = [("day", &*day), ("clock", clock), ("minutes", minutes)];
        clerk.post(&format!("{path}/move"), &[&form[..], more].concat())
    };
    assert_eq!(move_to("23:50", "14", &[]).status, 303, "it stays in its quarter, where nobody else flies");
    assert_eq!(move_to("23:35", "5", &[]).status, 303, "fifteen minutes have room");
    let full = move_to("23:35", "6", &[]);
    assert!(full.status == 409 && full.page().contains("has no room for these minutes"), "{full}");
    let begins = super::till::field(&full.page(), "full_quarter");
    assert_eq!(move_to("23:35", "6", &[("full_quarter", &begins)]).status, 303);
    assert_eq!(move_to("23:36", "4", &[]).status, 303, "what fills it no further is not asked about");

    assert_eq!(clerk.post(&format!("/desk/bookings/{first}/cancel"), &[]).status, 303);
    assert_eq!(move_to("23:36", "15", &[]).status, 303);
    let undo = format!("/desk/bookings/{first}/reinstate");
    let full = clerk.post(&undo, &[]);
    assert!(full.status == 409 && full.page().contains("reinstate it all the same"), "{full}");
    assert_eq!(clerk.post(&undo, &[("full_quarter", &begins)]).status, 303);
}

#[test]
fn a_mistyped_walk_in_gets_the_members_whom_the_search_finds() {
    let site = demo();
    let (okonkwo, clerk) = (site.flyer("okonkwo"), Clerk::at(&site, &site.desk()));
    site.change(|tx| {
        Ok(tx.run("UPDATE members SET real_name = 'Jane Okonkwo-Schmidt' WHERE member_id = ?1", [okonkwo.id])?)
    });
    for typed in ["okonkow", "konkwo", "jane okonkow"] {
        let form = [("member", typed), ("usual", "10"), ("clock", "23:30"), ("number", "8")];
        let refused = clerk.post("/desk/bookings", &form);
        let page = refused.page();
        assert!(refused.status == 422 && page.contains("Choose who is meant"), "{typed}: {refused}");
        assert!(page.contains(&format!("/desk?book={}\"", okonkwo.id)), "{typed}: {page}");
    }
    assert_eq!(bookings(&site), 0, "nobody is booked on a guess");
}

#[test]
fn a_guardian_is_added_by_name_and_never_on_a_guess() {
    let site = Site::open_with(|config| (config.demo, config.waiver.required) = (true, true));
    let (child, mother, clerk) = (site.member("bo"), site.flyer("ines"), Clerk::at(&site, &site.desk()));
    let other = site.flyer("other");
    site.born(&child, site.now() - 10 * 366 * 86_400);
    for (member, name) in [(&mother, "Inés Okonkwo"), (&other, "Bea Okonkwo")] {
        site.change(|tx| Ok(tx.run("UPDATE members SET real_name = ?2 WHERE member_id = ?1", (member.id, name))?));
        site.born(member, 0);
    }
    let add = |typed: &str| {
        let fields = [("guardian", typed), ("relation", "parent")];
        clerk.post(&format!("/desk/members/{}/guardians", child.id), &fields)
    };
    for (typed, said) in
        [("nobody", "No other member has that name"), ("okonkwo", "Who is meant?"), ("ines okonkow", "Who is meant?")]
    {
        let refused = add(typed);
        assert!(refused.status == 422 && refused.page().contains(said), "{typed}: {refused}");
    }
    assert!(add("okonkwo").page().contains(&format!("Inés Okonkwo #{}", mother.id)));
    let added = add("ines okonkwo");
    assert_eq!(added.status, 303, "{added}");
    let sql = "SELECT guardian_id FROM guardianships WHERE child_id = ?1 AND ended_at IS NULL";
    assert_eq!(site.change(|tx| Ok(tx.list::<i64>(sql, [child.id])?)), [mother.id]);
}

#[test]
fn arrivals_of_one_name_are_told_apart() {
    let site = demo();
    let (anna, other, mark) = (site.flyer("anna"), site.flyer("other"), site.flyer("mark"));
    for (member, name, born) in [(&anna, "Anna Krüger", 0), (&other, "Anna KRÜGER", 8_000 * 86_400), (&mark, "Mark", 0)]
    {
        site.change(|tx| Ok(tx.run("UPDATE members SET real_name = ?2 WHERE member_id = ?1", (member.id, name))?));
        site.born(member, born);
        book(&site, member, 600);
    }
    let page = Clerk::at(&site, &site.desk()).get("/desk").page();
    for (member, year) in [(&anna, 1970), (&other, 1991)] {
        assert!(page.contains(&format!("No. {}, born {year}<", member.id)), "{page}");
    }
    assert!(!page.contains(&format!("No. {},", mark.id)), "{page}");
}

#[test]
fn what_was_booked_for_a_group_names_everybody_in_it() {
    let site = demo();
    let (jane, mark, clerk) = (site.flyer("jane"), site.flyer("mark"), Clerk::at(&site, &site.desk()));
    let form = [("members", "jane\nmark"), ("minutes", "2"), ("number", "7")];
    let booked = clerk.post("/desk/group", &form);
    let there = booked.header("location").expect("the day").to_owned();
    let page = clerk.get(there.split('#').next().unwrap()).page();
    let said = format!("Booked and checked in: {}, {}, 2 min.", jane.name, mark.name);
    assert!(page.contains(&said), "{said}: {page}");
    let strange = clerk.get("/desk?done=here&all=0,x,99999").page();
    assert!(!strange.contains("Booked and checked in"), "{strange}");
}
