//! A payment of the full fee extends a membership. Any other payment waits for a decision of the desk, which is final.

use super::*;
use crate::desk::Clerk;
use crate::harness::senders;

const YEAR: i64 = 365 * 86_400;

/// A site on which a year costs 30.00 CHF, the currency of the tunnel's country.
fn with_fee() -> Site {
    Site::open_with(|config| {
        senders::configure(config);
        (config.yearly_fee_cents, config.demo) = (3000, true);
    })
}

fn paid(id: &str, cents: i64, currency: &str, member: Option<&Caller>) -> Value {
    let mut object = intent(id, member);
    (object["amount"], object["currency"]) = (json!(cents), json!(currency));
    event(&format!("evt_{id}"), "payment_intent.succeeded", object)
}

fn claim(member: &Caller, intent_id: &str) {
    member.post("/payment-webhook", json!({ "fromApp": "true", "paymentIntentId": intent_id })).ok();
}

fn question(site: &Site, intent_id: &str) -> String {
    let sql = "SELECT question FROM payments WHERE intent_id = ?1";
    site.change(|tx| Ok(tx.get(sql, [intent_id])?))
}

#[test]
fn only_the_fee_buys_a_year() {
    let site = with_fee();
    let jane = site.member("jane");
    for (id, cents, currency, why) in [
        ("pi_1", 1, "chf", "underpaid"),
        ("pi_2", 2999, "chf", "underpaid"),
        ("pi_3", 3000, "jpy", "other_currency"),
        ("pi_4", 300_000, "vnd", "other_currency"),
    ] {
        assert_eq!(verdict(&site, &paid(id, cents, currency, Some(&jane))), "applied", "{id}");
        assert_eq!((paid_until(&jane), question(&site, id).as_str()), (None, why), "{id}");
    }
    let unpriced = json!({ "id": "pi_5", "object": "payment_intent", "metadata": { "member_id": jane.id } });
    verdict(&site, &event("evt_5", "payment_intent.succeeded", unpriced));
    let mut part = intent("pi_6", Some(&jane));
    part["amount_received"] = json!(100);
    verdict(&site, &event("evt_6", "payment_intent.succeeded", part));
    assert_eq!((question(&site, "pi_5").as_str(), question(&site, "pi_6").as_str()), ("unpriced", "underpaid"));
    assert_eq!(paid_until(&jane), None);
    assert_eq!(site.notices(&jane), ["notice.payment_waits"; 6]);
    verdict(&site, &paid("pi_7", 3000, "chf", Some(&jane)));
    assert_eq!((paid_until(&jane), question(&site, "pi_7").as_str()), (Some(site.end_of_day(site.now() + YEAR)), ""));
}

#[test]
fn a_fee_without_a_currency_waits_and_one_that_is_named_counts() {
    let euro = Site::open_with(|config| {
        senders::configure(config);
        (config.yearly_fee_cents, config.fee_currency) = (3000, Some("EUR".to_owned()));
    });
    let jane = euro.member("jane");
    verdict(&euro, &paid("pi_1", 3000, "chf", Some(&jane)));
    assert_eq!((paid_until(&jane), question(&euro, "pi_1").as_str()), (None, "other_currency"));
    verdict(&euro, &paid("pi_2", 3000, "eur", Some(&jane)));
    assert!(paid_until(&jane).is_some());
    let panama = with_fee();
    let jane = panama.member("jane");
    panama.change(|tx| Ok(tx.run("UPDATE tunnels SET country = 'PA'", [])?));
    verdict(&panama, &paid("pi_1", 3000, "usd", Some(&jane)));
    assert_eq!((paid_until(&jane), question(&panama, "pi_1").as_str()), (None, "fee_unknown"));
}

