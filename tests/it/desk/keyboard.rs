//! The desk with the keyboard alone, in a real Chromium; and sign-in by passkey.

use super::day;
use crate::harness::{Browser, PASSWORD, Site};
use serde_json::json;

const TAB: char = '\u{E004}';
const ENTER: char = '\u{E007}';

#[test]
fn the_keyboard_alone_signs_in_checks_in_and_signs_out() {
    let site = Site::open();
    day(&site);
    let protected = site.protect(&site.desk());
    let browser = Browser::open();
    browser.go(&format!("{}/desk", site.origin()));
    assert_eq!(browser.path(), "/desk/sign-in");
    // The page focuses the first field once it is drawn.
    browser.wait("return document.activeElement?.id === 'username'");
    browser.press(&format!("{}{TAB}{PASSWORD}{ENTER}", protected.member.name));
    browser.wait("return location.pathname === '/desk/sign-in/code' && document.activeElement?.id === 'code'");
    browser.press(&format!("{}{ENTER}", protected.authenticator.code(site.now())));
    browser.wait("return location.pathname === '/desk'");
    // The first tab stop leads past the header.
    browser.press(&TAB.to_string());
    assert_eq!(browser.run("return document.activeElement.className", json!([])), "skip");
    // A slash focuses the search from anywhere, and Enter performs the most frequent action for the first result.
    browser.press("/okonk");
    browser.wait("return document.querySelector('.first [href*=members]')?.innerText === 'Jane Okonkwo-Schmidt'");
    browser.press(&ENTER.to_string());
    browser.wait("return document.querySelector('[role=status]')?.innerText === 'Checked in: Jane Okonkwo-Schmidt.'");
    browser.run("document.querySelector('.who button').focus()", json!([]));
    browser.press(&ENTER.to_string());
    browser.wait("return location.pathname === '/desk/sign-in'");
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Presses Tab until the element has the focus. Asserts at each stop that the focus is visible.
fn tab_to(browser: &Browser, selector: &str) {
    const STOPS_MAX: usize = 80;
    for _ in 0..STOPS_MAX {
        browser.press(&TAB.to_string());
        let stop = "const here = document.activeElement, look = getComputedStyle(here);
            const seen = here === document.body || (look.outlineStyle !== 'none' && parseFloat(look.outlineWidth) > 1);
            return [here.matches(arguments[0]), seen, here.outerHTML.slice(0, 120)]";
        let stop = browser.run(stop, json!([selector]));
        assert_eq!(stop[1], true, "nobody sees that this has the focus: {}", stop[2]);
        if stop[0] == true {
            return;
        }
    }
    panic!("Tab never leads to {selector} on {}", browser.path());
}

#[test]
fn the_most_frequent_tasks_need_only_the_keyboard() {
    let site = Site::open();
    day(&site);
    let protected = site.protect(&site.desk());
    let browser = Browser::open();
    let said = |text: &str| {
        browser.wait(&format!("return document.querySelector('[role=status]')?.innerText.includes('{text}')"))
    };
    browser.go(&format!("{}/desk", site.origin()));
    browser.wait("return document.activeElement?.id === 'username'");
    browser.press(&format!("{}{TAB}{PASSWORD}{ENTER}", protected.member.name));
    browser.wait("return location.pathname === '/desk/sign-in/code' && document.activeElement?.id === 'code'");
    browser.press(&format!("{}{ENTER}", protected.authenticator.code(site.now())));
    browser.wait("return location.pathname === '/desk'");

    tab_to(&browser, ".arrivals li:first-child button");
    browser.press(&ENTER.to_string());
    said("Checked in: Jane Okonkwo-Schmidt.");

    tab_to(&browser, ".arrivals [href='/desk/members/1']");
    browser.press(&ENTER.to_string());
    browser.wait("return location.pathname === '/desk/members/1' && !!document.getElementById('minutes')");
    tab_to(&browser, "#minutes");
    browser.press(&format!("12{ENTER}"));
    said("in the logbook");

    tab_to(&browser, "nav a[href='/desk/sign-offs']");
    browser.press(&ENTER.to_string());
    browser.wait("return location.pathname === '/desk/sign-offs'");
    tab_to(&browser, ".queues a.button");
    browser.press(&ENTER.to_string());
    browser.wait("return document.activeElement?.id === 'password'");
    browser.press(&format!("{PASSWORD}{ENTER}"));
    said("Signed: ");
    tab_to(&browser, ".who button");
    browser.press(&ENTER.to_string());
    browser.wait("return location.pathname === '/desk/sign-in'");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_passkey_opens_the_desk_to_its_clerk_alone() {
    let site = Site::open_with(|config| config.limits.passkey_questions_per_minute_per_address = 1_000_000);
    let (desk, jane) = (site.desk(), site.member("jane"));
    let browser = super::signer_proof::with_passkeys(&site, &[&desk, &jane]);
    let sign_in = |name: &str| {
        browser.run("document.getElementById('username').value = arguments[0]", json!([name]));
        browser.run("document.querySelector('#passkey button').click()", json!([]));
    };
    sign_in("jane");
    browser.wait("return document.querySelector('#problem')?.innerText.includes('ask an admin')");
    assert_eq!(browser.path(), "/desk/sign-in/passkey");
    browser.go(&format!("{}/desk", site.origin()));
    assert_eq!(browser.path(), "/desk/sign-in", "a member's passkey opened nothing");
    sign_in(&desk.name);
    browser.wait("return location.pathname === '/desk'");
}

#[test]
fn a_clerk_signs_in_without_typing_a_name() {
    let site = Site::open_with(|config| config.limits.passkey_questions_per_minute_per_address = 1_000_000);
    let desk = site.desk();
    // From the list under the field, which a virtual authenticator answers without anybody.
    let browser = Browser::open();
    super::signer_proof::keep_passkeys(&site, &browser, &[&desk]);
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.wait("return location.pathname === '/desk'");
    // By the button, with the field empty.
    let other = super::signer_proof::with_passkeys(&site, &[&desk]);
    _ = other.complaints();
    other.run("document.querySelector('#passkey button').click()", json!([]));
    other.wait("return location.pathname === '/desk'");
    assert_eq!(other.complaints(), [""; 0]);
}

/// Makes a passkey for the member whose token is passed.
pub const MAKE: &str = r#"
    const [token, done] = arguments;
    const post = async (path, body) => (await fetch('/api/auth/login/' + path, {
        method: 'POST', headers: { 'content-type': 'application/json', authorization: 'Bearer ' + token }, body: JSON.stringify(body),
    })).json();
    (async () => {
        const asked = (await post('bio-web-option', {})).publicKey;
        const made = await navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(asked) });
        return (await post('bio-web-verify', { credential: JSON.stringify(made.toJSON()) })).status;
    })().then(done, error => done(String(error)));
