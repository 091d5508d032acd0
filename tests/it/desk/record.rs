//! Recording and correcting at the desk: skills and briefs under one proof, flight time, opening balances.

use super::signer_proof::with_passkeys;
use super::{Clerk, demo};
use crate::harness::{Caller, PASSWORD, Site};
use serde_json::json;

/// The states of a member's skills and briefs.
fn states(site: &Site, member: &Caller) -> Vec<(String, String)> {
    let sql = "SELECT skill, status FROM entries WHERE member_id = ?1 AND kind <> 'time' ORDER BY entry_id";
    site.change(|tx| Ok(tx.list(sql, [member.id])?))
}

fn audited(site: &Site, action: &str, who: &Caller) -> i64 {
    let sql = "SELECT count(*) FROM audit WHERE action = ?1 AND actor = 'member:' || ?2";
    site.change(|tx| Ok(tx.get(sql, (action, who.id))?))
}

fn step_on(page: &str) -> String {
    page.split("name=\"step\" value=\"").nth(1).expect(page).split('"').next().unwrap().to_owned()
}

#[test]
fn an_instructor_records_a_brief_and_skills_with_one_proof() {
    let site = demo();
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/members/{}/record", jane.id);
    let page = clerk.get(&path).page();
    let brief = page.split("name=\"skill\" value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
    assert!(page.contains("value=\"10101\"") && page.contains("value=\"10103\""), "{page}");
    let ticks = [("skill", "10101"), ("skill", "10102"), ("skill", brief.as_str())];
    let nothing = clerk.post(&path, &[("username", "ines"), ("password", PASSWORD)]);
    assert!(nothing.status == 422 && nothing.page().contains("Tick at least one"), "{nothing}");
    for (name, secret, said) in [
        ("ines", "wrong", "Wrong username or password"),
        ("jane", PASSWORD, "Nobody signs for themselves"),
        ("", "", "Type the signer"),
    ] {
        let refused = clerk.post(&path, &[&ticks[..], &[("username", name), ("password", secret)]].concat());
        assert!(refused.status == 422 && refused.page().contains(said), "{name}: {refused}");
        let ticked = "value=\"10102\" checked";
        assert!(refused.page().contains(ticked) && states(&site, &jane).is_empty(), "what was ticked stays: {refused}");
    }
    let done = clerk
        .post(&path, &[&ticks[..], &[("username", "ines"), ("password", PASSWORD), ("comment", "steady")]].concat());
    let place = format!("/desk/members/{}?done=recorded", jane.id);
    assert_eq!(done.header("location"), Some(place.as_str()), "{done}");
    assert_eq!(states(&site, &jane).len(), 3);
    assert!(states(&site, &jane).iter().all(|(_, status)| status == "open"));
    assert_eq!(audited(&site, "entry.signed", &ines), 3, "each under the name of the signer");
    let page = clerk.get(&path).page();
    assert!(!page.contains("value=\"10101\"") && page.contains("value=\"10103\""), "what is signed is not offered");
    // All or nothing: one skill that exists already refuses the other too.
    let both = [("skill", "10103"), ("skill", "10101"), ("username", "ines"), ("password", PASSWORD)];
    let refused = clerk.post(&path, &both);
    assert!(refused.status == 422 && states(&site, &jane).len() == 3, "{refused}");
}

#[test]
fn a_code_signs_only_the_document_that_the_password_was_given_for() {
    let site = demo();
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    let before = states(&site, &jane).len();
    let protected = site.protect(&ines);
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/members/{}/record", jane.id);
    let due = clerk.post(&path, &[("skill", "10101"), ("username", "ines"), ("password", PASSWORD)]);
    assert_eq!(due.status, 200, "{due}");
    let step = step_on(&due.page());
    let code = protected.authenticator.code(site.now());
    let proof = [("step", step.as_str()), ("code", code.as_str()), ("by_app", "1"), ("username", "ines")];
    let more = clerk.post(&path, &[&proof[..], &[("skill", "10101"), ("skill", "10102")]].concat());
    assert!(more.status == 422 && states(&site, &jane).len() == before, "another paper: {more}");
    let done = clerk.post(&path, &[&proof[..], &[("skill", "10101")]].concat());
    assert_eq!((done.status, states(&site, &jane).len()), (303, before + 1), "{done}");
}

#[test]
fn several_pending_entries_are_signed_with_one_proof_or_none_is() {
    let site = demo();
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    let ask = |skill: &str| {
        let wish = json!({"skill": skill, "entry_date": site.now(), "instructor": ines.id});
        jane.post("/account/logbook/skills/", wish).json()["entry_id"].as_i64().expect("an entry")
    };
    let entries = ["10101", "10102", "10103"].map(ask);
    let clerk = Clerk::at(&site, &site.desk());
    let queue = clerk.get("/desk/sign-offs").page();
    assert_eq!(queue.matches("type=\"checkbox\" name=\"entry\"").count(), 3, "{queue}");
    let asked: Vec<String> = entries.iter().map(|entry| format!("entry={entry}-1")).collect();
    let page = clerk.get(&format!("/desk/sign-several?{}", asked.join("&"))).page();
    assert!(page.contains("Sign all (3)") && page.contains("name=\"username\" value=\"ines\""), "{page}");
    let seen: Vec<String> = entries.iter().map(|entry| format!("{entry}-1")).collect();
    let ticks: Vec<(&str, &str)> = seen.iter().map(|one| ("entry", one.as_str())).collect();
    let proof = [("username", "ines"), ("password", PASSWORD), ("comment", "calm")];
    // One of the entries was changed after the page was opened: none is signed.
    jane.put(&format!("/account/logbook/skills/{}", entries[2]), json!({"comment": "and more"})).ok();
    let changed = clerk.post("/desk/sign-several", &[&ticks[..], &proof[..]].concat());
    assert!(changed.status == 409 && changed.page().contains("was changed after it was shown"), "{changed}");
    let pending = |site: &Site| states(site, &jane).iter().filter(|(_, status)| status == "pending").count();
    assert_eq!(pending(&site), 3);
    let fresh = format!("{}-2", entries[2]);
    let ticks = [ticks[0], ticks[1], ("entry", fresh.as_str())];
    let done = clerk.post("/desk/sign-several", &[&ticks[..], &proof[..]].concat());
    assert_eq!(done.header("location"), Some("/desk/sign-offs?done=several&count=3"), "{done}");
    assert!(clerk.get("/desk/sign-offs?done=several&count=3").page().contains(">Signed: 3.</p>"));
    assert_eq!((pending(&site), audited(&site, "entry.signed", &ines)), (0, 3));
    assert_eq!(clerk.get("/desk/sign-several").header("location"), Some("/desk/sign-offs?done=none"));
}

#[test]
fn a_passkey_signs_everything_that_is_ticked() {
    let site = super::signer_proof::demo();
    let (jane, ines) = (site.flyer("jane"), site.signer("ines", &[("Instructor", "4")]));
    site.brief(&jane, "Flyer");
    let desk = site.desk();
    let browser = with_passkeys(&site, &[&ines]);
    browser.run(
        "const form = document.forms[0]; form.username.value = arguments[0]; form.password.value = arguments[1]; form.requestSubmit()",
        json!([desk.name, PASSWORD]),
    );
    browser.wait("return location.pathname === '/desk'");
    browser.go(&format!("{}/desk/members/{}/record", site.origin(), jane.id));
    browser.run(
        "for (const skill of ['10101', '10102', '10103']) document.querySelector(`[value=\"${skill}\"]`).click();
         document.getElementById('signer').value = 'ines'; document.querySelector('[data-passkey]').click()",
        json!([]),
    );
    browser.wait("return document.querySelector('[role=status]')?.innerText === 'Recorded and signed.'");
    assert_eq!(states(&site, &jane).iter().filter(|(_, status)| status == "open").count(), 4);
}

#[test]
fn a_flight_is_corrected_and_deleted_in_three_clicks_and_audited() {
    let site = demo();
    let (jane, desk) = (site.flyer("jane"), site.desk());
    let clerk = Clerk::at(&site, &desk);
    let card = format!("/desk/members/{}", jane.id);
    clerk.post(&format!("{card}/time"), &[("minutes", "21"), ("date", "")]);
    let page = clerk.get(&card).page();
    let path = page.split("class=\"small correct\" href=\"").nth(1).expect(&page).split('"').next().unwrap().to_owned();
    assert!(clerk.get(&path).page().contains("value=\"21\""));
    for (minutes, said) in [("0", "from 1 to 600"), ("601", "from 1 to 600"), ("x", "from 1 to 600")] {
        let refused = clerk.post(&path, &[("minutes", minutes), ("comment", "typed")]);
        assert!(refused.status == 422 && refused.page().contains(said), "{minutes}: {refused}");
        assert!(refused.page().contains(">typed</textarea>"), "what was typed stays");
    }
    let late = clerk.post(&path, &[("minutes", "12"), ("date", "2031-01-01")]);
    assert!(late.status == 422 && late.page().contains("future"), "{late}");
    let total = || jane.get("/account/profile/user").ok_json()["total_flight_time"].clone();
    assert_eq!(total(), "0:31");
    let place = format!("{card}?done=corrected#logbook");
    let done = clerk.post(&path, &[("minutes", "12"), ("comment", "mistyped")]);
    assert_eq!((done.header("location"), total()), (Some(place.as_str()), "0:22".into()), "{done}");
    assert_eq!(audited(&site, "entry.edited", &desk), 1);
    let mark = site.member("mark");
    let elsewhere = path.replace(&format!("/{}/", jane.id), &format!("/{}/", mark.id));
    assert_eq!(clerk.get(&elsewhere).status, 404, "another's card has it not");
    assert_eq!(clerk.post(&format!("{elsewhere}/delete"), &[]).status, 404);
    assert_eq!(clerk.post(&format!("{path}/delete"), &[]).status, 303);
    assert_eq!((total(), audited(&site, "entry.deleted", &desk)), ("0:10".into(), 1));
    assert_eq!(clerk.get(&path).status, 404);
}

#[test]
fn signed_entries_and_opening_balances_cannot_be_corrected() {
    let site = demo();
    let (jane, ines) = (site.member("jane"), site.signer("ines", &[("Instructor", "4")]));
    let clerk = Clerk::at(&site, &site.desk());
    let path = format!("/desk/members/{}/opening", jane.id);
    assert!(clerk.get(&path).page().contains("value=\"Flyer/1/\""), "levels are offered");
    let signer = ines.id.to_string();
    for (time, signer, said) in
        [("x", signer.as_str(), "hours:minutes"), ("12:30", "", "Choose the instructor"), ("", &signer, "time")]
    {
        let refused = clerk.post(&path, &[("time", time), ("signer", signer)]);
        assert!(refused.status == 422 && refused.page().contains(said), "{time}: {refused}");
    }
    let entered = clerk.post(&path, &[("time", "12:30"), ("level", "Flyer/1/"), ("signer", &signer)]);
    let paper = entered.header("location").expect("a place to sign").to_owned();
    assert!(entered.status == 303 && paper.starts_with("/desk/sign-offs/"), "{entered}");
    let unsigned = clerk.post(&format!("{paper}/withdraw"), &[]);
    assert!(unsigned.status == 409 && unsigned.page().contains("not signed yet"), "{unsigned}");
    let signed = clerk.post(&format!("{paper}/sign"), &[("username", "ines"), ("password", PASSWORD)]);
    assert_eq!(signed.status, 303, "{signed}");
    assert_eq!(jane.get("/account/profile/user").ok_json()["total_flight_time"], "12:30");
    let card = clerk.get(&format!("/desk/members/{}", jane.id)).page();
    assert!(!card.contains("class=\"small correct\""), "nothing of a signed paper is corrected: {card}");
    let entry = paper.rsplit('/').next().unwrap();
    assert_eq!(clerk.get(&format!("/desk/members/{}/time/{entry}", jane.id)).status, 404);
    assert_eq!(clerk.post(&format!("/desk/members/{}/time/{entry}/delete", jane.id), &[]).status, 404);
    assert_eq!(clerk.post(&format!("{paper}/delete"), &[]).status, 409);
    assert_eq!(clerk.post(&format!("{paper}/withdraw"), &[]).status, 403);
    assert!(!clerk.get(&paper).page().contains("Delete"));
}

#[test]
fn the_requested_signer_denies_and_the_desk_withdraws() {
    let site = demo();
    let (jane, _, entry) = super::sign_offs::asked(&site);
    let otto = site.signer("otto", &[("Instructor", "4")]);
    let desk = site.desk();
    let clerk = Clerk::at(&site, &desk);
    let path = format!("/desk/sign-offs/{entry}");
    let status = |site: &Site| super::sign_offs::status(site, entry);
    let deny =
        |proof: &[(&str, &str)]| clerk.post(&format!("{path}/deny"), &[&[("reason", "late stops")], proof].concat());
    for proof in [
        &[][..],
        &[("username", "ines"), ("password", "wrong")],
        &[("username", otto.name.as_str()), ("password", PASSWORD)],
        &[("username", desk.name.as_str()), ("password", PASSWORD)],
    ] {
        let refused = deny(proof);
        assert!(refused.status == 422 && refused.page().contains(">late stops</textarea>"), "{proof:?}: {refused}");
        assert_eq!(status(&site), "pending", "{proof:?}");
    }
    desk.post(&format!("/account/logbook/entries/{entry}/deny"), json!({"comment_denial": "x"})).refused(403);
    assert_eq!(deny(&[("username", "ines"), ("password", PASSWORD)]).status, 303);
    assert_eq!(status(&site), "denied");
    let page = clerk.post(&format!("{path}/withdraw"), &[]);
    assert_eq!(page.status, 409, "what was denied waits for nobody: {page}");
    let gone = clerk.post(&format!("{path}/delete"), &[]);
    assert_eq!(gone.header("location"), Some(format!("/desk/members/{}?done=deleted#logbook", jane.id).as_str()));
    assert_eq!(clerk.get(&path).status, 404);
}

#[test]
fn one_session_of_several_students_is_recorded_at_the_desk_with_one_proof_for_all_or_none() {
    let site = demo();
    let ines = site.signer("ines", &[("Instructor", "4")]);
    let students: Vec<Caller> = ["jane", "mark", "kim", "lena", "paul"].map(|name| site.member(name)).into();
    for one in &students[..4] {
        site.brief(one, "Flyer");
    }
    let clerk = Clerk::at(&site, &site.desk());
    assert!(clerk.get("/desk/sign-offs").page().contains("href=\"/desk/record-several\""));
    let path = "/desk/record-several";
    let page = clerk.get(path).page();
    let date = page.split("max=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("a day").to_owned();
    let numbers = students.iter().map(|one| one.id.to_string()).collect::<Vec<_>>().join("\n");
    let fields = [("students", &*numbers), ("skill", "10101"), ("date", &*date), ("comment", "steady")];
    for (name, value, said) in [
        ("students", "99999", "Nobody has the member number 99999"),
        ("skill", "", "Choose what the students showed"),
        ("date", "2999-01-01", "Choose a day"),
    ] {
        let sent = fields.map(|(field, sent)| (field, if field == name { value } else { sent }));
        let refused = clerk.post(path, &sent);
        assert!(refused.status == 422 && refused.page().contains(said), "{said}: {refused}");
    }
    let asked = clerk.post(path, &fields);
    let page = asked.page();
    assert!(
        asked.status == 200 && page.contains("id=\"proof-password\"") && page.contains("<bdi>paul</bdi>"),
        "{page}"
    );
    let prove = |secret: &str| clerk.post(path, &[&fields[..], &[("username", "ines"), ("password", secret)]].concat());
    let recorded = || {
        students
            .iter()
            .map(|one| states(&site, one).iter().filter(|(skill, _)| skill == "10101").count())
            .sum::<usize>()
    };
    let wrong = prove("wrong");
    assert!(wrong.status == 422 && wrong.page().contains("Wrong username or password"), "{wrong}");
    let refused = prove(PASSWORD);
    assert!(refused.status == 422 && refused.page().contains("paul"), "one of them has no brief: {refused}");
    assert_eq!(recorded(), 0, "all or none");
    site.brief(&students[4], "Flyer");
    assert_eq!(prove(PASSWORD).header("location"), Some("/desk/sign-offs?done=recorded"));
    assert_eq!((recorded(), audited(&site, "entry.signed", &ines)), (5, 5));
    assert!(clerk.get("/desk/sign-offs?done=recorded").page().contains("Recorded and signed."));
}
