//! Signing up at a kiosk and on a phone.

use super::kiosk::paired;
use super::kiosk_screens::{a_kiosk, judge, judge_step};
use super::till::field;
use super::{Clerk, demo};
use crate::harness::{Reply, Site, senders};
use http::Method;
use serde_json::json;

/// The fields of the sign-up form at a kiosk; later values win.
fn typed<'a>(number: &'a str, more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let all = [
        ("real_name", "Ada Østergård"),
        ("email", "ada@example.org"),
        ("day", "1"),
        ("month", "12"),
        ("year", "1995"),
        ("terms", "1"),
        ("number", number),
    ];
    all.into_iter()
        .filter(|(name, _)| !more.iter().any(|(other, _)| other == name))
        .chain(more.iter().copied())
        .collect()
}

/// The two numbers that a page shows once.
fn shown(page: &str) -> (String, String) {
    let mut values = page
        .split("<dd class=\"")
        .skip(1)
        .map(|rest| rest.split_once('>').and_then(|(_, rest)| rest.split_once('<')).expect("a value").0.to_owned());
    (values.next().expect("a number"), values.next().expect("a PIN"))
}

fn with_mail(first_flight_unconfirmed: bool) -> Site {
    Site::open_with(|config| {
        config.demo = true;
        config.mail = Some(senders::mail_to_nowhere());
        config.first_flight_unconfirmed = first_flight_unconfirmed;
    })
}

fn join(kiosk: &Clerk, more: &[(&str, &str)]) -> Reply {
    let number = field(&kiosk.get("/kiosk/join").page(), "number");
    kiosk.post("/kiosk/join", &typed(&number, more))
}

fn count(site: &Site, sql: &str) -> i64 {
    site.change(|tx| Ok(tx.get(sql, [])?))
}

#[test]
fn four_answers_at_the_kiosk_sign_a_new_member_up_and_in() {
    let site = with_mail(false);
    let kiosk = paired(&site);
    kiosk.post("/kiosk/language", &[("language", "it")]);
    let empty = join(&kiosk, &[("real_name", ""), ("email", "x"), ("day", "31"), ("month", "2"), ("terms", "")]);
    assert_eq!(empty.status, 422);
    for named in ["p-real_name", "p-email", "p-dob", "Senza accettare le condizioni", "Questo dato"] {
        assert!(empty.page().contains(named), "{named}: {empty}");
    }
    let number = field(&kiosk.get("/kiosk/join").page(), "number");
    let first = kiosk.post("/kiosk/join", &typed(&number, &[]));
    assert_eq!(first.status, 200, "{first}");
    let again = kiosk.post("/kiosk/join", &typed(&number, &[]));
    let (member, pin) = shown(&again.page());
    assert_eq!(shown(&first.page()).0, member, "a double click is one member");
    assert_eq!(kiosk.post("/kiosk/join", &typed(&number, &[("email", "other@example.org")])).status, 409);
    assert!(kiosk.get("/kiosk/home").page().contains("Ciao, Ada"), "the newcomer is signed in");
    kiosk.post("/kiosk/leave", &[]);
    let back = kiosk.post("/kiosk/number", &[("number", &member), ("pin", &pin)]);
    assert_eq!(back.header("location"), Some("/kiosk/home"));
    let row = "username || ' ' || language || ' ' || dob || ' ' || (password_hash IS NULL) || (terms_accepted_at > 0)";
    let kept: String =
        site.change(|tx| Ok(tx.get(&format!("SELECT {row} FROM members WHERE member_id = ?1"), [&member])?));
    assert_eq!(kept, "ada.ostergard it 817776000 11");
    assert_eq!(count(&site, "SELECT count(*) FROM audit WHERE action = 'member.added'"), 1);
    let mails = site.mails();
    assert_eq!(mails.len(), 1, "{mails:?}");
    assert_eq!(count(&site, "SELECT count(*) FROM outbox WHERE template = 'welcome' AND language = 'it'"), 1);
}

