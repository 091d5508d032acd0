//! Families at their first visit: an adult adds children at a kiosk or on a phone, and cannot take over another
//! account.

use super::{GOOD, Paper, YEAR, demand, flown, on, put};
use crate::desk::kiosk::{enter, paired};
use crate::desk::till::field;
use crate::desk::{Clerk, book};
use crate::harness::{Caller, Reply, Site};
use serde_json::json;

fn with_kiosk_bookings() -> Site {
    Site::open_with(|config| {
        on(config);
        (config.kiosk_minutes, config.minutes_per_quarter_hour) = (vec![4, 10], 0);
    })
}

fn year(site: &Site, years: i64) -> String {
    let day = (site.now() - years * YEAR) / 86_400;
    // Years of 365.2425 days are exact enough: no one here has a birthday within a week.
    (1970 + day * 10_000 / 3_652_425).to_string()
}

/// Posts the form for a child of this age; later values win.
fn bring(site: &Site, by: &Clerk, path: &str, years: i64, more: &[(&str, &str)]) -> Reply {
    let (year, number) = (year(site, years), site.next_number().to_string());
    let all = [
        ("real_name", "Ada Kind"),
        ("day", "1"),
        ("month", "6"),
        ("year", &year),
        ("relation", "parent"),
        ("number", &number),
        ("terms", "1"),
    ];
    let form: Vec<(&str, &str)> = all
        .into_iter()
        .filter(|(name, _)| !more.iter().any(|(other, _)| other == name))
        .chain(more.iter().copied())
        .collect();
    by.post(path, &form)
}

fn children(site: &Site, adult: &Caller) -> Vec<i64> {
    let sql = "SELECT child_id FROM guardianships WHERE guardian_id = ?1 AND ended_at IS NULL ORDER BY child_id";
    site.change(|tx| Ok(tx.list(sql, [adult.id])?))
}

fn sign(kiosk: &Clerk, path: &str, flyers: &[i64], more: &[(&str, &str)]) -> Reply {
    let named: Vec<(String, &str)> = flyers
        .iter()
        .flat_map(|id| [(format!("flies_{id}"), "on"), (format!("answer_{id}_1"), "n")])
        .chain(
            [("version", "2"), ("language", "en"), ("signer_name", "Mother")]
                .map(|(name, text)| (name.to_owned(), text)),
        )
        .chain(more.iter().map(|(name, text)| ((*name).to_owned(), *text)))
        .collect();
    kiosk.post(path, &named.iter().map(|(name, text)| (name.as_str(), *text)).collect::<Vec<_>>())
}

