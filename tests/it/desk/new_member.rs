//! New members at the desk: registered, booked and checked in by one form; and claimed by their owners.

use super::till::{close, field, pay};
use super::{Clerk, demo};
use crate::harness::{Reply, Site, senders};
use serde_json::json;
use std::time::Duration;
use tunneldesk::keys::Purpose;

const CODE: &str = "0123-4567-89ab";
const SECRET: &str = "four dry socks in a row";

/// Posts the form of a new member; later values win.
fn register(clerk: &Clerk, more: &[(&str, &str)]) -> Reply {
    let number = field(&clerk.get("/desk/new-member").page(), "number");
    send(clerk, &number, more)
}

fn send(clerk: &Clerk, number: &str, more: &[(&str, &str)]) -> Reply {
    let all = [
        ("real_name", "Ada Østergård-Lovelace"),
        ("email", "ada@example.org"),
        ("dob", "1995-12-10"),
        ("phone", "079 123 45 67"),
        ("language", "de"),
        ("terms", "1"),
        ("number", number),
    ];
    let kept = all.into_iter().filter(|(name, _)| !more.iter().any(|(other, _)| other == name));
    let fields: Vec<(&str, &str)> = kept.chain(more.iter().copied()).filter(|(_, text)| !text.is_empty()).collect();
    clerk.post("/desk/new-member", &fields)
}

/// The number of the member whom the form made.
fn made(reply: &Reply) -> i64 {
    let place = reply.header("location").unwrap_or_else(|| panic!("{reply}"));
    let id = place.strip_prefix("/desk/members/").and_then(|rest| rest.split('/').next());
    assert!(reply.status == 303 && place.contains("/welcome?done="), "{reply}");
    id.and_then(|id| id.parse().ok()).expect("the member's number")
}

fn number(site: &Site, sql: &str) -> i64 {
    site.change(|tx| Ok(tx.get(sql, [])?))
}

fn text(site: &Site, sql: &str) -> String {
    site.change(|tx| Ok(tx.get(sql, [])?))
}

#[test]
fn minutes_for_a_new_member_ask_before_a_full_quarter_and_make_no_account_meanwhile() {
    let site = demo();
    let (jane, clerk) = (site.flyer("jane"), Clerk::at(&site, &site.desk()));
    let form = [("member", &*jane.name), ("minutes", "10"), ("clock", "12:00"), ("here", "yes"), ("number", "1")];
    assert_eq!(clerk.post("/desk/bookings", &form).status, 303);
    let members = || number(&site, "SELECT count(*) FROM members");
    let before = members();
    let full = register(&clerk, &[("minutes", "10")]);
    assert!(full.status == 409 && full.page().contains("has no room for these minutes"), "{full}");
    assert_eq!(members(), before, "nobody is registered by half");
    let begins = field(&full.page(), "full_quarter");
    let again = field(&full.page(), "number");
    made(&send(&clerk, &again, &[("minutes", "10"), ("full_quarter", &begins)]));
    assert_eq!(members(), before + 1);
}

