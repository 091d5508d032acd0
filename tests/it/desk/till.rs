//! The till: fees of every kind, receipts, undoing, and the closing of a day.

use super::settings::save;
use super::{Clerk, demo};
use crate::harness::{Caller, Site};
use std::time::Duration;
use tunneldesk::moment::Moment;

const FEE_CENTS: i64 = 3_000;
const YEAR: i64 = 365 * 86_400;

fn site() -> Site {
    Site::open_with(|config| {
        config.demo = true;
        config.yearly_fee_cents = FEE_CENTS;
    })
}

/// The value of a field of a page.
pub fn field(page: &str, name: &str) -> String {
    let at = page.find(&format!("name=\"{name}\" value=\"")).unwrap_or_else(|| panic!("no {name} in {page}"));
    page[at..].split("value=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a value").to_owned()
}

/// The hidden fields of the form for a member's fee.
fn form(clerk: &Clerk, member: i64) -> Hidden {
    hidden(&clerk.get(&format!("/desk/members/{member}/payment")).page())
}

type Hidden = [(&'static str, String); 3];

fn hidden(page: &str) -> Hidden {
    ["number", "seen", "price"].map(|name| (name, field(page, name)))
}

fn send(clerk: &Clerk, member: i64, hidden: &Hidden, more: &[(&str, &str)]) -> crate::harness::Reply {
    let hidden = hidden.iter().map(|(name, value)| (*name, value.as_str()));
    let fields: Vec<(&str, &str)> = hidden.chain(more.iter().copied()).collect();
    clerk.post(&format!("/desk/members/{member}/payment"), &fields)
}

/// Takes a fee and returns the number of its receipt. Where the page asks about a second fee, it is taken.
pub fn pay(clerk: &Clerk, member: i64, kind: &str, reason: &str) -> i64 {
    let fields = [("kind", kind), ("reason", reason)];
    let mut reply = send(clerk, member, &form(clerk, member), &fields);
    if reply.status == 409 && reply.page().contains("name=\"second\"") {
        reply = send(clerk, member, &hidden(&reply.page()), &[("kind", kind), ("reason", reason), ("second", "1")]);
    }
    entry(reply.status, reply.header("location"))
}

fn entry(status: u16, location: Option<&str>) -> i64 {
    let place = location
        .unwrap_or_default()
        .strip_prefix("/desk/till/entries/")
        .unwrap_or_else(|| panic!("{status} {location:?}"));
    let id = place.strip_suffix("?done=taken").or_else(|| place.strip_suffix("?done=taken-mailed"));
    id.and_then(|id| id.parse().ok()).expect("the number of a receipt")
}

fn paid_until(site: &Site, member: &Caller) -> Option<i64> {
    site.change(|tx| Ok(tx.get("SELECT paid_until FROM members WHERE member_id = ?1", [member.id])?))
}

/// Closes the day with this count. The answer is a redirect, or the page with the error.
pub fn close(clerk: &Clerk, counted: &str, left: &str, note: &str) -> crate::harness::Reply {
    let page = clerk.get("/desk/till").page();
    close_as_seen(clerk, &page, counted, left, note)
}

fn close_as_seen(clerk: &Clerk, page: &str, counted: &str, left: &str, note: &str) -> crate::harness::Reply {
    let hidden = ["number", "currency", "seen_closing", "seen_entry"].map(|name| (name, field(page, name)));
    let hidden = hidden.iter().map(|(name, value)| (*name, value.as_str()));
    let fields: Vec<(&str, &str)> = hidden.chain([("counted", counted), ("left", left), ("note", note)]).collect();
    clerk.post("/desk/till/close", &fields)
}

fn deeds(site: &Site, action: &str) -> i64 {
    site.change(|tx| Ok(tx.get("SELECT count(*) FROM audit WHERE action = ?1", [action])?))
}

#[test]
fn a_fee_gives_a_year_once_however_often_its_form_is_sent() {
    let site = site();
    let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
    let first = form(&clerk, jane.id);
    let sent = |kind| send(&clerk, jane.id, &first, &[("kind", kind)]);
    let reply = sent("cash");
    let receipt = entry(reply.status, reply.header("location"));
    assert_eq!(paid_until(&site, &jane), Some(site.end_of_day(site.now() + YEAR)));
    let again = sent("cash");
    assert_eq!(entry(again.status, again.header("location")), receipt, "a double click is one fee");
    assert_eq!(
        (paid_until(&site, &jane), deeds(&site, "payment.taken")),
        (Some(site.end_of_day(site.now() + YEAR)), 1)
    );

    // Another desk had the page open all the while.
    let stale = [("number", "77".to_owned()), ("seen", String::new()), ("price", "30.00 CHF".to_owned())];
    let reply = send(&clerk, jane.id, &stale, &[("kind", "terminal")]);
    assert_eq!(reply.status, 409, "{reply}");
    assert!(reply.page().contains("Somebody took this member’s fee"), "{reply}");
    assert_eq!(paid_until(&site, &jane), Some(site.end_of_day(site.now() + YEAR)));

    // The next year follows this one; the member was notified and sees both.
    let voucher = [("kind", "voucher"), ("reason", "V-17")];
    let asked = send(&clerk, jane.id, &form(&clerk, jane.id), &voucher);
    assert!(asked.status == 409 && asked.page().contains("within the last day"), "a second fee asks: {asked}");
    let page = asked.page();
    let second = [("kind", "voucher"), ("reason", "V-17"), ("second", &*field(&page, "second"))];
    let taken = send(&clerk, jane.id, &hidden(&page), &second);
    entry(taken.status, taken.header("location"));
    assert!(paid_until(&site, &jane).unwrap() >= site.end_of_day(site.now() + 2 * YEAR));
    let history = jane.get("/account/profile/payment-history").ok().json();
    assert_eq!(history.as_array().unwrap().len(), 2, "{history}");
    assert_eq!((&history[0]["amount_cents"], &history[0]["status"]), (&FEE_CENTS.into(), &"succeeded".into()));
    let notices = jane.get("/account/notifications").ok().json();
    assert!(notices.to_string().contains("30.00 CHF has arrived"), "{notices}");
}

#[test]
fn a_voucher_pays_once_and_a_form_of_an_undone_fee_takes_none() {
    let site = site();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    let (clerk, admin) = (Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.admin()));
    let first = form(&clerk, jane.id);
    let voucher = [("kind", "voucher"), ("reason", "V-17")];
    let taken = send(&clerk, jane.id, &first, &voucher);
    let receipt = entry(taken.status, taken.header("location"));
    for typed in ["v-17", "V 17", "v17"] {
        let used = send(&clerk, mark.id, &form(&clerk, mark.id), &[("kind", "voucher"), ("reason", typed)]);
        assert!(used.status == 409 && used.page().contains("it counts once"), "{typed}: {used}");
    }
    let other = send(&clerk, jane.id, &first, &[("kind", "cash")]);
    assert!(other.status == 409 && paid_until(&site, &mark).is_none(), "{other}");

    let undone = admin.post(&format!("/desk/till/entries/{receipt}/undo"), &[("reason", "a mistake")]);
    assert_eq!(undone.status, 303, "{undone}");
    let back = send(&clerk, jane.id, &first, &voucher);
    assert_eq!(back.status, 409, "nothing is paid, and the page does not say so: {back}");
    assert_eq!(paid_until(&site, &jane), None);
    pay(&clerk, mark.id, "voucher", "V-17");
}

#[test]
fn a_closing_form_sent_again_with_a_corrected_count_is_refused_with_what_stands() {
    let site = site();
    let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
    pay(&clerk, jane.id, "cash", "");
    let page = clerk.get("/desk/till").page();
    let first = close_as_seen(&clerk, &page, "30", "0", "");
    assert_eq!(first.status, 303, "{first}");
    let again = close_as_seen(&clerk, &page, "30", "0", "");
    assert_eq!(again.header("location"), first.header("location"), "a double click");
    let corrected = close_as_seen(&clerk, &page, "29", "0", "a franc is missing");
    assert_eq!(corrected.status, 409, "{corrected}");
    let counted: i64 = site.change(|tx| Ok(tx.get("SELECT counted_cents FROM till_closings", [])?));
    assert_eq!(counted, 3_000);
}

#[test]
fn a_fee_that_cannot_be_taken_is_refused_with_the_reason() {
    let site = site();
    let (jane, desk) = (site.member("jane"), site.desk());
    let clerk = Clerk::at(&site, &desk);
    let refused = |member: i64, kind: &str, reason: &str, status: u16, words: &str| {
        let hidden = [("number", "5".to_owned()), ("seen", String::new()), ("price", "30.00 CHF".to_owned())];
        let reply = send(&clerk, member, &hidden, &[("kind", kind), ("reason", reason)]);
        assert_eq!(reply.status, status, "{kind} {reply}");
        assert!(reply.page().contains(words), "{kind}: {words}: {}", reply.page());
    };
    refused(jane.id, "voucher", "", 422, "Type the number of the voucher.");
    refused(jane.id, "free", " ", 422, "Say why.");
    refused(jane.id, "bitcoin", "", 422, "cash, terminal, voucher, free");
    refused(desk.id, "cash", "", 403, "");
    refused(site.admin().id, "cash", "", 403, "");
    refused(9_999, "cash", "", 404, "");
    site.change(|tx| Ok(tx.run("UPDATE members SET banned_at = 1 WHERE member_id = ?1", [jane.id])?));
    refused(jane.id, "cash", "", 422, "This member is banned.");
    assert_eq!((paid_until(&site, &jane), deeds(&site, "payment.taken")), (None, 0));

    let free = demo();
    let (jane, clerk) = (free.member("jane"), Clerk::at(&free, &free.desk()));
    let page = clerk.get(&format!("/desk/members/{}/payment", jane.id)).page();
    assert!(page.contains("charges no membership fee") && !page.contains("name=\"kind\""), "{page}");
}

#[test]
fn an_admin_undoes_a_fee_once_and_the_year_is_taken_back() {
    let site = site();
    let (jane, clerk, admin) = (site.member("jane"), Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.admin()));
    let receipt = pay(&clerk, jane.id, "cash", "");
    site.advance(Duration::from_secs(601));
    let path = format!("/desk/till/entries/{receipt}/undo");
    assert_eq!(clerk.post(&path, &[("reason", "wrong member")]).status, 403);
    assert!(!clerk.get(&format!("/desk/till/entries/{receipt}")).page().contains("Undo payment"));
    assert!(clerk.get(&format!("/desk/till/entries/{receipt}")).page().contains("An admin can undo this"));
    let reply = admin.post(&path, &[("reason", "")]);
    assert!(reply.status == 422 && reply.page().contains("Say why."), "{reply}");
    for _ in 0..2 {
        assert_eq!(admin.post(&path, &[("reason", "wrong member")]).status, 303);
    }
    assert_eq!((paid_until(&site, &jane), deeds(&site, "payment.undone")), (None, 1));
    let history = jane.get("/account/profile/payment-history").ok().json();
    assert_eq!(history[0]["status"], "refunded", "{history}");
    let undo = receipt + 1;
    let page = admin.get(&format!("/desk/till/entries/{undo}")).page();
    assert!(page.contains("-30.00 CHF") && page.contains("wrong member"), "{page}");
    assert_eq!(admin.post(&format!("/desk/till/entries/{undo}/undo"), &[("reason", "x")]).status, 404);
    assert!(admin.get(&format!("/desk/till/entries/{undo}/receipt")).body.starts_with(b"%PDF"), "a printed reversal");
    assert!(!admin.get("/desk").page().contains("Undone by clerks"), "an admin knows what an admin did");
    // The member pays after all, as if the undone fee had not been taken.
    pay(&clerk, jane.id, "terminal", "");
    assert_eq!(paid_until(&site, &jane), Some(site.end_of_day(site.now() + YEAR)));
}

