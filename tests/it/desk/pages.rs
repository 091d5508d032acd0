//! Every page in a real Chromium, on a desktop and a phone, light and dark: axe-core finds no violation, nothing is loaded from
//! other origins, no layout shifts, and pages are small. The suite judges a page light in one size and dark in the other, by turns;
//! `tests/deep` judges all four and stores their pictures in `target/screens/`.

use super::{behind_the_counter, day};
use crate::harness::{Browser, PASSWORD, Site, is_deep};
use base64::Engine;
use serde_json::json;
use std::path::PathBuf;
use tunneldesk::domain::local_time::TimeZone;
use tunneldesk::i18n::language::Language;
use tunneldesk::jobs::outbox::render::{self, Context};
use tunneldesk::moment::Moment;

const SCREENS: [(&str, u32, u32); 2] = [("screen", 1280, 800), ("phone", 390, 844)];
/// The members' own pages are read on tablets too.
const OWN_SCREENS: [(&str, u32, u32); 3] = [SCREENS[0], SCREENS[1], ("tablet", 820, 1180)];
/// The bytes of a page and everything that it loads, as transferred: of the desk, and of the own pages, which are first opened on
/// the way.
const PAGE_BYTES_MAX: u64 = 100_000;
const OWN_BYTES_MAX: u64 = 60_000;
/// Above this layout shift, people notice that something moved.
pub const SHIFT_MAX: f64 = 0.01;

/// A page: the name of its screenshot, its path, and a text that identifies it.
pub struct Page {
    pub name: &'static str,
    pub path: &'static str,
    pub shows: &'static str,
}

/// Pages without a sign-in.
const OUTSIDE: &[Page] = &[
    Page { name: "sign-in", path: "/desk/sign-in", shows: "Sign in to the desk" },
    Page { name: "sign-in-ended", path: "/desk/sign-in?ended=1", shows: "Please begin again" },
    Page { name: "refusal", path: "/desk/nothing", shows: "There is nothing here" },
];