#[test]
fn a_child_is_registered_beside_its_parent_who_signs_for_it() {
    let site = Site::open_with(|config| (config.demo, config.waiver.required) = (true, true));
    site.change(|tx| {
        let text = "INSERT INTO site_texts VALUES ('waiver', 1, 'en', 'Text', 'I fly at my own risk.', '', zeroblob(32), 1, ?1, NULL)";
        Ok(tx.run(text, [tx.now()])?)
    });
    let clerk = Clerk::at(&site, &site.desk());
    let parent = made(&register(&clerk, &[("dob", "1985-02-03")]));
    let welcome = clerk.get(&format!("/desk/members/{parent}/welcome")).page();
    let next = format!("/desk/new-member?child_of={parent}");
    assert!(welcome.contains(&next), "{welcome}");
    let form = clerk.get(&next).page();
    assert!(form.contains("Child of Ada"), "{form}");
    let child = [("real_name", "Bo Lovelace"), ("email", ""), ("phone", ""), ("child_of", &*parent.to_string())];
    // Whoever is no child has no parent here, and no account is made.
    let adult = send(&clerk, &field(&form, "number"), &[&child[..], &[("dob", "1990-01-01")]].concat());
    assert_eq!(adult.status, 422, "{adult}");
    let bo = made(&send(&clerk, &field(&form, "number"), &[&child[..], &[("dob", "2016-06-01")]].concat()));
    let sql = format!(
        "SELECT count(*) FROM guardianships WHERE child_id = {bo} AND guardian_id = {parent} AND relation = 'parent'"
    );
    assert_eq!(number(&site, &sql), 1);
    let welcome = clerk.get(&format!("/desk/members/{bo}/welcome")).page();
    assert!(welcome.contains(&next) && welcome.contains(&format!("/desk/members/{parent}/waiver")), "{welcome}");
}

fn with_mail() -> Site {
    Site::open_with(|config| {
        config.demo = true;
        config.mail = Some(senders::mail_to_nowhere());
    })
}

#[test]
fn enter_makes_the_account_and_books_nothing() {
    let site = with_mail();
    let clerk = Clerk::at(&site, &site.desk());
    let page = clerk.get("/desk/new-member").page();
    let form = page.split("action=\"/desk/new-member\"").nth(1).expect("the form");
    let first = form.split("<button").nth(1).expect("a button");
    assert!(!first.split('>').next().unwrap().contains("name="), "Enter presses the first button of a form: {first}");
    made(&register(&clerk, &[]));
    assert_eq!(number(&site, "SELECT count(*) FROM bookings"), 0);
    // Minutes that are typed are booked.
    let other = [("real_name", "Bea Bell"), ("email", "bea@example.org"), ("phone", ""), ("other_minutes", "1:05")];
    made(&register(&clerk, &other));
    assert_eq!(number(&site, "SELECT sum(minutes_booked) FROM bookings"), 65);
    let wrong = register(&clerk, &[("real_name", "Cy"), ("email", "cy@example.org"), ("other_minutes", "0")]);
    assert!(wrong.status == 422 && wrong.page().contains("id=\"p-other_minutes\""), "{wrong}");
}

#[test]
fn one_form_makes_a_member_books_now_and_checks_in() {
    let site = with_mail();
    let clerk = Clerk::at(&site, &site.desk());
    let form = field(&clerk.get("/desk/new-member").page(), "number");
    let reply = send(&clerk, &form, &[("minutes", "10")]);
    let ada = made(&reply);
    assert_eq!(made(&send(&clerk, &form, &[("minutes", "10")])), ada, "a double click is one member");
    assert_eq!(number(&site, "SELECT count(*) FROM bookings WHERE arrived_at IS NOT NULL AND minutes_booked = 10"), 1);
    let row = "username || ' ' || real_name || ' ' || phone || ' ' || language || ' ' || dob || ' ' || (terms_accepted_at > 0)";
    assert_eq!(
        text(&site, &format!("SELECT {row} FROM members WHERE member_id = {ada}")),
        "ada.ostergardlovelace Ada Østergård-Lovelace +41791234567 de 818553600 1"
    );
    let today = clerk.get("/desk").page();
    assert!(today.contains("Ada Østergård-Lovelace"), "{today}");
    let page = clerk.get(reply.header("location").unwrap()).page();
    for words in ["booked and checked in", "on its way to ada@example.org", "Print code"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    for action in ["member.added", "booking.made", "booking.checked_in"] {
        assert_eq!(number(&site, &format!("SELECT count(*) FROM audit WHERE action = '{action}'")), 1, "{action}");
    }
    assert_eq!(site.mails().len(), 1);
}

#[test]
fn the_desk_refuses_what_sign_up_refuses_beside_the_field_and_keeps_the_values() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    for (name, value, words) in [
        ("real_name", "", "p-real_name"),
        ("email", "ada at example", "p-email"),
        ("dob", "2099-01-01", "p-dob"),
        ("dob", "12/10/1995", "p-dob"),
        ("phone", "12", "p-phone"),
        ("terms", "", "terms"),
        ("language", "xx", "en, de, fr, es, it"),
        ("minutes", "601", "600"),
        ("number", "0", "role=\"alert\""),
    ] {
        let reply = register(&clerk, &[(name, value)]);
        assert_eq!(reply.status, 422, "{name} {value}: {reply}");
        let page = reply.page();
        assert!(page.contains(words) && page.contains("role=\"alert\""), "{name} {value}: {page}");
        assert!(name == "real_name" || page.contains("Ada Østergård-Lovelace"), "{page}");
    }
    assert_eq!(number(&site, "SELECT count(*) FROM registrations"), 0);
    // Only the name and the terms are required.
    made(&register(&clerk, &[("email", ""), ("dob", ""), ("phone", "")]));
}