#[test]
fn a_payment_with_two_claims_waits_for_a_decision() {
    for fee in [0, 3000] {
        let site = Site::open_with(|config| {
            senders::configure(config);
            config.yearly_fee_cents = fee;
        });
        let (jane, mark, third) = (site.member("jane"), site.member("mark"), site.member("third"));
        [&jane, &mark, &third, &mark].into_iter().for_each(|who| claim(who, "pi_1"));
        verdict(&site, &paid("pi_1", 3000, "chf", None));
        assert_eq!((paid_until(&jane), paid_until(&mark)), (None, None));
        assert_eq!(question(&site, "pi_1"), "doubly_claimed");
        // The processor's event names the payer, which settles the claims.
        verdict(&site, &event("evt_late", "payment_intent.created", intent("pi_1", Some(&mark))));
        assert_eq!((paid_until(&jane), paid_until(&third)), (None, None));
        assert!(paid_until(&mark).is_some() && question(&site, "pi_1").is_empty());
        // A claim after the year was granted takes nothing from the member who has it, and the desk is asked.
        claim(&jane, "pi_2");
        verdict(&site, &paid("pi_2", 3000, "chf", None));
        claim(&third, "pi_2");
        assert!(paid_until(&jane).is_some() && paid_until(&third).is_none());
        assert_eq!(question(&site, "pi_2"), "doubly_claimed");
    }
}

#[test]
fn claims_on_payments_of_others_are_limited() {
    let site = with_fee();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    for number in 0..21 {
        let id = format!("pi_{number}");
        verdict(&site, &paid(&id, 3000, "chf", None));
        claim(&jane, &id);
        if number < 20 {
            claim(&mark, &id);
        }
    }
    let body = json!({ "fromApp": "true", "paymentIntentId": "pi_20" });
    assert!(mark.post("/payment-webhook", body).refused(429).header("retry-after").is_some());
}

#[test]
fn a_disputed_payment_goes_to_the_desk_and_the_membership_stays_until_the_desk_decides() {
    let site = with_fee();
    let jane = site.member("jane");
    verdict(&site, &paid("pi_1", 4000, "chf", Some(&jane)));
    let dispute = json!({ "id": "dp_1", "object": "dispute", "amount": 4000, "currency": "chf", "charge": "ch_1",
                          "payment_intent": "pi_1", "reason": "fraudulent", "status": "needs_response" });
    assert_eq!(verdict(&site, &event("evt_won", "charge.dispute.closed", dispute.clone())), "ignored");
    assert_eq!(question(&site, "pi_1"), "");
    verdict(&site, &event("evt_back", "charge.dispute.created", dispute));
    assert_eq!(question(&site, "pi_1"), "partly_refunded");
    assert!(paid_until(&jane).is_some());
    let clerk = Clerk::at(&site, &site.desk());
    assert!(clerk.get("/desk/payments").page().contains("Take the year back"));
}

#[test]
fn a_partial_refund_that_leaves_less_than_the_fee_goes_to_the_desk_whenever_it_comes() {
    let refund = |number: i64, cents: i64| {
        let mut some = charge("pi_1");
        (some["refunded"], some["amount_refunded"], some["amount"]) = (json!(false), json!(cents), json!(4000));
        event(&format!("evt_back_{number}"), "charge.refunded", some)
    };
    let site = with_fee();
    let jane = site.member("jane");
    verdict(&site, &paid("pi_1", 4000, "chf", Some(&jane)));
    assert_eq!(verdict(&site, &refund(1, 1000)), "partial_refund");
    assert_eq!(
        (paid_until(&jane), question(&site, "pi_1").as_str()),
        (Some(site.end_of_day(site.now() + YEAR)), ""),
        "the fee is left"
    );
    assert_eq!(verdict(&site, &refund(2, 1001)), "partial_refund");
    assert_eq!(
        (paid_until(&jane), question(&site, "pi_1").as_str()),
        (Some(site.end_of_day(site.now() + YEAR)), "partly_refunded")
    );
    let clerk = Clerk::at(&site, &site.desk());
    let page = clerk.get("/desk/payments").page();
    assert!(page.contains("less than the fee is left") && page.contains("Take the year back"), "{page}");
    assert_eq!(clerk.post("/desk/payments/1/void", &[("question", "partly_refunded")]).status, 303);
    assert_eq!((paid_until(&jane), question(&site, "pi_1").as_str()), (None, ""));
    // The same events in the reverse order give the same question.
    let site = with_fee();
    let jane = site.member("jane");
    assert_eq!(verdict(&site, &refund(1, 3999)), "partial_refund");
    verdict(&site, &paid("pi_1", 4000, "chf", Some(&jane)));
    assert_eq!(
        (paid_until(&jane), question(&site, "pi_1").as_str()),
        (Some(site.end_of_day(site.now() + YEAR)), "partly_refunded")
    );
    let clerk = Clerk::at(&site, &site.desk());
    assert_eq!(clerk.post("/desk/payments/1/count", &[("question", "partly_refunded")]).status, 303);
    assert_eq!((paid_until(&jane), question(&site, "pi_1").as_str()), (Some(site.end_of_day(site.now() + YEAR)), ""));
    // A further partial refund is a new question for the desk; a full refund is not.
    verdict(&site, &refund(2, 4000));
    assert_eq!(question(&site, "pi_1"), "partly_refunded");
    verdict(&site, &event("evt_all", "charge.refunded", charge("pi_1")));
    assert_eq!((paid_until(&jane), question(&site, "pi_1").as_str()), (None, ""));
}