"#;

/// Three hundred members, each with a booking of today, starting an hour ago, forty seconds apart.
fn saturday(site: &Site) {
    let first = super::book(site, &site.member("first"), 0);
    let members = "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 300)
        INSERT INTO members (username, screen_name, real_name, email, join_date, updated_at)
        SELECT 'guest' || n, '', 'Guest' || char(65 + n % 26) || char(97 + n % 25) || ' Number' || n, '', 1, 1 FROM number";
    let bookings =
        "INSERT INTO bookings (partner_id, member_id, flight_date, minutes_booked, tunnel_id, created_at, updated_at)
        SELECT b.partner_id, m.member_id, b.flight_date - 3600 + 40 * (m.member_id % 300), 3, b.tunnel_id, 1, 1
        FROM members m, bookings b WHERE m.username LIKE 'guest%' AND b.booking_id = ?1";
    site.change(|tx| {
        tx.run(members, [])?;
        Ok(tx.run(bookings, [first])?)
    });
}

#[test]
fn one_of_three_hundred_arrivals_is_checked_in_by_slash_name_and_enter() {
    let site = super::demo();
    saturday(&site);
    let desk = site.desk();
    let browser = Browser::open();
    browser.resize(1280, 800, false);
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.wait("return document.activeElement?.id === 'username'");
    browser.press(&format!("{}{TAB}{PASSWORD}{ENTER}", desk.name));
    browser.wait("return location.pathname === '/desk' && document.readyState === 'complete'");
    let lines = "return [...document.querySelectorAll('#coming li')].filter(line => {
                     const place = line.getBoundingClientRect(); return place.height && place.top >= 64 && place.bottom <= innerHeight; }).length";
    let lines = browser.run(lines, json!([])).as_i64().unwrap();
    assert!(lines >= 14, "{lines} arrivals are on the counter's screen");
    let weight = browser.run("return performance.getEntriesByType('navigation')[0].transferSize", json!([]));
    assert!(weight.as_u64().unwrap() < 90_000, "three hundred arrivals weigh {weight}");
    super::pages::keep("today-300-screen-light", &browser);

    let started = std::time::Instant::now();
    browser.press("/");
    browser.press("number217");
    browser.wait("return document.querySelector('.first [href*=members]')?.innerText.endsWith('Number217')");
    browser.press(&ENTER.to_string());
    browser.wait("return document.querySelector('[role=status].done')?.innerText.includes('Number217.')");
    println!("checked in one of 300 with {} keys in {:?}", "/number217".len() + 1, started.elapsed());

    // The arrow keys move the choice: down to the first, down to the second, and back to the search.
    const DOWN: char = '\u{E015}';
    const UP: char = '\u{E013}';
    browser.press("/number11");
    browser.press(&DOWN.to_string());
    let first = browser.focused();
    browser.press(&DOWN.to_string());
    let second = browser.focused();
    assert!(first.starts_with("Check in: ") && first != second, "{first} {second}");
    browser.press(&format!("{UP}{UP}"));
    assert_eq!(browser.focused(), "Find an arrival or a member");
    assert_eq!(browser.complaints(), [""; 0]);
}