#[test]
fn an_adult_signs_children_up_at_the_kiosk_signs_books_and_checks_all_in() {
    let site = with_kiosk_bookings();
    let (admin, kiosk, mother) = (demand(&site), paired(&site), site.flyer("mother"));
    enter(&site, &kiosk, &mother);
    assert_eq!(kiosk.get("/kiosk/family/child").status, 404, "whose age nobody knows brings nobody along");
    site.born(&mother, site.now() - 40 * YEAR);
    assert!(kiosk.get("/kiosk/home").page().contains("/kiosk/family"));
    let (path, grown) = ("/kiosk/family/child", year(&site, 30));
    for (more, said) in [
        (&[("real_name", " ")][..], "p-real_name"),
        (&[("day", "31"), ("month", "2")], "p-dob"),
        (&[("year", &*grown)], "of age"),
        (&[("terms", "")], "terms"),
        (&[("relation", "permission")], "problem"),
    ] {
        let refused = bring(&site, &kiosk, path, 10, more);
        let page = refused.page();
        assert!(refused.status == 422 && page.contains(said) && !page.contains("Unix"), "{said}: {refused}");
    }
    assert_eq!(children(&site, &mother), [0; 0]);
    let number = [("number", "77")];
    for _ in 0..2 {
        let done = bring(&site, &kiosk, path, 10, &number);
        assert_eq!(done.header("location"), Some("/kiosk/family?done=child"), "{done}");
    }
    assert_eq!(bring(&site, &kiosk, path, 10, &[]).status, 303, "the same child again is the same");
    assert_eq!(bring(&site, &kiosk, path, 12, &[("real_name", "Bo Kind"), ("relation", "guardian")]).status, 303);
    let both = children(&site, &mother);
    assert_eq!(both.len(), 2);
    let page = kiosk.get("/kiosk/family").page();
    assert!(page.contains("Ada Kind") && page.contains("/kiosk/waiver") && page.contains("/kiosk/book"), "{page}");

    // A booking for all of them; each check-in waits for the signature.
    let all: Vec<i64> = [mother.id].into_iter().chain(both.iter().copied()).collect();
    let flies: Vec<(String, &str)> = all.iter().map(|id| (format!("flies_{id}"), "on")).collect();
    let book = |minutes: &'static str, number: &'static str| {
        let form: Vec<(&str, &str)> = flies
            .iter()
            .map(|(name, on)| (name.as_str(), *on))
            .chain([("minutes", minutes), ("number", number)])
            .collect();
        kiosk.post("/kiosk/book", &form)
    };
    assert_eq!(book("5", "1").status, 422, "minutes that the site does not offer");
    let one = [(flies[1].0.as_str(), "on"), ("minutes", "5"), ("number", "1")];
    let refused = kiosk.post("/kiosk/book", &one);
    assert!(refused.status == 422 && refused.page().matches(" checked>").count() == 1, "who stays out: {refused}");
    assert_eq!(book("10", "1").header("location"), Some("/kiosk/waiver"));
    assert_eq!(book("10", "1").header("location"), Some("/kiosk/waiver"), "sent again it is the same");
    let count = |sql: &str| site.change(|tx| Ok(tx.get::<i64>(sql, [])?));
    assert_eq!(count("SELECT count(*) FROM bookings"), 3);
    assert_eq!(sign(&kiosk, "/kiosk/waiver", &all, &[]).header("location"), Some("/kiosk/home?done=signed"));
    let page = kiosk.get("/kiosk/family").page();
    assert_eq!(page.matches("data-ticket=").count(), 3, "a family is checked in also while the site is away: {page}");
    assert_eq!(kiosk.post("/kiosk/family", &[]).header("location"), Some("/kiosk/home?done=arrived"));
    assert_eq!(count("SELECT count(*) FROM bookings WHERE arrived_at IS NOT NULL"), 3);
    assert_eq!(book("4", "2").header("location"), Some("/kiosk/home?done=booked"));
    assert_eq!(count("SELECT count(*) FROM bookings WHERE arrived_at IS NOT NULL"), 6);
    for number in ["3", "4", "5", "6", "7", "8", "9", "10", "11", "12"] {
        assert_eq!(book("4", number).status, 303);
    }
    assert_eq!(book("4", "13").status, 422, "nobody flies so often in a day");
    assert_eq!(book("4", "12").status, 303, "sent again it is the same");
    assert_eq!(count("SELECT count(*) FROM bookings"), 36);
    assert_eq!(count("SELECT count(*) FROM audit WHERE action = 'guardian.added'"), 2);
    assert!(admin.get(&format!("/desk/members/{}/waiver", both[0])).page().contains("mother"));

    // A child cannot add children, and an account at the age of majority is the person's own.
    kiosk.post("/kiosk/leave", &[]);
    let young = site.flyer("young");
    site.born(&young, site.now() - 16 * YEAR);
    enter(&site, &kiosk, &young);
    assert_eq!(kiosk.get(path).status, 404);
    assert_eq!(bring(&site, &kiosk, path, 10, &[]).status, 404);
    site.change(|tx| Ok(tx.run("UPDATE members SET dob = ?2 WHERE member_id = ?1", (both[0], tx.now() - 19 * YEAR))?));
    kiosk.post("/kiosk/leave", &[]);
    enter(&site, &kiosk, &mother);
    assert!(!kiosk.get("/kiosk/family").page().contains("Ada Kind"));
}