#[test]
fn a_possible_duplicate_is_shown_with_a_link_to_the_card() {
    let site = demo();
    let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
    let card = format!("href=\"/desk/members/{}\"", jane.id);
    // A confirmed address belongs to one member only, even if the clerk says otherwise.
    for more in [&[("email", "Jane@Example.com")][..], &[("email", "jane@example.com"), ("somebody_else", "1")]] {
        let reply = register(&clerk, more);
        let page = reply.page();
        assert!(reply.status == 409 && page.contains(&card) && page.contains("has confirmed it"), "{page}");
    }
    let ada = made(&register(&clerk, &[]));
    let card = format!("href=\"/desk/members/{ada}\"");
    for more in [&[("real_name", "Ada's brother")][..], &[("real_name", "ada Østergård-Lovelace"), ("email", "")]] {
        let reply = register(&clerk, more);
        let page = reply.page();
        assert!(reply.status == 409 && page.contains(&card) && page.contains("may be somebody"), "{page}");
    }
    let twin = made(&register(&clerk, &[("somebody_else", "1")]));
    assert_eq!(
        text(&site, &format!("SELECT username FROM members WHERE member_id = {twin}")),
        "ada.ostergardlovelace2"
    );
}

#[test]
fn the_link_in_the_mail_gives_the_account_to_its_owner_once() {
    let site = with_mail();
    let clerk = Clerk::at(&site, &site.desk());
    let ada = made(&register(&clerk, &[]));
    let mail = site.mails().remove(0);
    assert_eq!((&mail["template"], &mail["recipient"]), (&"welcome".into(), &"ada@example.org".into()));
    let code = mail["values"]["token"].as_str().unwrap().to_owned();
    let ada_outside = Clerk::outside(&site);
    let page = ada_outside.get(&format!("/claim?code={code}")).page();
    assert!(page.contains("value=\"ada.ostergardlovelace\""), "{page}");
    site.member("taken");
    let refused = |username: &str, password: &str, words: &str| {
        let reply = ada_outside.post("/claim", &[("code", &code), ("username", username), ("password", password)]);
        assert!(reply.status == 422 && reply.page().contains(words), "{words}: {reply}");
    };
    refused("a", SECRET, "3 to 32");
    refused("ada", "12345678", "role=\"alert\"");
    refused("ada", "short", "8");
    refused("TAKEN", SECRET, "role=\"alert\"");
    let take =
        || ada_outside.post("/claim", &[("code", &code.to_uppercase()), ("username", "ada"), ("password", SECRET)]);
    let reply = take();
    assert_eq!((reply.status, reply.header("location")), (303, Some("/me?done=claimed")), "{reply}");
    assert!(ada_outside.get("/me?done=claimed").page().contains("Your account is ready"), "the owner is signed in");
    let signed_in = site.stranger().post("/auth/login", json!({ "username": "ada", "password": SECRET })).ok().json();
    assert_eq!(
        (&signed_in["status"], &signed_in["member_id"], &signed_in["confirmationPending"]),
        (&true.into(), &ada.into(), &0.into())
    );
    assert_eq!(
        number(&site, &format!("SELECT email_confirmed_at IS NOT NULL FROM members WHERE member_id = {ada}")),
        1
    );
    let again = take();
    assert!(again.status == 422 && again.page().contains("Invalid or expired code"), "{again}");
    assert_eq!(number(&site, "SELECT count(*) FROM audit WHERE action = 'member.claimed'"), 1);
    // A member who has claimed the account needs no paper.
    let reply = clerk.post(&format!("/desk/members/{ada}/slip"), &[]);
    assert!(reply.status == 403 && reply.page().contains("has an owner already"), "{reply}");
}