/// Pages of a signed-in clerk. Every new page of the desk has its line here.
const INSIDE: &[Page] = &[
    Page { name: "today", path: "/desk", shows: "Jane Okonkwo-Schmidt" },
    Page { name: "kiosks", path: "/desk/kiosks", shows: "Pair a kiosk" },
    Page { name: "today-done", path: "/desk?done=booked&booking=1", shows: "Booked: Jane" },
    Page { name: "today-undo", path: "/desk?done=cancelled&booking=5", shows: "Cancelled: otto" },
    Page { name: "today-found", path: "/desk?q=okonkow", shows: "Nobody has this name; similar ones:" },
    Page { name: "today-book", path: "/desk?book=1", shows: "Another flight, here now" },
    Page { name: "another-day", path: "/desk?day=2030-06-01", shows: "Nobody is booked for this day" },
    Page { name: "booking", path: "/desk/bookings/1", shows: "Cancel booking" },
    Page { name: "booking-cancelled", path: "/desk/bookings/5", shows: "Reinstate booking" },
    Page { name: "members", path: "/desk/members", shows: "The newest members" },
    Page { name: "members-found", path: "/desk/members?q=okonkow", shows: "Jane Okonkwo-Schmidt" },
    Page { name: "members-nobody", path: "/desk/members?q=zzzzzz", shows: "No match" },
    Page { name: "member", path: "/desk/members/1", shows: "Add flight time" },
    Page { name: "member-bookings", path: "/desk/members/1?tab=bookings", shows: "12 min" },
    Page { name: "member-payments", path: "/desk/members/1?tab=payments", shows: "No payments yet" },
    Page { name: "member-messages", path: "/desk/members/1?tab=messages", shows: "Jane Okonkwo-Schmidt" },
    Page { name: "member-security", path: "/desk/members/1?tab=security", shows: "Sign out everywhere" },
    Page { name: "member-hostile", path: "/desk/members/2", shows: "onerror=alert(1)" },
    Page { name: "member-waiver", path: "/desk/members/1/waiver", shows: "Sign at the desk" },
    Page { name: "waivers", path: "/desk/waivers", shows: "Ada Undecided" },
    Page { name: "texts", path: "/desk/texts", shows: "Published" },
    Page { name: "text-edit", path: "/desk/texts/edit?kind=waiver&language=en", shows: "As people see it" },
    Page { name: "text", path: "/desk/texts/version?kind=waiver&version=1&language=en", shows: "SHA-256" },
    Page { name: "member-edit", path: "/desk/members/1/edit", shows: "Date of birth" },
    Page { name: "member-join", path: "/desk/members/1/join?q=evil", shows: "Which other account" },
    Page { name: "member-join-plan", path: "/desk/members/1/join?with=2", shows: "Stays with the closed account" },
    Page { name: "member-certificates", path: "/desk/members/1/certificates", shows: "Certificates" },
    Page { name: "account", path: "/desk/account", shows: "Change password" },
    Page { name: "change-of-clerk", path: "/desk/sign-in/change", shows: "Nobody else has signed in" },
    Page { name: "member-record", path: "/desk/members/1/record", shows: "Record and sign" },
    Page { name: "member-opening", path: "/desk/members/1/opening", shows: "Levels and skills" },
    Page { name: "member-time", path: "/desk/members/1/time/1", shows: "Correct flight time" },
    Page { name: "sign-offs", path: "/desk/sign-offs", shows: "Review" },
    Page { name: "record-several", path: "/desk/record-several", shows: "Member numbers of the students" },
    Page { name: "partners", path: "/desk/partners", shows: "Refused calls" },
    Page { name: "partner", path: "/desk/partners/5?done=restored", shows: "does not fit the body" },
    Page { name: "partner-webhooks", path: "/desk/partners/5/webhooks", shows: "larger than 20 KiB" },
    Page { name: "partner-digest", path: "/desk/partners/5/digest", shows: "What was sent" },
    Page { name: "messages", path: "/desk/messages", shows: "my daughter turns nine" },
    Page { name: "messages-waiting", path: "/desk/messages?box=waiting", shows: "Passcode for a lost password" },
    Page { name: "messages-dead", path: "/desk/messages?box=dead", shows: "not deliverable" },
    Page { name: "messages-marked", path: "/desk/messages?box=marked", shows: "gone@example.org" },
    Page { name: "reports", path: "/desk/reports", shows: "Minutes flown" },
    Page { name: "signers", path: "/desk/site/signers", shows: "Who may sign skills here" },
    Page { name: "reports-members", path: "/desk/reports/members", shows: "By currency" },
    Page { name: "site", path: "/desk/site", shows: "Make the first backup: tunneldesk backup" },
    Page { name: "site-users", path: "/desk/site/users", shows: "Give a role" },
    Page { name: "site-audit", path: "/desk/site/audit", shows: "Signed in as staff" },
    Page { name: "site-audit-none", path: "/desk/site/audit?what=key.rotated", shows: "No entries." },
    Page { name: "contact", path: "/desk/contact/1", shows: "A birthday" },
    Page { name: "payments", path: "/desk/payments", shows: "pi_too_little" },
    Page { name: "member-list", path: "/desk/member-list", shows: "Look at the list" },
    Page { name: "new-member", path: "/desk/new-member", shows: "Only make the account" },
    Page { name: "welcome", path: "/desk/members/900/welcome?done=here", shows: "Print code" },
    Page { name: "till", path: "/desk/till", shows: "Close the day" },
    Page { name: "till-fee", path: "/desk/members/1/payment", shows: "Card terminal" },
    Page { name: "till-entry", path: "/desk/till/entries/2?done=taken", shows: "Print receipt" },
    Page { name: "till-undo", path: "/desk/till/entries/3", shows: "a slip of the finger" },
    Page { name: "till-closings", path: "/desk/till/closings", shows: "-0.50 CHF" },
    Page { name: "till-closing", path: "/desk/till/closings/1", shows: "a coin is missing" },
];