#[test]
fn a_sign_up_that_is_sent_again_after_its_guest_has_left_signs_nobody_in() {
    let site = with_mail(false);
    let (kiosk, other) = (paired(&site), paired(&site));
    let number = field(&kiosk.get("/kiosk/join").page(), "number");
    let (member, _) = shown(&kiosk.post("/kiosk/join", &typed(&number, &[])).page());
    let elsewhere = other.post("/kiosk/join", &typed(&number, &[]));
    assert_eq!(elsewhere.status, 409, "another kiosk: {elsewhere}");
    kiosk.post("/kiosk/leave", &[]);
    let again = kiosk.post("/kiosk/join", &typed(&number, &[]));
    assert!(again.status == 409 && !again.page().contains(&format!(">{member}<")), "{again}");
    assert!(again.page().contains("The front desk gives you your number"), "{again}");
    assert_eq!(kiosk.get("/kiosk/home").header("location"), Some("/kiosk"));
    assert_eq!(count(&site, "SELECT count(*) FROM audit WHERE action = 'member.added'"), 1);
}

#[test]
fn the_next_guest_sends_no_form_of_the_last_by_back_and_loading_again() {
    let site = demo();
    let browser = a_kiosk(&site);
    browser.go(&format!("{}/kiosk/join", site.origin()));
    let join = "for (const [id, value] of Object.entries(arguments[0])) document.getElementById(id).value = value;
        document.querySelectorAll('.step').forEach(one => { one.hidden = false });
        document.querySelector('[name=terms]').checked = true;
        document.querySelector('form.join').requestSubmit()";
    let ada = json!({ "real_name": "Ada", "email": "ada@example.org", "day": "1", "month": "2", "year": "1990" });
    browser.run(join, json!([ada]));
    browser.wait("return !!document.querySelector('.opens')");
    browser.run("document.querySelector('footer button').click()", json!([]));
    browser.wait("return location.pathname === '/kiosk' && !!document.querySelector('.languages')");
    for _ in 0..3 {
        browser.order("/back", json!({}));
        browser.order("/refresh", json!({}));
        let typed = browser.run("return document.getElementById('real_name')?.value ?? ''", json!([]));
        assert!(typed == "" && !browser.text().contains("Ada"), "{}: {typed} {}", browser.path(), browser.text());
    }
}

#[test]
fn a_long_name_becomes_a_screen_name_that_its_owner_can_save() {
    let site = with_mail(false);
    let long = ["Wolfeschlegelstein"; 5].join(" ");
    let joined = join(&paired(&site), &[("real_name", &long)]);
    assert_eq!(joined.status, 200, "{joined}");
    let newest = "SELECT real_name || ': ' || screen_name FROM members ORDER BY member_id DESC LIMIT 1";
    let names: String = site.change(|tx| Ok(tx.get(newest, [])?));
    assert_eq!(names, format!("{long}: {}", ["Wolfeschlegelstein"; 3].join(" ")));
}

#[test]
fn a_mail_is_announced_to_a_newcomer_only_where_the_site_sends_mails() {
    for mails in [true, false] {
        let site = if mails { with_mail(false) } else { demo() };
        let (kiosk, phone) = (paired(&site), Clerk::outside(&site));
        assert_eq!(kiosk.get("/kiosk/join").page().contains("A link to open your account goes there"), mails);
        let done = join(&kiosk, &[]).page();
        assert_eq!(done.contains("A mail is on its way"), mails, "{done}");
        assert_ne!(done.contains("Ask at the front desk for a code"), mails, "{done}");
        let number = field(&phone.get("/join").page(), "number");
        let own = [("email", "bo@example.org"), ("dob", "1995-12-01"), ("password", "four dry socks in a row")];
        let done = phone.post("/join", &typed(&number, &[&own[..], &[("year", "")]].concat())).page();
        assert_eq!(done.contains("A mail is on its way"), mails, "{done}");
        assert_ne!(done.contains("have the front desk confirm your e-mail address"), mails, "{done}");
    }
}

#[test]
fn a_refused_form_keeps_the_tick_of_the_terms_and_says_what_is_wrong_with_the_date() {
    let site = demo();
    let kiosk = paired(&site);
    for (day, month, year, said) in [
        ("31", "2", "1990", "no such day in the calendar"),
        ("1", "1", "90", "year with four digits"),
        ("1", "1", "1850", "120 years ago"),
    ] {
        let refused = join(&kiosk, &[("day", day), ("month", month), ("year", year)]).page();
        assert!(refused.contains(said), "{said}: {refused}");
        assert!(refused.contains("name=\"terms\" value=\"1\" required checked"), "{refused}");
    }
    assert!(!join(&kiosk, &[("terms", ""), ("day", "")]).page().contains(" checked"));
    let phone = Clerk::outside(&site);
    let number = field(&phone.get("/join").page(), "number");
    let refused =
        phone.post("/join", &typed(&number, &[("dob", "1995-12-01"), ("year", ""), ("password", "x")])).page();
    assert!(refused.contains("name=\"terms\" value=\"1\" required checked"), "{refused}");
}