#[test]
fn a_clerk_undoes_the_own_last_fee_within_ten_minutes_and_an_admin_sees_it() {
    let site = site();
    let (jane, joe) = (site.member("jane"), site.member("joe"));
    let (clerk, other) = (Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.desk()));
    let admin = Clerk::at(&site, &site.admin());
    let undo = |clerk: &Clerk, receipt: i64| {
        clerk.post(&format!("/desk/till/entries/{receipt}/undo"), &[("reason", "wrong member")])
    };
    let (first, last) = (pay(&clerk, jane.id, "cash", ""), pay(&clerk, joe.id, "cash", ""));
    assert_eq!(undo(&clerk, first).status, 403, "not the last");
    assert_eq!(undo(&other, last).status, 403, "not the own");
    assert!(clerk.get(&format!("/desk/till/entries/{last}")).page().contains("You can undo your last entry"));
    let done = undo(&clerk, last);
    let reversal = last + 1;
    let place = format!("/desk/till/entries/{reversal}?done=undone");
    assert_eq!((done.status, done.header("location")), (303, Some(&*place)), "{done}");
    assert!(clerk.get(&place).page().contains("Print the reversal"));
    assert!(clerk.get(&format!("/desk/till/entries/{reversal}/receipt")).body.starts_with(b"%PDF"));
    assert_eq!(paid_until(&site, &joe), None, "the year goes back");
    assert!(site.notices(&joe).iter().any(|notice| notice == "notice.payment_taken_back"), "the member is told");
    assert_eq!(undo(&clerk, first).status, 403, "one payment, not one after the other");
    let till = clerk.get("/desk/till").page();
    assert!(till.contains("Undoes") && till.contains("30.00 CHF"), "{till}");

    let waits = "Undone by clerks: 1";
    assert!(admin.get("/desk").page().contains(waits) && !clerk.get("/desk").page().contains(waits));
    let seen = format!("/desk/till/entries/{reversal}/reviewed");
    assert_eq!(clerk.post(&seen, &[]).status, 403);
    assert_eq!(admin.post(&seen, &[]).status, 303);
    assert!(!admin.get("/desk").page().contains(waits));

    let late = pay(&clerk, joe.id, "cash", "");
    site.advance(Duration::from_secs(600));
    assert_eq!(undo(&clerk, late).status, 403, "after ten minutes");
    let closed = pay(&clerk, joe.id, "cash", "");
    assert_eq!(close(&clerk, "90", "0", "").status, 303);
    assert_eq!(undo(&clerk, closed).status, 403, "after the closing");
}