/// A payment below the fee, and one that belongs to no member.
fn payments_that_wait(site: &Site) {
    let sql =
        "INSERT INTO payments (intent_id, member_id, status, amount_cents, currency, created_at, updated_at, question)
               VALUES ('pi_too_little', 2, 'succeeded', 2500, 'CHF', ?1, ?1, 'underpaid'),
                      ('pi_of_nobody', NULL, 'succeeded', 3000, 'CHF', ?1, ?1, 'unmatched')";
    site.change(|tx| Ok(tx.run(sql, [tx.now()])?));
}

/// Fees by every means, one of them undone; a closed day with cash missing from the drawer, and an open day.
fn a_day_at_the_till(site: &Site) {
    site.change(|tx| {
        tx.run(
            "INSERT INTO members (member_id, username, screen_name, real_name, email, join_date, updated_at)
             VALUES (900, 'new.comer', ?2, ?2, '', ?1, ?1)",
            (tx.now(), super::HOSTILE),
        )?;
        tx.run(
            "INSERT INTO payments (payment_id, intent_id, member_id, status, amount_cents, currency, created_at, updated_at)
             VALUES (900, 'desk-1', 900, 'succeeded', 3000, 'CHF', ?1, ?1), (901, 'desk-2', 900, 'refunded', 3000, 'CHF', ?1, ?1)",
            [tx.now()],
        )?;
        tx.run(
            "INSERT INTO till_entries (payment_id, kind, amount_cents, currency, reason, undoes, paid_until, taken_by, taken_at)
             VALUES (900, 'cash', 3000, 'CHF', '', NULL, ?1 + 31536000, 3, ?1),
                    (900, 'terminal', 3000, 'CHF', '', NULL, ?1 + 31536000, 3, ?1 + 60),
                    (900, 'cash', -3000, 'CHF', 'a slip of the finger', 1, NULL, 3, ?1 + 90),
                    (901, 'voucher', 3000, 'CHF', ?2, NULL, ?1 + 31536000, 3, ?1 + 120),
                    (901, 'free', 0, 'CHF', ?2, NULL, ?1 + 31536000, 3, ?1 + 180),
                    (900, 'cash', 3000, 'CHF', '', NULL, ?1 + 31536000, 3, ?1 + 240)",
            (tx.now() - 7_200, super::HOSTILE),
        )?;
        Ok(tx.run(
            "INSERT INTO till_closings (last_entry_id, currency, float_cents, cash_cents, moved_cents, terminal_cents, voucher_cents,
                                        counted_cents, left_cents, note, closed_by, closed_at, form_number)
             VALUES (3, 'CHF', 10000, 0, 0, 3000, 0, 9950, 9950, 'a coin is missing', 3, ?1, 1)",
            [tx.now() - 7_100],
        )?)
    });
}