#[test]
fn signing_up_with_a_used_address_reveals_nothing_and_notifies_its_owner() {
    let site = with_mail(false);
    site.member("mark");
    let kiosk = paired(&site);
    let known = join(&kiosk, &[("email", "mark@example.com")]);
    assert_eq!(known.status, 200, "{known}");
    assert_eq!(count(&site, "SELECT count(*) FROM outbox WHERE template = 'email_taken'"), 1);
    assert_eq!(count(&site, "SELECT count(*) FROM outbox WHERE template = 'welcome'"), 0);
}

#[test]
fn a_member_signs_up_on_a_phone_in_the_phones_language_with_a_password() {
    let site = with_mail(false);
    let phone = Clerk::outside(&site);
    assert!(phone.get("/join?language=it").page().contains("La prima volta qui?"));
    for (path, said) in
        [("/join", "La prima volta qui?"), ("/claim", "Apri il tuo account"), ("/recover", "Una nuova password")]
    {
        let reply = site.stranger().ask_at_root(Method::GET, path).header("accept-language", "it-CH, de;q=0.8").send();
        assert!(String::from_utf8_lossy(&reply.body).contains(said), "{path}: {reply}");
    }
    let send = |password: &str| {
        let number = field(&phone.get("/join?language=it").page(), "number");
        let own = [("language", "it"), ("dob", "1995-12-01"), ("year", ""), ("password", password)];
        phone.post("/join", &typed(&number, &own))
    };
    let weak = send("password");
    assert!(weak.status == 422 && weak.page().contains("facile da indovinare"), "{weak}");
    assert!(!weak.page().contains("value=\"password\""), "a password comes back on no page");
    let done = send("four dry socks in a row");
    assert!(done.status == 200 && done.page().contains("Benvenuti!"), "{done}");
    let (member, pin) = shown(&done.page());
    let login = json!({"username": "ada@example.org", "password": "four dry socks in a row"});
    let login = site.stranger().post("/auth/login", login).ok().json();
    assert_eq!((login["status"].as_bool(), login["member_id"].to_string()), (Some(true), member.clone()));
    let kiosk = paired(&site);
    let back = kiosk.post("/kiosk/number", &[("number", &member), ("pin", &pin)]);
    assert_eq!(back.header("location"), Some("/kiosk/home"));
    assert_eq!(count(&site, "SELECT count(*) FROM outbox WHERE template = 'confirm_email' AND language = 'it'"), 1);
    let card = Clerk::at(&site, &site.desk()).get("/desk/kiosks/door").page();
    assert!(card.contains("/join") && card.contains("lang=\"it\"") && card.contains("<svg"), "{card}");
    let nameless = Site::open_with(|config| (config.demo, config.names) = (true, Vec::new()));
    let card = Clerk::at(&nameless, &nameless.desk()).get("/desk/kiosks/door").page();
    assert!(!card.contains("<svg") && card.contains("has no name in the network"), "no phone opens localhost: {card}");
}

#[test]
fn sign_ups_per_kiosk_and_per_network_are_limited_by_the_hour() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.limits.signups_per_hour_per_address = 1;
    });
    let kiosk = paired(&site);
    assert_eq!(join(&kiosk, &[]).status, 200);
    assert_eq!(join(&kiosk, &[("email", "eve@example.org")]).status, 429);
    let free = demo();
    let kiosk = paired(&free);
    let number = field(&kiosk.get("/kiosk/join").page(), "number");
    let empty = |_| kiosk.post("/kiosk/join", &[("number", &number)]).status;
    let answers: Vec<u16> = (0..62).map(empty).collect();
    assert_eq!(answers.iter().filter(|status| **status == 422).count(), 60, "{answers:?}");
}

#[test]
fn the_first_flight_needs_no_confirmed_address_where_the_settings_say_so() {
    for allowed in [false, true] {
        let site = with_mail(allowed);
        let kiosk = paired(&site);
        let (member, pin) = shown(&join(&kiosk, &[]).page());
        let partner = site.partner();
        let book = |at: i64| {
            let body = json!({
                "member_id": member, "member_pin": pin, "flight_date": site.now() + at, "minutes_booked": 10,
                "tunnel_id": Site::TUNNEL_ID, "registration_id": at,
            });
            partner.post("/external/partner-metrics/op/generate-token", body).ok().json()["status"].as_bool()
        };
        assert_eq!(book(600), Some(allowed));
        assert_eq!(kiosk.get("/kiosk/book").status, 404, "the kiosk of this site books nothing");
        if allowed {
            let booking: i64 = site.change(|tx| Ok(tx.get("SELECT booking_id FROM bookings", [])?));
            let done = kiosk.post(&format!("/kiosk/bookings/{booking}/check-in"), &[]);
            assert_eq!(done.header("location"), Some("/kiosk/home?done=arrived"), "{done}");
            assert_eq!(book(90_000), Some(false), "the second flight waits for the address");
        }
    }
}