#[test]
fn an_account_that_was_there_before_is_linked_by_its_pin_or_by_staff() {
    let site = Site::open_with(on);
    let (_, kiosk) = (demand(&site), paired(&site));
    let (father, child, adult) = (site.flyer("father"), site.flyer("child"), site.flyer("adult"));
    site.born(&father, site.now() - 40 * YEAR);
    site.born(&adult, site.now() - 30 * YEAR);
    site.born(&child, site.now() - 12 * YEAR);
    site.change(|tx| Ok(tx.run("UPDATE members SET real_name = 'Ada Kind' WHERE member_id = ?1", [child.id])?));
    enter(&site, &kiosk, &father);
    let (pin, own) = (site.pin(&child), site.pin(&adult));
    let wrong = if pin == "000000" { "111111" } else { "000000" };
    let link = |member: &Caller, pin: &str| {
        let number = member.id.to_string();
        kiosk.post("/kiosk/family/link", &[("number", &number), ("pin", pin), ("relation", "parent")])
    };
    assert_eq!(link(&child, wrong).status, 422);
    assert!(link(&adult, &own).page().contains("of age"), "nobody acts for an adult");
    // Entering the name and the date of birth makes another account, and never links this one.
    assert_eq!(bring(&site, &kiosk, "/kiosk/family/child", 12, &[]).status, 303);
    assert!(!children(&site, &father).contains(&child.id));
    assert_eq!(link(&child, &pin).header("location"), Some("/kiosk/family?done=child"));
    assert!(children(&site, &father).contains(&child.id));
    // Attempts are limited, and the right PIN then gets the same answer as a wrong one.
    let other = site.flyer("other");
    site.born(&other, site.now() - 12 * YEAR);
    let pin = site.pin(&other);
    let wrong = if pin == "000000" { "111111" } else { "000000" };
    for _ in 0..6 {
        assert_eq!(link(&other, wrong).status, 422);
    }
    assert_eq!(link(&other, &pin).status, 422);
    assert!(!children(&site, &father).contains(&other.id));
}

#[test]
fn a_family_signs_up_and_signs_on_one_phone() {
    let site = Site::open_with(on);
    demand(&site);
    let phone = Clerk::outside(&site);
    let number = field(&phone.get("/join?language=de").page(), "number");
    let form = [
        ("real_name", "Eva Muster"),
        ("email", "eva@example.org"),
        ("dob", "1985-03-02"),
        ("password", "four dry socks in a row"),
        ("terms", "1"),
        ("number", &*number),
        ("language", "de"),
    ];
    let page = phone.post("/join", &form).page();
    let link = page.split("href=\"/sign?").nth(1).and_then(|rest| rest.split('"').next()).expect("a way to the waiver");
    let code = link.split("code=").nth(1).expect("a code").to_owned();
    let shown = phone.get(&format!("/sign?{}", link.replace("&#38;", "&"))).page();
    assert!(shown.contains("/sign/child") && shown.contains("Ein Kind anmelden"), "{shown}");
    let own = [("code", &*code), ("lang", "de"), ("year", ""), ("dob", "2016-06-01")];
    let add = |code: &str, more: &[(&str, &str)]| {
        let own = [&own[..], &[("code", code)], more].concat();
        let own: Vec<_> = own.iter().rev().fold(Vec::new(), |mut kept: Vec<(&str, &str)>, one| {
            if !kept.iter().any(|(name, _)| name == &one.0) {
                kept.push(*one);
            }
            kept
        });
        bring(&site, &phone, "/sign/child", 10, &own)
    };
    assert_eq!(add("aaaa-bbbb-cccc", &[]).status, 404, "a code that is none brings nobody along");
    assert_eq!(add(&code, &[("real_name", "")]).status, 422);
    let done = add(&code, &[]);
    assert_eq!(done.status, 303, "{done}");
    let family = phone.get(done.header("location").unwrap()).page();
    assert!(family.contains("Ada Kind") && family.contains("Das Kind ist angemeldet"), "{family}");
    let eva: i64 = site.change(|tx| Ok(tx.get("SELECT max(guardian_id) FROM guardianships", [])?));
    let child: i64 = site.change(|tx| Ok(tx.get("SELECT max(child_id) FROM guardianships", [])?));
    let signed = sign(&phone, "/sign", &[eva, child], &[("code", &code), ("lang", "de")]);
    assert!(signed.status == 200 && signed.page().contains("Danke"), "{signed}");
    assert_eq!(site.rows()["waiver_signatures"], 2);
    assert_eq!(add(&code, &[]).status, 404, "a code is for one signing");
}