#[test]
fn every_desk_page_is_accessible_and_small() {
    let site = Site::open_with(|config| (config.yearly_fee_cents, config.waiver.required) = (3_000, true));
    day(&site);
    site.change(|tx| {
        let text = "INSERT INTO site_texts VALUES ('waiver', 1, 'en', 'Waiver', ?1, 'Is a shoulder hurt?', zeroblob(32), 1, ?2, NULL)";
        tx.run(text, ("I fly at my own risk.\n\n".repeat(30), tx.now()))?;
        let signed = "INSERT INTO waiver_signatures (member_id, version, language, text_hash, signed_at, place, flyer_name, born,
                           relation, signer_name, strokes, answers, kept)
                      VALUES (1, 1, 'en', zeroblob(32), ?1, 'kiosk', 'Ada Undecided', 0, 'self', 'Ada', '', 'y', 0)";
        Ok(tx.run(signed, [tx.now()])?)
    });
    behind_the_counter(&site);
    payments_that_wait(&site);
    let cancelled = super::book(&site, &site.member("otto"), 7_000);
    assert_eq!(cancelled, 5, "the pages name it by its number");
    site.change(|tx| Ok(tx.run("UPDATE bookings SET ended_as = 'cancelled' WHERE booking_id = ?1", [cancelled])?));
    a_day_at_the_till(&site);
    // An admin sees everything that a page can contain.
    let desk = site.admin();
    let browser = Browser::open();
    // The window has its size before the first page that is judged, which would otherwise shift: a new process of the
    // browser draws the first page of an origin, and may begin before it knows the size.
    browser.resize(1280, 800, false);
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    OUTSIDE.iter().for_each(|page| look(&site, &browser, page));

    browser.go(&format!("{}/desk/sign-in", site.origin()));
    let fill = "const [name, password] = arguments, form = document.forms[0];
                form.username.value = name; form.password.value = password; form.requestSubmit()";
    browser.run(fill, json!([desk.name, PASSWORD]));
    browser.wait("return location.pathname === '/desk/sign-in/setup'");
    let setup = Page { name: "setup", path: "/desk/sign-in/setup", shows: "Set up your authenticator" };
    look(&site, &browser, &setup);
    let secret = browser.run("return document.querySelector('.secret').innerText", json!([]));
    let secret = secret.as_str().unwrap().replace(' ', "");
    let app = crate::harness::Authenticator::scan(&json!({ "secret": secret }));
    let send = "const form = document.forms[0]; form.code.value = arguments[0]; form.requestSubmit()";
    browser.run(send, json!([app.code(site.now())]));
    browser.wait("return document.querySelectorAll('.codes li').length === 10");
    judge(&browser, "recovery-codes");
    INSIDE.iter().for_each(|page| look(&site, &browser, page));
    on_paper(&site, &browser);
    browser.go(&format!("{}/desk/sign-offs", site.origin()));
    let entry = browser.run("return document.querySelector('.queues a.button').getAttribute('href')", json!([]));
    let path: &'static str = entry.as_str().unwrap().to_owned().leak();
    look(&site, &browser, &Page { name: "sign-off", path, shows: "The signer proves who they are" });
    browser.go(&format!("{}/desk/members/1?tab=security", site.origin()));
    browser.run("document.querySelector('form[action$=\"/pin\"]').requestSubmit()", json!([]));
    browser.wait("return !!document.querySelector('[data-pin]')");
    judge(&browser, "member-pin");

    // The invalid cookie signs the clerk out, and another clerk signs in.
    browser.order("/cookie", json!({ "cookie": { "name": "desk", "value": "x" } }));
    browser.go(&format!("{}/desk/sign-in", site.origin()));
    browser.run(fill, json!([desk.name, PASSWORD]));
    browser.wait("return location.pathname === '/desk/sign-in/code'");
    look(&site, &browser, &Page { name: "code", path: "/desk/sign-in/code?by=app", shows: "Your code" });
}

/// A closed day on paper: the site's name above it, no notice of what was just done, and one size of letters in its tables.
fn on_paper(site: &Site, browser: &Browser) {
    // The width of a sheet of A4.
    browser.resize(703, 1_000, false);
    browser.go(&format!("{}/desk/till/closings/1?done=closed", site.origin()));
    browser.devtools("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    let seen = browser.run(
        "const sizes = [...document.querySelectorAll('th, td, td span')].map(cell => getComputedStyle(cell).fontSize);
         const is_seen = one => document.querySelector(one).checkVisibility();
         return [document.querySelector('.brand span').offsetHeight > 9, is_seen('nav'), is_seen('main > .done'), new Set(sizes).size]",
        json!([]),
    );
    browser.devtools("Emulation.setEmulatedMedia", json!({ "media": "" }));
    browser.resize(1280, 800, false);
    assert_eq!(seen, json!([true, false, false, 1]), "name, menu, notice, sizes of letters");
}