#[test]
fn a_form_of_another_price_or_currency_than_it_showed_takes_nothing_and_says_the_new_one() {
    let site = site();
    let (jane, clerk, admin) = (site.member("jane"), Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.admin()));
    let count = || site.change(|tx| Ok(tx.get::<i64>("SELECT count(*) FROM till_entries", [])?));
    for (amount, currency, now) in
        [("99.00", "CHF", "99.00 CHF"), ("99.00", "EUR", "99.00 EUR"), ("9900", "JPY", "9,900 JPY")]
    {
        let (open, till) = (form(&clerk, jane.id), clerk.get("/desk/till").page());
        let shown = field(&till, "currency");
        let fee = [("membership.yearly_fee_cents", amount), ("membership.currency", currency)];
        assert_eq!(save(&admin, "membership", &fee).status, 303);
        for kind in ["cash", "terminal", "voucher", "free"] {
            let reply = send(&clerk, jane.id, &open, &[("kind", kind), ("reason", "x")]);
            assert!(reply.status == 409 && reply.page().contains(&format!("it is now {now}")), "{kind}: {reply}");
            assert_eq!(field(&reply.page(), "price"), now.replace(',', ""), "the page is the form of now");
        }
        if shown == currency {
            continue;
        }
        let moved = |kind: &str, number: &str| {
            let fields = [("kind", kind), ("amount", "15"), ("currency", &*shown), ("reason", "x"), ("number", number)];
            clerk.post("/desk/till/move", &fields)
        };
        let says_it = format!("it is now {currency}");
        for (kind, number) in [("float", "31"), ("in", "32"), ("out", "33")] {
            let reply = moved(kind, number);
            assert!(reply.status == 409 && reply.page().contains(&says_it), "{kind}: {reply}");
        }
        let closed = close_as_seen(&clerk, &till, "0", "0", "");
        assert!(closed.status == 409 && closed.page().contains(&says_it), "{closed}");
        assert_eq!((count(), paid_until(&site, &jane), deeds(&site, "till.closed")), (0, None, 0));
    }
    pay(&clerk, jane.id, "cash", "");
    assert_eq!(count(), 1, "the page of now takes it");
}