/// Replaces the member's code on paper by one that the test knows.
fn know_the_code(site: &Site, code: &str) {
    let plain: String = code.chars().filter(|c| *c != '-').collect();
    let hash = site.inside().keys.hash(Purpose::AccountClaim, &[plain.as_bytes()]);
    let changed =
        site.change(|tx| Ok(tx.run("UPDATE account_claims SET code_hash = ?1 WHERE email = ''", [&hash[..]])?));
    assert_eq!(changed, 1, "one code is on paper");
}

#[test]
fn without_mail_a_printed_code_opens_the_account_until_it_expires() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    let ada = made(&register(&clerk, &[]));
    assert_eq!(
        (site.mails().len(), number(&site, "SELECT count(*) FROM account_claims")),
        (0, 0),
        "nothing waits at the desk"
    );
    let print = || {
        let pdf = clerk.post(&format!("/desk/members/{ada}/slip"), &[]);
        assert_eq!((pdf.status, pdf.header("content-type")), (200, Some("application/pdf")), "{pdf}");
    };
    let outside = Clerk::outside(&site);
    let opens = |code: &str| outside.get(&format!("/claim?code={code}")).status == 200;
    print();
    know_the_code(&site, CODE);
    assert!(opens(CODE) && opens("%200123%204567%2089AB") && !opens("0123-4567-89ac") && !opens("12"));
    // The earlier paper is void.
    print();
    assert!(!opens(CODE));
    know_the_code(&site, CODE);
    // A ban ends the code, and so does time.
    clerk.post(&format!("/desk/members/{ada}/ban"), &[("reason", "x")]);
    assert!(!opens(CODE));
    site.change(|tx| Ok(tx.run("UPDATE members SET banned_at = NULL WHERE member_id = ?1", [ada])?));
    assert!(!opens(CODE), "a ban ends every credential");
    print();
    know_the_code(&site, CODE);
    site.advance(Duration::from_secs(30 * 86_400 - 1));
    assert!(opens(CODE));
    site.advance(Duration::from_secs(1));
    assert!(!opens(CODE));
    assert_eq!(number(&site, "SELECT count(*) FROM audit WHERE action = 'member.code_printed'"), 3);
}

/// Otherwise a clerk could take over the account of any member who never chose a password.
#[test]
fn no_code_opens_an_account_that_somebody_signs_in_to_without_a_password() {
    let site = demo();
    let clerk = Clerk::at(&site, &site.desk());
    let ada = made(&register(&clerk, &[]));
    let opens = || Clerk::outside(&site).get(&format!("/claim?code={CODE}")).status == 200;
    assert_eq!(clerk.post(&format!("/desk/members/{ada}/slip"), &[]).status, 200);
    know_the_code(&site, CODE);
    assert!(opens());
    for (way, sql) in [
        (
            "social_links",
            "INSERT INTO social_links (provider, subject, member_id, created_at, used_at) VALUES ('google', 's', ?1, 1, 1)",
        ),
        (
            "passkeys",
            "INSERT INTO passkeys (member_id, rp_id, credential_id, public_key, name, created_at) VALUES (?1, 'r', x'01', '{}', 'key', 1)",
        ),
    ] {
        site.change(|tx| Ok(tx.run(sql, [ada])?));
        assert!(!opens(), "{way}");
        let reply = clerk.post(&format!("/desk/members/{ada}/slip"), &[]);
        assert!(reply.status == 403 && reply.page().contains("has an owner already"), "{way}: {reply}");
        site.change(|tx| Ok(tx.run(&format!("DELETE FROM {way}"), [])?));
        assert!(opens(), "{way}");
    }
}

