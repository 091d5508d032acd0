//! Claims: the app reports that its member has made a payment.

use super::*;

fn claim(member: &Caller, intent_id: impl Into<Value>) -> Reply {
    member.post("/payment-webhook", json!({ "fromApp": "true", "paymentIntentId": intent_id.into() }))
}

fn succeed(site: &Site, intent_id: &str, member: Option<&Caller>) -> String {
    verdict(site, &event(&format!("evt_{intent_id}"), "payment_intent.succeeded", intent(intent_id, member)))
}

#[test]
fn a_claim_is_listed_and_has_no_effect_until_the_payment_succeeds() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    claim(&jane, 71).ok();
    claim(&jane, "71").ok();
    assert_eq!(payments(&jane), [("71".to_owned(), "claimed".to_owned())]);
    assert_eq!((paid_until(&jane), site.notices(&jane).len()), (None, 0));
    assert_eq!(succeed(&site, "71", None), "applied");
    assert_eq!(payments(&jane), [("71".to_owned(), "succeeded".to_owned())]);
    assert!(paid_until(&jane).is_some());
    claim(&jane, 71).ok();
    assert_eq!(site.notices(&jane), ["notice.payment_counts"]);
}

#[test]
fn a_payment_without_a_member_finds_its_member_by_a_claim() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    assert_eq!(succeed(&site, "pi_1", None), "unmatched");
    claim(&jane, "pi_1").ok();
    assert!(paid_until(&jane).is_some());
    assert_eq!(site.notices(&jane), ["notice.payment_counts"]);
}

#[test]
fn a_claim_does_not_override_the_processor_s_member() {
    let site = Site::with_senders();
    let (jane, mark) = (site.member("jane"), site.member("mark"));
    // The processor names Jane as the payer.
    succeed(&site, "pi_1", Some(&jane));
    let (his, hers) = (claim(&mark, "pi_1").ok(), claim(&jane, "pi_1").ok());
    assert_eq!(his.body, hers.body, "a claim tells nothing of other people's payments");
    assert_eq!((payments(&mark).len(), paid_until(&mark)), (0, None));
    // Mark claimed first, and the payment is Jane's all the same.
    claim(&mark, "pi_2").ok();
    succeed(&site, "pi_2", Some(&jane));
    assert_eq!((payments(&mark).len(), paid_until(&mark), payments(&jane).len()), (0, None, 2));
    // Mark's claim counts until the processor names the payer.
    claim(&mark, "pi_3").ok();
    succeed(&site, "pi_3", None);
    assert!(paid_until(&mark).is_some());
    verdict(&site, &event("evt_late", "payment_intent.created", intent("pi_3", Some(&jane))));
    assert_eq!((paid_until(&mark), payments(&mark).len(), payments(&jane).len()), (None, 0, 3));
    assert_eq!(site.notices(&mark), ["notice.payment_counts", "notice.payment_taken_back"]);
}

#[test]
fn a_claim_needs_a_session_its_fields_and_some_patience() {
    let site = Site::with_senders();
    let jane = site.member("jane");
    let good = json!({ "fromApp": "true", "paymentIntentId": 7 });
    site.stranger().post("/payment-webhook", &good).refused(401);
    site.sync().post("/payment-webhook", &good).refused(403);
    for (body, fields) in [
        (json!({}), &["fromApp", "paymentIntentId"][..]),
        (json!({ "fromApp": "false", "paymentIntentId": 7 }), &["fromApp"]),
        (json!({ "fromApp": "true", "paymentIntentId": [] }), &["paymentIntentId"]),
    ] {
        assert_eq!(jane.post("/payment-webhook", &body).refused(422).bad_fields(), fields);
    }
    for number in 0..20 {
        claim(&jane, number).ok();
    }
    assert!(claim(&jane, 20).refused(429).header("retry-after").is_some());
    claim(&jane, 19).ok();
    succeed(&site, "19", None);
    claim(&jane, 20).ok();
}