#[test]
fn cash_that_is_put_in_or_taken_out_is_expected_in_the_drawer() {
    let site = site();
    let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
    let page = clerk.get("/desk/till").page();
    assert!(page.contains("Enter the opening float"), "{page}");
    let send = |kind: &str, amount: &str, reason: &str, number: &str| {
        let fields = [("kind", kind), ("amount", amount), ("currency", "CHF"), ("reason", reason), ("number", number)];
        clerk.post("/desk/till/move", &fields)
    };
    assert_eq!(send("float", "100", "", "11").status, 303);
    assert_eq!(send("float", "100", "", "11").status, 303, "a double click");
    assert_eq!(send("float", "100", "", "12").status, 409, "the float is entered once");
    assert_eq!(send("in", "20", "", "13").status, 422, "no reason");
    assert_eq!(send("in", "20", "coins from the bank", "13").status, 303);
    assert_eq!(send("out", "500", "petrol", "14").status, 422, "more than there is");
    assert_eq!(send("out", "15.50", "petrol", "14").status, 303);
    assert_eq!(send("out", "16", "petrol", "14").status, 409, "the form was used");
    assert_eq!(send("cash", "16", "petrol", "15").status, 422, "no fee comes this way");
    pay(&clerk, jane.id, "cash", "");
    let page = clerk.get("/desk/till").page();
    assert!(
        page.contains("134.50 CHF") && page.contains("petrol") && !page.contains("Enter the opening float"),
        "{page}"
    );
    assert_eq!(deeds(&site, "till.moved"), 3);
    assert_eq!(close(&clerk, "134,50", "50", "").status, 303, "the drawer agrees");
    let csv = String::from_utf8(clerk.get("/desk/till/closings.csv").body).unwrap();
    assert!(csv.contains("CHF,100.00,30.00,4.50,0.00,0.00,134.50,134.50,0.00,50.00,"), "{csv}");
}