#[test]
fn guesses_of_codes_are_limited_and_no_lower_rank_serves_staff() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.limits.recoveries_per_hour_per_address = 3;
    });
    let (clerk, admin) = (Clerk::at(&site, &site.desk()), site.admin());
    let outside = Clerk::outside(&site);
    let mut last = 0;
    for _ in 0..4 {
        let guess = [("code", CODE), ("username", "ada"), ("password", SECRET)];
        last = outside.post("/claim", &guess).status;
    }
    assert_eq!(last, 429);
    assert_eq!(clerk.post(&format!("/desk/members/{}/slip", admin.id), &[]).status, 403);
    assert_eq!(clerk.post("/desk/members/9999/slip", &[]).status, 404);
}

/// A day of a site: twenty new members who each fly at once, twelve fees of every kind, two of them undone, and a
/// closing that adds up to the cent.
#[test]
fn a_day_of_new_members_and_fees_adds_up_to_the_cent() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.yearly_fee_cents = 3_005;
        config.minutes_per_quarter_hour = 0;
    });
    let (clerk, admin) = (Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.admin()));
    let newcomers: Vec<i64> = (0..20)
        .map(|n| {
            let (name, email) =
                (format!("Guest {n}"), if n % 3 == 0 { String::new() } else { format!("guest{n}@example.org") });
            let flight = ("minutes", ["10", "15", "20"][n % 3]);
            made(&register(&clerk, &[("real_name", &name), ("email", &email), ("phone", ""), flight]))
        })
        .collect();
    assert_eq!(number(&site, "SELECT count(*) FROM bookings WHERE arrived_at IS NOT NULL"), 20);
    let kinds = ["cash", "terminal", "voucher", "free"];
    let fees: Vec<i64> = (0..12)
        .map(|n| {
            site.advance(Duration::from_secs(300));
            let reason = if n % 4 > 1 { format!("V-{n}") } else { String::new() };
            pay(&clerk, newcomers[n], kinds[n % 4], &reason)
        })
        .collect();
    for undone in [fees[0], fees[1]] {
        let reply = admin.post(&format!("/desk/till/entries/{undone}/undo"), &[("reason", "wrong member")]);
        assert_eq!(reply.status, 303, "{reply}");
    }
    // Three fees by each means; one of cash and one by terminal were undone.
    let page = clerk.get("/desk/till").page();
    for sum in ["60.10 CHF", "90.15 CHF", "210.35 CHF"] {
        assert!(page.contains(sum), "{sum}: {page}");
    }
    let reply = close(&clerk, "60.05", "0", "five centimes short");
    assert_eq!(reply.status, 303, "{reply}");
    let closed = clerk.get("/desk/till/closings/1").page();
    for words in ["210.35 CHF", "-0.05 CHF", "five centimes short"] {
        assert!(closed.contains(words), "{words}: {closed}");
    }
    let csv = String::from_utf8(clerk.get("/desk/till/closings/1/entries.csv").body).unwrap();
    let amounts = csv
        .lines()
        .skip(1)
        .map(|row| row.split(',').nth(3).expect("an amount").trim_matches('"').trim_start_matches('\''));
    let cents: f64 = amounts.map(|amount| amount.parse::<f64>().expect(amount) * 100.0).sum();
    assert_eq!((csv.lines().count(), cents.round()), (15, 21_035.0), "{csv}");
    let paid = number(&site, "SELECT count(*) FROM members WHERE paid_until IS NOT NULL");
    assert_eq!(paid, 10, "a year for each fee that stands");
}