#[test]
fn a_walk_in_is_booked_by_number_and_by_name_and_enter_acts_on_no_guess() {
    let site = super::demo();
    let okonkwo = site.flyer("okonkwo");
    site.change(|tx| {
        Ok(tx.run("UPDATE members SET real_name = 'Jane Okonkwo-Schmidt' WHERE member_id = ?1", [okonkwo.id])?)
    });
    let desk = site.desk();
    let browser = Browser::open();
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.wait("return document.activeElement?.id === 'username'");
    browser.press(&format!("{}{TAB}{PASSWORD}{ENTER}", desk.name));
    browser.wait("return location.pathname === '/desk'");
    for typed in [okonkwo.id.to_string(), "jane okon".to_owned()] {
        let started = std::time::Instant::now();
        browser.press(&format!("/{typed}"));
        browser.wait(
            "return document.querySelector('#found .first [href*=members]')?.innerText === 'Jane Okonkwo-Schmidt'",
        );
        browser.press(&ENTER.to_string());
        // The button for ten minutes has the focus, and Enter books and checks the member in.
        browser.wait("return location.search.includes('book=') && document.activeElement?.name === 'usual'");
        browser.press(&ENTER.to_string());
        browser.wait("return document.querySelector('[role=status].done')?.innerText === 'Booked and checked in: Jane Okonkwo-Schmidt, 10 min.'");
        println!("walk-in by {typed:?} with {} keys in {:?}", typed.len() + 3, started.elapsed());
        browser.go(&format!("{}/desk", site.origin()));
        // The bookings are cancelled, because the search finds a member's line on the list of arrivals first.
        site.change(|tx| Ok(tx.run("UPDATE bookings SET ended_as = 'cancelled'", [])?));
        browser.go(&format!("{}/desk?day=2020-01-01", site.origin()));
        browser.go(&format!("{}/desk", site.origin()));
    }
    // Enter leads from a guess to the page of results, on which nothing is marked either.
    browser.press("/okonkow");
    browser.wait(
        "return document.querySelector('#found [data-guessed] [href*=members]')?.innerText === 'Jane Okonkwo-Schmidt'",
    );
    browser.press(&ENTER.to_string());
    browser.wait("return location.search.includes('okonkow') && document.querySelector('[data-guessed] [href*=members]') !== null");
    browser.wait("return document.querySelector('.first') === null");
    assert_eq!(okonkwo.get("/account/profile/booking-history").ok().total(), 2);
}