#[test]
fn cash_that_was_moved_by_mistake_is_reversed_by_a_row_until_the_closing_has_counted_it() {
    let site = site();
    let (jane, clerk, other) = (site.member("jane"), Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.desk()));
    let admin = Clerk::at(&site, &site.admin());
    let undo = |who: &Clerk, entry: i64| who.post(&format!("/desk/till/entries/{entry}/undo"), &[("reason", "a slip")]);
    let send = |kind: &str, amount: &str, number: &str| {
        let fields =
            [("kind", kind), ("amount", amount), ("currency", "CHF"), ("reason", "petrol"), ("number", number)];
        assert_eq!(clerk.post("/desk/till/move", &fields).status, 303);
        site.change(|tx| Ok(tx.get::<i64>("SELECT max(entry_id) FROM till_entries", [])?))
    };
    let float = send("float", "1000", "11");
    assert!(clerk.get(&format!("/desk/till/entries/{float}")).page().contains("Undo this movement"));
    let done = undo(&clerk, float);
    let place = format!("/desk/till/entries/{}?done=move-undone", float + 1);
    assert_eq!(done.header("location"), Some(&*place), "{done}");
    assert!(clerk.get(&place).page().contains("The movement was undone."));
    assert!(clerk.get("/desk/till").page().contains("Enter the opening float"), "it is entered anew");
    send("float", "100", "12");
    let out = send("out", "15.50", "13");
    assert_eq!(undo(&other, out).status, 403, "not the own");
    assert_eq!(undo(&clerk, out).status, 303);
    assert_eq!(undo(&clerk, out).status, 303, "a double click is one reversal");
    assert!(admin.get("/desk").page().contains("Undone by clerks: 2"));
    let late = send("in", "7", "14");
    site.advance(Duration::from_secs(600));
    assert_eq!(undo(&clerk, late).status, 403, "after ten minutes");
    assert_eq!(undo(&admin, late).status, 303);
    let counted = send("in", "3", "15");
    pay(&clerk, jane.id, "cash", "");
    assert_eq!(close(&clerk, "133", "0", "").status, 303, "100 + 3 + 30");
    assert_eq!(undo(&admin, counted).status, 422, "the closing has counted it");
    assert_eq!(deeds(&site, "till.move_undone"), 3);
}