#[test]
fn nobody_decides_on_a_payment_of_their_own_and_a_clerk_on_none_of_a_colleague() {
    let site = with_fee();
    let (ann, boss, jane) = (site.desk(), site.admin(), site.member("jane"));
    verdict(&site, &paid("pi_1", 3000, "chf", None));
    verdict(&site, &paid("pi_2", 2000, "chf", Some(&ann)));
    let clerk = Clerk::at(&site, &ann);
    for member in [&ann, &boss] {
        let fields = [("question", "unmatched"), ("member", member.name.as_str())];
        assert_eq!(clerk.post("/desk/payments/1/count", &fields).status, 403, "{}", member.name);
    }
    let taken = clerk.post("/desk/payments/2/count", &[("question", "underpaid"), ("member", "jane")]);
    assert_eq!(taken.status, 403, "{taken}");
    assert_eq!(clerk.post("/desk/payments/2/void", &[("question", "underpaid")]).status, 403);
    let admin = Clerk::at(&site, &boss);
    assert_eq!(admin.post("/desk/payments/2/void", &[("question", "underpaid")]).status, 303);
    assert_eq!(clerk.post("/desk/payments/1/count", &[("question", "unmatched"), ("member", "jane")]).status, 303);
    assert_eq!((paid_until(&jane), paid_until(&ann)), (Some(site.end_of_day(site.now() + YEAR)), None));
}

#[test]
fn the_desk_decides_once_and_the_log_says_who() {
    let site = with_fee();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    verdict(&site, &paid("pi_1", 2000, "chf", Some(&jane)));
    verdict(&site, &paid("pi_2", 2000, "chf", Some(&jane)));
    verdict(&site, &paid("pi_3", 3000, "chf", None));
    let clerk = Clerk::at(&site, &site.desk());
    assert!(clerk.get("/desk").page().contains("Payments to decide: 3"));
    let page = clerk.get("/desk/payments").page();
    for said in ["20.00 CHF", "It is less than the fee", "the payer is unknown", "name=\"member\" value=\"1\""] {
        assert!(page.contains(said), "{said}: {page}");
    }
    let underpaid = ("question", "underpaid");
    for (member, said) in [("", "Say whose"), ("nobody", "no member"), ("999999", "no member")] {
        let refused = clerk.post("/desk/payments/1/count", &[underpaid, ("member", member)]);
        assert!(refused.status == 422 && refused.page().contains(said), "{refused}");
        let typed = if member.is_empty() { "1" } else { member };
        assert!(refused.page().contains(&format!("name=\"member\" value=\"{typed}\"")), "{typed} is lost: {refused}");
    }
    let stale = clerk.post("/desk/payments/1/count", &[("question", "unmatched"), ("member", "jane")]);
    assert!(stale.status == 409 && stale.page().contains("changed since"), "{stale}");
    assert_eq!(paid_until(&jane), None);
    let counted = clerk.post("/desk/payments/1/count", &[underpaid, ("member", "1")]);
    assert_eq!(counted.header("location"), Some("/desk/payments?done=counts"), "{counted}");
    assert_eq!(paid_until(&jane), Some(site.end_of_day(site.now() + YEAR)));
    assert_eq!(clerk.post("/desk/payments/1/count", &[underpaid, ("member", "1")]).status, 409, "once");
    assert_eq!(clerk.post("/desk/payments/2/void", &[underpaid]).status, 303);
    assert_eq!(clerk.post("/desk/payments/3/count", &[("question", "unmatched"), ("member", "mark")]).status, 303);
    assert_eq!(
        (paid_until(&jane), paid_until(&mark)),
        (Some(site.end_of_day(site.now() + YEAR)), Some(site.end_of_day(site.now() + YEAR)))
    );
    assert!(clerk.get("/desk/payments").page().contains("No payment waits"));
    assert_eq!(clerk.post("/desk/payments/99/void", &[underpaid]).status, 404);
    // The desk's decision stands when the processor sends the event again in another form.
    verdict(&site, &event("evt_again", "payment_intent.created", intent("pi_2", Some(&jane))));
    assert_eq!(paid_until(&jane), Some(site.end_of_day(site.now() + YEAR)));
    let sql = "SELECT action || ' ' || subject || ' ' || detail FROM audit WHERE action LIKE 'payment.%' ORDER BY seq";
    let deeds: Vec<String> = site.change(|tx| Ok(tx.list(sql, [])?));
    assert_eq!(
        deeds,
        [
            format!("payment.assigned member:{} {{\"payment_id\":1}}", jane.id),
            format!("payment.voided member:{} {{\"payment_id\":2}}", jane.id),
            format!("payment.assigned member:{} {{\"payment_id\":3}}", mark.id),
        ]
    );
}

