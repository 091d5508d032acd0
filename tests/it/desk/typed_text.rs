//! What was typed into a form of the desk is still there when the form was refused.

use super::kiosk::{enter, paired};
use super::sign_offs::asked;
use super::{Clerk, demo};
use crate::harness::{Reply, Site};
use tunneldesk::store::tables::partners;

/// The page of a refused form, which contains all of these.
fn keeps(refused: &Reply, texts: &[&str]) {
    assert_eq!(refused.status, 422, "{refused}");
    let page = refused.page();
    for text in texts {
        assert!(page.contains(text), "{text} is lost: {page}");
    }
}

fn publish_waiver(admin: &Clerk) {
    let text = [("kind", "waiver"), ("language", "en"), ("title", "Waiver"), ("body", "I fly at my own risk.")];
    assert_eq!(admin.post("/desk/texts/edit", &text).status, 303);
    assert_eq!(admin.post("/desk/texts/publish", &[("kind", "waiver")]).status, 303);
}

#[test]
fn a_refused_guardian_and_refused_minutes_stay_as_typed() {
    let site = Site::open_with(|config| (config.demo, config.waiver.required) = (true, true));
    let (jane, admin) = (site.flyer("jane"), Clerk::at(&site, &site.admin()));
    let form = [("guardian", "987654"), ("relation", "permission"), ("permission", "of the mother, 3 May")];
    let refused = admin.post(&format!("/desk/members/{}/guardians", jane.id), &form);
    let typed =
        ["value=\"987654\"", "value=\"permission\" selected", "value=\"of the mother, 3 May\"", "<details open>"];
    keeps(&refused, &typed);

    publish_waiver(&admin);
    let time = admin.post(&format!("/desk/members/{}/time", jane.id), &[("minutes", "17")]);
    keeps(&time, &["value=\"17\"", "waiver"]);

    let emergency = format!("/desk/members/{}/emergency", jane.id);
    assert_eq!(admin.post(&emergency, &[("emergency_name", "Tom"), ("emergency_phone", "2")]).status, 303);
    // Each form of the waiver page says beside itself why it was refused.
    let waiver = format!("/desk/members/{}/waiver", jane.id);
    let forms: [(&str, &[(&str, &str)]); 3] = [
        ("", &[("version", "1"), ("language", "en"), ("signer_name", " ")]),
        ("/override", &[("reason", " ")]),
        ("/emergency", &[("emergency_name", "Ann"), ("emergency_phone", "1"), ("seen", "another")]),
    ];
    for (path, fields) in forms {
        let action = path
            .strip_prefix("/emergency")
            .map_or(format!("{waiver}{path}"), |_| format!("/desk/members/{}/emergency", jane.id));
        let refused = admin.post(&action, fields);
        assert_eq!(refused.status, 422, "{action}: {refused}");
        let page = refused.page();
        let form = page.split(&format!("action=\"{action}\"")).nth(1).and_then(|rest| rest.split("</form>").next());
        assert!(form.is_some_and(|form| form.contains("class=\"problem")), "{action}: {page}");
        assert_eq!(page.matches("role=\"alert\"").count(), 1, "{action}: {page}");
    }
}

#[test]
fn a_refused_passkey_keeps_its_name() {
    let site = demo();
    let admin = Clerk::at(&site, &site.admin());
    let refused = admin.post("/desk/account/passkeys", &[("name", "Key of the till"), ("credential", "{}")]);
    keeps(&refused, &["value=\"Key of the till\"", "could not be added"]);
}

/// The page of a form that came too often: the reason and the typed text are there.
fn is_too_fast(refused: &Reply, typed: &str) {
    assert_eq!(refused.status, 429, "{refused}");
    let seconds: u64 = refused.header("retry-after").expect("the time to wait").parse().unwrap();
    let (page, wait) = (refused.page(), format!("Wait {} min, then try again", seconds.div_ceil(60)));
    assert!(page.contains(&format!("value=\"{typed}\"")) && page.contains(&wait), "{page}");
}