#[test]
fn what_the_drawer_does_not_hold_is_not_given_back() {
    let site = site();
    let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
    let admin = Clerk::at(&site, &site.admin());
    let number = std::cell::Cell::new(40);
    let send = |kind: &str, amount: &str| {
        number.set(number.get() + 1);
        let number = number.get().to_string();
        let fields = [("kind", kind), ("amount", amount), ("currency", "CHF"), ("reason", "bank"), ("number", &number)];
        assert_eq!(clerk.post("/desk/till/move", &fields).status, 303);
        site.change(|tx| Ok(tx.get::<i64>("SELECT max(entry_id) FROM till_entries", [])?))
    };
    let undo = |entry: i64| admin.post(&format!("/desk/till/entries/{entry}/undo"), &[("reason", "a slip")]);
    let refused = |entry: i64| {
        let reply = undo(entry);
        assert!(reply.status == 422 && reply.page().contains("under Cash in and out"), "{reply}");
    };
    let fee = pay(&clerk, jane.id, "cash", "");
    let out = send("out", "30");
    refused(fee);
    assert!(paid_until(&site, &jane).is_some(), "the year stays");
    let float = send("float", "20");
    let back = send("out", "20");
    refused(float);
    assert_eq!(undo(back).status, 303, "to put back is no question of the drawer");
    assert_eq!((undo(float).status, undo(out).status, undo(fee).status), (303, 303, 303));
    let card = pay(&clerk, jane.id, "terminal", "");
    assert_eq!(undo(card).status, 303, "not from the drawer");
    let late = pay(&clerk, jane.id, "cash", "");
    assert_eq!(close(&clerk, "30", "29.99", "").status, 303);
    refused(late);
    send("in", "0.01");
    assert_eq!(undo(late).status, 303);
}

#[test]
fn an_unusual_amount_of_cash_is_asked_about_once() {
    let site = site();
    let clerk = Clerk::at(&site, &site.desk());
    let send = |kind: &str, amount: &str, more: &[(&str, &str)]| {
        let fields = [("kind", kind), ("amount", amount), ("currency", "CHF"), ("reason", "x"), ("number", "51")];
        clerk.post("/desk/till/move", &[&fields[..], more].concat())
    };
    for kind in ["float", "in"] {
        let asked = send(kind, "99,999,999.99", &[]);
        assert!(asked.status == 422 && asked.page().contains("Really 99,999,999.99?"), "{kind}: {asked}");
        let sure = field(&asked.page(), "sure");
        assert_eq!(send(kind, "88888888", &[("sure", &sure)]).status, 422, "another is asked about anew");
        assert_eq!(deeds(&site, "till.moved"), 0);
    }
    assert_eq!(send("float", "10000.01", &[("sure", "10000.01")]).status, 303);
    assert!(!clerk.get("/desk/till").page().contains("name=\"sure\""));
}

#[test]
fn a_receipt_is_printed_and_mailed_in_the_member_s_language() {
    let site = site();
    let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
    site.change(|tx| Ok(tx.run("UPDATE members SET language = 'de' WHERE member_id = ?1", [jane.id])?));
    let receipt = pay(&clerk, jane.id, "cash", "");
    let pdf = clerk.get(&format!("/desk/till/entries/{receipt}/receipt"));
    assert_eq!((pdf.status, pdf.header("content-type")), (200, Some("application/pdf")));
    assert!(pdf.body.starts_with(b"%PDF"));
    for tab in ["payments", "timeline"] {
        let card = clerk.get(&format!("/desk/members/{}?tab={tab}", jane.id)).page();
        let line = format!("href=\"/desk/till/entries/{receipt}\"");
        assert!(card.contains(&line) && card.contains(&format!("Receipt No. {receipt}<")), "{tab}: {card}");
        assert!(!card.contains("<bdi>desk-"), "{tab} shows no number of ours: {card}");
    }
    let reply = clerk.post(&format!("/desk/till/entries/{receipt}/mail"), &[]);
    assert_eq!(reply.status, 303, "{reply}");
    let mails = site.mails();
    let mail = mails.last().expect("a mail");
    assert!(format!("{mail:?}").contains("receipt"), "{mail:?}");
    site.change(|tx| {
        Ok(tx.run("UPDATE members SET email = '', email_confirmed_at = NULL WHERE member_id = ?1", [jane.id])?)
    });
    let reply = clerk.post(&format!("/desk/till/entries/{receipt}/mail"), &[]);
    assert!(reply.status == 422 && reply.page().contains("no e-mail address"), "{reply}");
    assert_eq!(deeds(&site, "receipt.mailed"), 1);
}