/// Pages without a desk session: those behind codes and links, and the API's description.
#[test]
fn every_public_page_is_accessible_and_small() {
    let site = Site::open();
    site.with_authority();
    let jane = site.member("jane");
    site.change(|tx| {
        Ok(tx.run(
            "UPDATE members SET screen_name = ?2 WHERE member_id = ?1",
            (jane.id, "<script>alert(2)</script>\"'& Jane"),
        )?)
    });
    site.hold(&jane, "Flyer", "3", "Static", site.now());
    let row = jane.get("/account/profile/certificate-list").ok().json()[0].clone();
    jane.post("/account/profile/get-certificate", row).ok();
    let valid = format!("/verify/{}", site.codes(&jane).remove(0));
    site.change(|tx| {
        let asked = "INSERT INTO deletions VALUES ('0123456789abcdef0123456789abcdef', x'00', 'erased', ?1, ?1)";
        Ok(tx.run(asked, [tx.now()])?)
    });
    let browser = Browser::open();
    browser.resize(1280, 800, false);
    let page = |name, path: String, shows| Page { name, path: path.leak(), shows };
    for page in [
        page("verify", valid, "This certificate is valid."),
        page("verify-unknown", "/verify/nothing".to_owned(), "There is no certificate"),
        page("ca", "/ca".to_owned(), "Download the certificate"),
        page(
            "deletion",
            "/api/social-data-deletion-status?id=0123456789abcdef0123456789abcdef".to_owned(),
            "What stays",
        ),
        page("confirm", "/confirm?token=x".to_owned(), "Confirm my address"),
        page("recover", "/recover".to_owned(), "Send me a code"),
        page("undo", "/undo?token=x".to_owned(), "Undo it"),
        page("claim", "/claim".to_owned(), "Open your account"),
    ] {
        look(&site, &browser, &page);
    }
    browser.go(&format!("{}/confirm?token=x", site.origin()));
    browser.run("document.querySelector('form button').click()", json!([]));
    browser.wait("return !!document.querySelector('.verdict.bad')");
    judge(&browser, "confirm-worn-out");
    browser.go(&format!("{}/recover", site.origin()));
    let fill = "const form = document.forms[0]; form.username.value = 'jane'; form.querySelector('button').click()";
    browser.run(fill, json!([]));
    browser.wait("return !!document.getElementById('passcode')");
    judge(&browser, "recover-set");
    browser.complaints();
    browser.go(&format!("{}/docs", site.origin()));
    browser.run("document.querySelectorAll('details.operation')[3].open = true", json!([]));
    judge_variants(&browser, "docs", &SCREENS, |_| thin_out(&browser));
    weigh(&browser, "docs");
    assert_eq!(browser.complaints(), [""; 0]);
}

/// Leaves every tenth operation on the API's page, which is judged whole once: axe-core takes ten seconds for so long a page, and
/// the operations are all made alike.
fn thin_out(browser: &Browser) {
    let script = "document.querySelectorAll('details.operation').forEach((one, nth) => nth % 10 === 3 || one.remove())";
    if !is_deep() {
        browser.run(script, json!([]));
    }
}

/// Checks mails as mail programs show them.
#[test]
fn every_mail_is_accessible_and_small() {
    let context = Context {
        site: "Föhnhalle Thun",
        url: "https://tunnel.example.org",
        zone: &TimeZone::UTC,
        german: Language::German,
    };
    let values = json!({
        "passcode": "012345", "token": "m2yPz0c5uYt8Tq3Rk1Jv9wXe7LbNfDhGsA4iKoQpZ6U", "event": "password_changed",
        "name": "Ann Example", "email": "ann@example.com", "country": "Switzerland", "enquiry": "A birthday", "member": "Number 7, signed in",
        "message": "Hello,\n\nmy daughter turns nine. Is there room for six on a Saturday?\n\nAnn", "subject": "notice.currency_training",
        "detail": { "programme": "Coach", "renewal_date": 1_800_000_000 },
        "number": 12, "amount": "30.00 CHF", "kind": "Cash", "until": "3 May 2027", "day": "3 May 2026, 14:05", "days": 7,
    });
    let browser = Browser::open();
    for name in render::names() {
        let letter = render::render(name, "en", &context, &values, Moment(1_780_000_000)).expect(name);
        let page = base64::engine::general_purpose::STANDARD.encode(&letter.html);
        browser.go(&format!("data:text/html;base64,{page}"));
        assert!(browser.text().contains(context.site), "{name}");
        for (what, width, height, dark) in variants(&format!("mail-{name}"), &SCREENS) {
            browser.resize(width, height, dark);
            keep(&what, &browser);
            assert_eq!(browser.violations_of(json!(["color-contrast"])), [""; 0], "{what}");
            let overflow = browser.run("return document.documentElement.scrollWidth - arguments[0]", json!([width]));
            assert!(overflow.as_i64().unwrap() <= 0, "{what} is wider than the screen by {overflow}");
        }
    }
}