/// A change that ends the credentials of a member, with its name.
type End<'a> = (&'a str, &'a dyn Fn(&Caller));

#[test]
fn signing_links_and_tickets_expire_when_credentials_change() {
    let site = Site::open_with(on);
    let (admin, kiosk) = (demand(&site), paired(&site));
    let new = "four dry socks in a row";
    let password = json!({ "password": new, "current_password": crate::harness::PASSWORD, "password_confirm": new });
    let ends: [End; 3] = [
        ("a new PIN", &|jane: &Caller| _ = site.pin(jane)),
        ("a new password", &|jane: &Caller| _ = jane.put("/account/profile/change-password", &password).ok()),
        ("a password from the shell", &|jane: &Caller| site.shell(&["member", "reset-password", &jane.name])),
    ];
    for (place, (what, end)) in ends.iter().enumerate() {
        let jane = site.flyer(&format!("jane{place}"));
        let (dob, answer) = (format!("dob_{}", jane.id), format!("answer_{}_1", jane.id));
        enter(&site, &kiosk, &jane);
        let made = kiosk.post("/kiosk/waiver/phone", &[]).page();
        let code = made.split("code=").nth(1).and_then(|rest| rest.split('<').next()).expect("a code").to_owned();
        let paper =
            [("version", "2"), ("language", "en"), ("signer_name", "J"), (&*dob, "1990-05-31"), (&*answer, "n")];
        assert_eq!(admin.post(&format!("/desk/members/{}/waiver", jane.id), &paper).status, 303);
        book(&site, &jane, 60);
        let home = kiosk.get("/kiosk/home").page();
        let ticket = home.split("data-ticket=\"").nth(1).expect("a ticket").split('"').next().unwrap().to_owned();
        let phone = Clerk::outside(&site);
        assert_eq!(phone.get(&format!("/sign?code={code}")).status, 200, "before {what}");
        end(&jane);
        assert_eq!(phone.get(&format!("/sign?code={code}")).status, 404, "a code to sign by after {what}");
        let at = site.now().to_string();
        let headers = [("origin", &*kiosk.origin), ("idempotency-key", &*ticket)];
        let kept = kiosk.post_from("/kiosk/kept", &[("ticket", &ticket), ("at", &at)], &headers);
        assert_eq!(kept.status, 422, "a ticket after {what}: {kept}");
        assert_eq!(flown(&site, &jane).1, 0);
        kiosk.post("/kiosk/leave", &[]);
    }
}

#[test]
fn a_childs_account_uses_the_guardians_address_but_needs_its_own_membership() {
    let site = Site::open_with(|config| {
        on(config);
        (config.kiosk_minutes, config.minutes_per_quarter_hour) = (vec![4, 10], 0);
        config.yearly_fee_cents = 3000;
    });
    let (_, kiosk, mother) = (demand(&site), paired(&site), site.flyer("mother"));
    site.born(&mother, site.now() - 40 * YEAR);
    site.change(|tx| {
        Ok(tx.run("UPDATE members SET paid_until = ?2 WHERE member_id = ?1", (mother.id, tx.now() + YEAR))?)
    });
    enter(&site, &kiosk, &mother);
    assert_eq!(bring(&site, &kiosk, "/kiosk/family/child", 10, &[]).status, 303);
    let child = children(&site, &mother)[0];
    let flies = format!("flies_{child}");
    let book = |number| kiosk.post("/kiosk/book", &[(&flies, "on"), ("minutes", "4"), ("number", number)]);
    assert_eq!(book("1").status, 303, "a beginner pays no membership");
    site.change(|tx| {
        let sql = "INSERT INTO holdings (member_id, cat_group, cat_id, track, since) VALUES (?1, 'Flyer', '1', '', ?2)";
        Ok(tx.run(sql, (child, tx.now()))?)
    });
    let refused = book("2");
    assert_eq!(refused.status, 422, "the child's own membership is unpaid");
    assert!(refused.page().contains("Ada Kind: the membership is not paid."), "{refused}");
}