#[test]
fn a_day_is_closed_once_with_what_the_clerk_saw() {
    let site = site();
    let (jane, joe) = (site.member("jane"), site.member("joe"));
    let (clerk, other) = (Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.desk()));
    pay(&clerk, jane.id, "cash", "");
    let refused = |counted: &str, left: &str, note: &str, words: &str| {
        let reply = close(&clerk, counted, left, note);
        assert!(reply.status == 422 && reply.page().contains(words), "{words}: {reply}");
    };
    refused("about thirty", "0", "", "Enter the amounts as numbers");
    refused("30.005", "0", "", "Enter the amounts as numbers");
    refused("-30", "0", "", "Enter the amounts as numbers");
    refused("30", "30.01", "", "cannot be more than was counted");
    refused("29.95", "0", "", "The count differs");

    let seen = other.get("/desk/till").page();
    pay(&clerk, joe.id, "cash", "");
    let reply = close_as_seen(&other, &seen, "30", "0", "");
    assert!(reply.status == 409 && reply.page().contains("A payment was taken or undone"), "{reply}");

    let seen = clerk.get("/desk/till").page();
    let done = close_as_seen(&clerk, &seen, "60", "20", "");
    assert_eq!((done.status, done.header("location")), (303, Some("/desk/till/closings/1?done=closed")), "{done}");
    let again = close_as_seen(&clerk, &seen, "60", "20", "");
    assert_eq!(again.header("location"), Some("/desk/till/closings/1?done=closed"), "a double click is one closing");
    let number = format!("name=\"number\" value=\"{}", field(&seen, "number"));
    let stale = seen.replace(&number, "name=\"number\" value=\"5");
    let stale = close_as_seen(&other, &stale, "60", "20", "");
    assert!(stale.status == 409 && stale.page().contains("Somebody else closed the day"), "{stale}");
    assert_eq!(deeds(&site, "till.closed"), 1);

    // The next day begins with the cash that was left.
    site.advance(Duration::from_secs(3_600));
    pay(&clerk, jane.id, "cash", "");
    let page = clerk.get("/desk/till").page();
    assert!(page.contains("50.00 CHF") && field(&page, "left") == "20.00", "{page}");
    let reply = close(&clerk, "45,5", "0", "two coins are missing");
    assert_eq!(reply.status, 303, "{reply}");
    let closed = clerk.get("/desk/till/closings/2").page();
    assert!(closed.contains("-4.50 CHF") && closed.contains("two coins are missing"), "{closed}");
    let csv = String::from_utf8(clerk.get("/desk/till/closings.csv").body).unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 3, "{csv}");
    assert!(
        rows[1].contains("CHF,20.00,30.00,0.00,0.00,0.00,50.00,45.50,-4.50,0.00,two coins are missing"),
        "a number, not a text: {csv}"
    );
    let entries = String::from_utf8(clerk.get("/desk/till/closings/1/entries.csv").body).unwrap();
    assert_eq!(entries.lines().count(), 3, "{entries}");
    assert!(entries.lines().skip(1).all(|row| row.contains(",cash,30.00,CHF,")), "{entries}");
}

#[test]
fn payments_of_an_erased_member_stay_without_personal_data() {
    let site = site();
    let (jane, clerk, admin) = (site.member("jane"), Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.admin()));
    let receipt = pay(&clerk, jane.id, "free", "jane helped at the open day");
    admin.post(&format!("/desk/till/entries/{receipt}/undo"), &[("reason", "jane did not")]);
    let paid = pay(&clerk, jane.id, "cash", "");
    site.shell(&["member", "erase", "jane", "--yes"]);
    let page = clerk.get(&format!("/desk/till/entries/{paid}")).page();
    assert!(page.contains("30.00 CHF") && !page.contains("jane"), "{page}");
    let left: i64 = site.change(|tx| Ok(tx.get("SELECT count(*) FROM till_entries WHERE reason <> ''", [])?));
    assert_eq!(left, 0);
    assert_eq!(close(&clerk, "30", "0", "").status, 303, "the day still adds up");
}