/// The sizes and schemes in which a page is judged: each size with whether it is dark, and each scheme, once at least.
fn variants<'a>(name: &str, screens: &'a [(&'a str, u32, u32)]) -> Vec<(String, u32, u32, bool)> {
    let turn = name.bytes().map(usize::from).sum::<usize>();
    let both = screens.iter().enumerate().flat_map(|(nth, screen)| [false, true].map(|dark| (nth, screen, dark)));
    both.filter(|(nth, _, dark)| is_deep() || (turn + nth + usize::from(*dark)).is_multiple_of(2))
        .map(|(_, (screen, width, height), dark)| {
            (format!("{name}-{screen}-{}", if dark { "dark" } else { "light" }), *width, *height, dark)
        })
        .collect()
}

/// Nothing moves on the own pages.
fn shift_max(name: &str) -> f64 {
    if name.starts_with("own-") { 0.0 } else { SHIFT_MAX }
}

pub fn look(site: &Site, browser: &Browser, page: &Page) {
    browser.complaints();
    browser.go(&format!("{}{}", site.origin(), page.path));
    assert!(browser.text().contains(page.shows), "{}: {}", page.name, browser.text());
    let moved = browser.moved();
    assert!(moved <= shift_max(page.name), "{} moves by {moved}: {}", page.name, browser.what_moved());
    judge(browser, page.name);
    let complaints: Vec<String> = browser.complaints();
    let others = complaints.iter().filter(|line| {
        !line.contains("404 (Not Found)") || !["refusal", "own-refusal", "verify-unknown"].contains(&page.name)
    });
    assert_eq!(others.collect::<Vec<_>>(), [""; 0], "{}", page.name);
}

/// Checks the open page in every size and both colour schemes.
pub fn judge(browser: &Browser, name: &str) {
    let is_own = name.starts_with("own-");
    judge_variants(browser, name, if is_own { &OWN_SCREENS } else { &SCREENS }, |_| ());
    weigh(browser, name);
}

/// Checks that the open page is small, and all from the site.
fn weigh(browser: &Browser, name: &str) {
    let bytes = "return performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
                 .reduce((sum, one) => sum + (one.transferSize || one.encodedBodySize), 0)";
    let bytes = browser.run(bytes, json!([])).as_u64().unwrap();
    eprintln!("{name}: {bytes} bytes");
    let most = if name.starts_with("own-") { OWN_BYTES_MAX } else { PAGE_BYTES_MAX };
    assert!((500..most).contains(&bytes), "{name} weighs {bytes} bytes");
    let elsewhere = "return performance.getEntriesByType('resource').map(one => one.name).filter(url => !url.startsWith(location.origin))";
    assert_eq!(browser.run(elsewhere, json!([])), json!([]), "{name} loads from elsewhere");
}

/// Checks the open page in its [`variants`]: no violation, and no wider than the screen.
pub fn judge_variants(browser: &Browser, name: &str, screens: &[(&str, u32, u32)], judge_more: impl Fn(&str)) {
    for (what, width, height, dark) in variants(name, screens) {
        browser.resize(width, height, dark);
        keep(&what, browser);
        assert_eq!(browser.violations(), [""; 0], "{what}");
        let overflow = browser.run("return document.documentElement.scrollWidth - arguments[0]", json!([width]));
        assert!(overflow.as_i64().unwrap() <= 0, "{what} is wider than the screen by {overflow}");
        judge_more(&what);
    }
}

/// Stores a picture of the page, where `tests/deep` runs.
pub fn keep(name: &str, browser: &Browser) {
    if !is_deep() {
        return;
    }
    let dir = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/screens");
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join(format!("{name}.png")), browser.picture()).unwrap();
}