#[test]
fn money_goes_to_no_account_by_an_address_that_nobody_confirmed() {
    let site = with_fee();
    let (jane, squatter) = (site.member("jane"), site.member("squatter"));
    site.unconfirm(&squatter);
    verdict(&site, &paid("pi_1", 3000, "chf", None));
    verdict(&site, &paid("pi_2", 3000, "chf", None));
    let clerk = Clerk::at(&site, &site.desk());
    let count = |payment: i64, member: &str| {
        clerk.post(&format!("/desk/payments/{payment}/count"), &[("question", "unmatched"), ("member", member)])
    };
    let refused = count(1, "squatter@example.com");
    assert!(refused.status == 422 && refused.page().contains("Nobody has confirmed"), "{refused}");
    assert!(!site.try_shell(&["callbacks", "match", "pi_1", "squatter@example.com"]));
    assert_eq!(paid_until(&squatter), None);
    // A person decides by the number; a confirmed address is certain.
    assert_eq!(count(1, &squatter.id.to_string()).status, 303);
    assert_eq!(count(2, "jane@example.com").status, 303);
    assert!(paid_until(&jane).is_some() && paid_until(&squatter).is_some());
}

#[test]
fn a_site_without_a_fee_asks_for_no_decision() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    verdict(&site, &paid("pi_1", 1, "jpy", Some(&jane)));
    verdict(&site, &paid("pi_2", 9000, "chf", None));
    assert!(paid_until(&jane).is_some());
    assert_eq!((question(&site, "pi_1").as_str(), question(&site, "pi_2").as_str()), ("", ""));
}

#[test]
fn a_page_with_too_many_payments_says_so() {
    let site = with_fee();
    verdict(&site, &paid("pi_1", 3000, "chf", None));
    let sql = "WITH RECURSIVE number(n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM number WHERE n < 130)
               INSERT INTO payments (intent_id, amount_cents, currency, status, priced_by, question, created_at, updated_at)
               SELECT 'pi_' || n, amount_cents, currency, status, priced_by, question, created_at, updated_at
               FROM number, payments";
    site.change(|tx| Ok(tx.run(sql, [])?));
    let clerk = Clerk::at(&site, &site.desk());
    let rows = |page: &str| page.matches("<li id=\"p").count();
    let first = clerk.get("/desk/payments").page();
    let link = "<a href=\"/desk/payments?skip=100\">Show more (30)";
    assert!(rows(&first) == 100 && first.contains(link), "{first}");
    let rest = clerk.get("/desk/payments?skip=100").page();
    assert!(rows(&rest) == 30 && rest.contains("id=\"p130\"") && !rest.contains("wait behind these"), "{rest}");
}