#[test]
fn a_receipt_is_mailed_automatically_and_names_a_free_year() {
    let site = Site::open_with(|config| {
        config.demo = true;
        config.yearly_fee_cents = FEE_CENTS;
        config.mail = Some(crate::harness::senders::mail_to_nowhere());
    });
    let (jane, joe, ada) = (site.member("jane"), site.member("joe"), site.member("ada"));
    let (clerk, admin) = (Clerk::at(&site, &site.desk()), Clerk::at(&site, &site.admin()));
    site.unconfirm(&ada);
    let take = |member: &Caller, kind: &str| {
        let reply = send(&clerk, member.id, &form(&clerk, member.id), &[("kind", kind), ("reason", "helped")]);
        reply.header("location").unwrap_or_else(|| panic!("{reply}")).to_owned()
    };
    let place = take(&jane, "cash");
    assert!(place.ends_with("?done=taken-mailed"), "{place}");
    assert!(clerk.get(&place).page().contains("The receipt is on its way by mail"));
    take(&joe, "free");
    let unconfirmed = take(&ada, "cash");
    assert!(unconfirmed.ends_with("?done=taken"), "nothing goes to an address that nobody confirmed: {unconfirmed}");
    let mails: Vec<_> =
        site.mails().into_iter().map(|mail| (mail["template"].clone(), mail["recipient"].clone())).collect();
    assert_eq!(
        mails,
        [("receipt".into(), "jane@example.com".into()), ("receipt_free".into(), "joe@example.com".into())]
    );
    assert_eq!(deeds(&site, "receipt.mailed"), 2);
    let notices = joe.get("/account/notifications").ok().json().to_string();
    assert!(notices.contains("free of charge") && !notices.contains("0.00"), "{notices}");
    assert_eq!(site.notices(&joe), ["notice.membership_free"]);
    let entry = number_of_last(&site);
    assert_eq!(admin.post(&format!("/desk/till/entries/{}/undo", entry - 1), &[("reason", "no")]).status, 303);
    let notices = joe.get("/account/notifications").ok().json().to_string();
    assert!(notices.contains("taken back") && !notices.contains("0.00"), "{notices}");
}

fn number_of_last(site: &Site) -> i64 {
    site.change(|tx| Ok(tx.get("SELECT max(entry_id) FROM till_entries", [])?))
}

#[test]
fn the_open_day_has_a_csv_file_and_csv_files_name_their_time_zone() {
    let site = site();
    let (jane, clerk) = (site.member("jane"), Clerk::at(&site, &site.desk()));
    let read = |path: &str| String::from_utf8(clerk.get(path).body).unwrap().replace('\u{feff}', "");
    site.change(|tx| Ok(tx.run("UPDATE tunnels SET time_zone = 'Europe/Zurich'", [])?));
    assert!(!clerk.get("/desk/till").page().contains("entries.csv"), "nothing was taken");
    assert_eq!(read("/desk/till/entries.csv").lines().count(), 1);
    pay(&clerk, jane.id, "cash", "");
    assert!(clerk.get("/desk/till").page().contains("/desk/till/entries.csv"));
    let zone = site.inside().time_zone().unwrap();
    let at = format!("{} {}", zone.date(Moment(site.now())), zone.clock(Moment(site.now())));
    let table = read("/desk/till/entries.csv");
    assert!(
        table.starts_with("entry_id,taken_at (Europe/Zurich),kind,")
            && table.contains(&format!(",{at},cash,30.00,CHF,")),
        "{table}"
    );
    assert_eq!(close(&clerk, "30", "0", "").status, 303);
    assert_eq!(read("/desk/till/entries.csv").lines().count(), 1, "the next day has nothing yet");
    let closings = read("/desk/till/closings.csv");
    assert!(
        closings.starts_with("closing_id,closed_at (Europe/Zurich),") && closings.contains(&format!("1,{at},")),
        "{closings}"
    );
    super::book(&site, &jane, 0);
    let bookings = read("/desk/reports/bookings.csv");
    assert!(bookings.contains("flight_date (Europe/Zurich)") && bookings.contains(&at), "{bookings}");
    jane.post("/account/logbook/time/", serde_json::json!({ "time": 5, "entry_date": site.now() })).ok();
    let logbook = jane.get(&format!("/account/logbook/export/{}", jane.id)).ok();
    let stamp = format!("{}T{}", zone.date(Moment(site.now())), zone.clock(Moment(site.now())));
    let logbook = String::from_utf8(logbook.body).unwrap();
    assert!(logbook.contains(&stamp) && logbook.contains("+02:00"), "{logbook}");
}