/// Touches keys of the on-screen keyboard one after the other.
fn touch(browser: &crate::harness::Browser, text: &str) {
    let script = "for (const one of arguments[0]) {
        const keys = () => [...document.querySelectorAll('.board button')];
        const upper = one !== one.toLowerCase(), shown = keys().find(key => key.textContent === one);
        if (!shown && upper) keys().find(key => key.hasAttribute('aria-pressed') || key.textContent === '⇧').click();
        const found = one === ' ' ? keys().find(key => key.className === 'space')
            : keys().find(key => key.textContent === one) ?? keys().find(key => key.textContent.toLowerCase() === one.toLowerCase());
        if (!found) return one;
        found.click();
    } return null;";
    assert_eq!(browser.run(script, json!([text.chars().map(String::from).collect::<Vec<_>>()])), json!(null));
}

/// Adds a child to the signed-in parent with the on-screen keyboard, and checks every page up to the waiver of both.
fn brings_a_child(site: &Site, browser: &crate::harness::Browser) {
    browser.go(&format!("{}/kiosk/family/child", site.origin()));
    browser.wait("return document.querySelectorAll('.board button').length > 20");
    touch(browser, "Bo Lovelace");
    browser.run("document.querySelector('[data-next]').click()", json!([]));
    let year = 1970 + (site.now() / 86_400 - 10 * 365) * 10_000 / 3_652_425;
    touch(browser, &format!("0106{year}"));
    browser.run("document.querySelector('[data-next]').click()", json!([]));
    assert_eq!(browser.violations(), [""; 0], "a child");
    browser.run(
        "document.querySelector('[name=terms]').click(); document.querySelector('.step .action').click()",
        json!([]),
    );
    browser.wait("return location.pathname === '/kiosk/family' && document.body.innerText.includes('Bo Lovelace')");
    for page in ["family", "family/link", "book"] {
        browser.go(&format!("{}/kiosk/{page}", site.origin()));
        assert_eq!(browser.violations(), [""; 0], "{page}");
    }
    browser.go(&format!("{}/kiosk/waiver", site.origin()));
    browser.run("document.getElementById('signer_name').focus()", json!([]));
    touch(browser, "Ada");
    assert_eq!(browser.run("return document.getElementById('signer_name').value", json!([])), "Ada");
    judge_step(browser, "kiosk-waiver");
}

#[test]
fn a_new_member_signs_up_with_a_child_on_the_screen_keyboard() {
    let site = Site::open_with(|config| {
        (config.demo, config.waiver.required, config.kiosk_minutes) = (true, true, vec![4, 10]);
    });
    site.change(|tx| {
        let text = "INSERT INTO site_texts VALUES ('waiver', 1, 'en', 'Waiver', ?1, 'Is a shoulder hurt?', zeroblob(32), 1, ?2, NULL)";
        Ok(tx.run(text, ("I fly at my own risk.\n\n".repeat(30), tx.now()))?)
    });
    let browser = a_kiosk(&site);
    browser.go(&format!("{}/kiosk/join", site.origin()));
    browser.resize(1080, 1920, false);
    let next = || browser.run("document.querySelector('[data-next]').click()", json!([]));
    let value = |id: &str| browser.run("return document.getElementById(arguments[0]).value", json!([id]));
    browser.wait("return document.querySelectorAll('.board button').length > 20");
    judge(&browser, "kiosk-join");
    touch(&browser, "Ada Lovelace");
    assert_eq!(value("real_name"), "Ada Lovelace");
    next();
    touch(&browser, "ada@example.org");
    assert_eq!(value("email"), "ada@example.org");
    judge_step(&browser, "kiosk-join-mail");
    next();
    touch(&browser, "10121995");
    assert_eq!([value("day"), value("month"), value("year")], ["10", "12", "1995"], "a full field goes on to the next");
    judge_step(&browser, "kiosk-join-born");
    next();
    judge_step(&browser, "kiosk-join-terms");
    browser.run(
        "document.querySelector('[name=terms]').click(); document.querySelector('.step .action').click()",
        json!([]),
    );
    browser.wait("return !!document.querySelector('.opens')");
    judge(&browser, "kiosk-joined");
    browser.run("document.querySelector('main .action').click()", json!([]));
    browser.wait("return location.pathname === '/kiosk/home'");
    assert!(browser.text().contains("Hello, Ada Lovelace"), "{}", browser.text());
    brings_a_child(&site, &browser);
    browser.go(&format!("{}/join", site.origin()));
    for (width, height) in [(390, 844), (1280, 800)] {
        for dark in [false, true] {
            browser.resize(width, height, dark);
            assert_eq!(browser.violations(), [""; 0], "/join at {width}, dark: {dark}");
        }
    }
    let broken: Vec<String> = browser.complaints().into_iter().filter(|line| !line.contains("404")).collect();
    assert_eq!(broken, [""; 0]);
}