#[test]
fn a_refused_page_shows_its_problem_and_the_field_to_correct_has_the_focus() {
    let site = super::demo();
    day(&site);
    let desk = site.desk();
    let browser = Browser::open();
    browser.resize(768, 700, false);
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.wait("return document.activeElement?.id === 'username'");
    browser.press(&format!("{}{TAB}{PASSWORD}{ENTER}", desk.name));
    browser.wait("return location.pathname === '/desk'");
    let send = |path: &str, fields: serde_json::Value| {
        browser.go(&format!("{}{path}", site.origin()));
        let script = "for (const [name, value] of Object.entries(arguments[0])) {
                const field = document.querySelector(`main [name=${name}]`);
                if (field.type === 'checkbox') field.checked = true; else field.value = value;
            }
            document.querySelector('main form:has([name=' + Object.keys(arguments[0])[0] + ']) button.action').click()";
        browser.run(script, json!([fields]));
        // The scripts have run, one of which sets the focus.
        browser.wait("return document.readyState === 'complete' && document.querySelector('main .problem[id]:not([hidden])')?.innerText");
    };
    let seen = "const at = document.querySelector('main .problem[id]:not([hidden])').getBoundingClientRect();
        return [document.activeElement.name, at.top >= 0 && at.bottom <= innerHeight]";
    for (path, fields, focus) in [
        ("/desk/members/1/record", json!({"skill": "", "username": "ines", "password": "wrong"}), "password"),
        ("/desk/members/1/record", json!({"skill": "", "username": "", "password": ""}), "username"),
        ("/desk/members/1/opening", json!({"level": "", "time": "x:y"}), "time"),
    ] {
        let without_rules = "document.querySelectorAll('main form').forEach(form => form.noValidate = true)";
        browser.prepare(&format!("addEventListener('DOMContentLoaded', () => {{ {without_rules} }})"));
        send(path, fields);
        // A browser obeys `autofocus` when it draws, which may be after the page is complete.
        browser.wait(&format!("return document.activeElement.name === '{focus}'"));
        assert_eq!(browser.run(seen, json!([])), json!([focus, true]), "{path}");
    }
}

#[test]
fn fingers_hit_the_links_and_buttons_of_the_desk_on_a_tablet() {
    const LEAST: f64 = 24.0;
    let site = super::demo();
    let bookings = day(&site);
    let desk = site.desk();
    let browser = Browser::open();
    browser.resize(768, 1024, false);
    browser.devtools("Emulation.setTouchEmulationEnabled", json!({ "enabled": true, "maxTouchPoints": 5 }));
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.wait("return document.activeElement?.id === 'username'");
    browser.press(&format!("{}{TAB}{PASSWORD}{ENTER}", desk.name));
    browser.wait("return location.pathname === '/desk'");
    assert_eq!(browser.run("return matchMedia('(pointer: coarse)').matches", json!([])), true);
    for path in
        ["/desk", &format!("/desk/bookings/{}", bookings[0]), "/desk/members/1", "/desk/members", "/desk/sign-offs"]
    {
        browser.go(&format!("{}{path}", site.origin()));
        let small = browser.run(
            "return [...document.querySelectorAll('main a, main button, .who a, .who button')]
                .filter(one => { const { width, height } = one.getBoundingClientRect(); return width && height < arguments[0]; })
                .map(one => one.outerHTML.slice(0, 90))",
            json!([LEAST]),
        );
        assert_eq!(small, json!([]), "{path}");
    }
}

#[test]
fn a_card_is_read_on_today_wherever_the_cursor_is() {
    let site = super::demo();
    let jane = site.flyer("jane");
    let clerk = super::Clerk::at(&site, &site.desk());
    clerk.post(&format!("/desk/members/{}/card", jane.id), &[("card", "04a23f91")]);
    let desk = site.desk();
    let browser = Browser::open();
    browser.resize(1280, 800, false);
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.wait("return document.activeElement?.id === 'username'");
    browser.press(&format!("{}{TAB}{PASSWORD}{ENTER}", desk.name));
    browser.wait("return location.pathname === '/desk' && document.readyState === 'complete'");
    let read = |place: &str, last: &str| {
        browser.go(&format!("{}/desk", site.origin()));
        browser.run("document.querySelector(arguments[0])?.focus()", json!([place]));
        // A reader's keys: a field that has the cursor gets each, as the browser would enter it.
        let script = "[...'04a23f91', ...arguments[0] ? [arguments[0]] : []].forEach(key => {
            const into = document.activeElement, down = new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true });
            if (into.dispatchEvent(down) && into.matches('input') && key.length === 1) into.value += key; })";
        browser.run(script, json!([last]));
        browser.wait("return document.querySelector('#found [href*=members]')?.innerText.includes('jane')");
        assert_eq!(browser.run("return document.getElementById('q').value", json!([])), "04a23f91", "{place} {last}");
        assert_eq!(browser.path(), "/desk", "nothing was pressed");
    };
    for last in ["Enter", "Tab", ""] {
        for place in ["#nothing", ".days a", "#minutes", "#member"] {
            read(place, last);
            assert_eq!(browser.run("return document.getElementById('member').value", json!([])), "", "{place} {last}");
        }
    }
    read("#q", "Tab");
    read("#q", "");
}