#[test]
fn a_form_that_comes_too_often_is_there_again_with_the_reason() {
    let site = Site::open_with(|config| {
        (config.demo, config.waiver.required) = (true, true);
        (config.limits.signups_per_hour_per_address, config.limits.recoveries_per_hour_per_address) = (1, 1);
    });
    publish_waiver(&Clerk::at(&site, &site.admin()));
    let guest = Clerk::outside(&site);
    assert_eq!(guest.post("/join", &[("real_name", "Ann")]).status, 422);
    is_too_fast(&guest.post("/join", &[("real_name", "Ann Early")]), "Ann Early");
    assert_eq!(guest.post("/recover", &[("username", "ann"), ("have", "1")]).status, 200);
    is_too_fast(&guest.post("/recover", &[("username", "ann.early")]), "ann.early");
    let set = [("username", "ann.early"), ("password", "fly-high-land-soft"), ("passcode", "123456")];
    is_too_fast(&guest.post("/recover/password", &set), "ann.early");
    let claim = [("code", "ABCD-EFGH"), ("username", "ann.early"), ("password", "fly-high-land-soft")];
    is_too_fast(&guest.post("/claim", &claim), "ann.early");

    let (jane, kiosk) = (site.member("jane"), paired(&site));
    site.born(&jane, site.now() - 40 * 365 * 86_400);
    enter(&site, &kiosk, &jane);
    is_too_fast(&kiosk.post("/kiosk/family/child", &[("real_name", "Tim Early")]), "Tim Early");
}

#[test]
fn an_error_page_of_a_kiosk_or_a_phone_leads_back_to_the_page_of_the_form() {
    let site = demo();
    let (jane, kiosk) = (site.member("jane"), paired(&site));
    enter(&site, &kiosk, &jane);
    let leads_to = |path: &str, page: &str| {
        let origin = kiosk.origin.as_str();
        let from = [("origin", origin), ("referer", &format!("{origin}{page}&done=x"))];
        let refused = kiosk.post_from(path, &[("number", "1")], &from);
        assert!(refused.status == 404 || refused.status == 422, "{refused}");
        refused.page().contains(&format!("href=\"{}\"", page.replace('&', "&#38;")))
    };
    assert!(leads_to("/kiosk/book", "/kiosk/book?a=1"));
    assert!(leads_to("/undo", "/undo?token=abc"));
    assert!(!leads_to("/kiosk/book", "/desk/members?a=1"), "a kiosk leads to no page of the desk");
}

#[test]
fn a_refused_partner_form_keeps_the_days_and_the_name() {
    let site = demo();
    let (partner, admin) = (site.partner().client_id().to_owned(), Clerk::at(&site, &site.admin()));
    let number = site.change(|tx| Ok(partners::find(tx, &partner)?.expect("it was made").partner_id));
    let card = format!("/desk/partners/{number}");
    keeps(&admin.post(&format!("{card}/revoke"), &[("name", "Sky Bokings")]), &["value=\"Sky Bokings\""]);
    assert_eq!(admin.post(&format!("{card}/rotate"), &[("keep_days", "7")]).status, 200);
    keeps(&admin.post(&format!("{card}/rotate"), &[("keep_days", "33")]), &["value=\"33\""]);
}

#[test]
fn a_refused_role_keeps_the_role_and_a_refused_signature_its_signer() {
    let site = demo();
    let admin = Clerk::at(&site, &site.admin());
    let role = admin.post("/desk/site/users", &[("member", "nobody-here"), ("role", "admin")]);
    keeps(&role, &["value=\"nobody-here\"", "value=\"admin\" selected"]);

    let (jane, _, entry) = asked(&site);
    let deny = admin.post(&format!("/desk/sign-offs/{entry}/deny"), &[("reason", " "), ("username", "otto")]);
    keeps(&deny, &["name=\"username\" value=\"otto\""]);
    let nothing = [("comment", "calm in the tunnel"), ("username", "otto")];
    let record = admin.post(&format!("/desk/members/{}/record", jane.id), &nothing);
    keeps(&record, &["name=\"username\" value=\"otto\"", "calm in the tunnel"]);
}
