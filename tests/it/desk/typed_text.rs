//! What was typed into a form of the desk is still there when the form was refused.

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

#[test]
fn a_refused_guardian_and_refused_minutes_stay_as_typed() {
    let site = Site::open_with(|config| (config.demo, config.waiver.required) = (true, true));
    let (jane, admin) = (site.flyer("jane"), Clerk::at(&site, &site.admin()));
    let form = [("guardian", "987654"), ("relation", "permission"), ("permission", "of the mother, 3 May")];
    let refused = admin.post(&format!("/desk/members/{}/guardians", jane.id), &form);
    let typed =
        ["value=\"987654\"", "value=\"permission\" selected", "value=\"of the mother, 3 May\"", "<details open>"];
    keeps(&refused, &typed);

    let text = [("kind", "waiver"), ("language", "en"), ("title", "Waiver"), ("body", "I fly at my own risk.")];
    assert_eq!(admin.post("/desk/texts/edit", &text).status, 303);
    assert_eq!(admin.post("/desk/texts/publish", &[("kind", "waiver")]).status, 303);
    let time = admin.post(&format!("/desk/members/{}/time", jane.id), &[("minutes", "17")]);
    keeps(&time, &["value=\"17\"", "waiver"]);
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