#[test]
fn forms_of_one_kiosk_have_a_pace_that_no_saturday_reaches_and_other_kiosks_go_on() {
    let site = demo();
    let (kiosk, other) = (paired(&site), paired(&site));
    let tap = |kiosk: &Clerk| kiosk.post("/kiosk/number", &[("number", ""), ("pin", "")]).status;
    let refused = (0..3_100).find(|_| tap(&kiosk) == 429);
    assert!(refused.is_some_and(|taken| taken >= 3_000), "{refused:?}");
    assert_eq!(tap(&other), 422);
    kiosk.get("/kiosk").page();
}

#[test]
fn a_kiosk_books_before_the_address_is_confirmed_and_only_what_has_room() {
    let site = Site::open_with(|config| {
        (config.demo, config.mail) = (true, Some(senders::mail_to_nowhere()));
        (config.kiosk_minutes, config.minutes_per_quarter_hour) = (vec![4, 10], 15);
    });
    let kiosk = paired(&site);
    let (member, pin) = shown(&join(&kiosk, &[]).page());
    let book = |minutes: &str, number: &str| kiosk.post("/kiosk/book", &[("minutes", minutes), ("number", number)]);
    let offered = || {
        let page = kiosk.get("/kiosk/book").page();
        [4, 10].map(|one| page.contains(&format!("name=\"minutes\" value=\"{one}\"")))
    };
    assert_eq!(offered(), [true, true]);
    assert_eq!(book("10", "1").status, 303, "an address that waits for its mail");
    assert_eq!(offered(), [true, false]);
    let full = book("10", "2");
    assert!(full.status == 422 && full.page().contains("booked out for the next minutes"), "{full}");
    assert_eq!(book("10", "1").status, 303, "a form that is sent again is no second flight");
    assert_eq!(book("4", "3").status, 303);
    assert_eq!(offered(), [false, false]);
    assert!(kiosk.get("/kiosk/book").page().contains("booked out"));
    site.advance(std::time::Duration::from_secs(900));
    kiosk.post("/kiosk/number", &[("number", &member), ("pin", &pin)]);
    assert_eq!(offered(), [true, true]);
    assert_eq!(count(&site, "SELECT count(*) FROM bookings"), 2);
}

#[test]
fn the_new_guest_goes_on_on_a_telephone_once_within_two_minutes() {
    let site = with_mail(true);
    let kiosk = paired(&site);
    let code_of = |page: &str| {
        assert!(page.contains("Continue on your telephone") && page.contains("It works once, until"), "{page}");
        // The picture is an SVG; what it says is looked up where the code is stored.
        count(&site, "SELECT count(*) FROM account_claims WHERE email = '' AND ends_at - created_at = 120")
    };
    let number = field(&kiosk.get("/kiosk/join").page(), "number");
    let page = kiosk.post("/kiosk/join", &typed(&number, &[])).page();
    assert_eq!(code_of(&page), 1);
    let again = kiosk.post("/kiosk/join", &typed(&number, &[])).page();
    assert_eq!(code_of(&again), 1, "a page that is loaded again shows another code, and the first is void");
    site.change(|tx| Ok(tx.run("UPDATE members SET password_hash = 'x' WHERE real_name = 'Ada Østergård'", [])?));
    let owned = kiosk.post("/kiosk/join", &typed(&number, &[])).page();
    assert!(!owned.contains("Continue on your telephone"), "whoever has a password signs in with it: {owned}");
}