#[test]
fn a_kiosk_says_to_a_child_who_signs_and_to_everybody_why_again() {
    let site = Site::open_with(on);
    demand(&site);
    let (child, adult, kiosk) = (site.member("kid"), site.member("jane"), paired(&site));
    site.born(&child, site.now() - 12 * YEAR);
    site.born(&adult, site.now() - 40 * YEAR);
    put(&site, &adult, &Paper { age_days: 400, years: 40, ..GOOD });
    let (minor, expired) = ("At this age nobody signs alone", "The waiver has expired");
    for (member, says, says_not) in [(&child, minor, expired), (&adult, expired, minor)] {
        enter(&site, &kiosk, member);
        let page = kiosk.get("/kiosk/waiver").page();
        assert!(page.contains(says) && !page.contains(says_not), "{page}");
        kiosk.post("/kiosk/leave", &[]);
    }
}

#[test]
fn a_family_at_the_desk_is_booked_together_signs_once_and_is_checked_in_together() {
    let site = Site::open_with(|config| {
        on(config);
        config.minutes_per_quarter_hour = 0;
    });
    let admin = demand(&site);
    let (mother, child) = (site.member("mother"), site.member("child"));
    for (member, years) in [(&mother, 40), (&child, 9)] {
        site.born(member, (site.now() - years * YEAR) / 86_400 * 86_400);
    }
    let guardian = [("guardian", "mother"), ("relation", "parent")];
    assert_eq!(admin.post(&format!("/desk/members/{}/guardians", child.id), &guardian).status, 303);
    let page = admin.get(&format!("/desk/group?with={}", mother.id)).page();
    assert!([&mother, &child].iter().all(|one| page.contains(&format!("{} ", one.id))), "{page}");
    let count = |sql: &str| -> i64 { site.change(|tx| Ok(tx.get(sql, [])?)) };
    let book = |members: &str, number: &str| {
        admin.post("/desk/group", &[("members", members), ("minutes", "10"), ("number", number)])
    };
    let wrong = book("mother\nnobody at all", "77");
    assert!(wrong.status == 422 && wrong.page().contains("nobody matches"), "{wrong}");
    assert_eq!(count("SELECT count(*) FROM bookings"), 0, "all or none");
    let both = format!("{}\n{}", mother.id, child.id);
    let path = format!("/desk/members/{}/waiver", mother.id);
    for _ in 0..2 {
        let booked = book(&both, "78");
        assert_eq!(
            (booked.status, booked.header("location")),
            (303, Some(&*format!("{path}?done=booked"))),
            "{booked}"
        );
    }
    assert_eq!(count("SELECT count(*) FROM bookings"), 2, "a double click");
    let page = admin.get(&path).page();
    assert!([&mother, &child].iter().all(|one| page.contains(&format!("flies_{}", one.id))), "{page}");
    let signed = sign(&admin, &path, &[mother.id, child.id], &[]);
    assert_eq!(signed.status, 303, "{signed}");
    assert_eq!(count("SELECT count(*) FROM waiver_signatures WHERE place = 'desk'"), 2, "one signature for both");
    assert!(admin.get(&path).page().contains("Check in the family"));
    assert_eq!(admin.post(&format!("/desk/members/{}/check-in", mother.id), &[]).status, 303);
    assert_eq!(count("SELECT count(*) FROM bookings WHERE arrived_at IS NOT NULL"), 2);
}
